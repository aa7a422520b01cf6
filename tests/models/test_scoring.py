"""How likely a given middle is."""

import math

import pytest

from fimlsp.models.completion import score_middle
from fimlsp.models.errors import ModelError
from fimlsp.models.loading import load_model

from .tiny_checkpoints import FAMILIES, make

LEFT, RIGHT = b"def f(a, b):\n    return (", b")\n"


def test_a_score_is_what_the_network_says_token_by_token():
    model = load_model(dtype="float32")
    score = score_middle(model, LEFT, RIGHT, b"a + b")
    candidates = model.network.begin(model.prompt(LEFT, RIGHT, len(score.tokens) + 1).tokens)
    for token, expected in zip(score.tokens, score.log_probabilities, strict=True):
        listed = dict(zip(candidates.tokens, candidates.log_probabilities, strict=True))
        assert listed[token] == pytest.approx(expected, abs=1e-5)
        candidates = model.network.advance(token)
    assert score.stop == pytest.approx(candidates.stop, abs=1e-5)
    assert score.total == pytest.approx(sum(score.log_probabilities) + score.stop)
    assert score.mean == pytest.approx(score.total / (len(score.tokens) + 1))


@pytest.mark.slow
def test_what_is_likelier_scores_better():
    model = load_model(dtype="float32")
    sums = [score_middle(model, LEFT, RIGHT, text).mean for text in (b"a + b", b"zzz ??? 9")]
    assert sums[0] > sums[1]
    assert score_middle(model, LEFT, RIGHT, b"").log_probabilities == ()


def test_the_probabilities_of_a_checkpoint_sum_to_one(tmp_path):
    network = load_model(str(make(tmp_path, *FAMILIES["SantaCoder"])), dtype="float32").network
    scores = network.log_probabilities([5, 9, 30])
    assert math.isclose(float(sum(math.exp(score) for score in scores)), 1, abs_tol=1e-4)
    first = network.begin([5, 9, 30])
    assert [scores[token] for token in first.tokens] == pytest.approx(first.log_probabilities, abs=1e-4)


def test_a_model_that_tells_only_its_likeliest_tokens_cannot_score():
    class Elsewhere:
        token_bytes, stops = (b"a",), frozenset()

        def begin(self, tokens, written=()):
            raise NotImplementedError

        advance = begin

    from dataclasses import replace

    with pytest.raises(ModelError, match="lists its likeliest tokens only"):
        score_middle(replace(load_model(), network=Elsewhere()), b"", b"", b"a")
