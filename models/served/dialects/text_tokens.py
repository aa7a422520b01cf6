"""Tokens of a server that knows no ids: each text is its own id.

An id is the number that the bytes of the text are, behind a leading 1, or 2 for a marker. So nothing has to
be remembered, however many texts there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import overload

TEXT, MARKER = b"\1", b"\2"
_PIECE = re.compile(r"\s*\w{1,4}|\s+|[^\w\s]{1,2}")


def text_id(text: str) -> int:
    """The id of a *text*."""
    return int.from_bytes(TEXT + text.encode(), "big")


def marker_id(text: str) -> int:
    """The id of the marker that is written as *text*."""
    return int.from_bytes(MARKER + text.encode(), "big")


def written(token: int) -> tuple[bool, str]:
    """Whether *token* is a marker, and its text."""
    data = token.to_bytes((token.bit_length() + 7) // 8, "big")
    return data[:1] == MARKER, data[1:].decode()


def pieces(text: str, markers: Iterable[str]) -> list[int]:
    """Ids of *text* in pieces, at least as many as any vocabulary has tokens for code on average.

    The server reads markers in a text as such, so what reads like one gets a space inside.
    """
    for marker in markers:
        text = text.replace(marker, f"{marker[:1]} {marker[1:]}")
    return [text_id(piece) for piece in _PIECE.findall(text)]


class TextTable(Sequence["bytes | None"]):
    """The bytes of each such id; None of a marker."""

    @overload
    def __getitem__(self, at: int) -> bytes | None: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[bytes | None]: ...
    def __getitem__(self, at: int | slice) -> bytes | Sequence[bytes | None] | None:
        if isinstance(at, slice):
            raise TypeError("there are too many")
        is_marker, text = written(at)
        return None if is_marker else text.encode()

    def __len__(self) -> int:
        return 1 << 62
