"""Nesting as deep as CPython allows can still be closed; one level more is refused at once."""

import pytest

from fimlsp.languages.python import python
from fimlsp.languages.python.mode_stack import MAX_BRACKETS
from fimlsp.quotient.engine import Engine
from fimlsp.testing.checking import COMPLETE, verdict

from ..middle_support import is_python, start_between


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


MOST_BLOCKS = 99


def headers(first, last, header="if a:"):
    """Headers in each other, from column *first* up to, and without, column *last*."""
    return b"".join(b" " * column + header.encode() + b"\n" for column in range(first, last))


@pytest.mark.parametrize("n", [MOST_BLOCKS - 1, MOST_BLOCKS, MOST_BLOCKS + 1])
def test_blocks(n):
    """A header beyond the deepest block may still have its statement on its own line."""
    is_possible = n <= MOST_BLOCKS
    start = start_between(b"", b"")
    assert (start.feed(headers(0, n)) is not None) is is_possible
    last = start.feed(headers(0, n)[:-1])
    assert is_python(headers(0, n)[:-1] + last.shortest_completion) is True
    assert (start_between(headers(0, n), b"\n") is not None) is is_possible
    left = headers(0, n - 1) + b" " * (n - 1)
    for header in (b"match x", b"match x:", b"match x:\n", b"class A:\n"):
        state = start_between(left, b"\n").feed(header)
        assert (state is not None) is is_possible, header
        assert state is None or is_python(left + header + state.shortest_completion + b"\n")
    assert start_between(left, b"\n").feed(b"match(x)").complete


FAR_RIGHT = b" " * 200 + b"x\n"
BLOCKS = [
    (b"", b"", 0),
    (b"", b"if a:\n", 1),
    (headers(0, 40), b"", 40),
    (headers(0, 40), b" " * 40 + b"if a:\n", 41),
]


@pytest.mark.parametrize(("left", "middle", "opened"), BLOCKS)
@pytest.mark.parametrize("n", [MOST_BLOCKS - 1, MOST_BLOCKS, MOST_BLOCKS + 1])
def test_blocks_of_the_right_context(left, middle, opened, n):
    """All open blocks count together; a later text closes some of them."""
    for behind in (b"", b"y\n"):
        right = headers(opened, n) + b" " * n + b"x\n" + behind
        assert is_python(left + middle + right) is (n <= MOST_BLOCKS)
        start = start_between(left, right)
        state = start and start.feed(middle)
        assert (state is not None and state.complete) is (n <= MOST_BLOCKS)


def test_more_blocks_than_there_may_be_are_refused_at_once():
    assert start_between(b"", FAR_RIGHT).feed(headers(0, 200)) is None
    assert start_between(b"", FAR_RIGHT).feed(headers(0, MOST_BLOCKS)).complete
    minima = b"".join(b" " * column + b"x\n" for column in reversed(range(300)))
    assert start_between(b"", minima) is None
