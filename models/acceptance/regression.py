"""Logistic regression on named features: how likely what has them is right.

Needs neither torch nor numpy, so that it costs nothing to use; `fimlsp calibrate` fits it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Weight:
    """What one feature counts: it is standardised by *mean* and *scale*, then weighed."""

    mean: float
    scale: float
    weight: float


@dataclass(frozen=True, slots=True)
class Regression:
    """The regression.

    Attributes:
        bias: the log-odds where all features are average.
        weights: by the name of the feature.
    """

    bias: float
    weights: Mapping[str, Weight] = field(hash=False)

    def probability(self, features: Mapping[str, float]) -> float:
        """How likely what has these *features* is right.

        Raises:
            KeyError: a feature is missing.
        """
        standard = (
            each.weight * (features[name] - each.mean) / each.scale for name, each in self.weights.items()
        )
        return logistic(self.bias + math.fsum(standard))

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Regression:
        """What `dataclasses.asdict` made of one.

        Raises:
            ValueError, KeyError, TypeError, AttributeError: it is damaged.
        """
        weights = {str(name): Weight(**numbers(each)) for name, each in row["weights"].items()}
        if any(each.scale <= 0 for each in weights.values()):
            raise ValueError("a scale is not positive")
        return cls(numbers({"bias": row["bias"]})["bias"], weights)


def logistic(log_odds: float) -> float:
    """The probability that these odds mean; never overflows."""
    return 1 / (1 + math.exp(-max(-500.0, min(500.0, log_odds))))


def numbers(row: Mapping[str, Any]) -> dict[str, float]:
    """The values of *row* as numbers.

    Raises:
        ValueError, TypeError: one is none, or not finite.
    """
    found = {name: float(value) for name, value in row.items()}
    if not all(map(math.isfinite, found.values())):
        raise ValueError("a number is not finite")
    return found
