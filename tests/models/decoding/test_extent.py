"""One line or a block, by what stands around the cursor."""

from __future__ import annotations

import pytest
from fimlsp.models.decoding.stopping import is_one_line

ONE_LINE = [
    ("x = <|>\n", True),
    ("<|>x\n", True),
    ("f(<|>)", True),
    ("a\n    <|>\nb", True),
    ("a\n\n    <|>\nb", False),
    ("a:\n    <|>  \r\nb", True),
    ("if a:\n    <|>  \r\nb", False),
    ("if a:  # why\n    <|>", False),
    ("if a:<|>", False),
    ("x = {a:<|>", True),
    ("lambda x:<|>", True),
    ("    async def f(x) -> int:<|>\nb", False),
    ("    # sort them\n    <|>", False),
    ("    x = 1  # sort them\n    <|>", True),
    ("a\r\r<|>\rb", False),
    ("<|>", False),
    ("\n\n<|>", False),
]


@pytest.mark.parametrize(("marked", "one_line"), ONE_LINE)
def test_one_line_or_a_block(marked, one_line):
    left, right = marked.encode().split(b"<|>")
    assert is_one_line("auto", left, right) is one_line
    assert is_one_line("always", left, right) is True
    assert is_one_line("never", left, right) is False
