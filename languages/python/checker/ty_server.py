"""The type checker ty: a process of it that returns the diagnostics of a text, and the faults among them.

ty is used as a language server. It gets a folder of copies (`modules.py`), an empty environment and nothing
of the user's settings, so it runs nothing and depends on nothing else. It is a beta; `pyproject.toml` pins
its version.

Not every diagnostic that a suggestion brings speaks against it: an import may be installed elsewhere, and a
call may get its other arguments later. `KINDS` are those that hold on real edits (docs/suggestions.md).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from fimlsp.languages.python.checker.modules import Change
from fimlsp.processes.helper import command_of

MOST_S = 3.0
"""Processor seconds after which a question ends the process; seconds where the system reports no others."""

WATCH_S = 0.25
"""Seconds between two looks at the processor time."""

LONGEST_MESSAGE = 20_000_000

_EVENTS = {"made": 1, "changed": 2, "removed": 3}
_PYTHONS = {"posix": ("lib", "python3.11", "site-packages"), "nt": ("Lib", "site-packages")}


class TyError(Exception):
    """ty has ended, or answers with an error."""


class Diagnostic(NamedTuple):
    """A diagnostic: its *code*, its *message*, and the lines and columns (in bytes) of its two ends."""

    code: str
    message: str
    start: tuple[int, int]
    end: tuple[int, int]


class TyServer:
    """ty for texts of one Python *version* in *folder*, an existing folder that it may fill.

    Its modules are in `modules`, an empty folder below it.

    Raises:
        OSError: no process starts.
        TyError: the program is not there, or ends at once.
    """

    def __init__(self, program: str, folder: Path, version: tuple[int, int]) -> None:
        self.modules = folder / "modules"
        self.modules.mkdir()
        self._ids = 0
        self._version = 0
        self._open: Path | None = None
        self._started: float | None = None
        self._process = subprocess.Popen(
            [*_confined_to(folder), program, "server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self.modules,
            env=_environment(folder),
        )
        self._used = _processor_seconds(self._process.pid)
        Thread(target=self._watch, name="ty", daemon=True).start()
        try:
            self._request("initialize", _initialization(self.modules, _without_packages(folder), version))
            self._notify("initialized", {})
        except BaseException:
            self.end()
            raise

    @property
    def size(self) -> int:
        """The memory of the process in bytes; 0 if the system does not report it."""
        with suppress(OSError, ValueError, IndexError):
            pages = Path(f"/proc/{self._process.pid}/statm").read_bytes().split()[1]
            return os.sysconf("SC_PAGE_SIZE") * int(pages)
        return 0

    def announce(self, changes: Iterable[Change]) -> None:
        """Report *changes* of files below `modules`."""
        events = [{"uri": change.path.as_uri(), "type": _EVENTS[change.kind]} for change in changes]
        if events:
            self._notify("workspace/didChangeWatchedFiles", {"changes": events})

    def diagnostics(self, path: Path, text: str) -> list[Diagnostic]:
        """The diagnostics of *text* as the content of the file at *path*, which exists.

        Raises:
            TyError: ty has ended, for example as it took too long.
        """
        self._version += 1
        uri = path.as_uri()
        if path != self._open:
            if self._open is not None:
                self._notify("textDocument/didClose", {"textDocument": {"uri": self._open.as_uri()}})
            self._open = path
            document = {"uri": uri, "languageId": "python", "version": self._version, "text": text}
            self._notify("textDocument/didOpen", {"textDocument": document})
        else:
            document = {"uri": uri, "version": self._version}
            self._notify(
                "textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]}
            )
        report = self._request("textDocument/diagnostic", {"textDocument": {"uri": uri}})
        return [_diagnostic(item) for item in report.get("items", []) if "code" in item]

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        with suppress(OSError, ValueError):
            self._process.communicate()

    def _watch(self) -> None:
        """End the process if an answer takes too long."""
        while self._process.poll() is None:
            time.sleep(WATCH_S)
            started = self._started
            if started is not None and self._used() - started > MOST_S:
                self._process.kill()

    def _notify(self, method: str, params: Mapping[str, object]) -> None:
        self._send({"method": method, "params": params})

    def _request(self, method: str, params: Mapping[str, object]) -> Any:  # noqa: ANN401 - any JSON value
        self._ids += 1
        self._started = self._used()
        try:
            self._send({"id": self._ids, "method": method, "params": params})
            while True:
                message = self._receive()
                if "method" in message and "id" in message:  # it requests something of the client
                    self._send({"id": message["id"], "result": None})
                elif message.get("id") == self._ids:
                    break
        finally:
            self._started = None
        if "error" in message:
            raise TyError(f"ty refuses {method}: {message['error']}")
        return message.get("result") or {}

    def _send(self, message: Mapping[str, object]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
            self._process.stdin.flush()
        except (OSError, ValueError) as error:
            raise TyError("ty has ended") from error

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        size = 0
        while (line := self._process.stdout.readline(1_000)) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
        if not 0 < size <= LONGEST_MESSAGE:
            raise TyError("ty has ended")
        message = json.loads(self._process.stdout.read(size) or b"null")
        if not isinstance(message, dict):
            raise TyError("ty has ended")
        return message


def _initialization(modules: Path, environment: Path, version: tuple[int, int]) -> dict[str, object]:
    python = {
        "python": str(environment),
        "python-version": "{}.{}".format(*version),
        "root": [str(modules)],
    }
    return {
        "processId": None,
        "rootUri": None,
        "workspaceFolders": [{"uri": modules.as_uri(), "name": "modules"}],
        "capabilities": {
            "general": {"positionEncodings": ["utf-8"]},
            "textDocument": {"diagnostic": {"dynamicRegistration": False}},
        },
        "initializationOptions": {
            "configuration": {"environment": python},
            "diagnosticMode": "openFilesOnly",
            "untrustedWorkspace": True,
        },
    }


def _without_packages(folder: Path) -> Path:
    """A new environment in *folder* without packages; else ty would search for one."""
    environment = folder / "environment"
    environment.joinpath(*_PYTHONS[os.name]).mkdir(parents=True)
    (environment / "pyvenv.cfg").write_text(f"home = {environment / 'bin'}\n", encoding="utf-8")
    return environment


def _confined_to(folder: Path) -> Sequence[str]:
    """The start of a command that may write in *folder* alone. It costs the start of an interpreter."""
    is_known = sys.platform == "linux"
    return [*command_of("fimlsp.processes.confinement", "run_confined"), str(folder)] if is_known else []


def _environment(folder: Path) -> dict[str, str]:
    """The variables of the process: none of the user's, so that ty finds no settings and no programs."""
    homes = "HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TEMP"
    needed = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}
    return {**needed, **dict.fromkeys(homes, str(folder)), "PATH": "", "TY_MAX_PARALLELISM": "1"}


def _diagnostic(item: Mapping[str, Any]) -> Diagnostic:
    start, end = ((item["range"][at]["line"], item["range"][at]["character"]) for at in ("start", "end"))
    return Diagnostic(str(item["code"]), str(item["message"]).partition("\n")[0], start, end)


def _processor_seconds(pid: int) -> Callable[[], float]:
    """A function that returns the processor seconds of a process; those of the clock if none are reported."""
    if not sys.platform.startswith("linux"):
        return time.monotonic
    state = Path(f"/proc/{pid}/stat")
    tick = os.sysconf("SC_CLK_TCK")

    def used() -> float:
        try:
            fields = state.read_bytes().rpartition(b")")[2].split()
        except OSError:  # it has ended
            return 0.0
        return (int(fields[11]) + int(fields[12])) / tick

    return used


KINDS = frozenset(
    {
        "invalid-explicit-return",
        "invalid-super-argument",
        "missing-attribute",
        "missing-module-member",
        "no-matching-overload",
        "not-callable",
        "not-iterable",
        "parameter-already-assigned",
        "too-many-positional-arguments",
        "unknown-argument",
        "unresolved-reference",
        "unsupported-operator",
    }
)
"""The kinds of diagnostics, by ty's codes, that hold a suggestion back."""

UNREAD = "invalid-syntax"
"""The kind of a text that ty cannot parse, so that its other diagnostics mean little."""

LONGEST_WORDS = 120

_LINE_END = re.compile(rb"\r\n|\r|\n")
_OBJECT = re.compile(r"\AObject of type ")


@dataclass(frozen=True, slots=True)
class TypeFault:
    """A fault of a text: the part of the text up to *end* has it, and *words* describe it in one line."""

    end: int
    words: str


def first_fault(
    left: bytes, text: bytes, right: bytes, found: Iterable[Diagnostic], before: Iterable[Diagnostic] = ()
) -> TypeFault | None:
    """The first fault of *text* between *left* and *right*; None if it has none.

    *found* are the diagnostics of the joined text, *before* those of the file without *text*. Only those in
    the bytes of *text* count that *before* lacks.
    """
    known = {(diagnostic.code, diagnostic.message) for diagnostic in before}
    starts = [0, *(end.end() for end in _LINE_END.finditer(left + text + right))]
    faults = list[TypeFault]()
    for diagnostic in found:
        if max(diagnostic.start[0], diagnostic.end[0]) >= len(starts):
            continue
        start, end = (
            starts[line] + column - len(left) for line, column in (diagnostic.start, diagnostic.end)
        )
        if start >= len(text) or end <= 0:
            continue
        if diagnostic.code == UNREAD:
            return None
        if diagnostic.code in KINDS and (diagnostic.code, diagnostic.message) not in known:
            faults.append(TypeFault(min(end, len(text)), in_words(diagnostic.message)))
    return min(faults, key=lambda fault: fault.end, default=None)


def in_words(message: str) -> str:
    """*message* of ty in one line for users."""
    words = _OBJECT.sub("", message.replace("\n", " ")).rstrip(".")
    return words if len(words) <= LONGEST_WORDS else words[: LONGEST_WORDS - 1] + "…"
