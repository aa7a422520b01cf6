"""The process of the analysis: answers questions one after the other, with bounds to time and memory.

A look-up that takes too long is given up; where that cannot be, the process ends. It also ends when it has
grown too large, and is started again with the next question. Pickled questions come in and pickled answers go
out; both ends are the same program.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from fimlsp.languages.python.analysis.questions import Begun, Done, Finding, Question
from fimlsp.languages.python.names.known_names import Wanted

LOOK_UP_S = 1.5
"""Processor time after which a look-up is given up, where the system can interrupt one."""

PATIENCE_S = 15.0
"""A question that takes longer ends the process.

Its look-ups end by themselves, each after `LOOK_UP_S`. So it takes this long only where one cannot be
interrupted, or has to wait for the disk or for other programs.
"""

GROWN_BYTES = 300_000_000
"""A process that has become larger ends after the question."""

LARGEST_BYTES = 1_000_000_000
"""The address space that it may take, where the system can see to it."""

NICENESS = 5


class _TooLongError(BaseException):
    """A look-up takes too long. Not an `Exception`, so that jedi does not catch it."""


def serve(guard: Callable[[Question], None] = lambda _: None, trees: Path | None = None) -> None:
    """Answer what comes over standard input, to its end; *guard* hears of each question first.

    Parse trees are kept in the folder *trees*; None: where jedi keeps them.
    """
    source, sink = _claim_pipes()
    _be_modest()
    with suppress(
        EOFError, BrokenPipeError, pickle.UnpicklingError
    ):  # nobody asks, or wants to hear, any more
        _answer_all(source, sink, guard, trees)


def _answer_all(
    source: BinaryIO, sink: BinaryIO, guard: Callable[[Question], None], trees: Path | None
) -> None:
    """Answer until the process has grown too large.

    Raises:
        EOFError, BrokenPipeError, UnpicklingError: The other end is gone, perhaps within a question.
        RuntimeError: jedi does not work here.
    """
    from fimlsp.languages.python.analysis.jedi_names import find_names, read_builtins

    def tell(answer: Begun | Finding | Done) -> None:
        pickle.dump(answer, sink)
        sink.flush()

    @contextmanager
    def limited(wanted: Wanted) -> Iterator[None]:
        tell(Begun(wanted))
        with suppress(_TooLongError), _time_limit():
            yield

    size = _size_of_this_process()
    read_builtins(trees)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    while size() <= GROWN_BYTES:
        question: Question = pickle.load(source)
        faulthandler.dump_traceback_later(PATIENCE_S, exit=True, file=nowhere)
        guard(question)
        for finding in find_names(question, limited):
            tell(finding)
        faulthandler.cancel_dump_traceback_later()
        tell(Done())


@contextmanager
def _time_limit() -> Iterator[None]:
    """Raises `_TooLongError` in what takes longer than `LOOK_UP_S`, where the system has such a timer."""
    if not hasattr(signal, "SIGPROF"):
        yield
        return
    signal.signal(signal.SIGPROF, _interrupt)
    signal.setitimer(signal.ITIMER_PROF, LOOK_UP_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _interrupt(_: int, __: object) -> None:
    raise _TooLongError


def _be_modest() -> None:
    """Give way to others, and take no more memory than is allowed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    with suppress(ImportError, ValueError, OSError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (LARGEST_BYTES, most))


def _size_of_this_process() -> Callable[[], int]:
    """A function that tells how large the process is, in bytes; 0 where the system does not tell.

    The largest size that a process has had (`ru_maxrss`) would begin with that of whoever started it.
    """
    try:
        sizes = os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:
        return lambda: 0
    page = os.sysconf("SC_PAGE_SIZE")
    return lambda: page * int(os.pread(sizes, 100, 0).split()[1])


def _claim_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output for the answers alone; whatever else is printed goes to the error stream."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return source, sink


if __name__ == "__main__":
    serve()
