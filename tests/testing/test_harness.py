"""The harness finds the faults that a wrong language has, and none in a right one."""

import json as decoder
import random
from dataclasses import dataclass

import pytest

from fimlsp.languages.json import Json, json
from fimlsp.languages.lua import lua
from fimlsp.lexing.automata.dfa import Rule, Terminals, compile_terminals
from fimlsp.lexing.automata.regex import sequence
from fimlsp.lexing.lexical_spec import LexicalSpec
from fimlsp.lexing.nesting import CODE, ModeStack
from fimlsp.quotient.grammar.cfg import Grammar
from fimlsp.quotient.grammar.lark_loader import read_grammar
from fimlsp.quotient.language.contract import Language
from fimlsp.testing import Judged, endless, first_refusal, grows, lexemes, read_cases, total
from fimlsp.testing.suites import balanced_cuts

PIECES = (b"[", b"]", b"1", b",", b'"a"', b" ", b"{", b"}", b":", b"2")
WRONG = """
%declare STRING NUMBER
text: value
value: array | STRING | NUMBER {more}
array: "[" {list} "]"
"""
RIGHT_LIST = '[value ("," value)*]'


def is_json(text):
    try:
        decoder.loads(text.decode())
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Wrong(Json):
    """JSON with other rules."""

    more: str = ""
    list: str = RIGHT_LIST

    def grammar(self) -> Grammar:
        return read_grammar(WRONG.format(more=self.more, list=self.list), "text")


def complaints(language):
    tally = Judged(language, is_json, PIECES).walk(b"", b"", PIECES[:5], 4)
    return {fault.complaint for fault in tally.faults}


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        (json, set()),
        (Wrong(list='[value ("," value)* [","]]'), {"accepts", "dead end"}),
        (Wrong(list='value ("," value)*'), {"rejects"}),
        (Wrong(more='| "," "{" STRING'), {"dead end"}),
    ],
)
def test_short_middles_show_each_kind_of_fault(language, expected):
    assert complaints(language) == expected


def test_a_true_middle_that_is_refused_is_a_fault():
    of = Judged(Wrong(), is_json, PIECES)
    suites = endless(of, [PIECES], [(b"", b"")], lambda *_: b'[{"a": 1}]')
    assert "refuses a true prefix" in {fault.complaint for fault in total(suites(1), 300).faults}


@dataclass(frozen=True)
class Nested(Language):
    """A list of lists, whose brackets the lexer reads one by one, or also in *pairs*."""

    pairs: bool = False
    name = "Nested"

    @property
    def enclosures(self):
        return {"[": "]", "[[": "]]"} if self.pairs else {"[": "]"}

    def lexical_spec(self) -> LexicalSpec:
        rules = [Rule(sign, sequence(sign)) for pair in self.enclosures.items() for sign in pair]
        dfa = compile_terminals(Terminals({CODE: rules})).expand()
        return LexicalSpec(dfa, ModeStack(), ModeStack(known=False), separators=b"")

    def grammar(self) -> Grammar:
        return read_grammar('list: "[" [list] "]"' + ' | "[[" [list] "]]"' * self.pairs, "list")


@pytest.mark.parametrize(("pairs", "complaints"), [(False, set()), (True, {"does not let stay"})])
def test_a_true_middle_stays_in_its_brackets(pairs, complaints):
    of = Judged(Nested(pairs), is_json, PIECES)
    tallies = [balanced_cuts(of, b"[[[[]]]]", random.Random(seed)) for seed in range(20)]
    assert {fault.complaint for tally in tallies for fault in tally.faults} == complaints


@pytest.mark.parametrize("size", [5, 50, 500])
def test_a_random_program_has_the_size_that_is_asked_for(size):
    texts = {"STRING": (b'"a"',), "NUMBER": (b"1",)}
    lengths = [len(lexemes(json, texts, random.Random(seed), size)) for seed in range(20)]
    assert size <= min(lengths)
    assert max(lengths) <= 3 * size + 10


def test_a_text_that_the_reference_leaves_open_counts_for_neither_side():
    of = Judged(json, lambda text: None if text == b"[]" else is_json(text), PIECES)
    tally = of.walk(b"", b"", (b"[", b"]"), 2)
    assert (tally.undecided, tally.faults) == (1, [])


@pytest.mark.parametrize(
    "accepts", [lambda text: text == b"[" or is_json(text), lambda text: text != b"[]" and is_json(text)]
)
def test_an_open_disagreement_counts_for_neither_side(accepts):
    of = Judged(json, accepts, PIECES, leaves_open=lambda text: text in (b"[]", b"["))
    tally = of.walk(b"", b"", (b"[", b"]"), 2)
    assert (tally.undecided, tally.faults) == (1, [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"[1, 2]", None),
        (b"[1, 2", "line 1, column 6: the end instead of"),
        (b"[1,\n 2 3]", "line 2, column 4: `3]` instead of"),
        (b"", "line 1, column 1: the end instead of"),
        (b"[tru]", "line 1, column 5: `]` instead of"),
    ],
)
def test_the_first_refusal(text, expected):
    refused = first_refusal(Judged(json, is_json).engine, text)
    assert str(refused).startswith(str(expected))


def test_the_terminals_expected_at_a_refusal():
    refused = first_refusal(Judged(json, is_json).engine, b'{"a" 1}')
    assert refused.expected == (":",)


@pytest.mark.parametrize(
    ("statement", "is_growing"), [(b"a = 1;\n", False), (b"a = 1;", False), (b"a = 1 ", True)]
)
def test_a_file_without_line_ends_and_separators_grows(statement, is_growing):
    assert bool(grows(Judged(lua, is_json), statement)) is is_growing


def test_cases_are_read_with_their_signs():
    text = "a␣<|>b↵\n+ ⟨ff⟩\n- ∅\n~ →x\nnot a case\n"
    assert [*read_cases(text)] == [
        (b"a ", b"\xff", b"b\n", "complete"),
        (b"a ", b"", b"b\n", "dead"),
        (b"a ", b"\tx", b"b\n", "viable"),
    ]
