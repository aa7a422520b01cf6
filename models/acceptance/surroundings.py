"""What is known of a text from what stands around the cursor: the features by which it is judged."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import islice

from fimlsp.models.networks.precedents import (
    AGREEMENT_MAX,
    PIECE,
    Precedents,
    ScannedTexts,
    Together,
)
from fimlsp.models.prompts.typed_texts import common_length
from fimlsp.quotient.language.editor_policy import EditorPolicy

WINDOW = 16_000
"""Bytes on either side of the cursor in which the text is looked for."""

NAMES_WINDOW = 200_000
"""Bytes on either side of the cursor in which its names are looked for."""

OCCURRENCES_MAX = 50

LINES_ABOVE = 8
"""Lines above the cursor, blank ones aside, that its line is compared with."""

BEGUN_MIN = 3
"""Characters that its line must have for that."""

FOLLOWS = 0.2
"""The share of the places at which a text is taken to follow, before any place is seen; it counts as one."""

_NAME = re.compile(rb"(?<![\w\x80-\xff])[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_BEGUN_NAME = re.compile(rb"[\w\x80-\xff]*\Z")
_WORD = re.compile(rb"[\w\x80-\xff]")


class Surroundings:
    """The text *left* and *right* of a cursor, and what it tells about whether a text fits there.

    *policy* is that of the language; *elsewhere* has the other files.
    """

    def __init__(
        self, left: bytes, right: bytes, policy: EditorPolicy, elsewhere: Precedents | None = None
    ) -> None:
        self.left, self.right, self.policy = left, right, policy
        self._near = left[-WINDOW:], right[:WINDOW]
        self._around = left[-NAMES_WINDOW:], right[:NAMES_WINDOW]
        self._is_known = dict.fromkeys(policy.known_names, True)
        before = self._near[0]
        begun = _BEGUN_NAME.search(before)
        self._begun = begun[0] if begun else b""
        self._line = before[before.rfind(b"\n") + 1 :].lstrip()
        self._above = _last_lines(before)
        line = self._line.rstrip()
        self._is_like_above = len(line) >= BEGUN_MIN and any(each.startswith(line) for each in self._above)
        near = ScannedTexts(self._near)
        places = near if elsewhere is None else Together([near, elsewhere])
        found = places.after(before[-AGREEMENT_MAX:])
        self._following = [each.text for each in found if each.agreement == AGREEMENT_MAX]

    def features(
        self,
        text: bytes,
        log_probabilities: Sequence[float],
        *,
        is_open: bool = False,
        is_beyond_fault: bool = False,
    ) -> dict[str, float]:
        """The features of *text*, whose tokens have these *log_probabilities* (nats).

        How likely the model finds it, as log-probability and as probability, and a token of it on average;
        how long it is, and how often it stands nearby; whether it has a name that the file has not, prose, or
        several lines; whether a line begins at the cursor, a word before it goes on behind it, or its line
        begins as one just above does; as how much of the line with the text such a line begins, as of lines
        that begin alike, few go on alike; how often it follows where the same stands before, which
        reaches into the line above; whether something is closed behind it; and whether it ends behind the
        place where all that the model wrote has a fault.
        """
        total = sum(log_probabilities)
        occurrences = min(OCCURRENCES_MAX, sum(side.count(text) for side in self._near))
        names = _NAME.findall(self._begun + text)
        return {
            "total": total,
            "probability": math.exp(total),
            "mean": total / len(log_probabilities),
            "length": math.log(max(1, len(text.strip()))),
            "occurrences": math.log1p(occurrences),
            "new_name": float(not all(map(self._knows, names))),
            "prose": float(self.policy.prose.match(text) is not None),
            "several_lines": float(b"\n" in text.strip()),
            "line_begins": float(not self._line),
            "word_goes_on": float(bool(self._begun)),
            "like_above": float(self._is_like_above),
            "as_above": self._as_above(text),
            "follows": self._follows(text),
            "open": float(is_open),
            "beyond_fault": float(is_beyond_fault),
        }

    def _as_above(self, text: bytes) -> float:
        """The share of the line of the cursor, with *text*, as which a line just above it begins."""
        line = (self._line + text).partition(b"\n")[0].strip()
        longest = max((common_length(line, each) for each in self._above), default=0)
        return longest / max(1, len(line))

    def _follows(self, text: bytes) -> float:
        """The share of the places behind the same 32 bytes at which *text* follows."""
        times = sum(each.startswith(text[:PIECE]) for each in self._following)
        return (times + FOLLOWS) / (len(self._following) + 1)

    def _knows(self, name: bytes) -> bool:
        """Whether *name* need not be defined in a text: it is built in, or stands around the cursor."""
        if name not in self._is_known:
            self._is_known[name] = any(_has_word(text, name) for text in self._around)
        return self._is_known[name]


def _last_lines(before: bytes) -> list[bytes]:
    """The last lines of *before* that are not blank, without that of the cursor."""
    lines = (line.strip() for line in reversed(before.split(b"\n")[:-1]))
    return [*islice(filter(None, lines), LINES_ABOVE)]


def _has_word(text: bytes, word: bytes) -> bool:
    start = text.find(word)
    while start >= 0:
        end = start + len(word)
        if not (_WORD.match(text[max(0, start - 1) : start]) or _WORD.match(text[end : end + 1])):
            return True
        start = text.find(word, end)
    return False
