"""Queries of the parser about groups of texts, each different query once.

Answers within a symbol of the language are precomputed (see `precomputed.py`). The cursor decides which
symbols follow a complete rule, and which columns lines may have. For some lexemes more matters than the
expected symbols, such as those across the end of the middle, which end in the right context.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from fimlsp.lexing.automata.bit_sets import members
from fimlsp.lexing.bounded_dict import BoundedDict
from fimlsp.lexing.interruption import checkpoint
from fimlsp.lexing.lexer_state import LexerState, Symbol
from fimlsp.lexing.lexer_tables import LexerTables, remembered
from fimlsp.lexing.nesting import BlockColumns, Column, ModeStack
from fimlsp.quotient.bridge.boundary_lexemes import leads_into
from fimlsp.quotient.bridge.middle_grammar import Connection, RightEntry
from fimlsp.quotient.grammar.cfg import State
from fimlsp.quotient.grammar.earley import EarleySet
from fimlsp.quotient.masks.end_states import EndStates
from fimlsp.quotient.masks.groups import DifferentEnds, Groups, bits_of
from fimlsp.quotient.masks.precomputed import Nodes, Passed, PrecomputedAnswers, changes_nothing
from fimlsp.quotient.masks.rule_suffixes import Expected, Frontier, OpenRules, frontier_at
from fimlsp.quotient.masks.token_groups import TokenGroups
from fimlsp.quotient.masks.vocabulary import Bitmask, BoolMask

IsViable = Callable[[LexerState, EarleySet], bool]
"""True if a middle may continue in a lexer state after an Earley set."""

_MOST_MASKS, _MOST_ANSWERS, _MOST_BOUNDARIES = 256, 2_000, 256


class ParserPlace(NamedTuple):
    """An Earley set, and the blocks around it."""

    chart: EarleySet
    indents: BlockColumns | None


class BoundaryTokens:
    """The tokens whose last lexeme may continue into the right context of a connection, given by *entries*.

    `markers` are the symbols that the parser must expect for such lexemes.
    """

    def __init__(self, lexical: LexerTables, entries: Sequence[RightEntry]) -> None:
        self._lexical = lexical
        self._entries = tuple(entry for entry in entries if entry.boundary.kind is not None)
        self._admitted: dict[tuple[int, ModeStack, tuple[int, int]], bool] = {}
        self.markers = frozenset(entry.marker for entry in self._entries)

    def among(self, ends: EndStates, different: DifferentEnds, expected: int) -> BoolMask:
        """For each of some *different* of the *ends*, True if it may be in a lexeme that is *expected*."""
        mask = np.zeros(len(different.numbers), np.bool_)
        for index, entry in enumerate(self._entries):
            if expected >> entry.marker & 1:
                admits = np.array(
                    [self._admits(index, around) for around in different.surroundings], np.bool_
                )
                leading = _leading_to(self._lexical, entry.boundary.states)[different.dfa_states]
                leading &= admits[different.around]
                if entry.boundary.word is None:
                    mask |= leading
                    continue
                for end in np.flatnonzero(leading & ~mask).tolist():
                    mask[end] = leads_into(ends.state(different.numbers[end]), entry.boundary)
        return mask

    def _admits(self, index: int, around: LexerState) -> bool:
        key = index, around.modes, around.equal_run
        admitted = self._admitted.get(key)
        if admitted is None:
            admitted = self._admitted[key] = self._entries[index].admits(around)
        return admitted


@remembered(1 << 8)
def _leading_to(lexical: LexerTables, goals: int) -> BoolMask:
    """For each state of the automaton, True if it leads to one of the bit set *goals*."""
    return np.array([reachable & goals != 0 for reachable in lexical.paths.reachable])


class QueryCache:
    """Known answers about the groups of texts in the middles of a *connection*.

    The symbols that states of the language expect are kept in *of_language*, for all connections.
    """

    __slots__ = ("answers", "at_boundary", "boundary", "masks", "open_rules")

    def __init__(self, connection: Connection, of_language: dict[State, Expected]) -> None:
        self.masks: BoundedDict[tuple[LexerState, ParserPlace], Bitmask] = BoundedDict(_MOST_MASKS)
        self.answers: BoundedDict[tuple[int, ParserPlace], int] = BoundedDict(_MOST_ANSWERS)
        self.at_boundary: BoundedDict[tuple[int, int], int] = BoundedDict(_MOST_BOUNDARIES)
        self.boundary = BoundaryTokens(connection.tables.lexical, connection.right_entries)
        self.open_rules = OpenRules(connection.grammar, self.boundary.markers, of_language)


class ParserQueries:
    """Queries about groups of texts in the middles of *connection*, unless their answer is *known*."""

    def __init__(
        self,
        connection: Connection,
        known: QueryCache,
        precomputed: PrecomputedAnswers,
        is_viable: IsViable,
    ) -> None:
        self._connection = connection
        self._scan = connection.scan
        self._tables = connection.tables
        self._lexical = connection.tables.lexical
        self._is_viable = is_viable
        self._precomputed = precomputed
        self._answers, self._at_boundary = known.answers, known.at_boundary
        self._boundary, self._open_rules = known.boundary, known.open_rules

    def of_tokens(self, groups: TokenGroups, place: ParserPlace) -> int:
        """The bit set of those of *groups* that may follow at *place*."""
        bits, first = 0, 0
        for part in groups.parts:
            reached: ParserPlace | None = place
            for symbol in part.symbols:
                reached = reached and self._after(reached, symbol)
            if reached is not None:
                bits |= self._of_groups(part.groups, reached) << first
            first += part.groups.n_groups
        return bits

    def _of_groups(self, groups: Groups, place: ParserPlace) -> int:
        key = groups.number, place
        bits = self._answers.get(key)
        if bits is None:
            bits = self._answers[key] = self._walk(groups, place)
        return bits

    def _after(self, place: ParserPlace, symbol: Symbol) -> ParserPlace | None:
        """The place after *symbol*; None if it is not expected."""
        chart, indents = place
        lexical = self._lexical
        if not isinstance(symbol, Column):
            after = self._scan(chart, symbol)
            if after is None:
                return None
            rules, right = self._tables.forward.rules, self._connection.grammar.right.partial_rules
            return place if changes_nothing(chart, after, rules, right) else ParserPlace(after, indents)
        assert indents is not None
        entered = indents.enter(symbol, lexical.most_blocks)
        if entered is None:
            return None
        inner, change = entered
        if change > 0:
            after = self._scan(chart, symbol, len(indents.columns) - 1)
            return None if after is None else ParserPlace(after, inner)
        current: EarleySet | None = chart
        for _ in range(-change):
            current = current and self._scan(current, lexical.dedent)
        return None if current is None else ParserPlace(current, inner)

    def _walk(self, groups: Groups, place: ParserPlace) -> int:
        """The bit set of those of *groups* that may follow at *place*, line by line."""
        bits, uncertain = 0, 0
        places = {0: place}
        waiting = [0]
        while waiting:
            node = waiting.pop()
            place = places[node]
            if self._is_special(place):
                bits |= self._one_by_one(groups, groups.numbers(node), places)
                following = groups.children[node]
            else:
                allowed, maybe, line_ends = self._line(groups, node, place.chart)
                bits |= allowed
                uncertain |= maybe
                following = [pair for end in line_ends for pair in groups.at(end, self._tables).columns]
            for symbol, child in following:
                if not groups.in_subtrees((child,)) & ~bits:
                    continue
                before = self._place(groups, groups.parents[child], places)
                after = before and self._after(before, symbol)
                if after is not None:
                    places[child] = after
                    waiting.append(child)
            checkpoint()
        left = uncertain & ~bits
        return bits | self._one_by_one(groups, members(left), places) if left else bits

    def _is_special(self, place: ParserPlace) -> bool:
        """True if expected symbols do not suffice to decide, or some of them are refused."""
        indents, connection = place.indents, self._connection
        if connection.bracket is not None and place.chart is connection.grammar.start:
            return True
        return indents is not None and len(indents.columns) > self._lexical.most_blocks

    def _line(self, groups: Groups, node: int, chart: EarleySet) -> tuple[int, int, Nodes]:
        """The groups that may follow from *node* to the end of a line; the fields are those of `Answer`."""
        allowed, uncertain, line_ends = 0, 0, frozenset[int]()
        waiting = [(frontier_at(chart), frozenset((node,)), groups.in_subtrees((node,)))]
        seen = set[tuple[Frontier, Nodes]]()
        while waiting:
            frontier, nodes, possible = waiting.pop()
            if not possible & ~allowed or (frontier, nodes) in seen:
                continue
            seen.add((frontier, nodes))
            suffixes, markers = self._open_rules.at(frontier)
            answer = self._precomputed.answer(groups, nodes, suffixes)
            allowed |= answer.allowed
            following = self._frontiers_after(frontier, answer.passed, allowed)
            again = [passed.suffixes for passed, after in following if after == frontier]
            if again:
                answer = self._precomputed.answer(groups, nodes, suffixes, frozenset().union(*again))
                allowed |= answer.allowed
                following = self._frontiers_after(frontier, answer.passed, allowed)
            uncertain |= answer.uncertain
            line_ends |= answer.line_ends
            if markers and answer.undecided & ~allowed:
                allowed |= answer.undecided & self._in_boundary_lexemes(groups, markers)
            waiting += [(after, passed.nodes, passed.beyond) for passed, after in following]
        return allowed, uncertain, line_ends

    def _frontiers_after(
        self, frontier: Frontier, all_passed: Iterable[Passed], allowed: int
    ) -> list[tuple[Passed, Frontier]]:
        """The frontiers after suffixes that were passed, if some groups beyond are not *allowed* yet."""
        return [
            (passed, self._open_rules.after(frontier, passed.suffixes))
            for passed in all_passed
            if passed.beyond & ~allowed
        ]

    def _place(self, groups: Groups, node: int, places: dict[int, ParserPlace]) -> ParserPlace:
        """The place at *node*, which can be reached."""
        place = places.get(node)
        if place is None:
            before = groups.parents[node]
            place = self._after(self._place(groups, before, places), groups.symbols[node])
            assert place is not None
            places[node] = place
        return place

    def _in_boundary_lexemes(self, groups: Groups, markers: int) -> int:
        """The bit set of the *groups* that may end in a lexeme across the end of the middle."""
        key = groups.number, markers
        bits = self._at_boundary.get(key)
        if bits is None:
            different = groups.different_ends
            among = self._boundary.among(groups.ends, different, markers)
            bits = self._at_boundary[key] = bits_of(among[different.of_group])
        return bits

    def _one_by_one(self, groups: Groups, numbers: Iterable[int], places: dict[int, ParserPlace]) -> int:
        """The bit set of the groups of these *numbers* that are viable at the places of their nodes."""
        bits = 0
        for number in numbers:
            chart, indents = self._place(groups, groups.node_of(number), places)
            end = groups.ends.state(int(groups.end_of[number]))
            if self._is_viable(end._replace(indents=indents), chart):
                bits |= 1 << number
        return bits
