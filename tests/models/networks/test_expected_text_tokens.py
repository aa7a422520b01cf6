"""Expected texts are raised at the cursor, and the prediction stays a distribution."""

from __future__ import annotations

import math

import pytest

from fimlsp.models.networks.copy_cache import CopyCache, ExpectedTextTokens
from fimlsp.models.protocols import Candidates

from .unsure import UNSURE, VOCABULARY, Unsure


class Missing:
    """Missing names: *texts* that bind them, from *back* bytes before the cursor on."""

    def __init__(self, back, **texts):
        self.back = back
        self.texts = {text.encode(): share for text, share in texts.items()}

    def after(self, text):
        binding = {one: share for one, share in self.texts.items() if one.startswith(text) and one != text}
        return {one[len(text) :]: share for one, share in binding.items()}


def written_with(missing, left, again):
    """The text written while names are missing."""
    names = ExpectedTextTokens(VOCABULARY, left, again, missing)
    read = left[: len(left) - len(again)]
    cache = CopyCache(Unsure(), VOCABULARY, read, b"", None, [names])
    text, candidates = b"", cache.begin([1])
    while candidates.log_probabilities[0] > math.log(0.3):
        text += VOCABULARY.token_bytes[candidates.tokens[0]] or b""
        candidates = cache.advance(candidates.tokens[0])
    return text.decode()


# missing names, the text left of the cursor, the part of it written again, and the written text
CASES = {
    "at the cursor": (Missing(0, total=0.9), b"    ", b"", "total"),
    "of two, the likelier": (Missing(0, total=0.5, other=0.4), b"    ", b"", "total"),
    "after a begun word": (Missing(2, total=0.9), b"    to", b"", "tal"),
    "with a begun word written again": (Missing(2, total=0.9), b"    to", b"to", "total"),
    "with more written again": (Missing(2, total=0.9), b"x.to", b".to", ".total"),
    "with less written again": (Missing(4, total=0.9), b"    tota", b"ta", "tal"),
    "a begun word that does not fit": (Missing(2, total=0.9), b"    xx", b"", ""),
    "nothing": (Missing(0), b"    ", b"", ""),
}


@pytest.mark.parametrize("name", CASES)
def test_the_written_text(name):
    missing, left, again, expected = CASES[name]
    assert written_with(missing, left, again) == expected


@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_the_rest_keeps_its_proportions(share):
    mixed = ExpectedTextTokens(VOCABULARY, b"", b"", Missing(0, zz=share)).mixed(UNSURE, b"")
    token = VOCABULARY.first_token(b"zz")
    likely = dict(zip(mixed.tokens, map(math.exp, mixed.log_probabilities), strict=True))
    assert likely.pop(token) == pytest.approx(share + (1 - share) / 300)
    assert list(likely.values()) == pytest.approx([(1 - share) / 300] * 299)
    assert math.exp(mixed.stop) == pytest.approx((1 - share) / 300)
    assert list(mixed.log_probabilities) == sorted(mixed.log_probabilities, reverse=True)


def test_a_token_that_the_network_does_not_list():
    listed = Candidates([5], [math.log(0.9)], math.log(0.1))
    mixed = ExpectedTextTokens(VOCABULARY, b"", b"", Missing(0, zz=0.5)).mixed(listed, b"")
    assert set(mixed.tokens) == {5, VOCABULARY.first_token(b"zz")}
    assert sum(map(math.exp, mixed.log_probabilities)) + math.exp(mixed.stop) == pytest.approx(1)


def test_where_nothing_is_wanted_all_stays():
    assert ExpectedTextTokens(VOCABULARY, b"", b"", Missing(0, zz=0.5)).mixed(UNSURE, b"a") is UNSURE
