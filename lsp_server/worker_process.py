"""The server's end of the worker: start it, talk to it, start it again when it dies.

The worker is a plain child process with pipes, not a fork, so that it inherits neither the editor's
pipes nor an event loop. It is started with a search path that leaves out the working directory: an editor
starts servers in the user's workspace, where a `queue.py` may lie.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence

from fimlsp.lsp_server.messages import Report, Request, pack, read_report

log = logging.getLogger(__name__)

WORKER_COMMAND = (
    sys.executable,
    "-c",
    "import sys; sys.path = [p for p in sys.path if p]; from fimlsp.lsp_server.worker import main; main()",
)

_HEALTHY_S = 30.0
"""A worker that lived this long died of something new; one that did not is likely to die again."""

_LONGEST_PAUSE_S = 60.0


class WorkerProcess:
    """Keeps one worker alive and passes messages both ways.

    *on_start* is called when a process has begun and must be told everything it needs to know; *on_report*
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
        self._process: Process | None = None
        self._keeper: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start the process and keep it alive until `close`."""
        self._keeper = asyncio.get_running_loop().create_task(self._keep_alive())

    @property
    def is_running(self) -> bool:
        """Whether there is a process that messages can be sent to."""
        return self._process is not None

    def send(self, message: Request) -> None:
        """Pass *message* on without waiting; it is lost when no process is running."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(pack(message))

    def kill(self) -> None:
        """End a process that does not answer; a new one is started."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    async def close(self) -> None:
        """End the process for good."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])

    async def _keep_alive(self) -> None:
        loop = asyncio.get_running_loop()
        short_lives = 0
        while True:
            began = loop.time()
            reason = await self._live_once()
            short_lives = 0 if loop.time() - began > _HEALTHY_S else short_lives + 1
            pause = pause_after(short_lives)
            self._on_end(f"{reason}; it is started again" + (f" in {pause:g} s" if pause else ""))
            await asyncio.sleep(pause)

    async def _live_once(self) -> str:
        """Start a process and serve it until it ends; why it ended."""
        try:
            process = await asyncio.create_subprocess_exec(*self._command, stdin=PIPE, stdout=PIPE)
        except OSError as error:
            return f"the worker process could not be started ({error})"
        self._process = process
        try:
            self._on_start()
            await self._read_reports(process)
        finally:
            self._process = None
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        return describe_end(await process.wait())

    async def _read_reports(self, process: Process) -> None:
        assert process.stdout is not None
        with contextlib.suppress(asyncio.IncompleteReadError):
            while True:
                self._on_report(await read_report(process.stdout))


def pause_after(short_lives: int) -> float:
    """Seconds to wait before the next start after so many short lives in a row: 0, then 1, 2, 4 and so on."""
    return min(2.0 ** (short_lives - 2), _LONGEST_PAUSE_S) if short_lives > 1 else 0.0


def describe_end(code: int) -> str:
    """Why a process with exit status *code* ended, in words. Negative: the signal that killed it."""
    if code >= 0:
        return f"the worker process ended with exit code {code}"
    with contextlib.suppress(ValueError):
        return f"the worker process was ended by {signal.Signals(-code).name}"
    return f"the worker process was ended by signal {-code}"
