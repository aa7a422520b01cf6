"""Cancels long work: loops call `checkpoint`, which raises once nobody waits for the answer any more.

This is the cancel scope of structured concurrency (as in Trio). `interruptible` sets the condition for all
calls within it, and `checkpoint` evaluates it. So a time limit needs no argument in each function between the
worker and an Earley set. Without a scope a checkpoint costs some 40 ns.

Checkpoints are only at points where all caches are sound. Results so far are kept, so the next attempt
continues from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic, thread_time

EVERY = 64
"""Number of quick steps, of some microseconds each, that a loop takes between two checkpoints."""

_is_over: ContextVar[Callable[[], bool] | None] = ContextVar("is_over", default=None)


class Interrupted(Exception):  # noqa: N818  # a request, not an error
    """Raised at a checkpoint when nobody waits for the answer any more."""


@contextmanager
def interruptible(is_over: Callable[[], bool]) -> Iterator[None]:
    """Within this scope `Interrupted` is raised at the next checkpoint after *is_over* has become true.

    *is_over* must be quick: it is called up to every 100 microseconds. Outer scopes apply as well.
    """
    around = _is_over.get()
    token = _is_over.set(is_over if around is None else lambda: is_over() or around())
    try:
        yield
    finally:
        _is_over.reset(token)


def time_limit(seconds: float) -> Callable[[], bool]:
    """A function that returns True once *seconds* have passed since this call."""
    ends_at = monotonic() + seconds
    return lambda: monotonic() >= ends_at


def work_limit(seconds: float, on_the_clock: float) -> Callable[[], bool]:
    """A function that returns True once this thread has worked *seconds*, or *on_the_clock* have passed.

    So a busy machine, on which the clock runs ahead of the work, does not end it at once.
    """
    works_until, is_late = thread_time() + seconds, time_limit(on_the_clock)
    return lambda: thread_time() >= works_until or is_late()


def checkpoint() -> None:
    """Raise `Interrupted` if a surrounding scope is over."""
    is_over = _is_over.get()
    if is_over is not None and is_over():
        raise Interrupted


def is_interrupted() -> bool:
    """True if a surrounding scope is over, for work that has its own way to end."""
    is_over = _is_over.get()
    return is_over is not None and is_over()
