"""Protocols between the decoding loop and a network, which reads tokens.

The loop's other partner, the constraint, is a `fimlsp.quotient.states.protocol.State`, which reads bytes.
Network and constraint are independent of each other. No protocol mentions torch, so a scripted network works
as well.

Two parts of a step are the same for all networks: the best candidates, and the reuse of tokens already read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from math import exp, log
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from fimlsp.quotient.masks.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Candidates:
    """The most likely next tokens, best first, with their log-probabilities (nats).

    Attributes:
        tokens: ids of the listed tokens, stop tokens among them at their rank.
        log_probabilities: log-probability of each of them.
        stop: log-probability that the middle ends here, even if that is not listed.
        stop_is_bound: True if *stop* is only an upper bound.
    """

    tokens: Sequence[int]
    log_probabilities: Sequence[float]
    stop: float
    stop_is_bound: bool = False

    @property
    def unlisted(self) -> float:
        """The probability of all tokens that are not listed. O(listed)."""
        return max(0.0, 1 - sum(map(exp, self.log_probabilities)))

    def ended_by(self, ends: Callable[[int], bool]) -> Candidates:
        """These candidates; listed tokens for which *ends* is true end the middle as well. O(listed)."""
        pairs = zip(self.tokens, self.log_probabilities, strict=True)
        total = sum(exp(log_probability) for token, log_probability in pairs if ends(token))
        if not total:
            return self
        by_them = log(total)
        is_bound = self.stop_is_bound and self.stop > by_them
        return replace(self, stop=float(np.logaddexp(self.stop, by_them)), stop_is_bound=is_bound)


class Preference(Protocol):
    """Prefers some continuations to others that the constraint allows as well."""

    def misfit(self, text: bytes, continuation: bytes) -> float:
        """The penalty (nats) of *continuation* after *text*, which is written already; 0 for none."""


class NextToken(Protocol):
    """A network that has read some tokens; one text at a time."""

    @property
    def token_bytes(self) -> Sequence[bytes | None]:
        """The exact bytes of each token id; None for special tokens, which have no text."""

    @property
    def stops(self) -> frozenset[int]:
        """Ids that end the middle."""

    def begin(self, tokens: Sequence[int], written: Sequence[int] = ()) -> Candidates:
        """Read a prompt and the tokens *written* after it; candidates for the next token.

        Replaces the text that was read before, but may reuse the work on a common prefix.
        """

    def advance(self, token: int) -> Candidates:
        """Read one more token; candidates for the next."""


@runtime_checkable
class Launching(NextToken, Protocol):
    """A network that works while the caller does other things, for instance on a GPU."""

    def launch(self, token: int) -> Callable[[], Candidates]:
        """Start to read one more token; the returned function waits for the candidates.

        A caller that calls `begin` instead need not call it.
        """


@runtime_checkable
class ScoresStop(NextToken, Protocol):
    """A network that does not always list the end of the middle, but scores it on request."""

    def stop_after(self, tokens: Sequence[int], written: Sequence[int]) -> float | None:
        """The log-probability that the middle ends after a prompt and the tokens *written*.

        None if it is unknown. Forgets the text that was read before.
        """


@runtime_checkable
class ListsMore(NextToken, Protocol):
    """A network that lists some candidates of each position, and more on request."""

    def more_after(
        self, tokens: Sequence[int], written: Sequence[int], most: int | None = None
    ) -> Candidates | None:
        """The likeliest candidates after a prompt and the tokens *written*, the text that was read last.

        These are at least *most* of them, or all if it is None. The result is None if no more are known than
        are listed anyway. `advance` continues from there.
        """


@runtime_checkable
class Maskable(NextToken, Protocol):
    """A network that masks can be made for."""

    @property
    def mask_vocabulary(self) -> Vocabulary:
        """Its tokens in the form that masks need; always the same object, which caches results."""


@runtime_checkable
class ListsViable(NextToken, Protocol):
    """A network elsewhere that masks can be made for, and that lists candidates among certain tokens."""

    @property
    def known_vocabulary(self) -> Vocabulary:
        """As `Maskable.mask_vocabulary`; it is made on the first use, which takes up to a few seconds."""

    def viable_after(
        self, tokens: Sequence[int], written: Sequence[int], viable: Sequence[int], listed: Candidates
    ) -> Candidates | None:
        """Those of the *viable* tokens that are likeliest after a prompt and the tokens *written*.

        *listed* are the candidates there. The log-probabilities are the network's own, as in *listed*. The
        result has 4,096 tokens, or all *viable* ones that have a chance. It is None if the network does not
        report them. `advance` continues from the text that was read last.
        """


@runtime_checkable
class Scoring(NextToken, Protocol):
    """A network that scores every token, not only the likeliest."""

    def log_probabilities(self, tokens: Sequence[int]) -> NDArray[np.float32]:
        """Log-probabilities (nats) [vocabulary] of the token after *tokens*, of which there is at least one.

        Replaces the text that was read before, but reuses the work on a common prefix.
        """


class Rows(Protocol):
    """Several texts with a common prefix that a network reads side by side."""

    def begin(self, texts: Sequence[Sequence[int]]) -> Sequence[Candidates]:
        """Read *texts*, none of them empty, after the common prefix; candidates for each."""

    def advance(self, kept: Sequence[int], tokens: Sequence[int]) -> Sequence[Candidates]:
        """Drop all texts but those numbered *kept*, and read one of *tokens* after each of these."""


@runtime_checkable
class ListsAllRows(Rows, Protocol):
    """Texts read side by side whose candidates can all be listed on request."""

    def all_of(self, number: int) -> Candidates:
        """All candidates of text *number* among those read last."""


@runtime_checkable
class SideBySide(NextToken, Protocol):
    """A network that reads several texts in about the time of one."""

    def side_by_side(self, tokens: Sequence[int], room: int) -> Rows | None:
        """A reader for texts that share *tokens* (at least one) and have at most *room* tokens after them.

        None if this network cannot do that. Replaces the text that was read before.
        """


@runtime_checkable
class Redraws(NextToken, Protocol):
    """A network whose texts can be drawn, where it does not report the candidates that it did not take."""

    def drawn(self, first: int, n: int) -> Sequence[NextToken]:
        """The networks of *n* draws from number *first* on, best read in turn; the network may draw ahead.

        None of them if the candidates are reported.
        """


@runtime_checkable
class Cancellable(NextToken, Protocol):
    """A network elsewhere, for which the caller may have to wait."""

    def cancellable(self, should_stop: Callable[[], bool]) -> AbstractContextManager[None]:
        """Within this context, waiting ends with `Interrupted` as soon as *should_stop* returns True.

        No work is in progress after it.
        """


class Reading(Protocol):
    """Speed and progress of a network elsewhere that reads a text, and the speed of its writing."""

    @property
    def per_second(self) -> float | None:
        """Tokens read in a second; None if it was not measured yet."""

    @property
    def written_per_second(self) -> float | None:
        """Tokens written in a second, with all work on them; None if it was not measured yet."""

    @property
    def share(self) -> float | None:
        """The share that is read, while a text is read; None while none is."""

    @property
    def is_alive(self) -> bool:
        """True if the network may be reading; false after a long silence."""


@runtime_checkable
class ReadsAhead(Cancellable, Protocol):
    """A network elsewhere that can read a text before it is requested.

    Attributes:
        keeps_read_part: True if a text that was read in part, as its request was cancelled, is read on from
            there.
        is_own: True if it costs nothing to let the network read a text in vain.
    """

    keeps_read_part: bool
    is_own: bool

    @property
    def meter(self) -> Reading:
        """Its progress."""

    def read_ahead(self, tokens: Sequence[int]) -> None:
        """Read a prompt, so that a request for it is quick, unless that is quick anyway.

        Call it within `cancellable`. A part that was read by the end of that stays read.
        """


CANDIDATES = 64


def best_candidates(logits: NDArray[np.float32], stops: frozenset[int], most: int = CANDIDATES) -> Candidates:
    """The *most* likely tokens by *logits* [vocabulary], best first. O(vocabulary) for a few."""
    n = min(most, len(logits))
    best = np.argpartition(logits, -n)[-n:]
    best = best[np.argsort(-logits[best], kind="stable")]
    top = logits[best[0]]
    total = top + np.log(np.exp(logits - top).sum())
    stop = max((float(logits[token]) for token in stops if token < len(logits)), default=-np.inf)
    return Candidates(best.tolist(), (logits[best] - total).tolist(), float(stop - total))


def n_known(read: Sequence[int], prompt: Sequence[int]) -> int:
    """The length of the common prefix of *read* and *prompt*; the last token of *prompt* never counts."""
    pairs = enumerate(zip(read, prompt, strict=False))
    most = max(0, min(len(read), len(prompt) - 1))
    return min(most, next((number for number, (known, token) in pairs if known != token), most))
