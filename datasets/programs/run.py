"""A run of `fimlsp replay humaneval`: each answer is written, tested and saved before the next one.

A model writes with and without the constraint, after the prompt of a problem or into a hole of its solution.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from fimlsp.datasets.plan import Plan
from fimlsp.datasets.programs.problems import KINDS, Hole, Problem, holes
from fimlsp.datasets.programs.sandbox import Tester
from fimlsp.datasets.programs.writing import Answer, Method, Writer
from fimlsp.datasets.run_folder import RESULTS, read_results, read_rows
from fimlsp.languages.python.versions import Check

LEFT_TO_RIGHT = "left-to-right"
FORMS = (LEFT_TO_RIGHT, *KINDS)
Item = TypeVar("Item", Problem, Hole)
PAIR: tuple[Method, ...] = ("unconstrained", "constrained")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramsPlan(Plan):
    """The plan of a run. *problems* is `HumanEval` or a digest of a file; see `ReplayPlan` for the others.

    Attributes:
        collection: the name of the problems in tables, such as `MBXP`.
        language: the language of the answers.
        methods: the ways to write from left to right; holes are filled in the first two of them.
        shots: solved problems that the model reads before each prompt.
        context_tokens: as `context` of `load_model`.
    """

    problems: str
    model: str
    model_files: str
    forms: tuple[str, ...]
    samples: int
    temperature: float
    top_p: float
    tokens: int
    seed: int
    limit: int | None
    check: Check
    test_seconds: int
    fimlsp: str
    code: str
    collection: str = "HumanEval"
    language: str = "python"
    methods: tuple[Method, ...] = PAIR
    shots: int = 0
    context_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """A task of the model: the *sample*-th answer to a problem, or the text of a hole."""

    case: str
    form: str
    problem: Problem
    sample: int = 0
    hole: Hole | None = None


@dataclass(frozen=True, slots=True)
class TestedAnswer:
    """An answer to a task, with the outcome of its test; it is *exact* if it equals the text cut out."""

    case: str
    form: str
    task: str
    method: Method
    written: Answer
    outcome: str
    reason: str
    exact: bool

    @property
    def passed(self) -> bool:
        """True if the tests passed."""
        return self.outcome == "passed"

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> TestedAnswer:
        """The answer that `asdict` wrote."""
        return cls(**{**row, "written": Answer(**row["written"])})


def tasks(
    problems: Sequence[Problem], forms: Sequence[str], samples: int, seed: int, limit: int | None
) -> Iterator[Task]:
    """All tasks, with at most *limit* problems or holes of each form, evenly spread."""
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


class ProgramBench:
    """Writes and tests the answers to tasks by several *methods*; *examples* are read before each prompt."""

    def __init__(
        self, writer: Writer, tester: Tester, methods: Sequence[Method], examples: Mapping[str, str]
    ) -> None:
        self.methods = tuple(methods)
        self._writer = writer
        self._tester = tester
        self._examples = examples

    def run(self, task: Task) -> Iterator[TestedAnswer]:
        """The answer of each method. All draw with the same noise."""
        for method in self.methods if task.hole is None else PAIR:
            answer = self._write(task, method)
            result = self._tester.test(task.problem, answer.fault, self._program(task, answer.text))
            yield TestedAnswer(
                case=task.case,
                form=task.form,
                task=task.problem.task,
                method=method,
                written=answer,
                outcome=result.outcome,
                reason=result.reason,
                exact=task.hole is not None and answer.text == task.hole.truth,
            )

    def _write(self, task: Task, method: Method) -> Answer:
        if task.hole is not None:
            return self._writer.in_hole(task.hole, method)
        examples = self._examples.get(task.problem.task, "")
        return self._writer.after_prompt(task.problem, method, task.sample, examples)

    def _program(self, task: Task, text: str) -> str:
        if task.hole is None:
            return task.problem.program(text)
        solution = task.problem.solution
        return task.problem.program(f"{solution[: task.hole.start]}{text}{task.hole.right}")


def run_all(bench: ProgramBench, tasks: Sequence[Task], out: Path, report: Callable[[Task], None]) -> None:
    """Do those *tasks* that have no result in *out* yet; pass each finished task to *report*."""
    done = {
        str(row["case"])
        for row in read_rows(out / RESULTS)
        if row["method"] == (bench.methods[-1] if row["form"] == LEFT_TO_RIGHT else PAIR[-1])
    }
    with (out / RESULTS).open("a", encoding="utf-8") as results:
        for task in tasks:
            if task.case not in done:
                rows = [json.dumps(asdict(tested)) + "\n" for tested in bench.run(task)]
                results.write("".join(rows))
                results.flush()
            report(task)


def read_run(out: Path) -> list[TestedAnswer]:
    """The results in the folder *out*.

    Raises:
        RunFolderError: they are damaged or of another version.
    """
    return list(read_results(out / RESULTS, TestedAnswer.from_json))
