"""Latency from a keystroke to its answer, as seen by an editor: `python benchmarks/latency.py`.

A server is started as by an editor, on standard input and output, with the bundled model. Lines of the
standard library are typed again, one character at a time, each followed by a request and its answer. The
worker logs the time of its own work and that of the model; everything but the model is overhead. Type-through
of a suggestion is answered without the model.

The exit status is 1 if a target is missed. `--lines 100000` adds one file of so many lines, which should be
as fast; parsing it first takes a minute. These are wall-clock times: run on an idle machine.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle
from random import Random
from statistics import median
from typing import Any

import click
from corpora.python import shuffled_files
from rich.console import Console
from rich.table import Table

from fimlsp.lsp_server.worker.backend import CONTEXT_TOO_SLOW

OVERHEAD_MEDIAN_MS, OVERHEAD_P95_MS, TYPED_THROUGH_MS = 8.0, 25.0, 3.0
MOST_TYPED_THROUGH = 4
TIMEOUTS = {"the answer took too long", CONTEXT_TOO_SLOW}
_WORK = re.compile(r"\d+ tokens, \d+ rejected, ([\d.]+) ms, of which the model ([\d.]+) ms")


class Client:
    """An editor that does one thing at a time."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "fimlsp", "--stdio"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._ids = 0
        self.work: tuple[float, float] | None = None
        self.state: str | None = None
        self.reason: str | None = None
        options = {"logLevel": "debug", "minLength": 1, "cacheSize": 0, "confidence": 0}
        params = {"processId": None, "rootUri": None, "capabilities": {}}
        self.request("initialize", {**params, "initializationOptions": options})
        self.notify("initialized", {})
        while self.state != "idle":
            self._read()

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def request(self, method: str, params: object) -> Any:
        """Send a request; returns its result."""
        self._ids += 1
        self._send({"id": self._ids, "method": method, "params": params})
        while (message := self._read()).get("id") != self._ids or "method" in message:
            pass
        return message["result"]

    def close(self) -> None:
        """End the server."""
        self.request("shutdown", None)
        self.notify("exit", None)
        self._process.wait(20)

    def _send(self, message: dict[str, object]) -> None:
        assert self._process.stdin is not None
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self._process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        source = self._process.stdout
        assert source is not None
        length = 0
        while (line := source.readline()) != b"\r\n":
            length = int(line.split(b":")[1]) if line.startswith(b"Content-Length") else length
        message: dict[str, Any] = json.loads(source.read(length))
        if message.get("method") == "fimlsp/status":
            self.state, self.reason = message["params"]["state"], message["params"]["reason"]
        elif message.get("method") == "window/logMessage" and (
            logged := _WORK.fullmatch(message["params"]["message"])
        ):
            self.work = float(logged[1]), float(logged[2])
        return message


@dataclass
class Typist:
    """Types into one document, and times requests at the cursor."""

    client: Client
    uri: str
    line: int
    character: int = 0
    version: int = 1

    def type(self, text: str) -> None:
        """Insert *text*, which has no line end, and move the cursor after it."""
        self.replace(self.character, text)

    def replace(self, start: int, text: str) -> None:
        """Replace the line from *start* to the cursor by *text*, and move the cursor after it."""
        self.version += 1
        span = {
            name: {"line": self.line, "character": at}
            for name, at in (("start", start), ("end", self.character))
        }
        change = {"range": span, "text": text}
        document = {"uri": self.uri, "version": self.version}
        self.client.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
        self.character = start + len(text)

    def answer(self, typed: str) -> tuple[str, float]:
        """The suggestion after the character *typed*, and its latency in milliseconds."""
        self.client.work = None
        started = time.perf_counter()
        self.type(typed)
        position = {"line": self.line, "character": self.character}
        params = {"textDocument": {"uri": self.uri}, "position": position, "context": {"triggerKind": 2}}
        items = self.client.request("textDocument/inlineCompletion", params)["items"]
        ms = 1000 * (time.perf_counter() - started)
        return (items[0]["insertText"] if items else ""), ms


@dataclass
class Figures:
    """Milliseconds of answers with the model, by part, and of type-through."""

    total: list[float] = field(default_factory=list)
    model: list[float] = field(default_factory=list)
    overhead: list[float] = field(default_factory=list)
    worker: list[float] = field(default_factory=list)
    server: list[float] = field(default_factory=list)
    typed_through: list[float] = field(default_factory=list)

    def add(self, suggested: str, total: float, work: tuple[float, float] | None) -> None:
        """Add an answer, with the times of worker and model; without these, it needed no worker."""
        if work is None:
            self.typed_through += [total] if suggested else []
            return
        worker, model = work
        self.total.append(total)
        self.model.append(model)
        self.overhead.append(total - model)
        self.worker.append(worker - model)
        self.server.append(total - worker)

    @property
    def holds(self) -> bool:
        """True if all targets are met."""
        return (
            median(self.overhead) <= OVERHEAD_MEDIAN_MS
            and p95(self.overhead) <= OVERHEAD_P95_MS
            and median(self.typed_through) <= TYPED_THROUGH_MS
        )


def p95(values: list[float]) -> float:
    """The 95th percentile."""
    return sorted(values)[(len(values) * 19 + 19) // 20 - 1]


def lines_to_type(source: str, random: Random) -> Iterator[tuple[int, str]]:
    """Lines of code of *source*, with their numbers, in random order."""
    lines = [
        (n, line) for n, line in enumerate(source.split("\n")) if len(line.strip()) > 8 and line.isascii()
    ]
    yield from random.sample(lines, len(lines))


def measure(client: Client, name: str, source: str, random: Random, keys: int, figures: Figures) -> None:
    """Type lines of one file, at most *keys* characters."""
    lines = source.split("\n")
    for turn, (number, line) in enumerate(lines_to_type(source, random)):
        uri = f"file:///{name}/{turn}.py"
        text = "\n".join([*lines[:number], "", *lines[number + 1 :]])
        item = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        client.notify("textDocument/didOpen", {"textDocument": item})
        keys -= type_again(Typist(client, uri, number), line, figures)
        client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        if keys <= 0:
            return


def measure_long(client: Client, source: str, random: Random, keys: int, figures: Figures) -> None:
    """Type lines of a long file in their places, at most *keys* characters."""
    uri = "file:///long.py"
    item = {"uri": uri, "languageId": "python", "version": 1, "text": source}
    client.notify("textDocument/didOpen", {"textDocument": item})
    typist = Typist(client, uri, 0)
    for number in (0, source.count("\n")):  # parses all below the first line, and all above the last
        typist.line = number
        while not typist.answer("")[0] and client.reason in TIMEOUTS:
            pass
    for number, line in lines_to_type(source, random):
        typist = Typist(client, uri, number, len(line), typist.version)
        typist.replace(0, "")
        keys -= type_again(typist, line, figures)
        typist.replace(0, line)
        if keys <= 0:
            return


def type_again(typist: Typist, line: str, figures: Figures) -> int:
    """Type the start of *line* into an empty line, then its suggestion; returns the number of typed keys."""
    indented = len(line) - len(line.lstrip())
    typist.type(line[:indented])
    typist.answer("")  # parses the file; in an editor this happens after opening it
    suggested, start = "", line[indented : indented + 12]
    for typed in start:
        suggested, ms = typist.answer(typed)
        figures.add(suggested, ms, typist.client.work)
    for typed in suggested.partition("\n")[0][:MOST_TYPED_THROUGH]:
        figures.add(*typist.answer(typed), typist.client.work)
    return len(start)


@click.command()
@click.option("--seed", default=1, show_default=True)
@click.option("--files", default=8, show_default=True, type=click.IntRange(1))
@click.option("--keys", default=60, show_default=True, help="Keystrokes per file.", type=click.IntRange(1))
@click.option("--lines", default=0, help="Also measure in one file of so many lines.", type=click.IntRange(0))
@click.option("--quick", is_flag=True, help="Measure two files only.")
def main(seed: int, files: int, keys: int, lines: int, quick: bool) -> None:
    """Measure the latency of answers over standard input and output."""
    random = Random(seed)
    figures, in_long = Figures(), Figures()
    client = Client()
    count = 2 if quick else files
    for _, (name, data) in zip(range(count), shuffled_files(random), strict=False):
        measure(client, name, data.decode(), random, keys, figures)
    if lines:
        measure_long(client, text_of_lines(random, lines), random, count * keys, in_long)
    client.close()
    Console().print(table_of("Milliseconds from a keystroke to its answer", figures))
    if lines:
        Console().print(table_of(f"In a file of {lines:,} lines", in_long))
    sys.exit(0 if figures.holds and (not lines or in_long.holds) else 1)


def text_of_lines(random: Random, count: int) -> str:
    """Files of the standard library, repeated if necessary, with *count* lines in total."""
    lines: list[bytes] = []
    for data in cycle([data for _, data in shuffled_files(random)]):
        if len(lines) >= count:
            break
        lines += data.splitlines(keepends=True)
    return b"".join(lines).decode()


def table_of(title: str, figures: Figures) -> Table:
    """The figures and their targets."""
    table = Table(title=title)
    for column in ("answer", "n", "median", "p95", "max", "target"):
        table.add_column(column, justify="left" if column in ("answer", "target") else "right")
    targets = {
        "overhead": f"median ≤ {OVERHEAD_MEDIAN_MS:g}, p95 ≤ {OVERHEAD_P95_MS:g}",
        "typed_through": f"median ≤ {TYPED_THROUGH_MS:g}",
    }
    names = {
        "total": "with the model",
        "model": "  the model",
        "overhead": "  overhead",
        "worker": "    prompt and engine",
        "server": "    protocol and processes",
        "typed_through": "type-through",
    }
    for kind, name in names.items():
        values = getattr(figures, kind)
        cells = [f"{value:.1f}" for value in (median(values), p95(values), max(values))]
        table.add_row(name, str(len(values)), *cells, targets.get(kind, ""))
    return table


if __name__ == "__main__":
    main()
