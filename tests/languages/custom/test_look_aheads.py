"""Terminals that look at the character after them, held against Lark on all short texts and middles."""

import random
import re

import pytest

from fimlsp import Engine, load_grammar
from fimlsp.languages.custom.grammar_files import GrammarFiles
from fimlsp.languages.custom.language import LarkLanguage
from fimlsp.quotient.grammar.cfg import GrammarError
from fimlsp.testing.checking import Judged

from ...sampling import sampled
from .suites import judge_of

ALPHABET = (b"F", b"X", b"a", b" ", b"(", b")", b".")
OPERATORS = """
start: formula
?formula: unary (UNTIL unary)*
?unary: (EVENTUALLY | NEXT | STRONG) unary | atom
atom: NAME | "(" formula ")"
UNTIL.2: /U(?=[ (])/
EVENTUALLY.2: /F(?=[ (])/
NEXT.2: /X(?=[ (])/
STRONG.2: /XX(?=[ (])/
NAME: /[a-z][a-zA-Z]*/
%ignore " "
"""
WANTED = [
    OPERATORS,
    'start: (F NAME)+\nF.2: /F(?=[a.])/\nNAME: /[a.]/\n%ignore " "\n',
    'start: F* NAME\nF.2: /F(?![^a ])/\nNAME: /[a-z][a-zA-Z]*/\n%ignore " "\n',
    'start: (F | NAME)* ")"\nF.2: /F(?=[^X])/\nNAME: /[a(]/\n%ignore " "\n',
    'start: (F | NAME)+ "."\nF.2: /F+(?=a)/\nNAME: /X|a/\n%ignore " "\n',
    'start: (TEXT | NAME)+\nTEXT: /X?\\((?!\\(\\()[^(]*\\(/\nNAME: /[Xa]/\n%ignore " "\n',
    'start: (TEXT | LONG)+\nTEXT: /X?\\((?!\\(\\()[^(]*\\(/\nLONG: /X?\\({3}a*\\({3}|X/\n%ignore " "\n',
    'start: (ONE | TWO | NAME)+\nONE: /[ ]*\\.(?!\\.)/\nTWO: ".."\nNAME: /a/\n%ignore / +/\n',
    "start: (ONE | TWO | NAME)+\nONE: /[ ]*\\.(?!\\.)/\nTWO: /\\.\\.a?/\nNAME: /a/\n%ignore / +/\n",
]


@pytest.mark.parametrize("lexer", ["basic", "contextual"])
@pytest.mark.parametrize("grammar", sampled(WANTED, 3))
def test_texts_and_middles(grammar, lexer):
    of = Judged(
        LarkLanguage(GrammarFiles((("test.lark", grammar),)), "start", lexer), judge_of(grammar, lexer)
    )
    tally = of.walk(b"", b"", ALPHABET, 4)
    rng, valid = random.Random(grammar), of.accepted(b"", b"", ALPHABET, 4)
    for _ in range(8):
        whole = rng.choice(valid) + rng.choice(valid)
        start, end = sorted(rng.choices(range(len(whole) + 1), k=2))
        tally.include(of.walk(whole[:start], whole[end:], ALPHABET, 3))
    assert tally.faults == []
    assert valid


def test_the_character_after_may_have_several_bytes():
    engine = Engine(load_grammar(text='start: (F NAME)+\nF.2: /F(?=[aé])/\nNAME: /[aéX]/\n%ignore " "\n'))
    for text, accepted in {"Fé": True, "FéFa": True, "FX": False, "F é": False, "Fè": False}.items():
        for cut in range(len(text) + 1):
            left, right = text[:cut].encode(), text[cut:].encode()
            state = engine.document(left + right).middle(len(left), len(left), relax=False).start
            assert (state is not None and state.complete) == accepted, (text, cut)


REFUSED = [
    ("start: F\nF: /F(?=a)/\n", "F (grammar, line 2) looks at the text after its end"),
    ("start: F A B\nF: /F(?=ab)/\nA: /a/\nB: /b/\n", "F (grammar, line 2) looks at the text after its end"),
    ("start: F A | G A\nF.2: /F(?=a)/\nG: /F/\nA: /a/\n", "F (grammar, line 2) looks ahead of its end"),
]


@pytest.mark.parametrize(("grammar", "said"), REFUSED)
def test_what_is_refused(grammar, said):
    with pytest.raises(GrammarError, match=re.escape(said)):
        load_grammar(text=grammar)
