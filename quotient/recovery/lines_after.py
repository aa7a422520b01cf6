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
from fimlsp.quotient.recovery.repaired_text import Edits, RepairedText

_MOST_LINES, _MOST_TEXTS = 30, 3


def repaired_after(left: RepairedLeft, right: RepairedRight) -> Iterator[RepairedText]:
    """Texts in which more and more lines below may follow the cursor's line; none if all may as they are.

    They have the repairs of *left*, and none of *right*. As the middle is unknown, the line is read without
    it, with an operand in its place, and left out. That way counts after which most lines can be read. Up to
    `_MOST_LINES` are.
    """
    text = right.unrepaired()
    for _ in range(_MOST_TEXTS):
        edits = _edits_after(left, right, text)
        if not edits:
            return
        text = text.copy()
        text.replace(edits)
        yield text


def _edits_after(left: RepairedLeft, right: RepairedRight, text: RepairedText) -> Edits:
    """The repair of the first line of *text* below the cursor's that may not follow the lines above."""
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
            return ()
        if furthest is None or broken - shift > furthest[0]:
            furthest = broken - shift, document, shift
    if furthest is None or furthest[0] < end:
        return ()
    place, document, shift = furthest
    stop = min(place + shift + document.line_at(place + shift).size, limit + shift)
    below = RepairedText(document, stop, stop)
    RepairedLeft(left.assumed, below, 0).repair()
    return tuple((repair.start - shift, repair.end - shift, repair.replacement) for repair in below.repairs)


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
