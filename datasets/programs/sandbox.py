"""Runs untrusted programs with their tests, each in a process and a folder of its own."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from fimlsp.datasets.languages.go import build_environment, go_toolchain
from fimlsp.datasets.programs.problems import Problem

Outcome = Literal["passed", "failed", "timed out"]
SCRIPT = Path(__file__).with_name("contained.py")
LAST_BYTES = 2_000
REASON_CHARACTERS = 200
BUILD_SECONDS = 120
GO_MEMORY = 8 << 30
"""Go reserves far more addresses than it uses."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The resources of one program.

    Attributes:
        seconds: seconds of processor time; twice as many on the clock.
        memory: bytes of address space.
        file_bytes: bytes of each file that it writes.
        files: the number of open files.
    """

    seconds: int = 5
    memory: int = 1 << 30
    file_bytes: int = 1 << 20
    files: int = 32


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The outcome of a program; the *reason* is the last line of its errors."""

    outcome: Outcome
    reason: str = ""


def run_python(program: str, limits: Limits) -> ProgramResult:
    """Run *program* contained (see `contained.py`), in a new folder; it passes if it reaches its end.

    A program that exits earlier, even with exit status 0, fails. Costs about 40 ms.
    """
    with TemporaryDirectory(prefix="fimlsp-program-", ignore_cleanup_errors=True) as folder:
        return _run({"program": program}, Path(folder), limits)


def run_executable(executable: Path, limits: Limits) -> ProgramResult:
    """Run the file *executable* contained, in its own folder; it passes with exit status 0."""
    return _run({"executable": str(executable)}, executable.parent, limits)


def _run(program: Mapping[str, str], folder: Path, limits: Limits) -> ProgramResult:
    word = secrets.token_hex(8)
    job = json.dumps({**program, "word": word, "limits": asdict(limits)}).encode()
    reading, writing = os.pipe()
    try:
        try:
            end = _run_process(folder, job, limits, writing)
        finally:
            os.close(writing)
        reported = os.read(reading, len(word)).decode(errors="replace")
    finally:
        os.close(reading)
    if end is None or end[0] in (-signal.SIGKILL, -signal.SIGXCPU):
        return ProgramResult("timed out", f"more than {limits.seconds} seconds")
    status, error = end
    if reported == word or ("executable" in program and status == 0):
        return ProgramResult("passed")
    return ProgramResult("failed", error or f"exit status {status} before the end of the test")


def _run_process(folder: Path, job: bytes, limits: Limits, descriptor: int) -> tuple[int, str] | None:
    """The exit status of a program, and the last line of its errors; None if it took too long."""
    with (folder / "errors").open("w+b") as errors:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", str(SCRIPT), str(descriptor)],
            cwd=folder,
            env={"HOME": str(folder), "TMPDIR": str(folder), "PYTHONHASHSEED": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            pass_fds=(descriptor,),
            start_new_session=True,
        )
        try:
            process.communicate(job, timeout=2 * limits.seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        return process.returncode, _last_line(errors.fileno())


def _last_line(descriptor: int) -> str:
    size = os.fstat(descriptor).st_size
    os.lseek(descriptor, max(0, size - LAST_BYTES), os.SEEK_SET)
    lines = os.read(descriptor, LAST_BYTES).decode(errors="replace").strip().splitlines()
    return lines[-1][:REASON_CHARACTERS] if lines else ""


def run_go(program: str, limits: Limits) -> ProgramResult:
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
        return run_executable(folder / "program", replace(limits, memory=max(limits.memory, GO_MEMORY)))


class Tester:
    """Runs programs within *limits*, and remembers their results: equal programs run once."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._known: dict[str, ProgramResult] = {}

    def test(self, problem: Problem, fault: str, program: str) -> ProgramResult:
        """The result of *program*, an answer with its test; answers with a syntax *fault* are not run."""
        if fault:
            return ProgramResult("failed", "does not parse")
        if program not in self._known:
            run = run_go if problem.language == "go" else run_python
            self._known[program] = run(program, self._limits)
        return self._known[program]
