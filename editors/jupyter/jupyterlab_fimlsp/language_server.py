"""A fimlsp process for one page: LSP messages over its standard input and output.

Threads read and write, because the event loop of a Jupyter server on Windows has no pipes.
"""

from __future__ import annotations

import asyncio
import logging
import re
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT, Popen
from threading import Thread
from typing import IO

RUN = (
    "import sys; sys.path = [p for p in sys.path if p]; sys.argv[0] = 'fimlsp'; "
    "from fimlsp.__main__ import main; main()"
)
"""Python that runs fimlsp, but no module of the current folder, which may be part of a stranger's project."""

ENDING_S = 5.0
"""Seconds that a process has to end after its input has ended."""

DOCTOR_S = 120.0
"""Time limit of `fimlsp doctor`."""

LAST_LINES = 20
_LENGTH = re.compile(rb"content-length: *(\d{1,9})\r\n", re.IGNORECASE)

log = logging.getLogger(__name__)


def command(*arguments: str) -> Sequence[str]:
    """The command line of fimlsp in this Python's environment."""
    return sys.executable, "-c", RUN, *arguments


class LanguageServer:
    """A running `fimlsp --stdio` in *folder*; its log goes to the log of this module.

    On the event loop, *on_message* is called for each message of the process, and *on_end* once, with the
    reason, when it has ended.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(
        self, folder: Path, on_message: Callable[[bytes], object], on_end: Callable[[str], object]
    ) -> None:
        self._on_message = on_message
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._process = Popen(command("--stdio"), cwd=folder, stdin=PIPE, stdout=PIPE, stderr=PIPE)
        self._writing = ThreadPoolExecutor(1, "fimlsp-writing")
        self._last_lines: deque[str] = deque(maxlen=LAST_LINES)
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._logging = Thread(target=self._log_all, args=(self._process.stderr,), daemon=True)
        self._logging.start()
        Thread(target=self._read_all, args=(self._process.stdout,), daemon=True).start()

    async def send(self, message: bytes) -> None:
        """Send a *message*, UTF-8; returns once the process takes it. Nothing happens after its end."""
        with suppress(RuntimeError):  # the executor was shut down
            await self._loop.run_in_executor(self._writing, self._write, message)

    def _write(self, message: bytes) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        with suppress(OSError, ValueError):  # it has ended, of which the reading thread informs
            stdin.write(b"Content-Length: %d\r\n\r\n" % len(message) + message)
            stdin.flush()

    def end(self) -> None:
        """End the process, by the end of its input, and by force after `ENDING_S`. Does not wait."""
        Thread(target=self._end, daemon=True).start()

    def _end(self) -> None:
        assert self._process.stdin is not None
        self._writing.shutdown(wait=False, cancel_futures=True)
        with suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(ENDING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _read_all(self, stdout: IO[bytes]) -> None:
        with stdout:
            while (body := _read_body(stdout)) is not None:
                self._call(self._on_message, body)
        self._end()
        status = self._process.wait()
        self._logging.join(ENDING_S)
        last = self._last_lines[-1] if self._last_lines else f"exit status {status}"
        self._call(self._on_end, f"fimlsp has ended: {last}")

    def _call(self, function: Callable[..., object], argument: object) -> None:
        with suppress(RuntimeError):  # the loop is closed: the Jupyter server has ended
            self._loop.call_soon_threadsafe(function, argument)

    def _log_all(self, stderr: IO[bytes]) -> None:
        with stderr:
            for line in stderr:
                text = line.decode(errors="replace").rstrip()
                self._last_lines.append(text)
                log.info("%s", text)


def _read_body(stdout: IO[bytes]) -> bytes | None:
    """The next message; None at the end."""
    length = 0
    while line := stdout.readline():
        header = _LENGTH.fullmatch(line)
        if header is not None:
            length = int(header[1])
        elif length and not line.strip():
            body = stdout.read(length)
            return body if len(body) == length else None
    return None


def doctor_report(folder: Path, model: str | None) -> str:
    """The output of `fimlsp doctor` for *model*, or for the bundled one. Takes seconds."""
    chosen = [f"--model={model}"] if model else []
    try:
        done = subprocess.run(
            command("doctor", *chosen),
            cwd=folder,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
            timeout=DOCTOR_S,
        )
    except subprocess.TimeoutExpired:
        return f"Cannot finish within {DOCTOR_S:.0f} s. Run `fimlsp doctor` in a terminal."
    except OSError as error:
        return f"Cannot start fimlsp: {error}. Install it in the environment of the Jupyter server."
    return done.stdout.decode(errors="replace")
