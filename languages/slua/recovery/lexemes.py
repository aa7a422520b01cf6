"""The lexemes of a text that may be broken, and what stands where a lexeme should."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fimlsp.languages.slua.incremental.tokens import LEXEME

_PIECE = re.compile(
    rb"(?P<lexeme>" + LEXEME.pattern + rb')|--[^\r\n]*|"[^\r\n]*|[0-9][A-Za-z0-9_.]*|[^ \t\r\n]'
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A lexeme, or what stands where one should.

    Attributes:
        text: of the lexeme; empty if it is none.
        start, end: where it stands.
        begins_line: whether it is the first of its line.
    """

    text: str
    start: int
    end: int
    begins_line: bool


def pieces_of(data: bytes, start: int = 0) -> list[Piece]:
    """The pieces of *data* from *start* on. O(len(data))."""
    found, before = list[Piece](), start
    for piece in _PIECE.finditer(data, start):
        begins_line = not found or b"\n" in data[before : piece.start()]
        found.append(Piece(_text(piece), *piece.span(), begins_line))
        before = piece.end()
    return found


def _text(piece: re.Match[bytes]) -> str:
    try:
        return (piece["lexeme"] or b"").decode("utf-8")
    except UnicodeDecodeError:
        return ""
