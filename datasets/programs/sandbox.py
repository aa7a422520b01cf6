"""Runs untrusted programs with their tests, each confined by the kernel; see `contained.py`."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Any, Literal

from jsonschema import Draft202012Validator

from fimlsp.datasets.languages.go import build_environment, go_toolchain
from fimlsp.datasets.programs.problems import Problem
from fimlsp.errors import UserError

Outcome = Literal["passed", "failed", "timed out"]
START = """\
import sys
sys.path.insert(0, sys.argv.pop())
from fimlsp.datasets.programs.contained import main
main()
"""
PACKAGES = str(Path(__file__).parents[3])
LAST_BYTES = 2_000
REASON_CHARACTERS = 200
BUILD_SECONDS = 120
ENDED_BY_LIMIT, NOT_CONTAINED = 124, 125
PROBE_SECONDS = 60
"""The probe takes 0.1 s; a busy machine must not look like one without containment."""
GO_MEMORY = 8 << 30
"""Go reserves far more addresses than it uses."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The resources of one program.

    Attributes:
        seconds: seconds of processor time; twice as many on the clock.
        memory: bytes of address space.
        file_bytes: bytes of each file that it writes; all together 16 MB.
        files: the number of open files.
        processes: the number of threads.
    """

    seconds: int = 5
    memory: int = 1 << 30
    file_bytes: int = 1 << 20
    files: int = 32
    processes: int = 64


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The outcome of a program; the *reason* is the last line of its errors."""

    outcome: Outcome
    reason: str = ""


class NotContainedError(UserError):
    """The kernel no longer offers the containment that it had when the run started."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A program in Python and the *test* that calls its functions.

    The *prompt* is the trusted beginning of the program. Its helpers belong to the test as well.
    """

    program: str
    test: str = ""
    prompt: str = ""


def split_prompt(prompt: str) -> tuple[str, str]:
    """The helpers in *prompt*, and the name of the function at its end, which the program has to write."""
    for text in (prompt, f"{prompt}\n    pass"):
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        match tree.body:
            case [*helpers, ast.FunctionDef(name=name) | ast.ClassDef(name=name)]:
                return ast.unparse(ast.Module(helpers, [])), name
    return "", ""


@cache
def missing_layers() -> tuple[str, ...]:
    """The layers of the containment that this machine lacks; empty if a program is contained in full."""
    job, limits = {"program": "", "probe": True, "whole": True}, Limits(seconds=PROBE_SECONDS)
    with TemporaryDirectory(prefix="fimlsp-program-") as name, TemporaryFile() as output:
        _run_process(Path(name), job, "", limits, output)
        output.seek(0)
        lines = output.read().decode(errors="replace").splitlines()
    try:
        return tuple(map(str, json.loads(lines[-1])))
    except (IndexError, ValueError, TypeError):
        return (f"a start of contained programs ({lines[-1] if lines else 'no answer'})",)


def run_python(trial: Trial, limits: Limits, *, whole: bool = True) -> ProgramResult:
    """Run *trial* contained; it passes if its test comes to its end, whatever the program writes or returns.

    Costs about 40 ms.

    Raises:
        NotContainedError: *whole* containment is demanded, and the kernel does not offer it.
    """
    helpers, entry = split_prompt(trial.prompt)
    job = {"program": trial.program, "helpers": helpers, "entry": entry, "whole": whole}
    with TemporaryDirectory(prefix="fimlsp-program-", ignore_cleanup_errors=True) as folder:
        return _run(job, trial.test, Path(folder), limits)


def run_executable(
    executable: Path, arguments: Sequence[str], limits: Limits, *, whole: bool = True
) -> ProgramResult:
    """Run the file *executable* contained; it passes with exit status 0. Raises like `run_python`."""
    job = {"executable": str(executable), "arguments": arguments, "whole": whole}
    return _run(job, "", executable.parent, limits)


def _run(job: Mapping[str, Any], test: str, folder: Path, limits: Limits) -> ProgramResult:
    with TemporaryFile() as errors:
        status = _run_process(folder, job, test, limits, errors)
        error = _last_line(errors.fileno())
    if status == NOT_CONTAINED:
        raise NotContainedError(
            "Cannot contain a program: the kernel refuses a layer that it had before. Run it again."
        )
    if status in (None, ENDED_BY_LIMIT, -signal.SIGKILL, -signal.SIGXCPU):
        return ProgramResult("timed out", f"more than {limits.seconds} seconds")
    if status == 0:
        return ProgramResult("passed")
    return ProgramResult("failed", error or f"exit status {status} before the end of the test")


def _run_process(
    folder: Path, job: Mapping[str, Any], test: str, limits: Limits, errors: IO[bytes]
) -> int | None:
    """The exit status of the judge of a program; None if it took too long."""
    mount_point = folder / "view"
    mount_point.mkdir()
    described = {**job, "mount_point": str(mount_point), "limits": asdict(limits)}
    data = json.dumps(described).encode()
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", START, PACKAGES],
        cwd=folder,
        env={},
        stdin=subprocess.PIPE,
        stdout=errors if "probe" in job else subprocess.DEVNULL,
        stderr=errors,
        start_new_session=True,
    )
    try:
        process.communicate(b"%08d%s%s" % (len(data), data, test.encode()), timeout=2 * limits.seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    return process.returncode


def _last_line(descriptor: int) -> str:
    size = os.fstat(descriptor).st_size
    os.lseek(descriptor, max(0, size - LAST_BYTES), os.SEEK_SET)
    lines = os.read(descriptor, LAST_BYTES).decode(errors="replace").strip().splitlines()
    return lines[-1][:REASON_CHARACTERS] if lines else ""


def run_go(program: str, limits: Limits, *, whole: bool = True) -> ProgramResult:
    """Build *program* and run it contained; one with `func Test` is built as a test.

    The build downloads nothing: a module such as testify must be in the user's GOPATH.

    Raises:
        MissingParserError: there is no Go toolchain.
    """
    toolchain = go_toolchain()
    is_test = "func Test" in program
    with TemporaryDirectory(prefix="fimlsp-program-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        source = folder / ("main_test.go" if is_test else "main.go")
        source.write_text(program, encoding="utf-8")
        command = [toolchain, *(["test", "-c"] if is_test else ["build"]), "-o", "program", source.name]
        built = subprocess.run(
            command,
            cwd=folder,
            env=build_environment(),
            capture_output=True,
            timeout=BUILD_SECONDS,
            check=False,
        )
        if built.returncode:
            lines = (built.stderr or built.stdout).decode(errors="replace").strip().splitlines()
            return ProgramResult(
                "failed", f"does not build: {lines[-1][:200] if lines else built.returncode}"
            )
        arguments = ["-test.paniconexit0"] if is_test else []
        wide = replace(limits, memory=max(limits.memory, GO_MEMORY))
        return run_executable(folder / "program", arguments, wide, whole=whole)


def judge_json(text: str, schema: str) -> ProgramResult:
    """Passes if *text*, which is JSON, is an instance of *schema*. Formats are checked as well."""
    validator = Draft202012Validator(json.loads(schema), format_checker=Draft202012Validator.FORMAT_CHECKER)
    fault = next(validator.iter_errors(json.loads(text)), None)
    if fault is None:
        return ProgramResult("passed")
    return ProgramResult("failed", f"{fault.validator} of the schema: {fault.message}"[:REASON_CHARACTERS])


class Tester:
    """Runs programs within *limits*, and remembers their results: equal programs run once.

    Unless containment must be *whole*, they run with the layers that this machine has.
    """

    def __init__(self, limits: Limits, *, whole: bool = True) -> None:
        self._limits = limits
        self._whole = whole
        self._known: dict[Trial, ProgramResult] = {}

    def test(self, problem: Problem, fault: str, program: str) -> ProgramResult:
        """The result of *program*, without its test; programs with a syntax *fault* are not run."""
        if fault:
            return ProgramResult("failed", "does not parse")
        trial = Trial(program, problem.test, f"{problem.setup}{problem.prompt}")
        if trial not in self._known:
            self._known[trial] = self._run(trial, problem.language)
        return self._known[trial]

    def _run(self, trial: Trial, language: str) -> ProgramResult:
        if language == "go":
            return run_go(f"{trial.program}\n{trial.test}", self._limits, whole=self._whole)
        if language == "json":
            return judge_json(trial.program, trial.test)
        return run_python(trial, self._limits, whole=self._whole)
