"""Starts a worker process, talks to it, and starts it again when it dies.

The worker is a plain child process with pipes, not a fork, so that it inherits neither the editor's
pipes nor an event loop. It is started with a search path that leaves out the working directory: an editor
starts servers in the user's workspace, where a `queue.py` may lie.

One thread keeps the process alive and reads from it, another writes to it, so that nothing here ever
makes the event loop wait; their callbacks run on the event loop. (asyncio's own subprocesses
are not used: in CPython 3.11 one that is cancelled while it starts keeps the loop from ever closing.)
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
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
"""What tells glibc, which else gives the memory of each copy of a long text back and asks for it again.

Fetching pages costs ten times as much as copying. Elsewhere it is ignored.
"""

_HEALTHY_S = 30.0
"""A worker that lived this long may be started again at once; one that did not would likely die again."""

_LONGEST_PAUSE_S = 60.0


class WorkerProcess:
    """Keeps one worker alive and passes messages both ways.

    *on_start* is called when a process was started and must be sent everything it needs to know; *on_report*
    for each of its messages; *on_end* when it died, with the reason. All on the event loop; none may block.
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
        """Whether there is a process, or will be one in a moment: not after `close` nor in a pause."""
        return not (self._is_pausing or self._closing.is_set())

    def send(self, message: Request) -> None:
        """Pass *message* on without waiting; it is lost when no process is running."""
        if self._run is not None:
            self._run.outbox.put(pickle.dumps(message))

    def kill(self) -> None:
        """End a process that does not answer; a new one is started."""
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
            self._tell(self._end, reason, pause)
            self._closing.wait(pause)

    def _run_once(self) -> str:
        """Start a process and serve it until it ends; why it ended."""
        try:
            run = WorkerRun(self._command)
        except OSError as error:
            return f"the worker process could not be started ({error})"
        self._tell(self._begin, run)
        while not self._closing.is_set() and (report := run.read()) is not None:
            self._tell(self._on_report, report)
        return describe_end(run.end())

    def _begin(self, run: WorkerRun) -> None:
        self._run = run
        self._is_pausing = False
        self._on_start()

    def _end(self, reason: str, pause: float) -> None:
        self._run = None
        self._is_pausing = pause > 0
        if not self._closing.is_set():
            self._on_end(f"{reason}; it is started again" + (f" in {pause:g} s" if pause else ""))

    def _tell(self, callback: Callable[..., None], *arguments: object) -> None:
        """Call *callback* on the event loop; when that is closed, the server is gone and all this is over."""
        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:
            self._closing.set()


class WorkerRun:
    """One process, from its start to its end.

    Raises:
        OSError: The command cannot be run.
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
        """Make sure that it has ended; the exit status."""
        self.process.kill()
        self.outbox.put(None)
        self._writer.join()
        self._source.close()
        return self.process.wait()


def _write_all(outbox: SimpleQueue[bytes | None], sink: IO[bytes]) -> None:
    """Write what comes in *outbox* up to None, or until nobody reads any more."""
    with contextlib.suppress(BrokenPipeError, ValueError), sink:
        while (message := outbox.get()) is not None:
            sink.write(message)
            sink.flush()


def pause_after(short_runs: int) -> float:
    """Seconds to wait before the next start after so many short runs in a row: 0, then 1, 2, 4 and so on."""
    return min(2.0 ** (short_runs - 2), _LONGEST_PAUSE_S) if short_runs > 1 else 0.0


def describe_end(code: int) -> str:
    """Why a process with exit status *code* ended, in words. Negative: the signal that killed it."""
    if code >= 0:
        return f"the worker process ended with exit code {code}"
    with contextlib.suppress(ValueError):
        return f"the worker process was ended by {signal.Signals(-code).name}"
    return f"the worker process was ended by signal {-code}"
