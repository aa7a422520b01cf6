"""Fits the estimate of right suggestions to recorded places of writing, and reports its choices there."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fimlsp.datasets import pages
from fimlsp.datasets.pages import number, table, write_page
from fimlsp.datasets.shown.recording import CalibrationPlan, Candidate, Recorded
from fimlsp.models.confidence import LINE_WORTH, ConfidenceEstimate, CurvePoint, Level, Regression, Weight

FOLDS = 5
BINS = 10
RIDGE = 1.0
DIGITS = 5
STEPS_MAX = 50
CHARACTERS_MIN = 2
"""Shorter texts are not shown while typing: the server's default."""

COSTS = (*(quarter / 4 for quarter in range(41)), 11, 12, 14, 16, 18, 20, 25, 30, 40, 50, 70, 100)
"""The costs of a wrong opening that are tried, in characters."""

ERRORS = 1.0
"""Standard errors subtracted from the share of a level; about one sample in six is worse."""

HARDLY_ANY = 0.01
"""The share of the shown texts that an early end of unlikely decodings may lose."""

HEAD = ("shown", "wholly right", "exact", "begins right", "saved")
CONFIDENCES = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
"""The columns of tables, and the confidences in their rows."""

Floats = NDArray[np.float64]


def fit(recorded: Sequence[Recorded]) -> ConfidenceEstimate:
    """The estimate that fits *recorded* best, with its curve and levels by five-fold cross-validation.

    Raises:
        ValueError: there are too few cursors to fit anything.
    """
    cursors = held_out(recorded)
    return replace(_fit_weights(recorded), curve=_curve(cursors), levels=_levels(cursors))


def held_out(recorded: Sequence[Recorded]) -> list[EstimatedCursor]:
    """*recorded*, each with the estimate that fits the cursors of the other four folds.

    Each project is in one fold, if there are enough of them.

    Raises:
        ValueError: as `fit`.
    """
    projects = list(dict.fromkeys(cursor.project for cursor in recorded))
    if len(projects) >= FOLDS:
        folds = [projects.index(cursor.project) % FOLDS for cursor in recorded]
    else:
        folds = [number % FOLDS for number in range(len(recorded))]
    cursors = list[EstimatedCursor]()
    for left_out in range(FOLDS):
        parts = list[Recorded](), list[Recorded]()
        for cursor, fold in zip(recorded, folds, strict=True):
            parts[fold == left_out].append(cursor)
        cursors += estimated(parts[1], _fit_weights(parts[0]))
    return cursors


def _fit_weights(recorded: Sequence[Recorded]) -> ConfidenceEstimate:
    candidates = [candidate for cursor in recorded for candidate in cursor.candidates]
    whole = _regression([(candidate.beginning.features, candidate.right) for candidate in candidates])
    longest = [cursor.candidates[-1] for cursor in recorded if cursor.candidates]
    openings = [(candidate.beginning.opening, candidate.begins) for candidate in longest]
    opening = _regression([(features, begins) for features, begins in openings if features is not None])
    return ConfidenceEstimate(whole, opening, len(recorded), len(candidates))


def _regression(cases: Sequence[tuple[Mapping[str, float], bool]]) -> Regression:
    """The regression that fits *cases* best; each is the features of a text, and True if it is right."""
    right = np.array([is_right for _, is_right in cases], dtype=float)
    if not 0 < right.sum() < len(right):
        raise ValueError(
            "Cannot fit an estimate: no text is right, or every text is. Use more --cursors or more code."
        )
    names = list(cases[0][0])
    values = np.array([[features[name] for name in names] for features, _ in cases])
    mean, scale = values.mean(0), values.std(0)
    scale[scale.round(DIGITS) == 0] = 1.0
    bias, *weights = _logistic_regression((values - mean) / scale, right).tolist()
    parts = zip(names, mean.tolist(), scale.tolist(), weights, strict=True)
    rounded = {name: Weight(*(round(value, DIGITS) for value in values)) for name, *values in parts}
    return Regression(round(bias, DIGITS), rounded)


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
class EstimatedCursor:
    """A recorded cursor, and the estimate that chooses among its candidates."""

    recorded: Recorded
    estimate: ConfidenceEstimate

    def shown(self, cost: float) -> Candidate | None:
        """The candidate that is shown if a wrong opening costs *cost*; None if none is."""
        candidates = {
            candidate.beginning.inserted: candidate
            for candidate in self.recorded.candidates
            if len(candidate.beginning.text.strip()) >= CHARACTERS_MIN
        }
        best = self.estimate.best((candidate.beginning for candidate in candidates.values()), cost)
        return None if best is None else candidates[best.inserted]


def estimated(recorded: Sequence[Recorded], estimate: ConfidenceEstimate) -> list[EstimatedCursor]:
    """*recorded*, each with *estimate*."""
    return [EstimatedCursor(cursor, estimate) for cursor in recorded]


def _curve(cursors: Sequence[EstimatedCursor]) -> tuple[CurvePoint, ...]:
    """The share of right texts in tenths of them, from the least to the most probable."""
    pairs = [
        (cursor.estimate.whole.probability(candidate.beginning.features), candidate.right)
        for cursor in cursors
        for candidate in cursor.recorded.candidates
    ]
    bins = [part for part in np.array_split(np.array(sorted(pairs), dtype=float), BINS) if len(part)]
    return tuple(
        CurvePoint(round(float(part[:, 0].mean()), 4), round(float(part[:, 1].mean()), 4), len(part))
        for part in bins
    )


def _levels(cursors: Sequence[EstimatedCursor]) -> tuple[Level, ...]:
    levels = list[Level]()
    for cost in COSTS:
        shown = _shown(cursors, cost)
        if shown:
            n_right = sum(candidate.right for candidate in shown)
            totals = [candidate.beginning.features.get("total", 0.0) for candidate in shown]
            figures = (
                len(shown) / len(cursors),
                _at_least(n_right, len(shown)),
                float(np.quantile(totals, HARDLY_ANY)),
            )
            levels.append(Level(cost, *(round(figure, 4) for figure in figures)))
    return tuple(levels)


def _shown(cursors: Sequence[EstimatedCursor], cost: float) -> list[Candidate]:
    shown = (cursor.shown(cost) for cursor in cursors)
    return [candidate for candidate in shown if candidate is not None]


def _at_least(n_right: int, n: int) -> float:
    """The share of right texts, less an allowance for chance."""
    share = n_right / n
    return max(0.0, share - ERRORS * math.sqrt(share * (1 - share) / n))


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of showing: the share of cursors, shares of the shown texts, and characters per cursor."""

    shown: float
    right: float | None
    exact: float | None
    begins: float | None
    saved: float


def outcome(cursors: Sequence[EstimatedCursor], cost: float) -> Outcome:
    """The result of showing at *cursors* if a wrong opening costs *cost*."""
    shown = _shown(cursors, cost)

    def share(holds: Callable[[Candidate], bool]) -> float | None:
        return sum(map(holds, shown)) / len(shown) if shown else None

    return Outcome(
        shown=len(shown) / max(1, len(cursors)),
        right=share(lambda candidate: candidate.right),
        exact=share(lambda candidate: candidate.exact),
        begins=share(lambda candidate: candidate.begins),
        saved=sum(candidate.saved for candidate in shown) / max(1, len(cursors)),
    )


def write_calibration_report(
    estimate: ConfidenceEstimate, recorded: Sequence[Recorded], plan: CalibrationPlan, out: Path
) -> None:
    """Write `report` into *out*: *estimate* was fitted to *recorded*.

    The figures are those of the estimates that fit the other projects.
    """
    cursors = held_out(recorded)
    lines = [
        "# Calibration",
        "",
        *table(["", ""], [[name, _cell(value)] for name, value in plan.to_json().items()]),
        f"Fitted to {estimate.beginnings:,} texts at {estimate.cursors:,} cursors. A right text is worth",
        f"its characters, and {LINE_WORTH} more if it ends a line; a wrong opening has a cost. The text of",
        f"the greatest worth is shown, if that is positive and the text has {CHARACTERS_MIN} characters.",
        "*Wholly right*: the truth starts with the text. Shares refer to the shown texts; *saved* is in",
        "characters per cursor.",
        "",
        "## By confidence",
        "",
        *_outcomes(estimate, cursors),
        "## By kind of place, at confidence 0.5",
        "",
        *_kinds(estimate, cursors),
        "## The weights of the estimate",
        "",
        "For all of a text:",
        "",
        *_weights(estimate.whole),
        "For its opening, the words with its first four characters:",
        "",
        *_weights(estimate.opening),
        "![calibration](calibration.svg)",
        "",
    ]
    write_page(out, "report", lines, {"calibration.svg": _curve_chart(estimate)})


def _cell(value: object) -> object:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else value


def _outcomes(estimate: ConfidenceEstimate, pairs: Sequence[EstimatedCursor]) -> list[str]:
    rows = [_row("the best cut, with hindsight", _hindsight([pair.recorded for pair in pairs]))]
    for confidence in CONFIDENCES:
        cost = estimate.cost(confidence)
        if cost <= COSTS[-1]:
            rows.append(_row(f"confidence {confidence}, cost {cost:g}", outcome(pairs, cost)))
    rows += [_row(f"cost {cost:g}", outcome(pairs, cost)) for cost in COSTS[::2]]
    return table(["shown", *HEAD], rows)


def _hindsight(recorded: Sequence[Recorded]) -> Outcome:
    """The result of showing the longest right beginnings: the upper bound of any estimate."""
    best = [max(_right(cursor), key=lambda candidate: candidate.saved, default=None) for cursor in recorded]
    shown = [candidate for candidate in best if candidate is not None]
    n = max(1, len(shown))
    exact = sum(candidate.exact for candidate in shown) / n
    begins = sum(candidate.begins for candidate in shown) / n
    saved = sum(candidate.saved for candidate in shown) / max(1, len(recorded))
    return Outcome(len(shown) / max(1, len(recorded)), 1.0, exact, begins, saved)


def _right(cursor: Recorded) -> list[Candidate]:
    return [
        candidate
        for candidate in cursor.candidates
        if candidate.right and len(candidate.beginning.text.strip()) >= CHARACTERS_MIN
    ]


def _row(name: str, result: Outcome) -> list[object]:
    shares = [result.shown, result.right, result.exact, result.begins]
    return [
        name,
        *(None if share is None else f"{100 * share:.1f} %" for share in shares),
        f"{result.saved:.2f}",
    ]


def _kinds(estimate: ConfidenceEstimate, pairs: Sequence[EstimatedCursor]) -> list[str]:
    cost = min(estimate.cost(0.5), COSTS[-1])
    kinds = sorted({pair.recorded.kind for pair in pairs})
    rows = [
        _row(kind, outcome([pair for pair in pairs if pair.recorded.kind == kind], cost)) for kind in kinds
    ]
    return table(["kind", *HEAD], rows)


def _weights(regression: Regression) -> list[str]:
    rows = [
        [name, number(weight.mean), number(weight.scale), f"{weight.weight:+.2f}"]
        for name, weight in regression.weights.items()
    ]
    return table(["feature", "mean", "scale", "weight of one scale (log-odds)"], rows)


def _curve_chart(estimate: ConfidenceEstimate) -> str:
    labels = [f"{100 * point.estimated:.0f} %" for point in estimate.curve]
    series = {
        "estimated": [point.estimated for point in estimate.curve],
        "right": [point.right for point in estimate.curve],
    }
    return pages.lines("Estimated and right", ("tenths of the texts, by estimate", "right"), labels, series)
