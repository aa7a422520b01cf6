"""The ends of strings over lines that lack theirs, in languages whose lines may start in a string.

Such a string goes on up to the start of the next one. From there on code and text are mixed up. The first of
its lines that is no deeper than the one it starts in shows where it should have ended.
"""

from __future__ import annotations

from fimlsp.lexing.lexer_tables import LexerTables
from fimlsp.lexing.nesting import ModeStack
from fimlsp.quotient.contexts.document import ContextDocument
from fimlsp.quotient.recovery.lexemes import column_of, indentation_at
from fimlsp.quotient.recovery.repaired_text import Edits

_MOST_LINES = 60


def string_end(document: ContextDocument, position: int, stop: int) -> Edits:
    """The edit that ends the last string over lines before the line at *position*, which cannot be read.

    None unless that line can be read then. Lines up to *stop* are read. O(`_MOST_LINES`).
    """
    data, run = document.data, list[int]()
    start = position
    for _ in range(_MOST_LINES):
        if not start:
            return ()
        start = data.rfind(b"\n", 0, start - 1) + 1
        if _modes_of_text(document, start) is not None:
            run.append(start)
        elif run:
            break
    closing = _closing(document, run[-1]) if run else None
    if closing is None:
        return ()
    column = column_of(indentation_at(data, start))
    for line in reversed(run):
        lead = indentation_at(data, line)
        text = data[line + len(lead) : data.find(b"\n", line)]
        if text.strip() and not text.startswith(closing) and not column_of(lead).deeper_than(column):
            end = len(data[:line].rstrip())
            return _if_readable(document, (end, closing), position, stop)
    return ()


def string_start(document: ContextDocument, position: int, most_lines: int) -> int | None:
    """The start of the line in which the string starts that the line at *position* is in; None if in none.

    Lines are looked at up to *most_lines* above.
    """
    data, start = document.data, position
    for _ in range(most_lines):
        if _modes_of_text(document, start) is None:
            break
        start = data.rfind(b"\n", 0, start - 1) + 1
    return None if start == position else start


def _modes_of_text(document: ContextDocument, start: int) -> ModeStack | None:
    """The modes at the line start *start* if it is in a string; else None."""
    place, context = document.left_at(start)
    modes = context.modes
    in_string = place == start and not modes.in_code and document.tables.language.strings_in(modes.opened)
    return modes if in_string else None


def _closing(document: ContextDocument, start: int) -> bytes | None:
    """The text that ends the string which the line at *start* is in; None if there is none."""
    lexical, modes = document.tables.lexical, _modes_of_text(document, start)
    return None if modes is None else _end_of(lexical, modes, document)


def _end_of(lexical: LexerTables, modes: ModeStack, document: ContextDocument) -> bytes | None:
    strings = document.tables.language.strings_in
    for kind in lexical.mode_changers:
        after = modes.after(lexical.kinds[kind])
        if after is not None and len(strings(after.opened)) < len(strings(modes.opened)):
            return lexical.shortest_words.suffix(lexical.dfa.starts[modes.mode], kind)
    return None


def _if_readable(document: ContextDocument, added: tuple[int, bytes], position: int, stop: int) -> Edits:
    """The edit that adds a text at an offset, if the line at *position* and those above can be read then."""
    end, text = added
    mended = document.copy()
    mended.edit(end, end, text)
    broken = mended.broken_above(stop + len(text))
    return ((end, end, text),) if broken is None or broken > position + len(text) else ()
