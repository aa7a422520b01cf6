"""Reads a file that is broken away from the cursor as the valid one that it most nearly is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from fimlsp.quotient.bridge.options import ConnectOptions
from fimlsp.quotient.connect.connect import connect, read_up_to
from fimlsp.quotient.contexts.document import Document
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.recovery.above import Above
from fimlsp.quotient.recovery.below import Below
from fimlsp.quotient.recovery.headers import Assumed
from fimlsp.quotient.recovery.mended_text import Mend, MendedText
from fimlsp.quotient.recovery.statements import Edit
from fimlsp.quotient.states.protocol import State


@cache
def assumed_of(tables: LanguageTables) -> Assumed:
    """What is assumed in texts of the language of *tables*."""
    return Assumed(tables)


def recovered(
    document: Document, start: int, end: int, options: ConnectOptions
) -> tuple[State | None, tuple[Mend, ...]]:
    """The state of what may replace `data[start:end]` in the mended text, and how it was mended."""
    assumed = assumed_of(document.tables)
    lines = document.transitions.lines
    text = MendedText(document, start, end)
    above = Above(assumed, text, start - lines.start_of_stretch(document.data, start))
    above.mend()
    below = Below(assumed, text, lines.end_of_stretch(document.data, end) - end, above.column)
    below.mend()
    for reading in _readings(above, below):
        found = read_up_to(reading.document, reading.cursor)
        state = found and connect(reading.document, reading.cursor_end, *found, options)
        if state is not None:
            return state, tuple(reading.mends)
    return None, ()


def _readings(above: Above, below: Below) -> Iterator[MendedText]:
    """The mended text, then ones in which what is at the cursor's line is mended or left out as well."""
    changes = [(), *filter(None, (below.without_closers(), below.without_rest()))]
    lefts = [above, *above.closed()]
    yield from _combined(lefts, changes, below)
    yield from _combined(lefts, [(*below.without_rest(), *below.without_all())], below)
    bare = above.without_all()
    changes.append((*below.without_rest(), *below.without_all()))
    yield from _combined([above.without_line(), bare, bare.without_line()], changes, below)


def _combined(
    lefts: Iterable[Above], changes: Iterable[tuple[Edit, ...]], below: Below
) -> Iterator[MendedText]:
    """Each of *lefts* with each of the *changes* below."""
    for change in changes:
        for left in lefts:
            text = left.text.copy() if change else left.text
            shift = left.text.cursor - below.text.cursor
            text.replace([(start + shift, end + shift, new) for start, end, new in change])
            yield text
