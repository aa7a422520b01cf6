"""The modes in which the lines below the cursor's are read, where lines may start in elements.

A middle may open elements and code in them, so the text before it does not show these modes. The text below
does, as long as it can be read. In the wrong modes it soon starts a line where no such text can go on. The
columns of lines decide about elements that the middle closes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from fimlsp.lexing.line import modes_after_reading
from fimlsp.lexing.nesting import ModeStack
from fimlsp.quotient.contexts.document import ContextDocument
from fimlsp.quotient.recovery.lexemes import lexemes

_MOST_OPENED = 2


class ModesBelow:
    """The modes below the line of a cursor, from the line start *end* up to the one at *stop*.

    The rest of the cursor's line starts at *cursor_end*.
    """

    def __init__(self, document: ContextDocument, cursor_end: int, end: int, stop: int) -> None:
        self._document = document
        self._lexical = document.tables.lexical
        self._elements = elements = document.tables.language.elements
        ends = (
            () if elements is None else (*document.tables.language.closing, *elements.closes, elements.empty)
        )
        names = dict.fromkeys(self._lexical.kinds[kind] for kind in self._lexical.mode_changers)
        self._openers = [name for name in names if name not in ends]
        self._cursor_end = cursor_end
        self._end = end
        self._stop = stop
        self._known: dict[tuple[ModeStack, ModeStack | None, ModeStack | None], ModeStack | None] = {}

    def after(
        self, before: ModeStack, likely: ModeStack | None, cursor: ModeStack | None
    ) -> ModeStack | None:
        """The modes in which all lines can be read; None if they cannot be read, or no such modes are found.

        Those that are *likely* come first, then those *before* the cursor's line. If the middle may open
        something in the modes at the *cursor*, those after that follow. O(lines), for each that is tried.
        """
        key = before, likely, cursor
        if key not in self._known:
            self._known[key] = self._find(*key)
        return self._known[key]

    def _find(
        self, before: ModeStack, likely: ModeStack | None, cursor: ModeStack | None
    ) -> ModeStack | None:
        if self._elements is None or self._document.goes_on_at(self._end) is None:
            return None
        ends = chain((likely, before), () if cursor is None else self._after_openers(cursor))
        starts = range(len(self._lexical.line_starts))
        candidates = (each.at_line_start(start) for each in ends if each is not None for start in starts)
        return next(filter(self._can_be_read, dict.fromkeys(filter(None, candidates))), None)

    def _after_openers(self, cursor: ModeStack) -> Iterator[ModeStack]:
        """The modes after a middle that opens something in the modes at the *cursor*, and after its line."""
        reached = [cursor]
        for _ in range(_MOST_OPENED):
            following = (modes.after(kind) for modes in reached for kind in self._openers)
            reached = list(dict.fromkeys(filter(None, following)))
            for modes in reached:
                rest = lexemes(self._lexical, self._document.data, self._cursor_end, self._end, modes=modes)
                if not rest.unreadable and rest.modes is not None:
                    yield rest.modes

    def _can_be_read(self, modes: ModeStack) -> bool:
        """True if the lines, read in *modes*, fit together up to the last."""
        document, place, possible = self._document, self._end, [modes]
        while place < self._stop:
            context, line = document.goes_on_at(place), document.line_at(place)
            if context is None:
                return False
            possible = [each for each in possible if context.ways_from(each.starts_line or 0)]
            following = (
                modes_after_reading(self._lexical, reading, each)
                for each in possible
                for reading in line.readings
            )
            possible = list(dict.fromkeys(filter(None, following)))
            if not possible:
                return False
            place += line.size
        return True
