"""Random grammars against Lark; `python -m tests.languages.custom` judges as many as there is time for."""

import pytest

from .suites import judged


@pytest.mark.parametrize("seed", [1, 4, 7])
def test_random_grammars(seed):
    found = judged(seed, 8_000, most_symbols=3, cuts=3)
    assert found.judged >= 8_000
    assert found.faults == []
