"""Elements that a suggestion lists again: exceptions of a handler, strings, one name over and over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from fimlsp.languages.python.names.code_state import near_start
from fimlsp.languages.python.suggested.builtin_names import BUILTIN_NAMES
from fimlsp.languages.python.suggested.repeated_keys import FAR, PIECE

IN_A_ROW = 3
"""So many equal elements in a row are a loop; two may be meant, as in `(width, width)`."""

_LISTED = re.compile(rb"[A-Za-z_\x80-\xff][\w.\x80-\xff]*|[\"'].*[\"']", re.DOTALL)
_ENDS_LIST = frozenset([b":", b"=", b"\n"])


@dataclass(slots=True)
class _Listing:
    """What the bracket *opened* there, or a line outside of all, lists; *is_handled* if exceptions."""

    sign: bytes = b""
    opened: int = 0
    is_handled: bool = False
    element: bytes = b""
    start: int = 0
    seen: list[bytes] = field(default_factory=list)

    def add(self, piece: bytes, offset: int) -> None:
        """Take *piece* into the element that is being read."""
        self.start = self.start if self.element else offset
        self.element += piece

    def end(self) -> bool:
        """End the element; whether it is one too many."""
        element, self.element = self.element, b""
        if not element:
            return False
        row = [*self.seen[1 - IN_A_ROW :], element]
        is_listed_once = self.is_handled or (self.sign in (b"[", b"{") and element[-1:] in b"\"'")
        self.seen.append(element)
        loops = len(row) == IN_A_ROW and set(row) == {element} and _may_loop(element)
        return loops or (is_listed_once and element in self.seen[:-1])


def _may_loop(element: bytes) -> bool:
    """Whether nobody lists *element* over and over: no number, call, `None`, or type as `int`."""
    return _LISTED.fullmatch(element) is not None and element not in BUILTIN_NAMES


def first_repeated_element(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset in *text* of the first element that is listed once too often; None if there is none.

    O(len(text)) and some lines.
    """
    near = left[near_start(left) :]
    begin, end = len(near), len(near) + len(text)
    repeated = (each - begin for each in _repeated(near + text + right[:FAR], end) if begin <= each < end)
    return next(repeated, None)


def _repeated(code: bytes, end: int) -> Iterator[int]:
    """Where elements of *code* begin that are listed too often, up to the end of what is open at *end*."""
    listings = [_Listing()]
    for found in PIECE.finditer(code):
        piece, inner = found[0], listings[-1]
        if piece.isspace():
            piece = b"\n" if b"\n" in piece and len(listings) == 1 else b""
        if not piece or piece.startswith(b"#"):
            continue
        if piece in (b"except", b"except*") and len(listings) == 1:
            listings[-1] = _Listing(is_handled=True)
        elif piece in (b"(", b"[", b"{"):
            is_handled = inner.is_handled and not inner.element
            inner.add(piece, found.start())
            listings.append(_Listing(piece, found.start(), is_handled))
        elif piece == b"," or piece in (b")", b"]", b"}") or (len(listings) == 1 and piece in _ENDS_LIST):
            if inner.end():
                yield inner.start
            if piece in (b")", b"]", b"}") and len(listings) > 1:
                listings.pop()
                listings[-1].add(code[inner.opened + 1 : found.end()], found.start())
            elif piece != b",":
                listings = [_Listing()]
            if found.start() >= end and len(listings) == 1:
                return
        else:
            inner.add(piece, found.start())
