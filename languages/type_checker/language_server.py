"""A type checker as a language server: a process of it that returns the diagnostics of a text.

It gets a folder of copies (`modules.py` of its language) and an empty environment. It gets nothing of the
user's settings. So it runs nothing and depends on nothing else.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from fimlsp.processes.helper import command_of

WATCH_S = 0.25
"""Seconds between two looks at the processor time."""

LONGEST_MESSAGE = 20_000_000

_EVENTS = {"made": 1, "changed": 2, "removed": 3}


class TypeServerError(Exception):
    """The type checker has ended, or answers with an error."""


class Change(NamedTuple):
    """A file of the folder that was `made`, `changed` or `removed`."""

    path: Path
    kind: str


class Bounds(NamedTuple):
    """The limits of a checker.

    A question ends it after so many processor *seconds*, or *seconds* where the system reports no others. It
    is started anew above *size* bytes of memory.
    """

    seconds: float
    size: int


class Diagnostic(NamedTuple):
    """A diagnostic: its *code*, its *message*, and the lines and columns (in bytes) of its two ends."""

    code: str
    message: str
    start: tuple[int, int]
    end: tuple[int, int]


class TypeServer:
    """The type checker *command*, which may write in *folder* alone.

    The texts are those of the folder `modules` below it, which is empty at first. *options* are those of
    its initialization, and *variables* are added to its environment.

    Raises:
        OSError: no process starts.
        TypeServerError: the program is not there, or ends at once.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        options: Mapping[str, object],
        variables: Mapping[str, str],
        bounds: Bounds,
    ) -> None:
        self.bounds = bounds
        self.modules = folder / "modules"
        self.modules.mkdir()
        self._ids = 0
        self._version = 0
        self._open: Path | None = None
        self._started: float | None = None
        self._process = subprocess.Popen(
            [*_confined_to(folder), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self.modules,
            env={**_environment(folder), **variables},
        )
        self._used = _processor_seconds(self._process.pid)
        Thread(target=self._watch, name="type checker", daemon=True).start()
        try:
            self._request("initialize", _initialization(self.modules, options))
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

    def diagnostics(self, path: Path, text: str, language: str) -> list[Diagnostic]:
        """The diagnostics of *text* as the content of the file at *path*, which exists.

        *language* is the editor's identifier of its language.

        Raises:
            TypeServerError: The type checker has ended, for example as it took too long.
        """
        self._version += 1
        uri = path.as_uri()
        if path != self._open:
            if self._open is not None:
                self._notify("textDocument/didClose", {"textDocument": {"uri": self._open.as_uri()}})
            self._open = path
            document = {"uri": uri, "languageId": language, "version": self._version, "text": text}
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
            if started is not None and self._used() - started > self.bounds.seconds:
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
            raise TypeServerError(f"the type checker refuses {method}: {message['error']}")
        return message.get("result") or {}

    def _send(self, message: Mapping[str, object]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
            self._process.stdin.flush()
        except (OSError, ValueError) as error:
            raise TypeServerError("the type checker has ended") from error

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        size = 0
        while (line := self._process.stdout.readline(1_000)) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
        if not 0 < size <= LONGEST_MESSAGE:
            raise TypeServerError("the type checker has ended")
        message = json.loads(self._process.stdout.read(size) or b"null")
        if not isinstance(message, dict):
            raise TypeServerError("the type checker has ended")
        return message


def _initialization(modules: Path, options: Mapping[str, object]) -> dict[str, object]:
    return {
        "processId": None,
        "rootUri": None,
        "workspaceFolders": [{"uri": modules.as_uri(), "name": "modules"}],
        "capabilities": {
            "general": {"positionEncodings": ["utf-8"]},
            "textDocument": {"diagnostic": {"dynamicRegistration": False}},
        },
        "initializationOptions": options,
    }


def _confined_to(folder: Path) -> Sequence[str]:
    """The start of a command that may write in *folder* alone. It costs the start of an interpreter."""
    is_known = sys.platform == "linux"
    return [*command_of("fimlsp.processes.confinement", "run_confined"), str(folder)] if is_known else []


def _environment(folder: Path) -> dict[str, str]:
    """The variables of the process: none of the user's, so that it finds no settings and no programs."""
    homes = "HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TEMP"
    needed = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}
    return {**needed, **dict.fromkeys(homes, str(folder)), "PATH": ""}


def _diagnostic(item: Mapping[str, Any]) -> Diagnostic:
    start, end = ((item["range"][at]["line"], item["range"][at]["character"]) for at in ("start", "end"))
    return Diagnostic(str(item["code"]), str(item["message"]), start, end)


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
