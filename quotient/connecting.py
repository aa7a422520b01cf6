"""From two contexts to their middles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fimlsp.lexing.indentation import MARGIN
from fimlsp.lexing.line import Line, physical_end
from fimlsp.lexing.nesting import QUOTES, UNKNOWN, Nesting
from fimlsp.lexing.reading import Reading, Step
from fimlsp.quotient.closing import ClosedBlock, LineEnd, closed_blocks
from fimlsp.quotient.demand import Demand
from fimlsp.quotient.document import Document
from fimlsp.quotient.earley import EarleySet
from fimlsp.quotient.escape import Inside
from fimlsp.quotient.left_context import LeftContext
from fimlsp.quotient.middle_grammar import middle_grammar
from fimlsp.quotient.middle_state import Join, Middle, MiddleState
from fimlsp.quotient.right_context import Ending, RightContext, read_backward
from fimlsp.quotient.seam import Seam, closing_quote, seams
from fimlsp.quotient.within_lexeme import Kind, WithinLexeme, kind_of_lexeme, staying, within_lexeme

State = MiddleState | WithinLexeme


def connect(
    document: Document, cursor: int, left: LeftContext, reading: Reading, demand: Demand
) -> State | None:
    """The middles that connect *left*, read on by *reading*, with the text after *cursor*; None if none does.

    Where only an escape connects, they may escape.
    """
    begun = left, reading
    if demand.stays:
        left, reading = _with_bracket(left, reading)
        place = _Place(frozenset(_open_styles(reading.nesting)), kind_of_lexeme(reading))
        start = _connect(document, cursor, left, reading, demand, place)
        if start is not None:
            return within_lexeme(start) or start
    return _connect(document, cursor, *begun, replace(demand, stays=False), _Place())


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a middle begins: the styles of the f-strings that may be open, and the lexeme begun there."""

    styles: frozenset[str] = frozenset(QUOTES)
    lexeme: Kind = "other"


def _connect(
    document: Document,
    cursor: int,
    left: LeftContext,
    reading: Reading,
    demand: Demand,
    place: _Place,
) -> MiddleState | None:
    right = document.of_suffix(
        cursor, (demand, place), lambda: _Meetings(document, cursor, demand, place).right_side()
    )
    kept = _n_kept_blocks(left, reading) if demand.stays else None
    grammar = middle_grammar(left, right.closed, right.markers, kept)
    if grammar is None:
        return None
    start = Middle(document.language, grammar, right.joins, reading, document.data, cursor).start
    return start if start.viable else None


def _with_bracket(left: LeftContext, reading: Reading) -> tuple[LeftContext, Reading]:
    """The left context with the bracket that is being read, if it is one: then it is not to be left."""
    if reading.accepted not in reading.lexicon.nesting or reading.leftover:
        return left, reading
    step = reading.finish()
    after = step and _after_symbols(left, step)
    return (left, reading) if step is None or after is None else (after, step.reading)


def _open_styles(nesting: Nesting) -> Iterator[str]:
    """The styles of the f-strings that are open."""
    part: Nesting | None = nesting
    while part is not None:
        yield part.shape.partition(":")[2]
        part = part.parent


def _n_kept_blocks(left: LeftContext, reading: Reading) -> int:
    """How many of the open blocks are not to be left: those that the cursor stands right of.

    At the very beginning of a line it may be anywhere: editors strip the white space of blank lines.
    """
    columns = left.indents.columns
    margin = reading.margin
    if margin is None or margin.column == MARGIN:
        return len(columns)
    return sum(not column.deeper_than(margin.column) for column in columns)


@dataclass(frozen=True, slots=True)
class _RightSide:
    """All that the text after a cursor says about the middle before it."""

    joins: tuple[Join, ...]
    closed: list[ClosedBlock]
    markers: int


class _Meetings:
    """Finds where a middle may meet the text after a cursor; equal continuations are looked at once."""

    def __init__(self, document: Document, cursor: int, demand: Demand, place: _Place) -> None:
        self.document = document
        self.demand = demand
        self.place = place
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
        quotes = [quote for quote in QUOTES if quote in self.place.styles and self._may_be_in_string(quote)]
        found = seams(lexicon, data, self.cursor, quotes)
        if self.demand.stays:
            rest = data[self.cursor : physical_end(data, self.cursor)]
            found = staying(lexicon, rest, self.place.lexeme, found)
        joins = (self._join(seam) for seam in found)
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
        context_at = self.document.right_at if self.demand.lenient else self.document.goes_on_at
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
            if following.unmatched:
                return Join(seam, self._marker(following, (), inside=Inside.BRACKET), None, None)
            return Join(seam, self._marker(following, ()), self._marker(following, None), None)
        kinds = line.kinds if seam.kind is None else (seam.kind, *line.kinds)
        spaces = _leading_blanks(self.document.data, position) if seam.kind is None else b""
        width = line.column.tabs8 if seam.kind is None and line.column is not None else 0
        unmatched = len(line.closers) + following.unmatched - len(line.openers)
        in_brackets = unmatched > 0 or not seam.before.in_code
        inside = Inside.BLOCK | Inside.BRACKET if in_brackets else Inside.BLOCK
        return Join(seam, self._marker(following, kinds, width, inside), None, spaces)

    def _marker(
        self,
        following: RightContext,
        kinds: tuple[int, ...] | None,
        width: int = 0,
        inside: Inside = Inside.NOTHING,
    ) -> int:
        """The marker of a line that ends with *kinds*; no kinds stand for one that is blank altogether."""
        key = following, kinds, width
        found = self.line_ends.get(key)
        if found is None:
            marker = self.language.first_free_symbol + len(self.line_ends)
            found = self.line_ends[key] = LineEnd(
                marker, self._ways(following, kinds), kinds is None, width, inside
            )
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
    left = _after_symbols(context, step)
    return None if left is None else (left, step.reading)


def _after_symbols(context: LeftContext, step: Step) -> LeftContext | None:
    left: LeftContext | None = context
    for symbol in step.symbols:
        left = left and left.after(symbol)
    return left
