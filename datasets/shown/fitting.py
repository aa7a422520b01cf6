"""Fits the estimate of acceptance to recorded cursors, and tells what it would have shown there."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fimlsp.datasets.shown.recording import Candidate, Recorded
from fimlsp.models.acceptance.estimate import Acceptance, CurvePoint, Level
from fimlsp.models.acceptance.regression import Regression, Weight

FOLDS = 5
BINS = 10
RIDGE = 1.0
DIGITS = 5
STEPS_MAX = 50
CHARACTERS_MIN = 2
"""Shorter texts are not shown while typing: the server's default."""

COSTS = (*(quarter / 4 for quarter in range(41)), 11, 12, 14, 16, 18, 20, 25, 30, 40, 50, 70, 100)
"""What a wrong opening may cost, in characters, to try them."""

ERRORS = 1.0
"""So many standard errors is a share too high in one sample of six; levels are sure but for that."""

HARDLY_ANY = 0.01
"""The share of the texts that are shown which may be lost by decoding no further where they are unlikely."""

Floats = NDArray[np.float64]


def fit(recorded: Sequence[Recorded]) -> Acceptance:
    """The estimate that suits *recorded* best, with its curve and levels by five-fold cross-validation.

    Raises:
        ValueError: there are too few cursors to fit anything.
    """
    judged = list[Estimated]()
    for fold in range(FOLDS):
        judged += estimated(recorded[fold::FOLDS], _fit_weights(_without(recorded, fold)))
    return replace(_fit_weights(recorded), curve=_curve(judged), levels=_levels(judged))


def _without(recorded: Sequence[Recorded], fold: int) -> list[Recorded]:
    return [each for number, each in enumerate(recorded) if number % FOLDS != fold]


def _fit_weights(recorded: Sequence[Recorded]) -> Acceptance:
    candidates = [each for one in recorded for each in one.candidates]
    whole = _regression([(each.beginning.features, each.right) for each in candidates])
    longest = [one.candidates[-1] for one in recorded if one.candidates]
    openings = [(each.beginning.opening, each.begins) for each in longest]
    opening = _regression([(told, begins) for told, begins in openings if told is not None])
    return Acceptance(whole, opening, len(recorded), len(candidates))


def _regression(cases: Sequence[tuple[Mapping[str, float], bool]]) -> Regression:
    """The regression that suits *cases* best: features, and whether what has them is right."""
    right = np.array([is_right for _, is_right in cases], dtype=float)
    if not 0 < right.sum() < len(right):
        raise ValueError("too few cursors: no text is right, or every text is")
    names = list(cases[0][0])
    values = np.array([[features[name] for name in names] for features, _ in cases])
    mean, scale = values.mean(0), values.std(0)
    scale[scale.round(DIGITS) == 0] = 1.0
    bias, *weights = _logistic_regression((values - mean) / scale, right).tolist()
    parts = zip(names, mean.tolist(), scale.tolist(), weights, strict=True)
    chosen = {name: Weight(*(round(each, DIGITS) for each in numbers)) for name, *numbers in parts}
    return Regression(round(bias, DIGITS), chosen)


def _logistic_regression(values: Floats, right: Floats) -> Floats:
    """Bias and weights by Newton's method, with a small penalty on the weights."""
    columns = np.column_stack([np.ones(len(values)), values])
    penalty = RIDGE * np.eye(columns.shape[1])
    penalty[0, 0] = 0.0
    weights = np.zeros(columns.shape[1])
    for _ in range(STEPS_MAX):
        probability = 1 / (1 + np.exp(-np.clip(columns @ weights, -500, 500)))
        slope = columns.T @ (right - probability) - penalty @ weights
        curvature = (columns.T * (probability * (1 - probability))) @ columns + penalty
        step = np.linalg.solve(curvature, slope)
        weights += step
        if np.abs(step).max() < 1e-9:
            break
    return weights


@dataclass(frozen=True, slots=True)
class Estimated:
    """A cursor, and the estimate that judges what could be shown there."""

    recorded: Recorded
    acceptance: Acceptance

    def shown(self, cost: float) -> Candidate | None:
        """What is shown if a wrong opening costs *cost*."""
        candidates = {
            each.beginning.inserted: each
            for each in self.recorded.candidates
            if len(each.beginning.text.strip()) >= CHARACTERS_MIN
        }
        best = self.acceptance.best((each.beginning for each in candidates.values()), cost)
        return None if best is None else candidates[best.inserted]


def estimated(recorded: Sequence[Recorded], acceptance: Acceptance) -> list[Estimated]:
    """*recorded*, to be judged by *acceptance*."""
    return [Estimated(each, acceptance) for each in recorded]


def _curve(judged: Sequence[Estimated]) -> tuple[CurvePoint, ...]:
    """How often texts are right, for tenths of them from the least to the most probable."""
    pairs = [
        (each.acceptance.whole.probability(candidate.beginning.features), candidate.right)
        for each in judged
        for candidate in each.recorded.candidates
    ]
    bins = [part for part in np.array_split(np.array(sorted(pairs), dtype=float), BINS) if len(part)]
    return tuple(
        CurvePoint(round(float(part[:, 0].mean()), 4), round(float(part[:, 1].mean()), 4), len(part))
        for part in bins
    )


def _levels(judged: Sequence[Estimated]) -> tuple[Level, ...]:
    levels = list[Level]()
    for cost in COSTS:
        shown = [each for each in (one.shown(cost) for one in judged) if each is not None]
        if shown:
            share, right = len(shown) / len(judged), _at_least(sum(each.right for each in shown), len(shown))
            totals = [each.beginning.features["total"] for each in shown]
            least = float(np.quantile(totals, HARDLY_ANY))
            levels.append(Level(cost, *(round(each, 4) for each in (share, right, least))))
    return tuple(levels)


def _at_least(n_right: int, n: int) -> float:
    """The share of right texts, less what it may owe to chance."""
    share = n_right / n
    return max(0.0, share - ERRORS * math.sqrt(share * (1 - share) / n))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What showing comes to: the share of cursors, shares of what is shown, and characters a cursor."""

    shown: float
    right: float | None
    exact: float | None
    begins: float | None
    saved: float


def outcome(judged: Sequence[Estimated], cost: float) -> Outcome:
    """What showing comes to if a wrong opening is taken to cost *cost*."""
    chosen = [each.shown(cost) for each in judged]
    shown = [each for each in chosen if each is not None]

    def share(holds: Callable[[Candidate], bool]) -> float | None:
        return sum(map(holds, shown)) / len(shown) if shown else None

    return Outcome(
        shown=len(shown) / max(1, len(judged)),
        right=share(lambda each: each.right),
        exact=share(lambda each: each.exact),
        begins=share(lambda each: each.begins),
        saved=sum(each.saved for each in shown) / max(1, len(judged)),
    )
