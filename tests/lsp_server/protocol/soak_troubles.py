"""Troubles of the processes of a server: they are killed, and stopped for a while; and a watch over them."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import signal
import time
from dataclasses import dataclass, field

import psutil

from ..wire import children

WORKER, CHECKER, TY = "worker.worker import main", "import serve_checker", "ty server"
PAUSES_S = 0.5, 2.0, 8.0, 20.0, 90.0
"""A worker that stands still for the longest is killed by the server."""

LONGEST_PAUSE = 1 / 40
"""The largest share of a run that a process stands still, so that all troubles fit into it."""

MOST_TROUBLES, TROUBLE_S = 40, 15.0
"""Troubles of a run, and the least seconds for each. Workers killed sooner are restarted ever later."""


def processes_of(server, mark):
    """The processes that *server* has started, by itself or not, with *mark* in their command."""
    found = []
    for process in psutil.Process(server.pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            command = " ".join(process.cmdline())
            if mark in command and "run_confined" not in command:
                found.append(process)
    return found


async def trouble(server, mark, action, pause, rng):
    """Kill or stop one process with *mark*, once there is one. A stopped one goes on after a *pause*."""
    while not (found := processes_of(server, mark)):
        await asyncio.sleep(0.2)
    with contextlib.suppress(psutil.NoSuchProcess):
        process = rng.choice(found)
        if action == "kill":
            process.kill()
            return
        process.send_signal(signal.SIGSTOP)
        try:
            await asyncio.sleep(pause)
        finally:
            process.send_signal(signal.SIGCONT)


def schedule(seconds, rng):
    """The troubles of a run of so many *seconds*, each kind equally often: mark, action and pause."""
    kinds = [(mark, action) for action in ("kill", "stop") for mark in (WORKER, CHECKER, WORKER, TY)]
    pauses = [pause for pause in PAUSES_S if pause <= LONGEST_PAUSE * seconds] or [0.0]
    n_troubles = min(MOST_TROUBLES, max(len(kinds), int(seconds / TROUBLE_S)))
    return [(*kinds[number % len(kinds)], rng.choice(pauses)) for number in range(n_troubles)]


@dataclass(frozen=True, slots=True)
class Sample:
    """One look: seconds, the memory in MB of server, largest worker and all together, and the server's."""

    seconds: float
    server: float
    worker: float
    together: float
    processes: int
    descriptors: int
    threads: int

    def __str__(self):
        return (
            f"{self.seconds:5.0f} s: server {self.server:.0f} MB, {self.descriptors} descriptors, "
            f"{self.threads} threads; worker {self.worker:.0f} MB; {self.processes} processes, "
            f"{self.together:.0f} MB together"
        )


@dataclass(eq=False)
class Watch:
    """Looks at the processes of *server*; a zombie that is seen twice remains one."""

    server: object
    began: float = field(default_factory=time.monotonic)
    samples: list[Sample] = field(default_factory=list)
    known: set = field(default_factory=set)
    zombies: set = field(default_factory=set)
    _before: set = field(default_factory=set)

    def look(self):
        """Take a sample."""
        server = psutil.Process(self.server.pid)
        below, sizes, dead = server.children(recursive=True), [], set()
        for process in below:
            with contextlib.suppress(psutil.NoSuchProcess):
                if process.status() == psutil.STATUS_ZOMBIE:
                    dead.add(process)
                sizes.append(process.memory_info().rss / 2**20)
        self.zombies |= dead & self._before
        self._before = dead
        self.known.update(below)
        workers = [0.0]
        for process in children(self.server.pid):
            with contextlib.suppress(psutil.NoSuchProcess):
                workers.append(process.memory_info().rss / 2**20)
        own = server.memory_info().rss / 2**20
        self.samples.append(
            Sample(
                time.monotonic() - self.began,
                own,
                max(workers),
                own + sum(sizes),
                1 + len(below),
                server.num_fds(),
                server.num_threads(),
            )
        )
        print(self.samples[-1], flush=True)

    def between(self, first, last):
        """The samples of a part of the run, in shares of it."""
        return self.samples[int(first * len(self.samples)) : int(last * len(self.samples))]

    def left_over(self):
        """The processes that have outlived the server. Its end closes their pipes, and they end on that."""
        left, until = [*self.known], time.monotonic() + 60
        while (left := [process for process in left if process.is_running()]) and time.monotonic() < until:
            time.sleep(0.1)  # psutil's own wait fails if a process disappears at the wrong moment
        return left


UNCLOSED = "from a import(\n" * 13_000
TRIPLE = "x = f'''" + '\\"""\n' * 8_000 + "'''\n"


def hostile_file(folder, rng):
    """Put a hostile file into *folder*, in place of another one of the kind."""
    name = f"hostile_{rng.randrange(10)}.py"
    path = folder / name
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    match rng.randrange(9):
        case 0:
            path.write_text(UNCLOSED[:198_000])
        case 1:
            path.write_text(TRIPLE)
        case 2:
            path.write_text("x = " + "(" * 60_000 + "\n")
        case 3:
            path.write_text("a = " + " " * 60_000 + "1\n" + "if a:\n " * 3_000)
        case 4:
            path.write_bytes(rng.randbytes(100_000))
        case 5:
            path.symlink_to("/dev/zero")
        case 6:
            deepest = path
            for _ in range(40):
                deepest = deepest / "package"
            deepest.mkdir(parents=True)
            (deepest / "__init__.py").write_text("from ....... import *\n")
        case 7:
            path.write_text("class A(A): pass\n" + "def f(x: 'f') -> f: return f(f)\n" * 3_000)
        case 8:
            path.symlink_to(name)
