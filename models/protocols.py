"""What the decoding loop needs of a network, which is fed tokens.

Its other partner, the constraint, is a `fimlsp.quotient.states.protocol.State`, which is fed bytes. Neither
knows the other, and no protocol names torch, so a scripted model will do as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from fimlsp.quotient.masks.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Candidates:
    """The most likely next tokens, best first, with their log-probabilities (nats).

    Stop tokens appear among the others at their rank; *stop* is the log-probability that the middle ends
    here, whether or not that is likely enough to be listed; *stop_is_bound*: it is at most so likely, which
    is all that is known.
    """

    tokens: Sequence[int]
    log_probabilities: Sequence[float]
    stop: float
    stop_is_bound: bool = False


class Preference(Protocol):
    """What prefers some continuations to others, although the constraint allows both."""

    def misfit(self, text: bytes, continuation: bytes) -> float:
        """By how many nats *continuation* behind *text*, which is written, counts less; 0 if it is fine."""


class NextToken(Protocol):
    """A network that has read some tokens; one text at a time."""

    @property
    def token_bytes(self) -> Sequence[bytes | None]:
        """The exact bytes of each token id; None for special tokens, which have no text."""

    @property
    def stops(self) -> frozenset[int]:
        """Ids that end the middle."""

    def begin(self, tokens: Sequence[int], written: Sequence[int] = ()) -> Candidates:
        """Read a prompt and what was *written* after it already; what may follow.

        Replaces the text that was read before, but may reuse the work on a common beginning.
        """

    def advance(self, token: int) -> Candidates:
        """Read one more token; what may follow it."""


@runtime_checkable
class Launching(NextToken, Protocol):
    """A network that can work while the caller does other things, for instance on a GPU."""

    def launch(self, token: int) -> Callable[[], Candidates]:
        """Start to read one more token; the function returned waits, and says what may follow.

        It need not be called; `begin` may come instead.
        """


@runtime_checkable
class TellsStop(NextToken, Protocol):
    """A network that does not list the end of the middle everywhere, but tells how likely it is if asked."""

    def stop_after(self, tokens: Sequence[int], written: Sequence[int]) -> float | None:
        """The log-probability that the middle ends behind a prompt and what was *written*.

        None: it cannot be told. What was read before is forgotten.
        """


@runtime_checkable
class TellsAll(NextToken, Protocol):
    """A network that lists fewer candidates than it knows, but tells all of a place if asked."""

    def all_after(self, tokens: Sequence[int], written: Sequence[int]) -> Candidates | None:
        """All candidates behind a prompt and what was *written*, the text that was read last.

        None: they cannot be told. `advance` goes on from there.
        """


@runtime_checkable
class Maskable(NextToken, Protocol):
    """A network whose tokens masks can be made for."""

    @property
    def mask_vocabulary(self) -> Vocabulary:
        """Its tokens as masks need them; always the same object, with which stays what is learnt of them."""


@runtime_checkable
class Scoring(NextToken, Protocol):
    """A network that tells how likely every token is, not only the likeliest."""

    def log_probabilities(self, tokens: Sequence[int]) -> NDArray[np.float32]:
        """Log-probabilities (nats) [vocabulary] of what follows *tokens*, at least one.

        Replaces the text that was read before, but reuses the work on a common beginning.
        """


class Rows(Protocol):
    """Several texts with a common beginning that a network reads side by side."""

    def begin(self, texts: Sequence[Sequence[int]]) -> Sequence[Candidates]:
        """Read *texts*, none of them empty, after what they share; what may follow each."""

    def advance(self, kept: Sequence[int], tokens: Sequence[int]) -> Sequence[Candidates]:
        """Drop all texts but those numbered *kept*, and read one of *tokens* after each of these."""


@runtime_checkable
class TellsAllRows(Rows, Protocol):
    """Texts read side by side of which all candidates can be told."""

    def all_of(self, number: int) -> Candidates:
        """All candidates of the text of that number among those read last."""


@runtime_checkable
class SideBySide(NextToken, Protocol):
    """A network that can read several texts in about the time of one."""

    def side_by_side(self, tokens: Sequence[int], room: int) -> Rows | None:
        """A reader for texts that share *tokens*, at least one, and have at most *room* tokens after them.

        None: this network cannot do that. Replaces the text that was read before.
        """


@runtime_checkable
class Attended(NextToken, Protocol):
    """A network elsewhere, for which its caller may have to wait."""

    def attended(self, should_stop: Callable[[], bool]) -> AbstractContextManager[None]:
        """While this lasts, waiting ends with `Interrupted` as soon as *should_stop* says so.

        At its end nothing is under way any more.
        """
