"""Edits of one line by its column: slips, headers, groups, clauses, brackets, and lost starts of strings.

The functions return edits of the text, nothing if they do not apply. A *slip* is a line that is one column
deeper than its block. A *clause* is the first terminal of a line that continues a group, such as `else`.
"""

from __future__ import annotations

from itertools import pairwise

from fimlsp.lexing.lexer_tables import longest_match
from fimlsp.lexing.nesting import Column
from fimlsp.quotient.contexts.left import Frame, LeftContext
from fimlsp.quotient.recovery.assumed_text import indentation
from fimlsp.quotient.recovery.bracket_layout import Unit
from fimlsp.quotient.recovery.lines import NextLine
from fimlsp.quotient.recovery.readings import Reading
from fimlsp.quotient.recovery.repaired_text import Edit, Edits
from fimlsp.quotient.recovery.statements import Statements

_MOST_LINES = 200
_MOST_LINES_ABOVE = 40
_MOST_STRING_LINES = 400
_LONGEST_STRING = 60


def indented(statements: Statements, start: int, column: Column) -> Edit:
    """The edit that gives the line at *start* another *column*."""
    return start, statements.unit(start).code_start, indentation(column)


def is_slip(column: Column, outer: Column) -> bool:
    """True if *column* is just one deeper than *outer*: a typing error rather than a block."""
    return column.tabs8 == outer.tabs8 + 1 and column.deeper_than(outer)


def without_slip(statements: Statements, context: LeftContext, start: int) -> Edits:
    """The edit that undoes a slip in the line at *start*.

    It is deeper than its block by one, or opens one that the next line is not in, but it or its header.
    """
    unit, known = statements.unit(start), context.indents.columns
    if unit.column is None or unit.column in known:
        return ()
    outer = max(
        (column for column in known if unit.column.deeper_than(column)), key=lambda column: column.tabs8
    )
    if outer == context.frame.column and context.opened(unit.column) is not None:
        following = statements.column_after(unit.end, unit.column)
        if following is None or not following.deeper_than(outer):
            return ()
        outer = following
    return (indented(statements, start, outer),) if is_slip(unit.column, outer) else ()


def without_slip_below(statements: Statements, start: int) -> Edits:
    """The edit that undoes a slip in the line at *start*, if it is one by the column of the next line."""
    unit = statements.unit(start)
    if unit.column is None or statements.column_before(start) == unit.column:
        return ()
    following = statements.column_after(unit.end, unit.column) or Column()
    return (indented(statements, start, following),) if is_slip(unit.column, following) else ()


def header_above(statements: Statements, start: int, column: Column) -> Edits:
    """A header at *column* before the deeper lines that end at the line start *start*."""
    first, clause = None, statements.clause_after(start, column)
    for _ in range(_MOST_LINES):
        line = statements.line_before(start)
        if line is None or not line[1].deeper_than(column):
            break
        first = start = line[0]
    return () if first is None else (_header_line(statements, first, column, clause),)


def _header_line(statements: Statements, start: int, column: Column, clause: int | None) -> Edit:
    """A header at *column* before the line at *start*, with *clause* after its block."""
    return start, start, indentation(column) + statements.assumed.header(clause) + b"\n"


def missing_below(statements: Statements, context: LeftContext, column: Column) -> Edits:
    """The edits without which the lines below cannot follow a whole line of *column* in *context*."""
    inner = _at_column(context, column)
    line = statements.next_line(statements.begin)
    if inner is None or line is None:
        return ()
    if line.column.deeper_than(column):
        if is_slip(line.column, column):
            return (indented(statements, line.start, column),)
        clause = statements.clause_after(line.start, column)
        return (_header_line(statements, line.start, column, clause),)
    return _missing_clause(statements, inner, line)


def _at_column(context: LeftContext, column: Column) -> LeftContext | None:
    """The context before a statement of *column*; None if none may stand there."""
    inner: LeftContext | None = context
    if column.deeper_than(context.frame.column):
        inner = context.opened(column)
    while inner is not None and inner.frame.column.deeper_than(column):
        inner = inner.closed(1)
    if inner is None or inner.frame.column != column:
        return None
    return inner if inner.completed or inner.group is inner.start else None


def _missing_clause(statements: Statements, inner: LeftContext, line: NextLine) -> Edits:
    """The clauses that *line*, or a shallower one after it, lacks to follow a statement of *inner*."""
    context = inner
    following: NextLine | None = line
    is_first = True
    for _ in range(_MOST_LINES):
        if following is None:
            return ()
        while context.frame.column.deeper_than(following.column):
            outer = _after_block(context) if is_first else context.closed(1)
            if outer is None:
                return _group_completed(statements, context, following.start)
            context, is_first = outer, False
        if is_slip(following.column, context.frame.column):
            return (indented(statements, following.start, context.frame.column),)
        if context.frame.column != following.column:
            return ()
        if is_first and (group := _group_before_clause(statements, context, following)):
            return group
        is_met = is_first or context.completed or following.first is None
        if not is_met and not context.group.expects(following.first or 0):
            return _group_completed(statements, context, following.start)
        following = _shallower(statements, following)
        is_first = True
    return ()


def _group_before_clause(statements: Statements, context: LeftContext, line: NextLine) -> Edits:
    """The first lines of a group before *line*, if that is a clause, in the block of *context*."""
    if line.first is None or context.start.expects(line.first):
        return ()
    lines = statements.assumed.group_for(context, line.first)
    return () if lines is None else ((line.start, line.start, lines),)


def _group_completed(statements: Statements, context: LeftContext, start: int) -> Edits:
    """The lines that complete the last group of *context*, before the line at *start*."""
    rest = statements.assumed.rest_of_group(context)
    return () if rest is None else ((start, start, rest),)


def _after_block(context: LeftContext) -> LeftContext | None:
    """The context after the innermost block of *context*, whatever the last group there is."""
    tables, frame = context.tables, context.frame
    if frame.parent is None or frame.holder is None:
        return None
    group = tables.forward.read_any(frame.holder, tables.suites_of(frame.bodies))
    return None if group is None else context.at(frame.parent, group)


def _shallower(statements: Statements, line: NextLine) -> NextLine | None:
    """The first line after *line* that is less deep."""
    following: NextLine | None = line
    for _ in range(_MOST_LINES):
        if following is None or line.column.deeper_than(following.column):
            return following
        following = statements.next_line(following.end)
    return None


def fitted(statements: Statements, context: LeftContext, reading: Reading) -> Edits:
    """The edits that make a line, valid by itself, fit into the block of *context*."""
    frame, column, start = context.frame, reading.column, reading.start
    if start < statements.stop and is_slip(column, frame.column):
        return (indented(statements, start, frame.column),)
    if column.deeper_than(frame.column):
        return joined_to_line_before(statements, context, start) or _header_before(statements, context, start)
    if column == frame.column:
        return _completed_or_passed(statements, context, start)
    return _closing_blocks(statements, context, column, start)


def _header_before(statements: Statements, context: LeftContext, start: int) -> Edits:
    """A header in the block of *context* for the deeper line at *start*."""
    column = context.frame.column
    group = None if context.completed else context.group
    header = statements.assumed.header(statements.clause_after(start, column), group)
    return ((start, start, indentation(column) + header + b"\n"),)


def _completed_or_passed(statements: Statements, context: LeftContext, start: int) -> Edits:
    """The lines that complete the last group of *context*, or if it is complete, no line at *start*."""
    group = () if context.completed else _group_completed(statements, context, start)
    return group or statements.passed(start).edits


def _closing_blocks(statements: Statements, context: LeftContext, column: Column, start: int) -> Edits:
    """As `fitted`, for a line that closes blocks."""
    inner: Frame | None = None
    while context.frame.column.tabs8 > column.tabs8 and context.frame.parent is not None:
        following = context.closed(1)
        if following is None:
            return _group_completed(statements, context, start) or statements.passed(start).edits
        inner, context = context.frame, following
    if context.frame.column == column:
        return _completed_or_passed(statements, context, start)
    if is_slip(column, context.frame.column):
        return (indented(statements, start, context.frame.column),)
    after = statements.next_line(statements.unit(start).end)
    is_alone = after is not None and after.start < statements.stop and column.deeper_than(after.column)
    if inner is not None and not is_alone and (header := header_above(statements, start, column)):
        return header
    frames = [context.frame] if inner is None else [inner, context.frame]
    nearest = min(frames, key=lambda frame: abs(frame.column.tabs8 - column.tabs8))
    return (indented(statements, start, nearest.column),)


def joined_to_line_before(statements: Statements, context: LeftContext, start: int) -> Edits:
    """The edits by which the line at *start*, if too deep for *context*, belongs to the one before it."""
    before, column = statements.line_before(start), statements.column_at(start)
    if before is None or column is None or not column.deeper_than(context.frame.column):
        return ()
    if context.opened(column) is not None:
        return ()
    opening = statements.opening_line(before[0])
    if start == statements.stop and not statements.lacks_opener(opening):
        return ()
    reading = statements.read(opening)
    return reading.edits if reading.end >= start and not reading.passed else ()


def group_before(statements: Statements, context: LeftContext, start: int) -> Edits:
    """The first lines of a group for the line at *start*, if that is a clause without one."""
    column, clause = statements.start_of(start)
    outer: LeftContext | None = context
    while outer is not None and column is not None and outer.frame.column.deeper_than(column):
        outer = outer.closed(1)
    if outer is None or clause is None or outer.frame.column != column or not outer.completed:
        return ()
    lines = None if outer.group.expects(clause) else statements.assumed.group_for(outer, clause)
    return () if lines is None else ((start, start, lines),)


def with_header(statements: Statements, reading: Reading) -> Edits:
    """The edits of *reading*, with a header for the deeper lines that follow it if it is none."""
    if not reading.lacks_header:
        return reading.edits
    after = statements.next_line(reading.end)
    if after is not None and statements.column_before(reading.start) == after.column:
        # this line is not as deep as those around it
        return (*reading.edits, indented(statements, reading.start, after.column))
    clause = statements.clause_after(reading.end, reading.column)
    read = () if reading.edits else statements.unit(reading.start).read
    assumed = statements.assumed
    group = assumed.unfinished(assumed.tables.terminals([lexeme.kind for lexeme in read]))
    header = indentation(reading.column) + assumed.header(clause, group) + b"\n"
    return (*reading.edits, (reading.end, reading.end, header))


def header_end(statements: Statements, start: int) -> Edits:
    """The end of a header in place of the opening bracket with which other languages start its block."""
    unit, assumed, tables = statements.physical(start), statements.assumed, statements.tables
    symbols, following = statements.terminals_of(unit), statements.column_at(unit.end)
    if unit.column is None or len(symbols) < 2 or not tables.enclosures.unmatched(symbols[-1:])[1]:
        return ()
    if following is not None and not following.deeper_than(unit.column):
        return ()
    if tables.forward.read(assumed.any_line, symbols) is not None:
        return ()  # the bracket belongs to the header
    for symbol in sorted(assumed.ends.of_headers):
        chart = tables.forward.read(assumed.any_line, (*symbols[:-1], symbol, tables.newline))
        if chart is not None and any(map(chart.expects, tables.suites)):
            return ((unit.read[-1].start, unit.read[-1].end, assumed.words((symbol,))),)
    return ()


def missing_closer(statements: Statements, start: int) -> Edits:
    """The edit that adds the closing bracket missing at the line at *start*, by its column.

    No line, in brackets or not, starts like it, and that of its column above ends with an open bracket.
    """
    unit = statements.unit(start)
    if unit.column is None or not unit.read or not _starts_nothing(statements, unit):
        return ()
    layout, position = statements.assumed.layout, start
    symbols = statements.terminals_of(unit)
    for _ in range(_MOST_LINES_ABOVE):
        if position <= 0:
            return ()
        position = statements.lines.start_of_stretch(statements.data, position - 1)
        above = statements.unit(position)
        if above.column is None or above.column.deeper_than(unit.column):
            continue
        opened = layout.left_open((above,))
        if not _may_be_closed_in(above.column, unit.column) or not opened or not opened[-1][1]:
            return ()
        kind, text = layout.closer(opened[-1][0])
        pairs = pairwise((statements.tables.terminal_of[kind], *symbols))
        is_possible = statements.tables.neighbours.issuperset(pairs)
        return ((unit.code_start, unit.code_start, text),) if is_possible else ()
    return ()


def _starts_nothing(statements: Statements, unit: Unit) -> bool:
    """True if no line starts like *unit*, or with its first lexeme, in brackets or not."""
    first = statements.tables.terminal_of[unit.read[0].kind]
    starts = statements.assumed.any_line.expects(first) or first in statements.assumed.in_brackets
    is_closer = statements.assumed.layout.starts_with_closer(unit)
    return (statements.tables.offside and not starts and not is_closer) or statements.is_hopeless(unit)


def _may_be_closed_in(opening: Column, column: Column) -> bool:
    """True if a line of *column* starts with the closer of a line of *opening*, or with its continuation."""
    return column in (opening, opening._replace(tabs1=opening.tabs1 + 1, tabs8=opening.tabs8 + 1))


def missing_opener(statements: Statements, start: int) -> Edits:
    """The edit that adds the opening bracket missing at the end of the line before *start*, by columns.

    The line at *start* is deeper, and the first one after it that is not closes a bracket in the column of
    the line before.
    """
    line, before = statements.unit(start), statements.line_before(start)
    if before is None or line.column is None or not line.column.deeper_than(before[1]):
        return ()
    above, layout = statements.unit(before[0]), statements.assumed.layout
    if not above.read or layout.left_open((above,)):
        return ()
    opening = statements.closed_far(line.end, above)
    if opening is None:
        return ()
    kind, text = layout.closer(opening)
    pair = statements.tables.terminal_of[above.read[-1].kind], statements.tables.terminal_of[kind]
    end = above.read[-1].end
    return ((end, end, b" " + text),) if pair in statements.tables.neighbours else ()


def lost_string_start(statements: Statements, begin: int) -> Edits:
    """The edit that starts the first string from the line start *begin* on of which only the end is there.

    Its end looks like the start of one up to the next string. But the line before it is not valid, and the
    line after it is.
    """
    position, lines, data = begin, statements.lines, statements.data
    for _ in range(_MOST_STRING_LINES):
        if position >= statements.stop:
            return ()
        line, end = lines.read(data, position), lines.end_of_stretch(data, position)
        may_end_string = line.broken or position + line.size > end
        if may_end_string and (edits := _started_above(statements, begin, position)):
            return edits
        position = max(end, 0 if line.broken else position + line.size)
    return ()


def _started_above(statements: Statements, begin: int, position: int) -> Edits:
    """The edit that starts a string before the line at *position*, if that ends one."""
    unit = statements.physical(position)
    last = unit.read[-1] if unit.read else None
    if last is None or unit.column is None or last.missing != statements.data[last.start : last.end]:
        return ()
    following = statements.next_line(unit.end)
    is_known = following is not None and following.start < statements.stop
    if following and is_known and not statements.starts_statement(statements.physical(following.start)):
        return ()
    first = _first_of_text(statements, begin, unit)
    if first is None:
        return ()
    lexical = statements.tables.lexical
    text = last.missing + statements.data[first.code_start : last.end]
    match = longest_match(lexical, lexical.dfa.starts[lexical.unknown.mode], text, 0)
    if match is None or match[1] != len(text) or match[0] in (lexical.bad, *lexical.skipped):
        return ()
    return ((first.code_start, first.code_start, last.missing),)


def _first_of_text(statements: Statements, begin: int, unit: Unit) -> Unit | None:
    """The first line without code in the block that *unit* ends, from *begin* on."""
    position, first = unit.start, None
    for _ in range(_LONGEST_STRING):
        if position <= begin:
            break
        position = statements.lines.start_of_stretch(statements.data, position - 1)
        line = statements.physical(position)
        if line.column is None or unit.column is None:
            continue
        if unit.column.deeper_than(line.column):
            break
        if not statements.starts_statement(line):
            first = line
    return first
