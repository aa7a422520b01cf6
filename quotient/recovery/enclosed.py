"""Ends the brackets around the cursor's line behind it, in place of lines below that cannot go on in them."""

from __future__ import annotations

from collections.abc import Iterator

from fimlsp.lexing.line import unmatched_brackets
from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.recovery.above import Above
from fimlsp.quotient.recovery.below import Below
from fimlsp.quotient.recovery.layout.lexemes import lexemes
from fimlsp.quotient.recovery.statements.readings import Edit

_MOST_LINES = 400


def enclosed(left: Above, below: Below) -> tuple[Edit, ...]:
    """The edit of the text below that ends there what is open behind the cursor's line.

    It passes over the lines up to the first one that is in no brackets, and no deeper than the logical line.
    Nothing if the line leaves nothing open, or closes what is not open before it.
    """
    closers, end = _closers(left, below), _end(left, below)
    if not closers or end is None or below.start == below.text.cursor_end:
        return ()
    words, chart = left.assumed.layout.text_of, behind_line(left, below)
    chart = chart and _scanned(left, chart, closers[:1])
    ways = {} if chart is None else left.assumed.ends.of(chart)
    text = words(closers)
    if False in ways:
        text = words(closers[:1]) + b" " + left.assumed.words(ways[False][1])
    return ((below.start, end, text + b"\n"),)


def behind_line(left: Above, below: Below) -> EarleySet | None:
    """The set behind the cursor's line with some short middle; None if none is found."""
    context = left.text.document.left_at(left.stop)[1]
    chart: EarleySet | None = context.group if context.modes.depth else left.assumed.any_line
    for kinds in _own_kinds(left, below):
        chart = chart and _scanned(left, chart, kinds)
    return chart


def _own_kinds(left: Above, below: Below) -> Iterator[list[int]]:
    """The kinds of the lexemes of the cursor's line before the cursor, and of those behind it."""
    lexical = left.assumed.tables.lexical
    for text in (left.text.data[left.stop : left.text.cursor], below.rest):
        yield [lexeme.kind for lexeme in lexemes(lexical, text, 0, len(text)).read]


def _scanned(left: Above, chart: EarleySet, kinds: list[int]) -> EarleySet | None:
    """The set after lexemes of *kinds*, before which one more may be needed."""
    tables = left.assumed.tables
    symbols = tables.terminals(kinds)
    return tables.forward.read(left.assumed.before(chart, symbols[0]), symbols) if symbols else chart


def _closers(left: Above, below: Below) -> list[int]:
    """The kinds that close what is open behind the cursor's line, without a middle, innermost first."""
    lexical, modes = left.assumed.tables.lexical, left.text.document.left_at(left.stop)[1].modes
    outer: list[str] = []
    while modes.parent is not None and modes.shape in lexical.brackets:
        outer.append(lexical.brackets[modes.shape])
        modes = modes.parent
    own = [lexical.kinds[kind] for kinds in _own_kinds(left, below) for kind in kinds]
    closed, opened = unmatched_brackets(lexical.brackets, own)
    if list(closed) != outer[: len(closed)]:
        return []
    return [lexical.kinds.index(kind) for kind in (*reversed(opened), *outer[len(closed) :])]


def _end(left: Above, below: Below) -> int | None:
    """Where the first line below begins that is in no brackets, and no deeper than the logical line."""
    column, statements, place = left.column, below.statements(), below.start
    for _ in range(_MOST_LINES):
        line = statements.next_line(place)
        if column is None or line is None:
            return None if column is None else len(statements.data)
        is_deeper = line.column.deeper_than(column)
        if not is_deeper and not below.text.document.right_at(line.start).unmatched:
            return line.start
        place = line.end
    return None
