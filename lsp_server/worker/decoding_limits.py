"""The limits of one request as the decoding loop is given them."""

from __future__ import annotations

import time
from math import inf
from typing import TYPE_CHECKING

from fimlsp.lsp_server.messages import Complete, Limits
from fimlsp.models.decoding.extent import is_one_line
from fimlsp.quotient.language.editor_policy import EditorPolicy

if TYPE_CHECKING:
    from fimlsp.models.decoding.settings import DecodeSettings
    from fimlsp.models.protocols import Preference

DEADLINE_SHARE_KEPT = 0.25
"""The share of its time limit that a request keeps for decoding, however long it had to wait."""


def seconds_left(limits: Limits, request: Complete) -> float:
    """How long *request* may still take; a share of its time even if it had to wait for longer than that."""
    deadline = limits.deadline_ms / 1000
    return max(deadline - (time.monotonic() - request.asked_at), DEADLINE_SHARE_KEPT * deadline)


def decode_settings(
    limits: Limits,
    left: bytes,
    right: bytes,
    seconds: float,
    policy: EditorPolicy,
    *,
    least_total: float = -inf,
    preference: Preference | None = None,
) -> DecodeSettings:
    """*limits* for the decoding loop, at the cursor between *left* and *right*, if *seconds* are left.

    *policy* is that of the language.
    """
    from fimlsp.models.decoding.settings import DecodeSettings

    return DecodeSettings(
        tokens=limits.max_tokens,
        lines=1 if is_one_line(limits.one_line, left, right, policy) else None,
        steer=limits.steering,
        seconds=seconds,
        candidates=limits.candidates,
        least_total=least_total,
        preference=preference,
    )
