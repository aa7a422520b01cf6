"""What may stand at a cursor, case by case; CPython confirms each verdict that it can."""

from pathlib import Path

import pytest

from ..middle_cases import Case, cases
from ..middle_support import fault, fed, start_between, verdict


def wrong(case: Case) -> object:
    """What the engine gets wrong about *case*, if anything."""
    left, middle, right, expected = case
    state = fed(start_between(left, right), middle)
    if verdict(state) != expected:
        return case, verdict(state)
    return fault(left, middle, right, state)


FILES = sorted((Path(__file__).parents[1] / "cases" / "middle").glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_cases(path):
    assert [found for found in map(wrong, cases(path)) if found] == []


def test_there_are_many_cases():
    assert sum(len(list(cases(path))) for path in FILES) > 700
