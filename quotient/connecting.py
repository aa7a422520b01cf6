"""From two contexts to their middles."""

from __future__ import annotations

from dataclasses import dataclass

from fimlsp.lexing.line import Line
from fimlsp.lexing.nesting import QUOTES, UNKNOWN, Nesting
from fimlsp.lexing.reading import Reading
from fimlsp.quotient.closing import ClosedBlock, LineEnd, closed_blocks
from fimlsp.quotient.document import Document
from fimlsp.quotient.earley import EarleySet
from fimlsp.quotient.left_context import LeftContext
from fimlsp.quotient.middle_grammar import middle_grammar
from fimlsp.quotient.middle_state import Join, Middle
from fimlsp.quotient.right_context import Ending, RightContext, read_backward
from fimlsp.quotient.seam import Seam, closing_quote, seams


def connect(
    document: Document, cursor: int, left: LeftContext, reading: Reading, *, lenient: bool = False
) -> Middle | None:
    """The middles that connect *left*, read on by *reading*, with the text after *cursor*; None if none does.

    If *lenient*, lines further down that cannot be parsed are passed over.
    """
    right = document.of_suffix(cursor, lenient, lambda: _Meetings(document, cursor, lenient).right_side())
    grammar = middle_grammar(left, right.closed, right.markers)
    if grammar is None:
        return None
    middle = Middle(document.language, grammar, right.joins, reading, document.data, cursor)
    return middle if middle.start.viable else None


@dataclass(frozen=True, slots=True)
class _RightSide:
    """All that the text after a cursor says about the middle before it."""

    joins: tuple[Join, ...]
    closed: list[ClosedBlock]
    markers: int


class _Meetings:
    """Finds where a middle may meet the text after a cursor; equal continuations are looked at once."""

    def __init__(self, document: Document, cursor: int, lenient: bool) -> None:
        self.document = document
        self.lenient = lenient
        self.language = document.language
        self.cursor = cursor
        self.rests: dict[tuple[int, Nesting], tuple[Line, RightContext] | None] = {}
        self.line_ends: dict[tuple[RightContext, tuple[int, ...] | None, int], LineEnd] = {}

    def right_side(self) -> _RightSide:
        """The ways to meet the text after the cursor, and what is closed there."""
        joins = self._find()
        return _RightSide(joins, self._closed_blocks(), len(self.line_ends))

    def _find(self) -> tuple[Join, ...]:
        lexicon, data = self.language.lexicon, self.document.data
        quotes = [quote for quote in QUOTES if self._may_be_in_string(quote)]
        joins = (self._join(seam) for seam in seams(lexicon, data, self.cursor, quotes))
        return tuple(join for join in joins if join is not None)

    def _closed_blocks(self) -> list[ClosedBlock]:
        """What the text after the cursor closes, for each line that the cursor's line may end before."""
        by_context: dict[RightContext, list[LineEnd]] = {}
        for (following, _, _), line_end in self.line_ends.items():
            if line_end.ways:
                by_context.setdefault(following.after_logical_line(), []).append(line_end)
        return [closed_blocks(self.language, logical, ends) for logical, ends in by_context.items()]

    def _may_be_in_string(self, quote: str) -> bool:
        """Whether the text goes on validly where a string of *quote* that is open at the cursor ends."""
        data, cursor = self.document.data, self.cursor
        ends = {closing_quote(data, cursor, quote)}
        if len(quote) > len("r'"):  # the closing quotes may straddle the cursor
            ends |= {cursor + k for k in (1, 2) if data.startswith(quote[-k:].encode(), cursor)}
        return any(end is not None and self._rest(end, UNKNOWN) is not None for end in ends)

    def _rest(self, position: int, nesting: Nesting) -> tuple[Line, RightContext] | None:
        """The rest of the line with *position*, and the context after it; None if that cannot be."""
        key = position, nesting
        if key not in self.rests:
            self.rests[key] = self._read_rest(position, nesting)
        return self.rests[key]

    def _read_rest(self, position: int, nesting: Nesting) -> tuple[Line, RightContext] | None:
        line = self.document.line_inside(position, nesting)
        if line.broken or not self.document.may_stand(line):
            return None
        context_at = self.document.right_at if self.lenient else self.document.goes_on_at
        following = context_at(position + line.size)
        if following is None or len(line.openers) > following.unmatched:
            return None
        return line, following

    def _join(self, seam: Seam) -> Join | None:
        position = self.cursor + seam.offset
        rest = self._rest(position, seam.nesting)
        if rest is None:
            return None
        line, following = rest
        if seam.kind is None and line.blank:
            blank = None if following.unmatched else self._marker(following, None)
            return Join(seam, self._marker(following, ()), blank, None)
        kinds = line.kinds if seam.kind is None else (seam.kind, *line.kinds)
        spaces = _leading_blanks(self.document.data, position) if seam.kind is None else b""
        width = line.column.tabs8 if seam.kind is None and line.column is not None else 0
        return Join(seam, self._marker(following, kinds, width), None, spaces)

    def _marker(self, following: RightContext, kinds: tuple[int, ...] | None, width: int = 0) -> int:
        """The marker of a line that ends with *kinds*; no kinds stand for one that is blank altogether."""
        key = following, kinds, width
        found = self.line_ends.get(key)
        if found is None:
            marker = self.language.first_free_symbol + len(self.line_ends)
            found = self.line_ends[key] = LineEnd(marker, self._ways(following, kinds), kinds is None, width)
        return found.marker

    def _ways(self, following: RightContext, kinds: tuple[int, ...] | None) -> dict[Ending, EarleySet]:
        if kinds is None:
            return {ending: ending.base for ending in following.endings}
        return read_backward(self.language, following.ways(), self.language.terminals(kinds))


def _leading_blanks(data: bytes, position: int) -> bytes:
    end = position
    while end < len(data) and data[end] in b" \t\f":
        end += 1
    return data[position:end]


def read_up_to(document: Document, cursor: int) -> tuple[LeftContext, Reading] | None:
    """The left context at *cursor*, with the lexeme being read there; None if it begins no valid file."""
    start, context = document.left_at(cursor)
    step = context.reading().feed(document.data[start:cursor])
    if step is None:
        return None
    left: LeftContext | None = context
    for symbol in step.symbols:
        left = left and left.after(symbol)
    return None if left is None else (left, step.reading)
