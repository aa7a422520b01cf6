"""The confidence estimate: its arithmetic, its choice of the shown text, and its file."""

import json
import math

import pytest

from fimlsp.models.beginnings import Beginning
from fimlsp.models.confidence import (
    FILE_NAME,
    FORMAT,
    GENERAL,
    LINE_WORTH,
    WITHOUT_PROBABILITIES,
    ConfidenceEstimate,
    CurvePoint,
    Level,
    Regression,
    Weight,
    logistic,
)
from fimlsp.models.errors import ModelError
from fimlsp.models.loading import BUNDLED

PROBABILITIES = {"total", "probability", "mean"}
OF_ANY_MODEL = PROBABILITIES | {
    *("length", "prose", "several_lines", "beyond_fault", "follows", "occurrences", "new_name"),
}

LEVELS = (
    Level(0.0, 0.9, 0.2, -20.0),
    Level(4.0, 0.5, 0.4, -5.0),
    Level(8.0, 0.3, 0.6, -3.0),
    Level(20.0, 0.1, 0.55, -1.0),
)
WHOLE = Regression(1.0, {"total": Weight(-2.0, 2.0, 3.0)})
OPENING = Regression(0.0, {"total": Weight(0.0, 1.0, 1.0)})
ESTIMATE = ConfidenceEstimate(WHOLE, OPENING, 10, 40, (CurvePoint(0.1, 0.2, 4.0),), LEVELS)


@pytest.mark.parametrize(("total", "log_odds"), [(-2.0, 1.0), (0.0, 4.0), (-4.0, -2.0), (-1e9, -math.inf)])
def test_features_are_standardised_and_weighed(total, log_odds):
    expected = 0.0 if log_odds == -math.inf else 1 / (1 + math.exp(-log_odds))
    assert WHOLE.probability({"total": total, "other": 7.0}) == pytest.approx(expected)


def test_a_feature_that_is_missing_is_an_error():
    with pytest.raises(KeyError, match="total"):
        WHOLE.probability({"first": 0.0})


@pytest.mark.parametrize("odds", [-1e9, -500.0, 0.0, 500.0, 1e9])
def test_no_odds_overflow(odds):
    assert 0 <= logistic(odds) <= 1


@pytest.mark.parametrize(
    ("confidence", "cost"),
    [
        (0.0, 0.0),
        (0.1, 0.0),
        (0.2, 0.0),
        (0.3, 4.0),
        (0.5, 8.0),
        (0.6, 8.0),
        (0.61, math.inf),
        (1.0, math.inf),
    ],
)
def test_confidence_is_the_share_that_is_right(confidence, cost):
    assert ESTIMATE.cost(confidence) == cost


def beginning(text, total, ends_line=False, opening=None):
    """A text; *opening* is the log-odds of its opening."""
    features = None if opening is None else {"total": opening}
    return Beginning(text, {"total": total}, ends_line, opening=features)


def odds(log_odds):
    """The feature for which the estimate has these log-odds."""
    return -2.0 + 2.0 * (log_odds - 1.0) / 3.0


@pytest.mark.parametrize(
    ("texts", "cost", "best"),
    [
        ([], 0.0, None),
        ([beginning(b"abcd", odds(0.0))], 3.9, b"abcd"),
        ([beginning(b"abcd", odds(0.0))], 4.1, None),
        ([beginning(b"abcd", odds(0.0), ends_line=True)], 4.0 + LINE_WORTH - 0.1, b"abcd"),
        ([beginning(b"abcd", odds(2.0)), beginning(b"abcdefgh", odds(1.9))], 3.0, b"abcdefgh"),
        ([beginning(b"abcd", odds(2.0)), beginning(b"abcdefgh", odds(-2.0))], 3.0, b"abcd"),
        ([beginning(b"abcd", odds(2.0))], math.inf, None),
        ([beginning(b"  ", odds(2.0))], 0.0, None),
        # a wrong opening costs, and an opening is at least as likely right as the whole text
        ([beginning(b"abcd", odds(0.0), opening=math.log(3))], 7.9, b"abcd"),
        ([beginning(b"abcd", odds(0.0), opening=math.log(3))], 8.1, None),
        ([beginning(b"abcd", odds(0.0), opening=-9.0)], 3.9, b"abcd"),
        ([beginning(b"abcd", odds(0.0), opening=-9.0)], 4.1, None),
        ([beginning(b"abcd", odds(0.0), opening=500.0)], 1e6, b"abcd"),
    ],
)
def test_what_is_worth_most_is_shown(texts, cost, best):
    shown = ESTIMATE.best(texts, cost)
    assert (shown and shown.text) == best


def test_it_is_kept_beside_the_model(tmp_path):
    assert ConfidenceEstimate.load(tmp_path) is None
    assert ESTIMATE.save(tmp_path) == tmp_path / FILE_NAME
    assert ConfidenceEstimate.load(tmp_path) == ESTIMATE


@pytest.mark.parametrize(("name", "has_probabilities"), [(GENERAL, True), (WITHOUT_PROBABILITIES, False)])
def test_a_general_one_stops_no_decoding_and_needs_only_what_is_known(name, has_probabilities, tmp_path):
    general = ConfidenceEstimate.load(BUNDLED, name)
    assert {general.least_total(confidence) for confidence in (0.0, 0.3, 0.5)} == {-math.inf}
    for regression in (general.whole, general.opening):
        assert regression.weights.keys().isdisjoint(PROBABILITIES) != has_probabilities
        assert regression.weights.keys() <= OF_ANY_MODEL
    general.save(tmp_path, name)
    assert ConfidenceEstimate.load(tmp_path, name) == general


def test_one_of_an_older_version_is_as_none(tmp_path, caplog):
    path = ESTIMATE.save(tmp_path)
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": FORMAT - 1}))
    assert ConfidenceEstimate.load(tmp_path) is None
    assert "make it anew with `fimlsp calibrate`" in caplog.text


WRONG = {
    "no JSON": lambda _: "{",
    "no object": lambda _: [],
    "a newer format": lambda row: {**row, "format": FORMAT + 1},
    "no opening": lambda row: {name: value for name, value in row.items() if name != "opening"},
    "no weights": lambda row: {**row, "whole": {"bias": 0}},
    "no scale": lambda row: {
        **row,
        "whole": {"bias": 0, "weights": {"total": {"mean": 0, "scale": 0, "weight": 1}}},
    },
    "no number": lambda row: {**row, "opening": {"bias": "much", "weights": {}}},
    "not finite": lambda row: {**row, "whole": {"bias": math.nan, "weights": {}}},
    "another field": lambda row: {**row, "curve": [{"x": 1}]},
}


@pytest.mark.parametrize("damage", WRONG.values(), ids=WRONG)
def test_a_damaged_file_says_what_to_do(tmp_path, damage):
    path = ESTIMATE.save(tmp_path)
    damaged = damage(json.loads(path.read_text()))
    path.write_text(damaged if isinstance(damaged, str) else json.dumps(damaged))
    with pytest.raises(ModelError, match="make it anew with `fimlsp calibrate`"):
        ConfidenceEstimate.load(tmp_path)
