"""Lists the beginnings of a middle that might be shown instead of all of it, with features of each.

Where a middle goes wrong, what stands before may still be right. So it can be cut back to any place between
two words where it connects. Where it would connect if open brackets, or the header of a block, were closed
there, that is done behind the cursor. Nothing counts behind a token that steering chose, nor behind a name
that nobody knows. `fimlsp.models.acceptance.estimate` says how likely each beginning is right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol

from fimlsp.models.acceptance.surroundings import Surroundings
from fimlsp.models.decoding.middle import Middle
from fimlsp.quotient.states.protocol import State

OPENING = 4
"""Characters that an opening has at least."""

CLOSED_MAX = 3
"""Brackets that are closed behind the cursor."""

_WORD = re.compile(rb"[\w\x80-\xff]")
_WHOLE_WORD = re.compile(rb"\s*(?:[\w\x80-\xff]+|[^\w\s\x80-\xff]+)")
"""What editors accept at once: a word or a run of signs, with the white space before it."""

_PIECE = re.compile(rb"\n?[^\n()\[\]{},:'\"]*(?:[()\[\]{},:]|'+|\"+)?")
"""As much of a token as is taken at once: it may end several words."""

_OPENERS = (b"(", b"[", b"{")
_CALL = re.compile(rb"[\w\x80-\xff)\]]\(\Z")
_CLOSERS = (b")", b"]", b"}")


class Names(Protocol):
    """What is known of the names at the cursor."""

    def first_misfit(self, tokens: Iterable[tuple[bytes, float]]) -> int | None:
        """The offset of the first of *tokens*, with their log-probabilities, that no known name allows."""

    def is_left_uncalled(self, text: bytes) -> bool:
        """Whether *text* ends with a function that has no use there unless it is called."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """A beginning of a middle that connects.

    Attributes:
        text: what it is.
        features: what is known of it.
        ends_line: whether the model ends it or a line there.
        closing: what it connects with behind it; the cursor is to stay in front of that.
        opening: what is known of its opening, the words that have its first four characters; None if it is
            shorter.
    """

    text: bytes
    features: Mapping[str, float]
    ends_line: bool
    closing: bytes = b""
    opening: Mapping[str, float] | None = None

    @property
    def inserted(self) -> bytes:
        """All that is inserted."""
        return self.text + self.closing


def beginnings(
    middle: Middle,
    start: State,
    surroundings: Surroundings,
    names: Names | None = None,
    *,
    cursor_inside: bool = True,
) -> Iterator[Beginning]:
    """The beginnings of *middle* that connect, the shortest first; *start* constrained it.

    None goes beyond a line with a fault; within it each may have that fault or not. All of it is the last,
    unless steering had a part in it. With *cursor_inside*, where the editor can put the cursor inside of what
    it inserts, some have something closed behind it. Feeds its bytes to the constraint once more.
    """
    policy, left, right = surroundings.policy, surroundings.left, surroundings.right
    fault = policy.first_fault(left, middle.text, right)
    opening = _opening(middle, surroundings)
    written = middle.text if middle.stop_reason == "follows" else b"".join(each.text for each in middle.trace)
    for text, log_probabilities, state in _between_words(middle, start, names):
        closing = _closing(text, middle.text, state, policy.header_end) if cursor_inside else b""
        if not (closing or _may_end(text, state)) or policy.stops_idly(left, text, right, written):
            continue
        if names is not None and names.is_left_uncalled(text):
            continue
        is_beyond_fault = fault is not None and len(text) > fault
        if is_beyond_fault and b"\n" in text[fault:].lstrip(b"\n"):
            return
        features = surroundings.features(
            text, log_probabilities, is_open=bool(closing), is_beyond_fault=is_beyond_fault
        )
        is_short = len(text.strip()) < OPENING
        yield Beginning(text, features, _ends_line(text, middle), closing, None if is_short else opening)


def _opening(middle: Middle, surroundings: Surroundings) -> Mapping[str, float] | None:
    """The features of the opening of *middle*; None if it is too short to have one."""
    words = accumulate(word[0] for word in _WHOLE_WORD.finditer(middle.text))
    opening = next((text for text in words if len(text.strip()) >= OPENING), None)
    if opening is None or not middle.trace:
        return None
    starts = accumulate((len(token.text) for token in middle.trace), initial=0)
    within = [token for token, start in zip(middle.trace, starts, strict=False) if start < len(opening)]
    return surroundings.features(opening, [token.log_probability for token in within])


def _between_words(
    middle: Middle, start: State, names: Names | None
) -> Iterator[tuple[bytes, Sequence[float], State]]:
    """The beginnings of *middle* that may be written, with the log-probabilities of their tokens."""
    state, text, log_probabilities = start, b"", list[float]()
    tokens = ((token.text, token.log_probability) for token in middle.trace)
    limit = None if names is None else names.first_misfit(tokens)
    for token in middle.trace:
        if token.steered:
            return
        log_probabilities.append(token.log_probability)
        for piece in filter(None, _PIECE.findall(token.text)):
            text += piece
            following = state.feed(piece)
            is_allowed = middle.text.startswith(text) and (limit is None or len(text) <= limit)
            if following is None or not is_allowed:
                return
            state = following
            if text.strip() and _is_between_words(text, middle.text):
                yield text, log_probabilities, state


def _closing(text: bytes, whole: bytes, state: State, header_end: bytes) -> bytes:
    """What closes *text*, a beginning of *whole* in one line behind which *state* is, so that it connects.

    Brackets, and what ends the header of a block. Nothing if it connects as it is, or cannot be closed, or
    opens a bracket that is no call's, or if *whole* closes the first bracket just there.
    """
    if b"\n" in text or state.complete or (text.endswith(_OPENERS) and not _CALL.search(text)):
        return b""
    closing, reached = b"", state
    for number in range(CLOSED_MAX + 1):
        if header_end and _is_complete(reached.feed(header_end)):
            return closing + header_end
        if number == CLOSED_MAX:
            break
        closers = ((closer, reached.feed(closer)) for closer in _CLOSERS)
        closer, following = next(((each, fed) for each, fed in closers if fed is not None), (b"", None))
        if following is None or (not closing and whole.startswith(closer, len(text))):
            return b""
        closing, reached = closing + closer, following
        if reached.complete:
            return closing
    return b""


def _may_end(text: bytes, state: State) -> bool:
    return state.complete and not text.endswith(_OPENERS)  # as a remark may


def _is_complete(state: State | None) -> bool:
    return state is not None and state.complete


def _ends_line(text: bytes, middle: Middle) -> bool:
    if len(text) == len(middle.text):
        return middle.stop_reason in ("end", "lines")
    return middle.text.startswith(b"\n", len(text))


def _is_between_words(text: bytes, whole: bytes) -> bool:
    """Whether *text*, a beginning of *whole*, ends with a word of it that is not about to be called."""
    behind = whole[len(text) : len(text) + 1]
    if text[-1:].isspace() or (behind == b"(" and _WORD.match(text[-1:])):
        return False
    return not (_WORD.match(behind) and _WORD.match(text[-1:]))
