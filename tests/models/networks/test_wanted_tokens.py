"""What is wanted at the cursor is raised, and what is predicted stays a distribution."""

from __future__ import annotations

import math

import pytest

from fimlsp.models.networks.buffer_cache import BufferCache
from fimlsp.models.networks.wanted_tokens import WantedTokens
from fimlsp.models.protocols import Candidates

from .unsure import UNSURE, VOCABULARY, Unsure


class Wanting:
    """Wants *texts* from *back* bytes before the cursor on."""

    def __init__(self, back, **texts):
        self.back = back
        self.texts = {text.encode(): share for text, share in texts.items()}

    def after(self, text):
        rests = {each[len(text) :]: share for each, share in self.texts.items() if each.startswith(text)}
        return {rest: share for rest, share in rests.items() if rest}


def written_where(wanted, left, again):
    """What is written while something is wanted."""
    here = WantedTokens(VOCABULARY, left, again, wanted)
    read = left[: len(left) - len(again)]
    cache = BufferCache(Unsure(), VOCABULARY, read, b"", None, here)
    text, candidates = b"", cache.begin([1])
    while candidates.log_probabilities[0] > math.log(0.3):
        text += VOCABULARY.token_bytes[candidates.tokens[0]] or b""
        candidates = cache.advance(candidates.tokens[0])
    return text.decode()


# what is wanted, the text left of the cursor, what of that is written again, and what is written
CASES = {
    "at the cursor": (Wanting(0, total=0.9), b"    ", b"", "total"),
    "of two, the likelier": (Wanting(0, total=0.5, other=0.4), b"    ", b"", "total"),
    "behind a begun word": (Wanting(2, total=0.9), b"    to", b"", "tal"),
    "with a begun word written again": (Wanting(2, total=0.9), b"    to", b"to", "total"),
    "with more written again": (Wanting(2, total=0.9), b"x.to", b".to", ".total"),
    "with less written again": (Wanting(4, total=0.9), b"    tota", b"ta", "tal"),
    "what does not begin so": (Wanting(2, total=0.9), b"    xx", b"", ""),
    "nothing": (Wanting(0), b"    ", b"", ""),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_written(name):
    wanted, left, again, expected = CASES[name]
    assert written_where(wanted, left, again) == expected


@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_the_rest_keeps_its_proportions(share):
    mixed = WantedTokens(VOCABULARY, b"", b"", Wanting(0, zz=share)).mixed(UNSURE, b"")
    token = VOCABULARY.first_token(b"zz")
    likely = dict(zip(mixed.tokens, map(math.exp, mixed.log_probabilities), strict=True))
    assert likely.pop(token) == pytest.approx(share + (1 - share) / 300)
    assert list(likely.values()) == pytest.approx([(1 - share) / 300] * 299)
    assert math.exp(mixed.stop) == pytest.approx((1 - share) / 300)
    assert list(mixed.log_probabilities) == sorted(mixed.log_probabilities, reverse=True)


def test_a_token_that_the_network_does_not_list():
    listed = Candidates([5], [math.log(0.9)], math.log(0.1))
    mixed = WantedTokens(VOCABULARY, b"", b"", Wanting(0, zz=0.5)).mixed(listed, b"")
    assert set(mixed.tokens) == {5, VOCABULARY.first_token(b"zz")}
    assert sum(map(math.exp, mixed.log_probabilities)) + math.exp(mixed.stop) == pytest.approx(1)


def test_where_nothing_is_wanted_all_stays():
    assert WantedTokens(VOCABULARY, b"", b"", Wanting(0, zz=0.5)).mixed(UNSURE, b"a") is UNSURE
