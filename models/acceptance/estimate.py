"""How likely a suggestion is right: an estimate fitted for one model, kept beside it as `acceptance.json`.

Logistic regression on what `fimlsp.models.acceptance.beginnings` tells of a text. `fimlsp calibrate` fits it
on files whose true text is known. Needs neither torch nor numpy, so that it costs nothing to use.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fimlsp.models.acceptance.beginnings import Beginning
from fimlsp.models.errors import ModelError

FILE_NAME = "acceptance.json"
FORMAT = 4

LINE_WORTH = 50
"""What ending its line adds to the worth of a text, in characters: one need not look how the line goes on."""


@dataclass(frozen=True, slots=True)
class Weight:
    """What one feature counts: it is standardised by *mean* and *scale*, then weighed."""

    mean: float
    scale: float
    weight: float


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Of *number* texts that were estimated at *estimated* on average, the share *right* was right."""

    estimated: float
    right: float
    number: float


@dataclass(frozen=True, slots=True)
class Level:
    """How much is shown, and how much of that is right, if a wrong text costs *cost* characters.

    Attributes:
        shown: the share of the cursors.
        right: what of it is right, at least, but for one chance in twenty.
        least_total: the log-probability that 99 of 100 texts which are shown have at least.
    """

    cost: float
    shown: float
    right: float
    least_total: float


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The estimate.

    Attributes:
        bias: the log-odds of a text whose features are all average.
        weights: by the name of the feature.
        cursors: how many cursors it was fitted at.
        beginnings: how many texts of theirs.
        curve: how well it holds, on cursors that had no part in the fitting; for people.
        levels: what showing comes to at several costs, on such cursors.
    """

    bias: float
    weights: Mapping[str, Weight]
    cursors: int
    beginnings: int
    curve: tuple[CurvePoint, ...] = ()
    levels: tuple[Level, ...] = ()

    def probability(self, features: Mapping[str, float]) -> float:
        """How likely the text with these *features* is right as a whole.

        Raises:
            KeyError: a feature is missing.
        """
        standard = (
            each.weight * (features[name] - each.mean) / each.scale for name, each in self.weights.items()
        )
        return logistic(self.bias + math.fsum(standard))

    def cost(self, confidence: float) -> float:
        """What a wrong text must cost so that of ten that are shown 10 * *confidence* are right.

        0 shows nearly everything. Where no cost is enough, infinity: nothing is shown.
        """
        level = self._level(confidence)
        return 0.0 if confidence <= 0 else math.inf if level is None else level.cost

    def least_total(self, confidence: float) -> float:
        """The log-probability below which hardly any text is shown, so that no more of it need be decoded."""
        level = self._level(confidence)
        return -math.inf if confidence <= 0 else math.inf if level is None else level.least_total

    def _level(self, confidence: float) -> Level | None:
        enough = [level for level in self.levels if level.right >= confidence]
        return min(enough, key=lambda level: level.cost, default=None)

    def worth(self, beginning: Beginning, cost: float) -> float:
        """What showing *beginning* is worth on average, in characters, if a wrong text costs *cost*."""
        probability = self.probability(beginning.features)
        gain = len(beginning.text.strip()) + LINE_WORTH * beginning.ends_line
        return probability * gain - cost * (1 - probability) if probability < 1 else gain

    def best(self, beginnings: Iterable[Beginning], cost: float) -> Beginning | None:
        """The one of *beginnings* worth most if a wrong text costs *cost*; None if none is worth it."""
        found, most = None, 0.0
        for each in beginnings:
            worth = self.worth(each, cost)
            if worth > most:
                found, most = each, worth
        return found

    def best_sound(
        self,
        beginnings: Sequence[Beginning],
        cost: float,
        has_fault: Callable[[bytes], bool],
        first_unknown_name: Callable[[bytes], int | None],
    ) -> Beginning | None:
        """As `best`, but one that does not *has_fault*, nor has an unknown name, whose offset is told.

        Only texts that would be shown are looked at.
        """
        while (best := self.best(beginnings, cost)) is not None:
            if has_fault(best.inserted):
                beginnings = [each for each in beginnings if each is not best]
            elif (unknown := first_unknown_name(best.inserted)) is not None:
                beginnings = [each for each in beginnings if len(each.text) <= unknown]
            else:
                break
        return best

    def save(self, folder: Path) -> Path:
        """Write it into the *folder* of its model; the file."""
        path = folder / FILE_NAME
        path.write_text(json.dumps({"format": FORMAT, **asdict(self)}, indent=1) + "\n", encoding="utf-8")
        return path

    @classmethod
    def load(cls, folder: Path) -> Acceptance | None:
        """That of the model in *folder*; None if it has none.

        Raises:
            ModelError: the file is damaged or of another version.
        """
        path = folder / FILE_NAME
        try:
            return cls.from_json(json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelError(
                f"{path} cannot be used ({error!r}); delete it or make it anew with `fimlsp calibrate`."
            ) from error

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Acceptance:
        """What `save` wrote.

        Raises:
            ValueError, KeyError, TypeError, AttributeError: it is damaged or of another version.
        """
        if row["format"] != FORMAT:
            raise ValueError(f"format {row['format']}, not {FORMAT}")
        weights = {str(name): Weight(**_numbers(each)) for name, each in row["weights"].items()}
        if any(each.scale <= 0 for each in weights.values()):
            raise ValueError("a scale is not positive")
        curve = tuple(CurvePoint(**_numbers(each)) for each in row["curve"])
        levels = tuple(Level(**_numbers(each)) for each in row["levels"])
        bias = _numbers({"bias": row["bias"]})["bias"]
        return cls(bias, weights, int(row["cursors"]), int(row["beginnings"]), curve, levels)


def logistic(log_odds: float) -> float:
    """The probability that these odds mean; never overflows."""
    return 1 / (1 + math.exp(-max(-500.0, min(500.0, log_odds))))


def _numbers(row: Mapping[str, Any]) -> dict[str, float]:
    numbers = {name: float(value) for name, value in row.items()}
    if not all(map(math.isfinite, numbers.values())):
        raise ValueError("a number is not finite")
    return numbers
