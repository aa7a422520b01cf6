"""Finds a string over several lines of which the end is there, but not the beginning."""

from __future__ import annotations

from fimlsp.lexing.longest_match import longest_match
from fimlsp.quotient.recovery.layout.brackets import Unit
from fimlsp.quotient.recovery.statements.readings import Edit
from fimlsp.quotient.recovery.statements.statements import Statements

_MOST_LINES = 400
_LONGEST = 60


def lost_beginning(statements: Statements, begin: int) -> Edit | None:
    """The edit that begins the first string from the line start *begin* on that only ends.

    Its end looks like the beginning of one up to the next string, but there is no valid line before it and
    there is one behind it.
    """
    position, lines, data = begin, statements.lines, statements.data
    for _ in range(_MOST_LINES):
        if position >= statements.stop:
            return None
        line, end = lines.read(data, position), lines.end_of_stretch(data, position)
        if (line.broken or position + line.size > end) and (
            edit := _begun_above(statements, begin, position)
        ):
            return edit
        position = max(end, 0 if line.broken else position + line.size)
    return None


def _begun_above(statements: Statements, begin: int, position: int) -> Edit | None:
    """The edit that begins a string before the line at *position*, which ends it; None if it does not."""
    unit = statements.physical(position)
    last = unit.found.read[-1] if unit.found.read else None
    if last is None or unit.column is None or last.missing != statements.data[last.start : last.end]:
        return None
    following = statements.next_line(unit.end)
    is_known = following is not None and following.start < statements.stop
    if (
        following is not None
        and is_known
        and not statements.begins_line(statements.physical(following.start))
    ):
        return None
    first = _first_of_text(statements, begin, unit)
    if first is None:
        return None
    lexical = statements.tables.lexical
    text = last.missing + statements.data[first.code : last.end]
    found = longest_match(lexical, lexical.dfa.starts[lexical.unknown.mode], text, 0)
    if found is None or found[1] != len(text) or found[0] in (lexical.bad, *lexical.skipped):
        return None
    return first.code, first.code, last.missing


def _first_of_text(statements: Statements, begin: int, unit: Unit) -> Unit | None:
    """The first line that is none of code in the block that *unit* ends, from *begin* on."""
    position, first = unit.start, None
    for _ in range(_LONGEST):
        if position <= begin:
            break
        position = statements.lines.start_of_stretch(statements.data, position - 1)
        line = statements.physical(position)
        if line.column is None or unit.column is None:
            continue
        if unit.column.deeper_than(line.column):
            break
        if not statements.begins_line(line):
            first = line
    return first
