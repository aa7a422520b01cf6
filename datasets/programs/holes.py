"""Infilling tasks made from the canonical solutions (Bavarian et al. 2022, arXiv 2207.14255, section 2.2).

Of HumanEval these are as many as theirs: 1,033 single lines, 5,815 runs of lines and 1,640 spans. The ends of
spans are drawn anew, as nobody has published the seed of theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from fimlsp.datasets.programs.problems import Problem

KINDS = ("single-line", "multi-line", "random-span")
SPANS_PER_PROBLEM = 10


@dataclass(frozen=True, slots=True)
class Hole:
    """A hole in the solution of a problem, from *start* to *end* in characters of it."""

    case: str
    kind: str
    problem: Problem
    start: int
    end: int

    @property
    def left(self) -> str:
        """What stands before it, the prompt included."""
        return self.problem.prompt + self.problem.solution[: self.start]

    @property
    def right(self) -> str:
        """What stands behind it."""
        return self.problem.solution[self.end :]

    @property
    def truth(self) -> str:
        """What was cut out."""
        return self.problem.solution[self.start : self.end]


def holes(kind: str, problems: Iterable[Problem], seed: int) -> Iterator[Hole]:
    """All holes of a *kind*; those of lines begin behind a line end and end before one."""
    for problem in problems:
        spans = {"single-line": _lines, "multi-line": _runs, "random-span": _spans}[kind](problem, seed)
        for number, (start, end) in enumerate(spans):
            yield Hole(f"{kind}/{problem.task}/{number}", kind, problem, start, end)


def _lines(problem: Problem, _seed: int) -> list[tuple[int, int]]:
    """The lines of the solution that are not blank."""
    found, start = list[tuple[int, int]](), 0
    for line in problem.solution.split("\n"):
        if line.strip():
            found.append((start, start + len(line)))
        start += len(line) + 1
    return found


def _runs(problem: Problem, seed: int) -> list[tuple[int, int]]:
    lines = _lines(problem, seed)
    return [(lines[a][0], lines[b][1]) for a in range(len(lines)) for b in range(a, len(lines))]


def _spans(problem: Problem, seed: int) -> list[tuple[int, int]]:
    random, size = Random(f"{seed} {problem.task}"), len(problem.solution)
    drawn = (sorted((random.randint(0, size), random.randint(0, size))) for _ in range(SPANS_PER_PROBLEM))
    return [(start, end) for start, end in drawn]
