"""Runs untrusted programs, each in a process and a folder of its own, and says how they came out."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

Outcome = Literal["passed", "failed", "timed out"]
SCRIPT = Path(__file__).with_name("contained.py")
LAST_BYTES = 2_000
REASON_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Limits:
    """What one program may use.

    Attributes:
        seconds: of processor time; twice that by the clock.
        memory: bytes of address space.
        file_bytes: of each file that it writes.
        files: that are open at once.
    """

    seconds: int = 5
    memory: int = 1 << 30
    file_bytes: int = 1 << 20
    files: int = 32


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program came out; *reason* is the last line of what it complained about."""

    outcome: Outcome
    reason: str = ""


def run_python(program: str, limits: Limits) -> Ran:
    """Run *program* contained (see `contained.py`), in a new folder; it passes if it comes to its end.

    A program that ends before, even with exit status 0, fails. Costs about 40 ms.
    """
    with TemporaryDirectory(prefix="fimlsp-program-", ignore_cleanup_errors=True) as folder:
        return _run({"program": program}, Path(folder), limits)


def run_executable(executable: Path, limits: Limits) -> Ran:
    """Run the file *executable* contained, in its own folder; it passes with exit status 0."""
    return _run({"executable": str(executable)}, executable.parent, limits)


def _run(program: Mapping[str, str], folder: Path, limits: Limits) -> Ran:
    word = secrets.token_hex(8)
    given = json.dumps({**program, "word": word, "limits": asdict(limits)}).encode()
    reading, writing = os.pipe()
    try:
        try:
            ended = _ended(folder, given, limits, writing)
        finally:
            os.close(writing)
        told = os.read(reading, len(word)).decode(errors="replace")
    finally:
        os.close(reading)
    if ended is None or ended[0] in (-signal.SIGKILL, -signal.SIGXCPU):
        return Ran("timed out", f"more than {limits.seconds} seconds")
    status, complaint = ended
    if told == word or ("executable" in program and status == 0):
        return Ran("passed")
    return Ran("failed", complaint or f"it ended with status {status} before its test did")


def _ended(folder: Path, given: bytes, limits: Limits, descriptor: int) -> tuple[int, str] | None:
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
            process.communicate(given, timeout=2 * limits.seconds)
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
