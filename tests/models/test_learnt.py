"""The correction of an estimate by counts of texts that came true, and the file with the counts."""

from __future__ import annotations

import json
import logging
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fimlsp.lexing.automata.cached_files import write_cached
from fimlsp.models.beginnings import Beginning
from fimlsp.models.confidence import ConfidenceEstimate, Level, Regression, Weight
from fimlsp.models.learnt import (
    CLASSES,
    MEMORY,
    PRIOR,
    SLOPES,
    Counts,
    Learnt,
    Line,
    Outcome,
    add_learnt,
    learnt_file,
    learnt_folder,
    logistic,
    read_learnt,
)

EVEN = Regression(0.0, {"x": Weight(0.0, 1.0, 1.0)})
ESTIMATE = ConfidenceEstimate(EVEN, EVEN, 100, 100, levels=(Level(10.0, 1.0, 0.5),))


def counted(number, share, log_odds=0.0):
    """*number* texts with these log-odds, of which a *share* is right, in turns."""
    counts = Counts()
    for each in range(number):
        is_right = math.floor((each + 1) * share) > math.floor(each * share)
        counts = counts.with_one(log_odds, 1.0, is_right=is_right)
    return counts


# texts estimated at one half, the share that is right, and between which probabilities they are from then on
MOVED = [
    (0, 0.0, 0.5, 0.5),
    (20, 0.3, 0.46, 0.48),
    (20, 0.0, 0.4, 0.45),
    (200, 0.3, 0.35, 0.39),
    (200, 0.5, 0.5, 0.5),
    (200, 0.7, 0.61, 0.65),
    (1000, 0.3, 0.3, 0.34),
]


@pytest.mark.parametrize(("number", "share", "least", "most"), MOVED)
def test_twenty_texts_hardly_move_it_and_two_hundred_do(number, share, least, most):
    line = counted(number, share).line()
    assert least - 1e-9 <= logistic(line.bias) <= most + 1e-9
    assert line.slope == pytest.approx(1.0)


@given(
    st.lists(
        st.tuples(st.floats(-100, 100), st.floats(0.01, 1), st.booleans()),
        max_size=60,
    ),
    st.integers(1, 40),
)
def test_the_line_is_the_best_one(texts, times):
    counts = Counts()
    for log_odds, weight, is_right in texts:
        counts = counts.with_one(log_odds, weight * times, is_right=is_right)
    line = counts.line()
    assert math.isfinite(line.bias)
    assert SLOPES[0] <= line.slope <= SLOPES[1]
    if not SLOPES[0] < line.slope < SLOPES[1]:
        return
    odds = [6 * (2 * number / (CLASSES - 1) - 1) for number in range(CLASSES)]
    down = PRIOR * line.bias + math.fsum(
        logistic(line.bias + line.slope * x) * (right + wrong) - right
        for x, right, wrong in zip(odds, counts.right, counts.wrong, strict=True)
    )
    assert abs(down) < 1e-6


def simulated(shift):
    """The shares of shown texts that are right, in stretches of 400, with true log-odds higher by *shift*."""
    draw = random.Random(5)
    learnt, shares = Learnt(), []
    for _ in range(6):
        estimate = ESTIMATE.corrected(learnt.correction("key"))
        cost, shown = estimate.cost(0.5), []
        for _ in range(400):
            log_odds = draw.gauss(0, 1.5)
            is_right = draw.random() < logistic(log_odds + shift)
            text = Beginning(b"ten letter", {"x": log_odds}, ends_line=False)
            if estimate.best([text], cost) is not None:
                shown.append(is_right)
            learnt = learnt.plus([Outcome(log_odds, is_right, None, is_right)])
        shares.append(sum(shown) / len(shown))
    return shares


@pytest.mark.parametrize("shift", [-1.5, -0.8, 1.0])
def test_shown_texts_come_to_be_as_right_as_with_a_true_estimate(shift):
    true = sum(simulated(0.0)) / 6
    first, *_, last = simulated(shift)
    assert abs(last - true) < 0.6 * abs(first - true)


def test_a_correction_is_a_line_through_the_log_odds():
    correction = Learnt(counted(300, 0.2), counted(300, 0.9)).correction("key")
    corrected = ESTIMATE.corrected(correction)
    for x in (-2.0, 0.0, 3.0):
        for now, before, line in [
            (corrected.whole, ESTIMATE.whole, correction.whole),
            (corrected.opening, ESTIMATE.opening, correction.opening),
        ]:
            assert now.log_odds({"x": x}) == pytest.approx(line.bias + line.slope * before.log_odds({"x": x}))
    assert ESTIMATE.corrected(Learnt().correction("key")) == ESTIMATE
    assert Counts().line() == Line()


def test_the_texts_of_one_place_count_as_one_place():
    half = Outcome(0.0, True, None, True, weight=0.5)
    learnt = Learnt().plus([half, half]).plus([])
    assert (learnt.places, sum(learnt.whole.right), sum(learnt.opening.right)) == (1, 1.0, 0.0)


def test_old_counts_fade():
    old = Learnt(counted(10, 1.0), counted(10, 1.0), 10)
    new = Learnt(counted(5, 0.0), counted(5, 0.0), int(MEMORY))
    both = old.followed_by(new)
    assert (sum(both.whole.right), sum(both.whole.wrong)) == (pytest.approx(10 / math.e), 5)
    assert both.places == 10 + MEMORY


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return learnt_file(ESTIMATE.key("model"))


def test_it_is_kept_and_added_to(file):
    assert read_learnt(file) == Learnt()
    one = Learnt().plus([Outcome(1.0, True, 0.5, True)])
    two = Learnt().plus([Outcome(-1.0, False, None, False)])
    assert add_learnt(file, one) == read_learnt(file) == one
    assert add_learnt(file, two) == read_learnt(file) == one.followed_by(two)
    assert [path.name for path in learnt_folder().iterdir()] == [file.name]
    assert file.stat().st_size < 3_000


def stored(right, wrong=(0,) * CLASSES):
    counts = {"right": right, "wrong": wrong}
    return json.dumps({"format": 1, "places": 1, "whole": counts, "opening": counts}).encode()


DAMAGED = [
    b"",
    b"{}",
    b"[" * 10_000,
    b'{"format": 2}',
    json.dumps({"format": 1, "whole": {}, "opening": {}, "places": 1}).encode(),
    stored([1]),
    stored([-1] * CLASSES),
    stored(["x"] * CLASSES),
    stored([float("nan")] * CLASSES),
    b"x" * 200_000,
]


@pytest.mark.parametrize("content", DAMAGED)
@pytest.mark.parametrize("is_signed", [True, False])
def test_a_damaged_file_is_ignored_and_made_anew(file, content, is_signed, caplog):
    if is_signed:
        write_cached(file, content)
    else:
        file.parent.mkdir(parents=True)
        file.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert read_learnt(file) == Learnt()
    assert "learning starts anew" in caplog.text
    one = Learnt().plus([Outcome(1.0, True, 0.5, True)])
    assert add_learnt(file, one) == read_learnt(file) == one


def test_another_estimate_has_another_file():
    other = ESTIMATE.corrected(Learnt(counted(300, 0.2)).correction("key"))
    keys = {ESTIMATE.key("a"), ESTIMATE.key("b"), other.key("a"), ESTIMATE.key("a")}
    assert len(keys) == 3
