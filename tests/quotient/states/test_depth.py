"""Nesting: what is as deep as CPython allows can still be closed; one level more is refused at once."""

import pytest
from fimlsp.languages.python import python
from fimlsp.languages.python.fstrings import MAX_BRACKETS
from fimlsp.quotient.engine import Engine

from ..middle_support import COMPLETE, is_python, start_between, verdict


def deepest(state, piece):
    """How often *piece* can be fed, and the state after that."""
    times = 0
    while (following := state.feed(piece)) is not None:
        state, times = following, times + 1
    return times, state


@pytest.mark.parametrize(
    ("left", "right"), [(b"x = ", b""), (b"x = [", b"]\n"), (b"def f(): return g(", b", y)\n"), (b"", b")\n")]
)
@pytest.mark.parametrize("bracket", [b"(", b"[", b"(["])
def test_brackets(left, right, bracket):
    times, state = deepest(start_between(left, right), bracket)
    assert left.count(b"(") + left.count(b"[") - left.count(b")") + times * len(bracket) <= MAX_BRACKETS
    assert times * len(bracket) > MAX_BRACKETS - 5
    rest = state.shortest_completion
    assert verdict(state.feed(rest)) == COMPLETE
    assert is_python(left + times * bracket + rest + right)


def test_strings_in_fields_of_strings():
    document = Engine(python((3, 12))).document(b"x = \n")
    times, state = deepest(document.middle(4, 4).start, b"f'{")
    assert times == 149
    assert verdict(state.feed(state.shortest_completion)) == COMPLETE
