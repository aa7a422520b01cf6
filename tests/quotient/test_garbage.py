"""The engine makes no reference cycles: what nobody holds is freed at once, without the garbage collector."""

import gc
import random

import pytest

from .contexts.test_document import PROBES, SAMPLE, edits
from .middle_support import engine


def walk(seed: int) -> None:
    """Edit a document, ask at a place of it after each edit, and feed and complete what may stand there."""
    rng = random.Random(seed)
    document = engine().document(SAMPLE)
    for edit in edits(SAMPLE, rng, 20):
        document.edit(*edit)
        place = rng.randrange(len(document.data) + 1)
        start = document.middle_at_bytes(place, place, may_escape=rng.random() < 0.5).start
        reached = [start] if start is None else [start, *(start.feed(probe) for probe in PROBES)]
        for state in reached:
            assert state is None or state.complete == (not state.shortest_completion)


@pytest.mark.parametrize("seed", range(4))
def test_no_cycles(seed):
    walk(seed + 100)  # makes the engine
    gc.disable()
    try:
        gc.collect()
        walk(seed)
        assert gc.collect() == 0
    finally:
        gc.enable()
