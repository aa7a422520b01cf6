"""Long lines cost as much per lexeme as short ones, and keep few objects alive."""

from __future__ import annotations

import gc

import pytest

from fimlsp.languages.python import python
from fimlsp.lexing.bounded_dict import forget_all
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.first_state import read_up_to
from fimlsp.quotient.grammar.earley import EarleySet
from fimlsp.testing.checking import COMPLETE, verdict

from .middle_support import engine, start_between

LONG, MANY = 1_000, 200
RIGHT_RECURSIVE = [b"a if b else ", b"lambda: ", b"lambda: a if b else ", b"not a or b if c else lambda d: "]
REPEATED = [b"a, ", b"a + ", b"a(b).c ** ", b"[a, {b: c}], ", b"-a if b else c, "]


@pytest.mark.parametrize("piece", RIGHT_RECURSIVE)
def test_right_recursion_has_few_entries(piece):
    state = start_between(b"x = ", b" + 1\n").feed(LONG * piece + b"a ")
    assert verdict(state) == COMPLETE
    assert len(state.chart.entries) < 100
    document = engine().document(b"x = " + LONG * piece + b"a ")
    context, _ = read_up_to(document, len(document.data))
    assert len(context.group.entries) < 100


def sets_alive():
    forget_all()
    gc.collect()
    return sum(type(each) is EarleySet for each in gc.get_objects())


@pytest.mark.parametrize("piece", REPEATED)
@pytest.mark.parametrize("is_left", [True, False])
def test_a_long_line_leaves_few_sets_behind(piece, is_left):
    left, right = (b"x = f(" + MANY * piece, b"a)\n") if is_left else (b"x = f(", MANY * piece + b"a)\n")
    assert sets_left_by(left, right) < MANY / 4


def sets_left_by(left, right):
    """The number of sets that the start of a middle in a new document keeps alive."""
    document = Engine(python(), engine().tables).document(left + right)
    before = sets_alive()
    start = document.middle(len(left), len(left), relax=True).start
    assert start.shortest_completion is not None
    return sets_alive() - before
