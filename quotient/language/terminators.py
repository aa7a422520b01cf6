"""How the text after a cursor is read where a line may end: up to the first lexeme behind which it may not.

From there on it has the same lexemes in either mode (see `lexing/terminators.py`).
"""

from __future__ import annotations

from collections.abc import Iterable

from fimlsp.lexing.longest_match import longest_match
from fimlsp.lexing.modes import ModeStack
from fimlsp.lexing.terminators import TerminatorModes
from fimlsp.quotient.language.contract import OpenModes, StringTail, TextAfterCursor


class LineMayEnd(OpenModes):
    """The two modes of a layout of terminators, for the cursor before *text*; *modes* is either of them."""

    def __init__(self, text: TextAfterCursor, modes: TerminatorModes) -> None:
        self._text = text
        self._may_end = modes.may_end
        self._read: dict[int, tuple[tuple[int, ...], int] | None] = {}

    def places(self) -> Iterable[ModeStack]:
        """As in `OpenModes`."""
        return (self._may_end,)

    def tails(self, place: ModeStack, kind: int | None, position: int) -> Iterable[StringTail]:
        """As in `OpenModes`."""
        modes = place if kind is None else place.after(self._text.lexical.kinds[kind])
        assert modes is not None
        if modes.line_end is None:
            return (StringTail((), position, place.opened),)
        if position not in self._read:
            self._read[position] = self._lexemes_from(position)
        found = self._read[position]
        return () if found is None else (StringTail(*found, place.opened),)

    def _lexemes_from(self, position: int) -> tuple[tuple[int, ...], int] | None:
        """The kinds from *position* on, up to one behind which a line may not end; None if there are none."""
        lexical, data = self._text.lexical, self._text.data
        kinds: list[int] = []
        modes: ModeStack | None = self._may_end
        while modes is not None and modes.line_end is not None and position < len(data):
            found = longest_match(lexical, lexical.dfa.starts[modes.mode], data, position)
            if found is None or found[0] == lexical.bad:
                return None
            kind, position = found
            if kind not in lexical.skipped:
                kinds.append(kind)
                if not self._text.may_follow(kinds[-2:]):
                    return None
            modes = modes.after(lexical.kinds[kind]) if kind in lexical.mode_changers else modes
        return tuple(kinds), position
