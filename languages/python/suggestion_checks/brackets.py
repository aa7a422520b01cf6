"""Checks of the brackets around and in a suggestion: repeated keys and elements, own arguments.

All read the code around the suggestion piece by piece, from a statement start nearby. Each takes
O(len(text)) and some lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from fimlsp.languages.python.names.code_state import state_at_end
from fimlsp.languages.python.names.known_names import BUILTIN_NAMES
from fimlsp.languages.python.suggestion_checks.pieces import CLOSING, OPENING, Window

EQUAL_ELEMENTS_MIN = 3
"""As many equal elements in a row are a loop of the model; two may be meant, as in `(width, width)`."""

_KEY_SIGN = {b"{": b":", b"(": b"="}
_LISTED = re.compile(rb"[A-Za-z_\x80-\xff][\w.\x80-\xff]*|[\"'].*[\"']", re.DOTALL)
_ENDS_LIST = frozenset([b":", b"=", b"\n"])
_OBJECT_OF = {b"super()": b"self"}


@dataclass(slots=True)
class _KeyBracket:
    """An open bracket with the offsets of its keys; *candidate* is a piece that a sign would make a key."""

    sign: bytes
    keys: dict[bytes, int] = field(default_factory=dict)
    candidate: tuple[bytes, int] | None = None
    is_element_start: bool = True


def first_repeated_key(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset in *text* of the first key of a dict, or name of an argument, that is repeated; or None."""
    window, brackets = Window.around(left, text, right), [_KeyBracket(b"")]
    for piece, offset in window.code_pieces():
        inner = brackets[-1]
        if piece in OPENING:
            inner.is_element_start, inner.candidate = False, None
            brackets.append(_KeyBracket(piece))
        elif piece in CLOSING:
            if len(brackets) > 1:
                brackets.pop()
            elif offset >= window.end:
                return None
        elif piece == b",":
            inner.is_element_start, inner.candidate = True, None
        elif inner.candidate is not None and piece == _KEY_SIGN.get(inner.sign):
            key, key_offset = inner.candidate
            if key in inner.keys:
                suggested = [*filter(window.is_suggested, (inner.keys[key], key_offset))]
                if suggested:
                    return max(suggested) - window.start
            inner.keys[key] = key_offset
            inner.candidate = None
        else:
            inner.candidate = (piece, offset) if inner.is_element_start else None
            inner.is_element_start = False
        if offset >= window.end and len(brackets) == 1:
            return None
    return None


@dataclass(slots=True)
class _Listing:
    """The elements of the bracket *sign* at *opened*, or of a line; *is_handler* if they are exceptions."""

    sign: bytes = b""
    opened: int = 0
    is_handler: bool = False
    element: bytes = b""
    start: int = 0
    end: int = 0
    elements: list[bytes] = field(default_factory=list)

    def add(self, piece: bytes, offset: int) -> None:
        """Add *piece* to the element that is being read."""
        self.start = self.start if self.element else offset
        self.end = offset + len(piece)
        self.element += piece

    def end_element(self) -> bool:
        """End the element. Returns True if it is a repetition."""
        element, self.element = self.element, b""
        if not element:
            return False
        row = [*self.elements[1 - EQUAL_ELEMENTS_MIN :], element]
        is_listed_once = self.is_handler or (self.sign in (b"[", b"{") and element[-1:] in b"\"'")
        self.elements.append(element)
        is_loop = len(row) == EQUAL_ELEMENTS_MIN and set(row) == {element} and _may_loop(element)
        return is_loop or (is_listed_once and element in self.elements[:-1])


def _may_loop(element: bytes) -> bool:
    """True if *element* is a name or string; numbers, calls, `None` and types as `int` may be repeated."""
    return _LISTED.fullmatch(element) is not None and element not in BUILTIN_NAMES


def first_repeated_element(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset in *text* of the first element that is listed once too often; None if there is none."""
    window = Window.around(left, text, right)
    suggested = (
        max(0, start - window.start)
        for start, end in _repeated_elements(window)
        if start < window.end and end > window.start
    )
    return next(suggested, None)


def _repeated_elements(window: Window) -> Iterator[tuple[int, int]]:
    """Starts and ends of repeated elements, up to the end of the brackets that the suggestion leaves open."""
    listings = [_Listing()]
    for piece, offset in window.pieces():
        inner, is_line = listings[-1], len(listings) == 1
        sign = piece
        if piece.isspace():
            sign = b"\n" if b"\n" in piece and is_line else b""
        if not sign or sign.startswith(b"#"):
            continue
        if sign in (b"except", b"except*") and is_line:
            listings[-1] = _Listing(is_handler=True)
        elif sign in OPENING:
            is_handler = inner.is_handler and not inner.element
            inner.add(sign, offset)
            listings.append(_Listing(sign, offset, is_handler))
        elif sign == b"," or sign in CLOSING or (is_line and sign in _ENDS_LIST):
            if inner.end_element():
                yield inner.start, inner.end
            if sign in CLOSING and not is_line:
                listings.pop()
                listings[-1].add(window.code[inner.opened + 1 : offset + len(piece)], inner.opened + 1)
            elif sign != b",":
                listings = [_Listing()]
            if offset >= window.end and len(listings) == 1:
                return
        else:
            inner.add(sign, offset)


def first_closed_twice(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset of the quote in *text* that closes the string around the cursor, if *right* closes it too.

    None if there is none, or if *text* opens another string for the quote in *right*. The editor has closed
    the string: `-> "‸"` becomes `-> "Entry"`, and not `-> "Entry":"`.
    """
    before = state_at_end(left)
    if not before.quote or before.quote == b"#" or not right.startswith(before.quote):
        return None
    if before.feed(text).quote:
        return None
    starts = (at for at in range(len(text)) if text.startswith(before.quote, at))
    return next(at for at in starts if not before.feed(text[: at + len(before.quote)]).quote)


@dataclass(slots=True)
class _CallBracket:
    """An open bracket: its function, the object whose method that is, and the argument read so far."""

    function: bytes = b""
    method_object: bytes = b""
    argument: bytes = b""
    start: int = 0
    is_first: bool = True

    @classmethod
    def of_call(cls, function: bytes) -> _CallBracket:
        """The bracket after *function*."""
        owner, _, name = function.rpartition(b".")
        return cls(function, b"" if name == b"__new__" else _OBJECT_OF.get(owner, owner))

    def is_own_result(self, called: bytes) -> bool:
        """True if the first argument starts with a call of *called*, which is the same method of `self`."""
        return self.is_first and called.startswith(b"self.") and self.function == self.argument == called

    @property
    def has_own_argument(self) -> bool:
        """True if the argument is the function, or the object whose method that is."""
        is_function = self.argument == self.function != b"type"
        return bool(self.argument) and (is_function or self.argument == self.method_object)


def first_own_argument(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset in *text* of the first argument that is its function, or the object of that; or None.

    Examples are `get(get)`, `key.match(key)` and `super().__init__(self)`. Hardly anybody writes that, except
    for `cls.__new__(cls)` and `type(type)`. Nor does a method of `self` get its own result: of 11,562 methods
    of a call, none is such.
    """
    window, brackets, chain = Window.around(left, text, right), [_CallBracket()], b""
    for piece, offset in window.code_pieces():
        inner, link = brackets[-1], piece
        if piece in OPENING:
            is_nested = piece == b"(" and inner.is_own_result(chain)
            if is_nested and window.is_suggested(inner.start):
                return inner.start - window.start
            brackets.append(_CallBracket.of_call(chain) if piece == b"(" else _CallBracket())
        elif piece in CLOSING or piece == b",":
            if inner.has_own_argument and window.is_suggested(inner.start):
                return inner.start - window.start
            inner.argument, inner.is_first = b"", False
            if piece != b"," and len(brackets) > 1:
                brackets.pop()
                brackets[-1].argument += b"()"
                link = b"super()" if inner.function == b"super" else piece
        else:
            inner.start = inner.start if inner.argument else offset
            inner.argument += piece
        is_defined = chain in (b"def", b"class")
        chain = chain + link if link.startswith(b".") else b"" if is_defined else link
        if offset >= window.end and len(brackets) == 1:
            return None
    return None
