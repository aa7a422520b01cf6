"""Settings of decoding for a request: as many tokens and texts as the model writes in the time left."""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from fimlsp.lsp_server.messages import Complete, Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fimlsp.models.decoding.middle import Middle
    from fimlsp.models.decoding.settings import DecodeSettings
    from fimlsp.models.protocols import Preference, ReadsAhead
    from fimlsp.quotient.language.editor_policy import EditorPolicy

DEADLINE_SHARE_KEPT = 0.25
"""The minimum share of its time limit for a request that had to wait."""

UNHURRIED_S = 60.0
"""The time of a request for which nobody waits."""

CHOSEN_AMONG = 3
"""Texts that a model writes while the user types, one of which is shown.

In the process the second and third cost a fifth of the time of the first. At 200 places of writing a tenth
more was shown and saved with them, and as much of it was right.
"""

SUGGESTION_TOKENS = 16
"""Tokens of a suggestion, generously. A model elsewhere writes one after the other."""

SPENT_ONE_IN = 2
"""The share of the time left in which a model elsewhere is to have written all texts."""

LEAST_TOKENS = 16
"""A suggestion may always have so many tokens, however slow the model is."""


@dataclass(frozen=True, slots=True)
class Pace:
    """The tokens that a model elsewhere writes in a second (None: unknown); *is_own*: they cost nothing."""

    per_second: float | None
    is_own: bool

    @classmethod
    def of(cls, network: ReadsAhead) -> Pace:
        """That of *network* now."""
        return cls(network.meter.written_per_second, network.is_own)

    def tokens(self, most: int, seconds: float) -> int:
        """Tokens of a text, at most *most*, that is written in *seconds*."""
        if self.per_second is None:
            return most
        return min(most, max(LEAST_TOKENS, int(self.per_second * seconds)))

    def choices(self, seconds: float) -> int:
        """The number of texts to choose from if *seconds* are left."""
        if self.per_second is None or not self.is_own:
            return 1
        fitting = int(self.per_second * seconds) // (SPENT_ONE_IN * SUGGESTION_TOKENS)
        return max(1, min(CHOSEN_AMONG, fitting))


def seconds_left(limits: Limits, request: Complete) -> float:
    """Seconds left for *request*; at least a share of its time limit, even after a long wait."""
    if request.is_unhurried:
        return UNHURRIED_S
    deadline = limits.deadline_ms / 1000
    return max(deadline - (time.monotonic() - request.requested_at), DEADLINE_SHARE_KEPT * deadline)


def decode_settings(
    limits: Limits,
    left: bytes,
    right: bytes,
    seconds: float,
    policy: EditorPolicy,
    pace: Pace | None = None,
    *,
    least_total: float = -inf,
    preference: Preference | None = None,
    chooses: bool = False,
) -> DecodeSettings:
    """Settings of the decoding loop between *left* and *right*, with *seconds* left.

    *policy* is that of the language, *pace* that of a model elsewhere. If it *chooses* one of several texts,
    their number depends on the pace; otherwise it is that of the limits.
    """
    from fimlsp.models.decoding.settings import DecodeSettings, is_one_line

    choices = CHOSEN_AMONG if pace is None else pace.choices(seconds)
    return DecodeSettings(
        tokens=limits.max_tokens if pace is None else pace.tokens(limits.max_tokens, seconds),
        lines=1 if is_one_line(limits.one_line, left, right, policy) else None,
        steer=limits.steering,
        seconds=seconds,
        candidates=choices if chooses else limits.candidates,
        least_total=least_total,
        preference=preference,
    )


def is_too_slow(written: Sequence[Middle]) -> bool:
    """True if the time was up before the first token."""
    return written[0].stop_reason == "deadline" and written[0].stop_at_start is None


def is_shortened(middle: Middle, limits: Limits) -> bool:
    """True if *middle* was cut off before it had the tokens of the *limits*, as the model is slow."""
    return middle.stop_reason == "budget" and middle.tokens < limits.max_tokens
