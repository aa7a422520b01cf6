"""Clients that edit, ask, cancel and send garbage at random, while the worker is killed now and then.

Meanwhile others are hostile (`hostile_steps.py`). Nothing crashes, and every request is answered exactly
once. By default a short run with the scripted worker. `-m soak` is the long run, with the real engine and the
bundled model, for ten minutes or `FIMLSP_SOAK_SECONDS`. There three editors judge their answers
(`soak_editors.py`). Clients, worker and checker are killed or stopped (`soak_troubles.py`). No answer is for
an older text, and neither memory nor processes are left over.
"""

from __future__ import annotations

import asyncio
import bisect
import colorsys
import contextlib
import os
import random
import sched
import textwrap
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import psutil
import pytest

from ..wire import REAL, SCRIPTED, Wire, children, did_change, did_open, frame, inline, message, tcp_server
from .hostile_steps import Hostile
from .soak_editors import Editor, killed_client
from .soak_troubles import Watch, hostile_file, schedule, trouble

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
MODULES = bisect, colorsys, sched
N_KILLED, N_LOOKS, N_HOSTILE_FILES = 20, 120, 200
LAST_TROUBLE = 0.6
WITH_TEXT_AN_HOUR, NEWEST_AN_HOUR = 500, 25
LOOK_S = 0.1


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

    async def end(self):
        """Every request was answered, once."""
        for request in self.asked:
            await self.wire.answer(request)
        assert {self.wire.counts[request] for request in self.asked} == {1}
        await self.wire.leave()
        assert set(self.wire.counts.values()) == {1}


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
        await writer.end()
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


@pytest.mark.slow
async def test_a_short_while(tmp_path):
    async with tcp_server(*SCRIPTED) as server:
        measured = await soak(server, 1, tmp_path, steps_of(600), kills=(0.1, 0.5))
    assert measured, "there was never a worker"


async def at_moments(moments, progress, act):
    """Await *act* at each of the *moments*, one after the other."""
    for moment in moments:
        while progress() < moment:
            await asyncio.sleep(LOOK_S)
        await act()


async def keep_going(actor, progress, pause):
    while progress() < 1:
        await actor.step()
        await asyncio.sleep(pause)


def project(folder):
    """A project in *folder*, and the texts of the files that the editors write. They import hostile files."""
    folder.mkdir()
    texts = {Path(module.__file__).name: Path(module.__file__).read_text("utf-8") for module in MODULES}
    for name, text in [*texts.items(), *((f"helper_{name}", text) for name, text in texts.items())]:
        (folder / name).write_text(text, "utf-8")
    imports = "".join(f"import hostile_{number}\n" for number in range(3))
    return [(folder / name, text + imports) for name, text in texts.items()]


async def ended(server, editors, others):
    """What was seen by *editors*, after all their requests and those of *others* were answered once."""
    for client in (*others, *editors):
        await client.end()
    seen = sum((editor.seen for editor in editors), Counter())
    print(*(f"{number} {name}" for name, number in seen.items()), sep=", ")
    faults = [fault for editor in editors for fault in editor.faults]
    print(f"{len(faults)} faults", *faults[:20], sep="\n")
    assert not faults
    n_others = sum(len(other.asked) for other in others)
    print(f"{n_others} requests of others, each answered once")
    assert server.process.returncode is None
    assert children(server.pid) == []
    return seen


async def long_soak(server, folder, seconds):
    """Editors, a client at random, a hostile one, killed clients and troubles at once, for so many *seconds*.

    All troubles come before `LAST_TROUBLE` of the run. Returns the watch.
    """
    progress = seconds_of(seconds)
    files = project(folder / "project")
    folders = [{"uri": (folder / "project").as_uri(), "name": "project"}]
    editors, rng = [], random.Random(2)
    for number, (path, text) in enumerate(files):
        wire = await server.connect()
        await wire.initialize(workspace_folders=folders, maxTokens=12, minLength=1)
        editors.append(Editor(wire, path.as_uri(), text, random.Random(number)))
    wire = await server.connect()
    await wire.initialize(maxTokens=12, minLength=1)
    writer = Writer(wire, "file:///project/0.py", EXAMPLE.read_text("utf-8"), random.Random(10))
    writer.open()
    hostile = Hostile(server, await server.connect(), folder, random.Random(11))
    await hostile.begin()
    planned = schedule(seconds, rng)
    watch, troubles = Watch(server), iter(planned)

    async def kill_client():
        await killed_client(server, folder / "project", files[0][1], rng)

    async def make_trouble():
        await trouble(server, *next(troubles), rng)

    async def look():
        watch.look()

    async def litter():
        hostile_file(folder / "project", rng)

    def spread(n, most):
        return [most * (number + 1) / n for number in range(n)]

    await asyncio.gather(
        *(keep_going(editor, progress, 0.5) for editor in editors),
        keep_going(writer, progress, 0.2),
        keep_going(hostile, progress, 0.5),
        at_moments(spread(N_KILLED, LAST_TROUBLE), progress, kill_client),
        at_moments(spread(len(planned), LAST_TROUBLE), progress, make_trouble),
        at_moments(spread(N_LOOKS, 1), progress, look),
        at_moments(spread(N_HOSTILE_FILES, 1), progress, litter),
    )
    assert next(troubles, None) is None
    assert not watch.zombies
    return watch, await ended(server, editors, [writer, hostile])


@pytest.mark.soak
async def test_a_long_while(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # the estimate learns from no random text
    seconds = float(os.environ.get("FIMLSP_SOAK_SECONDS", "600"))
    with (tmp_path / "log").open("wb") as log:
        async with tcp_server(*REAL, address="127.0.0.1:{}".format, stderr=log) as server:
            watch, seen = await long_soak(server, tmp_path, seconds)
    assert watch.left_over() == []
    assert "Traceback" not in (tmp_path / "log").read_text("utf-8", "replace")
    assert seen["answers with text"] >= WITH_TEXT_AN_HOUR * seconds / 3600
    assert seen["suggestions with the newest name"] >= NEWEST_AN_HOUR * seconds / 3600
    early, late = watch.between(0.65, 0.8), watch.between(0.85, 1)
    for name in ("server", "worker", "descriptors", "threads"):
        before, after = (max(getattr(sample, name) for sample in part) for part in (early, late))
        print(f"{name}: {before:.0f} at 65-80 %, {after:.0f} at the end")
        assert after <= MOST_GROWTH * before + 2, name


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
