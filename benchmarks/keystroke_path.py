"""Counts modules, functions and calls of one keystroke: `python benchmarks/keystroke_path.py`.

Server and worker run in this process with the bundled model, connected by their real messages. A key is typed
in examples/inventory.py, and a completion is requested. The count covers the functions of fimlsp in five
stages, each from the message that starts it to the message that it sends. As during typing, the file is
parsed, and a completion was made one key before. Idle work, other threads and other processes are not
counted.

`--show` lists the functions, `--set` changes an option. With `--bare`, texts are parsed but not compiled,
names and other files are not used, and every completion is shown.
"""

from __future__ import annotations

import asyncio
import io
import json
import pickle
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from types import CodeType, FrameType, SimpleNamespace

import click
from rich.console import Console
from rich.table import Table

from fimlsp.lsp_server.messages import Complete, Edit, Report, Request
from fimlsp.lsp_server.protocol.admission import Admission
from fimlsp.lsp_server.protocol.server import create_server
from fimlsp.lsp_server.worker.backend import Backend
from fimlsp.lsp_server.worker.names import NameLookup
from fimlsp.lsp_server.worker.worker import Inbox, Worker
from fimlsp.lsp_server.worker_pool import WorkerPool
from fimlsp.lsp_server.worker_process import WorkerProcess

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "examples" / "inventory.py"
URI = SAMPLE.as_uri()
LINE, START, KEY, NEXT = 52, "        for ", "i", "td"
"""The line of the sample that is typed again: its start, a key, and two candidates for the counted key.

The counted key is the one that does not continue the suggestion: type-through would need no request.
"""

EDIT = ("edit, server", "edit, worker")
ANSWER = ("request, server", "answer, worker", "reply, server")


class Counts:
    """Number of calls of each function of fimlsp, by stage."""

    def __init__(self) -> None:
        self.calls: dict[str, Counter[CodeType]] = {stage: Counter() for stage in (*EDIT, *ANSWER)}

    @contextmanager
    def of(self, stage: str) -> Iterator[None]:
        """Count the calls in the block; resuming a generator counts as a call."""
        calls = self.calls[stage]

        def count(frame: FrameType, event: str, _: object) -> None:
            if event == "call" and is_ours(frame.f_code):
                calls[frame.f_code] += 1

        sys.setprofile(count)
        try:
            yield
        finally:
            sys.setprofile(None)

    def figures(self, stage: str) -> tuple[int, int, int]:
        """Modules, functions and calls."""
        calls = self.calls[stage]
        return len({code.co_filename for code in calls}), len(calls), calls.total()


@cache
def source_of(code: CodeType) -> Path:
    """The file of *code*, without the links of `src/fimlsp/`; generated code has a name instead."""
    path = Path(code.co_filename)
    return path.resolve() if path.is_absolute() else path


def is_ours(code: CodeType) -> bool:
    """True if *code* belongs to fimlsp, and not to this script."""
    path = source_of(code)
    return path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] not in ("benchmarks", ".venv")


class LocalWorkerProcess(WorkerProcess):
    """Keeps the messages for the worker instead of starting a process."""

    def start(self) -> None:
        """Report a started process at once."""
        self.outbox: SimpleQueue[bytes] = SimpleQueue()
        self._began(SimpleNamespace(outbox=self.outbox))

    def receive(self, report: Report) -> None:
        """Pass a report of the worker on, as the reading thread does."""
        self._on_report(report)


class InboxEmptyError(Exception):
    """The worker has handled all messages."""


class FiniteInbox(Inbox):
    """Ends the worker's loop after the last message."""

    def next(self, seconds: float | None = None) -> Request | None:
        """The next message."""
        if self._waiting.empty():
            raise InboxEmptyError
        return super().next(seconds)


class Outlet(io.BytesIO):
    """Collects the messages of the worker."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []

    def write(self, message: bytes) -> int:
        """Keep *message*."""
        self.written.append(message)
        return len(message)

    def take(self) -> list[Report]:
        """The messages since the last call."""
        taken, self.written = self.written, []
        return [pickle.loads(message) for message in taken]


class Rig:
    """A server, its worker, and an editor."""

    def __init__(self, settings: dict[str, object], names: NameLookup | None) -> None:
        self._settings = settings
        self._processes: list[LocalWorkerProcess] = []
        self._server = create_server(WorkerPool((), self._make), Admission(), lambda _: None)
        self._written: list[bytes] = []
        self._server.protocol.set_writer(SimpleNamespace(write=self._written.append))
        self._inbox, self._outlet = FiniteInbox(), Outlet()
        self._backend = Backend(names)
        self._worker = Worker(self._backend, self._inbox, self._outlet)
        self._ids = self._version = 0

    def _make(self, *arguments: object) -> LocalWorkerProcess:
        self._processes.append(LocalWorkerProcess(*arguments))
        return self._processes[-1]

    async def start(self) -> None:
        """Initialize the server and open the sample."""
        params = {"processId": None, "rootUri": ROOT.as_uri(), "capabilities": {}}
        self._receive("initialize", {**params, "initializationOptions": self._settings}, is_request=True)
        await settle()
        lines = SAMPLE.read_text().split("\n")
        text = "\n".join([*lines[:LINE], START, *lines[LINE + 1 :]])
        item = {"uri": URI, "languageId": "python", "version": 0, "text": text}
        self._receive("textDocument/didOpen", {"textDocument": item})
        await self._exchange(Counts())

    async def press(self, character: int, key: str) -> tuple[Counts, list[str]]:
        """Type *key* at *character* of the line; returns the counts and the suggestions."""
        counts = Counts()
        self._written.clear()
        self._version += 1
        at, after = ({"line": LINE, "character": column} for column in (character, character + len(key)))
        change = {"range": {"start": at, "end": at}, "text": key}
        document = {"uri": URI, "version": self._version}
        with counts.of("edit, server"):
            self._receive("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
        await self._exchange(counts)
        params = {"textDocument": {"uri": URI}, "position": after, "context": {"triggerKind": 2}}
        with counts.of("request, server"):
            self._receive("textDocument/inlineCompletion", params, is_request=True)
            await settle()
        await self._exchange(counts)
        messages = [json.loads(frame.partition(b"\r\n\r\n")[2]) for frame in self._written]
        (items,) = (message["result"]["items"] for message in messages if message.get("id") == self._ids)
        return counts, [item["insertText"] for item in items]

    def _receive(self, method: str, params: object, *, is_request: bool = False) -> None:
        message: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
        if is_request:
            self._ids += 1
            message["id"] = self._ids
        self._server.protocol._receive(json.dumps(message).encode())

    async def _exchange(self, counts: Counts) -> None:
        """Let the worker handle its messages, the server the reports, and the worker its idle work."""
        (process,) = self._processes
        while not process.outbox.empty():
            request = pickle.loads(process.outbox.get())
            kind = type(request)
            uncounted = Counts()
            self._inbox.put(request)
            with (
                (counts if kind in (Edit, Complete) else uncounted).of(
                    "answer, worker" if kind is Complete else "edit, worker"
                ),
                suppress(InboxEmptyError),
            ):
                self._worker.run()
            reports = self._outlet.take()
            with (counts if kind is Complete else uncounted).of("reply, server"):
                for report in reports:
                    process.receive(report)
                await settle()
        while self._backend.prepare():
            pass


async def settle() -> None:
    """Let the event loop run all ready callbacks."""
    for _ in range(10):
        await asyncio.sleep(0)


async def measure(settings: dict[str, object], names: NameLookup | None) -> tuple[Counts, list[str]]:
    """The counts of the last key, and the suggestions after it."""
    rig = Rig(settings, names)
    await rig.start()
    _, shown = await rig.press(len(START), KEY)
    last = next(key for key in NEXT if not any(text.startswith(key) for text in shown))
    return await rig.press(len(START) + len(KEY), last)


@click.command()
@click.option(
    "--set", "options", multiple=True, metavar="OPTION=JSON", help="An option, such as check=parse."
)
@click.option("--bare", is_flag=True, help="Without names, other files, compilation and confidence.")
@click.option("--show", is_flag=True, help="Also list the functions of each stage.")
def main(options: Sequence[str], bare: bool, show: bool) -> None:
    """Count modules, functions and calls between a key and its suggestion."""
    settings = {name: as_json(value) for name, _, value in (option.partition("=") for option in options)}
    plain: dict[str, object] = {"check": "parse", "confidence": 0, "neighbourTokens": 0} if bare else {}
    names = None if bare else NameLookup()
    counts, texts = asyncio.run(measure({"deadlineMs": 60_000, **plain, **settings}, names))
    table = Table(title=f"The path of a keystroke; shown: {texts[0] if texts else 'nothing'!r}")
    for column in ("stage", "modules", "functions", "calls"):
        table.add_column(column, justify="left" if column == "stage" else "right")
    for stage in counts.calls:
        table.add_row(stage, *map(str, counts.figures(stage)))
    console = Console()
    console.print(table)
    if show:
        for stage, calls in counts.calls.items():
            console.rule(stage)
            for code, n in sorted(calls.items(), key=lambda entry: (entry[0].co_filename, -entry[1])):
                path = source_of(code).relative_to(ROOT)
                console.print(f"{n:7}  {path.as_posix()} {name_of(code)}", highlight=False, soft_wrap=True)


def name_of(code: CodeType) -> str:
    """The name of a function with that of its class, except on Python 3.10."""
    return str(getattr(code, "co_qualname", code.co_name))


def as_json(value: str) -> object:
    """*value* parsed as JSON, or else as a string."""
    try:
        return json.loads(value)
    except ValueError:
        return value


if __name__ == "__main__":
    main()
