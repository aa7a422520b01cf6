"""Counts the requests of a client and what the user did with the suggestions; in memory only."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

MOST_LATENCIES = 1000
MOST_REASONS = 100


@dataclass(slots=True)
class Statistics:
    """Counts since the client came. Latencies are milliseconds from a request to its answer."""

    requests: int = 0
    shown: int = 0
    accepted: int = 0
    accepted_partly: int = 0
    accepted_characters: int = 0
    typed_through: int = 0
    dismissed: int = 0
    cached: int = 0
    prefetched: int = 0
    tokens: int = 0
    rejected_tokens: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    of_model: deque[float] = field(default_factory=lambda: deque(maxlen=MOST_LATENCIES))
    of_reuse: deque[float] = field(default_factory=lambda: deque(maxlen=MOST_LATENCIES))

    def add_acceptance(self, text: bytes, *, partly: bool = False) -> None:
        """The user took *text*."""
        self.accepted_characters += len(text.decode(errors="replace"))
        self.accepted_partly += partly
        self.accepted += not partly

    def add_reason(self, reason: str) -> None:
        """There was no suggestion."""
        is_new = reason not in self.reasons and len(self.reasons) >= MOST_REASONS
        self.reasons["other reasons" if is_new else reason] += 1

    def to_json(self) -> dict[str, object]:
        """All counts, and the middle and the tail of the latencies."""
        return {
            "requests": self.requests,
            "shown": self.shown,
            "accepted": self.accepted,
            "acceptedPartly": self.accepted_partly,
            "acceptedCharacters": self.accepted_characters,
            "typedThrough": self.typed_through,
            "dismissed": self.dismissed,
            "cached": self.cached,
            "prefetched": self.prefetched,
            "tokens": self.tokens,
            "rejectedTokens": self.rejected_tokens,
            "noSuggestion": dict(self.reasons.most_common()),
            "latencyMs": {"model": spread(self.of_model), "reused": spread(self.of_reuse)},
        }


def spread(latencies: Sequence[float]) -> dict[str, float | int | None]:
    """Count, median and 95th percentile of *latencies*; null where there are none."""
    ordered = sorted(latencies)

    def at(share: float) -> float | None:
        return round(ordered[int(share * (len(ordered) - 1))], 1) if ordered else None

    return {"count": len(ordered), "median": at(0.5), "p95": at(0.95)}
