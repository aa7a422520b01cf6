"""Several runs of the loop in lockstep: each pass of the network reads the next token of all of them.

This only works ahead: each run writes exactly what it would write alone, and can be continued alone from
wherever it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from fimlsp.models.decoding.loop import Decoding
from fimlsp.models.errors import OutOfMemoryError
from fimlsp.models.protocols import SideBySide, TellsAllRows


def run_ahead(runs: Sequence[Decoding], should_stop: Callable[[], bool]) -> None:
    """Advance *runs*, which share one prompt, together as far as possible, if their network can do that.

    Returns when all have ended, when there is a reason to stop, or when memory does not suffice for all.
    """
    active = [run for run in runs if run.stop_reason is None]
    if len(active) < 2 or should_stop():
        return
    with suppress(OutOfMemoryError):  # each run can still go on alone
        _step_together(active, should_stop)


def _step_together(active: list[Decoding], should_stop: Callable[[], bool]) -> None:
    first = active[0]
    if not isinstance(first.model, SideBySide):
        return
    *shared, last = first.prompt.tokens
    rows = first.model.side_by_side(shared, first.budget) if shared else None
    if rows is None:
        return
    candidates = rows.begin([(last, *run.middle.tokens) for run in active])
    while True:
        for number, (run, each) in enumerate(zip(active, candidates, strict=True)):
            told = partial(rows.all_of, number) if isinstance(rows, TellsAllRows) else None
            run.step_with(each, told)
        kept = [number for number, run in enumerate(active) if run.interruption(should_stop) is None]
        active = [active[number] for number in kept]
        if not active:
            return
        candidates = rows.advance(kept, [run.middle.tokens[-1] for run in active])
