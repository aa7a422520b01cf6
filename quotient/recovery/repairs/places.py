"""Where the search for the repair of a line stands."""

from __future__ import annotations

from typing import NamedTuple

from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.recovery.repairs.changes import Path

Begun = tuple[int, EarleySet]
"""The number of the first lexeme of a physical line, and the set before it."""
Place = tuple[int, int, int, EarleySet, Path]
"""What led there cost, the next lexeme's number, negative, a serial number, the set, and what was changed."""


class Stuck(NamedTuple):
    """The lexeme number `number` is not expected in `chart`, to which `path` led for `cost`.

    `trail` are the lexemes read before it in its physical line, and `begun` is where that line began, as far
    as they were read since the last change.
    """

    cost: int
    number: int
    chart: EarleySet
    path: Path
    trail: list[Begun]
    begun: Begun | None
