"""The law of masks: a bit is set if `feed` returns a state, and stops if the middle is complete."""

import random

import numpy as np
import pytest

from fimlsp import Engine, Vocabulary, python
from fimlsp.quotient.engine import FileStart
from fimlsp.quotient.masks.mask import store_of
from fimlsp.quotient.masks.vocabulary import allowed_by_feeding
from fimlsp.quotient.states.checked_state import CheckedState
from fimlsp.quotient.states.grammar_state import GrammarState
from fimlsp.quotient.states.lexeme_state import LexemeState

from .sources import OWN, SOURCES, engine, random_states, random_texts, source

LANGUAGES = [*SOURCES, *OWN]


def bits(words):
    """The tokens that a mask allows."""
    return set(np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")).tolist())


def check(state, vocabulary):
    """Hold the mask of *state* against feeding it every token."""
    texts = vocabulary.token_bytes
    expected = {
        token
        for token, text in enumerate(texts)
        if token not in vocabulary.stops and text is not None and state.feed(text) is not None
    }
    expected |= vocabulary.stops if state.complete else set()
    words = state.mask(vocabulary)
    assert words.dtype == np.uint32
    assert words.shape == (-(-len(texts) // 32),)
    allowed = bits(words)
    assert {texts[token] for token in allowed ^ expected} == set(), repr(state)


@pytest.mark.parametrize("name", LANGUAGES)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_bit_is_set_where_feed_gives_a_state(name, seed):
    rng = random.Random(f"{name} {seed}")
    texts = random_texts(rng, source(name), 300)
    vocabulary = Vocabulary([None, *texts, b"", None], stops=[0, 301])
    for state in random_states(rng, name, texts, 150):
        check(state, vocabulary)


@pytest.mark.parametrize("seed", range(2))
def test_arrays_and_single_texts_say_the_same(seed, monkeypatch):
    monkeypatch.setattr("fimlsp.quotient.masks.token_groups._FEW", 0)
    rng = random.Random(seed)
    texts = random_texts(rng, source("python"), 300)
    vocabulary = Vocabulary(texts)
    for state in random_states(rng, "python", texts, 150):
        check(state, vocabulary)


NESTED = b"".join(b" " * n + b"if x:\n" for n in range(98))
CASES = [
    # left, right, the kind of state
    (b"", b"x = 1\n", FileStart),
    (b"x = 'ab", b"c'\n", LexemeState),
    (b"x = '\\N{DA", b"SH}'\n", LexemeState),
    (b"x = 1  # a", b"b\n", LexemeState),
    (b"if x:\n    y\n", b"z\n", GrammarState),
    (b"x = f'{a", b"}'\n", GrammarState),
    (b"x = f'''{a['b", b"']}'''\n", GrammarState),
    (b"x = '''a", b"'''\n", LexemeState),
    (b"x = (1 +\\\n", b")\n", GrammarState),
    (b"x = 1" + b"0" * 4296, b"\n", GrammarState),
    (NESTED + b" " * 98, b"\n" + b" " * 98 + b"x\n", GrammarState),
    (b"(" * 199, b")" * 199, GrammarState),
]


@pytest.mark.parametrize(("left", "right", "kind"), CASES)
def test_places_out_of_the_ordinary(left, right, kind):
    rng = random.Random(1)
    texts = random_texts(rng, source("python"), 200)
    vocabulary = Vocabulary([*texts, None], stops=[200])
    document = engine("python").document(left + right)
    state = document.middle(len(left), len(left), may_escape=kind is GrammarState, relax=False).start
    assert isinstance(state, kind)
    check(state, vocabulary)
    for text in (b"\xef", b"\xef\xbb\xbf", b" ", b"x", b"1", b"\n", b"}", b"'", b'"'):
        following = state.feed(text)
        if following is not None:
            check(following, vocabulary)


RUNS = [
    piece * count
    for piece in (b"-", b"~", b"not ", b"(", b"[", b"*", b"a.", b"a, ", b"1 + ", b")", b"x = ")
    for count in (1, 2, 40)
]
BEGINNINGS = [
    before + text
    for before in (
        b"",
        b" ",
        b"  ",
        b"   ",
        b"\t",
        b" \t",
        b"\x0c",
        b" \x0c ",
        b"\n",
        b" \n",
        b"\n  ",
        b"\r\n ",
    )
    for text in (b"", b"y", b"y = 1\n", b"# a", b"\\\n", b"(", b"'a'", b"if y:\n   z")
]
AROUND = [
    (RUNS, b"x = ", b"y\n"),
    (RUNS, b"x = f(", b"-y)\n"),
    (RUNS, b"", b"(not y)]\n"),
    (RUNS, b"[(", b"]\n"),
    (BEGINNINGS, b"if x:\n", b"\n  z\n"),
    (BEGINNINGS, b"if x:\n ", b"\n  z\n"),
    (BEGINNINGS, b"if x:\n  y\n  ", b""),
    (BEGINNINGS, b"if x:\n  if y:\n    z\n ", b" # a\nz\n"),
    (BEGINNINGS, b"if x:\n\tif y:\n\t  z\n\t", b"\n"),
    (BEGINNINGS, b"(\n ", b")\n"),
]


@pytest.mark.parametrize(("texts", "left", "right"), AROUND)
def test_runs_of_a_symbol_and_beginnings_of_lines(texts, left, right):
    state = engine("python").document(left + right).middle(len(left), len(left)).start
    vocabulary = Vocabulary(texts)
    check(state, vocabulary)
    for text in texts[:12]:
        following = state.feed(text)
        if following is not None:
            check(following, vocabulary)


def test_names_are_checked_where_the_language_checks_whole_texts():
    document = Engine(python(check="compile")).document(b"def f():\n    \n    return x\n")
    state = document.middle(13, 13).start
    assert isinstance(state, CheckedState)
    vocabulary = Vocabulary(
        [b"global x", b"nonlocal x", b"x = 1", b"yield", b"break", b"return", b"await x", None], [7]
    )
    check(state, vocabulary)
    check(state.feed(b"x = 1; "), vocabulary)


CHECKED = b"""async def f(a, *b):
    global c
    for a in [x async for x in b if await a]:
        yield a; break
    del c.d, (e); return
class C: f = 'text'  # remark
"""


@pytest.mark.parametrize("direction", ["in the middle", "left to right"])
def test_tokens_within_a_symbol_are_judged_as_others_where_whole_texts_are_checked(direction):
    rng = random.Random(direction)
    texts = [CHECKED[at : at + rng.randrange(1, 5)] for at in range(0, len(CHECKED), 2)]
    texts += [b"await", b"yi", b"eld", b" a", b"wait", b"async", b"x", b"nonlocal "]
    vocabulary = Vocabulary([*dict.fromkeys(texts), None], stops=[len(dict.fromkeys(texts))])
    at_compile = Engine(python(check="compile"))
    for start in range(0, len(CHECKED), 9):
        right = CHECKED[start + rng.randrange(20) :] if direction == "in the middle" else b""
        state = at_compile.document(CHECKED[:start] + right).middle(start, start).start
        if state is not None:
            check(state, vocabulary)


def test_stop_tokens_are_set_where_the_middle_is_complete_even_if_they_have_a_text():
    vocabulary = Vocabulary([b"1", b"+", b"end"], stops=[2])
    start = engine("python").document(b"x = \n").middle(4, 4).start
    assert bits(start.mask(vocabulary)) == {0, 1}
    assert bits(start.feed(b"1").mask(vocabulary)) == {0, 1, 2}


def test_a_mask_is_the_callers_own():
    vocabulary = Vocabulary([b"1", b"+"])
    start = engine("python").document(b"x = \n").middle(4, 4).start
    start.mask(vocabulary)[:] = 0
    assert bits(start.mask(vocabulary)) == {0, 1}


def test_an_unknown_stop_token_is_refused():
    with pytest.raises(ValueError, match="3 tokens"):
        Vocabulary([b"a", b"b", None], stops=[3])


def test_an_empty_vocabulary_has_an_empty_mask():
    start = engine("python").document(b"x = \n").middle(4, 4).start
    assert start.mask(Vocabulary([])).shape == (0,)
    assert bits(start.mask(Vocabulary([None, None]))) == set()


@pytest.mark.parametrize(("most", "is_replaced"), [(250_000, True), (800_000, False)])
def test_the_store_drops_the_least_recently_used_tables_or_all_if_these_are_lexer_states(
    most, is_replaced, monkeypatch
):
    monkeypatch.setattr("fimlsp.quotient.masks.mask.MOST_BYTES", most)
    rng = random.Random(5)
    texts = random_texts(rng, source("python"), 400)
    vocabulary = Vocabulary(texts)
    stores = []
    for state in random_states(rng, "python", texts, 60):
        expected = allowed_by_feeding(vocabulary, state, lambda at, data: at.feed(data))
        assert (state.allowed_texts(vocabulary) == expected).all()
        stores.append(store_of(engine("python").tables, vocabulary))
        assert stores[-1].n_bytes < most
    assert (len(set(stores)) > 1) == is_replaced


def test_the_reference_feeds_every_text():
    rng = random.Random(7)
    texts = random_texts(rng, source("python"), 300)
    vocabulary = Vocabulary(texts)
    for state in random_states(rng, "python", texts, 40):
        allowed = allowed_by_feeding(vocabulary, state, lambda at, data: at.feed(data))
        assert allowed.tolist() == [*(state.feed(text) is not None for text in vocabulary.texts), False]


BEGUN = [
    ("python", b"def f(a):\n    return a + ", b"\n"),
    ("json", b'{"a": [1, ', b"]}"),
    ("lua", b"local x = ", b"\n"),
    ("go", b"package p\n\nvar x = ", b"\n"),
]


@pytest.mark.parametrize(("name", "left", "right"), BEGUN)
def test_a_prepared_engine_has_the_tables_of_the_first_mask(name, left, right, monkeypatch):
    vocabulary = Vocabulary(random_texts(random.Random(name), source(name), 300))
    engine(name).prepare(vocabulary)
    monkeypatch.setattr("fimlsp.quotient.masks.mask.lexed_suffixes", None)
    check(engine(name).document(left + right).middle(len(left), len(left)).start, vocabulary)
