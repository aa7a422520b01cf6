"""Loading grammars: repetitions, options, groups and templates become productions; faults are named."""

import pytest

from fimlsp.quotient.grammar.cfg import Grammar, GrammarError, make_grammar
from fimlsp.quotient.grammar.lark_loader import read_grammar

CONVERSIONS = {
    "file: A B": {"file": ["A B"]},
    "file: A | B": {"file": ["A", "B"]},
    "file: A | A": {"file": ["A"]},
    "file: [A] B": {"file": ["A B", "B"]},
    "file: A? B": {"file": ["A B", "B"]},
    "file: [A [B]] C": {"file": ["A B C", "A C", "C"]},
    "file: (A | B) C": {"file": ["A C", "B C"]},
    'file: "if" A "\\\\" "+="': {"file": ["if A \\ +="]},
    "file: A+": {"file": ["A+"], "A+": ["A", "A+ A"]},
    "file: A* B": {"file": ["A+ B", "B"], "A+": ["A", "A+ A"]},
    "file: (A)+": {"file": ["A+"], "A+": ["A", "A+ A"]},
    "file: (A | A)+": {"file": ["A+"], "A+": ["A", "A+ A"]},
    "file: (A B)+": {"file": ["(A B)+"], "(A B)": ["A B"], "(A B)+": ["(A B)", "(A B)+ (A B)"]},
    "file: (A | B)+": {
        "file": ["(A | B)+"],
        "(A | B)": ["A", "B"],
        "(A | B)+": ["(A | B)", "(A | B)+ (A | B)"],
    },
    "file: A+ B A+": {"file": ["A+ B A+"], "A+": ["A", "A+ A"]},
    "file: some\n!some: A\n": {"file": ["some"], "some": ["A"]},
    "file: twice{A} twice{B} twice{A}\ntwice{item}: item item": {
        "file": ["twice{A} twice{B} twice{A}"],
        "twice{A}": ["A A"],
        "twice{B}": ["B B"],
    },
    "file: outer{A}\nouter{item}: inner{inner{item}}\ninner{item}: item C": {
        "file": ["outer{A}"],
        "outer{A}": ["inner{inner{A}}"],
        "inner{A}": ["A C"],
        "inner{inner{A}}": ["inner{A} C"],
    },
    "file: list{A}\nlist{item}: item | item list{item}": {
        "file": ["list{A}"],
        "list{A}": ["A", "A list{A}"],
    },
}

FAULTS = {
    "file: A (": "Cannot read the grammar",
    "file: a": "Cannot read the grammar",
    "other: A": "no rule 'file'",
    "file: A~2": "repetition '~2'",
    'file: "a"i': "flags on literals",
    "file: /a/": "may not use regular expressions: /a/",
    'file: A if\nif: B "if"': "rule 'if' has the name of a literal",
    "file: A*": "may be empty; make them optional where they are used: file",
    "file: A some\nsome: [B]": "may be empty; make them optional where they are used: some",
    "file: [A]+": "may be empty",
    "file: A\nother: B": "never used; remove them: other",
    "file: A\nother: B other": "never used; remove them: other",
    "file: A | endless\nendless: B endless": "derive no sentence; give them an end: endless",
}


def rules(grammar: Grammar) -> dict[str, list[str]]:
    return {
        name: [" ".join(map(grammar.name, production.rhs)) for production in grammar.productions_of(symbol)]
        for symbol, name in enumerate(grammar.nonterminals, len(grammar.terminals))
    }


def declared(text: str) -> str:
    used = [name for name in "ABC" if name in text]
    return "\n".join([*(f"%declare {name}" for name in used), f"{text}\n"])


@pytest.mark.parametrize("text", CONVERSIONS)
def test_conversion(text):
    assert rules(read_grammar(declared(text), "file")) == CONVERSIONS[text]


@pytest.mark.parametrize("text", FAULTS)
def test_faults_are_named(text):
    with pytest.raises(GrammarError, match=FAULTS[text]):
        read_grammar(declared(text), "file")


def test_unused_terminals_are_named():
    with pytest.raises(GrammarError, match="These terminals are never used; remove them: B, C"):
        read_grammar("%declare A B C\nfile: A\n", "file")


def test_defined_terminals_are_named():
    with pytest.raises(GrammarError, match="These terminals belong to the lexer; only %declare them: A"):
        read_grammar('A: "a"\nfile: A\n', "file")


def test_repetitions_are_marked():
    grammar = read_grammar(declared("file: A+ (B C)*"), "file")
    marked = {grammar.name(symbol): grammar.name(element) for symbol, element in grammar.repetitions.items()}
    assert marked == {"A+": "A", "(B C)+": "(B C)"}


def test_symbols_and_names():
    grammar = read_grammar(declared("start: A other\nother: B"), "start")
    names = ("A", "B", "start", "other")
    assert grammar.terminals + grammar.nonterminals == names
    assert tuple(map(grammar.name, range(4))) == names
    assert [grammar.symbol(name) for name in names] == [0, 1, 2, 3]
    assert [grammar.is_terminal(symbol) for symbol in range(4)] == [True, True, False, False]
    assert grammar.start == 2
    assert grammar.productions_of(0) == ()


def test_the_start_symbol_comes_first():
    grammar = make_grammar("s", {"x": [("a",)], "s": [("x", "x")]}, {})
    assert grammar.nonterminals == ("s", "x")
    assert [production.lhs for production in grammar.productions] == [1, 2]
