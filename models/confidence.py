"""The probability that a suggestion is right: an estimate for a model, stored as `acceptance.json`.

Two probabilities are estimated by logistic regression on the features of `fimlsp.models.beginnings`. One is
that all of a text is right, the other that its opening is, the first word or two. A user who accepts a text
word by word keeps the right part of it and loses nothing by the rest. A text with a wrong opening was read
for nothing.
`fimlsp calibrate` fits both on files whose true text is known. Using an estimate needs neither torch nor
NumPy.

A model that was never calibrated has a general estimate. It was fitted to a network without the mixing of the
bundled model (`benchmarks/models/general_estimates.py`), by features that mean the same for any model. One
such estimate uses log-probabilities; another is for servers that report none. Each is corrected by the
texts that the user then types (`fimlsp.models.learnt`).
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from fimlsp.models.beginnings import Beginning
from fimlsp.models.errors import ModelError
from fimlsp.models.learnt import Correction, Line, logistic, numbers

FILE_NAME = "acceptance.json"
GENERAL, WITHOUT_PROBABILITIES = "general.json", "general-texts.json"
"""The files of the estimates for models that have none of their own."""

FORMAT = 5

LINE_WORTH = 10
"""Characters added to the worth of a text that ends its line: the user need not complete that."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Weight:
    """The weight of one feature, which is standardised by *mean* and *scale* before."""

    mean: float
    scale: float
    weight: float


@dataclass(frozen=True, slots=True)
class Regression:
    """Logistic regression on named features.

    Attributes:
        bias: the log-odds if all features are average.
        weights: by the name of the feature.
    """

    bias: float
    weights: Mapping[str, Weight] = field(hash=False)

    def probability(self, features: Mapping[str, float]) -> float:
        """The probability that a text with these *features* is right.

        Raises:
            KeyError: a feature is missing.
        """
        return logistic(self.log_odds(features))

    def log_odds(self, features: Mapping[str, float]) -> float:
        """The logarithm of the odds that a text with these *features* is right.

        Raises:
            KeyError: a feature is missing.
        """
        terms = (
            weight.weight * (features[name] - weight.mean) / weight.scale
            for name, weight in self.weights.items()
        )
        return self.bias + math.fsum(terms)

    def corrected(self, line: Line) -> Regression:
        """The regression whose log-odds are those on the *line* above these."""
        weights = {
            name: replace(weight, weight=line.slope * weight.weight) for name, weight in self.weights.items()
        }
        return Regression(line.bias + line.slope * self.bias, weights)

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Regression:
        """The regression that `dataclasses.asdict` turned into *row*.

        Raises:
            ValueError, KeyError, TypeError, AttributeError: it is damaged.
        """
        weights = {str(name): Weight(**numbers(values)) for name, values in row["weights"].items()}
        if any(weight.scale <= 0 for weight in weights.values()):
            raise ValueError("a scale is not positive")
        return cls(numbers({"bias": row["bias"]})["bias"], weights)


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Of *number* texts with the mean estimate *estimated*, the share *right* was right."""

    estimated: float
    right: float
    number: float


@dataclass(frozen=True, slots=True)
class Level:
    """How much is shown, and how much of that is right, if a wrong opening costs *cost* characters.

    Attributes:
        shown: the share of cursors with a suggestion.
        right: the least share of these that is right, except for one chance in six.
        least_total: the log-probability that 99 of 100 shown texts reach; none in a general estimate.
    """

    cost: float
    shown: float
    right: float
    least_total: float = -math.inf


@dataclass(frozen=True, slots=True)
class ConfidenceEstimate:
    """The estimate of one model.

    Attributes:
        whole: the probability that all of a text is right, by its features.
        opening: the probability that an opening is right, by the features of the opening.
        cursors: the number of cursors that it was fitted to.
        beginnings: the number of texts at these cursors.
        curve: the calibration of `whole` at cursors that had no part in the fit; for people.
        levels: the effect of several costs, at such cursors.
    """

    whole: Regression
    opening: Regression
    cursors: int
    beginnings: int
    curve: tuple[CurvePoint, ...] = ()
    levels: tuple[Level, ...] = ()

    def cost(self, confidence: float) -> float:
        """The cost of a wrong opening with which 10 * *confidence* of ten shown texts are right.

        0 shows nearly everything. If no cost suffices, it is infinity: nothing is shown.
        """
        level = self._level(confidence)
        return 0.0 if confidence <= 0 else math.inf if level is None else level.cost

    def least_total(self, confidence: float) -> float:
        """The log-probability below which hardly any text is shown, so that decoding may stop there."""
        level = self._level(confidence)
        return -math.inf if confidence <= 0 else math.inf if level is None else level.least_total

    def _level(self, confidence: float) -> Level | None:
        sufficient = [level for level in self.levels if level.right >= confidence]
        return min(sufficient, key=lambda level: level.cost, default=None)

    def corrected(self, correction: Correction) -> ConfidenceEstimate:
        """This estimate with corrected log-odds.

        The levels stay: they say how many texts are right at a cost if the probabilities are.
        """
        whole, opening = self.whole.corrected(correction.whole), self.opening.corrected(correction.opening)
        return replace(self, whole=whole, opening=opening)

    def key(self, model: str) -> str:
        """The name of this estimate of *model*; another one has another name, also in a later version."""
        told = json.dumps([model, asdict(self)], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:32]

    def worth(self, beginning: Beginning, cost: float) -> float:
        """The expected worth of showing *beginning*, in characters, if a wrong opening costs *cost*."""
        right = self.whole.probability(beginning.features)
        opens = right
        if beginning.opening is not None:
            opens = max(right, self.opening.probability(beginning.opening))
        gain = len(beginning.text.strip()) + LINE_WORTH * beginning.ends_line
        return right * gain - cost * (1 - opens) if opens < 1 else right * gain

    def best(self, beginnings: Iterable[Beginning], cost: float) -> Beginning | None:
        """The most worthy of *beginnings* if a wrong opening costs *cost*; None if none is worth that."""
        best, most = None, 0.0
        for beginning in beginnings:
            worth = self.worth(beginning, cost)
            if worth > most:
                best, most = beginning, worth
        return best

    def best_sound(
        self,
        beginnings: Sequence[Beginning],
        cost: float,
        has_fault: Callable[[Beginning], bool],
        last_sound: Callable[[Beginning], int | None],
    ) -> Beginning | None:
        """The result of `best` among the *beginnings* without a fault.

        If the beginnings of a text can be without one only up to some length, *last_sound* returns that
        length. Only texts that would be shown are checked.
        """
        while (best := self.best(beginnings, cost)) is not None:
            if has_fault(best):
                beginnings = [beginning for beginning in beginnings if beginning is not best]
            elif (length := last_sound(best)) is not None:
                faulty = best.inserted[: length + 1]
                beginnings = [
                    beginning
                    for beginning in beginnings
                    if beginning is not best and not beginning.text.startswith(faulty)
                ]
            else:
                break
        return best

    def save(self, folder: Path, name: str = FILE_NAME) -> Path:
        """Write it into the *folder* of its model, which is made if necessary; the path of the file."""
        row = {"format": FORMAT, **asdict(self)}
        row["levels"] = [
            {key: value for key, value in level.items() if math.isfinite(value)} for level in row["levels"]
        ]
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name
        path.write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
        return path

    @classmethod
    def load(cls, folder: Path, name: str = FILE_NAME) -> ConfidenceEstimate | None:
        """The estimate of the model in *folder*; None if there is none, or only one of an older fimlsp.

        Raises:
            ModelError: the file is damaged, or of a newer version.
        """
        path = folder / name
        try:
            return cls.read(path.read_text(encoding="utf-8"), path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unusable(path, error) from error

    @classmethod
    def read(cls, text: str, source: object) -> ConfidenceEstimate | None:
        """The estimate in the *text* of a file; None if it is of an older fimlsp. *source* is for messages.

        Raises:
            ModelError: it is damaged, or of a newer version.
        """
        try:
            row = json.loads(text)
            if row["format"] in range(FORMAT):
                log.warning("%s is of an older fimlsp; make it anew with `fimlsp calibrate`.", source)
                return None
            return cls.from_json(row)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise _unusable(source, error) from error

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> ConfidenceEstimate:
        """The estimate that `save` wrote as *row*.

        Raises:
            ValueError, KeyError, TypeError, AttributeError: it is damaged, or of another version.
        """
        if row["format"] != FORMAT:
            raise ValueError(f"format {row['format']}, not {FORMAT}")
        whole, opening = (Regression.from_json(row[name]) for name in ("whole", "opening"))
        curve = tuple(CurvePoint(**numbers(point)) for point in row["curve"])
        levels = tuple(Level(**numbers(level)) for level in row["levels"])
        return cls(whole, opening, int(row["cursors"]), int(row["beginnings"]), curve, levels)


def _unusable(source: object, error: Exception) -> ModelError:
    return ModelError(f"Cannot use {source} ({error!r}). Delete it or make it anew with `fimlsp calibrate`.")
