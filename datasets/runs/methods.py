"""The methods of a run, each from the decoding of one prompt to the text it answers.

*Unconstrained* is the model's whole output. *Checked unconstrained* is a beginning of the same output after
which the file parses: the longest, or the one with the best length-normalised log-probability. *Constrained*
rejects tokens while it writes; *steered* also makes sure that it can end in time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fimlsp.datasets.sources.cpython import parses
from fimlsp.models.decoding.loop import decode_middle
from fimlsp.models.decoding.middle import Middle
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.decoding.unconstrained import Unconstrained
from fimlsp.models.prompts.prompt import Prompt
from fimlsp.models.protocols import NextToken
from fimlsp.quotient.states.protocol import State


def decode(
    network: NextToken,
    prompt: Prompt,
    start: State | None,
    *,
    tokens: int,
    steer: bool = False,
) -> Middle:
    """What *network* writes with the settings of the protocol; unconstrained where *start* is None."""
    settings = DecodeSettings(tokens=tokens, lines=None, steer=steer, seconds=None, stop_rule="best")
    return decode_middle(network, prompt, start or Unconstrained(), settings, lambda: False)


def whole(middle: Middle) -> bytes:
    """All that was written, up to the model's own end or the end of the budget."""
    return b"".join(token.text for token in middle.trace)


@dataclass(frozen=True, slots=True)
class Stop:
    """A place in a written text where it may end, with the score of ending there."""

    length: int
    score: float


def scored_places(middle: Middle) -> list[Stop]:
    """Every place between tokens, from the empty middle on, where the network was asked."""
    total, length = 0.0, 0
    places = [] if middle.stop_at_start is None else [Stop(0, middle.stop_at_start)]
    for number, token in enumerate(middle.trace, 1):
        total += token.log_probability
        length += len(token.text)
        if token.stop is not None:
            places.append(Stop(length, (total + token.stop) / (number + 1)))
    return places


def parsing_places(text: bytes, places: list[Stop], start: State | None, left: str, right: str) -> list[Stop]:
    """Those of *places* in *text* after which the file parses.

    The constraint tells; asking CPython at each of 500 places would take seconds a case. Where there is no
    constraint, CPython is asked after all, so that a fault of the engine is not counted against the model.
    """
    if start is None:
        return [place for place in places if parses(left, text[: place.length], right)]
    return list(_complete_places(text, places, start))


def _complete_places(text: bytes, places: list[Stop], start: State) -> Iterator[Stop]:
    state, fed = start, 0
    for place in places:
        following = state.feed(text[fed : place.length])
        if following is None:
            return
        state, fed = following, place.length
        if state.complete:
            yield place
