"""Figures of Melcer et al. 2024 (arXiv 2402.17988), Tables I and II and section VII, for comparison.

Their model is SantaCoder (1.1 B parameters), their files are Python files of The Stack.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

LANGUAGE = "python"
SETUP_MS = 270.0
SETUP_MS_PER_CHARACTER = 0.283
MS_PER_TOKEN = 4.5


@dataclass(frozen=True, slots=True)
class PaperTable:
    """One table of the paper.

    Attributes:
        title: its title in the paper.
        files, cases: their numbers.
        successes: the cases that each method fills so that the file parses.
        constrained: the cases that the constrained method fills, in three groups: the unconstrained output
            fills them, only the checked output fills them, or neither does.
        without: the cases in the same groups that the constrained method does not fill.
        wrong: the failures that it accepted; None if the paper does not state them.
    """

    title: str
    files: int
    cases: int
    successes: Mapping[str, int]
    constrained: tuple[int, int, int]
    without: tuple[int, int, int]
    wrong: int | None = None


BOUNDARY = PaperTable(
    "Table I, STACK-BOUNDARY",
    9_539,
    95_390,
    {"unconstrained": 65_353, "longest": 90_280, "constrained": 90_665},
    (65_342, 24_833, 490),
    (11, 94, 4_620),
    wrong=29,
)
RANDSPAN = PaperTable(
    "Table II, STACK-RANDSPAN",
    9_539,
    95_390,
    {"unconstrained": 68_590, "longest": 91_654, "constrained": 92_085},
    (68_570, 22_952, 563),
    (20, 112, 3_173),
)
TABLES: Mapping[str, PaperTable] = {
    "boundary": BOUNDARY,
    "paper-boundary": BOUNDARY,
    "randspan": RANDSPAN,
    "paper-randspan": RANDSPAN,
}


def setup_ms(characters: int) -> float:
    """Milliseconds of their implementation before the first token, by the size of the file."""
    return SETUP_MS + SETUP_MS_PER_CHARACTER * characters
