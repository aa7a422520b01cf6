"""The interface of all states of a middle, and the union of several.

Contexts may be read in several ways. Text may follow in any of the readings, so the state of a middle is then
the union of one state for each.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from fimlsp.lexing.values import value

if TYPE_CHECKING:
    from fimlsp.quotient.masks.vocabulary import Bitmask, BoolMask, Vocabulary


RelaxedSpan = tuple[int, int, bytes]
"""A start and an end in a text, and the bytes that the text is assumed to have between them."""


class State(Protocol):
    """The state after some bytes of a middle. Immutable: feeding makes new states.

    A state is never a dead end: some continuation is complete.
    """

    def feed(self, data: bytes) -> State | None:
        """The state after *data*; None if nothing that starts like this connects. O(len(data)).

        *data* may be any bytes and may end inside a character.
        """

    @property
    def complete(self) -> bool:
        """True if the middle may end here: left context, middle and right context together are valid."""

    @property
    def shortest_completion(self) -> bytes:
        """A text, near the shortest, that completes this middle; empty if it is complete."""

    def mask(self, vocabulary: Vocabulary) -> Bitmask:
        """The tokens of *vocabulary* that `feed` accepts next, and stop tokens.

        The array has a bit for each token, in words of 32 bits, the least significant first. Stop tokens are
        set if the middle is complete. The array is a copy for the caller.
        """

    def allowed_texts(self, vocabulary: Vocabulary) -> BoolMask:
        """A flag for each text of *vocabulary*, and one for a text that no token has: if it may come next.

        The array must not be changed.
        """


@runtime_checkable
class PartlyChecked(Protocol):
    """A state with a check of whole texts on top of the grammar, at least in one reading."""

    @property
    def unchecked(self) -> State:
        """The state by the grammar alone."""


def by_grammar(state: State) -> State:
    """*state* by the grammar alone."""
    return state.unchecked if isinstance(state, PartlyChecked) else state


@runtime_checkable
class OwnMiddles(Protocol):
    """A language that computes its middles itself, with more knowledge than a grammar can express.

    Its grammar serves all other purposes.
    """

    def middle(
        self, left: bytes, right: bytes, *, may_escape: bool, relax: bool
    ) -> tuple[State | None, tuple[RelaxedSpan, ...]]:
        """The first state of the middles between *left* and *right*; None if no middle is known.

        Unless it *may_escape*, a middle stays in the brackets and blocks around it, if any such middle is
        known. If none is known and with *relax*, the text is read as a near valid one. The returned spans, of
        *left* and *right* as one text, are the differences.
        """


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
    """The union of *states*, the likelier first, and of one that is *unlikely*; None if all are missing.

    Readings that are unlikely in one of them stay so, unless there are no others.
    """
    readings: list[State] = []
    doubtful: list[State] = []
    for state in states:
        if isinstance(state, EitherState):
            readings += state.readings
            doubtful += () if state.unlikely is None else (state.unlikely,)
        elif state is not None:
            readings.append(state)
    doubtful += () if unlikely is None else (unlikely,)
    if not readings:
        return either(*doubtful) if doubtful else None
    if not doubtful:
        return readings[0] if len(readings) == 1 else EitherState(tuple(readings))
    return EitherState(tuple(readings), doubtful[0] if len(doubtful) == 1 else either(*doubtful))


def readings_of(state: State) -> tuple[State, ...]:
    """The readings whose union *state* is, the likelier first."""
    if not isinstance(state, EitherState):
        return (state,)
    return (*state.readings, *(() if state.unlikely is None else readings_of(state.unlikely)))
