"""Every snippet of CPython's own tests: whole, with an empty middle in it, and cut at a random place."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from .bench import Tally, Worker
from .cpython import INVALID, VALID, Verdict
from .cuts import anywhere
from .laws import Bench, Case, Disagreement, fed, guarded, prefix_dies, verdict_differs
from .snippets import Snippet

_SNIPPETS_IN_A_TASK = 50


@dataclass(frozen=True, slots=True)
class Conformance:
    """Some snippets to be checked."""

    seed: str
    snippets: tuple[Snippet, ...]

    def run(self, worker: Worker) -> Tally:
        """The disagreements about them."""
        tally = Tally()
        rng = random.Random(self.seed)
        for snippet in self.snippets:
            tally.judged += 3
            fault = next(faults(worker, snippet, rng), None)
            if fault is not None:
                fault = fault.found_in(
                    snippet.constructs[0] if snippet.constructs else "", self.seed, snippet.origin
                )
            worker.count(tally, snippet.constructs, fault)
        return tally


def faults(bench: Bench, snippet: Snippet, rng: random.Random) -> Iterator[Disagreement]:
    """The disagreements about a snippet, which is read in three ways."""
    verdict = Verdict(VALID) if snippet.message is None else Verdict(INVALID, snippet.message)
    whole = Case(b"", snippet.data, b"")
    place = rng.randrange(len(snippet.data) + 1)
    start, end = anywhere(snippet.data, rng)
    parts = Case(snippet.data[:start], snippet.data[start:end], snippet.data[end:])
    empty = Case(snippet.data[:place], b"", snippet.data[place:])
    for case in (whole, empty, parts):
        fault = guarded("complete", case, lambda case=case: snippet_fault(bench, case, verdict))
        if fault is not None:
            yield fault


def snippet_fault(bench: Bench, case: Case, verdict: Verdict) -> Disagreement | None:
    """The disagreement about *case*, and about the prefixes of its middle if it is valid."""
    start = bench.start(case)
    fault = verdict_differs(case, fed(start, case.middle), verdict)
    if fault is None and verdict.kind == VALID:
        return prefix_dies(case, start)
    return fault


def tasks(snippets: list[Snippet], seed: int) -> Iterator[Conformance]:
    """All of *snippets* in a random order."""
    shuffled = random.Random(seed).sample(snippets, len(snippets))
    for index in range(0, len(shuffled), _SNIPPETS_IN_A_TASK):
        yield Conformance(f"{seed} {index}", tuple(shuffled[index : index + _SNIPPETS_IN_A_TASK]))


def number_of_tasks(snippets: list[Snippet]) -> int:
    """The number of `tasks`."""
    return -(-len(snippets) // _SNIPPETS_IN_A_TASK)
