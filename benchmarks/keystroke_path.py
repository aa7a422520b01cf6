"""The path of a keystroke, counted: `python benchmarks/keystroke_path.py`.

Server and worker run in this process, joined by their real messages, with the bundled model. A key is pressed
in examples/inventory.py, and a completion asked for. For each of five stages, from the message that begins it
to the one that it sends, it is counted which modules and functions of fimlsp run, and how often they are
called. As while typing, the file is known, and a completion was made one key before. What waits for a pause
is left out, and so are other threads and processes. `--show` names the functions, `--set` changes an option;
with `--bare` nothing is compiled, no names or other files are looked up, and all is shown that is written.
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
from fimlsp.lsp_server.protocol.door import Door
from fimlsp.lsp_server.protocol.server import create_server
from fimlsp.lsp_server.worker.backend import Backend
from fimlsp.lsp_server.worker.names import Names
from fimlsp.lsp_server.worker.worker import Inbox, Worker
from fimlsp.lsp_server.worker_client.worker_pool import WorkerPool
from fimlsp.lsp_server.worker_client.worker_process import WorkerProcess

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "examples" / "inventory.py"
URI = SAMPLE.as_uri()
LINE, BEGUN, KEY, NEXT = 52, "        for ", "i", "td"
"""The line of the sample that is typed again: what stands there, a key, and two of which one counts.

It is the one that does not go on with what is shown by then, which would be typed through, and nothing asked.
"""

EDIT = ("edit, server", "edit, worker")
ANSWER = ("request, server", "answer, worker", "reply, server")


class Counts:
    """How often each function of fimlsp ran, by stage."""

    def __init__(self) -> None:
        self.calls: dict[str, Counter[CodeType]] = {stage: Counter() for stage in (*EDIT, *ANSWER)}

    @contextmanager
    def of(self, stage: str) -> Iterator[None]:
        """Count what runs in the block; a generator that is resumed counts as called."""
        calls = self.calls[stage]

        def note(frame: FrameType, event: str, _: object) -> None:
            if event == "call" and is_ours(frame.f_code):
                calls[frame.f_code] += 1

        sys.setprofile(note)
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
    """The file of *code*, without the links of `src/fimlsp/`; generated code has a name that is no path."""
    path = Path(code.co_filename)
    return path.resolve() if path.is_absolute() else path


def is_ours(code: CodeType) -> bool:
    """Whether *code* belongs to fimlsp, and not to this script."""
    path = source_of(code)
    return path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] not in ("benchmarks", ".venv")


class WorkerHere(WorkerProcess):
    """Keeps the messages for the worker instead of starting a process."""

    def start(self) -> None:
        """Begin at once."""
        self.outbox: SimpleQueue[bytes] = SimpleQueue()
        self._begin(SimpleNamespace(outbox=self.outbox))

    def hear(self, report: Report) -> None:
        """Take what the worker says, as the thread that reads gives it to the event loop."""
        self._on_report(report)


class NothingLeftError(Exception):
    """All messages were worked on."""


class InboxToItsEnd(Inbox):
    """Ends the worker's loop when all messages are taken."""

    def next(self, seconds: float | None = None) -> Request | None:
        """The next message."""
        if self._waiting.empty():
            raise NothingLeftError
        return super().next(seconds)


class Outlet(io.BytesIO):
    """Collects what the worker writes, one message after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []

    def write(self, message: bytes) -> int:
        """Keep *message*."""
        self.written.append(message)
        return len(message)

    def take(self) -> list[Report]:
        """The messages since the last time."""
        taken, self.written = self.written, []
        return [pickle.loads(each) for each in taken]


class Rig:
    """A server, its worker, and the editor in front of them."""

    def __init__(self, settings: dict[str, object], names: Names | None) -> None:
        self._settings = settings
        self._processes: list[WorkerHere] = []
        self._server = create_server(WorkerPool((), self._make), Door(), lambda _: None)
        self._written: list[bytes] = []
        self._server.protocol.set_writer(SimpleNamespace(write=self._written.append))
        self._inbox, self._outlet = InboxToItsEnd(), Outlet()
        self._backend = Backend(names)
        self._worker = Worker(self._backend, self._inbox, self._outlet)
        self._ids = self._version = 0

    def _make(self, *about: object) -> WorkerHere:
        self._processes.append(WorkerHere(*about))
        return self._processes[-1]

    async def begin(self) -> None:
        """Introduce the editor and open the sample."""
        about = {"processId": None, "rootUri": ROOT.as_uri(), "capabilities": {}}
        self._receive("initialize", {**about, "initializationOptions": self._settings}, asks=True)
        await settle()
        lines = SAMPLE.read_text().split("\n")
        text = "\n".join([*lines[:LINE], BEGUN, *lines[LINE + 1 :]])
        item = {"uri": URI, "languageId": "python", "version": 0, "text": text}
        self._receive("textDocument/didOpen", {"textDocument": item})
        await self._exchange(Counts())

    async def press(self, character: int, key: str) -> tuple[Counts, list[str]]:
        """Type *key* at *character* of the line; the path of that, and of the answer, and what is shown."""
        counts = Counts()
        self._written.clear()
        self._version += 1
        at, behind = ({"line": LINE, "character": each} for each in (character, character + len(key)))
        change = {"range": {"start": at, "end": at}, "text": key}
        document = {"uri": URI, "version": self._version}
        with counts.of("edit, server"):
            self._receive("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
        await self._exchange(counts)
        params = {"textDocument": {"uri": URI}, "position": behind, "context": {"triggerKind": 2}}
        with counts.of("request, server"):
            self._receive("textDocument/inlineCompletion", params, asks=True)
            await settle()
        await self._exchange(counts)
        answers = [json.loads(each.partition(b"\r\n\r\n")[2]) for each in self._written]
        (found,) = (each["result"]["items"] for each in answers if each.get("id") == self._ids)
        return counts, [item["insertText"] for item in found]

    def _receive(self, method: str, params: object, *, asks: bool = False) -> None:
        message: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
        if asks:
            self._ids += 1
            message["id"] = self._ids
        self._server.protocol._receive(json.dumps(message).encode())

    async def _exchange(self, counts: Counts) -> None:
        """Let the worker do what it was sent, the server what comes back, and the worker what can wait."""
        (process,) = self._processes
        while not process.outbox.empty():
            request = pickle.loads(process.outbox.get())
            kind = type(request)
            rest = Counts()
            self._inbox.put(request)
            with (
                (counts if kind in (Edit, Complete) else rest).of(
                    "answer, worker" if kind is Complete else "edit, worker"
                ),
                suppress(NothingLeftError),
            ):
                self._worker.run()
            reports = self._outlet.take()
            with (counts if kind is Complete else rest).of("reply, server"):
                for report in reports:
                    process.hear(report)
                await settle()
        while self._backend.prepare():
            pass


async def settle() -> None:
    """Let the event loop run all that is ready."""
    for _ in range(10):
        await asyncio.sleep(0)


async def measure(settings: dict[str, object], names: Names | None) -> tuple[Counts, list[str]]:
    """The path of the last key, and what is shown behind it."""
    rig = Rig(settings, names)
    await rig.begin()
    _, shown = await rig.press(len(BEGUN), KEY)
    last = next(key for key in NEXT if not any(text.startswith(key) for text in shown))
    return await rig.press(len(BEGUN) + len(KEY), last)


@click.command()
@click.option(
    "--set", "options", multiple=True, metavar="OPTION=JSON", help="An option, such as check=parse."
)
@click.option("--bare", is_flag=True, help="Without what judges the names, the code and its worth.")
@click.option("--show", is_flag=True, help="Also the functions of each stage.")
def main(options: Sequence[str], bare: bool, show: bool) -> None:
    """Count modules, functions and calls between a key and what is shown."""
    settings = {name: as_json(value) for name, _, value in (each.partition("=") for each in options)}
    plain: dict[str, object] = {"check": "parse", "confidence": 0, "neighbourTokens": 0} if bare else {}
    names = None if bare else Names()
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
            for code, n in sorted(calls.items(), key=lambda found: (found[0].co_filename, -found[1])):
                path = source_of(code).relative_to(ROOT)
                console.print(f"{n:7}  {path.as_posix()} {name_of(code)}", highlight=False, soft_wrap=True)


def name_of(code: CodeType) -> str:
    """The name of a function with that of its class, which Python 3.10 does not know."""
    return str(getattr(code, "co_qualname", code.co_name))


def as_json(value: str) -> object:
    """*value* as JSON, or as the text that it is."""
    try:
        return json.loads(value)
    except ValueError:
        return value


if __name__ == "__main__":
    main()
