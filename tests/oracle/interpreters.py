"""The interpreters of this machine, and CPython's verdicts in each."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fimlsp.languages.python.versions import Check

from . import cpython
from .cpython import LIMIT, Verdict

_AT_ONCE = 64  # so many answers fit into a pipe
Judge = Callable[[Sequence[bytes]], list[Verdict]]


class NoInterpreterError(LookupError):
    """A version of Python that is not installed."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """An interpreter with its version."""

    version: tuple[int, int]
    path: str

    @property
    def runs_this(self) -> bool:
        """True if it has the version of this process."""
        return self.version == sys.version_info[:2]

    def output(self, *arguments: str) -> str:
        """Its output when it is run with *arguments*."""
        return subprocess.run([self.path, *arguments], check=True, capture_output=True, text=True).stdout

    def judge(self, check: Check = "parse") -> Judge:
        """A reference parser: this process if it has the same version, else a process of its own.

        A compiler may crash its process, so it always has its own.
        """
        return cpython.verdicts if self.runs_this and check == "parse" else _Elsewhere(self.path, check)


def interpreter(version: str) -> Interpreter:
    """The interpreter of *version*, such as "3.11".

    Raises:
        NoInterpreterError: there is none on the path or among pyenv's.
    """
    numbers = tuple(map(int, version.split(".")))
    if numbers == sys.version_info[:2]:
        return Interpreter(sys.version_info[:2], sys.executable)
    for path in _candidates(version):
        probe = [path, "-c", "import sys; print(*sys.version_info[:2])"]
        reply = subprocess.run(probe, capture_output=True, text=True, check=False)
        if reply.stdout.split() == version.split("."):
            return Interpreter((numbers[0], numbers[1]), path)
    raise NoInterpreterError(f"Cannot find Python {version}. Install it, for instance with pyenv.")


def _candidates(version: str) -> list[str]:
    """The real interpreters of pyenv first: its shims cost time at each start."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    installed = sorted(root.glob(f"versions/{version}.*/bin/python"))
    on_path = shutil.which(f"python{version}")
    return [*map(str, installed), *([on_path] if on_path else [])]


class _Elsewhere:
    """A judge in another process, which is started again should the parser bring it down."""

    def __init__(self, path: str, check: Check) -> None:
        self._path = path
        self._check = check
        self._process: subprocess.Popen[bytes] | None = None

    def __call__(self, texts: Sequence[bytes]) -> list[Verdict]:
        verdicts: list[Verdict] = []
        while len(verdicts) < len(texts):
            verdicts += self._answers(texts[len(verdicts) :][:_AT_ONCE])
        return verdicts

    def _answers(self, texts: Sequence[bytes]) -> list[Verdict]:
        """The verdicts about the first of *texts*, up to the first that brings the process down."""
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        verdicts: list[Verdict] = []
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(b"".join(len(text).to_bytes(4, "big") + text for text in texts))
            process.stdin.flush()
        while len(verdicts) < len(texts):
            line = process.stdout.readline()
            if not line:
                process.wait()
                self._process = None
                return [*verdicts, Verdict(LIMIT, f"ended with status {process.returncode}")]
            verdicts.append(Verdict(*json.loads(line)))
        return verdicts

    def _start(self) -> subprocess.Popen[bytes]:
        self._process = subprocess.Popen(
            [self._path, cpython.__file__, self._check],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # an interrupt is for the command alone; the end of input ends this
        )
        return self._process
