"""Scores a given middle: its log-probability according to the model, without any constraint."""

from __future__ import annotations

from dataclasses import dataclass

from fimlsp.models.errors import ModelError
from fimlsp.models.loading import FimModel
from fimlsp.models.protocols import Scoring


@dataclass(frozen=True, slots=True)
class MiddleScore:
    """How likely a middle is.

    Attributes:
        tokens: the ids that the model's tokenizer makes of it.
        log_probabilities: the log-probability (nats) of each of them after those before it.
        stop: the log-probability that the middle ends after them.
    """

    tokens: tuple[int, ...]
    log_probabilities: tuple[float, ...]
    stop: float

    @property
    def total(self) -> float:
        """The log-probability of the whole middle with its end."""
        return sum(self.log_probabilities) + self.stop

    @property
    def mean(self) -> float:
        """The same for each of its tokens and the end."""
        return self.total / (len(self.tokens) + 1)


def score_middle(model: FimModel, left: bytes, right: bytes, middle: bytes) -> MiddleScore:
    """How likely *model* itself writes *middle* between *left* and *right*; nothing is constrained.

    The network alone is asked, without what the buffer suggests. Costs a step of the network for each token.

    Raises:
        ModelError: the model tells only its likeliest tokens, as one on a server does, or has no room.
        UnicodeDecodeError: *middle* is not UTF-8.
    """
    network = model.network
    if not isinstance(network, Scoring):
        raise ModelError(f"{model.name} tells only its likeliest tokens; score with a model that runs here.")
    tokens = tuple(model.vocabulary.encode(middle.decode()))
    prompt = model.prompt(left, right, len(tokens) + 1).tokens
    scores = list[float]()
    for number, token in enumerate(tokens):
        scores.append(float(network.log_probabilities([*prompt, *tokens[:number]])[token]))
    last = network.log_probabilities([*prompt, *tokens])
    stop = max(float(last[token]) for token in network.stops if token < len(last))
    return MiddleScore(tokens, tuple(scores), stop)
