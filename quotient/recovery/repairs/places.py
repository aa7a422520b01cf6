"""Where the search for the repair of a line stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.recovery.repairs.changes import Path

Before = tuple[int, EarleySet]
"""The number of a lexeme, and the set before it."""
Place = tuple[int, int, int, EarleySet, Path]
"""What led there cost, the next lexeme's number, negative, a serial number, the set, and what was changed."""


@dataclass(slots=True)
class Run:
    """Lexemes read without a change, up to that of number `number`, where the set is `chart`.

    Of what was read: `line` is where the last physical line begins, `trail` are its lexemes, `closed` is the
    last closing bracket, and `opened` are the brackets that are open.
    """

    number: int
    chart: EarleySet
    line: Before | None = None
    closed: Before | None = None
    trail: list[Before] = field(default_factory=list)
    opened: list[Before] = field(default_factory=list)

    def read(self, following: EarleySet, *, begins_line: bool, closes: bool, opens: bool) -> None:
        """Read the next lexeme, which may begin a line, close or open a bracket, and leads to *following*."""
        here = self.number, self.chart
        if begins_line:
            self.line = here
            self.trail.clear()
        if closes:
            self.closed = here
            del self.opened[-1:]
        if opens:
            self.opened.append(here)
        self.trail.append(here)
        self.number, self.chart = self.number + 1, following

    def nearest(self, count: int) -> list[Before]:
        """The last *count* lexemes of the line, and the bracket around them, if it is not among these."""
        near = self.trail[-count:]
        return [*(each for each in self.opened[-1:] if each not in near), *near]


class Stuck(NamedTuple):
    """The lexeme behind `run` is not expected; `path` led there for `cost`."""

    cost: int
    path: Path
    run: Run
