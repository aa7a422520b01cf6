"""What a part of a suite found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from .laws import Disagreement


@dataclass(slots=True)
class Tally:
    """Cases, unexplained and explained disagreements by construct, and the unexplained ones themselves.

    `judged` are the verdicts of CPython that the engine's were held against.
    """

    judged: int = 0
    cases: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    explained: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    found: list[Disagreement] = field(default_factory=list)

    def add(self, constructs: Iterable[str], found: Disagreement | None, reason: str | None = None) -> None:
        """Count a case of *constructs*, with what is wrong about it and what explains that."""
        names = tuple(constructs)
        self.cases.update(names)
        if found is None:
            return
        if reason is not None:
            self.explained.update(names)
            self.reasons[reason] += 1
            return
        self.wrong.update(names)
        self.found.append(found)

    def include(self, other: Tally) -> None:
        """Add all that *other* holds."""
        self.judged += other.judged
        self.cases += other.cases
        self.wrong += other.wrong
        self.explained += other.explained
        self.reasons += other.reasons
        self.found += other.found
