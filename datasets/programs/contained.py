"""Runs one untrusted program, confined by the kernel, and judges it in another process; see `sandbox.py`.

It is the main module of a process of its own, makes a view of the files, and forks.

- The child confines itself, runs the program, and calls its functions as the judge demands.
- The parent is the judge. It confines itself as well, reads the test after the fork, and runs it. The
  functions that a test calls run in the child, and only plain values return from there, as JSON.

Plain are None, booleans, numbers, texts, bytes, and lists, tuples, sets and dicts of them. Other classes stay
on their side, so no value brings code of its own to a comparison.

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


MOST_BYTES = 1 << 24
"""The longest message."""


class NotPlainError(Exception):
    """A value is not plain data, or a message is no value."""


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


def dump(value: object) -> bytes:
    """*value* as a line.

    Raises:
        NotPlainError: it is not plain data, or too large.
    """
    try:
        line = json.dumps(_tagged(value)).encode() + b"\n"
    except (RecursionError, ValueError) as error:
        raise NotPlainError(f"a value is nested too deeply or refers to itself ({error})") from None
    if len(line) > MOST_BYTES:
        raise NotPlainError(f"a value of {len(line):,} bytes is too large")
    return line


def load(line: bytes) -> object:
    """The value in *line*.

    Raises:
        NotPlainError: there is none.
    """
    try:
        return _value(json.loads(line))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise NotPlainError(f"a message is no value ({error})") from None


_SEQUENCES: dict[str, Callable[[list[object]], object]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
}
_KINDS = {list: "list", tuple: "tuple", set: "set", frozenset: "frozenset"}


def _tagged(value: object) -> object:
    if value is None or isinstance(value, bool):
        return value
    for plain in (int, float, str):
        if isinstance(value, plain):
            return plain(value)
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, bytes | bytearray):
        return {"bytes": bytes(value).hex()}
    if isinstance(value, dict):
        return {"dict": [[_tagged(key), _tagged(held)] for key, held in value.items()]}
    for kind, name in _KINDS.items():
        if isinstance(value, kind):
            return {name: [_tagged(item) for item in value]}
    raise NotPlainError(f"a value of type {type(value).__name__} is not plain data")


def _value(tagged: object) -> object:
    if not isinstance(tagged, dict):
        return _scalar(tagged)
    ((kind, content),) = tagged.items()
    if kind == "bytes":
        return bytes.fromhex(content)
    if kind == "complex":
        real, imaginary = content
        return complex(real, imaginary)
    if kind == "dict":
        return {_value(key): _value(held) for key, held in content}
    return _SEQUENCES[kind]([_value(item) for item in content])


def _scalar(value: object) -> object:
    if isinstance(value, list):
        raise NotPlainError("a message has a list without its kind")
    return value
