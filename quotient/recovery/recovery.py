"""Reads a file that is broken away from the cursor as the valid one that it most nearly is."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from fimlsp.lexing.line import physical_end
from fimlsp.quotient.bridge.options import ConnectOptions
from fimlsp.quotient.connect.connect import connect, read_up_to
from fimlsp.quotient.contexts.document import Document
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.recovery.above import Above
from fimlsp.quotient.recovery.below import Below
from fimlsp.quotient.recovery.headers import Assumed
from fimlsp.quotient.recovery.mended_text import Mend, MendedText
from fimlsp.quotient.states.protocol import State


@cache
def assumed_of(tables: LanguageTables) -> Assumed:
    """What is assumed in texts of the language of *tables*."""
    return Assumed(tables)


def recovered(
    document: Document, assumed: Assumed, start: int, end: int, options: ConnectOptions
) -> tuple[State, tuple[Mend, ...]] | None:
    """The state of what may replace `data[start:end]` in the mended text, and how it was mended."""
    text = MendedText(document, start, end)
    line_start = max(document.data.rfind(b"\n", 0, start), document.data.rfind(b"\r", 0, start)) + 1
    above = Above(assumed, text, start - line_start)
    below = Below(assumed, text, physical_end(document.data, end) - end)
    above.mend()
    below.mend()
    for reading in _readings(above, below):
        found = read_up_to(reading.document, reading.cursor)
        state = found and connect(reading.document, reading.cursor_end, *found, options)
        if state is not None:
            return state, tuple(reading.mends)
    return None


def _readings(above: Above, below: Below) -> Iterator[MendedText]:
    """The mended text, then ones in which what is open at the cursor's line is mended as well."""
    lefts = [above, *above.closed()]
    for change in (None, below.without_closers(), below.without_rest()):
        for left in lefts:
            if change is None:
                yield left.text
            elif change:
                text = left.text.copy()
                shift = left.text.cursor - below.text.cursor
                text.replace([(a + shift, b + shift, replacement) for a, b, replacement in change])
                yield text
