"""One worker: an engine, its judge, and what is known to differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from fimlsp.languages.python import Python
from fimlsp.languages.python.checks import Check
from fimlsp.quotient.engine import Engine

from .interpreters import interpreter
from .known import known_differences
from .laws import Bench, Disagreement
from .shrinking import shrunk
from .tally import Tally

_MOST_SHRUNK = 6


class Worker(Bench):
    """Counts cases, explains what is known, and makes what is not as small as it can be."""

    def __init__(self, version: str, *, check: Check = "parse", shrinks: bool = True) -> None:
        python = interpreter(version)
        super().__init__(Engine(Python(python.version, check)), python.judge(check))
        self.version = python.version
        self._known = known_differences(python.version, check)
        self._shrinks = shrinks
        self._seen: Counter[tuple[str, ...]] = Counter()

    def count(self, tally: Tally, constructs: Iterable[str], found: Disagreement | None) -> None:
        """Add a case to *tally*."""
        known = found and next((known for known in self._known if known.explains(found)), None)
        if found is not None and known is None and self._shrinks:
            self._seen[found.signature] += 1
            if self._seen[found.signature] <= _MOST_SHRUNK:
                judged = self.judged
                found = shrunk(self, found)
                self.judged = judged
        tally.add(constructs, found, known and known.name)
