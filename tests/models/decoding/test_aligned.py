"""Aligned draws against the exact distribution of a network given a constraint, found by enumeration."""

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import count
from math import exp, log

import numpy as np
import pytest

from fimlsp import DecodeSettings, Engine, Vocabulary, regular
from fimlsp.models.decoding.candidate_order import Future, Futures
from fimlsp.models.decoding.loop import Decoding
from fimlsp.models.decoding.multi_candidate import decode_many
from fimlsp.models.prompts.prompt import Prompt
from fimlsp.models.protocols import Candidates

from ...sampling import sampled

END = 0
TEXTS = (None, b"0", b"1", b"01", b"x")
SETTINGS = DecodeSettings(
    tokens=12, lines=None, stop_rule="last", steer=False, temperature=1.0, candidates=1, independent=True
)


class Toy:
    """A network whose next token depends on the last one and on the length, and for which masks are made."""

    stops = frozenset({END})
    token_bytes = TEXTS

    def __init__(self, likes_end=0.3):
        self.likes_end = likes_end
        self.written = []
        self.steps = 0
        self.mask_vocabulary = Vocabulary(TEXTS, stops=[END])

    def probabilities(self, written):
        last = written[-1] if written else 3
        weights = [self.likes_end * (1 + len(written)), 6.0 / (1 + last), 0.5 + len(written), 0.4 * last, 2.0]
        return [weight / sum(weights) for weight in weights]

    def begin(self, _tokens, written=()):
        self.written = [*written]
        return self._next()

    def advance(self, token):
        self.written.append(token)
        return self._next()

    def _next(self):
        self.steps += 1
        probabilities = self.probabilities(self.written)
        ranked = sorted(range(len(TEXTS)), key=lambda token: -probabilities[token])
        return Candidates(ranked, [log(probabilities[token]) for token in ranked], log(probabilities[END]))


class ToyWithoutMasks:
    """The same network behind an interface that has no masks, so that refusals are found one by one."""

    stops, token_bytes = Toy.stops, TEXTS

    def __init__(self):
        self._toy = Toy()

    def begin(self, tokens, written=()):
        return self._toy.begin(tokens, written)

    def advance(self, token):
        return self._toy.advance(token)


@cache
def start_of(pattern):
    return Engine(regular(pattern)).document(b"").middle(0, 0).start


def given_the_constraint(network, start, temperature=1.0, most=SETTINGS.tokens):
    """The probability of each sequence of fewer than *most* tokens, given that it is allowed and ends."""
    found, waiting = Counter(), [((), start, 1.0)]
    while waiting:
        written, state, probability = waiting.pop()
        weights = [share ** (1 / temperature) for share in network.probabilities(written)]
        for token, weight in enumerate(weights):
            share = probability * weight / sum(weights)
            if token == END:
                if state.complete:
                    found[written] = share
            elif len(written) < most - 1 and (following := state.feed(TEXTS[token])) is not None:
                waiting.append(((*written, token), following, share))
    total = sum(found.values())
    return {written: share / total for written, share in found.items()}


def distribution_of(futures, expected, network, start, temperature):
    """The probability with which the next adaptive draw is each of the *expected* texts."""

    def share_of(written, state, token):
        """That of a token after a prefix; nothing is known of the future of one that was never drawn."""
        future = futures.known.get(written)
        if future is not None:
            return future.weights[future.tokens == token].sum() / future.bound
        weights = [share ** (1 / temperature) for share in network.probabilities(written)]
        allowed = [number for number in range(1, len(TEXTS)) if state.feed(TEXTS[number]) is not None]
        return weights[token] / sum(weights[number] for number in [*allowed, *[END] * state.complete])

    drawn = {}
    for written in expected:
        share, state = 1.0, start
        for length in range(len(written) + 1):
            token = written[length] if length < len(written) else END
            share *= share_of(written[:length], state, token)
            state = state.feed(TEXTS[token] or b"")
        drawn[written] = share
    return drawn


def divergence(expected, drawn):
    """The Kullback-Leibler divergence (nats) of *drawn* from the *expected* distribution."""
    return sum(share * log(share / drawn[written]) for written, share in expected.items() if share)


def run(network, pattern, n, **settings):
    """*n* draws that are not given up, and the run whose futures all of them share."""
    first = Decoding.begin(network, Prompt((9,), 100), start_of(pattern), replace(SETTINGS, **settings))
    runs, middles = (first.redrawn(draw) for draw in count()), []
    while len(middles) < n:
        each = next(runs)
        middle = each.run(lambda: False)
        middles += [middle] * (not each.is_given_up)
    return first, middles


def tokens_of(middle):
    return tuple(step.token for step in middle.trace)


PATTERNS = ("00000|1[01]{4}", "0{3}(01|1)*", "(10)*1|0{6}")


@pytest.mark.parametrize(
    ("pattern", "temperature"),
    sampled([(PATTERNS[0], 0.7), (PATTERNS[0], 1.6), *((pattern, 1.0) for pattern in PATTERNS)], 3),
)
def test_adaptive_draws_come_to_the_distribution_given_the_constraint(pattern, temperature):
    network, start = Toy(), start_of(pattern)
    expected = given_the_constraint(network, start, temperature)
    before, _ = run(network, pattern, 1, aligned="adaptively", temperature=temperature)
    after, _ = run(network, pattern, 500, aligned="adaptively", temperature=temperature)
    far = divergence(expected, distribution_of(before.futures, expected, network, start, temperature))
    near = divergence(expected, distribution_of(after.futures, expected, network, start, temperature))
    assert near < 0.1
    assert near < far / 4


def is_likely(counts, expected):
    """True if Pearson's statistic of *counts* is within five deviations; rare texts count as one."""
    n = sum(counts.values())
    frequent = {written: n * share for written, share in expected.items() if n * share >= 5}
    rare = n - sum(frequent.values()), n - sum(counts[written] for written in frequent)
    cells = [*((mean, counts[written]) for written, mean in frequent.items()), *[rare] * (rare[0] > 1e-6)]
    statistic = sum((found - mean) ** 2 / mean for mean, found in cells)
    return statistic < len(cells) + 5 * (2 * len(cells)) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "network"), [*((pattern, Toy) for pattern in PATTERNS), (PATTERNS[2], ToyWithoutMasks)]
)
def test_exact_draws_have_that_distribution_from_the_first_on(pattern, network):
    """Each first draw of a call counts once, so nothing that was learnt helps it; then all of one call."""
    expected, network = given_the_constraint(Toy(), start_of(pattern)), network()
    firsts = [run(network, pattern, 1, aligned="exactly", seed=seed)[1][0] for seed in range(150)]
    _, later = run(network, pattern, 400, aligned="exactly")
    for middles in (firsts, later):
        assert all(middle.complete and middle.stop_reason == "end" for middle in middles)
        counts = Counter(map(tokens_of, middles))
        assert counts.keys() <= expected.keys()
        assert is_likely(counts, expected)


def test_draws_that_are_not_aligned_have_another_distribution():
    expected = given_the_constraint(Toy(), start_of(PATTERNS[0]))
    _, middles = run(Toy(), PATTERNS[0], 200)
    assert not is_likely(Counter(map(tokens_of, middles)), expected)


def test_draws_that_are_given_up_become_rare():
    network = Toy()
    run(network, PATTERNS[0], 1, aligned="exactly")
    few = network.steps
    _, middles = run(network, PATTERNS[0], 300, aligned="exactly")
    assert len(middles) == 300
    assert (network.steps - few) / 300 < 12


def test_a_text_that_the_tokens_do_not_suffice_for_is_none_of_the_draws():
    short = replace(SETTINGS, tokens=4, aligned="exactly", candidates=50)
    middles = decode_many(Toy(likes_end=0.05), Prompt((9,), 100), start_of("[01]*"), short, lambda: False)
    assert len(middles) == 50
    assert all(middle.stop_reason == "end" and len(middle.trace) < 4 for middle in middles)


def test_one_middle_comes_back_in_any_case(monkeypatch):
    monkeypatch.setattr("fimlsp.models.decoding.multi_candidate.RUNS_PER_DRAW", 3)
    never = replace(SETTINGS, tokens=2, aligned="exactly", candidates=2)
    (middle,) = decode_many(Toy(), Prompt((9,), 100), start_of("[01]{9}"), never, lambda: False)
    assert not middle.complete
    (middle,) = decode_many(Toy(), Prompt((9,), 100), start_of("[01]{9}"), never, lambda: True)
    assert middle.stop_reason == "cancelled"


def test_what_the_model_hardly_ever_writes_is_drawn_where_nothing_else_is_allowed():
    listed = Candidates([1, 2, 3], [log(1 - 3e-20), log(2e-20), log(1e-20)], log(1e-9))
    future = Future(listed, 1.0, lambda tokens: tokens != 1)
    assert future.tokens.tolist() == [2, 3]
    assert future.bound == pytest.approx(3e-20)
    assert not len(Future(listed, 1.0, lambda tokens: tokens == 4).tokens)


def test_what_was_refused_is_not_drawn_again():
    listed = Candidates([1, 2, 3], [log(0.6), log(0.3), log(0.1)], log(1e-9))
    future = Future(listed, 1.0, lambda tokens: tokens != 3)
    assert future.bound == pytest.approx(0.9)
    future.lower(1, 0.5)
    future.lower(1, 0.8)
    assert future.bound == pytest.approx(0.6)
    future.lower(2, 0.0)
    assert [token for token, _ in future.drawn(np.random.default_rng(1))] == [1]
    assert future.bound == 0
    futures = Futures(is_exact=True)
    assert [*futures.drawn((), lambda: future, np.random.default_rng(1))] == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"aligned": "nearly"}, "aligned must be one of no, adaptively, exactly"),
        ({"aligned": "exactly", "independent": False}, "aligned draws must be independent"),
        ({"aligned": "exactly", "top_k": 3}, "without a cut"),
        ({"aligned": "adaptively", "top_p": 0.9}, "without a cut"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        replace(SETTINGS, **settings)


def test_probabilities_of_the_toy_are_what_the_loop_reads():
    network = Toy()
    listed = network.begin([9], [1, 2])
    for token, score in zip(listed.tokens, listed.log_probabilities, strict=True):
        assert exp(score) == pytest.approx(network.probabilities([1, 2])[token])
