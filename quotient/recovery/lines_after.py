"""Repairs of the lines below the cursor's line that are right by themselves, but not after the lines above.

Text below a cursor is read from its end, so it may be the rest of something else than the text above starts.
In an object, the lines `a: 1`, `b: 2,` are the rest of a type, for instance. Then only a middle that ends the
object and starts a type connects. A person would repair the lines below. So these are read forwards, after
the cursor's line, and repaired as lines above a cursor are.
"""

from __future__ import annotations

from collections.abc import Iterator

from fimlsp.lexing.line import physical_end
from fimlsp.quotient.contexts.document import ContextDocument
from fimlsp.quotient.recovery.lexemes import lexemes
from fimlsp.quotient.recovery.repair_left import RepairedLeft
from fimlsp.quotient.recovery.repair_right import RepairedRight
from fimlsp.quotient.recovery.repaired_text import RepairedText

_MOST_LINES = 30


def repaired_after(left: RepairedLeft, right: RepairedRight) -> RepairedText | None:
    """The text whose lines below may follow the cursor's line; None if they may as they are.

    It has the repairs of *left*, and none of *right*. As the middle is unknown, the line is read without it,
    with an operand in its place, and left out. That way counts after which most lines can be read. O(lines
    read), at most `_MOST_LINES`.
    """
    text = right.unrepaired()
    data, begin, end = text.data, left.stop, right.start
    limit = end
    for _ in range(_MOST_LINES):
        limit = physical_end(data, limit)
    furthest: tuple[int, ContextDocument, int] | None = None
    for own in _own_lines(left, right):
        document = text.document.copy()
        document.edit(begin, end, own)
        shift = len(own) - (end - begin)
        broken = document.broken_above(limit + shift)
        if broken is None:
            return None
        if furthest is None or broken - shift > furthest[0]:
            furthest = broken - shift, document, shift
    if furthest is None or furthest[0] < end:
        return None
    _, document, shift = furthest
    below = RepairedText(document, limit + shift, limit + shift)
    RepairedLeft(left.assumed, below, 0).repair()
    text.replace((repair.start - shift, repair.end - shift, repair.replacement) for repair in below.repairs)
    return text


def _own_lines(left: RepairedLeft, right: RepairedRight) -> Iterator[bytes]:
    """The cursor's line without a middle, with an operand in its place, and without any code."""
    text = right.text
    before, after = text.data[left.stop : text.cursor], text.data[text.cursor_end : right.start]
    yield before + after
    yield before + _operand(left, before) + after
    yield after[len(after.rstrip(b"\r\n")) :]


def _operand(left: RepairedLeft, before: bytes) -> bytes:
    """The cheapest lexeme after the text *before* the cursor in its line; empty if none is known."""
    assumed, (_, context) = left.assumed, left.text.document.left_at(left.stop)
    tables, costs = assumed.tables, assumed.ends.costs
    modes = context.modes if tables.lexical.line_starts else None
    read = lexemes(tables.lexical, before, 0, len(before), modes=modes).read
    chart = tables.forward.read(context.group, tables.terminals([lexeme.kind for lexeme in read]))
    words = (
        ()
        if chart is None
        else (word for word in chart.expected() & costs.keys() if word not in tables.enclosures)
    )
    return assumed.words(sorted(words, key=lambda word: (costs[word], word))[:1])
