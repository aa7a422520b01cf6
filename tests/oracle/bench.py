"""One worker: an engine, its reference parser, the known differences, and the tally of its cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from fimlsp.languages.python import Python
from fimlsp.languages.python.versions import Check
from fimlsp.quotient.engine import Engine

from .interpreters import interpreter
from .known import known_differences
from .laws import Bench, Disagreement
from .shrinking import shrunk

_MOST_SHRUNK = 6


class Worker(Bench):
    """Counts cases, explains known differences, and shrinks unexplained ones."""

    def __init__(self, version: str, *, check: Check = "parse", shrinks: bool = True) -> None:
        python = interpreter(version)
        super().__init__(Engine(Python(python.version, check)), python.judge(check))
        self.version = python.version
        self._known = known_differences(python.version, check)
        self._shrinks = shrinks
        self._seen: Counter[tuple[str, ...]] = Counter()

    def count(self, tally: Tally, constructs: Iterable[str], disagreement: Disagreement | None) -> None:
        """Add a case to *tally*."""
        known = disagreement and next((known for known in self._known if known.explains(disagreement)), None)
        if disagreement is not None and known is None and self._shrinks:
            self._seen[disagreement.signature] += 1
            if self._seen[disagreement.signature] <= _MOST_SHRUNK:
                judged = self.judged
                disagreement = shrunk(self, disagreement)
                self.judged = judged
        tally.add(constructs, disagreement, known and known.name)


@dataclass(slots=True)
class Tally:
    """Cases, unexplained and explained disagreements by construct, and the unexplained ones themselves.

    `judged` counts the verdicts of CPython with which the engine's were compared.
    """

    judged: int = 0
    cases: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    explained: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    found: list[Disagreement] = field(default_factory=list)

    def add(
        self, constructs: Iterable[str], disagreement: Disagreement | None, reason: str | None = None
    ) -> None:
        """Count a case of *constructs*, with its disagreement and the explanation of that, if any."""
        names = tuple(constructs)
        self.cases.update(names)
        if disagreement is None:
            return
        if reason is not None:
            self.explained.update(names)
            self.reasons[reason] += 1
            return
        self.wrong.update(names)
        self.found.append(disagreement)

    def include(self, other: Tally) -> None:
        """Add the counts of *other*."""
        self.judged += other.judged
        self.cases += other.cases
        self.wrong += other.wrong
        self.explained += other.explained
        self.reasons += other.reasons
        self.found += other.found
