"""Finds where a suggestion says once more what its line has behind the cursor.

Between `for` and `in orders:` that is `order in orders`, which would even be valid.
"""

from __future__ import annotations

import re

PIECES_MIN = 2
"""Words and signs, at least one word among them, that are no chance."""

_PIECE = re.compile(rb"[\w\x80-\xff]+|[^\w\s\x80-\xff]")
_IN_WORD = re.compile(rb"[\w\x80-\xff]")


def first_repeated_rest(text: bytes, right: bytes) -> int | None:
    """The offset in *text* from which on it says what *right* has in the cursor's line; None if nowhere."""
    rest = right.partition(b"\n")[0].lstrip()
    line = text.rfind(b"\n") + 1
    pieces = [piece.start() for piece in _PIECE.finditer(text, line)]
    for count, begin in enumerate(pieces):
        said = text[begin:].rstrip()
        if len(pieces) - count < PIECES_MIN or not rest:
            break
        if rest.startswith(said) and _IN_WORD.search(said) and not _goes_on(rest, len(said)):
            return begin
    return None


def _goes_on(text: bytes, offset: int) -> bool:
    """Whether a word of *text* goes on at *offset*."""
    return _IN_WORD.match(text[offset - 1 : offset]) is not None and _IN_WORD.match(text, offset) is not None
