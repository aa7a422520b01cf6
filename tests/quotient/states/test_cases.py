"""Middles at a cursor, case by case; CPython of that version confirms each verdict that it can."""

import sys
from pathlib import Path

import pytest

from fimlsp.languages.python.versions import DEFAULT_VERSION
from fimlsp.testing.checking import Case, cases, fed, verdict

from ..middle_support import fault, start_between


def wrong(case: Case) -> object:
    """The error of the engine about *case*; None if there is none."""
    left, middle, right, expected = case
    state = fed(start_between(left, right), middle)
    if verdict(state) != expected:
        return case, verdict(state)
    return fault(left, middle, right, state) if sys.version_info[:2] == DEFAULT_VERSION else None


FILES = sorted((Path(__file__).parents[1] / "cases" / "middle").glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_cases(path):
    assert [found for found in map(wrong, cases(path)) if found] == []


def test_there_are_many_cases():
    assert sum(len(list(cases(path))) for path in FILES) > 700
