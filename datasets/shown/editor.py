"""The smallest editor: it starts the language server as editors do and asks it one thing at a time.

The server is a process of its own, so what it answers here is what it answers anywhere. A file is opened
without what stands left of the cursor in its line; that is typed, word by word. Each word waits until the
server knows which names there are: people type more slowly than they are looked up.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from types import TracebackType
from typing import Any

SERVER = (sys.executable, "-m", "fimlsp", "--stdio")
AUTOMATIC = 2
"""The protocol's trigger kind of a request that typing makes."""

WARNING = 2
"""The protocol's type of a log message that warns; lower ones are errors."""

NAMES_KNOWN = "fimlsp.server.names"
"""The server's command that is answered when it knows the names that there are."""

PATIENCE_S = 120.0
"""After so long without an answer the server counts as stuck."""

_ESCAPED = re.compile(r"\\([\\$}])")
_TYPED = re.compile(r"\w+|\s+|[^\w\s]")


class EditorError(Exception):
    """The server cannot be used; the message is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came to a request.

    Attributes:
        texts: what may be inserted, best first.
        status: the state that the server told last, such as `suggestion` or `none`.
        reason: what it told with it, if anything.
        names: why the server did not know which names there are; None if it did.
        ms: milliseconds from the request to the answer.
        closing: what the first text ends with, in front of which the cursor would stay.
    """

    texts: tuple[str, ...]
    status: str
    reason: str | None
    names: str | None
    ms: float
    closing: str = ""


class Editor:
    """A server with its client; to be used as a context. *warn* hears what the server warns of.

    Raises:
        EditorError: the server does not start, or has no model.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        options: Mapping[str, object],
        warn: Callable[[str], None],
        command: Sequence[str] = SERVER,
    ) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._warn = warn
        self._ids = 0
        self._status: dict[str, Any] = {"state": "loading"}
        try:
            self._greet(folders, options)
        except BaseException:
            self._end()
            raise

    def _greet(self, folders: Sequence[Path], options: Mapping[str, object]) -> None:
        workspace = [{"uri": folder.resolve().as_uri(), "name": folder.name} for folder in folders]
        self._request(
            "initialize",
            {
                "processId": None,
                "rootUri": None,
                "workspaceFolders": workspace,
                "capabilities": {
                    "workspace": {"workspaceFolders": True},
                    "experimental": {"inlineCompletionSnippets": True},
                },
                "initializationOptions": options,
            },
        )
        self._notify("initialized", {})
        while self._status["state"] == "loading":
            self._read(PATIENCE_S)
        if self._status["state"] != "idle":
            raise EditorError(f"The server has no model: {self._status.get('reason')}")

    def __enter__(self) -> Editor:
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        try:
            self._request("shutdown", None)
            self._notify("exit", None)
            self._process.wait(PATIENCE_S)
        except (EditorError, subprocess.TimeoutExpired):
            pass
        finally:
            self._end()

    def _end(self) -> None:
        self._process.kill()
        with suppress(OSError):
            self._process.communicate()

    @property
    def model(self) -> str:
        """The short name of the model that answers."""
        return str(self._status.get("model"))

    def suggestion(self, path: Path, left: str, right: str) -> Reply:
        """What is shown while typing between *left* and *right*, which are the text of the file at *path*.

        Raises:
            EditorError: the server has died or is stuck.
        """
        uri = path.as_uri()
        opened = without_its_line(left)
        document = {"uri": uri, "languageId": "python", "version": 0, "text": opened + right}
        self._notify("textDocument/didOpen", {"textDocument": document})
        self._wait_for_names()
        for version, (before, typed) in enumerate(words(opened, left), 1):
            place = _position(before)
            change = {"range": {"start": place, "end": place}, "text": typed}
            document = {"uri": uri, "version": version}
            self._notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
            self._wait_for_names()
        reply = self._ask(uri, left)
        self._notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        return reply

    def _ask(self, uri: str, left: str) -> Reply:
        begun = time.monotonic()
        result = self._request(
            "textDocument/inlineCompletion",
            {
                "textDocument": {"uri": uri},
                "position": _position(left),
                "context": {"triggerKind": AUTOMATIC},
            },
        )
        ms = 1000 * (time.monotonic() - begun)
        items = result.get("items", []) if isinstance(result, dict) else result or []
        inserted = [_inserted(item["insertText"]) for item in items]
        texts = tuple(text for text, _ in inserted)
        closing = inserted[0][1] if inserted else ""
        state, reason, names = (self._status.get(name) for name in ("state", "reason", "names"))
        return Reply(texts, str(state), reason, names, ms, closing)

    def _wait_for_names(self) -> None:
        self._request("workspace/executeCommand", {"command": NAMES_KNOWN})

    def _notify(self, method: str, params: object) -> None:
        self._send({"method": method, "params": params})

    def _request(self, method: str, params: object) -> Any:  # noqa: ANN401 - whatever JSON holds
        self._ids += 1
        self._send({"id": self._ids, "method": method, "params": params})
        while True:
            message = self._read(PATIENCE_S)
            if "method" not in message and message.get("id") == self._ids:
                break
        if "error" in message:
            raise EditorError(f"The server refuses {method}: {message['error'].get('message')}")
        return message.get("result")

    def _send(self, message: Mapping[str, object]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        stream = self._process.stdin
        assert stream is not None
        try:
            stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
            stream.flush()
        except OSError as error:
            raise EditorError(f"The server has ended ({error}).") from error

    def _read(self, seconds: float) -> dict[str, Any]:
        """The next message of the server, after what it asks or tells has been attended to."""
        guard = Timer(seconds, self._process.kill)
        guard.start()
        try:
            message = self._next_message()
        finally:
            guard.cancel()
        if "method" in message:
            self._attend(message)
        return message

    def _next_message(self) -> dict[str, Any]:
        stream = self._process.stdout
        assert stream is not None
        length = 0
        while line := stream.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        data = stream.read(length)
        if not length or len(data) < length:
            raise EditorError("The server has ended or did not answer for too long; its log says why.")
        return dict(json.loads(data))

    def _attend(self, message: Mapping[str, Any]) -> None:
        params = message.get("params") or {}
        if "id" in message:
            is_asked = message["method"] == "workspace/configuration"
            result = [None for _ in params.get("items", [])] if is_asked else None
            self._send({"id": message["id"], "result": result})
        elif message["method"] == "fimlsp/status":
            self._status = params
        elif message["method"] == "window/logMessage" and params.get("type", 9) <= WARNING:
            self._warn(str(params.get("message")))


def _inserted(told: object) -> tuple[str, str]:
    """What the text or snippet *told* inserts, and what of that is behind the cursor then."""
    if not isinstance(told, dict):
        return str(told), ""
    before, _, closing = (_ESCAPED.sub(r"\1", part) for part in str(told["value"]).rpartition("$0"))
    return before + closing, closing


def without_its_line(left: str) -> str:
    """*left* as it was before the line that it ends with was written; an empty line was not begun yet."""
    above, _, line = left.rpartition("\n")
    return left[: len(left) - len(line.lstrip())] if line.strip() else above


def words(opened: str, left: str) -> Iterator[tuple[str, str]]:
    """The words and signs that make *left* of *opened*, each with what stands before it."""
    for word in _TYPED.finditer(left, len(opened)):
        yield left[: word.start()], word[0]


def _position(left: str) -> dict[str, int]:
    """The place behind *left*, in UTF-16."""
    line = left[left.rfind("\n") + 1 :]
    return {"line": left.count("\n"), "character": len(line.encode("utf-16-le")) // 2}
