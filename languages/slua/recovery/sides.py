"""The text on one side of a cursor, read with changes everywhere but in the cursor's line."""

from __future__ import annotations

from collections.abc import Iterator

from fimlsp.languages.slua.both_sides.declarations import types_wanted
from fimlsp.languages.slua.both_sides.reading import Stop
from fimlsp.languages.slua.both_sides.right_text import RightText
from fimlsp.languages.slua.checking.scopes import Variable
from fimlsp.languages.slua.incremental.machine import Machine
from fimlsp.languages.slua.incremental.parser import ScriptState
from fimlsp.languages.slua.recovery.changes import Change
from fimlsp.languages.slua.recovery.lexemes import pieces_of
from fimlsp.languages.slua.recovery.reading import Reading
from fimlsp.quotient.states.protocol import Replacement

_MOST_SUPPOSED = 12


class LeftReading(Reading):
    """The text *left* of a cursor, a script that begins at *start*."""

    def __init__(self, left: bytes, start: ScriptState) -> None:
        super().__init__(pieces_of(left), start.machine)
        line = max(left.rfind(b"\n"), left.rfind(b"\r")) + 1
        self._line = sum(piece.start < line for piece in self.pieces)
        self._left = left

    def take(self, machine: Machine, number: int) -> Machine | None:
        """As in `Reading`; what touches the cursor may be the beginning of a lexeme."""
        piece = self.pieces[number]
        if piece.end < len(self._left):
            return super().take(machine, number)
        state = ScriptState(machine).feed(self._left[piece.start :])
        return None if state is None else machine

    def may_change(self, first: int, resumed: int) -> bool:
        """As in `Reading`: only before the cursor's line."""
        return first <= self._line and resumed <= self._line


class RightReading(Reading):
    """The text *right* of a cursor, from the lexeme on that is wholly in it, where *state* is on the left.

    What the cursor's line lacks is the middle's to write, and if it *may_declare*, so are names that nobody
    declares; `lacks_names` tells whether there are any.
    """

    def __init__(self, right: bytes, state: ScriptState, *, may_declare: bool) -> None:
        machine, offset = _behind_lexeme(right, state)
        super().__init__(pieces_of(right, offset), machine)
        lines = [end for end in (right.find(b"\n"), right.find(b"\r")) if end >= 0]
        line_end = min(lines, default=len(right))
        self._below = sum(piece.start < line_end for piece in self.pieces)
        self._size = len(right)
        self._may_declare = may_declare
        self.lacks_names = False

    def may_change(self, first: int, resumed: int) -> bool:
        """As in `Reading`: nothing in the cursor's line is passed over."""
        return first >= self._below or first == resumed

    def is_free(self, number: int) -> bool:
        """As in `Reading`: the middle writes what is missing up to the line below."""
        return number <= self._below

    def guesses(self, number: int) -> Iterator[Change]:
        """As in `Reading`: variables of any type that may be meant."""
        machine, text = self.places[number], self.pieces[number].text
        stop = Stop(machine, 0, text)
        if not (self._may_declare and stop.lacks_variable):
            return
        self.lacks_names = True
        texts = [piece.text for piece in self.pieces[number : number + 60]]
        types = dict.fromkeys(types_wanted(stop, machine, texts))
        for type_, _ in zip(types, range(_MOST_SUPPOSED), strict=False):
            supposed = machine.within(machine.environment.declare(Variable(text, type_)))
            yield Change(number, number, (), supposed)

    @property
    def replacements(self) -> tuple[Replacement, ...]:
        """The edits, with the end of the script if that is missing."""
        if self.is_free(len(self.pieces)):
            return self.edits
        return (*self.edits, *self._ending(self.places[-1], self._size))

    @property
    def has_line(self) -> bool:
        """Whether the cursor's line was read."""
        return len(self.places) > self._below

    @property
    def ending_below(self) -> tuple[Replacement, ...]:
        """The cheapest end of the script for all that is below the cursor's line."""
        start = self.pieces[self._below].start if self._below < len(self.pieces) else self._size
        return self._ending(self.places[self._below], start)

    def _ending(self, machine: Machine, start: int) -> tuple[Replacement, ...]:
        ending = ScriptState(machine).shortest_completion
        return ((start, self._size, b" " + ending),) if ending or start < self._size else ()


def _behind_lexeme(right: bytes, state: ScriptState) -> tuple[Machine, int]:
    """The place behind the lexeme at the cursor, and where that ends on the right."""
    if not state.begun:
        return state.machine, 0
    text = RightText(right)
    lexeme = text.joined(state.begun)
    machine = None if lexeme is None else state.machine.take(lexeme.text)
    if lexeme is not None and machine is not None:
        return machine, lexeme.end
    offset = len(text.word)
    for added in state.endings():
        machine = state.machine.take((state.begun + added).decode("utf-8"))
        if machine is not None:
            return machine, offset
    return state.machine, offset
