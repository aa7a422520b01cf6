"""Next tokens from runs: a server writes several tokens in one request, with the candidates of each.

This is speculative decoding with the roles exchanged (Leviathan et al. 2023): the model runs ahead, and the
constraint decides how many of its tokens are kept. The decoding loop reads one token after another, as from
any network. While it takes the tokens of the run, their candidates are there already. When it takes another
token, the run ends. The next run starts after that token, the only one that the server has to read anew.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Protocol

from fimlsp.models.prompts.chat_template import ChatTemplate
from fimlsp.models.prompts.fim_format import FimFormat
from fimlsp.models.prompts.vocabulary import ModelVocabulary
from fimlsp.models.protocols import Candidates, NextToken
from fimlsp.models.remote.reading import ReadingMeter

if TYPE_CHECKING:
    from fimlsp.quotient.masks.vocabulary import Vocabulary

CANDIDATES = 64
"""Candidates requested at each position, from servers that list as many."""

CONTEXT_MAX = 8192
"""Tokens of context: a shared server takes too long to read longer prompts."""

RUN_MIN, RUN_MAX = 4, 32

TEXTS_KNOWN = 4
"""The texts read last that count as read: as many as a server in this process has slots."""

SLOW_S = 0.25
"""A text that is read in less time is not read ahead."""


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """A model on a server.

    Attributes:
        name: name of the model, for people.
        kind: kind of the server, for instance `llama-server`, with a remark if it is approximate.
        device: where the model runs.
        network: predicts tokens, through the server.
        vocabulary: token ids and their bytes.
        fim: markers and order of the prompt.
        context: maximum number of tokens of prompt and middle together.
        identity: distinguishes the model from all others: a digest of its file, or server and name.
        has_probabilities: True if the server reports log-probabilities.
        estimate: the text of its own `acceptance.json`; empty: it has none.
        wants_buffer: True if the model is to be mixed with the buffer cache; None: unknown.
        prompt_tokens: maximum number of tokens around the cursor that it reads; None: as many as fit.
        chat: the template of its conversations; None: unknown.
    """

    name: str
    kind: str
    device: str
    network: NextToken
    vocabulary: ModelVocabulary
    fim: FimFormat
    context: int
    identity: str
    has_probabilities: bool = True
    estimate: str = ""
    wants_buffer: bool | None = None
    prompt_tokens: int | None = None
    chat: ChatTemplate | None = None


@dataclass(frozen=True, slots=True)
class ServerStep:
    """A token that the server wrote, and the likeliest candidates at its position."""

    token: int
    candidates: Candidates


def ranked(log_probabilities: Mapping[int, float], stops: frozenset[int]) -> Candidates:
    """Candidates, likeliest first, from the *log_probabilities* of listed tokens (at least one).

    If no stop token is listed, the end of the middle is at most as likely as the last listed token.
    """
    order = sorted(log_probabilities, key=lambda token: -log_probabilities[token])
    listed_stops = [log_probabilities[token] for token in stops if token in log_probabilities]
    stop = max(listed_stops, default=log_probabilities[order[-1]])
    return Candidates(
        order, [log_probabilities[token] for token in order], stop, stop_is_bound=not listed_stops
    )


class ModelServer(Protocol):
    """A server that writes runs of tokens."""

    @property
    def token_bytes(self) -> Sequence[bytes | None]:
        """As of `NextToken`; None for tokens that the server has not reported yet."""

    @property
    def stops(self) -> frozenset[int]:
        """Ids that end the middle."""

    def run(self, text: Sequence[int], length: int) -> Generator[ServerStep, None, None]:
        """Yield the 1 to *length* tokens that the server writes after *text*, as they arrive.

        Closing the generator ends the server's work.

        Raises:
            ServerError: the server fails or its answer is invalid.
            Interrupted: the caller has lost interest.
        """

    def stop_after(self, text: Sequence[int]) -> float | None:
        """The log-probability that the middle ends after *text*; None if the server does not report it.

        Raises:
            ServerError, Interrupted: as `run`.
        """

    def more_after(self, text: Sequence[int], most: int | None) -> Candidates | None:
        """The *most* likeliest candidates after *text*, all if it is None; see `ListsMore`.

        None if the server cannot list more than it always does.

        Raises:
            ServerError, Interrupted: as `run`.
        """

    def cancellable(self, should_stop: Callable[[], bool]) -> AbstractContextManager[None]:
        """As of `Cancellable`."""


class ListsAmong(ModelServer, Protocol):
    """A server that lists candidates among certain tokens."""

    def among(self, text: Sequence[int], wanted: Sequence[int], listed: Candidates) -> Candidates | None:
        """The likeliest of the *wanted* tokens after *text*, where these are *listed*; see `ListsViable`.

        Raises:
            ServerError, Interrupted: as `run`.
        """


class LookAhead:
    """`Cancellable`, `ScoresStop`, `ListsMore` and `ReadsAhead` network over the runs of a *server*.

    With a *meter*, the server keeps the part of a text that a cancelled request has read. *is_own*: it is on
    this machine, so it costs nothing to let it read a text that nobody has requested yet.
    """

    def __init__(
        self, server: ModelServer, meter: ReadingMeter | None = None, *, is_own: bool = False
    ) -> None:
        self.server = server
        self.meter = ReadingMeter() if meter is None else meter
        self.keeps_read_part = meter is not None
        self.is_own = is_own
        self._text = list[int]()
        self._known = deque[Sequence[int]](maxlen=TEXTS_KNOWN)
        self._run: Generator[ServerStep, None, None] | None = None
        self._run_length = RUN_MIN
        self._run_token: int | None = None
        self._n_taken = 0
        self._last_token_at: float | None = None

    @property
    def token_bytes(self) -> Sequence[bytes | None]:
        """The exact bytes of each token that is known."""
        return self.server.token_bytes

    @property
    def stops(self) -> frozenset[int]:
        """Ids that end the middle."""
        return self.server.stops

    def begin(self, tokens: Sequence[int], written: Sequence[int] = ()) -> Candidates:
        """Read a prompt and the tokens *written* after it; candidates for the next token."""
        self._end_run()
        self._text, self._last_token_at = [*tokens, *written], None
        return self._next()

    def advance(self, token: int) -> Candidates:
        """Read one more token; candidates for the next."""
        self._text.append(token)
        if token != self._run_token:
            self._end_run()
        return self._next()

    def stop_after(self, tokens: Sequence[int], written: Sequence[int]) -> float | None:
        """As of `ScoresStop`."""
        self._end_run()
        return self.server.stop_after([*tokens, *written])

    def more_after(
        self, tokens: Sequence[int], written: Sequence[int], most: int | None = None
    ) -> Candidates | None:
        """As of `ListsMore`."""
        self._end_run()
        return self.server.more_after([*tokens, *written], most)

    def read_ahead(self, tokens: Sequence[int]) -> None:
        """As of `ReadsAhead`; costs one token beyond the text."""
        unread = self._unread(tokens)
        if self.keeps_read_part and unread and self.meter.seconds(unread) >= SLOW_S:
            with closing(self.server.run(tokens, 1)) as steps:
                self._first_of(steps, tokens)

    @contextmanager
    def cancellable(self, should_stop: Callable[[], bool]) -> Iterator[None]:
        """As of `Cancellable`."""
        with self.server.cancellable(should_stop):
            try:
                yield
            finally:
                self._end_run()

    def _next(self) -> Candidates:
        step = next(self._run, None) if self._run is not None else None
        if step is None:
            self._end_run()
            self._run = self.server.run(self._text, self._run_length)
            step = self._first_of(self._run, self._text)
        self._run_token, self._n_taken = step.token, self._n_taken + 1
        last, self._last_token_at = self._last_token_at, time.monotonic()
        if last is not None:
            self.meter.wrote(self._last_token_at - last)
        return step.candidates

    def _first_of(self, run: Generator[ServerStep, None, None], text: Sequence[int]) -> ServerStep:
        """The first step of *run*, before which the server reads *text*."""
        with self.meter.measured(self._unread(text)):
            step = next(run)
        self._known.append(tuple(text))
        return step

    def _unread(self, text: Sequence[int]) -> int:
        """The number of tokens of *text* that follow the longest beginning which is read already."""
        return len(text) - max((common_prefix(known, text) for known in self._known), default=0)

    def _end_run(self) -> None:
        """Stop the server, and adapt the next length to the number of tokens taken."""
        if self._run is not None:
            self._run.close()
            self._run_length = next_length(self._run_length, self._n_taken)
            self._run, self._run_token, self._n_taken = None, None, 0


class MaskedLookAhead(LookAhead):
    """As `LookAhead`, and `ListsViable`: the bytes of all tokens of the *server* are known."""

    server: ListsAmong

    @cached_property
    def known_vocabulary(self) -> Vocabulary:
        """As of `ListsViable`; 262,144 tokens take seconds when they are used for the first time."""
        from fimlsp.quotient.masks.vocabulary import Vocabulary  # few runs need masks

        return Vocabulary([data or None for data in self.token_bytes], self.stops)

    def viable_after(
        self, tokens: Sequence[int], written: Sequence[int], viable: Sequence[int], listed: Candidates
    ) -> Candidates | None:
        """As of `ListsViable`."""
        self._end_run()
        return self.server.among([*tokens, *written], viable, listed)


def common_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    """The number of equal tokens at the start of both."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def next_length(length: int, n_taken: int) -> int:
    """Length of the run after one of *length* tokens, of which *n_taken* were taken."""
    preferred = 2 * length if n_taken >= length else (length + n_taken + 1) // 2
    return max(RUN_MIN, min(RUN_MAX, preferred))
