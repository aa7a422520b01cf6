"""Lists the beginnings of a middle that may be shown instead of all of it, with features of each.

A middle that goes wrong may still begin right. So it can be cut back to any position between two words where
it connects. It can also end within a word that goes on right of the cursor. If it would connect
once open brackets, or the header of a block, are closed, the closing text is inserted after the cursor.
A header that ends a line may be shown alone: it connects with a body, which the user writes next.
Nothing counts after a token that steering chose, nor after an unknown name.
`fimlsp.models.confidence` estimates the probability that each beginning is right.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Protocol

from fimlsp.models.decoding.middle import Middle, StopReason
from fimlsp.models.networks.matches import (
    AGREEMENT_MAX,
    PIECE,
    CombinedSources,
    MatchSource,
    ScannedTexts,
)
from fimlsp.models.prompts.incremental_tokenizer import common_prefix_length
from fimlsp.quotient.language.editor_policy import EditorPolicy
from fimlsp.quotient.states.protocol import State

OPENING = 4
"""The least number of characters of an opening."""

CLOSED_MAX = 3
"""The most brackets that are closed after the cursor."""

CUT_OFF = frozenset[StopReason](["budget", "deadline", "cancelled", "unsure"])
"""Reasons for which decoding stops anywhere, also within a word."""

WINDOW = 16_000
"""Bytes on either side of the cursor in which occurrences of the text are counted."""

NAMES_WINDOW = 200_000
"""Bytes on either side of the cursor in which its names are searched."""

OCCURRENCES_MAX = 50

LINES_ABOVE = 8
"""Lines above the cursor, blank ones aside, that its line is compared with."""

LINE_START_MIN = 3
"""Characters that its line must have for that."""

PRIOR_FOLLOWS = 0.2
"""The share of positions at which a text follows, before any position is seen; it counts as one position."""

_WORD_BYTE = re.compile(rb"[\w\x80-\xff]")
_WHOLE_WORD = re.compile(rb"(?<!\s)\s*(?:[\w\x80-\xff]+|[^\w\s\x80-\xff]+)")
"""The unit that editors accept at once: a word or a run of punctuation, with the white space before it."""

_PIECE = re.compile(rb"\n?[^\n()\[\]{},:'\"]*(?:[()\[\]{},:]|'+|\"+)?")
"""The part of a token that is fed at once: a token may end several words."""

_OPENERS = (b"(", b"[", b"{")
_CALL = re.compile(rb"[\w\x80-\xff)\]]\(\Z")
_CLOSERS = (b")", b"]", b"}")

_NAME = re.compile(rb"(?<![\w\x80-\xff])[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_LAST_NAME = re.compile(rb"(?<![\w\x80-\xff])[\w\x80-\xff]*\Z")


class Names(Protocol):
    """The names known at the cursor."""

    def first_misfit(self, tokens: Iterable[tuple[bytes, float]]) -> int | None:
        """The offset of the first of *tokens*, with their log-probabilities, that no known name allows."""

    def is_left_uncalled(self, text: bytes) -> bool:
        """True if *text* ends with a function that is of no use there unless it is called."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """A beginning of a middle that connects, or the header of a block that connects with a body.

    Attributes:
        text: its bytes.
        features: its features, see `Surroundings.features`.
        ends_line: True if the model ends the middle or a line there.
        closing: the text inserted after it so that it connects; the cursor is to stay before that.
        opening: the features of its opening, the words that contain its first four characters; None if it is
            shorter.
        body: the shortest body with which a header alone connects; it is never inserted.
    """

    text: bytes
    features: Mapping[str, float]
    ends_line: bool
    closing: bytes = b""
    opening: Mapping[str, float] | None = None
    body: bytes = b""

    @property
    def inserted(self) -> bytes:
        """The whole inserted text."""
        return self.text + self.closing

    @property
    def connecting(self) -> bytes:
        """The inserted text, and the body that a header lacks."""
        return self.inserted + self.body


def beginnings(
    middle: Middle,
    start: State,
    surroundings: Surroundings,
    names: Names | None = None,
    *,
    cursor_inside: bool = True,
) -> Iterator[Beginning]:
    """The beginnings of *middle* that connect, the shortest first; *start* is its constraint.

    None goes beyond a line with a fault; each one within that line may have the fault or not. The last one is
    the whole middle, unless steering chose part of it. With *cursor_inside*, which requires an editor that
    can place the cursor inside the inserted text, some have a closing text. Feeds all bytes to the constraint
    once more.
    """
    policy, left, right = surroundings.policy, surroundings.left, surroundings.right
    fault = policy.first_issue(left, middle.text, right)
    opening = _opening(middle, surroundings)
    written = middle.text if middle.stop_reason == "follows" else middle.decoded
    joint = policy.first_joining_fault(left, middle.text, right)
    for text, log_probabilities, state in _between_words(middle, start, names, joint):
        closing = _closing(text, middle.text, state, surroundings) if cursor_inside else b""
        body = b"" if closing else _body(text, middle.text, state, surroundings)
        if not (closing or body or _may_end(text, state)) or policy.stops_idly(left, text, right, written):
            continue
        if names is not None and names.is_left_uncalled(text):
            continue
        if _is_cut_off(text, middle) and not surroundings.knows_last_word(text):
            continue
        is_beyond_fault = fault is not None and len(text) > fault
        if is_beyond_fault and b"\n" in text[fault:].lstrip(b"\n"):
            return
        features = surroundings.features(
            text, log_probabilities, is_open=bool(closing), is_beyond_fault=is_beyond_fault
        )
        is_short = len(text.strip()) < OPENING
        ends_line = bool(body) or _ends_line(text, middle)
        yield Beginning(text, features, ends_line, closing, None if is_short else opening, body)


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
    middle: Middle, start: State, names: Names | None, joint: int | None
) -> Iterator[tuple[bytes, Sequence[float], State]]:
    """The viable beginnings of *middle* that end with a word, with the log-probabilities of their tokens.

    One may also end at the offset *joint*, where it makes a word or a name together with the text after it.
    """
    state, text, log_probabilities = start, b"", list[float]()
    tokens = ((token.text, token.log_probability) for token in middle.trace)
    limit = None if names is None else names.first_misfit(tokens)
    for token in middle.trace:
        if token.steered:
            return
        log_probabilities.append(token.log_probability)
        for piece in _pieces(token.text, None if joint is None else joint - len(text)):
            text += piece
            following = state.feed(piece)
            is_allowed = middle.text.startswith(text) and (limit is None or len(text) <= limit)
            if following is None or not is_allowed:
                return
            state = following
            if text.strip() and (len(text) == joint or _is_between_words(text, middle.text)):
                yield text, log_probabilities, state


def _pieces(token: bytes, at: int | None) -> Iterator[bytes]:
    """The parts of *token* that are fed at once, one of which ends at the offset *at*."""
    parts = (token,) if at is None or at <= 0 else (token[:at], token[at:])
    return filter(None, (piece for part in parts for piece in _PIECE.findall(part)))


def _closing(text: bytes, whole: bytes, state: State, surroundings: Surroundings) -> bytes:
    """The shortest closing after which *text*, a beginning of *whole* on one line, connects.

    It closes brackets, and then the header of a block if *text* is in one. *state* is that after *text*.
    Empty if *text* connects as it is or cannot be closed. Also empty if *text* ends with a bracket that opens
    no call, or if *whole* closes the first bracket at the same position.
    """
    if b"\n" in text or state.complete or (text.endswith(_OPENERS) and not _CALL.search(text)):
        return b""
    policy = surroundings.policy
    header_end = policy.header_end if policy.ends_header(surroundings.left, text) else b""
    closing, reached = b"", state
    for number in range(CLOSED_MAX + 1):
        if header_end and _is_complete(reached.feed(header_end)):
            return closing + header_end
        if number == CLOSED_MAX:
            break
        fed = ((closer, reached.feed(closer)) for closer in _CLOSERS)
        closer, following = next(((one, after) for one, after in fed if after is not None), (b"", None))
        if following is None or (not closing and whole.startswith(closer, len(text))):
            return b""
        closing, reached = closing + closer, following
        if reached.complete:
            return closing
    return b""


def _body(text: bytes, whole: bytes, state: State, surroundings: Surroundings) -> bytes:
    """The shortest body with which *text* connects, if it ends with a header that has none.

    *text* is a beginning of *whole*, and *state* is that after it. Empty if the body stands in the header's
    own line, or below the cursor.
    """
    policy = surroundings.policy
    written, follows = (side.partition(b"\n")[0].strip() for side in (whole[len(text) :], surroundings.right))
    is_at_end = not written and (not follows or policy.is_comment(follows))
    if not (is_at_end and policy.is_header(surroundings.left, text)) or state.complete:
        return b""
    return policy.shortest_body if _is_complete(state.feed(policy.shortest_body)) else b""


def _may_end(text: bytes, state: State) -> bool:
    return state.complete and not text.endswith(_OPENERS)  # a comment may end so


def _is_complete(state: State | None) -> bool:
    return state is not None and state.complete


def _ends_line(text: bytes, middle: Middle) -> bool:
    if len(text) == len(middle.text):
        return middle.stop_reason in ("end", "lines")
    return middle.text.startswith(b"\n", len(text))


def _is_cut_off(text: bytes, middle: Middle) -> bool:
    """True if decoding stopped after *text* for a reason of its own, so that the last word may go on."""
    return middle.stop_reason in CUT_OFF and len(text) == len(middle.decoded)


def _is_between_words(text: bytes, whole: bytes) -> bool:
    """True if *text*, a beginning of *whole*, ends with a word of it that is not called next."""
    following = whole[len(text) : len(text) + 1]
    if text[-1:].isspace() or (following == b"(" and _WORD_BYTE.match(text[-1:])):
        return False
    return not (_WORD_BYTE.match(following) and _WORD_BYTE.match(text[-1:]))


class Surroundings:
    """The text *left* and *right* of a cursor, from which the features of a suggested text are computed.

    *policy* is that of the language; *elsewhere* has the other files.
    """

    def __init__(
        self, left: bytes, right: bytes, policy: EditorPolicy, elsewhere: MatchSource | None = None
    ) -> None:
        self.left, self.right, self.policy = left, right, policy
        self._near = left[-WINDOW:], right[:WINDOW]
        self._around = left[-NAMES_WINDOW:], right[:NAMES_WINDOW]
        self._is_known = dict.fromkeys(policy.known_names, True)
        before = self._near[0]
        last_name = _LAST_NAME.search(before)
        self._word_start = last_name[0] if last_name else b""
        self._line_start = before[before.rfind(b"\n") + 1 :].lstrip()
        self._lines_above = _last_lines(before)
        self._is_like_above = self._has_like_above()
        near = ScannedTexts(self._near)
        source = near if elsewhere is None else CombinedSources([near, elsewhere])
        matches = source.after(before[-AGREEMENT_MAX:])
        self._following = [match.text for match in matches if match.agreement == AGREEMENT_MAX]

    def features(
        self,
        text: bytes,
        log_probabilities: Sequence[float],
        *,
        is_open: bool = False,
        is_beyond_fault: bool = False,
    ) -> dict[str, float]:
        """The features of *text*, whose tokens have these *log_probabilities* (nats).

        | feature | meaning |
        |---|---|
        | total, probability, mean | its log-probability, its probability, the log-probability of a token |
        | length, occurrences | logarithms of its length, and of how often it occurs near the cursor |
        | new_name | 1 if it contains a name that the file lacks |
        | prose, several_lines | 1 if it is prose; 1 if it has several lines |
        | line_begins, word_goes_on | 1 if the cursor is at the start of a line; within a word |
        | like_above | 1 if a line just above starts like the line up to the cursor |
        | as_above | the share of the line, including the text, that equals the start of a line above |
        | follows | the share of positions with the same context at which it follows |
        | open | 1 if a closing text is inserted after it |
        | beyond_fault | 1 if it ends after the position where the whole middle has a fault |

        `as_above` complements `like_above`: of lines that start alike, few continue alike. The context of
        `follows` reaches into the line above.
        """
        total = sum(log_probabilities)
        occurrences = min(OCCURRENCES_MAX, sum(side.count(text) for side in self._near))
        names = _NAME.findall(self._word_start + text)
        return {
            "total": total,
            "probability": math.exp(total),
            "mean": total / len(log_probabilities),
            "length": math.log(max(1, len(text.strip()))),
            "occurrences": math.log1p(occurrences),
            "new_name": float(not all(map(self._knows, names))),
            "prose": float(self.policy.prose.match(text) is not None),
            "several_lines": float(b"\n" in text.strip()),
            "line_begins": float(not self._line_start),
            "word_goes_on": float(bool(self._word_start)),
            "like_above": float(self._is_like_above),
            "as_above": self._as_above(text),
            "follows": self._follows(text),
            "open": float(is_open),
            "beyond_fault": float(is_beyond_fault),
        }

    def _has_like_above(self) -> bool:
        """True if a line just above starts like the line up to the cursor."""
        line = self._line_start.rstrip()
        return len(line) >= LINE_START_MIN and any(above.startswith(line) for above in self._lines_above)

    def _as_above(self, text: bytes) -> float:
        """The share of the cursor's line, including *text*, that equals the start of a line just above."""
        line = (self._line_start + text).partition(b"\n")[0].strip()
        longest = max((common_prefix_length(line, above) for above in self._lines_above), default=0)
        return longest / max(1, len(line))

    def _follows(self, text: bytes) -> float:
        """The share of the positions after the same 32 bytes at which *text* follows."""
        times = sum(following.startswith(text[:PIECE]) for following in self._following)
        return (times + PRIOR_FOLLOWS) / (len(self._following) + 1)

    def knows_last_word(self, text: bytes) -> bool:
        """True unless *text* ends with a word that is neither built in nor occurs around the cursor."""
        word = _LAST_NAME.search(self._word_start + text)
        return word is None or not word[0] or self._knows(word[0])

    def _knows(self, name: bytes) -> bool:
        """True if *name* is built in or occurs around the cursor, so that a text need not define it."""
        if name not in self._is_known:
            self._is_known[name] = any(_has_word(text, name) for text in self._around)
        return self._is_known[name]


def _last_lines(before: bytes) -> list[bytes]:
    """The last lines of *before* that are not blank, without the line of the cursor."""
    lines = (line.strip() for line in reversed(before.split(b"\n")[:-1]))
    return [*islice(filter(None, lines), LINES_ABOVE)]


def _has_word(text: bytes, word: bytes) -> bool:
    start = text.find(word)
    while start >= 0:
        end = start + len(word)
        if not (_WORD_BYTE.match(text[max(0, start - 1) : start]) or _WORD_BYTE.match(text[end : end + 1])):
            return True
        start = text.find(word, end)
    return False
