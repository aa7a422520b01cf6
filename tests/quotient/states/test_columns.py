"""A completion starts a block in the column of the cursor, if that is deeper than the outer block."""

import pytest

from tests.quotient.middle_support import engine

OFFERED = {
    # left<|>right: the completion
    "def f():\n        <|>\n": b"0",
    "def f():\n <|>\nx\n": b"0",
    "def f():\n    if a:\n            <|>\n    b\n": b"0",
    "def f():\n    if a:\n        <|>\n    b\n": b"0",
    "def f():\n\t<|>\n": b"0",
    "def f():\n<|>\nx\n": b"    0",
    "if a:\n  <|>\nelse:\n  b\n": b"0",
}


@pytest.mark.parametrize("case", OFFERED)
def test_a_block_begins_where_the_cursor_is(case):
    left, right = case.encode().split(b"<|>")
    start = engine().document(left + right).middle(len(left), len(left)).start
    assert start.shortest_completion == OFFERED[case]
    assert start.feed(OFFERED[case]).complete
