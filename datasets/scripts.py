"""Scripts that a model writes to instructions, with and without the type constraint.

Tasks come from a file, with an interface and the scripts that are there already. Without the constraint the
model may write again after each check: it reads its script and the faults of it (reflection). With the
constraint it writes once. Each task is saved before the next one. The report of `fimlsp replay scripts` has
the right scripts, the faults by kind as the paper on sLua counts them, and times.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from fimlsp.datasets.pages import number, share, table, write_page
from fimlsp.datasets.plan import Plan
from fimlsp.datasets.run_folder import RESULTS, RunFolder, read_results, read_rows
from fimlsp.errors import UserError
from fimlsp.languages.slua.checker import Checked, check_script
from fimlsp.languages.slua.incremental.statements import begin
from fimlsp.languages.slua.interface import Interface, InterfaceError, described, extended, read_interface
from fimlsp.languages.slua.parsing import Fault
from fimlsp.languages.slua.tidy import Tidy
from fimlsp.models.completion import generate
from fimlsp.models.decoding.settings import DecodeSettings, Unconstrained
from fimlsp.models.loading import FimModel

FENCE = "```"


class TasksError(UserError):
    """A file of tasks, an interface or a given script cannot be used."""


@dataclass(frozen=True, slots=True)
class ScriptTask:
    """A script to write: its *name*, the *kind* of script, and the *instructions*."""

    name: str
    kind: str
    instructions: str

    @property
    def request(self) -> str:
        """The instructions as a message."""
        return f"Write a script of the kind {self.kind}: {self.instructions}"


@dataclass(frozen=True, slots=True)
class GivenScript:
    """A script that is there already: its name, its kind and its text."""

    name: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Given:
    """All that scripts are given.

    Attributes:
        interface: the interface, with the names that the given scripts bring.
        declarations: its text.
        scripts: the given scripts.
    """

    interface: Interface
    declarations: str
    scripts: tuple[GivenScript, ...] = ()

    def introduction(self, kind: str, shots: int) -> str:
        """The language, the interface and *shots* scripts of *kind*, as a text for a model."""
        names = ", ".join(f"{script.name} ({script.kind})" for script in self.scripts)
        brought = f"Scripts that are there already: {names}.\n" if names else ""
        examples = [script for script in self.scripts if script.kind == kind][:shots]
        shown = "".join(f"\nA script of the kind {kind}:\n{fenced(script.text)}" for script in examples)
        return f"{described(self.interface, self.declarations, kind)}{brought}{shown}\n"


def fenced(text: str) -> str:
    """A script within a fence."""
    return f"{FENCE}lua\n{text.strip()}\n{FENCE}\n"


def unfenced(text: str) -> str:
    """The first fenced block in *text*, or all of it up to a fence."""
    before, fence, after = text.partition(FENCE)
    if fence and not before.strip():
        return after.partition("\n")[2].partition(FENCE)[0]
    if f"\n{FENCE}lua\n" in text:
        return text.partition(f"{FENCE}lua\n")[2].partition(FENCE)[0]
    return before


def read_tasks(path: Path, interface: Interface) -> list[ScriptTask]:
    """The tasks in a file of JSON lines with `task`, `kind` and `instructions`.

    Raises:
        TasksError: it cannot be read, or a line has no task with a kind of *interface*.
    """
    tasks = list[ScriptTask]()
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise TasksError(f"Cannot read {path} ({error}).") from error
    for line_number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            task = ScriptTask(str(row["task"]), str(row["kind"]), str(row["instructions"]))
        except (ValueError, TypeError, KeyError) as error:
            raise TasksError(f"Line {line_number} of {path} has no task ({error}).") from error
        if task.kind not in interface.roots:
            known = ", ".join(interface.roots)
            raise TasksError(
                f"Line {line_number} of {path} has the kind {task.kind}; the interface has {known}."
            )
        tasks.append(task)
    if not tasks:
        raise TasksError(f"{path} has no tasks.")
    return tasks


def read_given(interface: Path, scripts: Sequence[Path]) -> Given:
    """The *interface*, extended by *scripts* in their order.

    Raises:
        TasksError: a file cannot be read, or has faults.
    """
    try:
        text = interface.read_text("utf-8")
        given = Given(read_interface(text, str(interface)), text)
        for path in scripts:
            given = _with_script(given, path)
    except (OSError, UnicodeDecodeError, InterfaceError) as error:
        raise TasksError(f"Cannot use {interface} and the given scripts: {error}") from error
    return given


def _with_script(given: Given, path: Path) -> Given:
    text, fault = path.read_text("utf-8"), None
    for kind, root in given.interface.roots.items():
        checked = check_script(text, given.interface, kind)
        if not checked.faults:
            interface = extended(given.interface, root, path.stem, checked.interface)
            script = GivenScript(path.stem, kind, text)
            return Given(interface, given.declarations, (*given.scripts, script))
        fault = fault or checked.faults[0]
    raise TasksError(f"{path}:{fault}. Give scripts without faults, in the order of their use.")


SYNTAX, OTHER = "syntax", "other"
KINDS_OF_MESSAGES = {
    "outside of": SYNTAX,
    "must be the last": SYNTAX,
    "at most": "limit",
    "at once": "limit",
    "unknown variable": "invented variable",
    "unknown type": "invented type",
    "has no field": "invented field",
    "needs": "missing field",
    "already": "declared twice",
    "is given twice": "declared twice",
    "arguments": "number of arguments",
    "1 argument": "number of arguments",
    "parameters": "number of arguments",
    "has to return": "missing result",
    "returns no value": "missing result",
    "cannot assign": "assignment",
    "are not assignable": "assignment",
    "has to end with": "end of the script",
    "last statement": "end of the script",
    "expected": "wrong type",
    "cannot be compared": "wrong type",
    "is only allowed": "wrong type",
    "may be absent": "wrong type",
    "cannot make": "wrong type",
    "function": "rules of functions",
}
"""Words of a message, and the kind of fault; the first that occur decide."""

KINDS = tuple(dict.fromkeys((SYNTAX, *KINDS_OF_MESSAGES.values(), OTHER)))


def kind_of(fault: Fault, checked: Checked) -> str:
    """The kind of a *fault* in the script that was *checked*: `syntax` if it has no tree."""
    if checked.script is None:
        return SYNTAX
    words = "".join(fault.message.split("`")[::2])  # without names
    return next((kind for part, kind in KINDS_OF_MESSAGES.items() if part in words), OTHER)


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


EXPLANATION = """\
A script is right if the checker accepts it: every name exists, every type fits, every function returns. After
a reflection the model has read its script with the faults, and has written it again. *At the limit*: the
tokens were used up. With the constraint such a script is steered to its end."""
FAULTS = """\
Scripts with at least one fault of that kind. A script that does not parse has a single fault, of the kind
`syntax`."""
MESSAGES = 8


def write_report(out: Path) -> None:
    """Write the pages about the run in *out*.

    Raises:
        RunFolderError: there is none, or it is damaged.
    """
    run, written = RunFolder(out), read_run(out)
    plan = run.plan(ScriptsPlan)
    names = ("reflections", "samples", "shots", "tokens", "temperature", "seed", "as_text", "given")
    rows = [["model", Path(plan.model).name], *([name, getattr(plan, name)] for name in names)]
    rows += [["fimlsp", f"{plan.fimlsp}, code {plan.code}"], ["machine", run.about.machine]]
    lines = ["# Scripts written to instructions", "", "```sh", run.about.command, "```", ""]
    lines += [*table(["", ""], rows), EXPLANATION, "", *_right(written, plan.reflections)]
    lines += ["## Kinds of faults", "", FAULTS, "", *_kinds(written, plan.reflections)]
    lines += ["## Frequent faults", "", *_messages(written)]
    write_page(out, "report", lines, {})


def _groups(written: Sequence[Written], reflections: int) -> Iterator[tuple[str, list[tuple[str, Attempt]]]]:
    """The name of each way to write, and the kind and the last attempt of its scripts."""
    for method in METHODS:
        chosen = [one for one in written if one.method == method]
        for count in range(1 + (reflections if method == "unconstrained" else 0)):
            name = f"{method}, {count} reflections" if method == "unconstrained" and reflections else method
            yield name, [(one.kind, one.after(count)) for one in chosen]


def _right(written: Sequence[Written], reflections: int) -> list[str]:
    kinds, rows = sorted({one.kind for one in written}), list[list[object]]()
    for name, attempts in _groups(written, reflections):
        last, n = [attempt for _, attempt in attempts], len(attempts)
        tokens = sum(attempt.tokens for attempt in last)
        rows.append(
            [
                name,
                n,
                _share_right(last),
                *(_share_right([attempt for of, attempt in attempts if of == kind]) for kind in kinds),
                share(sum(attempt.stop == "budget" for attempt in last), n),
                share(sum(attempt.steered for attempt in last), n),
                number(tokens / max(1, n)),
                number(1000 * tokens / max(1e-9, sum(attempt.ms for attempt in last))),
            ]
        )
    head = ["", "scripts", "right", *(f"right: {kind}" for kind in kinds), "at the limit", "steered"]
    return table([*head, "tokens a script", "tokens a second"], rows)


def _share_right(attempts: Sequence[Attempt]) -> str | None:
    return share(sum(attempt.is_right for attempt in attempts), len(attempts))


def _kinds(written: Sequence[Written], reflections: int) -> list[str]:
    rows, seen = dict[str, Counter[str]](), Counter[str]()
    for name, attempts in _groups(written, reflections):
        rows[name] = Counter(kind for _, attempt in attempts for kind in {kind for kind, _ in attempt.faults})
        seen += rows[name]
    kinds = [kind for kind in KINDS if seen[kind]]
    if not kinds:
        return ["No script has a fault.", ""]
    return table(["", *kinds], [[name, *(counted[kind] for kind in kinds)] for name, counted in rows.items()])


def _messages(written: Sequence[Written]) -> list[str]:
    faults = Counter(fault for one in written for attempt in one.attempts[:1] for fault in attempt.faults)
    if not faults:
        return ["None.", ""]
    return table(
        ["kind", "message", "faults"], [[*fault, count] for fault, count in faults.most_common(MESSAGES)]
    )
