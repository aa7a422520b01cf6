"""Lark's dynamic lexer: each expected terminal is tried by itself, held against Lark."""

import random

import pytest

from fimlsp import Engine, load_grammar
from fimlsp.languages.custom.grammar_files import GrammarFiles
from fimlsp.languages.custom.language import LarkLanguage
from fimlsp.languages.custom.trial import refusal
from fimlsp.testing.checking import Judged

from .suites import judge_of

ALPHABET = (b"a", b"b", b"1", b" ", b".")
GRAMMARS = {
    "terminals with the same texts": "start: A B | B B\nA: /[ab]/\nB: /[a1]/\n",
    "a keyword before a name": 'start: "ab" NAME | NAME+\nNAME: /[ab]+/\n%ignore " "\n',
    "a match is never shorter": "start: A A | A B\nA: /a+/\nB: /b/\n",
    "a match that goes on later": "start: (N | DOT NAME)+\nN: /1+(\\.1+)?/\nDOT: /\\./\nNAME: /1a?/\n",
    "a loop at the start": "start: T A\nT: /a.?/\nA: /a*b/\n",
    "ignored text within and at the end": "start: A B?\nA: /a/\nB: /b/\n%ignore / +/\n%ignore /1\\.?/\n",
    "ignored text that is a terminal too": 'start: A (" " A | "b")*\nA: /a/\n%ignore / +/\n',
    "the empty text": "start: A*\nA: /a/\n%ignore / /\n",
    "preferences within a terminal": "start: A B?\nA: /a|ab/\nB: /b1?/\n",
    "lazy terminals": "start: A+\nA: /a.*?b/\n",
    "a look-ahead at the end": "start: (A | B)+\nA: /a(?!b)/\nB: /b|ab1/\n",
    "recursion on both sides": 'start: "a" start "b" | start "1" start | "."\n%ignore " "\n',
}


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_texts_and_middles(grammar):
    files = GrammarFiles((("test.lark", grammar),))
    of = Judged(LarkLanguage(files, "start", "dynamic"), judge_of(grammar, "dynamic"))
    tally = of.walk(b"", b"", ALPHABET, 4)
    rng, valid = random.Random(grammar), of.accepted(b"", b"", ALPHABET, 4)
    for _ in range(6):
        whole = rng.choice(valid)
        start, end = sorted(rng.choices(range(len(whole) + 1), k=2))
        tally.include(of.walk(whole[:start], whole[end:], ALPHABET, 3))
    assert tally.faults == []
    assert valid


def test_characters_of_several_bytes():
    language = load_grammar(text='start: NAME ("→" NAME)*\nNAME: /[äöü]+/\n', lexer="dynamic")
    left, right = "ä→".encode(), "→ü".encode()
    start = Engine(language).document(left + right).middle(len(left), len(left)).start
    assert start is not None
    assert start.feed("→".encode()) is None
    assert start.feed("ö".encode()[:1]).feed("ö".encode()[1:]).complete
    assert start.shortest_completion in {one.encode() for one in "äöü"}


def test_a_refusal_names_the_expected_bytes_and_the_lexer_that_reads_the_text():
    text = "start: A B | B B\nA: /a/\nB: /[a-c]/\n"
    assert str(refusal(load_grammar(text=text, lexer="dynamic"), b"ad")) == (
        "line 1, column 2: refused at 'd'; expected [a], [b-c]."
    )
    text = 'start: x NAME | y NAME "!" | OTHER\nx: "a"\ny: "a"\nNAME: /b/\nOTHER.2: /b/\n'
    assert "The dynamic lexer reads all of it" in str(refusal(load_grammar(text=text), b"ab"))
