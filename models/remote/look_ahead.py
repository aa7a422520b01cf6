"""Next tokens from runs: a server writes several tokens in one request, with the candidates of each.

This is speculative decoding with the roles exchanged (Leviathan et al. 2023): the model runs ahead, and the
constraint decides how many of its tokens are kept. The decoding loop reads one token after another, as from
any network. While it takes the tokens of the run, their candidates are there already. When it takes another
token, the run ends. The next run starts after that token, the only one that the server has to read anew.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from typing import Protocol

from fimlsp.models.prompts.chat_template import ChatTemplate
from fimlsp.models.prompts.fim_format import FimFormat
from fimlsp.models.prompts.vocabulary import ModelVocabulary
from fimlsp.models.protocols import Candidates, NextToken

CANDIDATES = 64
"""Candidates requested at each position, from servers that list as many."""

CONTEXT_MAX = 8192
"""Tokens of context: a shared server takes too long to read longer prompts."""

RUN_MIN, RUN_MAX = 4, 32


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
        wants_buffer: True if the model is to be mixed with the buffer cache.
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
    wants_buffer: bool = False
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


class LookAhead:
    """`Cancellable`, `ScoresStop` and `ListsMore` network over the runs of a *server*.

    With *reads_on*, the server keeps the part of a text that a cancelled request has read.
    """

    def __init__(self, server: ModelServer, *, reads_on: bool = False) -> None:
        self.server = server
        self._reads_on = reads_on
        self._text = list[int]()
        self._run: Generator[ServerStep, None, None] | None = None
        self._run_length = RUN_MIN
        self._run_token: int | None = None
        self._n_taken = 0

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
        self._text = [*tokens, *written]
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

    def read_on(self, should_stop: Callable[[], bool]) -> None:
        """As of `ReadsOn`; costs one token beyond the text."""
        if self._reads_on and self._text:
            with self.cancellable(should_stop), closing(self.server.run(self._text, 1)) as steps:
                for _ in steps:
                    pass

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
            step = next(self._run)
        self._run_token, self._n_taken = step.token, self._n_taken + 1
        return step.candidates

    def _end_run(self) -> None:
        """Stop the server, and adapt the next length to the number of tokens taken."""
        if self._run is not None:
            self._run.close()
            self._run_length = next_length(self._run_length, self._n_taken)
            self._run, self._run_token, self._n_taken = None, None, 0


def next_length(length: int, n_taken: int) -> int:
    """Length of the run after one of *length* tokens, of which *n_taken* were taken."""
    preferred = 2 * length if n_taken >= length else (length + n_taken + 1) // 2
    return max(RUN_MIN, min(RUN_MAX, preferred))
