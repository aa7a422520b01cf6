"""Starts a worker process, exchanges messages with it, and restarts it when it dies.

The worker is a plain child process with pipes, not a fork, so it inherits neither the editor's pipes nor an
event loop. Its search path leaves out the working directory: an editor starts servers in the user's
workspace, which may contain a `queue.py`.

One thread keeps the process alive and reads from it, another writes to it, so the event loop never waits.
Their callbacks run on the event loop. (asyncio's own subprocesses are not used: in CPython 3.11, cancelling
one while it starts prevents the loop from closing.)
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread
from typing import IO

from fimlsp.lsp_server.messages import Report, Request, read_report

WORKER_COMMAND = (
    sys.executable,
    "-c",
    "import sys; sys.path = [p for p in sys.path if p]; "
    "from fimlsp.lsp_server.worker.worker import main; main()",
)

_KEEPS_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(64 * 1024**2), "MALLOC_MMAP_THRESHOLD_": str(32 * 1024**2)}
"""Settings of glibc, which by default returns the memory of each copy of a long text to the system.

Fetching the pages again takes ten times as long as copying. Other C libraries ignore these variables.
"""

_HEALTHY_S = 30.0
"""A worker that lived so long is restarted at once; another one would probably die again."""

_LONGEST_PAUSE_S = 60.0


class WorkerProcess:
    """Keeps one worker alive and passes messages both ways.

    *on_start* is called for each new process, to send it the whole state, and *on_report* for each of its
    messages. *on_end* gets the reason of its end. All run on the event loop; none may block.
    """

    def __init__(
        self,
        command: Sequence[str],
        on_start: Callable[[], None],
        on_report: Callable[[Report], None],
        on_end: Callable[[str], None],
    ) -> None:
        self._command = command
        self._on_start = on_start
        self._on_report = on_report
        self._on_end = on_end
        self._run: WorkerRun | None = None
        self._is_pausing = False
        self._closing = Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._keeper = Thread(target=self._keep_alive, name="worker", daemon=True)

    def start(self) -> None:
        """Start the process and keep it alive until `close`."""
        self._loop = asyncio.get_running_loop()
        self._keeper.start()

    @property
    def is_available(self) -> bool:
        """True if the process runs or is starting; false in a pause and after `close`."""
        return not (self._is_pausing or self._closing.is_set())

    def send(self, message: Request) -> None:
        """Send *message* without waiting; it is lost if no process is running."""
        if self._run is not None:
            self._run.outbox.put(pickle.dumps(message))

    def cpu_seconds(self) -> float:
        """Seconds of processor time of the process so far; nan where the system does not report them."""
        return math.nan if self._run is None else cpu_seconds_of(self._run.process.pid)

    def kill(self) -> None:
        """Kill a process that does not answer; it is restarted."""
        if self._run is not None:
            self._run.process.kill()

    async def close(self) -> None:
        """End the process for good."""
        self._closing.set()
        self.kill()
        if self._keeper.is_alive():
            await asyncio.to_thread(self._keeper.join)

    def _keep_alive(self) -> None:
        short_runs = 0
        while not self._closing.is_set():
            started = time.monotonic()
            reason = self._run_once()
            short_runs = 0 if time.monotonic() - started > _HEALTHY_S else short_runs + 1
            pause = pause_after(short_runs)
            self._call(self._ended, reason, pause)
            self._closing.wait(pause)

    def _run_once(self) -> str:
        """Start a process and serve it until its end; returns the reason of the end."""
        try:
            run = WorkerRun(self._command)
        except OSError as error:
            return f"the worker process cannot be started ({error})"
        self._call(self._began, run)
        while not self._closing.is_set() and (report := run.read()) is not None:
            self._call(self._on_report, report)
        return describe_end(run.end())

    def _began(self, run: WorkerRun) -> None:
        self._run = run
        self._is_pausing = False
        self._on_start()

    def _ended(self, reason: str, pause: float) -> None:
        self._run = None
        self._is_pausing = pause > 0
        if not self._closing.is_set():
            self._on_end(f"{reason}; it is restarted" + (f" in {pause:g} s" if pause else ""))

    def _call(self, callback: Callable[..., None], *arguments: object) -> None:
        """Call *callback* on the event loop. A closed loop means the end of the server."""
        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:
            self._closing.set()


class WorkerRun:
    """One process, from its start to its end.

    Raises:
        OSError: The command cannot be started.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self.outbox: SimpleQueue[bytes | None] = SimpleQueue()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_KEEPS_MEMORY | os.environ
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._source = self.process.stdout
        self._writer = Thread(target=_write_all, args=(self.outbox, self.process.stdin), daemon=True)
        self._writer.start()

    def read(self) -> Report | None:
        """The next message of the process; None at its end."""
        return read_report(self._source)

    def end(self) -> int:
        """Kill the process if it runs; returns the exit status."""
        self.process.kill()
        self.outbox.put(None)
        self._writer.join()
        self._source.close()
        return self.process.wait()


def _write_all(outbox: SimpleQueue[bytes | None], sink: IO[bytes]) -> None:
    """Write the messages of *outbox* until None, or until the reader is gone."""
    with contextlib.suppress(BrokenPipeError, ValueError), sink:
        while (message := outbox.get()) is not None:
            sink.write(message)
            sink.flush()


def cpu_seconds_of(pid: int) -> float:
    """Seconds of processor time of a process so far; nan where the system has no `/proc`."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError):
        return math.nan


def pause_after(short_runs: int) -> float:
    """Seconds before the next start after so many short runs in a row: 0, 0, 1, 2, 4 and so on."""
    return min(2.0 ** (short_runs - 2), _LONGEST_PAUSE_S) if short_runs > 1 else 0.0


def describe_end(code: int) -> str:
    """The reason of exit status *code* in words. A negative code is the signal that killed the process."""
    if code >= 0:
        return f"the worker process ended with exit code {code}"
    with contextlib.suppress(ValueError):
        return f"the worker process was ended by {signal.Signals(-code).name}"
    return f"the worker process was ended by signal {-code}"
