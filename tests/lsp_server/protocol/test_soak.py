"""Two clients that edit, ask, cancel and send garbage at random, while the worker is killed now and then.

Meanwhile others are hostile (`hostile_steps.py`). Nothing crashes, every request is answered exactly once,
and the memory does not grow. By default a short run with the scripted worker. `-m soak` is the long run, with
the real engine and the bundled model, ten minutes or `FIMLSP_SOAK_SECONDS`.
"""

from __future__ import annotations

import contextlib
import os
import random
import textwrap
import time
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import psutil
import pytest

from ..wire import REAL, SCRIPTED, Wire, children, did_change, did_open, frame, inline, message, tcp_server
from .hostile_steps import Hostile

EXAMPLE = Path(__file__).parents[3] / "examples" / "inventory.py"
TYPED = [
    "x",
    "y = ",
    "(",
    ")",
    "\n",
    "\n    ",
    ":",
    "'",
    "é",
    "return ",
    "self.",
    "#",
    " ",
    "f'{",
    "}",
    "[1, 2]",
    "",
]
GARBAGE = [
    frame(b"{not json"),
    frame(b"\xff\xfe\x00"),
    frame([]),
    message("no/such/notification", {"a": [1]}),
    message("$/cancelRequest", {"id": "nobody"}),
    message("textDocument/didOpen", {"textDocument": 3}),
    did_change("file:///never/opened.py", 7, (0, 0), (9, 9), "x"),
    message("workspace/didChangeConfiguration", {"settings": {"fimlsp": {"maxTokens": "many"}}}),
]
COMMANDS = ["accept", "dismiss", "statistics", "status"]
MOST_GROWTH = 1.1


@dataclass(eq=False)
class Writer:
    """One client with one document, which is reset before it differs much from its first text."""

    wire: Wire
    uri: str
    first: str
    rng: random.Random
    lines: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    version: int = 0
    ids: count = field(default_factory=lambda: count(1))

    def open(self):
        self.version += 1
        self.lines = self.first.split("\n")
        self.wire.send(did_open(self.uri, self.first, self.version))

    def new_id(self):
        self.asked.append(f"{self.uri} {next(self.ids)}")
        return self.asked[-1]

    def cursor(self):
        line = self.rng.randrange(len(self.lines))
        return line, self.rng.randint(0, len(self.lines[line]))

    def edit(self):
        start = end = self.cursor()
        if self.rng.random() < 0.4:
            end = start[0], min(len(self.lines[start[0]]), start[1] + self.rng.randint(1, 9))
        text = self.rng.choice(TYPED)
        self.version += 1
        self.wire.send(did_change(self.uri, self.version, start, end, text))
        line = self.lines[start[0]]
        self.lines[start[0] : end[0] + 1] = (line[: start[1]] + text + line[end[1] :]).split("\n")

    def ask(self):
        request = self.new_id()
        self.wire.send(inline(request, self.uri, *self.cursor(), kind=self.rng.choice([0, 1, 2])))
        return request

    def cancel(self):
        self.wire.send(message("$/cancelRequest", {"id": self.ask()}))

    def command(self):
        name, arguments = self.rng.choice(COMMANDS), [f"{self.rng.randint(1, 99)}.0"]
        params = {"command": f"fimlsp.server.{name}", "arguments": arguments}
        self.wire.send(message("workspace/executeCommand", params, self.new_id()))

    def garbage(self):
        self.wire.send(self.rng.choice(GARBAGE))

    async def step(self):
        if self.version % 200 == 0 or self.rng.random() < 0.002:
            self.open()
        kinds = [self.edit, self.ask, self.cancel, self.command, self.garbage]
        (do,) = self.rng.choices(kinds, [50, 25, 10, 5, 5])
        request = do()
        if request is not None and self.rng.random() < 0.3:
            await self.wire.answer(request)


def memory(*processes):
    """Resident megabytes of the largest of some processes; one that has just ended has none.

    A second worker comes and goes with the models that hostile neighbours choose.
    """
    resident = [0]
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            resident.append(process.memory_info().rss)
    return max(resident) / 2**20


async def soak(server, seed, folder, progress, kills):
    """Run random steps; memory of (server, largest worker) at 20 moments.

    *progress* returns the finished share of the run, from 0 to 1; a worker is killed when it reaches each of
    *kills*.
    """
    rng = random.Random(seed)
    texts = [EXAMPLE.read_text(encoding="utf-8"), Path(textwrap.__file__).read_text(encoding="utf-8")]
    writers = []
    for number, text in enumerate(texts):
        wire = await server.connect()
        await wire.initialize(maxTokens=12, minLength=1)
        writers.append(Writer(wire, f"file:///project/{number}.py", text, rng))
        writers[-1].open()
        await wire.idle()
    hostile = Hostile(server, await server.connect(), folder, rng)
    await hostile.begin()
    measured, kills = [], [*kills]
    while (done := progress()) < 1:
        if kills and done >= kills[0]:
            kills.pop(0)
            (await server.worker()).kill()
        await rng.choice([*writers, *writers, hostile]).step()
        if done * 20 >= len(measured) and children(server.pid):
            measured.append((memory(psutil.Process(server.pid)), memory(*children(server.pid))))
    n_asked = sum(len(client.asked) for client in (*writers, hostile))
    await hostile.end()
    for writer in writers:
        for request in writer.asked:
            await writer.wire.answer(request)
        assert {writer.wire.counts[request] for request in writer.asked} == {1}
        await writer.wire.leave()
        assert set(writer.wire.counts.values()) == {1}
    assert server.process.returncode is None
    assert children(server.pid) == []
    print(f"{n_asked} requests, each answered once")
    return measured


def steps_of(most):
    """Progress by the number of steps."""
    taken = count()
    return lambda: next(taken) / most


def seconds_of(most):
    """Progress by the clock."""
    began = time.monotonic()
    return lambda: (time.monotonic() - began) / most


async def test_a_short_while(tmp_path):
    async with tcp_server(*SCRIPTED) as server:
        measured = await soak(server, 1, tmp_path, steps_of(600), kills=(0.1, 0.5))
    assert measured, "there was never a worker"


@pytest.mark.soak
async def test_a_long_while(tmp_path):
    seconds = float(os.environ.get("FIMLSP_SOAK_SECONDS", "600"))
    async with tcp_server(*REAL, address="127.0.0.1:{}".format) as server:
        measured = await soak(server, 2, tmp_path, seconds_of(seconds), (0.04, 0.08, 0.12, 0.16))
    print(*(f"{server:.0f}+{worker:.0f} MB" for server, worker in measured))
    early, late = measured[8:11], measured[-3:]
    for name, before, after in zip(
        ("server", "worker"), zip(*early, strict=True), zip(*late, strict=True), strict=True
    ):
        print(f"{name}: {max(before):.0f} MB at 40-50 %, {max(after):.0f} MB at the end")
        assert max(after) <= MOST_GROWTH * max(before), measured


async def test_the_server_ends_while_requests_are_under_way():
    async with tcp_server(*SCRIPTED) as server:
        wire = await server.connect()
        await wire.initialize()
        wire.send(did_open("file:///a.py", "# slow"))
        await wire.idle()
        wire.send(inline(1, "file:///a.py", 0, 6))
        await wire.until(lambda: wire.status["state"] == "thinking")
        await wire.leave()
        assert wire.counts[1] == 1
