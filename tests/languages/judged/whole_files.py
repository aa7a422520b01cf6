"""Real files, each once: complete as a whole, and at random cuts with what was cut out."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path

from .checking import Judged, Tally
from .cuts import cuts

_PART = 4_000


def whole_files(of: Judged, files: Iterable[Path], n_cuts: int, seed: int) -> Iterator[Tally]:
    """A tally of each of *files*; what the judge refuses counts as open."""
    for number, path in enumerate(files):
        tally = of.tally()
        data = path.read_bytes()
        if of.accepts(data):
            engine = of.engine if number % 50 else of.fresh_engine()
            state = engine.document(b"").middle(0, 0).start
            for offset in range(0, len(data), _PART):
                state = state and state.feed(data[offset : offset + _PART])
            _judge(tally, b"", data, b"", state is not None and state.complete, path)
            document = engine.document(data)
            for start, end in cuts(data, random.Random(f"{seed} {path.name} {len(data)}"), n_cuts):
                state = document.middle_at_bytes(start, end, relax=False).start
                state = state and state.feed(data[start:end])
                is_complete = state is not None and state.complete
                _judge(tally, data[:start], data[start:end], data[end:], is_complete, path)
        else:
            tally.undecided += 1
        yield tally


def _judge(tally: Tally, left: bytes, middle: bytes, right: bytes, said: bool, path: Path) -> None:
    tally.judged += 1
    if not said:
        tally.fault("rejects", left, middle, right, str(path))
