"""Verdicts at a cursor in JSON, case by case; the reference parser confirms each that it can."""

from pathlib import Path

import pytest

from fimlsp.testing.checking import Case, cases, fed, verdict

from .suites import JSON

FILES = sorted((Path(__file__).parent / "cases" / "middle").glob("*.txt"))


def wrong(case: Case) -> object:
    """The wrong verdict of the engine about *case*; None if it is right."""
    left, middle, right, expected = case
    state = fed(JSON.start_between(left, right), middle)
    if verdict(state) != expected:
        return case, verdict(state)
    tally = JSON.tally()
    tally.judge(left, middle, right, state)
    return tally.faults


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_cases(path):
    assert [found for found in map(wrong, cases(path)) if found] == []


def test_there_are_many_cases():
    assert sum(len(list(cases(path))) for path in FILES) > 300
