"""Asks the parser about groups of texts: each equal question once.

What may come within a symbol of the language is known ahead (see `ahead.py`). Left to ask at a place are:
what follows where a rule is complete, the columns of lines, and lexemes about which more decides than the
symbols that are expected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from fimlsp.lexing.bounded_dict import BoundedDict
from fimlsp.lexing.columns import BlockColumns, Column
from fimlsp.lexing.interruption import checkpoint
from fimlsp.lexing.lexer_state import LexerState, Symbol
from fimlsp.quotient.bridge.connection import Connection
from fimlsp.quotient.earley.automaton import State
from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.masks.ahead import Ahead, Nodes, Passed
from fimlsp.quotient.masks.grouping.groups import Groups, bits_of, members
from fimlsp.quotient.masks.grouping.token_groups import TokenGroups
from fimlsp.quotient.masks.repetition import changes_nothing
from fimlsp.quotient.masks.rests import Expected, Frontier, OpenRests, frontier_at
from fimlsp.quotient.masks.straddling import RightLexemes
from fimlsp.quotient.masks.vocabulary import Words

IsViable = Callable[[LexerState, EarleySet], bool]
"""Whether a middle may go on in a lexer state behind an Earley set."""

_MOST_MASKS, _MOST_ANSWERS, _MOST_STRADDLING = 256, 2_000, 256


class Place(NamedTuple):
    """A place of the parser: an Earley set, and the blocks around it."""

    chart: EarleySet
    indents: BlockColumns | None


class Asked:
    """What was asked about the groups of texts in the middles of a *connection*.

    What states of the language expect is kept *of_language*, for all connections.
    """

    __slots__ = ("answers", "masks", "rests", "right", "straddling")

    def __init__(self, connection: Connection, of_language: dict[State, Expected]) -> None:
        self.masks: BoundedDict[tuple[LexerState, Place], Words] = BoundedDict(_MOST_MASKS)
        self.answers: BoundedDict[tuple[int, Place], int] = BoundedDict(_MOST_ANSWERS)
        self.straddling: BoundedDict[tuple[int, int], int] = BoundedDict(_MOST_STRADDLING)
        self.right = RightLexemes(connection.tables.lexical, connection.right_entries)
        self.rests = OpenRests(connection.grammar, self.right.markers, of_language)


class Questions:
    """Asks about groups of texts in the middles of *connection*, but not what was *asked* before."""

    def __init__(self, connection: Connection, asked: Asked, ahead: Ahead, is_viable: IsViable) -> None:
        self._connection = connection
        self._scan = connection.scan
        self._tables = connection.tables
        self._lexical = connection.tables.lexical
        self._is_viable = is_viable
        self._ahead = ahead
        self._answers, self._straddles = asked.answers, asked.straddling
        self._right, self._rests = asked.right, asked.rests

    def of_tokens(self, groups: TokenGroups, place: Place) -> int:
        """The bit set of those of *groups* that may come at *place*."""
        found, first = 0, 0
        for part in groups.parts:
            reached: Place | None = place
            for symbol in part.symbols:
                reached = reached and self._after(reached, symbol)
            if reached is not None:
                found |= self._of(part.groups, reached) << first
            first += part.groups.n_groups
        return found

    def _of(self, groups: Groups, place: Place) -> int:
        key = groups.number, place
        found = self._answers.get(key)
        if found is None:
            found = self._answers[key] = self._walk(groups, place)
        return found

    def _after(self, place: Place, symbol: Symbol) -> Place | None:
        """The place after *symbol*; None if it is not expected."""
        chart, indents = place
        lexical = self._lexical
        if not isinstance(symbol, Column):
            after = self._scan(chart, symbol)
            if after is None:
                return None
            rules, right = self._tables.forward.rules, self._connection.grammar.right.partial_rules
            return place if changes_nothing(chart, after, rules, right) else Place(after, indents)
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

    def _walk(self, groups: Groups, place: Place) -> int:
        """Ask about all *groups*."""
        found, asked = 0, 0
        places = {0: place}
        waiting = [0]
        while waiting:
            node = waiting.pop()
            place = places[node]
            if self._is_plain(place):
                found |= self._each(groups, groups.numbers(node), places)
                following = groups.children[node]
            else:
                allowed, may_come, line_ends = self._line(groups, node, place.chart)
                found |= allowed
                asked |= may_come
                following = [pair for end in line_ends for pair in groups.at(end, self._tables).columns]
            for symbol, child in following:
                if not groups.from_on((child,)) & ~found:
                    continue
                before = self._place(groups, groups.parents[child], places)
                after = before and self._after(before, symbol)
                if after is not None:
                    places[child] = after
                    waiting.append(child)
            checkpoint()
        left = asked & ~found
        return found | self._each(groups, members(left), places) if left else found

    def _is_plain(self, place: Place) -> bool:
        """Whether it is not enough to know which symbols are expected, or other symbols are refused."""
        indents, connection = place.indents, self._connection
        if connection.bracket is not None and place.chart is connection.grammar.start:
            return True
        return indents is not None and len(indents.columns) > self._lexical.most_blocks

    def _line(self, groups: Groups, node: int, chart: EarleySet) -> tuple[int, int, Nodes]:
        """What may come from *node* to the end of a line: as in `Answer`."""
        allowed, asked, line_ends = 0, 0, frozenset[int]()
        waiting = [(frontier_at(chart), frozenset((node,)), groups.from_on((node,)))]
        seen = set[tuple[Frontier, Nodes]]()
        while waiting:
            frontier, nodes, possible = waiting.pop()
            if not possible & ~allowed or (frontier, nodes) in seen:
                continue
            seen.add((frontier, nodes))
            rests, markers = self._rests.at(frontier)
            answer = self._ahead.answer(groups, nodes, rests)
            allowed |= answer.allowed
            following = self._behind(frontier, answer.passed, allowed)
            again = [passed.rests for passed, after in following if after == frontier]
            if again:
                answer = self._ahead.answer(groups, nodes, rests, frozenset().union(*again))
                allowed |= answer.allowed
                following = self._behind(frontier, answer.passed, allowed)
            asked |= answer.asked
            line_ends |= answer.line_ends
            if markers and answer.undecided & ~allowed:
                allowed |= answer.undecided & self._straddling(groups, markers)
            waiting += [(after, passed.nodes, passed.beyond) for passed, after in following]
        return allowed, asked, line_ends

    def _behind(
        self, frontier: Frontier, passed: Iterable[Passed], allowed: int
    ) -> list[tuple[Passed, Frontier]]:
        """What follows where some rests are *passed* at *frontier*, if not all may come that could there."""
        return [(each, self._rests.behind(frontier, each.rests)) for each in passed if each.beyond & ~allowed]

    def _place(self, groups: Groups, node: int, places: dict[int, Place]) -> Place:
        """The place at *node*, which is reached."""
        found = places.get(node)
        if found is None:
            before = groups.parents[node]
            found = self._after(self._place(groups, before, places), groups.symbols[node])
            assert found is not None
            places[node] = found
        return found

    def _straddling(self, groups: Groups, markers: int) -> int:
        """Which *groups* may end in a lexeme that straddles the end of the middle."""
        key = groups.number, markers
        found = self._straddles.get(key)
        if found is None:
            different = groups.different_ends
            among = self._right.among(groups.ends, different, markers)
            found = self._straddles[key] = bits_of(among[different.of_group])
        return found

    def _each(self, groups: Groups, numbers: Iterable[int], places: dict[int, Place]) -> int:
        """Which of some groups are viable at the places of their nodes, each asked by itself."""
        found = 0
        for number in numbers:
            chart, indents = self._place(groups, groups.node_of(number), places)
            end = groups.ends.state(int(groups.end_of[number]))
            if self._is_viable(end._replace(indents=indents), chart):
                found |= 1 << number
        return found
