"""Keeps the readings of a text at a cursor while the word before the cursor grows.

Most keys make a word longer, and most of these leave the lexer in the state in which it was. Then all that
the grammar and the repairs of the text depend on is as it was, and so are the middles.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from string import ascii_letters
from typing import NamedTuple

from fimlsp.lexing.lexer_state import LexerState, Symbol
from fimlsp.quotient.contexts.document import ContextDocument
from fimlsp.quotient.contexts.left import LeftContext
from fimlsp.quotient.contexts.replacement import Replacement
from fimlsp.quotient.recovery.recovery import Readings
from fimlsp.quotient.recovery.repaired_text import TextRepair

_LETTERS = re.compile(rb"[A-Za-z_]+")
_WORD_BYTES = (ascii_letters + "_").encode()
_MOST_IN_WORD = 256


class _Place(NamedTuple):
    """A cursor: the context of the line start at `first`, the symbols read after it, and the lexer state.

    `word` is the state after the word before it as code, for readings that end a string there.
    """

    first: int
    context: LeftContext
    symbols: tuple[Symbol, ...]
    lexer: LexerState
    word: int

    def is_as(self, other: _Place) -> bool:
        """True if the text before both places is read alike."""
        return self.context is other.context and self[2:] == other[2:] and self.first == other.first


class GrownWord:
    """The readings at the last cursor, and the place to which letters typed there have moved it."""

    def __init__(self) -> None:
        self._known: tuple[Hashable, _Place, int, Readings] | None = None
        self._cursor = -1

    def follow(self, edit: Replacement, before: bytes) -> None:
        """Move with *edit*, which follows the text *before* it; forget the readings unless a word grows."""
        if self._known is None:
            return
        is_typed = edit.start == edit.end == self._cursor and _LETTERS.fullmatch(edit.text)
        if is_typed and _LETTERS.match(before, self._cursor - 1):
            self._cursor += len(edit.text)
        else:
            self._known = None

    def keep(self, document: ContextDocument, cursor: int, key: Hashable, readings: Readings) -> None:
        """Keep *readings* of an empty span at *cursor*, unless they change the word before it.

        *key* is all else that they depend on.
        """
        place, start = _place(document, cursor), _word_start(document.data, cursor)
        if place is None or any(repair.start < cursor and repair.end > start for repair in readings.repairs):
            self._known = None
            return
        self._known, self._cursor = (key, place, cursor, readings), cursor

    def readings(self, document: ContextDocument, cursor: int, key: Hashable) -> Readings | None:
        """The readings at *cursor* if only the word before it has grown since; None if it has not."""
        if self._known is None or cursor != self._cursor or key != self._known[0]:
            return None
        _, known, first, readings = self._known
        place = None if cursor == first else _place(document, cursor)
        if place is None or not place.is_as(known):
            return None
        moved = (_moved(repair, first, cursor - first) for repair in readings.repairs)
        return readings._replace(repairs=tuple(moved))


def _moved(repair: TextRepair, cursor: int, growth: int) -> TextRepair:
    """*repair* after a word before *cursor* has grown."""
    if repair.start < cursor:
        return repair
    return TextRepair(repair.start + growth, repair.end + growth, repair.replacement)


def _word_start(data: bytes, cursor: int) -> int:
    """The start of the letters before *cursor*; of the last ones in a long word."""
    near = data[max(cursor - _MOST_IN_WORD, 0) : cursor]
    return cursor - len(near) + len(near.rstrip(_WORD_BYTES))


def _place(document: ContextDocument, cursor: int) -> _Place | None:
    """The place of *cursor*; None if its line cannot be read."""
    first, context = document.left_at(cursor)
    step = context.lexer().feed(document.data[first:cursor])
    lexical = document.tables.lexical
    word = document.data[_word_start(document.data, cursor) : cursor]
    state = lexical.dfa.run(lexical.dfa.starts[lexical.unknown.mode], word)
    return None if step is None else _Place(first, context, tuple(step.symbols), step.lexer, state)
