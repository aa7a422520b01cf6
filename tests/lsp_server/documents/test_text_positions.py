"""Positions of an editor to byte offsets, in the three encodings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fimlsp.lsp_server.text_positions import Text, encode
from fimlsp.quotient.contexts.replacement import Replacement

SAMPLE = "a\né = '😋'\r\n\x0cx\ry\u2028z"
ENCODINGS = ("utf-8", "utf-16", "utf-32")

# (line, (utf-8, utf-16, utf-32) characters, the text before the position)
POSITIONS = [
    (0, (0, 0, 0), ""),
    (0, (1, 1, 1), "a"),
    (0, (9, 9, 9), "a"),
    (1, (0, 0, 0), "a\n"),
    (1, (2, 1, 1), "a\né"),
    (1, (6, 5, 5), "a\né = '"),
    (1, (10, 7, 6), "a\né = '😋"),
    (1, (99, 99, 99), "a\né = '😋'"),
    (2, (1, 1, 1), "a\né = '😋'\r\n\x0c"),
    (2, (2, 2, 2), "a\né = '😋'\r\n\x0cx"),
    (3, (4, 2, 2), "a\né = '😋'\r\n\x0cx\ry\u2028"),
    (4, (0, 0, 0), SAMPLE),
]

# Positions inside a character mean its start.
INSIDE = [("utf-8", 1, 1, "a\n"), ("utf-8", 1, 8, "a\né = '"), ("utf-16", 1, 6, "a\né = '")]


@pytest.mark.parametrize(("line", "characters", "before"), POSITIONS)
def test_offset_of_a_position(line, characters, before):
    text = Text(encode(SAMPLE))
    for encoding, character in zip(ENCODINGS, characters, strict=True):
        assert text.offset(line, character, encoding) == len(before.encode()), encoding


@pytest.mark.parametrize(("encoding", "line", "character", "before"), INSIDE)
def test_a_position_inside_a_character_is_its_start(encoding, line, character, before):
    assert Text(encode(SAMPLE)).offset(line, character, encoding) == len(before.encode())


@given(st.text(alphabet="aé😋\n\r\x0c\u2028", max_size=12), st.integers(0, 12))
def test_positions_and_offsets_agree(source, index):
    before = source[:index]
    if before.endswith("\r") and source[index:].startswith("\n"):
        before = before[:-1]
    line_text = before.replace("\r\n", "\n").replace("\r", "\n").rpartition("\n")[2]
    line = before.replace("\r\n", "\n").replace("\r", "\n").count("\n")
    units = {
        "utf-8": len(line_text.encode()),
        "utf-16": len(line_text.encode("utf-16-le")) // 2,
        "utf-32": len(line_text),
    }
    for encoding, character in units.items():
        assert Text(encode(source)).offset(line, character, encoding) == len(before.encode())


def test_a_lone_surrogate_becomes_a_question_mark():
    assert encode("a\ud83d") == b"a?"


def test_an_empty_text_has_one_line():
    text = Text(b"")
    assert (text.has_line(0), text.has_line(1), text.offset(0, 5, "utf-16"), text.line_at(0)) == (
        True,
        False,
        0,
        0,
    )


def told(text, line_number):
    """All results for a text."""
    starts = [text.line_start(number) for number in range(text.n_lines)]
    lines = [(text.line(number), text.line_span(number)[1]) for number in range(text.n_lines)]
    found = [text.line_at(offset) for offset in range(len(text.data) + 1)]
    text.hashes(starts[line_number % text.n_lines])
    return starts, lines, found, text.longest_line(), [text.hashes(at) for at in range(len(text.data) + 1)]


edits = st.tuples(st.integers(0, 12), st.integers(0, 3), st.text(alphabet="aé\n\r", max_size=3))


@given(st.text(alphabet="aé\n\r", max_size=12), st.lists(st.tuples(edits, st.integers(0, 9)), max_size=6))
def test_after_edits_all_is_as_in_a_new_text(source, changes):
    text = Text(source.encode())
    for (start, removed, inserted), line_number in changes:
        start = min(start, len(text.data))
        text = text.replaced(Replacement(start, min(start + removed, len(text.data)), inserted.encode()))
        assert told(text, line_number) == told(Text(text.data), 0)


def test_hashes_tell_where_the_cursor_is():
    text = Text(b"a\na\r\na")
    assert len({text.hashes(offset) for offset in range(len(text.data) + 1)}) == len(text.data) + 1


def test_typing_in_a_line_looks_at_no_other():
    text = Text(b"a\n" * 9).replaced(Replacement(4, 4, b"x"))
    known = text._lines
    for start, end, typed in ((5, 5, b"y"), (4, 6, b""), (4, 4, "é".encode())):
        text = text.replaced(Replacement(start, end, typed))
        text.hashes(start)
        assert text._lines is known
    assert text.replaced(Replacement(4, 4, b"\n"))._lines is not known
