"""What it costs to assume a lexeme, besides its own cost: what it asks for, and what stands beside it."""

from __future__ import annotations

from collections.abc import Sequence

from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.recovery.repairs.costs import BRACKET, WORD
from fimlsp.quotient.recovery.repairs.line_ends import LineEnds, word_of


class Prices:
    """What it costs to assume lexemes in a line whose lexemes are the terminals *symbols*.

    *line_ends* are the numbers of the lexemes before which its physical lines end, the last that of its own
    end. A line with an *open_end* need not end. If *backward*, *symbols* are read from its end on.
    """

    def __init__(
        self,
        tables: LanguageTables,
        ends: LineEnds,
        symbols: Sequence[int],
        line_ends: Sequence[int],
        *,
        open_end: bool,
        backward: bool,
    ) -> None:
        self._tables = tables
        self._enclosures = tables.enclosures
        self._ends = ends
        self._symbols = symbols
        self._line_ends = line_ends
        self._open_end = open_end
        self._backward = backward

    def to_match(self, assumed: int) -> int:
        """What it costs that *assumed* is a bracket, which has to be matched."""
        closes, opens = self._enclosures.unmatched((assumed,))
        return BRACKET if (closes if self._backward else opens) else 0

    def to_go_on(self, index: int, chart: EarleySet, assumed: int, following: EarleySet) -> int:
        """What it costs that *assumed* is a word that still asks for more, as `lambda` for its colon.

        It stands behind *chart*, before lexeme number *index*, and the set is *following* some lexemes later.
        Nothing if the bracket around it is closed.
        """
        word = word_of(self._tables, assumed)
        if not self._open_end or self._backward or len(word) == 1 or not word.isalpha():
            return 0
        if self._enclosures.unmatched(self._symbols[index:])[0]:
            return 0
        before, after = (
            min((cost for cost, _ in self._ends.of(each).values()), default=0) for each in (chart, following)
        )
        return WORD if after > before else 0

    def beside(self, index: int, assumed: int) -> int:
        """As `to_match`, and what it costs to close a bracket around nothing before lexeme number *index*.

        If its line leaves another bracket open as well, it costs as much not to close it.
        """
        cost = self.to_match(assumed)
        if not index or self._symbols[index - 1] not in self._enclosures:
            return cost
        before = self._symbols[index - 1]
        pair = (assumed, before) if self._backward else (before, assumed)
        closes = assumed in self._enclosures and not any(self._enclosures.unmatched(pair))
        opens = self._enclosures.unmatched((before,))[1]
        lacks_closer = opens and not self._backward and self._opened_in_line(index) > 1
        return cost + (closes is not lacks_closer)

    def _opened_in_line(self, index: int) -> int:
        """How many brackets the physical line with lexeme number *index* leaves open."""
        depth = 0
        for symbol in line_with(self._symbols, self._line_ends, index):
            closes, opens = self._enclosures.unmatched((symbol,))
            depth = max(depth + opens - closes, 0)
        return depth


def line_with(symbols: Sequence[int], line_ends: Sequence[int], index: int) -> Sequence[int]:
    """Those of *symbols* that are in the physical line of lexeme number *index*."""
    start = max((end for end in line_ends if end <= index), default=0)
    return symbols[start : next(end for end in line_ends if end > index)]
