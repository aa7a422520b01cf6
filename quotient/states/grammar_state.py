"""The state of a middle that is constrained by the middle grammar: a lexer state and an Earley set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fimlsp.lexing.interruption import EVERY, checkpoint
from fimlsp.lexing.lexer_state import LexerState, Margin, Step, Symbol
from fimlsp.lexing.lexer_tables import LexerTables
from fimlsp.lexing.nesting import Column, ModeStack
from fimlsp.quotient.bridge.boundary_lexemes import leads_into
from fimlsp.quotient.bridge.middle_grammar import Connection, RightEntry
from fimlsp.quotient.grammar.earley import EarleySet
from fimlsp.quotient.states.cheapest_sentences import beginnings, waiting
from fimlsp.quotient.states.shortest_completion import shortest_completion

if TYPE_CHECKING:
    from fimlsp.quotient.masks.vocabulary import Bitmask, BoolMask, Vocabulary


_BACKSLASH = ord("\\")


class GrammarState:
    """The state after some bytes of a middle. Immutable: feeding makes new states.

    A state is never a dead end: some continuation is complete. Decoding reads its properties repeatedly, so
    they are cached.
    """

    __slots__ = ("_complete", "_completion", "_idle", "chart", "connection", "lexer")

    def __init__(self, connection: Connection, lexer: LexerState, chart: EarleySet) -> None:
        self.connection = connection
        self.lexer = lexer
        self.chart = chart
        self._idle = lexer.idle  # for most states nothing else is ever needed
        self._complete: bool | None = None
        self._completion: bytes | None = None

    def __repr__(self) -> str:
        return f"GrammarState({self.lexer})"

    def feed(self, data: bytes) -> GrammarState | None:
        """The state after *data*; None if nothing that starts like this connects. O(len(data))."""
        if not data.strip(self._idle):
            return self
        step = self.lexer.feed(data)
        if step is None:
            return None
        lexer, symbols = step
        chart = self.scanned(symbols) if symbols else self.chart
        if chart is None:
            return None
        state = GrammarState(self.connection, lexer, chart)
        return state if state.viable else None

    def at(self, lexer: LexerState, chart: EarleySet) -> GrammarState:
        """The state of the same middle with another lexer state and chart; it may not be viable."""
        return GrammarState(self.connection, lexer, chart)

    def scanned(self, symbols: list[Symbol]) -> EarleySet | None:
        """The chart after *symbols*, which the lexer gave after this state; None if they are not expected."""
        chart: EarleySet | None = self.chart
        depth, dedent = self.lexer.depth, self.lexer.lexical.dedent
        for count, symbol in enumerate(symbols, 1):
            if chart is None:
                return None
            if not count % EVERY:
                checkpoint()
            chart = self.connection.scan(chart, symbol, depth)
            if isinstance(symbol, Column):
                depth += 1
            elif symbol == dedent:
                depth -= 1
        return chart

    @property
    def viable(self) -> bool:
        """True if some continuation is complete, that is, if the lexeme being read can be finished."""
        lexer = self.lexer
        if self._is_deepest and not is_shallow(self.connection, self.chart):
            return False
        if lexer.at_lexeme_start:
            return True
        if lexer.word and lexer.lexical.words.between(lexer.word[1:], b"") is None:
            return False
        lexical = lexer.lexical
        live = self.live
        if live & lexical.always_viable:
            return not self._lacks_indent()
        if live & lexical.ends_line and self._may_end_line():
            return True
        if lexical.separation is not None and self._may_leave(live):
            return True
        if self.chart is self.connection.grammar.start and self._may_enter_right():
            return True  # this needs no prediction of the initial set
        for terminal in self.connection.tables.live_terminals(live):
            if self._may_take(terminal):
                return True
        return self._may_enter_right() or self._may_fall_back()

    def _may_leave(self, live: int) -> bool:
        """True if the lexeme may be an ignored one, before another lexeme or the right context."""
        lexer, connection, separation = self.lexer, self.connection, self.lexer.lexical.separation
        assert separation is not None
        for kind in lexer.lexical.blank:
            if not live >> kind & 1:
                continue
            following = connection.tables.live_terminals(separation.after(lexer.state, kind))
            if any(self.chart.expects(terminal) for terminal in following):
                return True
            byte = connection.data[connection.cursor : connection.cursor + 1]
            ends_here = separation.may_end_before(lexer.state, kind, byte[0] if byte else None)
            for entry in connection.right_entries:
                if entry.boundary.kind is not None or not self.chart.expects(entry.marker):
                    continue
                if ends_here if not entry.boundary.offset else leads_into(self.lexer, entry.boundary):
                    return True
        return False

    @property
    def live(self) -> int:
        """As `LexerState.possible_kinds`; at the start, only the bracket that the grammar starts with."""
        connection, live = self.connection, self.lexer.possible_kinds
        if connection.bracket is not None and self.chart is connection.grammar.start:
            live &= 1 << connection.bracket
        return live

    @property
    def must_become_place_word(self) -> bool:
        """True if the lexeme being read must become a word that depends on places (see `lark_loader.py`)."""
        tables = self.connection.tables
        live = tables.lexical.dfa.live[self.lexer.state]
        if not live & tables.place_kinds or self.lexer.at_lexeme_start:
            return False
        words = tables.grammar.place_words
        terminals = tables.live_terminals(live)
        return not any(terminal not in words and self.chart.expects(terminal) for terminal in terminals)

    def _may_fall_back(self) -> bool:
        """True if the lexeme may have ended earlier, so that the bytes since then begin the next one.

        That next lexeme must still be possible when it is read together with the bytes before it.
        """
        following = self.after_fallback()
        if following is None:
            return False
        lexer, tables = following.lexer, self.connection.tables
        separation = lexer.lexical.separation
        if separation is not None:
            possible = separation.after_fallback(self.lexer.state, lexer.state)
            blank = sum(1 << kind for kind in lexer.lexical.blank)
            if possible & blank or lexer.leftover:
                return True
            after = tables.live_terminals(possible)
            return any(map(following.chart.expects, after)) or following._may_enter_right()
        live = following.live
        if (
            lexer.at_lexeme_start
            or lexer.leftover
            or live & (lexer.lexical.always_viable | lexer.lexical.ends_line)
        ):
            return True
        kinds = (
            kind
            for terminal in tables.live_terminals(live)
            if following.chart.expects(terminal)
            for kind in tables.kinds_of[terminal]
        )
        suffixes = (tables.shortest_words.suffix(lexer.state, kind) for kind in kinds)
        return following._may_enter_right() or any(
            suffix is not None and self._reads(suffix) for suffix in suffixes
        )

    @property
    def closers(self) -> bytes:
        """The text that ends the open string, and then the brackets and fields around it, innermost first."""
        lexer, lexical = self.lexer, self.lexer.lexical
        closers, kinds, modes = b"", lexical.kinds_in(lexical.dfa.live[lexer.state]), lexer.modes
        last = lexical.kinds[lexer.accepted] if lexer.accepted >= 0 else ""
        if last in lexical.spec.mode_changers:
            modes = modes.after(last) or modes
        elif lexer.accepted in (-1, lexical.bad) and lexer.state != lexical.dfa.starts[modes.mode]:
            ends = (lexical.shortest_words.suffix(lexer.state, kind) for kind in kinds if kind != lexical.bad)
            closers = min((end for end in ends if end is not None), key=len, default=b"")
        while modes.parent is not None and (closing := _closing(lexical, modes)) is not None:
            text, modes = closing
            closers += text
        return closers

    def _reads(self, data: bytes) -> bool:
        step = self.lexer.feed(data)
        return step is not None and step.lexer.accepted != step.lexer.lexical.bad

    def _lacks_indent(self) -> bool:
        """True if a line has begun without the INDENT it needs, by a line joiner that counts as code."""
        lexer = self.lexer
        if not lexer.lexical.offside or _BACKSLASH in lexer.lexical.quiet or lexer.margin is not None:
            return False
        indents = (self.connection.tables.indent, *self.connection.grammar.indents)
        return any(self.chart.expects(terminal) for terminal in indents)

    def _may_end_line(self) -> bool:
        """True if a line end may come here, perhaps after a comment."""
        lexer = self.lexer
        if (terminator := lexer.modes.line_end) is not None:
            tables = self.connection.tables
            return self._may_take(tables.terminal_of[lexer.lexical.kinds.index(terminator)])
        if (
            lexer.margin is not None
            or lexer.modes.depth
            or not lexer.modes.in_code
            or not lexer.lexical.offside
        ):
            return True
        return self._may_take(self.connection.tables.newline)

    @property
    def _is_deepest(self) -> bool:
        """True if no further block may be opened."""
        return self.lexer.depth >= self.lexer.lexical.most_blocks

    def _may_take(self, terminal: int) -> bool:
        """True if *terminal* may come next."""
        if not self._is_deepest:
            return self.chart.expects(terminal)
        after = self.connection.grammar.earley.scan(self.chart, (terminal,))
        return after is not None and is_shallow(self.connection, after)

    def _may_enter_right(self) -> bool:
        """True if the lexeme being read may straddle the end of the middle."""
        for entry in self.connection.right_entries:
            if entry.boundary.kind is None:
                continue
            if not entry.admits(self.lexer) or not self.chart.expects(entry.marker):
                continue
            if leads_into(self.lexer, entry.boundary):
                return True
        return False

    def after_fallback(self) -> GrammarState | None:
        """The state if the lexeme being read ended earlier and the bytes since then begin the next one.

        None if that is impossible.
        """
        step = self.lexer.fall_back() if self.lexer.may_fall_back else None
        chart = step and self.scanned(step.symbols)
        if step is None or chart is None:
            return None
        state = GrammarState(self.connection, step.lexer, chart)
        return state if state.viable else None

    @property
    def complete(self) -> bool:
        """True if the middle may end here: left context, middle and right context together are valid."""
        if self._complete is None:
            self._complete = self._may_end()
        return self._complete

    @property
    def shortest_completion(self) -> bytes:
        """A text, near the shortest, that completes this middle; empty if it is complete."""
        if self._completion is None:
            self._completion = shortest_completion(self)
        return self._completion

    def mask(self, vocabulary: Vocabulary) -> Bitmask:
        """As in `State`."""
        from fimlsp.quotient.masks.mask import mask

        return vocabulary.with_stops(mask(self, vocabulary), complete=self.complete)

    def allowed_texts(self, vocabulary: Vocabulary) -> BoolMask:
        """As in `State`."""
        from fimlsp.quotient.masks.mask import allowed_texts

        return allowed_texts(self, vocabulary)

    def _may_end(self) -> bool:
        lexer, connection = self.lexer, self.connection
        if lexer.at_lexeme_start:
            return self._enters(Step(lexer, []), 0)
        end = connection.end_of_lexeme(lexer)
        if end is None or end[0] == lexer.lexical.space:
            return not connection.ends_with_continuation(lexer) and self._ends_lexeme()
        kind, offset = end
        if lexer.counted and kind == lexer.lexical.counted_kind:
            rest = connection.data[connection.cursor : connection.cursor + offset]
            if lexer.lexical.counted_part.too_long(rest, lexer.counted):
                return False
        if kind in lexer.lexical.skipped and kind not in lexer.lexical.mode_changers:
            step = lexer._replace(accepted=kind, leftover=b"").finish()
            return step is not None and self._enters(step, offset)
        return any(
            (entry.boundary.kind, entry.boundary.offset) == end
            and entry.boundary.states >> lexer.state & 1
            and entry.admits(lexer)
            and (entry.boundary.word is None or lexer.word[1:] + entry.boundary.word in lexer.lexical.words)
            and self.chart.expects(entry.marker)
            for entry in connection.right_entries
        )

    def _ends_lexeme(self) -> bool:
        """True if the middle may end with the lexeme being read, after falling back if necessary."""
        if self.lexer.leftover:
            following = self.after_fallback()
            return following is not None and following.complete
        step = self.lexer.finish()
        return step is not None and self._enters(step, 0)

    def _enters(self, step: Step, offset: int) -> bool:
        """True if the right context may follow *step*, with a lexeme *offset* bytes after the cursor."""
        chart = self.scanned(step.symbols)
        return chart is not None and any(
            self._continues(entry, step.lexer, chart)
            for entry in self.connection.right_entries
            if entry.boundary.kind is None and entry.boundary.offset == offset and entry.admits(step.lexer)
        )

    def _continues(self, entry: RightEntry, lexer: LexerState, chart: EarleySet) -> bool:
        if entry.begins_line and lexer.margin != Margin():
            return False
        if lexer.margin is None or lexer.modes.depth:
            ended = self.connection.scan(chart, lexer.lexical.newline) if entry.ends_line else chart
            return ended is not None and ended.expects(entry.marker)
        if entry.lead is None:
            return chart.expects(entry.marker)
        line = lexer.start_line(entry.lead)
        if line is None:
            return False
        laid_out = GrammarState(self.connection, lexer, chart).scanned(line.symbols)
        return laid_out is not None and laid_out.expects(entry.marker)


def _closing(lexical: LexerTables, modes: ModeStack) -> tuple[bytes, ModeStack] | None:
    """The shortest lexeme that closes the innermost of *modes*, and the modes after it; None if none does."""
    start = lexical.dfa.starts[modes.mode]
    closing: list[tuple[bytes, ModeStack]] = []
    for kind in lexical.kinds_in(lexical.dfa.live[start]):
        name = lexical.kinds[kind]
        after = modes.after(name) if name in lexical.spec.mode_changers else None
        text = lexical.shortest_words.suffix(start, kind)
        if after is not None and after.depth < modes.depth and text is not None:
            closing.append((text, after))
    return min(closing, key=lambda each: len(each[0]), default=None)


def is_shallow(connection: Connection, chart: EarleySet) -> bool:
    """True if the statement being written can be finished without opening a block.

    That is, some sentence continues *chart* without an INDENT before its first DEDENT or its end. Where the
    maximum of blocks is open, only such a middle can continue.
    """
    grammar, costs, dedent = connection.grammar, connection.without_blocks, connection.tables.dedent
    pending = list(beginnings(chart, grammar.start, grammar.root))
    done: set[tuple[int, EarleySet]] = set()
    while pending:
        symbol, origin, rest = pending.pop()
        ends = dedent in rest
        if costs.of(rest[: rest.index(dedent)] if ends else rest) is None:
            continue
        if ends or (origin is grammar.start and symbol == grammar.root):
            return True
        if (symbol, origin) not in done:
            done.add((symbol, origin))
            if not len(done) % EVERY:
                checkpoint()
            pending += waiting(symbol, origin)
    return False
