"""A run over problems: each answer is written, tested and on disk before the next one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from fimlsp.datasets.programs.holes import KINDS, Hole, holes
from fimlsp.datasets.programs.problems import Problem
from fimlsp.datasets.programs.testing import Tester
from fimlsp.datasets.programs.writing import METHODS, Method, Sampling, Written, behind_prompt, in_hole
from fimlsp.datasets.runs.run_folder import RunFolderError, read_rows
from fimlsp.models.loading import FimModel
from fimlsp.quotient.engine import Engine

RESULTS = "results.jsonl"
LEFT_TO_RIGHT = "left-to-right"
FORMS = (LEFT_TO_RIGHT, *KINDS)
Item = TypeVar("Item", Problem, Hole)


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to be written: the *sample*-th answer to a problem, or the filling of a hole."""

    case: str
    form: str
    problem: Problem
    sample: int = 0
    hole: Hole | None = None


@dataclass(frozen=True, slots=True)
class Tested:
    """An answer to a task, and how it came out; *exact*: it is what was cut out."""

    case: str
    form: str
    task: str
    method: Method
    written: Written
    outcome: str
    reason: str
    exact: bool

    @property
    def passed(self) -> bool:
        """Whether it is right, as far as the tests tell."""
        return self.outcome == "passed"

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Tested:
        """What `asdict` made of one."""
        return cls(**{**row, "written": Written(**row["written"])})


def tasks(
    problems: Sequence[Problem], forms: Sequence[str], samples: int, seed: int, limit: int | None
) -> Iterator[Task]:
    """All that is to be written; of each form at most *limit* problems or holes, evenly spread."""
    if LEFT_TO_RIGHT in forms:
        for problem in _spread(problems, limit):
            for sample in range(samples):
                case = f"{LEFT_TO_RIGHT}/{problem.task}/{sample}"
                yield Task(case, LEFT_TO_RIGHT, problem, sample)
    solved = [problem for problem in problems if problem.solution]
    for kind in KINDS:
        if kind in forms:
            for hole in _spread(list(holes(kind, solved, seed)), limit):
                yield Task(hole.case, kind, hole.problem, hole=hole)


def _spread(items: Sequence[Item], limit: int | None) -> Sequence[Item]:
    if limit is None or limit >= len(items):
        return items
    return [items[number * len(items) // limit] for number in range(limit)]


class Bench:
    """Writes and tests the answers to tasks with one model."""

    def __init__(self, model: FimModel, engine: Engine, sampling: Sampling, tester: Tester) -> None:
        self._model = model
        self._engine = engine
        self._sampling = sampling
        self._tester = tester

    def run(self, task: Task) -> Iterator[Tested]:
        """The answer of each method. Both draw with the same noise."""
        for method in METHODS:
            written = self._write(task, method)
            ran = self._tester.test(task.problem, written.fault, self._program(task, written.text))
            exact = task.hole is not None and written.text == task.hole.truth
            yield Tested(
                task.case, task.form, task.problem.task, method, written, ran.outcome, ran.reason, exact
            )

    def _write(self, task: Task, method: Method) -> Written:
        sampling = self._sampling
        if task.hole is not None:
            return in_hole(self._model, self._engine, task.hole, method, sampling.tokens)
        own = Sampling(
            sampling.tokens, sampling.temperature, sampling.top_p, 10_000 * sampling.seed + task.sample
        )
        return behind_prompt(self._model, self._engine, task.problem, method, own)

    def _program(self, task: Task, text: str) -> str:
        if task.hole is None:
            return task.problem.program(text)
        solution = task.problem.solution
        return task.problem.program(f"{solution[: task.hole.start]}{text}{task.hole.right}")


def run_all(bench: Bench, wanted: Sequence[Task], out: Path, report: Callable[[Task], None]) -> None:
    """Do each of the tasks that has no result in *out* yet; *report* hears of each that is done."""
    done = {str(row["case"]) for row in read_rows(out / RESULTS) if row["method"] == METHODS[-1]}
    with (out / RESULTS).open("a", encoding="utf-8") as results:
        for task in wanted:
            if task.case not in done:
                rows = [json.dumps(asdict(tested)) + "\n" for tested in bench.run(task)]
                results.write("".join(rows))
                results.flush()
            report(task)


def read_run(out: Path) -> list[Tested]:
    """The results in the folder *out*.

    Raises:
        RunFolderError: they are damaged or of another version.
    """
    try:
        return [Tested.from_json(row) for row in read_rows(out / RESULTS)]
    except (KeyError, TypeError) as error:
        raise RunFolderError(f"{out / RESULTS} is of another version of fimlsp ({error}).") from error
