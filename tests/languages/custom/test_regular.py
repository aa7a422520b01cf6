"""Languages of regular expressions and of lists, against `re.fullmatch` on all short texts at random cuts."""

import itertools
import random
import re

import pytest

from fimlsp import Engine, choice, load_grammar, regular
from fimlsp.quotient.grammar.cfg import GrammarError

from ...sampling import sampled

PATTERNS = [
    "[0-9]{2}-(0[1-9]|1[0-2])",
    "a|ab",
    "(a|b)*abb?",
    "a*?b+",
    "(?i:ab)c?",
    "[^a]{1,3}",
    "",
    "a?",
    "(ab|a)(bc|c)",
    r"\w+(é)?",
    "(?s:.)1",
    "^a$",
    r"a\b.*",
    "(?!ab)[ab]+",
    "(?s:.)(?<=a)b.?|é(?<!a)b",
    "(?s:.)*a$(?s:.)?",
    "(?:(?!ab).)*",
    "(?=.*b)(?=.*1).*",
]


def state_of(engine, left, middle, right):
    start = engine.document(left + right).middle(len(left), len(left), relax=False).start
    return start and start.feed(middle)


@pytest.mark.parametrize("pattern", sampled(PATTERNS, 3))
def test_a_text_is_valid_if_the_whole_of_it_matches(pattern):
    engine, rng = Engine(regular(pattern)), random.Random(pattern)
    for letters in itertools.chain.from_iterable(itertools.product("ab1é\n", repeat=n) for n in range(4)):
        text = "".join(letters)
        start, end = sorted(rng.choices(range(len(text) + 1), k=2))
        left, middle, right = (part.encode() for part in (text[:start], text[start:end], text[end:]))
        state = state_of(engine, left, middle, right)
        assert (state is not None and state.complete) == bool(re.fullmatch(pattern, text)), text
        if state is not None:
            whole = left + middle + state.shortest_completion + right
            assert re.fullmatch(pattern, whole.decode()), (text, whole)


def test_a_choice_has_exactly_its_texts():
    engine = Engine(choice(["red", "reddish", "a.b", "[x]"]))
    for text in ("red", "reddish", "a.b", "[x]"):
        assert state_of(engine, text[:1].encode(), text[1:].encode(), b"").complete
    assert state_of(engine, b"", b"redd", b"").shortest_completion == b"ish"
    assert not state_of(engine, b"", b"redd", b"").complete
    assert state_of(engine, b"a", b"", b"b").shortest_completion == b"."
    assert state_of(engine, b"", b"axb", b"") is None


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(?=a(?!b))a", "it has a look-around within a look-around"),
        ("(a*)\\1", "it refers back to a group"),
        ("[", "cannot be read by Python"),
        ("a{3000}", "it repeats something 3000 times"),
        ("(a|b)*a(a|b){14}", "it needs more than 10000 states"),
        ("[^\\s\\S]", "it matches nothing"),
    ],
)
def test_an_expression_that_cannot_be_used(pattern, said):
    with pytest.raises(GrammarError, match=re.escape(said)):
        regular(pattern)


def test_a_choice_from_nothing_is_refused():
    with pytest.raises(GrammarError, match="Give at least one"):
        choice([])


def test_a_grammar_may_be_given_as_text():
    language = load_grammar(text='start: "a" B+\r\nB: "b"\n')
    assert state_of(Engine(language), b"a", b"b", b"b").complete
    with pytest.raises(GrammarError, match="uses missing, which is not defined"):
        load_grammar(text="start: missing")
    for arguments in ({}, {"path": "a.lark", "text": "start:"}):
        with pytest.raises(ValueError, match="either its path or its text"):
            load_grammar(**arguments)
