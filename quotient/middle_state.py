"""The middles between two contexts, as states that are fed bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from fimlsp.lexing.indentation import Column
from fimlsp.lexing.munching import has_too_many_digits
from fimlsp.lexing.nesting import Nesting
from fimlsp.lexing.reading import Reading, Step, Symbol
from fimlsp.lexing.values import value
from fimlsp.quotient.completing import shortest_completion
from fimlsp.quotient.earley import EarleySet
from fimlsp.quotient.language import Language
from fimlsp.quotient.middle_grammar import MiddleGrammar
from fimlsp.quotient.seam import End, Runs, Seam, way_into

_NOT_ASCII = 0x80
_BACKSLASH = ord("\\")


@value
class Join:
    """A seam with the marker that the middle grammar has for it.

    `opened` is what of f-strings the right context closes (as `Nesting.opened`), `quotes` the quotes that
    it begins with, of which no more than two may stand in a row with those before. `lead` is what stands
    before the first lexeme of the rest, None if that rest is blank. With `ends_line` nothing is left of the
    line but its end; the `marker` stands behind that.
    """

    seam: Seam
    opened: tuple[str, ...]
    quotes: tuple[int, int] | None
    marker: int
    lead: bytes | None
    ends_line: bool = False

    def admits(self, reading: Reading) -> bool:
        """Whether a middle may end here after *reading*."""
        if reading.nesting.opened != self.opened:
            return False
        if self.quotes is None or self.quotes[0] not in reading.nesting.triple_quotes:
            return True
        quote, count = self.quotes
        return reading.quote_run[0] != quote or reading.quote_run[1] + count < 3


@value
class Middle:
    """What connects a left and a right context: the grammar, and the ways to meet the right.

    `bracket` is the kind that the lexeme begun left of the cursor must have, if the grammar begins with it.
    """

    language: Language
    grammar: MiddleGrammar
    joins: tuple[Join, ...]
    reading: Reading
    data: bytes
    cursor: int
    bracket: int | None = None
    _ways: dict[tuple[int, bytes, Seam], bytes | None] = field(default_factory=dict, repr=False)
    _ends: dict[tuple[int, Nesting], End] = field(default_factory=dict, repr=False)
    _scans: dict[tuple[EarleySet, Symbol], EarleySet | None] = field(default_factory=dict, repr=False)

    @property
    def start(self) -> MiddleState:
        """The state before any byte."""
        return MiddleState(self, self.reading, self.grammar.start)

    def scan(self, chart: EarleySet, symbol: Symbol) -> EarleySet | None:
        """The chart after *symbol* as well, None if that is not expected; remembered."""
        key = chart, symbol
        if key not in self._scans:
            self._scans[key] = self.grammar.earley.scan(chart, self._terminals(chart, symbol))
        return self._scans[key]

    def _terminals(self, chart: EarleySet, symbol: Symbol) -> Sequence[int]:
        if self.bracket is not None and chart is self.grammar.start and symbol != self.bracket:
            return ()
        if isinstance(symbol, Column):
            return self.grammar.indent_terminals(chart, symbol)
        return (self.language.terminal_of[symbol],)

    def end_of_lexeme(self, reading: Reading) -> End:
        """Where the lexeme being read ends in the right context; None if it ends with the middle."""
        key = reading.state, reading.nesting
        if key not in self._ends:
            runs = Runs(reading.lexicon, self.data, self.cursor, reading.nesting)
            self._ends[key] = runs.end_of(reading.state)
        return self._ends[key]

    def ends_with_continuation(self, reading: Reading) -> bool:
        """Whether a backslash has joined the line to nothing."""
        return reading.accepted == reading.lexicon.continuation and self.cursor == len(self.data)


class MiddleState:
    """What is known after some bytes of a middle.

    Immutable: feeding makes new states. A state is never a dead end: some continuation is complete. It is
    asked the same several times while a middle is decoded, so it remembers what it answered.
    """

    __slots__ = ("_complete", "_completion", "_idle", "chart", "middle", "reading")

    def __init__(self, middle: Middle, reading: Reading, chart: EarleySet) -> None:
        self.middle = middle
        self.reading = reading
        self.chart = chart
        self._idle = reading.idle  # all that has to be looked at of most states
        self._complete: bool | None = None
        self._completion: bytes | None = None

    def __repr__(self) -> str:
        return f"MiddleState({self.reading})"

    def feed(self, data: bytes) -> MiddleState | None:
        """The state after *data*, None if nothing that begins so connects. O(len(data))."""
        if not data.strip(self._idle):
            return self
        step = self.reading.feed(data)
        if step is None:
            return None
        reading, symbols = step
        chart = self.scanned(symbols) if symbols else self.chart
        if chart is None:
            return None
        state = MiddleState(self.middle, reading, chart)
        return state if state.viable else None

    def scanned(self, symbols: list[Symbol]) -> EarleySet | None:
        """The chart after *symbols*."""
        chart: EarleySet | None = self.chart
        for symbol in symbols:
            if chart is None:
                return None
            chart = self.middle.scan(chart, symbol)
        return chart

    @property
    def viable(self) -> bool:
        """Whether the lexeme being read can be finished in some way."""
        reading = self.reading
        if reading.at_lexeme_start:
            return True
        if reading.name and reading.lexicon.names.between(reading.name[1:], b"") is None:
            return False
        lexicon = reading.lexicon
        live = self.live
        if live & lexicon.always_viable:
            return not self._lacks_indent()
        if live & lexicon.ends_line and self._may_end_line():
            return True
        chart = self.chart
        if chart is self.middle.grammar.start and self._may_meet_right():
            return True  # which is known without looking up all that may begin there
        for terminal in self.middle.language.live_terminals(live):
            if chart.expects(terminal):
                return True
        return self._may_meet_right() or self._may_fall_back()

    @property
    def live(self) -> int:
        """What the lexeme being read may become, as a bit set: nothing that would be nested too deeply."""
        middle, lexicon, nesting = self.middle, self.reading.lexicon, self.reading.nesting
        live = lexicon.dfa.live[self.reading.state]
        if middle.bracket is not None and self.chart is middle.grammar.start:
            live &= 1 << middle.bracket
        accepted = self.reading.accepted
        if accepted not in lexicon.nesting or self.reading.leftover:
            return live
        if nesting.after(lexicon.kinds[accepted]) is not None:
            return live
        kinds = lexicon.nesting.intersection(lexicon.kinds_in(live))
        return live & ~sum(1 << kind for kind in kinds if nesting.after(lexicon.kinds[kind]) is None)

    def _may_fall_back(self) -> bool:
        """Whether the lexeme may have ended earlier, and what was read since be finished as the next one.

        Read together with what stands before, that may be no lexeme: after a number `a` begins `and`, but not
        `as`.
        """
        following = self.after_fallback()
        if following is None:
            return False
        place, language = following.reading, self.middle.language
        live = following.live
        if (
            place.at_lexeme_start
            or place.leftover
            or live & (place.lexicon.always_viable | place.lexicon.ends_line)
        ):
            return True
        kinds = (
            kind
            for terminal in language.live_terminals(live)
            if following.chart.expects(terminal)
            for kind in language.kinds_of[terminal]
        )
        suffixes = (language.witnesses.suffix(place.state, kind) for kind in kinds)
        return following._may_meet_right() or any(
            suffix is not None and self._reads(suffix) for suffix in suffixes
        )

    def _reads(self, data: bytes) -> bool:
        step = self.reading.feed(data)
        return step is not None and step.reading.accepted != step.reading.lexicon.bad

    def _lacks_indent(self) -> bool:
        """Whether a line has begun where it must be indented; only the backslash of 3.8 begins one unseen."""
        if _BACKSLASH in self.reading.lexicon.quiet or self.reading.margin is not None:
            return False
        indents = (self.middle.language.indent, *self.middle.grammar.indents)
        return any(self.chart.expects(terminal) for terminal in indents)

    def _may_end_line(self) -> bool:
        """Whether a line end, or a comment before one, may stand here."""
        reading = self.reading
        if reading.margin is not None or reading.nesting.depth or not reading.nesting.in_code:
            return True
        return self.chart.expects(self.middle.language.newline)

    def _may_meet_right(self) -> bool:
        """Whether the lexeme being read may straddle the end of the middle."""
        for join in self.middle.joins:
            if join.seam.kind is None:
                continue
            if join.admits(self.reading) and self.chart.expects(join.marker):
                key = self.reading.state, self.reading.name, join.seam
                ways = self.middle._ways
                if key not in ways:
                    ways[key] = way_into(self.reading, join.seam)
                if ways[key] is not None:
                    return True
        return False

    def after_fallback(self) -> MiddleState | None:
        """The state if the lexeme being read ended earlier and what was read since is read again.

        What was read since is no part of a character: all characters fit where the beginning of one does.
        """
        leftover = self.reading.leftover
        step = self.reading.fall_back() if leftover and leftover[0] < _NOT_ASCII else None
        chart = step and self.scanned(step.symbols)
        if step is None or chart is None:
            return None
        state = MiddleState(self.middle, step.reading, chart)
        return state if state.viable else None

    @property
    def complete(self) -> bool:
        """Whether the middle may end here: left, middle and right together are valid."""
        if self._complete is None:
            self._complete = self._may_end()
        return self._complete

    @property
    def shortest_completion(self) -> bytes:
        """A text, near the shortest, that completes this middle; empty if it is complete."""
        if self._completion is None:
            self._completion = shortest_completion(self)
        return self._completion

    def _may_end(self) -> bool:
        reading, middle = self.reading, self.middle
        if reading.at_lexeme_start:
            return self._meets(Step(reading, []), 0)
        end = middle.end_of_lexeme(reading)
        if end is None or end[0] == reading.lexicon.space:
            return not middle.ends_with_continuation(reading) and self._ends_lexeme()
        kind, offset = end
        if reading.digits and kind == reading.lexicon.real:
            rest = middle.data[middle.cursor : middle.cursor + offset]
            if has_too_many_digits(rest, reading.digits):
                return False
        if kind in reading.lexicon.skipped and kind not in reading.lexicon.nesting:
            step = reading._replace(accepted=kind, leftover=b"").finish()
            return step is not None and self._meets(step, offset)
        return any(
            (join.seam.kind, join.seam.offset) == end
            and reading.state in join.seam.states
            and join.admits(reading)
            and (join.seam.name is None or reading.name[1:] + join.seam.name in reading.lexicon.names)
            and self.chart.expects(join.marker)
            for join in middle.joins
        )

    def _ends_lexeme(self) -> bool:
        """Whether the middle may end with the lexeme being read; what it read too far is read again."""
        if self.reading.leftover:
            following = self.after_fallback()
            return following is not None and following.complete
        step = self.reading.finish()
        return step is not None and self._meets(step, 0)

    def _meets(self, step: Step, offset: int) -> bool:
        """Whether the right context may go on as lexemes, *offset* bytes after the cursor, after *step*."""
        chart = self.scanned(step.symbols)
        return chart is not None and any(
            self._continues(join, step.reading, chart)
            for join in self.middle.joins
            if join.seam.kind is None and join.seam.offset == offset and join.admits(step.reading)
        )

    def _continues(self, join: Join, reading: Reading, chart: EarleySet) -> bool:
        if reading.margin is None or reading.nesting.depth:
            ended = self.middle.scan(chart, reading.lexicon.newline) if join.ends_line else chart
            return ended is not None and ended.expects(join.marker)
        if join.lead is None:
            return chart.expects(join.marker)
        line = reading.start_line(join.lead)
        if line is None:
            return False
        laid_out = MiddleState(self.middle, line.reading, chart).scanned(line.symbols)
        return laid_out is not None and laid_out.expects(join.marker)
