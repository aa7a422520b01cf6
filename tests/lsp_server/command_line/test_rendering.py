"""A completion in its place, as text; colours are rich's business."""

from __future__ import annotations

import pytest

from fimlsp.lsp_server.command_line.terminal import INSERTED_STYLE, numbered_lines

SHOWN = [
    ("x = ", "1", "\ny\n", ["    1 + x = 1", "    2   y"]),
    ("x = ", "f(\n    1\n)", "\n", ["    1 + x = f(", "    2 +     1", "    3 + )"]),
    ("a\r\nb", "é", "c\rd", ["    1   a", "    2 + béc", "    3   d"]),
    ("a", "", "b", ["    1   ab"]),
    ("'", "\x1b[2J\x7f", "\t'", ["    1 + '␛[2J␡  '"]),
    ("\n" * 10, "x", "\n" * 10, [f"{n:>5} {'+ x' if n == 11 else '  '}" for n in range(5, 18)]),
    ("\n" * 1000, "x", "\n" * 1000, [f"{n:>5} {'+ x' if n == 1001 else '  '}" for n in range(995, 1008)]),
]


@pytest.mark.parametrize(("left", "inserted", "right", "lines"), SHOWN)
def test_lines_around_the_completion(left, inserted, right, lines):
    shown = numbered_lines(left, inserted, right, "python")
    assert [line.plain.rstrip() for line in shown] == [line.rstrip() for line in lines]


def test_the_inserted_text_is_underlaid():
    (line,) = [line for line in numbered_lines("\tx = '😋' +\t", "y\n", "z", "python") if "y" in line.plain]
    (span,) = [span for span in line.spans if span.style == INSERTED_STYLE]
    assert line.plain[span.start : span.end].strip() == "y"
