"""Realistic texts, cut: true prefixes live, mutants are judged, and every completion offered is valid."""

import random

import pytest

from fimlsp.testing.checking import total

from ...sampling import sampled
from . import realistic
from .judge import is_json
from .suites import endless, realistic_broken_cuts, realistic_cuts, realistic_staying_cuts


@pytest.mark.parametrize("suite", [realistic_cuts, realistic_staying_cuts, realistic_broken_cuts])
@pytest.mark.parametrize("size", sampled([30, 300, 3000], 2))
def test_cuts(suite, size):
    rng = random.Random(size)
    assert [fault for _ in range(8) for fault in suite(rng, size).faults] == []


def test_the_texts_are_valid_and_various():
    texts = [realistic.text(random.Random(seed), 500) for seed in range(200)]
    assert all(map(is_json, texts))
    assert all(
        any(part in text for text in texts) for part in (b"\r", b"\\u", b"\\/", b"E+0", b'": {', b'":{')
    )
    assert any(b"\n" not in text.strip() for text in texts)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_many_judged_cases(seed):
    tally = total(endless(seed), 30_000)
    assert tally.judged >= 30_000
    assert tally.faults == []
