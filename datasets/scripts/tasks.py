"""Scripts to write: instructions in a file, the names that scripts are given, and the prompts of a model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fimlsp.errors import UserError
from fimlsp.languages.slua.checker import check_script
from fimlsp.languages.slua.interface import Interface, InterfaceError, described, extended, read_interface

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
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            task = ScriptTask(str(row["task"]), str(row["kind"]), str(row["instructions"]))
        except (ValueError, TypeError, KeyError) as error:
            raise TasksError(f"Line {number} of {path} has no task ({error}).") from error
        if task.kind not in interface.roots:
            known = ", ".join(interface.roots)
            raise TasksError(f"Line {number} of {path} has the kind {task.kind}; the interface has {known}.")
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
