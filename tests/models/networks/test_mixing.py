"""The mixture is a distribution, prefers tokens on which both agree, and keeps those without votes."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fimlsp.models.networks.copy_cache import WEIGHTS, CopyVotes, Mixing, evidence, load_mixing
from fimlsp.models.protocols import Candidates

NETWORK = Candidates([3, 5, 11], [math.log(0.5), math.log(0.2), math.log(0.1)], math.log(0.1))
NOTHING = CopyVotes({}, 0)
SURE = CopyVotes({7: 1.0}, 32)


def test_without_a_suggestion_the_network_stands():
    assert load_mixing().mixed(NETWORK, [NOTHING, NOTHING]) is NETWORK


# votes of buffer and project, and the likeliest token with them
LIKELIEST = [
    (SURE, NOTHING, 7),
    (NOTHING, CopyVotes({5: 1.0}, 32), 5),
    (CopyVotes({5: 1.0}, 20), CopyVotes({5: 1.0}, 20), 5),
    (CopyVotes({7: 1.0}, 1), NOTHING, 3),
    (NOTHING, CopyVotes({7: 1.0}, 1), 3),
    (SURE, CopyVotes({9: 1.0}, 4), 7),
]


@pytest.mark.parametrize(("buffer", "project", "likeliest"), LIKELIEST)
def test_the_likeliest(buffer, project, likeliest):
    mixed = load_mixing().mixed(NETWORK, [buffer, project])
    assert mixed.tokens[0] == likeliest
    assert list(mixed.log_probabilities) == sorted(mixed.log_probabilities, reverse=True)


def test_a_text_that_goes_on_makes_the_end_less_likely():
    assert load_mixing().mixed(NETWORK, [SURE, NOTHING]).stop < NETWORK.stop


SHARES = st.dictionaries(st.integers(0, 12), st.floats(0.01, 1), max_size=6)
TEXTS = st.builds(
    lambda shares, agreement: CopyVotes({k: v / sum(shares.values()) for k, v in shares.items()}, agreement),
    SHARES,
    st.integers(1, 32),
)


@given(TEXTS, TEXTS, st.lists(st.floats(0.001, 1), min_size=1, max_size=9), st.floats(0, 0.5))
def test_a_mixture_is_a_distribution(buffer, project, listed, rest):
    total = sum(listed) / (1 - rest)
    network = Candidates(list(range(len(listed))), sorted(np.log(np.array(listed) / total))[::-1], -3.0)
    mixed = load_mixing().mixed(network, [buffer, project])
    assert np.exp(mixed.log_probabilities).sum() == pytest.approx(1 - rest), "the rest keeps its share"
    assert mixed.stop <= 0
    assert len(set(mixed.tokens)) == len(mixed.tokens)


def test_impossible_tokens_stay_impossible():
    network = Candidates([3, 5], [0.0, -math.inf], -math.inf)
    mixed = load_mixing().mixed(network, [CopyVotes({5: 1.0}, 3), NOTHING])
    assert mixed.tokens == [3, 5]
    assert mixed.log_probabilities[1] == mixed.stop == -math.inf


def test_without_weights_the_mixture_is_the_network():
    _, _, seen = evidence(NETWORK, [SURE, NOTHING])
    zero = Mixing(np.zeros((seen.shape[1], 2)), np.zeros(2), np.zeros(2))
    assert zero.mixed(NETWORK, [SURE, NOTHING]).log_probabilities[:3] == pytest.approx(
        NETWORK.log_probabilities, abs=1e-5
    )


def test_the_weights_can_be_written_and_read():
    written = json.loads(json.dumps(load_mixing().to_json()))
    assert written == json.loads(WEIGHTS.read_text())
