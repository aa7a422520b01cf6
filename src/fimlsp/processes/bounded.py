"""A process that answers questions within bounds of processor time and memory, so that no question can hang.

The work of a question may be one call of a library that no other thread can interrupt. So the kernel ends
the process: a timer of processor time raises a signal that nothing handles. Time on the clock is limited as
well, more generously, for work that waits: a busy machine must not look like a hang. Where the kernel has no
such timer, as on Windows, only the clock counts.

The process may read files, and write in the given folders only. Where the kernel has Landlock, it refuses
all else, such as TCP and other programs. Questions and answers are pickled, as both ends are the
same program.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from threading import Lock, Timer
from typing import BinaryIO, cast

from fimlsp.errors import UserError
from fimlsp.processes.confinement import forbid_effects
from fimlsp.processes.helper import HelperEndedError, HelperProcess, command_of
from fimlsp.processes.plain_values import plain_of

IDLE_S = 5.0
"""Seconds without a question after which the process ends."""

NICENESS = 5

_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Libraries of numbers otherwise reserve memory for each processor, up to the bound."""

_MOST_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of one process.

    Attributes:
        seconds: processor time of a question.
        clock: seconds on the clock.
        memory: bytes of address space, where the system can limit it.
        writable: existing folders whose files may be written.
    """

    seconds: float
    clock: float = 300.0
    memory: int = 1 << 30
    writable: tuple[str, ...] = ()


class BoundExceededError(UserError):
    """A question ended its process; the message is a predicate, such as 'takes more than 5 s'."""


class BoundedProcess:
    """Answers questions by *function*, which can be imported, in a process that starts when it is needed.

    It serves one question at a time, from any thread. Starting it takes the time of importing the module.
    """

    def __init__(self, function: Callable[..., object], bounds: Bounds) -> None:
        name = f"{function.__module__}:{function.__qualname__}"
        command = [*command_of(__name__, "main"), name, json.dumps(asdict(bounds))]
        self._process = HelperProcess(command, {**os.environ, **_ONE_THREAD})
        self._bounds = bounds
        self._lock = Lock()
        self._ending: Timer | None = None

    def ask(self, question: object) -> object:
        """The function's answer to *question*. Waits for it.

        Raises:
            BoundExceededError: the process exceeded a bound, or ended; the next question starts another one.
            Exception: the function raised it.
        """
        with self._lock:
            self._stop_timer()
            raised, answer = self._answer(question)
            self._ending = Timer(IDLE_S, self.close)
            self._ending.daemon = True
            self._ending.start()
        if raised:
            raise cast("Exception", answer)
        return answer

    def close(self) -> None:
        """End the process; a question under way is answered first."""
        with self._lock:
            self._stop_timer()
            self._process.end()

    def _answer(self, question: object) -> tuple[bool, object]:
        started = time.monotonic()
        try:
            self._process.send(question)
            return cast("tuple[bool, object]", self._process.receive())
        except HelperEndedError as error:
            status = self._process.end()
            raise BoundExceededError(self._describe(status, time.monotonic() - started)) from error

    def _stop_timer(self) -> None:
        if self._ending is not None:
            self._ending.cancel()

    def _describe(self, status: int, waited: float) -> str:
        bounds = self._bounds
        if status == -getattr(signal, "SIGPROF", 0):
            return f"takes more than {bounds.seconds:g} s of processor time"
        if status == _NO_MEMORY:
            return f"needs more than {bounds.memory >> 20:,} MB"
        if waited >= bounds.clock:
            return f"takes more than {bounds.clock:g} s"
        return f"ended the process that read it (exit status {status})"


_NO_MEMORY = 3


def main() -> None:
    """Answer the questions of standard input by a function, within bounds, until there are no more.

    The arguments of the command are the name of the function and the bounds.
    """
    function, bounds = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, sink = claim_pipes()
    limits = Bounds(**json.loads(bounds))
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    limit_memory(limits.memory)
    forbid_effects(tuple(limits.writable))
    module, _, name = function.partition(":")
    work = getattr(importlib.import_module(module), name)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with suppress(EOFError, BrokenPipeError):
        while True:
            question = pickle.load(source)
            _start_timer(limits.seconds)
            faulthandler.dump_traceback_later(limits.clock, exit=True, file=nowhere)
            answer = _answer(work, question)
            _start_timer(0)
            faulthandler.cancel_dump_traceback_later()
            sink.write(answer)
            sink.flush()


def _answer(work: Callable[[object], object], question: object) -> bytes:
    try:
        return pickle.dumps((False, work(question)))
    except MemoryError:
        os._exit(_NO_MEMORY)
    except Exception as error:
        try:
            plain_of(data := pickle.dumps((True, error)))
        except Exception:  # an error of a library, or one whose constructor has other arguments
            text = f"{type(error).__name__}: {error}"[:_MOST_CHARACTERS]
            return pickle.dumps((True, RuntimeError(text)))
        return data


def _start_timer(seconds: float) -> None:
    """End the process after so many *seconds* of processor time; 0 stops the timer."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)


def limit_memory(most: int) -> None:
    """Limit the address spaces of this process and of those that it starts to *most* bytes, if possible."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def claim_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output for messages alone; libraries get the null device and the error stream."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return source, sink
