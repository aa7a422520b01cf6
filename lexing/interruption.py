"""Cancels long work: loops ask at checkpoints whether anybody still waits for the answer.

This is the cancel scope of structured concurrency (as in Trio): `interruptible` sets what is asked, for all
that is called within it, and `checkpoint` asks. So a bound on time needs no argument in each function between
the worker and an Earley set. Without a scope nothing is asked, and a checkpoint costs some 40 ns.

A checkpoint stands only where all caches are sound. What was made so far is kept, so that the next attempt
goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic

EVERY = 64
"""How many quick steps, of some microseconds each, a loop takes between two checkpoints."""

_is_over: ContextVar[Callable[[], bool] | None] = ContextVar("is_over", default=None)


class Interrupted(Exception):  # noqa: N818  # no fault: somebody wanted it
    """Raised at a checkpoint when nobody waits for the answer any more."""


@contextmanager
def interruptible(is_over: Callable[[], bool]) -> Iterator[None]:
    """Within this scope `Interrupted` is raised at the next checkpoint after *is_over* has become true.

    *is_over* must be quick: it is asked up to every 100 microseconds. A scope around holds as well.
    """
    around = _is_over.get()
    token = _is_over.set(is_over if around is None else lambda: is_over() or around())
    try:
        yield
    finally:
        _is_over.reset(token)


def time_limit(seconds: float) -> Callable[[], bool]:
    """A function that tells whether *seconds* have passed since this call."""
    ends_at = monotonic() + seconds
    return lambda: monotonic() >= ends_at


def checkpoint() -> None:
    """Raise `Interrupted` if the scope around is over."""
    is_over = _is_over.get()
    if is_over is not None and is_over():
        raise Interrupted
