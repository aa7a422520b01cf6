"""Draws follow the renormalised distribution of the allowed candidates, for all lists and cuts."""

import math
from collections import Counter

import numpy as np
import pytest

from fimlsp.languages.python import python
from fimlsp.models.decoding.candidate_order import Draw, at_random
from fimlsp.models.decoding.loop import REFUSALS_BEFORE_MASK, decode_middle
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.prompts.prompt import Prompt
from fimlsp.models.protocols import Candidates, best_candidates
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.masks.vocabulary import Vocabulary

from ...sampling import sampled

PROBABILITIES = [0.3, 0.22, 0.15, 0.1, 0.08, 0.06, 0.05, 0.03, 0.01]
DRAWS = 1_500
ALLOWED = [{0, 1, 2, 3, 4, 5, 6, 7, 8}, {1, 4, 6, 8}, {7, 8}, {3}]
CUTS = [
    {},
    {"top_k": 2},
    {"top_k": 6},
    {"top_p": 0.6},
    {"top_p": 0.95},
    {"min_p": 0.25},
    {"min_p": 0.05},
    {"top_k": 7, "min_p": 0.15, "top_p": 0.9},
]


def everything():
    return Candidates(list(range(len(PROBABILITIES))), np.log(PROBABILITIES).tolist(), -math.inf)


def listed(n):
    told = everything()
    return Candidates(told.tokens[:n], told.log_probabilities[:n], told.stop)


def exact(allowed, temperature, top_k=None, min_p=0.0, top_p=1.0):
    """The distribution over *allowed*: cut off and renormalised, or that of the others if none is left."""
    tempered = np.array(PROBABILITIES) ** (1 / temperature)
    kept = [at for at in range(len(tempered)) if tempered[at] >= min_p * tempered[0]][:top_k]
    shares = np.cumsum(tempered[kept]) / tempered[kept].sum()
    kept = kept[: int(np.argmax(shares >= top_p - 1e-12)) + 1]
    may_come = [at for at in kept if at in allowed] or sorted(allowed - set(kept))
    return {at: tempered[at] / tempered[may_come].sum() for at in may_come}


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("temperature", [0.6, 1.7])
@pytest.mark.parametrize("cuts", sampled(CUTS, 3), ids=str)
def test_frequencies_are_those_of_the_renormalised_distribution(n, temperature, cuts):
    random, draw = np.random.default_rng(5), Draw(temperature, **cuts)
    orders = [[token for token, _ in at_random(listed(n), draw, random, everything)] for _ in range(DRAWS)]
    assert all(sorted(order) == list(range(len(PROBABILITIES))) for order in orders), "each comes once"
    for allowed in ALLOWED:
        drawn = Counter(next(token for token in order if token in allowed) for order in orders)
        wanted = exact(allowed, temperature, **cuts)
        assert drawn.keys() <= wanted.keys()
        for token, probability in wanted.items():
            tolerance = 4.5 * math.sqrt(len(orders) * probability * (1 - probability)) + 1
            assert abs(drawn[token] - len(orders) * probability) <= tolerance


@pytest.mark.parametrize("temperature", [0.6, 1.7])
@pytest.mark.parametrize("cuts", [{}, {"top_k": 2}], ids=str)
@pytest.mark.parametrize("allowed", ALLOWED, ids=str)
def test_frequencies_are_the_same_if_only_allowed_tokens_are_listed_later(temperature, cuts, allowed):
    random, draw, told = np.random.default_rng(6), Draw(temperature, **cuts), everything()
    later = Candidates(sorted(allowed), [told.log_probabilities[at] for at in sorted(allowed)], told.stop)
    orders = [at_random(listed(2), draw, random, lambda: later) for _ in range(DRAWS)]
    drawn = Counter(next(token for token, _ in order if token in allowed) for order in orders)
    for token, probability in exact(allowed, temperature, **cuts).items():
        tolerance = 4.5 * math.sqrt(DRAWS * probability * (1 - probability)) + 1
        assert abs(drawn[token] - DRAWS * probability) <= tolerance


def test_what_a_network_does_not_tell_is_not_drawn():
    order = [token for token, _ in at_random(listed(3), Draw(1.0), np.random.default_rng(1))]
    assert sorted(order) == [0, 1, 2]


class Flat:
    """A network that lists 64 of its tokens, each a little less likely than the one before."""

    stops = frozenset({0})

    def __init__(self, texts):
        self.token_bytes = [None, *texts]
        self.logits = np.linspace(0, -1, len(texts) + 1, dtype=np.float32)
        self.logits[0] = -9

    def begin(self, _tokens, _written=()):
        return best_candidates(self.logits, self.stops)

    def advance(self, _token):
        return best_candidates(self.logits, self.stops)


class Telling(Flat):
    """One that lists all candidates, and has masks."""

    def __init__(self, texts):
        super().__init__(texts)
        self.mask_vocabulary = Vocabulary(self.token_bytes, self.stops)

    def more_after(self, _tokens, _written, _most=None):
        return best_candidates(self.logits, self.stops, len(self.logits))


DEAD = [b")" * n for n in range(1, 150)]
"""None of them may stand within brackets that are closed on the right."""


def decode(model, **limits):
    left, right = b"x = (", b")\n"
    start = Engine(python()).document(left + right).middle(len(left), len(left)).start
    settings = DecodeSettings(**({"tokens": 1, "lines": None} | limits))
    return decode_middle(model, Prompt((1,), 100), start, settings, lambda: False)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_where_refusals_pile_up_a_mask_finds_what_is_allowed(temperature):
    middle = decode(Telling([*DEAD, b"1"]), temperature=temperature)
    assert (middle.text, middle.complete, middle.rejected) == (b"1", True, REFUSALS_BEFORE_MASK)


class Growing(Telling):
    """One that lists as many as are wanted."""

    def __init__(self, texts):
        super().__init__(texts)
        self.asked = []

    def more_after(self, _tokens, _written, most=None):
        self.asked.append(most)
        return best_candidates(self.logits, self.stops, most or len(self.logits))


@pytest.mark.parametrize(("rest", "asked"), [(-16, [1_024]), (-1, [1_024, 16_384, None])])
def test_lists_grow_until_the_rest_cannot_matter(rest, asked):
    network = Growing([b"]%d" % n for n in range(20_000)])
    network.logits[101:] = rest
    network.logits[0] = -50
    decode(network)
    assert network.asked == asked


def test_without_masks_the_search_is_given_up():
    middle = decode(Flat([*DEAD, b"1"]))
    assert (middle.stop_reason, middle.rejected) == ("dead_end", 50)


def test_the_papers_rule_knows_no_mask():
    middle = decode(Telling([*DEAD, b"1"]), stop_rule="best")
    assert middle.rejected <= 1, "a refused candidate ends a middle that is complete"
