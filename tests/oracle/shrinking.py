"""From a case that breaks a law to a small one that breaks it in the same way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from time import process_time

from .laws import Bench, Case, Disagreement, broken

_SECONDS = 20.0
_PARTS = ("left", "right", "middle")
_SHORT = 40


def shrunk(bench: Bench, disagreement: Disagreement) -> Disagreement:
    """A disagreement like *disagreement* from which no byte can be left out, or the best one in bounded time.

    One that cannot be repeated on its own depends on earlier requests; it is returned unchanged.
    """
    again = broken(disagreement.law, bench, disagreement.case)
    if again is None:
        return disagreement
    shrinker = _Shrinker(bench, again)
    shrinker.run()
    return shrinker.best.found_in(disagreement.construct, disagreement.seed, disagreement.origin)


class _Shrinker:
    def __init__(self, bench: Bench, disagreement: Disagreement) -> None:
        self.bench = bench
        self.best = disagreement
        self.deadline = process_time() + _SECONDS

    def run(self) -> None:
        size = len(self.best.case.whole)
        while size:
            if sum(self._without_pieces(part, size) for part in _PARTS) == 0:
                size //= 2
        while len(self.best.case.whole) <= _SHORT and any(map(self._take, _without_pairs(self.best.case))):
            pass

    def _without_pieces(self, part: str, size: int) -> bool:
        at, progress = 0, False
        while at < len(text := getattr(self.best.case, part)):
            if self._take(_with(self.best.case, part, text[:at] + text[at + size :])):
                progress = True
            else:
                at += size
        return progress

    def _take(self, case: Case) -> bool:
        """Continue with *case* if it breaks the law in the same way."""
        if process_time() > self.deadline:
            return False
        again = broken(self.best.law, self.bench, case)
        if again is None or again.signature != self.best.signature:
            return False
        self.best = again
        return True


def _with(case: Case, part: str, text: bytes) -> Case:
    if part == "left":
        return replace(case, left=text)
    return replace(case, middle=text) if part == "middle" else replace(case, right=text)


def _without_pairs(case: Case) -> Iterator[Case]:
    """*case* without two of its bytes, brackets for instance."""
    ends = len(case.left), len(case.left + case.middle)
    for first, second in combinations(range(len(case.whole)), 2):
        kept = [bytes((byte,)) if at not in (first, second) else b"" for at, byte in enumerate(case.whole)]
        left, middle, right = kept[: ends[0]], kept[ends[0] : ends[1]], kept[ends[1] :]
        yield replace(case, left=b"".join(left), middle=b"".join(middle), right=b"".join(right))
