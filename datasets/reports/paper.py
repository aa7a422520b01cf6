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
    """One table of the paper: successes by method, and the numbers of files and cases."""

    title: str
    files: int
    cases: int
    successes: Mapping[str, int]


TABLES: Mapping[str, PaperTable] = {
    "boundary": PaperTable(
        "Table I, STACK-BOUNDARY",
        9_539,
        95_390,
        {"unconstrained": 65_353, "longest": 90_280, "constrained": 90_665},
    ),
    "randspan": PaperTable(
        "Table II, STACK-RANDSPAN",
        9_539,
        95_390,
        {"unconstrained": 68_590, "longest": 91_654, "constrained": 92_085},
    ),
}


def setup_ms(characters: int) -> float:
    """Milliseconds that their implementation takes before the first token, by the size of the file."""
    return SETUP_MS + SETUP_MS_PER_CHARACTER * characters
