"""The words, signs and strings of the code around a suggestion, for checks that read piece by piece."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from fimlsp.languages.python.names.code_state import reading_start

FAR = 4_000
"""Bytes after the suggestion within which its brackets are read."""

OPENING, CLOSING = (b"(", b"[", b"{"), (b")", b"]", b"}")

_STRINGS = (
    rb'"""(?:\\.|[^\\])*?"""',
    rb"'''(?:\\.|[^\\])*?'''",
    rb'"(?:\\.|[^"\\\n])*"',
    rb"'(?:\\.|[^'\\\n])*'",
)
_PIECE = re.compile(
    rb"(?i:[bfrtu]{0,2})(?:%b)|#[^\n]*|\s+|[\w\x80-\xff.]+|[()\[\]{},:]|[-+*/%%&|^@<>=!]+|."
    % b"|".join(_STRINGS),
    re.DOTALL,
)


class Window(NamedTuple):
    """The code around a suggestion, which lies from `start` to `end` of it."""

    code: bytes
    start: int
    end: int

    @classmethod
    def around(cls, left: bytes, text: bytes, right: bytes) -> Window:
        """The window of *text* between *left* and *right*."""
        near = left[reading_start(left) :]
        return cls(near + text + right[:FAR], len(near), len(near) + len(text))

    def pieces(self) -> Iterator[tuple[bytes, int]]:
        """The words, signs, strings, comments, spaces and line ends of the code, with their offsets."""
        return ((piece[0], piece.start()) for piece in _PIECE.finditer(self.code))

    def code_pieces(self) -> Iterator[tuple[bytes, int]]:
        """The pieces without spaces, line ends and comments."""
        return (pair for pair in self.pieces() if not (pair[0][:1].isspace() or pair[0][:1] == b"#"))

    def is_suggested(self, offset: int) -> bool:
        """True if *offset* is in the suggestion."""
        return self.start <= offset < self.end
