"""The report of a calibration: what the estimate would have shown, and how often it is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fimlsp.datasets.reports import charts
from fimlsp.datasets.reports.pages import number, table, write_page
from fimlsp.datasets.shown.fitting import CHARACTERS_MIN, COSTS, Outcome, estimated, outcome
from fimlsp.datasets.shown.recording import Candidate, Recorded
from fimlsp.models.acceptance.estimate import LINE_WORTH, Acceptance
from fimlsp.models.acceptance.regression import Regression

HEAD = ("shown", "wholly right", "exact", "begins right", "saved")
CONFIDENCES = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)


def write_report(
    acceptance: Acceptance,
    fitted: Sequence[Recorded],
    checked: Sequence[Recorded],
    plan: Mapping[str, Any],
    out: Path,
) -> None:
    """Write `report` into *out*: *acceptance* was fitted to *fitted*; *checked* had no part in it."""
    judged = checked or fitted
    lines = [
        "# Calibration",
        "",
        *table(["", ""], [[name, _told(value)] for name, value in plan.items()]),
        f"Fitted to {acceptance.beginnings:,} texts at {acceptance.cursors:,} cursors. A right text is worth",
        f"its characters, and {LINE_WORTH} more if it ends a line; one whose opening is wrong costs. What is",
        f"worth most is shown, if it is worth anything and has {CHARACTERS_MIN} characters. *Wholly right*:",
        "all of it is what stood there. Shares are of what is shown, *saved* is characters a cursor.",
        "",
        "## On other files" if checked else "## On the files it was fitted to",
        "",
        *_outcomes(acceptance, judged),
        "## By kind of cursor, at confidence 0.5",
        "",
        *_kinds(acceptance, judged),
        "## What the estimate is made of",
        "",
        "Of all of a text:",
        "",
        *_weights(acceptance.whole),
        "Of its opening, the words with its first four characters:",
        "",
        *_weights(acceptance.opening),
        "## How decoding ended",
        "",
        *_endings(judged),
        "![calibration](calibration.svg)",
        "",
    ]
    write_page(out, "report", lines, {"calibration.svg": _curve(acceptance)})


def _told(value: object) -> object:
    return ", ".join(map(str, value)) if isinstance(value, list) else value


def _outcomes(acceptance: Acceptance, judged: Sequence[Recorded]) -> list[str]:
    pairs = estimated(judged, acceptance)
    rows = [_row("all that decoding gives", _everything(judged))]
    rows += [_row("the best cut, known afterwards", _hindsight(judged))]
    for confidence in CONFIDENCES:
        cost = acceptance.cost(confidence)
        if cost <= COSTS[-1]:
            rows.append(_row(f"confidence {confidence}, cost {cost:g}", outcome(pairs, cost)))
    rows += [_row(f"cost {cost:g}", outcome(pairs, cost)) for cost in COSTS[::2]]
    return table(["shown is", *HEAD], rows)


def _everything(judged: Sequence[Recorded]) -> Outcome:
    shares = None, None, None
    shown = sum(each.ended is not None for each in judged) / max(1, len(judged))
    return Outcome(shown, *shares, sum(each.saved for each in judged) / max(1, len(judged)))


def _hindsight(judged: Sequence[Recorded]) -> Outcome:
    """What cutting back comes to if one knows which beginnings are right: no estimate can do better."""
    best = [max(_right(each), key=lambda one: one.saved, default=None) for each in judged]
    shown = [each for each in best if each is not None]
    n = max(1, len(shown))
    exact, begins = sum(each.exact for each in shown) / n, sum(each.begins for each in shown) / n
    saved = sum(each.saved for each in shown) / max(1, len(judged))
    return Outcome(len(shown) / max(1, len(judged)), 1.0, exact, begins, saved)


def _right(one: Recorded) -> list[Candidate]:
    return [
        each for each in one.candidates if each.right and len(each.beginning.text.strip()) >= CHARACTERS_MIN
    ]


def _row(name: str, found: Outcome) -> list[object]:
    shares = [found.shown, found.right, found.exact, found.begins]
    return [
        name,
        *(None if share is None else f"{100 * share:.1f} %" for share in shares),
        f"{found.saved:.2f}",
    ]


def _kinds(acceptance: Acceptance, judged: Sequence[Recorded]) -> list[str]:
    cost = min(acceptance.cost(0.5), COSTS[-1])
    kinds = dict.fromkeys(each.kind for each in judged)
    rows = [
        _row(kind, outcome(estimated([one for one in judged if one.kind == kind], acceptance), cost))
        for kind in kinds
    ]
    return table(["kind", *HEAD], rows)


def _weights(regression: Regression) -> list[str]:
    rows = [
        [name, number(each.mean), number(each.scale), f"{each.weight:+.2f}"]
        for name, each in regression.weights.items()
    ]
    return table(["feature", "mean", "scale", "weight of one scale (log-odds)"], rows)


def _endings(judged: Sequence[Recorded]) -> list[str]:
    endings = dict.fromkeys(each.ended for each in judged)
    rows = list[list[object]]()
    for ending in endings:
        ended = [each for each in judged if each.ended == ending]
        n_steered = sum(each.steered for each in ended)
        whole = sum(bool(each.candidates) and each.candidates[-1].right for each in ended)
        saved = sum(each.saved for each in ended) / len(ended)
        rows.append([ending or "nothing connects", len(ended), n_steered, whole, f"{saved:.1f}"])
    return table(["ended by", "cursors", "steered", "longest cut right", "saved a cursor, uncut"], rows)


def _curve(acceptance: Acceptance) -> str:
    places = [f"{100 * point.estimated:.0f} %" for point in acceptance.curve]
    series = {
        "estimated": [point.estimated for point in acceptance.curve],
        "right": [point.right for point in acceptance.curve],
    }
    return charts.lines("Estimated and right", ("tenths of the texts, by estimate", "right"), places, series)
