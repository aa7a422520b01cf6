"""A run of `fimlsp replay scripts`: a model writes to instructions, with and without the type constraint.

Without the constraint it may write again after each check: it reads its script and the faults of it
(reflection). With the constraint it writes once. Each task is saved before the next one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from fimlsp.datasets.runs.plan import Plan
from fimlsp.datasets.runs.run_folder import RESULTS, read_results, read_rows
from fimlsp.datasets.scripts.faults import kind_of
from fimlsp.datasets.scripts.tasks import FENCE, Given, ScriptTask, fenced, unfenced
from fimlsp.languages.slua.checker import check_script
from fimlsp.languages.slua.incremental.statements import begin
from fimlsp.languages.slua.tidy import Tidy
from fimlsp.models.completion import generate
from fimlsp.models.decoding.settings import DecodeSettings, Unconstrained
from fimlsp.models.loading import FimModel

Method = Literal["unconstrained", "constrained"]
METHODS: tuple[Method, ...] = ("unconstrained", "constrained")
MOST_FAULTS = 12
"""Faults that a model reads when it writes again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptsPlan(Plan):
    """The plan of a run: *given* is a digest of interface, given scripts and tasks.

    Unless *as_text*, a model with a chat template reads a message.
    """

    given: str
    tasks: tuple[str, ...]
    model: str
    model_files: str
    reflections: int
    samples: int
    shots: int
    tokens: int
    temperature: float
    seed: int
    as_text: bool
    fimlsp: str
    code: str
    context_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """A script as the model wrote it.

    Attributes:
        text: the script.
        faults: the kind and the message of each fault.
        stop: the reason for the end of decoding.
        steered: True if steering refused a candidate or wrote an ending.
        tokens: the number of written tokens.
        ms: milliseconds on the clock, without the reading of the prompt.
    """

    text: str
    faults: tuple[tuple[str, str], ...]
    stop: str
    steered: bool
    tokens: int
    ms: float

    @property
    def is_right(self) -> bool:
        """True if the checker accepts the script."""
        return not self.faults


@dataclass(frozen=True, slots=True)
class Written:
    """The attempts of a *method* at a task, the last of which counts."""

    case: str
    kind: str
    method: Method
    attempts: tuple[Attempt, ...]

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Written:
        """The value that `asdict` wrote."""
        attempts = (
            Attempt(**{**attempt, "faults": tuple(map(tuple, attempt["faults"]))})
            for attempt in row["attempts"]
        )
        return cls(row["case"], row["kind"], row["method"], tuple(attempts))

    def after(self, reflections: int) -> Attempt:
        """The attempt that stands after at most so many *reflections*."""
        return self.attempts[min(reflections, len(self.attempts) - 1)]


class ScriptWriter:
    """Writes scripts with *model*, by the settings of *plan*."""

    def __init__(self, model: FimModel, given: Given, plan: ScriptsPlan) -> None:
        self._model = model
        self._given = given
        self._plan = plan

    def run(self, task: ScriptTask, sample: int) -> Iterator[Written]:
        """The attempts of each method at *task*."""
        for method in METHODS:
            attempts, request = list[Attempt](), task.request
            for _ in range(1 if method == "constrained" else 1 + self._plan.reflections):
                attempts.append(self._attempt(task, method, request, sample))
                if attempts[-1].is_right:
                    break
                request = _again(task, attempts[-1])
            yield Written(f"{task.name}/{sample}", task.kind, method, tuple(attempts))

    def _attempt(self, task: ScriptTask, method: Method, request: str, sample: int) -> Attempt:
        plan, fence = self._plan, FENCE.encode()
        held = method == "constrained"
        settings = DecodeSettings(
            tokens=plan.tokens,
            temperature=plan.temperature,
            seed=10_000 * plan.seed + sample,
            stop_when=(lambda _: True) if held else (lambda text: b"\n" + fence in text.lstrip()),
        )
        interface = self._given.interface
        start = Tidy.after(begin(interface, task.kind), b"") if held else Unconstrained()
        context = self._given.introduction(task.kind, plan.shots)
        started = perf_counter()
        if self._model.chat is not None and not plan.as_text:
            middle = generate(
                self._model, b"", start, settings, context=context.encode(), instructions=request
            )
        else:  # as a text to continue, of which the end is read if not all of it fits
            read = f"{context}{request}\n{FENCE}lua\n".encode()
            middle = generate(self._model, read, start, settings)
        ms = 1000 * (perf_counter() - started) - middle.prefill_ms
        text = middle.text.decode(errors="replace")
        text = text if held else unfenced(text)
        checked = check_script(text, interface, task.kind)
        faults = tuple((kind_of(fault, checked), fault.message) for fault in checked.faults)
        return Attempt(text, faults, middle.stop_reason, middle.steered, middle.tokens, round(ms, 2))


def _again(task: ScriptTask, attempt: Attempt) -> str:
    """The request to write a script again, without its faults."""
    faults = "\n".join(f"- {message}" for _, message in attempt.faults[:MOST_FAULTS])
    return (
        f"{task.request}\n\nThis script has faults:\n{fenced(attempt.text)}\n{faults}\n\n"
        "Write the whole script again, without these faults."
    )


def run_all(
    writer: ScriptWriter, tasks: Sequence[ScriptTask], samples: int, out: Path, report: Callable[[], None]
) -> None:
    """Do those *tasks* that have no result in *out* yet; call *report* after each sample of a task."""
    done = {str(row["case"]) for row in read_rows(out / RESULTS) if row["method"] == METHODS[-1]}
    with (out / RESULTS).open("a", encoding="utf-8") as results:
        for task in tasks:
            for sample in range(samples):
                if f"{task.name}/{sample}" not in done:
                    results.write("".join(json.dumps(asdict(row)) + "\n" for row in writer.run(task, sample)))
                    results.flush()
                report()


def read_run(out: Path) -> list[Written]:
    """The results in the folder *out*.

    Raises:
        RunFolderError: they are damaged or of another version.
    """
    return list(read_results(out / RESULTS, Written.from_json))
