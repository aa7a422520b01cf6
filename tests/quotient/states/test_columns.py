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
    "class A:\n\tdef f(self):\n<|>\n": b"\t\t0",
    "class A:\n\tdef f(self):\n\t\tif a:\n<|>\n": b"\t\t\t0",
    "class A:\n  def f(self):\n<|>\n": b"    0",
    "class A:\n  def f(self):\n    if a:\n<|>\n": b"      0",
    "class A:\n        def f(self):\n<|>\n": b"                0",
    "class A:\n  if a:\n<|>\n  b\n": b"    0",
    "class A:\n\tif a:\n<|>\n\tb\n": b"\t\t0",
    # in the file's own block, as the nearest other block there
    "if a:\n  b\ndef f():\n<|>\n": b"  0",
    "if a:\n\tb\ndef f():\n<|>\n": b"\t0",
    "if a:\n\tb\nif c:\n  d\n\n# e\ndef f():\n<|>\n": b"  0",
    "def f():\n<|>\ndef g():\n  # a\n  b\n": b"  0",
    "if a:\n  b\nc = d(\n        e)\ndef f():\n<|>\n": b"  0",
    "if a:\n  b\nc = [\n        e,\n]\ndef f():\n<|>\n": b"  0",
    "if a:\n  b\nc = '''\n        e\n'''\ndef f():\n<|>\n": b"  0",
    "x = [\n  1,\n]\ndef f():\n<|>\n": b"    0",
    # no white space has the step of the outer block once more
    "if a:\n if b:\n \tif c:\n<|>\n": b" \t    0",
    "if a:\n   if b:\n   \tif c:\n<|>\n": b"   \t    0",
    "if a:\n       if b:\n       \tif c:\n<|>\n": b"         0",
    "if a:\n\tif b:\n\t \tif c:\n<|>\n": b"  \t\t\t0",
}


@pytest.mark.parametrize("case", OFFERED)
def test_a_block_begins_where_the_cursor_is(case):
    left, right = case.encode().split(b"<|>")
    start = engine().document(left + right).middle(len(left), len(left)).start
    assert start.shortest_completion == OFFERED[case]
    assert start.feed(OFFERED[case]).complete
