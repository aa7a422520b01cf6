"""The state of a middle between contexts that can be read in several ways.

Text may follow in any of the readings, so a state is the union of one state for each.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from fimlsp.lexing.values import value
from fimlsp.quotient.states.protocol import State, by_grammar

if TYPE_CHECKING:
    from fimlsp.quotient.masks.vocabulary import Bitmask, BoolMask, Vocabulary


@value
class EitherState:
    """A state in several *readings* of the text around the cursor, the likelier first.

    A reading that refuses the middle is dropped. The *unlikely* one is possible as well, but its completions
    are only offered where no other reading is left.
    """

    readings: tuple[State, ...]
    unlikely: State | None = None

    def feed(self, data: bytes) -> State | None:
        """As in `State`."""
        unlikely = self.unlikely and self.unlikely.feed(data)
        return either(*(reading.feed(data) for reading in self.readings), unlikely=unlikely)

    @property
    def complete(self) -> bool:
        """True if the middle may end here in one of the readings."""
        return any(reading.complete for reading in readings_of(self))

    @property
    def shortest_completion(self) -> bytes:
        """The shortest one of the readings; that of the likelier if they are equally long."""
        if self.complete:
            return b""
        return min((reading.shortest_completion for reading in self.readings), key=len)

    @property
    def unchecked(self) -> State:
        """The same readings by the grammar alone."""
        unlikely = self.unlikely and by_grammar(self.unlikely)
        return EitherState(tuple(by_grammar(reading) for reading in self.readings), unlikely)

    def mask(self, vocabulary: Vocabulary) -> Bitmask:
        """As in `State`."""
        return vocabulary.mask(self.allowed_texts(vocabulary), complete=self.complete)

    def allowed_texts(self, vocabulary: Vocabulary) -> BoolMask:
        """As in `State`."""
        return reduce(or_, (reading.allowed_texts(vocabulary) for reading in readings_of(self)))


def either(*states: State | None, unlikely: State | None = None) -> State | None:
    """The union of *states*, the likelier first, and of one that is *unlikely*; None if all are missing."""
    readings = [reading for state in states if state is not None for reading in readings_of(state)]
    if not readings or (unlikely is None and len(readings) == 1):
        return readings[0] if readings else unlikely
    return EitherState(tuple(readings), unlikely)


def readings_of(state: State) -> tuple[State, ...]:
    """The readings whose union *state* is, the likelier first."""
    if not isinstance(state, EitherState):
        return (state,)
    return (*state.readings, *(() if state.unlikely is None else (state.unlikely,)))
