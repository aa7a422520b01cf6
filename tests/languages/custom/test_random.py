"""Random grammars against Lark; `python -m tests.languages.custom` judges as many as there is time for."""

import pytest

from fimlsp.testing.checking import total

from ...sampling import sampled
from .suites import endless


@pytest.mark.parametrize("seed", sampled([1, 4, 7], 3))
def test_random_grammars(seed):
    tally = total(endless(seed, most_symbols=3, n_cuts=3), 8_000)
    assert tally.judged >= 8_000
    assert tally.faults == []
