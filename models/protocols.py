"""What the decoding loop asks of its two partners: the constraint on one side, the network on the other.

Neither side knows the other, and neither protocol names torch: a scripted model serves as well as a network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


class MiddleState(Protocol):
    """Constraint after some bytes of a middle; immutable. `fimlsp.quotient` has the real one."""

    def feed(self, data: bytes) -> MiddleState | None:
        """State after *data* (any bytes) as well; None when no complete middle begins so."""

    @property
    def complete(self) -> bool:
        """Whether the middle may stop here."""

    @property
    def shortest_completion(self) -> bytes:
        """About the cheapest bytes that, fed, make it complete; empty when it is."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The most likely next tokens, best first, with their log-probabilities (nats).

    Stop tokens appear among the others at their rank; *stop* is the log-probability that the middle ends
    here, whether or not that is likely enough to be listed.
    """

    tokens: Sequence[int]
    log_probabilities: Sequence[float]
    stop: float


class NextToken(Protocol):
    """A network that has read some tokens. One text at a time: `begin` drops what was read before."""

    @property
    def token_bytes(self) -> Sequence[bytes | None]:
        """The exact bytes of each token id; None for special tokens, which write nothing."""

    @property
    def stops(self) -> frozenset[int]:
        """Ids that end the middle."""

    def begin(self, tokens: Sequence[int], written: Sequence[int] = ()) -> Candidates:
        """Read a prompt, and what was *written* behind it already; what may follow.

        May reuse the work on what was read before.
        """

    def advance(self, token: int) -> Candidates:
        """Read one more token; what may follow it."""


@runtime_checkable
class Launching(NextToken, Protocol):
    """A network on a device of its own, which goes on while the caller does other things."""

    def launch(self, token: int) -> Callable[[], Candidates]:
        """Begin to read one more token; what may follow it, once that is called, which waits.

        What is launched need not be waited for; `begin` may come instead.
        """


class Rows(Protocol):
    """Several texts with a common beginning, which a network reads side by side."""

    def begin(self, texts: Sequence[Sequence[int]]) -> Sequence[Candidates]:
        """Read *texts*, none of them empty, behind what they share; what may follow each."""

    def advance(self, kept: Sequence[int], tokens: Sequence[int]) -> Sequence[Candidates]:
        """Drop all texts but those with the numbers *kept*, and read one of *tokens* behind each of these."""


@runtime_checkable
class SideBySide(NextToken, Protocol):
    """A network that reads several texts in about the time of one."""

    def side_by_side(self, tokens: Sequence[int], room: int) -> Rows | None:
        """For texts that begin with *tokens*, of which there is at least one, and go on with at most *room*.

        None: this network cannot do that. What was read before is dropped, but for what these texts share.
        """
