"""Relaxes contexts that are broken, the normal state of a file being edited: parts of them are ignored.

As much as possible of the right context is kept. First its broken lines are ignored, then the rest of the
cursor's line, then everything but that rest. In the left context broken lines are ignored, and the cursor's
line may begin at a later symbol.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from fimlsp.lexing.lexer_state import LexerState, Symbol
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
    """The state of what may replace `data[start:end]` if parts are ignored, and which contexts these are in.

    *found* is the left context; None if it cannot be read.
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
    """The states for the whole right context, then for less and less of it; and whether it was whole."""
    yield connect(document, end, *left, options), True
    lenient = replace(options, lenient=True)
    yield connect(document, end, *left, lenient), False
    line_end = document.transitions.lines.end_of_stretch(document.data, end)
    yield connect(document, line_end, *left, lenient), False
    for rest in (document.data[end:line_end], b""):
        yield connect(Document(document.transitions, rest), 0, *left, options), False


def _lefts(document: Document, start: int, found: Left | None) -> Iterator[tuple[Left, bool]]:
    """The whole left context, then ones with less and less of its last line; and whether it was whole.

    Inside brackets, the lines before the last one are kept too; otherwise the last line begins a statement.
    """
    if found is not None:
        yield found, not found[0].broken
    line_start, context = document.left_at(start)
    fresh = context.passing_over()
    base = context if context.modes.depth else fresh
    step = context.lexer().feed(document.data[line_start:start])
    if step is not None:
        # The line is taken as one of the block, whatever its column.
        for left in _later_beginnings(base, step.symbols):
            yield (left, step.lexer._replace(indents=base.indents)), False
    for left in dict.fromkeys((base, fresh)):
        yield (left, left.lexer()._replace(margin=None)), False


def _later_beginnings(base: LeftContext, line: Sequence[Symbol]) -> Iterator[LeftContext]:
    """The contexts after *line* behind *base* if its first symbols are ignored, as few as possible first."""
    tables = base.tables
    kinds = [symbol for symbol in line if isinstance(symbol, int)]
    symbols = [terminal for terminal in tables.terminals(kinds) if terminal >= 0]
    for skipped in range(len(symbols) + 1):  # the lexeme being read is not among them
        if any(tables.enclosures.unmatched(symbols[:skipped])):
            return  # the lexer state would have other open brackets than the context
        left = base.after_symbols(tuple(symbols[skipped:]))
        if left is not None:
            yield left
