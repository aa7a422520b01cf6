"""The state of a middle between contexts that can be read in two ways.

Text may follow in either reading, so a state is the union of one state for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fimlsp.lexing.values import value
from fimlsp.quotient.states.protocol import State

if TYPE_CHECKING:
    from fimlsp.quotient.masks.vocabulary import Bitmask, BoolMask, Vocabulary


@value
class EitherState:
    """A state in two readings of the text around the cursor: as it `stands`, and `repaired`.

    A reading that refuses the middle is dropped.
    """

    stands: State
    repaired: State

    def feed(self, data: bytes) -> State | None:
        """As in `State`."""
        return either(self.stands.feed(data), self.repaired.feed(data))

    @property
    def complete(self) -> bool:
        """True if the middle may end here in one of the readings."""
        return self.repaired.complete or self.stands.complete

    @property
    def shortest_completion(self) -> bytes:
        """The shorter one of both readings; that of the repaired text if they are equally long."""
        if self.complete:
            return b""
        return min(self.repaired.shortest_completion, self.stands.shortest_completion, key=len)

    def mask(self, vocabulary: Vocabulary) -> Bitmask:
        """As in `State`."""
        return vocabulary.mask(self.allowed_texts(vocabulary), complete=self.complete)

    def allowed_texts(self, vocabulary: Vocabulary) -> BoolMask:
        """As in `State`."""
        repaired = self.repaired.allowed_texts(vocabulary)
        return repaired | self.stands.allowed_texts(vocabulary)


def either(stands: State | None, repaired: State | None) -> State | None:
    """The union of two states, of which any may be missing."""
    if stands is None or repaired is None:
        return stands or repaired
    return EitherState(stands, repaired)
