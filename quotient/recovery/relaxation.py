"""Broken surroundings, the normal state of a file being edited: contexts of which parts do not count.

Of the right context as much as possible is kept: first its broken lines are passed over, then the rest of
the cursor's line, then all but that rest. Of the left context, broken lines are passed over, and the cursor's
line may begin later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from fimlsp.lexing.lexer_state import LexerState, Symbol
from fimlsp.lexing.line import physical_end
from fimlsp.quotient.bridge.options import ConnectOptions
from fimlsp.quotient.connect.connect import connect
from fimlsp.quotient.contexts.document import Document
from fimlsp.quotient.contexts.left import LeftContext
from fimlsp.quotient.states.protocol import State

Relaxed = Literal["right", "left", "both"]
Left = tuple[LeftContext, LexerState]


def relaxed(
    document: Document, start: int, end: int, found: Left | None, options: ConnectOptions
) -> tuple[State | None, Relaxed | None]:
    """What may replace `data[start:end]` if not all around it counts, and of which side something does not.

    *found* is the left context, if it can be read.
    """
    for left, left_is_whole in _lefts(document, start, found):
        for state, right_is_whole in _rights(document, end, left, options):
            if state is not None:
                if left_is_whole:
                    return state, "right"
                return state, "left" if right_is_whole else "both"
    return None, None


def _rights(
    document: Document, end: int, left: Left, options: ConnectOptions
) -> Iterator[tuple[State | None, bool]]:
    """All of the right context, then less and less of it."""
    yield connect(document, end, *left, options), True
    lenient = replace(options, lenient=True)
    yield connect(document, end, *left, lenient), False
    line_end = physical_end(document.data, end)
    yield connect(document, line_end, *left, lenient), False
    for rest in (document.data[end:line_end], b""):
        yield connect(Document(document.transitions, rest), 0, *left, options), False


def _lefts(document: Document, start: int, found: Left | None) -> Iterator[tuple[Left, bool]]:
    """All of the left context, then only as much of its last line as can stand there, then less of the rest.

    Inside brackets what stands before that line is kept as well; else the line begins a statement.
    """
    if found is not None:
        yield found, not found[0].broken
    line_start, context = document.left_at(start)
    fresh = context.passing_over()
    base = context if context.modes.depth else fresh
    step = context.lexer().feed(document.data[line_start:start])
    if step is not None:
        for left in _later_beginnings(
            base, step.symbols
        ):  # the line is one of the block, whatever its column
            yield (left, step.lexer._replace(indents=base.indents)), False
    for left in dict.fromkeys((base, fresh)):
        yield (left, left.lexer()._replace(margin=None)), False


def _later_beginnings(base: LeftContext, line: Sequence[Symbol]) -> Iterator[LeftContext]:
    """What stands left of the cursor if *line* behind *base* begins at a later symbol, the earliest first."""
    tables = base.tables
    kinds = [symbol for symbol in line if isinstance(symbol, int)]
    symbols = [terminal for terminal in tables.terminals(kinds) if terminal >= 0]
    for skipped in range(len(symbols) + 1):  # what is being read is none of them yet
        if any(tables.enclosures.unmatched(symbols[:skipped])):
            return  # the brackets of the reading would not be those of the context
        left = base.after_symbols(tuple(symbols[skipped:]))
        if left is not None:
            yield left
