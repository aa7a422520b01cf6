"""Asks the parser about groups of texts: each sequence of symbols once, and each equal question once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from fimlsp.lexing.bounded_dict import BoundedDict
from fimlsp.lexing.columns import BlockColumns, Column
from fimlsp.lexing.interruption import checkpoint
from fimlsp.lexing.lexer_state import LexerState, Symbol
from fimlsp.quotient.bridge.connection import Connection
from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.masks.ahead import Ahead
from fimlsp.quotient.masks.grouping.groups import Alike, Groups, Known
from fimlsp.quotient.masks.grouping.token_groups import Part, TokenGroups
from fimlsp.quotient.masks.plain_walk import Truths
from fimlsp.quotient.masks.repetition import changes_nothing
from fimlsp.quotient.masks.text_trie import Ints
from fimlsp.quotient.masks.viability import RightLexemes
from fimlsp.quotient.masks.vocabulary import Words

IsViable = Callable[[LexerState, EarleySet], bool]
"""Whether a middle may go on in a lexer state behind an Earley set."""

_MOST_MASKS, _MOST_ANSWERS, _MOST_CHARTS = 256, 2_000, 4_000
_MOST_AHEAD = 2_000


class Place(NamedTuple):
    """A place of the parser: an Earley set, and the blocks around it."""

    chart: EarleySet
    indents: BlockColumns | None


class Asked:
    """What was asked about the groups of texts in the middles of a *connection*."""

    __slots__ = ("ahead", "answers", "expected", "masks", "partly", "right")

    def __init__(self, connection: Connection) -> None:
        self.masks: BoundedDict[tuple[LexerState, Place], Words] = BoundedDict(_MOST_MASKS)
        self.answers: BoundedDict[tuple[Groups, Place], Truths] = BoundedDict(_MOST_ANSWERS)
        self.partly: BoundedDict[tuple[Groups, Place], bool] = BoundedDict(_MOST_ANSWERS)
        self.expected: BoundedDict[EarleySet, int] = BoundedDict(_MOST_CHARTS)
        self.right = RightLexemes(connection.right_entries)
        right = connection.grammar.right.partial_rules
        self.ahead = Ahead(connection.tables, connection.grammar.earley, _MOST_AHEAD, right)


class Questions:
    """Asks about groups of texts in the middles of *connection*, but not what was *asked* before."""

    def __init__(self, connection: Connection, asked: Asked, ahead: Ahead, is_viable: IsViable) -> None:
        self._connection = connection
        self._scan = connection.scan
        self._tables = connection.tables
        self._lexical = connection.tables.lexical
        self._is_viable = is_viable
        self._ahead = ahead
        self._bracketed = connection.grammar.start if connection.bracket is not None else None
        self._answers, self._partly, self._expected = asked.answers, asked.partly, asked.expected
        self._right, self._ahead_here = asked.right, asked.ahead

    def of_tokens(self, groups: TokenGroups, place: Place) -> Truths:
        """Which groups of *groups* may come at *place*."""
        found: list[Truths] = []
        for part in groups.parts:
            reached = self._behind(place, part.symbols)
            found.append(self._nothing(part.groups) if reached is None else self._of_part(part, reached))
        return found[0] if len(found) == 1 else np.concatenate(found)

    @staticmethod
    def _nothing(groups: Groups) -> Truths:
        return np.zeros(groups.n_groups, np.bool_)

    def _of_part(self, part: Part, place: Place) -> Truths:
        """Which groups of *part* may come at *place*.

        The second time that a few of some groups are asked about at a place, all are.
        """
        if part.among is None or (part.groups, place) in self._answers:
            return self._of(part.groups, place)
        others, numbers = part.among
        if (others, place) in self._answers or (others, place) in self._partly:
            return self._of(others, place)[numbers]
        self._partly[others, place] = True
        return self._of(part.groups, place)

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
        is_deep = place.indents is not None and len(place.indents.columns) >= self._lexical.most_blocks
        is_deep = is_deep or self._bracketed is not None
        while waiting:
            node, place = waiting.pop()
            expected = self._expected_at(place.chart)
            self._group(groups, node, place, expected, found)
            for symbol, child in groups.children[node]:
                if not isinstance(symbol, Column):
                    terminal = terminal_of[symbol]
                    if terminal < 0 or not expected >> terminal & 1:
                        continue
                    if not is_deep and self._answer_ahead(groups, child, place, symbol, found, waiting):
                        continue
                following = self._after(place, symbol)
                if following is not None:
                    waiting.append((child, following))
            checkpoint()
        return found

    def _answer_ahead(
        self,
        groups: Groups,
        child: int,
        place: Place,
        symbol: int,
        found: Truths,
        waiting: list[tuple[int, Place]],
    ) -> bool:
        """Answer what is known behind *symbol* whatever was before, and note what else is to be asked."""
        reached = self._ahead_here.kernel(place.chart, self._tables.terminal_of[symbol])
        if reached is None:
            return False
        kernel, is_everywhere = reached
        ahead = self._ahead if is_everywhere else self._ahead_here
        answer = ahead.answer(groups, child, kernel, self._straddling)
        found[answer.allowed] = True
        for symbols, node in answer.left:
            following = self._behind(place, (symbol, *symbols))
            if following is not None:
                waiting.append((node, following))
        for symbols, alike in answer.asked:
            following = self._behind(place, (symbol, *symbols))
            assert following is not None
            found[alike.numbers] = self._each(groups, alike, following)
        return True

    def _behind(self, place: Place, symbols: tuple[Symbol, ...]) -> Place | None:
        reached: Place | None = place
        for symbol in symbols:
            reached = reached and self._after(reached, symbol)
        return reached

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

    def _expected_at(self, chart: EarleySet) -> int:
        """The bit set of all symbols that may come next."""
        found = self._expected.get(chart)
        if found is None:
            found = chart.predicted.expected_bits
            for state, _ in chart.entries:
                found |= state.expected_bits
            self._expected[chart] = found
        return found

    def _group(self, groups: Groups, node: int, place: Place, expected: int, found: Truths) -> None:
        """Note in *found* which groups of *node* are viable at *place*, where its symbols lead to."""
        indents = place.indents
        is_deepest = indents is not None and len(indents.columns) > self._lexical.most_blocks
        if is_deepest or place.chart is self._bracketed:
            for alike in groups.alike(node, self._tables):
                found[alike.numbers] = self._each(groups, alike, place)
            return
        known = groups.known(node, expected, self._tables)
        found[known.allowed] = True
        for alike in known.asked:
            found[alike.numbers] = self._each(groups, alike, place)
        found[self._straddling(groups, known, expected)] = True

    def _straddling(self, groups: Groups, known: Known, expected: int) -> Ints:
        """Which groups may end in a lexeme that straddles the end of the middle."""
        numbers, ends = known.others
        if not len(numbers) or not self._right.markers & expected:
            return numbers[:0]
        return numbers[self._right.among(groups.ends.states, ends, expected)]

    def _each(self, groups: Groups, alike: Alike, place: Place) -> Truths:
        """Which of some groups whose symbols lead to *place* are viable there, each asked by itself."""
        chart, indents = place
        viable, states = self._is_viable, groups.ends.states
        return np.array([viable(states[end]._replace(indents=indents), chart) for end in alike.ends.tolist()])
