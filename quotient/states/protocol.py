"""The interface of a state of a middle, whatever it is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:  # NumPy is imported by who asks for masks
    from fimlsp.quotient.masks.plain_walk import Truths
    from fimlsp.quotient.masks.vocabulary import Vocabulary, Words


Replacement = tuple[int, int, bytes]
"""The bytes of a text from one offset to another are read as these."""


class State(Protocol):
    """What is known after some bytes of a middle. Immutable: feeding makes new states.

    A state is never a dead end: some continuation is complete.
    """

    def feed(self, data: bytes) -> State | None:
        """The state after *data*; None if nothing that begins like this connects. O(len(data)).

        *data* may be any bytes and may end inside a character.
        """

    @property
    def complete(self) -> bool:
        """Whether the middle may end here: left context, middle and right context together are valid."""

    @property
    def shortest_completion(self) -> bytes:
        """A text, near the shortest, that completes this middle; empty if it is complete."""

    def mask(self, vocabulary: Vocabulary) -> Words:
        """Which tokens of *vocabulary* may come next: those that `feed` gives a state after, and stops.

        A bit for each token in words of 32 bits, the least significant first; stop tokens are set where the
        middle is complete. The array is the caller's own.
        """

    def allowed_texts(self, vocabulary: Vocabulary) -> Truths:
        """For each text of *vocabulary*, and one that no token has, whether it may come next.

        The array must not be changed.
        """


@runtime_checkable
class OwnMiddles(Protocol):
    """A language that says itself what may stand between two texts, as it knows more than a grammar can tell.

    Its grammar serves all else that is asked about a text.
    """

    def middle(
        self, left: bytes, right: bytes, *, may_escape: bool, relax: bool
    ) -> tuple[State | None, tuple[Replacement, ...]]:
        """What may stand between *left* and *right*; None if nothing is known to.

        Unless it *may_escape*, a middle stays in the brackets and blocks around it, if any such is known. If
        nothing is known to and *relax*, the text is read as a right one that is near to it; the replacements,
        of *left* and *right* as one text, tell how they differ.
        """
