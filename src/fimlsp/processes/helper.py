"""A process of our own that answers questions: its pipes, its end and its restarts.

Questions and answers are pickled, as both ends are the same program. An answer is read as a plain value.

A thread waits for the end of each process. On POSIX, the system keeps an ended process until somebody does.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from threading import Thread
from typing import BinaryIO, cast

from fimlsp.processes.plain_values import read_plain

LONGEST_PAUSE_S = 60.0
"""Most seconds between the end of a process and the start of the next."""

GRACE_S = 1.0
"""Seconds for a process to end after its pipes."""

PATIENCE_S = 5.0
"""Seconds for a process to tidy up, if it is told to end, before it is killed."""


class HelperEndedError(Exception):
    """The process has ended, or wrote something else than an answer."""


class HelperProcess:
    """A process that *command* starts with the first question, and again after it has ended.

    *environment* is that of the process; None: this one.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self._command = command
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None
        self.failures = 0

    @property
    def pause_s(self) -> float:
        """Seconds to wait before the next question: after the second failure in a row, ever longer."""
        return min(2.0 ** (self.failures - 2), LONGEST_PAUSE_S) if self.failures > 1 else 0.0

    def is_running(self) -> bool:
        """True if the process of the last question is there to answer the next one."""
        return self._process is not None and self._process.poll() is None

    def send(self, question: object) -> None:
        """Send *question*.

        Raises:
            HelperEndedError: the process has ended.
        """
        try:
            process = self._running()
            assert process.stdin is not None
            pickle.dump(question, process.stdin)
            process.stdin.flush()
        except (OSError, ValueError) as error:
            raise HelperEndedError from error

    def receive(self) -> object:
        """The next answer. Blocks.

        Raises:
            HelperEndedError: the process has ended.
        """
        process = self._process
        if process is None or process.stdout is None:
            raise HelperEndedError
        try:
            return read_plain(process.stdout)
        except (OSError, EOFError, ValueError, pickle.UnpicklingError) as error:
            raise HelperEndedError from error

    def end(self) -> int:
        """End the process, wait until it has tidied up, and return its exit status; 0 if there is none."""
        process, self._process = self._process, None
        if process is None:
            return 0
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                cast("BinaryIO", pipe).close()
        for seconds, end in ((GRACE_S, process.terminate), (PATIENCE_S, process.kill)):
            with suppress(subprocess.TimeoutExpired):
                return process.wait(seconds)
            end()
        return process.wait()

    def kill(self) -> None:
        """End the process without waiting, from any thread."""
        if self._process is not None:
            self._process.terminate()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self.end()
        if self._process is None:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self._environment
            )
            Thread(target=self._process.wait, name="end of a process", daemon=True).start()
        return self._process


def command_of(module: str, function: str) -> tuple[str, ...]:
    """The command of a process that runs *function* of *module*, and imports nothing from its own folder."""
    code = f"import sys; sys.path = [p for p in sys.path if p]; from {module} import {function}; {function}()"
    return sys.executable, "-c", code
