"""The interpreters of this machine, and CPython's verdicts in each."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fimlsp.datasets.languages.typescript import node_packages
from fimlsp.languages.python.versions import Check

from . import cpython
from .cpython import LIMIT, Verdict

_AT_ONCE = 64  # so many answers fit into a pipe
Judge = Callable[[Sequence[bytes]], list[Verdict]]


class NoInterpreterError(LookupError):
    """A version of Python that is not installed."""


PYODIDE = Path(__file__).with_name("pyodide.mjs")
_PYODIDE_ROOT = "/host"


@dataclass(frozen=True, slots=True)
class Interpreter:
    """An interpreter of this machine, or CPython compiled to WebAssembly in Node.js (Pyodide).

    Attributes:
        version: its version.
        command: the command that runs it.
        root: the path under which it sees the files of this machine.
    """

    version: tuple[int, int]
    command: tuple[str, ...]
    root: str = ""

    @property
    def runs_this(self) -> bool:
        """True if it has the version of this process."""
        return self.version == sys.version_info[:2]

    @property
    def sources(self) -> Interpreter:
        """The interpreter whose library and tests are read: Pyodide has neither in files."""
        return Interpreter(sys.version_info[:2], (sys.executable,)) if self.root else self

    @property
    def name(self) -> str:
        """Its exact version."""
        exact = self.evaluated("import platform; print(platform.python_version())").strip()
        return f"CPython {exact}, Pyodide" if self.root else f"CPython {exact}"

    def evaluated(self, code: str) -> str:
        """The output of *code*."""
        return self._output("-c", code)

    def run(self, program: Path, *arguments: str | Path) -> str:
        """The output of *program* with *arguments*."""
        return self._output(*self.as_it_sees(program, *arguments))

    def as_it_sees(self, *arguments: str | Path) -> list[str]:
        """*arguments*, with paths as this interpreter sees them."""
        return [f"{self.root}{each.resolve()}" if isinstance(each, Path) else each for each in arguments]

    def _output(self, *arguments: str) -> str:
        command = [*self.command, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def judge(self, check: Check = "parse") -> Judge:
        """A reference parser: this process if it has the same version, else a process of its own.

        A compiler may crash its process, so it always has its own.
        """
        return cpython.verdicts if self.runs_this and check == "parse" else _Elsewhere(self, check)


def interpreter(version: str) -> Interpreter:
    """The interpreter of *version*, such as "3.11".

    Raises:
        NoInterpreterError: there is none on the path, among pyenv's, or in a package for Node.js.
    """
    numbers = tuple(map(int, version.split(".")))
    if numbers == sys.version_info[:2]:
        return Interpreter(sys.version_info[:2], (sys.executable,))
    for candidate in _candidates(version, (numbers[0], numbers[1])):
        probe = [*candidate.command, "-c", "import sys; print(*sys.version_info[:2])"]
        reply = subprocess.run(probe, capture_output=True, text=True, check=False)
        if reply.stdout.split() == version.split("."):
            return candidate
    raise NoInterpreterError(
        f"Cannot find Python {version}. Install it, for instance with pyenv or as a package for Node.js "
        "(tests/README.md)."
    )


def _candidates(version: str, numbers: tuple[int, int]) -> Iterator[Interpreter]:
    """The real interpreters of pyenv first: its shims cost time at each start. Pyodide last: it is slow."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    installed = sorted(root.glob(f"versions/{version}.*/bin/python"))
    on_path = shutil.which(f"python{version}")
    for path in [*map(str, installed), *([on_path] if on_path else [])]:
        yield Interpreter(numbers, (path,))
    package, node = node_packages() / f"pyodide-{version}", shutil.which("node")
    if node is not None and package.is_dir():
        yield Interpreter(numbers, (node, str(PYODIDE), str(package)), _PYODIDE_ROOT)


class _Elsewhere:
    """A judge in another process, which is started again should the parser bring it down."""

    def __init__(self, python: Interpreter, check: Check) -> None:
        self._python = python
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
            [*self._python.command, *self._python.as_it_sees(Path(cpython.__file__), self._check)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # an interrupt is for the command alone; the end of input ends this
        )
        return self._process
