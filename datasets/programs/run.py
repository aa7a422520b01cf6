"""A run of `fimlsp replay humaneval`: each answer is written, tested and saved before the next one.

A model writes with and without the constraint, after the prompt of a problem or into a hole of its solution.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, TypeVar

from fimlsp.datasets.languages.go import syntax_error as go_syntax_error
from fimlsp.datasets.languages.python import syntax_error
from fimlsp.datasets.programs.problems import KINDS, Hole, Problem, holes
from fimlsp.datasets.programs.sandbox import Tester
from fimlsp.datasets.runs.plan import Plan
from fimlsp.datasets.runs.run_folder import RESULTS, read_results, read_rows
from fimlsp.languages.python.versions import Check
from fimlsp.models.completion import complete_many, generate
from fimlsp.models.decoding.middle import Middle
from fimlsp.models.decoding.settings import DecodeSettings, StopRule, Unconstrained
from fimlsp.models.loading import FimModel
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.states.protocol import State

LEFT_TO_RIGHT = "left-to-right"
FORMS = (LEFT_TO_RIGHT, *KINDS)
Item = TypeVar("Item", Problem, Hole)
Method = Literal["unconstrained", "constrained"]
Fault = Literal["syntax", "indentation", ""]
METHODS: tuple[Method, ...] = ("unconstrained", "constrained")
PYTHON_STOPS = ("\nclass", "\ndef", "\n#", "\nif", "\nprint")
"""The strings that end an answer: Chen et al. 2021, section 3.1."""

GO_END = "\n}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramsPlan(Plan):
    """The plan of a run. *problems* is `HumanEval` or a digest of a file; see `ReplayPlan` for the others."""

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


@dataclass(frozen=True, slots=True)
class Sampling:
    """The choice of tokens from left to right; holes are filled with the likeliest tokens."""

    tokens: int
    temperature: float
    top_p: float
    seed: int


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer.

    Attributes:
        text: the text after the prompt, or in the hole.
        fault: the kind of syntax error in the program; empty if it parses.
        stop: the reason for the end of decoding.
        steered: True if steering refused a candidate or wrote an ending.
        tokens, refused: the number of written tokens, and of refused ones.
        ms: milliseconds on the clock, with the constraint's set-up, without the prefill of the prompt.
    """

    text: str
    fault: Fault
    stop: str
    steered: bool
    tokens: int
    refused: int
    ms: float


class NoConstraintError(Exception):
    """The engine finds no text that connects, although the solution does."""


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
    """Writes and tests the answers to tasks with one model."""

    def __init__(self, model: FimModel, engine: Engine, sampling: Sampling, tester: Tester) -> None:
        self._model = model
        self._engine = engine
        self._sampling = sampling
        self._tester = tester

    def run(self, task: Task) -> Iterator[TestedAnswer]:
        """The answer of each method. Both draw with the same noise."""
        for method in METHODS:
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
        sampling = self._sampling
        if task.hole is not None:
            return in_hole(self._model, self._engine, task.hole, method, sampling.tokens)
        sampling = replace(sampling, seed=10_000 * sampling.seed + task.sample)
        return after_prompt(self._model, self._engine, task.problem, method, sampling)

    def _program(self, task: Task, text: str) -> str:
        if task.hole is None:
            return task.problem.program(text)
        solution = task.problem.solution
        return task.problem.program(f"{solution[: task.hole.start]}{text}{task.hole.right}")


def run_all(bench: ProgramBench, tasks: Sequence[Task], out: Path, report: Callable[[Task], None]) -> None:
    """Do those *tasks* that have no result in *out* yet; pass each finished task to *report*."""
    done = {str(row["case"]) for row in read_rows(out / RESULTS) if row["method"] == METHODS[-1]}
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


def after_prompt(
    model: FimModel, engine: Engine, problem: Problem, method: Method, sampling: Sampling
) -> Answer:
    """The answer of *model* after the prompt of *problem*, up to the end of the function."""
    started = perf_counter()
    before = f"{problem.setup}{problem.prompt}".encode()
    start: State = Unconstrained() if method == "unconstrained" else _start(engine, before, b"")
    settings = DecodeSettings(
        tokens=sampling.tokens,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        seed=sampling.seed,
        stop_when=lambda text: end_of_answer(text, problem.language, start) is not None,
    )
    middle = generate(model, problem.prompt.encode(), start, settings)
    end = end_of_answer(middle.text, problem.language, start)
    text = (middle.text if end is None else middle.text[:end]).decode(errors="replace")
    ms = 1000 * (perf_counter() - started)
    return _answer(middle, text, _fault(problem.language, f"{problem.setup}{problem.prompt}{text}"), ms)


def in_hole(model: FimModel, engine: Engine, hole: Hole, method: Method, tokens: int) -> Answer:
    """The answer of *model* in *hole*, up to its own end, or else up to the best stop."""
    started = perf_counter()
    setup, left, right = hole.problem.setup, hole.left, hole.right
    start: State = Unconstrained()
    rule: StopRule = "last"
    if method == "constrained":
        start, rule = _start(engine, f"{setup}{left}".encode(), right.encode()), "first"
    settings = DecodeSettings(tokens=tokens, lines=None, stop_rule=rule)
    (middle,) = complete_many(model, left.encode(), right.encode(), start, settings, lambda: False)
    text = middle.text.decode(errors="replace")
    ms = 1000 * (perf_counter() - started)
    return _answer(middle, text, _fault(hole.problem.language, f"{setup}{left}{text}{right}"), ms)


def end_of_answer(text: bytes, language: str, start: State) -> int | None:
    """The end of the function in *text*; None if the text is still within the function.

    The constraint *start* must let the program end there, which excludes strings.
    """
    stops = [GO_END] if language == "go" else PYTHON_STOPS
    for offset in sorted(offset for stop in stops for offset in _occurrences(text, stop.encode())):
        end = offset + len(GO_END) if language == "go" else offset
        state = start.feed(text[:end])
        if state is not None and state.complete:
            return end
    return None


def _occurrences(text: bytes, part: bytes) -> Iterator[int]:
    offset = text.find(part)
    while offset >= 0:
        yield offset
        offset = text.find(part, offset + 1)


def _start(engine: Engine, left: bytes, right: bytes) -> State:
    start = engine.document(left + right).middle(len(left), len(left), relax=False).start
    if start is None:
        raise NoConstraintError(f"{left[-40:]!r} and {right[:40]!r} do not connect")
    return start


def _answer(middle: Middle, text: str, fault: Fault, ms: float) -> Answer:
    return Answer(
        text=text,
        fault=fault,
        stop=middle.stop_reason,
        steered=middle.steered,
        tokens=middle.tokens,
        refused=middle.rejected,
        ms=round(ms - middle.prefill_ms, 2),
    )


def _fault(language: str, program: str) -> Fault:
    if language == "go":
        return "syntax" if go_syntax_error(program) else ""
    if syntax_error(program) is None:
        return ""
    try:
        ast.parse(program)
    except IndentationError:
        return "indentation"
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    return "syntax"
