"""Checks of conditions and loops: none compares or joins something with itself, or loops over nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from fimlsp.languages.python.names.code_state import KEYWORDS, VALUES, state_at_end
from fimlsp.languages.python.suggestion_checks.pieces import CLOSING, FAR, OPENING, Window

_COMPARING = frozenset([b"==", b"<", b">", b"<=", b">=", b"is", b"is not"])
_SEPARATING_WORDS = KEYWORDS - VALUES - {b"match", b"case", b"await"}
_ARITHMETIC = re.compile(rb"(?:<<|>>|[-+*/%&|^@~])+")
_WORD_PIECE = re.compile(rb"[\w\x80-\xff.]+")
_WITHIN = VALUES | {b"not", b"in", b"is", b"await"}
_FOR = re.compile(rb"(?<![\w.])for[ \t]")
_IN_EMPTY = re.compile(
    rb"[ \t]in[ \t]+("
    rb"(?:dict|list|set|frozenset|tuple|defaultdict|Counter|deque|OrderedDict)\(\)|\[\]|\(\)|\{\})"
)
_ENDS_CONDITION = (KEYWORDS - _WITHIN - {b"and", b"or", b"match", b"case"}) | {b",", b":", b"=", b":=", b";"}


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
    window = Window.around(left, text, right)
    for parts in _self_comparisons(window, len(right) <= FAR):
        for start, end in parts:
            if start < window.end and end > window.start:
                return max(0, start - window.start)
    return None


def _self_comparisons(window: Window, is_whole: bool) -> Iterator[tuple[tuple[int, int], ...]]:
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
        elif piece in OPENING:
            inner.may_change |= piece == b"(" and _is_value(inner.last())
            brackets.append(_Operands(offset))
        elif piece in CLOSING and len(brackets) > 1:
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


@dataclass(slots=True)
class _Condition:
    """An operand: its pieces without spaces, and its place."""

    pieces: tuple[bytes, ...] = ()
    start: int = 0
    end: int = 0

    def with_piece(self, piece: bytes, offset: int) -> _Condition:
        """The operand with one more *piece*."""
        start = self.start if self.pieces else offset
        return _Condition((*self.pieces, piece), start, offset + len(piece))


@dataclass(slots=True)
class _Conditions:
    """The operands of a bracket: those joined by `and` in one list, these lists joined by `or`."""

    joined: list[list[_Condition]] = field(default_factory=lambda: [[_Condition()]])

    def add(self, piece: bytes, offset: int) -> None:
        """Add *piece* to the last operand, or start another one."""
        if piece == b"or":
            self.joined.append([_Condition()])
        elif piece == b"and":
            self.joined[-1].append(_Condition())
        else:
            self.joined[-1][-1] = self.joined[-1][-1].with_piece(piece, offset)

    def end(self) -> Iterator[tuple[int, int]]:
        """End the condition. Yields the places of operands that it has twice."""
        for operands in self.joined:
            yield from _repeated([(operand.pieces, operand.start, operand.end) for operand in operands])
        yield from _repeated(
            [
                (tuple(operand.pieces for operand in operands), operands[0].start, operands[-1].end)
                for operands in self.joined
            ]
        )
        self.joined = [[_Condition()]]


def _repeated(operands: list[tuple[tuple[object, ...], int, int]]) -> Iterator[tuple[int, int]]:
    known = set[tuple[object, ...]]()
    for pieces, start, end in operands:
        if any(pieces) and pieces in known:
            yield start, end
        known.add(pieces)


def first_repeated_condition(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset in *text* of the first condition that `and` or `or` joins with itself; None without one.

    Of 5,021 such expressions in 74 packages three had one. O(len(text)) and some lines.
    """
    window = Window.around(left, text, right)
    for start, end in _repetitions(window):
        if start < window.end and end > window.start:
            return max(0, start - window.start)
    return None


def _repetitions(window: Window) -> Iterator[tuple[int, int]]:
    """The places of repeated conditions, up to the end of the last line of the suggestion."""
    brackets, is_continued = [_Conditions()], False
    for piece, offset in window.pieces():
        inner = brackets[-1]
        if piece[:1].isspace() or piece[:1] == b"#":
            if b"\n" in piece and len(brackets) == 1 and not is_continued:
                yield from inner.end()
                if offset >= window.end:
                    return
            is_continued = False
        elif piece == b"\\":
            is_continued = True
        elif piece in OPENING:
            inner.add(piece, offset)
            brackets.append(_Conditions())
        elif piece in CLOSING and len(brackets) > 1:
            yield from inner.end()
            brackets.pop()
            brackets[-1].add(window.code[brackets[-1].joined[-1][-1].end : offset + len(piece)], offset)
        elif piece in _ENDS_CONDITION:
            yield from inner.end()
        else:
            inner.add(piece, offset)


def first_empty_loop(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset of the first collection in *text* that is new and empty, and over which a loop goes.

    None if there is none, as in all of 21,810 loops.
    """
    del right
    head = left[left.rfind(b"\n") + 1 :]
    code = head + text
    for empty in _IN_EMPTY.finditer(code):
        start, line = (
            empty.start(1) - len(head),
            code[code.rfind(b"\n", 0, empty.start()) + 1 : empty.start()],
        )
        is_loop = _FOR.search(line) is not None and empty.end() > len(head)
        if is_loop and not state_at_end(left).feed(text[: max(0, start)]).quote:
            return max(0, start)
    return None
