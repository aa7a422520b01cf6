"""Broken surroundings, the normal state of a file being edited: contexts of which parts do not count.

Of the right context as much as possible is kept: first its broken lines are passed over, then the rest of
the cursor's line, then all but that rest. Of the left context, broken lines are passed over, and the cursor's
line may begin later.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from fimlsp.lexing.line import physical_end
from fimlsp.lexing.reading import Reading
from fimlsp.quotient.connecting import State, connect
from fimlsp.quotient.demand import Demand
from fimlsp.quotient.document import Document
from fimlsp.quotient.left_context import LeftContext

Relaxed = Literal["right", "left", "both"]
Left = tuple[LeftContext, Reading]


def relaxed(
    document: Document, start: int, end: int, found: Left | None, demand: Demand
) -> tuple[State | None, Relaxed | None]:
    """What may replace `data[start:end]` if not all around it counts, and of which side something does not.

    *found* is the left context, if it can be read.
    """
    for left, left_is_whole in _lefts(document, start, found):
        for state, right_is_whole in _rights(document, end, left, demand):
            if state is not None:
                if left_is_whole:
                    return state, "right"
                return state, "left" if right_is_whole else "both"
    return None, None


def _rights(document: Document, end: int, left: Left, demand: Demand) -> Iterator[tuple[State | None, bool]]:
    """All of the right context, then less and less of it."""
    yield connect(document, end, *left, demand), True
    lenient = replace(demand, lenient=True)
    yield connect(document, end, *left, lenient), False
    line_end = physical_end(document.data, end)
    yield connect(document, line_end, *left, lenient), False
    for rest in (document.data[end:line_end], b""):
        yield connect(Document(document.steps, rest), 0, *left, demand), False


def _lefts(document: Document, start: int, found: Left | None) -> Iterator[tuple[Left, bool]]:
    """All of the left context, then only as much of its last line as can begin a statement."""
    if found is not None:
        yield found, not found[0].broken
    line_start, context = document.left_at(start)
    step = context.reading().feed(document.data[line_start:start])
    fresh = context.passing_over(context.nesting)
    if step is not None:
        language = document.language
        kinds = [symbol for symbol in step.symbols if isinstance(symbol, int)]
        symbols = [terminal for terminal in language.terminals(kinds) if terminal >= 0]
        for skipped in range(len(symbols)):
            if language.brackets.unmatched(symbols[:skipped])[1]:
                break  # the reading stands inside a bracket that would be skipped
            left = fresh.after_symbols(tuple(symbols[skipped:]))
            if left is not None:  # the line counts as one of the block, whatever its column
                yield (left, step.reading._replace(indents=fresh.indents)), False
    yield (fresh, fresh.reading()._replace(margin=None)), False
