"""Runs one untrusted program, confined by the kernel, and judges it in another process; see `sandbox.py`.

It is the main module of a process of its own, makes a view of the files, and forks.

- The child confines itself, runs the program, and calls its functions as the judge demands.
- The parent is the judge. It confines itself as well, reads the test after the fork, and runs it. The
  functions that a test calls run in the child, and only plain values return from there.

The exit status of the judge is the verdict. No text and no exit of the program passes a test: only right
values do. An executable file, such as Go's, has its test within it, and its exit status is the verdict.

Standard input has the length of the job in eight digits, the job as a JSON object, and then the test.
"""

from __future__ import annotations

import builtins
import json
import os
import signal
import sys

from fimlsp.datasets.programs.plain_values import MOST_BYTES, NotPlainError, dump, load
from fimlsp.processes.confinement import (
    LANDLOCK,
    LAYERS,
    MEMORY,
    NAMESPACES,
    SECCOMP,
    enter_namespaces,
    give_up_privileges,
    limit_resources,
    restrict_files,
)
from fimlsp.processes.system_calls import filter_system_calls

TYPE_CHECKING = False  # as in `typing`, whose import costs each program 3 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, NoReturn

FAILED, ENDED_BY_LIMIT, NOT_CONTAINED = 1, 124, 125
"""Exit statuses of the judge."""

LIMIT_SIGNALS = (signal.SIGKILL, signal.SIGXCPU)


_OF_SEVERAL_ARGUMENTS = (
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "UnicodeTranslateError",
    "ExceptionGroup",
)


class ProgramEndedError(Exception):
    """The program ended before its test did."""


class Job:
    """The job of this process; its folder for *work* and its *executable* are paths in its own view."""

    def __init__(self, described: Mapping[str, Any]) -> None:
        self.described = described
        self.executable = described.get("executable")
        self.work = os.getcwd()
        self._missing = set[str]()
        try:
            self.work, self.executable = enter_namespaces(described["mount_point"], self.executable)
        except (OSError, AttributeError, KeyError):
            self._missing.add(NAMESPACES)

    def confine(self, *, judges: bool) -> list[str]:
        """Confine this process, the program's or the one that *judges* it; the missing layers."""
        has_own_user = NAMESPACES not in self._missing
        executable = None if judges else self.executable
        holds = {MEMORY: limit_resources(self.described["limits"], own_user=has_own_user)}
        holds[LANDLOCK] = sys.platform == "linux" and restrict_files(self.work, executable)
        give_up_privileges()
        holds[SECCOMP] = sys.platform == "linux" and filter_system_calls(
            may_execute=executable is not None, may_wait=judges
        )
        missing = self._missing | {layer for layer, held in holds.items() if not held}
        return [layer for layer in LAYERS if layer in missing]


def run_program(job: Job, calls: int, answers: int) -> None:
    """The child: confine it, report the missing layers, run the program, and answer calls."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
    os.environ.clear()
    os.closerange(max(calls, answers) + 1, 256)
    lacking = job.confine(judges=False)
    with os.fdopen(answers, "wb") as writing, os.fdopen(calls, "rb") as reading:
        writing.write(dump(lacking))
        writing.flush()
        if job.described.get("probe") or (lacking and job.described["whole"]):
            return
        if job.executable is not None:
            os.execv(job.executable, [job.executable, *job.described["arguments"]])
        sys.argv = ["program.py"]
        namespace: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(job.described["program"], "program.py", "exec"), namespace)
        writing.write(dump(True))
        writing.flush()
        for line in reading:
            writing.write(answer(line, namespace))
            writing.flush()


def answer(line: bytes, namespace: Mapping[str, Any]) -> bytes:
    """The result of the call in *line*, or its exception."""
    try:
        match load(line):
            case (str(name), tuple(arguments), dict(named)):
                return dump(("value", namespace[name](*arguments, **named)))
            case _:
                raise NotPlainError("this is no call")
    except Exception as error:
        return dump(("error", type(error).__name__, str(error)[:1000]))


class Program:
    """The judge's end of the program: calls functions there."""

    def __init__(self, child: int, calls: int, answers: int) -> None:
        self._child = child
        self._calls = os.fdopen(calls, "wb", buffering=0)
        self._answers = os.fdopen(answers, "rb")

    def send(self, line: bytes) -> None:
        """Send *line*; an ended program shows when its answer is read."""
        try:
            self._calls.write(line)
        except BrokenPipeError:
            return

    def receive(self) -> object:
        """The next value of the program.

        Raises:
            ProgramEndedError: it ended.
            NotPlainError: its message is no value.
        """
        line = self._answers.readline(MOST_BYTES)
        if not line.endswith(b"\n"):
            raise ProgramEndedError
        return load(line)

    def function(self, name: str) -> Callable[..., object]:
        """The function *name* of the program."""

        def call(*arguments: object, **named: object) -> object:
            self.send(dump((name, arguments, named)))
            match self.receive():
                case ("value", value):
                    return value
                case ("error", str(kind), str(text)):
                    raise _exception(kind)(text)
                case _:
                    raise NotPlainError("the program's answer is none")

        call.__name__ = name
        return call

    def end(self) -> int:
        """Wait for the end of the program; its exit status, negative after a signal."""
        _, status = os.waitpid(self._child, 0)
        return os.waitstatus_to_exitcode(status)


def _exception(kind: str) -> type[Exception]:
    """The built-in exception named *kind*; a program's own ones arrive as RuntimeError."""
    known = getattr(builtins, kind, None)
    if isinstance(known, type) and issubclass(known, Exception) and kind not in _OF_SEVERAL_ARGUMENTS:
        return known
    return RuntimeError


class TestNamespace(dict):  # type: ignore[type-arg]  # `Any` would have to be imported
    """The names of a test: those of the prompt; all other names are functions of the program."""

    def __init__(self, program: Program) -> None:
        super().__init__(__name__="__main__", __builtins__=builtins)
        self._program = program

    def __missing__(self, name: str) -> Callable[..., object]:
        if hasattr(builtins, name) or name.startswith("__"):
            raise KeyError(name)
        return self._program.function(name)


def run_test(helpers: str, entry: str, test: str, program: Program) -> None:
    """Run *test*, after the *helpers* of the prompt, against the function *entry* of *program*."""
    namespace = TestNamespace(program)
    exec(compile(helpers, "prompt.py", "exec"), namespace)
    if entry:
        namespace[entry] = program.function(entry)
    exec(compile(test, "test.py", "exec"), namespace)


def judge(job: Job, program: Program) -> int:
    """The parent: confine it, and run the test; its exit status."""
    try:
        lacking = program.receive()
    except (ProgramEndedError, NotPlainError):
        lacking = ["a start of contained programs"]
    if job.described.get("probe"):
        program.end()  # it would write to a closed pipe, and its traceback would be the last line
        print(json.dumps(lacking), flush=True)
        return 0
    if lacking and job.described["whole"]:
        return NOT_CONTAINED
    job.confine(judges=True)
    test = sys.stdin.buffer.read().decode()
    if job.executable is not None:
        status = program.end()
        return 0 if status == 0 else ENDED_BY_LIMIT if -status in LIMIT_SIGNALS else FAILED
    try:
        program.receive()
        run_test(job.described["helpers"], job.described["entry"], test, program)
    except ProgramEndedError:
        status = program.end()
        if -status in LIMIT_SIGNALS:
            return ENDED_BY_LIMIT
        if status != FAILED:  # after an error its last line is there already
            print(f"exit status {status} before the end of the test", file=sys.stderr)
        return FAILED
    except BaseException as error:
        text = str(error).strip().splitlines()
        print(f"{type(error).__name__}: {text[0]}" if text else type(error).__name__, file=sys.stderr)
        return FAILED
    return 0


def main() -> NoReturn:
    """Read the job, make the view, and fork."""
    job = Job(json.loads(_read_exactly(int(_read_exactly(8)))))
    their_calls, calls = os.pipe()
    answers, their_answers = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(calls)
        os.close(answers)
        run_program(job, their_calls, their_answers)
        sys.stderr.flush()
        os._exit(0)
    os.close(their_calls)
    os.close(their_answers)
    status = judge(job, Program(child, calls, answers))
    sys.stderr.flush()
    os._exit(status)


def _read_exactly(size: int) -> bytes:
    """The next *size* bytes of standard input, and no more: the program must not find the test in memory."""
    data = b""
    while len(data) < size and (more := os.read(0, size - len(data))):
        data += more
    return data
