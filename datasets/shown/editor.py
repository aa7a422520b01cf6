"""The smallest editor: it starts the language server as editors do, and sends one request at a time.

The server is a process of its own, so its answers here are those that editors get. A file is opened without
the text left of the cursor in its line; that text is typed, word by word. After each word the editor waits
until the server knows the names in scope, since people type more slowly than names are looked up.
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
"""The protocol's trigger kind of a request caused by typing."""

CODE_CELL = 2
"""The protocol's kind of a cell with code."""

WARNING = 2
"""The protocol's type of a warning in the log; lower ones are errors."""

NAMES_KNOWN = "fimlsp.server.names"
"""The server's command that is answered as soon as it knows the names in scope."""

CHOICES = "choices: "
"""The start of a message of the log with the texts from which the server chose."""

PATIENCE_S = 120.0
"""Seconds without an answer after which the server counts as stuck."""

_ESCAPED = re.compile(r"\\([\\$}])")
_TYPED = re.compile(r"\w+|\s+|[^\w\s]")


class EditorError(Exception):
    """The server cannot be used; the message is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The server's answer to a request.

    Attributes:
        texts: the texts to insert, best first.
        status: the last state in the server's status messages, such as `suggestion` or `none`.
        reason: the reason for that state, if the server gave one.
        names: the reason why the server did not know the names in scope; None if it did.
        ms: milliseconds from the request to the answer.
        closing: the end of the first text, before which the cursor would stay.
        is_header: True if the text is a header whose body the user writes next.
        choices: the texts from which the server chose, if its log level is `debug`; see
            `fimlsp.lsp_server.messages.Choice`.
    """

    texts: tuple[str, ...]
    status: str
    reason: str | None
    names: str | None
    ms: float
    closing: str = ""
    choices: tuple[Mapping[str, Any], ...] = ()
    is_header: bool = False


class Editor:
    """A server with its client, to be used as a context manager. *warn* receives the server's warnings.

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
        self._notebooks: dict[Path, OpenNotebook] = {}
        self._choices: tuple[Mapping[str, Any], ...] = ()
        try:
            self._initialize(folders, options)
        except BaseException:
            self._end()
            raise

    def _initialize(self, folders: Sequence[Path], options: Mapping[str, object]) -> None:
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
                "initializationOptions": {"learn": False, **options},
            },
        )
        self.notify("initialized", {})
        while self._status["state"] == "loading":
            self._read(PATIENCE_S)
        self._problem = self._status.get("reason")
        if self._status["state"] != "idle":
            raise EditorError(f"The server has no model: {self._problem}")

    def __enter__(self) -> Editor:
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        try:
            self._request("shutdown", None)
            self.notify("exit", None)
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
        """The short name of the server's model."""
        return str(self._status.get("model"))

    @property
    def problem(self) -> str | None:
        """The reason why the server has another model than its options name; None if it has that one."""
        return self._problem

    def suggestion(self, path: Path, left: str, right: str) -> Reply:
        """The answer to typing between *left* and *right*, which together are the text of the file at *path*.

        Raises:
            EditorError: the server has ended or is stuck.
        """
        opened = without_its_line(left)
        document = self.open(path, opened, right)
        document.wait_for_names()
        for before, typed in words(opened, left):
            document.change(before + typed, right)
            document.wait_for_names()
        reply = document.ask()
        document.close()
        return reply

    def open(self, path: Path, left: str, right: str) -> OpenText:
        """The document of the file at *path*, opened with the cursor between *left* and *right*."""
        document = {"uri": path.as_uri(), "languageId": "python", "version": 0, "text": left + right}
        self.notify("textDocument/didOpen", {"textDocument": document})
        return OpenText(self, path.as_uri(), left, right)

    def open_cell(self, notebook: Path, left: str, right: str) -> OpenText:
        """The document of a new last cell of *notebook*, with the cursor between *left* and *right*."""
        if notebook not in self._notebooks:
            self._notebooks[notebook] = OpenNotebook(self, notebook)
        return self._notebooks[notebook].add_cell(left, right)

    def ask(self, uri: str, left: str) -> Reply:
        """The answer to typing up to the end of *left* in the document *uri*."""
        started, self._choices = time.monotonic(), ()
        result = self._request(
            "textDocument/inlineCompletion",
            {
                "textDocument": {"uri": uri},
                "position": _position(left),
                "context": {"triggerKind": AUTOMATIC},
            },
        )
        ms = 1000 * (time.monotonic() - started)
        items = result.get("items", []) if isinstance(result, dict) else result or []
        insertions = [_insertion(item["insertText"]) for item in items]
        texts = tuple(text for text, _ in insertions)
        closing = insertions[0][1] if insertions else ""
        state, reason, names = (self._status.get(name) for name in ("state", "reason", "names"))
        return Reply(
            texts, str(state), reason, names, ms, closing, self._choices, self._status.get("header") is True
        )

    def wait_for_names(self) -> None:
        """Wait until the server knows the names in scope of the last edit."""
        self._request("workspace/executeCommand", {"command": NAMES_KNOWN})

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def _request(self, method: str, params: object) -> Any:  # noqa: ANN401 - any JSON value
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
        """The next message of the server; its requests and notifications are handled before the return."""
        guard = Timer(seconds, self._process.kill)
        guard.start()
        try:
            message = self._next_message()
        finally:
            guard.cancel()
        if "method" in message:
            self._handle(message)
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
            raise EditorError("The server has ended or did not answer in time. See its log.")
        return dict(json.loads(data))

    def _handle(self, message: Mapping[str, Any]) -> None:
        params = message.get("params") or {}
        if "id" in message:
            is_configuration = message["method"] == "workspace/configuration"
            result = [None for _ in params.get("items", [])] if is_configuration else None
            self._send({"id": message["id"], "result": result})
        elif message["method"] == "fimlsp/status":
            self._status = params
        elif message["method"] == "window/logMessage":
            self._read_log(str(params.get("message")), params.get("type", 9))

    def _read_log(self, message: str, kind: int) -> None:
        before, found, choices = message.partition(CHOICES)
        if found and kind > WARNING and not before.strip():
            self._choices = tuple(json.loads(choices))
        elif kind <= WARNING:
            self._warn(message)


class OpenText:
    """A document that the *editor* has open, with its cursor between two texts."""

    def __init__(self, editor: Editor, uri: str, left: str, right: str) -> None:
        self._editor = editor
        self._uri = uri
        self._left, self._right = left, right
        self._version = 0

    def change(self, left: str, right: str) -> None:
        """Make the text *left* and *right*, with the cursor between them, by one edit."""
        before, after = self._left + self._right, left + right
        if before != after:
            kept = common_end(self._right, right)
            start = common_start(before[: len(before) - kept], after[: len(after) - kept])
            end = len(before) - kept
            places = {"start": _position(before[:start]), "end": _position(before[:end])}
            change = {"range": places, "text": after[start : len(after) - kept]}
            self._version += 1
            self._send({"uri": self._uri, "version": self._version}, change)
        self._left, self._right = left, right

    def _send(self, document: Mapping[str, object], change: Mapping[str, object]) -> None:
        params = {"textDocument": document, "contentChanges": [change]}
        self._editor.notify("textDocument/didChange", params)

    def wait_for_names(self) -> None:
        """Wait until the server knows the names in scope."""
        self._editor.wait_for_names()

    def ask(self) -> Reply:
        """The answer to typing up to the cursor."""
        return self._editor.ask(self._uri, self._left)

    def close(self) -> None:
        """Close the document."""
        self._editor.notify("textDocument/didClose", {"textDocument": {"uri": self._uri}})


class OpenNotebook:
    """The notebook at *path*, which the *editor* has open; new cells come last."""

    def __init__(self, editor: Editor, path: Path) -> None:
        self._editor = editor
        self._uri = path.as_uri()
        self._version = self._cells = 0
        notebook = {"uri": self._uri, "notebookType": "jupyter-notebook", "version": 0, "cells": []}
        params = {"notebookDocument": notebook, "cellTextDocuments": []}
        editor.notify("notebookDocument/didOpen", params)

    def add_cell(self, left: str, right: str) -> OpenCell:
        """A new code cell with the cursor between *left* and *right*."""
        uri = f"vscode-notebook-cell{self._uri.removeprefix('file')}#{self._cells}"
        document = {"uri": uri, "languageId": "python", "version": 0, "text": left + right}
        array = {"start": self._cells, "deleteCount": 0, "cells": [{"kind": CODE_CELL, "document": uri}]}
        self._cells += 1
        self.change({"structure": {"array": array, "didOpen": [document], "didClose": []}})
        return OpenCell(self._editor, uri, left, right, self)

    def change(self, cells: Mapping[str, object]) -> None:
        """Send a change of the cells."""
        self._version += 1
        notebook = {"uri": self._uri, "version": self._version}
        params = {"notebookDocument": notebook, "change": {"cells": cells}}
        self._editor.notify("notebookDocument/didChange", params)


class OpenCell(OpenText):
    """A cell of *notebook*."""

    def __init__(self, editor: Editor, uri: str, left: str, right: str, notebook: OpenNotebook) -> None:
        super().__init__(editor, uri, left, right)
        self._notebook = notebook

    def _send(self, document: Mapping[str, object], change: Mapping[str, object]) -> None:
        self._notebook.change({"textContent": [{"document": document, "changes": [change]}]})


def common_start(first: str, second: str) -> int:
    """The length of the longest text with which both start."""
    least, most = 0, min(len(first), len(second))
    while least < most:
        middle = (least + most + 1) // 2
        if first[least:middle] == second[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def common_end(first: str, second: str) -> int:
    """The length of the longest text with which both end."""
    return common_start(first[::-1], second[::-1])


def _insertion(insert_text: object) -> tuple[str, str]:
    """The text that a plain text or snippet inserts, and the part of it after the cursor."""
    if not isinstance(insert_text, dict):
        return str(insert_text), ""
    before, _, closing = (_ESCAPED.sub(r"\1", part) for part in str(insert_text["value"]).rpartition("$0"))
    return before + closing, closing


def without_its_line(left: str) -> str:
    """*left* before its last line was written. If that line is blank, it is not opened either."""
    above, _, line = left.rpartition("\n")
    return left[: len(left) - len(line.lstrip())] if line.strip() else above


def words(opened: str, left: str) -> Iterator[tuple[str, str]]:
    """The words and signs that extend *opened* to *left*, each with the text before it."""
    for word in _TYPED.finditer(left, len(opened)):
        yield left[: word.start()], word[0]


def _position(left: str) -> dict[str, int]:
    """The position after *left*, in UTF-16."""
    line = left[left.rfind("\n") + 1 :]
    return {"line": left.count("\n"), "character": len(line.encode("utf-16-le")) // 2}
