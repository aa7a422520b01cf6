"""Asks the parser about groups of texts: each sequence of symbols once, and each equal question once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from fimlsp.lexing.bounded_dict import BoundedDict
from fimlsp.lexing.columns import BlockColumns, Column
from fimlsp.lexing.interruption import checkpoint
from fimlsp.lexing.lexer_state import LexerState, Symbol
from fimlsp.lexing.modes import ModeStack
from fimlsp.quotient.bridge.connection import Connection
from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.masks.groups import End, Groups
from fimlsp.quotient.masks.token_groups import TokenGroups
from numpy.typing import NDArray

Truths = NDArray[np.bool_]
IsViable = Callable[[LexerState, EarleySet], bool]
"""Whether a middle may go on in a lexer state behind an Earley set."""

_MOST_ALLOWED, _MOST_ANSWERS = 64, 2_000
_BACKSLASH = ord("\\")
_ALWAYS, _ASK = -1, -2
"""Instead of a bit set: whatever is expected, a middle may go on; the state has to be asked."""


class Place(NamedTuple):
    """A place of the parser: an Earley set, and the blocks around it."""

    chart: EarleySet
    indents: BlockColumns | None


class Asked:
    """What was asked about the groups of texts in the middles of one connection."""

    __slots__ = ("allowed", "answers", "expected", "met", "wanted")

    def __init__(self) -> None:
        self.allowed: BoundedDict[tuple[LexerState, Place], Truths] = BoundedDict(_MOST_ALLOWED)
        self.answers: BoundedDict[tuple[Groups, Place], Truths] = BoundedDict(_MOST_ANSWERS)
        self.expected: dict[EarleySet, int] = {}
        self.wanted: dict[End, int] = {}
        self.met: dict[tuple[int, ModeStack, tuple[int, int]], int] = {}


class Questions:
    """Asks about groups of texts in the middles of *connection*; what was *asked* before is not asked again."""

    def __init__(self, connection: Connection, asked: Asked, is_viable: IsViable) -> None:
        self._scan = connection.scan
        self._entries = connection.right_entries
        self._way_into = connection.way_into
        self._tables = connection.tables
        self._lexical = connection.tables.lexical
        self._is_viable = is_viable
        self._bracketed = connection.grammar.start if connection.bracket is not None else None
        self._answers, self._expected = asked.answers, asked.expected
        self._wanted, self._met = asked.wanted, asked.met

    def of_tokens(self, groups: TokenGroups, place: Place) -> Truths:
        """Which groups of *groups* may come at *place*."""
        found: list[Truths] = []
        for symbols, part in groups.parts:
            reached: Place | None = place
            for symbol in symbols:
                reached = reached and self._after(reached, symbol)
            found.append(self._nothing(part) if reached is None else self._of(part, reached))
        return found[0] if len(found) == 1 else np.concatenate(found)

    @staticmethod
    def _nothing(groups: Groups) -> Truths:
        return np.zeros(groups.n_groups, np.bool_)

    def _of(self, groups: Groups, place: Place) -> Truths:
        key = groups, place
        found = self._answers.get(key)
        if found is None:
            found = self._answers[key] = self._walk(groups, place)
        return found

    def _walk(self, groups: Groups, place: Place) -> Truths:
        """Ask about all *groups*: a sequence of symbols only where those before it are expected."""
        found = self._nothing(groups)
        terminal_of = self._tables.terminal_of
        waiting = [(0, place)]
        while waiting:
            node, place = waiting.pop()
            expected = self._expected_at(place.chart)
            for group, end in groups.ends[node]:
                found[group] = self._may_end(end, place, expected)
            for symbol, child in groups.children[node]:
                if not isinstance(symbol, Column):
                    terminal = terminal_of[symbol]
                    if terminal < 0 or not expected >> terminal & 1:
                        continue
                following = self._after(place, symbol)
                if following is not None:
                    waiting.append((child, following))
            checkpoint()
        return found

    def _after(self, place: Place, symbol: Symbol) -> Place | None:
        """The place after *symbol*; None if it is not expected."""
        chart, indents = place
        lexical = self._lexical
        if not isinstance(symbol, Column):
            after = self._scan(chart, symbol)
            return None if after is None else Place(after, indents)
        assert indents is not None
        entered = indents.enter(symbol, lexical.most_blocks)
        if entered is None:
            return None
        inner, change = entered
        if change > 0:
            after = self._scan(chart, symbol, len(indents.columns) - 1)
            return None if after is None else Place(after, inner)
        current: EarleySet | None = chart
        for _ in range(-change):
            current = current and self._scan(current, lexical.dedent)
        return None if current is None else Place(current, inner)

    def _expected_at(self, chart: EarleySet) -> int:
        """The bit set of all symbols that may come next."""
        found = self._expected.get(chart)
        if found is None:
            found = chart.predicted.expected_bits
            for state, _ in chart.entries:
                found |= state.expected_bits
            self._expected[chart] = found
        return found

    def _may_end(self, end: End, place: Place, expected: int) -> bool:
        """Whether a middle may go on at *place* in the lexeme of *end*."""
        indents = place.indents
        is_deepest = indents is not None and len(indents.columns) > self._lexical.most_blocks
        if not is_deepest and place.chart is not self._bracketed:
            wanted = self._wanted.get(end)
            if wanted is None:
                wanted = self._wanted[end] = self._wanted_by(end)
            if wanted & expected if wanted >= 0 else wanted == _ALWAYS:
                return True
            if wanted >= 0 and not end.lexer.leftover and self._lexical.separation is None:
                return False
        return self._is_viable(end.lexer._replace(indents=indents), place.chart)

    def _wanted_by(self, end: End) -> int:
        """The bit set of symbols of which one has to be expected, or one of the two numbers above."""
        wanted = end.wanted
        if wanted is None:
            wanted = end.wanted = _wanted_within(self._tables, end.lexer)
        if wanted >= 0:
            key = end.lexer.state, end.lexer.modes, end.lexer.equal_run
            met = self._met.get(key)
            if met is None:
                met = self._met[key] = self._met_right(end.lexer)
            wanted |= met
        return wanted

    def _met_right(self, lexer: LexerState) -> int:
        """The bit set of the ways into the right context that the lexeme in progress may go on in."""
        found = 0
        for entry in self._entries:
            if entry.boundary.kind is not None and entry.admits(lexer):
                found |= (self._way_into(lexer, entry.boundary) is not None) << entry.marker
        return found


def _wanted_within(tables: LanguageTables, lexer: LexerState) -> int:
    """What `GrammarState.viable` asks of the parser about the lexeme in progress within the middle."""
    if lexer.at_lexeme_start:
        return _ALWAYS
    lexical = lexer.lexical
    live = lexer.possible_kinds
    if lexer.word:
        return _ASK
    needs_no_indent = not lexical.offside or _BACKSLASH in lexical.quiet or lexer.margin is not None
    if live & lexical.always_viable:
        return _ALWAYS if needs_no_indent else _ASK
    found = 0
    if live & lexical.ends_line:
        ends_no_logical_line = lexer.margin is not None or lexer.modes.depth or not lexer.modes.in_code
        if ends_no_logical_line or not lexical.offside:
            return _ALWAYS
        found = 1 << tables.newline
    for terminal in tables.live_terminals(live):
        found |= 1 << terminal
    return found
