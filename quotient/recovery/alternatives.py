"""Other readings of the text above the cursor, for where the cursor's line does not connect in the first one.

Each is the text above once more, with the cursor's line outside brackets, in another block, mended, or
left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from fimlsp.quotient.recovery.above import Above
from fimlsp.quotient.recovery.statements.blocks import header_above
from fimlsp.quotient.recovery.statements.placing import laid_out, with_group_before
from fimlsp.quotient.recovery.statements.readings import Reading
from fimlsp.quotient.recovery.statements.statements import Statements


def closed(above: Above) -> Iterator[Above]:
    """*above* with the cursor's line as a statement of its own, or mended; the likelier first."""
    column, line = above.column, above.cursor_line().column
    is_deeper = line is None or column is None or line.deeper_than(column)
    ways = (_with_line_mended(above), _as_own_line(above))
    yield from chain(*(ways if is_deeper else reversed(ways)))


def outside(above: Above, *, surely: bool = False) -> Iterator[Above]:
    """*above* with the cursor's line outside brackets, and then in blocks that fit its column.

    Brackets are closed before it if its column says that it is outside them, or always if *surely*.
    """
    if not above.assumed.tables.offside:
        return
    found = above
    start, _ = above.text.document.statement_before(above.stop)
    if start < above.stop and (surely or not above.may_be_inside):
        found = above.changed(above.statements(open_end=False).read_up_to(start).edits)
        found.mend()
        yield found
    start, context = found.text.document.statement_before(found.stop)
    column = found.cursor_line().column
    if start == found.stop and column is not None and column != context.frame.column:
        reading = Reading(0, start, start, column, ())
        edits = laid_out(found.assumed, found.statements(), context, reading)
        if all(end <= found.stop for _, end, _ in edits):
            found = found.changed(edits)
            found.mend()
            yield found
    start, context = found.text.document.statement_before(found.stop)
    if start == found.stop and (
        edits := with_group_before(above.assumed, found.statements(), context, start)
    ):
        yield found.changed(edits)
    lacking = found.lacking_column()
    header = lacking and header_above(above.assumed, found.statements(), found.stop, lacking)
    if header:
        found = found.changed((header,))
        found.mend()
        yield found


def _as_own_line(above: Above) -> Iterator[Above]:
    """*above* with the cursor's line as one of its own: what is open there is closed before it."""
    last: Above | None = None
    for last in outside(above, surely=True):
        yield last
    if last is not None:
        yield from _with_line_mended(last)


def _with_line_mended(above: Above) -> Iterator[Above]:
    """*above* with the cursor's own line mended up to the cursor."""
    stop, cursor = above.stop, above.text.cursor
    start, _ = above.text.document.statement_before(stop)
    document = above.text.document
    statements = Statements(
        above.assumed, document.transitions.lines, document.data[:cursor], cursor, open_end=True
    )
    if above.assumed.tables.offside:
        reading: Reading | None = statements.read_up_to(start)
    else:
        reading = statements.in_place(stop, above.text.document.left_at(stop)[1].group)
    if reading is not None and reading.edits and not reading.passed:
        yield above.changed(reading.edits)


def without_line(above: Above) -> Above:
    """*above* without what stands before the cursor in its line."""
    return above.changed(((above.stop, above.text.cursor, b""),))


def without_all(above: Above) -> Above:
    """*above* without what stands before the cursor's line."""
    return above.changed(((0, above.stop, b""),))
