"""Every snippet of CPython's own tests: whole, with an empty middle in it, and cut at a random place."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from .bench import Worker
from .cuts import anywhere
from .judge import INVALID, VALID, Verdict
from .laws import Bench, Case, Disagreement, fed, guarded, prefix_dies, verdict_differs
from .snippets import Snippet
from .tally import Tally

_SNIPPETS_IN_A_TASK = 50


@dataclass(frozen=True, slots=True)
class Conformance:
    """Some snippets to be checked."""

    seed: str
    snippets: tuple[Snippet, ...]

    def run(self, worker: Worker) -> Tally:
        """What is wrong with them."""
        tally = Tally()
        rng = random.Random(self.seed)
        for snippet in self.snippets:
            tally.judged += 3
            found = next(faults(worker, snippet, rng), None)
            if found is not None:
                found = found.found_in(
                    snippet.constructs[0] if snippet.constructs else "", self.seed, snippet.origin
                )
            worker.count(tally, snippet.constructs, found)
        return tally


def faults(bench: Bench, snippet: Snippet, rng: random.Random) -> Iterator[Disagreement]:
    """The disagreements about a snippet, which is looked at in three ways."""
    verdict = Verdict(VALID) if snippet.message is None else Verdict(INVALID, snippet.message)
    whole = Case(b"", snippet.data, b"")
    place = rng.randrange(len(snippet.data) + 1)
    start, end = anywhere(snippet.data, rng)
    parts = Case(snippet.data[:start], snippet.data[start:end], snippet.data[end:])
    empty = Case(snippet.data[:place], b"", snippet.data[place:])
    for case in (whole, empty, parts):
        found = guarded("complete", case, lambda case=case: snippet_fault(bench, case, verdict))
        if found is not None:
            yield found


def snippet_fault(bench: Bench, case: Case, verdict: Verdict) -> Disagreement | None:
    """What is wrong with the answer about *case*, and with the prefixes of its middle if it is valid."""
    start = bench.start(case)
    found = verdict_differs(case, fed(start, case.middle), verdict)
    if found is None and verdict.kind == VALID:
        return prefix_dies(case, start)
    return found


def tasks(found: list[Snippet], seed: int) -> Iterator[Conformance]:
    """All of *found* in a random order."""
    shuffled = random.Random(seed).sample(found, len(found))
    for index in range(0, len(shuffled), _SNIPPETS_IN_A_TASK):
        yield Conformance(f"{seed} {index}", tuple(shuffled[index : index + _SNIPPETS_IN_A_TASK]))


def number_of_tasks(found: list[Snippet]) -> int:
    """How many `tasks` there are."""
    return -(-len(found) // _SNIPPETS_IN_A_TASK)
