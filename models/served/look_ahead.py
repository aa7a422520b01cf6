"""Next tokens from runs: a server writes several tokens at once, and tells what else it might have written.

This is speculative decoding with the roles exchanged (Leviathan et al. 2023): the model itself runs ahead,
and the constraint decides how much of that counts. Whoever decodes asks for one token after another, as of
any network. While it takes what the server wrote, the answers are there already; when it takes another
token, the run ends and a new one begins behind that token, of which the server has to read nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

from fimlsp.models.protocols import Candidates

CANDIDATES = 64
SHORTEST, LONGEST = 4, 32


@dataclass(frozen=True, slots=True)
class Place:
    """The token that the server wrote at one place, and the likeliest ones there."""

    token: int
    candidates: Candidates


class ModelServer(Protocol):
    """A server that writes."""

    @property
    def token_bytes(self) -> Sequence[bytes | None]:
        """As of `NextToken`; of tokens that the server never told of, nothing is known."""

    @property
    def stops(self) -> frozenset[int]:
        """Ids that end the middle."""

    def run(self, text: Sequence[int], length: int) -> Generator[Place, None, None]:
        """What the server writes after *text*, at most *length* tokens but at least one, as they come.

        To close the iterator ends the server's work.

        Raises:
            ServerError: it fails, or answers nonsense.
            Interrupted: the caller has lost interest.
        """

    def stop_after(self, text: Sequence[int]) -> float | None:
        """The log-probability that the middle ends behind *text*; None if the server cannot tell.

        Raises:
            ServerError, Interrupted: as `run`.
        """

    def all_after(self, text: Sequence[int]) -> Candidates | None:
        """All candidates behind *text*; None if the server cannot tell them, or lists all of them anyway.

        Raises:
            ServerError, Interrupted: as `run`.
        """

    def attended(self, should_stop: Callable[[], bool]) -> AbstractContextManager[None]:
        """As of `Attended`."""


class LookAhead:
    """`Attended` network, which `TellsStop` and `TellsAll`, over the runs of a *server*."""

    def __init__(self, server: ModelServer) -> None:
        self.server = server
        self._text = list[int]()
        self._length = SHORTEST
        self._run: Generator[Place, None, None] | None = None
        self._wrote: int | None = None
        self._used = 0

    @property
    def token_bytes(self) -> Sequence[bytes | None]:
        """The exact bytes of each token that is known."""
        return self.server.token_bytes

    @property
    def stops(self) -> frozenset[int]:
        """Ids that end the middle."""
        return self.server.stops

    def begin(self, tokens: Sequence[int], written: Sequence[int] = ()) -> Candidates:
        """Read a prompt and what was written after it; what may follow."""
        self._end_run()
        self._text = [*tokens, *written]
        return self._next()

    def advance(self, token: int) -> Candidates:
        """Read one more token; what may follow it."""
        self._text.append(token)
        if token != self._wrote:
            self._end_run()
        return self._next()

    def stop_after(self, tokens: Sequence[int], written: Sequence[int]) -> float | None:
        """As of `TellsStop`."""
        self._end_run()
        return self.server.stop_after([*tokens, *written])

    def all_after(self, tokens: Sequence[int], written: Sequence[int]) -> Candidates | None:
        """As of `TellsAll`."""
        self._end_run()
        return self.server.all_after([*tokens, *written])

    @contextmanager
    def attended(self, should_stop: Callable[[], bool]) -> Iterator[None]:
        """As of `Attended`."""
        with self.server.attended(should_stop):
            try:
                yield
            finally:
                self._end_run()

    def _next(self) -> Candidates:
        place = next(self._run, None) if self._run is not None else None
        if place is None:
            self._end_run()
            self._run = self.server.run(self._text, self._length)
            place = next(self._run)
        self._wrote, self._used = place.token, self._used + 1
        return place.candidates

    def _end_run(self) -> None:
        """Have the server stop, and fit the length of the next run to how much of this one counted."""
        if self._run is not None:
            self._run.close()
            self._length = next_length(self._length, self._used)
            self._run, self._wrote, self._used = None, None, 0


def next_length(length: int, used: int) -> int:
    """How long a run is to be after one of *length* tokens of which *used* counted."""
    wanted = 2 * length if used >= length else (length + used + 1) // 2
    return max(SHORTEST, min(LONGEST, wanted))
