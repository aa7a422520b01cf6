"""Checks of the pieces around and in a suggestion: repeated keys and elements, own arguments, comparisons.

All read the code around the suggestion piece by piece, from a statement start nearby. Each takes
O(len(text)) and some lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from fimlsp.languages.python.names.code_state import KEYWORDS, VALUES, reading_start
from fimlsp.languages.python.names.known_names import BUILTIN_NAMES

FAR = 4_000
"""Bytes after the suggestion within which its brackets are read."""

EQUAL_ELEMENTS_MIN = 3
"""As many equal elements in a row are a loop of the model; two may be meant, as in `(width, width)`."""

_STRINGS = (
    rb'"""(?:\\.|[^\\])*?"""',
    rb"'''(?:\\.|[^\\])*?'''",
    rb'"(?:\\.|[^"\\\n])*"',
    rb"'(?:\\.|[^'\\\n])*'",
)
_PIECE = re.compile(
    rb"(?i:[rbu]{0,2})(?:%b)|#[^\n]*|\s+|[\w\x80-\xff.]+|[()\[\]{},:]|[-+*/%%&|^@<>=!]+|."
    % b"|".join(_STRINGS),
    re.DOTALL,
)
_OPENING, _CLOSING = (b"(", b"[", b"{"), (b")", b"]", b"}")
_KEY_SIGN = {b"{": b":", b"(": b"="}
_LISTED = re.compile(rb"[A-Za-z_\x80-\xff][\w.\x80-\xff]*|[\"'].*[\"']", re.DOTALL)
_ENDS_LIST = frozenset([b":", b"=", b"\n"])
_OBJECT_OF = {b"super()": b"self"}
_COMPARING = frozenset([b"==", b"<", b">", b"<=", b">=", b"is", b"is not"])
_SEPARATING_WORDS = KEYWORDS - VALUES - {b"match", b"case", b"await"}
_ARITHMETIC = re.compile(rb"(?:\*\*|//|<<|>>|[-+*/%&|^@~])+")
_WORD_PIECE = re.compile(rb"[\w\x80-\xff.]+")


class _Window(NamedTuple):
    """The code around a suggestion, which lies from `start` to `end` of it."""

    code: bytes
    start: int
    end: int

    @classmethod
    def around(cls, left: bytes, text: bytes, right: bytes) -> _Window:
        """The window of *text* between *left* and *right*."""
        near = left[reading_start(left) :]
        return cls(near + text + right[:FAR], len(near), len(near) + len(text))

    def pieces(self) -> Iterator[tuple[bytes, int]]:
        """The words, signs, strings, comments and spaces of the code, with their offsets."""
        return ((piece[0], piece.start()) for piece in _PIECE.finditer(self.code))

    def code_pieces(self) -> Iterator[tuple[bytes, int]]:
        """The pieces but spaces and comments."""
        return (pair for pair in self.pieces() if not (pair[0][:1].isspace() or pair[0][:1] == b"#"))

    def is_suggested(self, offset: int) -> bool:
        """True if *offset* is in the suggestion."""
        return self.start <= offset < self.end


@dataclass(slots=True)
class _KeyBracket:
    """An open bracket with the offsets of its keys; *candidate* is a piece that a sign would make a key."""

    sign: bytes
    keys: dict[bytes, int] = field(default_factory=dict)
    candidate: tuple[bytes, int] | None = None
    is_element_start: bool = True


def first_repeated_key(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset in *text* of the first key of a dict, or name of an argument, that is repeated; or None."""
    window, brackets = _Window.around(left, text, right), [_KeyBracket(b"")]
    for piece, offset in window.code_pieces():
        inner = brackets[-1]
        if piece in _OPENING:
            inner.is_element_start, inner.candidate = False, None
            brackets.append(_KeyBracket(piece))
        elif piece in _CLOSING:
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
    window = _Window.around(left, text, right)
    suggested = (
        max(0, start - window.start)
        for start, end in _repeated_elements(window)
        if start < window.end and end > window.start
    )
    return next(suggested, None)


def _repeated_elements(window: _Window) -> Iterator[tuple[int, int]]:
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
        elif sign in _OPENING:
            is_handler = inner.is_handler and not inner.element
            inner.add(sign, offset)
            listings.append(_Listing(sign, offset, is_handler))
        elif sign == b"," or sign in _CLOSING or (is_line and sign in _ENDS_LIST):
            if inner.end_element():
                yield inner.start, inner.end
            if sign in _CLOSING and not is_line:
                listings.pop()
                listings[-1].add(window.code[inner.opened + 1 : offset + len(piece)], inner.opened + 1)
            elif sign != b",":
                listings = [_Listing()]
            if offset >= window.end and len(listings) == 1:
                return
        else:
            inner.add(sign, offset)


@dataclass(slots=True)
class _CallBracket:
    """An open bracket: its function, the object whose method that is, and the argument read so far."""

    function: bytes = b""
    method_object: bytes = b""
    argument: bytes = b""
    start: int = 0

    @classmethod
    def of_call(cls, function: bytes) -> _CallBracket:
        """The bracket after *function*."""
        owner, _, name = function.rpartition(b".")
        return cls(function, b"" if name == b"__new__" else _OBJECT_OF.get(owner, owner))


def first_own_argument(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset in *text* of the first argument that is the object of its own call; None if there is none.

    Examples are `key.match(key)` and `super().__init__(self)`. Hardly anybody writes that, except for
    `cls.__new__(cls)`.
    """
    window, brackets, chain = _Window.around(left, text, right), [_CallBracket()], b""
    for piece, offset in window.code_pieces():
        inner, link = brackets[-1], piece
        if piece in _OPENING:
            brackets.append(_CallBracket.of_call(chain) if piece == b"(" else _CallBracket())
        elif piece in _CLOSING or piece == b",":
            if inner.argument and inner.argument == inner.method_object and window.is_suggested(inner.start):
                return inner.start - window.start
            inner.argument = b""
            if piece != b"," and len(brackets) > 1:
                brackets.pop()
                brackets[-1].argument += b"()"
                link = b"super()" if inner.function == b"super" else piece
        else:
            inner.start = inner.start if inner.argument else offset
            inner.argument += piece
        chain = chain + link if link.startswith(b".") else link
        if offset >= window.end and len(brackets) == 1:
            return None
    return None


@dataclass(slots=True)
class _Operands:
    """The operand that is being read in a bracket, the sign before it, and the operand before that.

    A call may have another result each time, so an operand with one *may_change*, as all of a bracket that
    *holds_call*.
    """

    opened: int = 0
    spans: list[tuple[int, int]] = field(default_factory=list)
    pieces: list[bytes] = field(default_factory=list)
    may_change: bool = False
    holds_call: bool = False
    sign: bytes = b""
    sign_span: tuple[int, int] = (0, 0)
    before: bytes = b""
    before_span: tuple[int, int] = (0, 0)

    def add(self, piece: bytes, start: int, end: int) -> None:
        """Add *piece* to the operand."""
        self.pieces.append(piece)
        self.spans.append((start, end))

    def last(self) -> bytes:
        """The last piece of the operand; empty at its start."""
        return self.pieces[-1] if self.pieces else b""

    def end_operand(self, sign: bytes, start: int) -> tuple[tuple[int, int], ...]:
        """End the operand at *sign*. Returns the spans of a comparison with itself, the last part first."""
        operand = b" ".join(self.pieces)
        span = (self.spans[0][0], self.spans[-1][1]) if self.spans else (start, start)
        is_same = self.sign in _COMPARING and operand == self.before and not self.may_change
        found = (span, self.sign_span, self.before_span) if operand and is_same else ()
        self.before, self.before_span = operand, span
        self.sign, self.sign_span = sign, (start, start + len(sign))
        self.holds_call |= self.may_change
        self.pieces, self.spans, self.may_change = [], [], False
        return found


def first_self_comparison(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset in *text* of the first operand that is compared with itself; None if there is none.

    `a != a` tests for NaN, and calls may have different results.
    """
    window = _Window.around(left, text, right)
    for parts in _self_comparisons(window, len(right) <= FAR):
        for start, end in parts:
            if start < window.end and end > window.start:
                return max(0, start - window.start)
    return None


def _self_comparisons(window: _Window, is_whole: bool) -> Iterator[tuple[tuple[int, int], ...]]:
    """The spans of comparisons with itself, up to the end of the last line of the suggestion."""
    brackets, is_continued = [_Operands()], False
    for piece, offset in window.pieces():
        inner, end = brackets[-1], offset + len(piece)
        if piece[:1].isspace() or piece[:1] == b"#":
            if b"\n" in piece and len(brackets) == 1 and not is_continued:
                yield inner.end_operand(b"\n", offset)
                if offset >= window.end:
                    return
            is_continued = False
        elif piece == b"\\":
            is_continued = True
        elif piece in _OPENING:
            inner.may_change |= piece == b"(" and _is_value(inner.last())
            brackets.append(_Operands(offset))
        elif piece in _CLOSING and len(brackets) > 1:
            yield inner.end_operand(piece, offset)
            brackets.pop()
            brackets[-1].may_change |= inner.holds_call
            brackets[-1].add(window.code[inner.opened : end], inner.opened, end)
        elif piece == b"not" and inner.sign == b"is" and not inner.pieces:
            inner.sign += b" not"
        elif _separates(piece):
            yield inner.end_operand(piece, offset)
        else:
            if _is_value(inner.last()) and _WORD_PIECE.fullmatch(piece):  # as in `match a`
                yield inner.end_operand(b"", offset)
            inner.may_change |= piece == b"await" or (piece[-1:] in b"\"'" and b"(" in piece)
            inner.add(piece, offset, end)
    if is_whole:
        yield brackets[-1].end_operand(b"", len(window.code))


def _is_value(piece: bytes) -> bool:
    """True if *piece* is a word, a string or a bracket, after which `(` calls."""
    return piece[-1:].isalnum() or piece[-1:] in (b"_", b")", b"]", b"}", b'"', b"'")


def _separates(piece: bytes) -> bool:
    """True if *piece* stands between operands."""
    is_operand = _WORD_PIECE.fullmatch(piece) or piece[-1:] in b"\"'" or _ARITHMETIC.fullmatch(piece)
    return piece in _SEPARATING_WORDS or not is_operand
