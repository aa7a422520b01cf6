"""Where a written text may end: after any of its characters, or only between tokens.

Melcer et al. 2024 (section III-A) ask the parser after every character. In their released code a stop inside
a token has the score of the stop after the whole token, since that is where the model was asked; the last
token of a text that was cut off has no such score, and counts only if nothing else does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from fimlsp.models.decoding.middle import Middle
from fimlsp.quotient.states.protocol import State


@dataclass(frozen=True, slots=True, order=True)
class Stop:
    """A place where a text may end: the *score* of ending there, and the *length* up to there in bytes.

    The score is the mean log-probability of the tokens, the last one whole, and of the end after them. Stops
    are ordered by their scores, and the longer of two equal ones is the greater, as in the released code.
    """

    score: float
    length: int
    is_between_tokens: bool


def stops_of(middle: Middle, *, of_last: bool = False) -> list[Stop]:
    """Every stop of what was written, from the empty text on.

    A place within a character is none. The last token of a text that was cut off has stops only if *of_last*.
    """
    tokens = middle.trace if of_last or middle.stop_reason != "budget" else middle.trace[:-1]
    stops = [] if middle.stop_at_start is None else [Stop(middle.stop_at_start, 0, True)]
    total, length = 0.0, 0
    for number, token in enumerate(tokens, 1):
        total += token.log_probability
        if token.stop is not None:
            score, last = (total + token.stop) / (number + 1), len(token.text)
            stops += [Stop(score, length + at, at == last) for at in range(1, last + 1)]
        length += len(token.text)
    inner = set(_within_characters(whole_text(middle)))
    return [stop for stop in stops if stop.length not in inner]


def whole_text(middle: Middle) -> bytes:
    """Everything that was written, up to the model's own end or the end of the budget."""
    return b"".join(token.text for token in middle.trace)


def valid_stops(text: bytes, stops: Iterable[Stop], is_valid: Callable[[bytes], bool]) -> list[Stop]:
    """Those of *stops* after which *is_valid* accepts the beginning of *text*."""
    return [stop for stop in stops if is_valid(text[: stop.length])]


def complete_stops(text: bytes, stops: Iterable[Stop], start: State) -> Iterator[Stop]:
    """Those of *stops*, in their order, after which *text* is complete for the constraint at *start*."""
    state, fed = start, 0
    for stop in stops:
        following = state.feed(text[fed : stop.length]) if stop.length > fed else state
        if following is None:
            return
        state, fed = following, stop.length
        if state.complete:
            yield stop


def _within_characters(text: bytes) -> Iterator[int]:
    """The places in *text* that are not between two characters; bytes that are not UTF-8 stand alone."""
    return (at for at, byte in enumerate(text) if byte & 0xC0 == 0x80)
