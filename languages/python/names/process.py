"""The process of the analysis: answers one question after the other within limits of time and memory.

A look-up that takes too long is given up; where the system cannot interrupt it, the process ends. It also
ends when it has grown too large. The client starts it again with the next question. Questions and answers are
pickled, as both ends are the same program.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from fimlsp.languages.python.names.known_names import (
    Done,
    Finding,
    LookUpStarted,
    NameQuery,
    NothingFound,
    Question,
)
from fimlsp.processes.bounded import claim_pipes, limit_memory

LOOK_UP_S = 1.5
"""Processor seconds after which a look-up is given up, where the system can interrupt one."""

QUESTION_S = 15
"""Processor seconds after which a question ends the process, where the system can limit them.

Its look-ups end after `LOOK_UP_S` each. So a question takes this long only if one cannot be interrupted.
"""

PATIENCE_S = 150.0
"""Seconds on the clock after which a question ends the process: one that waits for the disk, for instance."""

GROWN_BYTES = 300_000_000
"""The size from which the process ends after the question."""

LARGEST_BYTES = 1_000_000_000
"""The limit of the address space, where the system can set one."""

NICENESS = 5


class _TooLongError(BaseException):
    """Raised in a look-up that takes too long. Not an `Exception`, so that jedi does not catch it."""


def serve(guard: Callable[[Question], None] = lambda _: None, trees: Path | None = None) -> None:
    """Answer the questions of standard input up to its end; *guard* is called with each question first.

    Parse trees are kept in the folder *trees*, by default jedi's own.
    """
    source, sink = claim_pipes()
    _lower_priority()
    limit_memory(LARGEST_BYTES)
    with suppress(EOFError, BrokenPipeError, pickle.UnpicklingError):  # the client has ended
        _answer_all(source, sink, guard, trees)


def _answer_all(
    source: BinaryIO, sink: BinaryIO, guard: Callable[[Question], None], trees: Path | None
) -> None:
    """Answer until the process has grown too large.

    Raises:
        EOFError, BrokenPipeError, UnpicklingError: The client has ended, perhaps within a question.
        RuntimeError: jedi does not work here.
    """
    from fimlsp.languages.python.names.jedi_names import find_names, read_builtins

    def send(answer: LookUpStarted | Finding | NothingFound | Done) -> None:
        pickle.dump(answer, sink)
        sink.flush()

    @contextmanager
    def limited(query: NameQuery) -> Iterator[None]:
        send(LookUpStarted(query))
        with suppress(_TooLongError), _time_limit():
            yield

    size = _size_of_this_process()
    read_builtins(trees)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    while size() <= GROWN_BYTES:
        question: Question = pickle.load(source)
        patience = PATIENCE_S if _limit_question() else QUESTION_S
        faulthandler.dump_traceback_later(patience, exit=True, file=nowhere)
        guard(question)
        for finding in find_names(question, limited):
            send(finding)
        faulthandler.cancel_dump_traceback_later()
        send(Done())


@contextmanager
def _time_limit() -> Iterator[None]:
    """Raises `_TooLongError` after `LOOK_UP_S` in the block, where the system has such a timer."""
    if not hasattr(signal, "SIGPROF"):
        yield
        return
    signal.signal(signal.SIGPROF, _interrupt)
    signal.setitimer(signal.ITIMER_PROF, LOOK_UP_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _limit_question() -> bool:
    """End the process after `QUESTION_S` from now; false if the system cannot limit processor time."""
    try:
        import resource
    except ImportError:
        return False
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    until = int(time.process_time()) + QUESTION_S
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (until, most))
    except (OSError, ValueError):  # the user's own limit comes first
        return False
    return True


def _interrupt(_: int, __: object) -> None:
    raise _TooLongError


def _lower_priority() -> None:
    """Let all other processes go first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    if hasattr(os, "nice"):
        os.nice(NICENESS)


def _size_of_this_process() -> Callable[[], int]:
    """A function that returns the size of the process in bytes; 0 if the system does not report it.

    The largest size so far (`ru_maxrss`) would include that of the parent process.
    """
    try:
        sizes = os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:
        return lambda: 0
    page = os.sysconf("SC_PAGE_SIZE")
    return lambda: page * int(os.pread(sizes, 100, 0).split()[1])


if __name__ == "__main__":
    serve()
