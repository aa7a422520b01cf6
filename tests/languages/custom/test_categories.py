r"""Classes such as `\p{Lu}` in a Lark grammar, against Lark with the package `regex`."""

import itertools
import random

import pytest
import regex
from lark import Lark
from lark.exceptions import LarkError

from fimlsp import Engine, load_grammar
from fimlsp.languages.custom.unicode_classes import characters_of, with_ranges
from fimlsp.quotient.grammar.cfg import GrammarError

from ...sampling import sampled

TERMINALS = [
    r"A: /\p{L}+/",
    r"A: /\p{Lu}[\p{L}\p{N}_]*/",
    r"A: /[^\p{L}]b?/",
    r"A: /[^\P{Ll}a]/",
    r"A: /\P{L}\w\W?/",
    r"A: /[\w\p{So}]+x?/",
    r"A: /\p{^Nd}[\s1]/",
    r"A: /[\p{XID_Start}_][\p{XID_Continue}]*/",
    r"A: /\p{Lu}/i",
    "A: /\\p{L}|[\\p{N}]/ /\\p{Lowercase_Letter}/",
]
LETTERS = "aAbéÉ1Ⅷ²_ \u0301\u2003Ⓐ😀漢+"


@pytest.mark.parametrize("terminal", TERMINALS)
def test_texts_of_one_and_of_two_terminals(terminal):
    grammar = f'start: (A | B)+\n{terminal}\nB: /[a-b]/\n%ignore " "\n'
    parser = Lark(grammar, parser="earley", lexer="basic", regex=True)
    engine, rng = Engine(load_grammar(text=grammar)), random.Random(terminal)
    texts = ["".join(of) for n in (1, 2) for of in itertools.product(LETTERS, repeat=n)]
    for text in rng.sample(texts, 150):
        cut = rng.randint(0, len(text))
        left, right = text[:cut].encode(), text[cut:].encode()
        state = engine.document(left + right).middle(len(left), len(left), relax=False).start
        assert (state is not None and state.complete) == accepts(parser, text), text


def accepts(parser, text):
    try:
        parser.parse(text)
    except LarkError:
        return False
    return True


CATEGORIES = "L", "Lu", "LC", "letter", "gc=Nd", "M", "Zs", "Cc", "Sc", "XID_Continue"


@pytest.mark.parametrize("name", sampled(CATEGORIES, 5))
def test_the_characters_of_a_category(name):
    every = "".join(map(chr, range(0x110000)))
    found = regex.finditer(f"\\p{{{name}}}+", every)
    theirs = {code for match in found for code in range(*match.span())}
    own = {code for low, high in characters_of(name) for code in range(low, high + 1)}
    assigned = {code for low, high in characters_of("Cn") for code in range(low, high + 1)}
    assert len((own ^ theirs) - assigned) < 5, "other versions of Unicode may differ in a few characters"


@pytest.mark.slow
@pytest.mark.parametrize("escape", [r"\w", r"\W", r"\s", r"\S", r"\d", r"[^\w]", r"[\W_]"])
def test_classes_that_python_and_regex_read_differently(escape):
    every = "".join(chr(c) for c in range(0x20000) if not regex.match(r"\p{Cn}", chr(c)))
    unassigned = {chr(code) for low, high in characters_of("Cn") for code in range(low, high + 1)}
    theirs = set(regex.findall(escape, every)) - unassigned
    assert set(regex.findall(with_ranges(escape), every)) - unassigned == theirs


@pytest.mark.parametrize("name", sampled(["Greek", "Script=Latin", "Alphabetic", ""], 4))
def test_a_property_without_a_table_is_refused(name):
    with pytest.raises(GrammarError, match=r"A \(grammar, line 2\) uses .* no category such as L"):
        load_grammar(text=f"start: A\nA: /\\p{{{name}}}/\n")
