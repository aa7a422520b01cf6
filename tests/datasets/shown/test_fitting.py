"""The fit recovers the weights of made-up cases, and its figures can be counted by hand."""

import math
from random import Random

import pytest

from fimlsp.datasets.shown.calibration import (
    COSTS,
    Outcome,
    estimated,
    fit,
    held_out,
    outcome,
    write_calibration_report,
)
from fimlsp.datasets.shown.recording import CalibrationPlan, Candidate, Recorded
from fimlsp.models.beginnings import Beginning
from fimlsp.models.confidence import ConfidenceEstimate, Regression, Weight, logistic

EVEN = Regression(0.0, {})


def candidate(total, right=False, text=b"text", ends_line=False, saved=4, noise=0.0):
    features = {"total": total, "noise": noise}
    beginning = Beginning(text, features, ends_line, opening=features if len(text) >= 4 else None)
    return Candidate(beginning, right=right, exact=False, begins=right, saved=saved if right else 0)


def recorded(*candidates, kind="edit-line", project="project"):
    return Recorded("case", kind, project, candidates)


def made(n, bias, weight):
    """Cursors whose texts are right with the log-odds *bias* + *weight* * total."""
    random = Random(0)
    totals = [random.uniform(-3, 0) for _ in range(n)]
    return [
        recorded(candidate(total, random.random() < logistic(bias + weight * total), noise=random.random()))
        for total in totals
    ]


@pytest.mark.slow
def test_the_fit_finds_the_odds_that_made_the_cases():
    acceptance = fit(made(4000, 1.5, 2.0))
    for total in (-2.0, -1.0, -0.2):
        probability = acceptance.whole.probability({"total": total, "noise": 0.5})
        assert probability == pytest.approx(logistic(1.5 + 2 * total), abs=0.03)
    assert abs(acceptance.whole.weights["noise"].weight) < 0.1
    assert (acceptance.cursors, acceptance.beginnings) == (4000, 4000)
    for point in acceptance.curve:
        assert point.estimated == pytest.approx(point.right, abs=0.08)
    assert sum(point.number for point in acceptance.curve) == 4000


def test_the_more_a_wrong_text_costs_the_less_and_the_better_is_shown():
    levels = fit(made(2000, 1.0, 2.0)).levels
    shown = [level.shown for level in levels]
    assert shown == sorted(shown, reverse=True)
    assert levels[0].right < levels[len(levels) // 2].right
    acceptance = ConfidenceEstimate(EVEN, EVEN, 0, 0, (), levels)
    assert acceptance.cost(0.6) in COSTS


def test_a_level_promises_no_more_than_its_sample_shows():
    cases = [recorded(candidate(0.0, right=n % 4 > 0)) for n in range(4000)]
    few, many = fit(cases[:40]), fit(cases)
    assert few.levels[0].right == pytest.approx(0.75 - math.sqrt(0.75 * 0.25 / 40), abs=1e-4)
    assert few.levels[0].right < many.levels[0].right < 0.75


def test_a_feature_that_hardly_differs_does_no_harm():
    cases = made(200, 1.5, 2.0)
    tiny = [recorded(candidate(0.0, n % 2 > 0, noise=1e-9 * (n % 3))) for n in range(30)]
    for recordings in (tiny, cases + tiny):
        assert 0 < fit(recordings).whole.probability({"total": 0.0, "noise": 0.0}) < 1


@pytest.mark.parametrize(
    "cases", [[], [recorded()], [recorded(candidate(0.0, right=True))], [recorded(candidate(0.0))] * 3]
)
def test_nothing_is_fitted_to_too_little(cases):
    with pytest.raises(ValueError, match="Cannot fit an estimate"):
        fit(cases)


TOTAL = Regression(0.0, {"total": Weight(0.0, 1.0, 1.0)})
PLAN = CalibrationPlan(("old → new",), ("src",), seed=0, places=201, model="m", fimlsp="0")
SURE = ConfidenceEstimate(TOTAL, TOTAL, 0, 0)


@pytest.mark.parametrize(
    ("cases", "cost", "expected"),
    [
        ([], 0, Outcome(0.0, None, None, None, 0.0)),
        ([recorded()], 0, Outcome(0.0, None, None, None, 0.0)),
        ([recorded(candidate(0.0, right=True)), recorded()], 3, Outcome(0.5, 1.0, 0.0, 1.0, 2.0)),
        ([recorded(candidate(0.0, right=True)), recorded()], 5, Outcome(0.0, None, None, None, 0.0)),
        ([recorded(candidate(9.0, text=b"a"))], 0, Outcome(0.0, None, None, None, 0.0)),
        (
            [recorded(candidate(2.0, right=True), candidate(-9.0, text=b"text and more"))],
            1,
            Outcome(1.0, 1.0, 0.0, 1.0, 4.0),
        ),
    ],
)
def test_an_outcome_is_counted(cases, cost, expected):
    assert outcome(estimated(cases, SURE), cost) == expected


def test_recorded_cursors_are_read_as_written():
    one = recorded(candidate(-1.0, right=True, text="é".encode()))
    assert Recorded.from_json(one.to_json()).to_json() == one.to_json()
    assert Recorded.from_json(one.to_json()).candidates == [*one.candidates]


def test_each_project_is_judged_by_an_estimate_of_the_others():
    """In one project the unlikely texts are right: its own estimate would know, the others do not."""
    projects = ["odd", *"abcd"]
    cases = [
        recorded(
            candidate(-float(number % 2), right=(number % 2 == 0) != (project == "odd")), project=project
        )
        for project in projects
        for number in range(40)
    ]
    odd = [cursor for cursor in held_out(cases) if cursor.recorded.project == "odd"]
    assert len(held_out(cases)) == len(cases)
    for cursor in odd:
        (one,) = cursor.recorded.candidates
        assert (cursor.estimate.whole.probability(one.beginning.features) > 0.5) != one.right


def test_the_report_has_the_upper_bound(tmp_path):
    cases = [*made(200, 1.0, 2.0), recorded()]
    estimate = fit(cases)
    write_calibration_report(estimate, cases, PLAN, tmp_path)
    report = (tmp_path / "report.md").read_text()
    right = sum(bool(one.candidates[0].right) for one in cases[:200])
    assert f"| the best cut, with hindsight | {100 * right / 201:.1f} % | 100.0 % |" in report
    assert "| edit-line | " in report
    assert "| total | " in report
    assert "<svg" in (tmp_path / "report.html").read_text()
    assert math.isfinite(estimate.whole.bias)
