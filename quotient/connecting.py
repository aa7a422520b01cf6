"""From two contexts to their middles."""

from __future__ import annotations

from dataclasses import dataclass

from fimlsp.lexing.line import Line
from fimlsp.lexing.nesting import QUOTES, UNKNOWN, Nesting
from fimlsp.lexing.reading import Reading
from fimlsp.quotient.closing import ClosedBlock, closed_blocks
from fimlsp.quotient.document import Document
from fimlsp.quotient.left_context import LeftContext
from fimlsp.quotient.middle_state import Join, Middle
from fimlsp.quotient.middle_grammar import middle_grammar
from fimlsp.quotient.right_context import RightContext, read_backward
from fimlsp.quotient.seam import Seam, closing_quote, seams


@dataclass(frozen=True, slots=True)
class _Meeting:
    """A seam, what the right context closes when it is met there, and what if the line is blank so far."""

    seam: Seam
    right: ClosedBlock | None
    blank_right: ClosedBlock | None
    spaces: bytes | None


def connect(
    document: Document, cursor: int, left: LeftContext, reading: Reading, *, lenient: bool = False
) -> Middle | None:
    """The middles that connect *left*, read on by *reading*, with the text after *cursor*; None if none does.

    If *lenient*, lines further down that cannot be parsed are passed over.
    """
    meetings = _Meetings(document, cursor, lenient).find()
    rights = list(dict.fromkeys(right for m in meetings for right in (m.right, m.blank_right) if right is not None))
    grammar = middle_grammar(left, rights)
    if grammar is None:
        return None
    roots = dict(zip(rights, grammar.roots, strict=True))
    joins = [Join(m.seam, m.right and roots[m.right], m.blank_right and roots[m.blank_right], m.spaces) for m in meetings]
    live = tuple(join for join in joins if join.root is not None or join.blank_root is not None)
    return Middle(document.language, grammar, live, reading)


class _Meetings:
    """Finds where a middle may meet the text after a cursor; equal continuations are looked at once."""

    def __init__(self, document: Document, cursor: int, lenient: bool) -> None:
        self.document = document
        self.lenient = lenient
        self.language = document.language
        self.cursor = cursor
        self.rests: dict[tuple[int, Nesting], tuple[Line, RightContext] | None] = {}
        self.closings: dict[tuple[RightContext, tuple[int, ...] | None, int], ClosedBlock | None] = {}

    def find(self) -> list[_Meeting]:
        lexicon, data = self.language.lexicon, self.document.data
        quotes = [quote for quote in QUOTES if self._may_be_in_string(quote)]
        meetings = (self._meet(seam) for seam in seams(lexicon, data, self.cursor, quotes))
        return [meeting for meeting in meetings if meeting is not None]

    def _may_be_in_string(self, quote: str) -> bool:
        """Whether the text goes on validly where a string of *quote* that is open at the cursor ends."""
        end = closing_quote(self.document.data, self.cursor, quote)
        return end is not None and self._rest(end, UNKNOWN) is not None

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

    def _meet(self, seam: Seam) -> _Meeting | None:
        position = self.cursor + seam.offset
        rest = self._rest(position, seam.nesting)
        if rest is None:
            return None
        line, following = rest
        if seam.kind is None and line.blank:
            blank = None if following.unmatched else self._closing(following, None)
            return _Meeting(seam, self._closing(following, ()), blank, None)
        kinds = line.kinds if seam.kind is None else (seam.kind, *line.kinds)
        spaces = _leading_blanks(self.document.data, position) if seam.kind is None else b""
        width = line.column.tabs8 if seam.kind is None and line.column is not None else 0
        return _Meeting(seam, self._closing(following, kinds, width), None, spaces)

    def _closing(
        self, following: RightContext, kinds: tuple[int, ...] | None, width: int = 0
    ) -> ClosedBlock | None:
        """What is closed after *kinds* on the cursor's line; no kinds stand for a line that is blank altogether."""
        key = following, kinds, width
        if key not in self.closings:
            self.closings[key] = self._close(following, kinds, width)
        return self.closings[key]

    def _close(self, following: RightContext, kinds: tuple[int, ...] | None, width: int) -> ClosedBlock | None:
        language = self.language
        if kinds is None:
            ways = {ending: ending.base for ending in following.endings}
        else:
            ways = read_backward(language, following.ways(), language.terminals(kinds))
        if not ways:
            return None
        logical = following.after_logical_line()
        return closed_blocks(language, logical, ways, blank=kinds is None, spaces=width)


def _leading_blanks(data: bytes, position: int) -> bytes:
    end = position
    while end < len(data) and data[end] in b" \t\f":
        end += 1
    return data[position:end]


def read_up_to(document: Document, cursor: int) -> tuple[LeftContext, Reading] | None:
    """The left context at *cursor*, with the lexeme being read there; None if the text before is no beginning."""
    start, context = document.left_at(cursor)
    step = context.reading().feed(document.data[start:cursor])
    if step is None:
        return None
    left: LeftContext | None = context
    for symbol in step.symbols:
        left = left and left.after(symbol)
    return None if left is None else (left, step.reading)


