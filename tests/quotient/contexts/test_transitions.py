"""Transitions: equal contexts are one object; caches change no answer, and are freed."""

import gc
import random
from collections.abc import Hashable

import pytest

from fimlsp.languages.python import python
from fimlsp.lexing.bounded_dict import BoundedDict, HeldDict, WeighedDict
from fimlsp.quotient.engine import Document, Engine
from fimlsp.quotient.language.tables import LanguageTables, tables_of

from ..middle_support import engine
from .test_document import SAMPLE, answers, edits

ONE = b"class A(B):\n    def f(self):\n        return [\n            1,\n        ]\n\n    x = 1\n\n\ny = 2\n"
OTHER = b"class Cc:\n    def g(x, y=3):\n        z()\n    # note\n    del x, y\nimport os\n"
"""Alike at the starts of corresponding lines, but for the class line's own context."""

PLACES = {
    # a line of ONE, one of OTHER
    b"    def f": b"    def g",
    b"        return": b"        z()",
    b"    x = 1": b"    del",
    b"y = 2": b"import",
}


@pytest.mark.parametrize("one", PLACES)
def test_contexts_that_are_alike_are_one_object(one):
    first, second = engine().document(ONE), engine().document(OTHER)
    at, other = ONE.index(one), OTHER.index(PLACES[one])
    assert first.right_at(at) is second.right_at(other)
    assert first.left_at(at)[1].indents == second.left_at(other)[1].indents
    again = engine().document(b"\n" + ONE)
    assert again.left_at(at + 1)[1] is first.left_at(at)[1]


def test_contexts_differ_where_what_is_open_differs():
    texts = (b"if a:\n  b\n", b"while a:\n  b\n", b"if a:\n   b\n", b"with a:\n  b\n")
    assert len({engine().document(text).left_at(len(text))[1] for text in texts}) == len(texts)
    texts = (b"else:\n  b\n", b"finally:\n  b\n", b"b\n", b"  b\n", b")\n")
    assert len({engine().document(text).right_at(0) for text in texts}) == len(texts)


def forgetful(monkeypatch: pytest.MonkeyPatch) -> Engine:
    """An engine of which each table has one entry."""
    whole, weighed = BoundedDict.__init__, WeighedDict.__init__
    monkeypatch.setattr(BoundedDict, "__init__", lambda self, _: whole(self, 1))
    monkeypatch.setattr(WeighedDict, "__init__", lambda self, *_: weighed(self, 1, lambda *_: 2))
    return Engine(python(), LanguageTables(python()))


@pytest.mark.slow
def test_what_is_forgotten_changes_no_answer(monkeypatch):
    rng = random.Random(11)
    short = forgetful(monkeypatch).document(SAMPLE)
    for edit in edits(SAMPLE, rng, 12):
        short.edit(*edit)
        place = min(rng.choice((edit[0], rng.randrange(len(short.data) + 1))), len(short.data))
        relax = rng.random() < 0.5
        long = engine().document(short.data)
        assert answers(short, place, place, relax=relax) == answers(long, place, place, relax=relax)


@pytest.mark.parametrize("most", [1, 3, 8, 100])
def test_a_full_table_forgets_its_oldest_entries(most):
    table: BoundedDict[int, int] = BoundedDict(most)
    for key in range(3 * most):
        table[key] = key
        assert list(table) == list(range(key + 1))[-len(table) :]
        assert min(key + 1, most - most // 8) <= len(table) <= most


@pytest.mark.parametrize("most", [0, 1, 10, 100])
def test_a_table_that_is_too_heavy_forgets_its_oldest_entries(most):
    table: WeighedDict[int, int] = WeighedDict(most, lambda key, _: key % 7)
    for key in range(100):
        before = [*table]
        table[key] = table[key] = key
        assert list(table) == list(range(key + 1))[-len(table) :], "the oldest are gone"
        assert sum(each % 7 for each in table) <= most or list(table) == [key]
        if sum(each % 7 for each in [*before, key]) <= most:
            assert [*table] == [*before, key]


def prepared(text: bytes) -> Document:
    document = Engine(python()).document(text)
    document.prepare()
    document.middle(len(text) // 2, len(text) // 2, relax=True)
    return document


def held(made: HeldDict[Hashable, object]) -> int:
    """The number of values that something else holds; one pass may leave those that evicted ones held."""
    size = -1
    while size != len(made):
        size = len(made)
        made.clear()
    return size


def test_contexts_go_with_the_last_who_holds_them():
    made = tables_of(python()).intern._made
    text = b"\t" + SAMPLE.replace(b"\n", b"\n\t").replace(b"\t\n", b"\n")
    gc.collect()
    gc.disable()
    try:
        before = held(made)
        document = prepared(text)
        during = held(made)
        del document
        assert before == held(made) < during
    finally:
        gc.enable()
