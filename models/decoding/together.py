"""Several runs of the loop in step: each pass of the network reads the next token of all of them.

Only work done ahead: each run writes what it would write alone, and whoever takes it up goes on where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from fimlsp.models.decoding.loop import Decoding
from fimlsp.models.errors import OutOfMemoryError
from fimlsp.models.protocols import SideBySide


def run_ahead(runs: Sequence[Decoding], should_stop: Callable[[], bool]) -> None:
    """Let *runs*, which have one prompt, take their steps together, if their network can do that.

    Ends when all have ended, when there is a reason to stop, or when the memory does not suffice for them.
    """
    going = [run for run in runs if run.ended is None]
    if len(going) < 2 or should_stop():
        return
    with suppress(OutOfMemoryError):
        _step_together(going, should_stop)


def _step_together(going: list[Decoding], should_stop: Callable[[], bool]) -> None:
    if not isinstance(going[0].model, SideBySide):
        return
    *shared, last = going[0].prompt.tokens
    rows = going[0].model.side_by_side(shared, going[0].budget) if shared else None
    if rows is None:
        return
    candidates = rows.begin([(last, *run.written.tokens) for run in going])
    while True:
        for run, each in zip(going, candidates, strict=True):
            run.see(each)
        kept = [number for number, run in enumerate(going) if run.interruption(should_stop) is None]
        going = [going[number] for number in kept]
        if not going:
            return
        candidates = rows.advance(kept, [run.written.tokens[-1] for run in going])
