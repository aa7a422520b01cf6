"""Several middles for one cursor: different, complete, and made without reading the prompt again."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fimlsp.languages.python import python
from fimlsp.models.completion import complete_many
from fimlsp.models.decoding.loop import decode_middle
from fimlsp.models.decoding.multi_candidate import decode_many
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.loading import load_model
from fimlsp.models.prompts.prompt import Prompt
from fimlsp.models.protocols import Candidates
from fimlsp.quotient.engine import Engine

from ..scripted import Brackets

PROMPT = Prompt((7, 8), room=1000)
END = 0


class Tree:
    """A network that gives each of its texts its share, letter by letter."""

    stops = frozenset({END})

    def __init__(self, texts):
        self.texts = texts
        self.token_bytes = [None, *(bytes([byte]) for byte in sorted(set(b"".join(texts))))]
        self.prompts = []
        self.written = b""

    def begin(self, tokens, written=()):
        self.prompts.append((tuple(tokens), tuple(written)))
        self.written = b"".join(self.token_bytes[token] for token in written)
        return self._next()

    def advance(self, token):
        self.written += self.token_bytes[token]
        return self._next()

    def _next(self):
        share = dict.fromkeys(range(len(self.token_bytes)), 1e-6)
        for text, weight in self.texts.items():
            if text.startswith(self.written):
                rest = text[len(self.written) :]
                share[self.token_bytes.index(rest[:1]) if rest else END] += weight
        total = sum(share.values())
        ranked = sorted(share, key=lambda token: -share[token])
        scores = [math.log(share[token] / total) for token in ranked]
        return Candidates(ranked, scores, math.log(share[END] / total))


def several(texts, n, start=b"", should_stop=lambda: False, **limits):
    model = Tree(texts)
    settings = DecodeSettings(candidates=n, **limits)
    return model, decode_many(model, PROMPT, Brackets(start), settings, should_stop)


def check(texts, expected, n=3, **options):
    _, middles = several(texts, n, **options)
    assert [middle.text for middle in middles][: len(expected)] == expected
    assert len(middles) <= n


WORDS = {b"count": 0.5, b"color": 0.3, b"size": 0.2}


def test_the_likely_texts_are_found():
    assert {middle.text for middle in several(WORDS, 3)[1]} == set(WORDS)
    check(WORDS, [b"count"], n=1)


def test_the_prompt_is_read_once_and_branches_go_on_from_it():
    model, _ = several(WORDS, 3)
    assert {tokens for tokens, _ in model.prompts} == {PROMPT.tokens}
    written = [b"".join(map(model.token_bytes.__getitem__, tokens)) for _, tokens in model.prompts]
    assert written == [b"", b"col", b"s"]


def test_dead_branches_are_left_out():
    _, middles = several({b"a)": 0.6, b")": 0.3, b"b)": 0.1}, 3, b"(")
    assert {middle.text for middle in middles} == {b"a)", b")", b"b)"}
    _, middles = several({b"a": 0.5, b"]": 0.4, b"b": 0.1}, 2)
    assert {middle.text for middle in middles} == {b"a", b"b"}


def test_stopping_earlier_is_a_branch():
    _, middles = several({b"x": 0.4, b"x, y": 0.6}, 2)
    assert {middle.text for middle in middles} == {b"x", b"x, y"}


def test_candidates_that_differ_in_white_space_are_one():
    _, middles = several({b"x": 0.5, b"x ": 0.3, b" x": 0.1, b"y": 0.1}, 4)
    assert sum(middle.text.strip() == b"x" for middle in middles) == 1
    assert any(middle.text == b"y" for middle in middles)


def test_with_a_temperature_candidates_are_drawn():
    _, middles = several(WORDS, 3, temperature=1.0)
    assert {middle.text for middle in middles} <= set(WORDS)
    assert len(middles) > 1
    _, again = several(WORDS, 3, temperature=1.0)
    assert [middle.text for middle in middles] == [middle.text for middle in again]


def test_a_branch_stays_in_the_line():
    texts = {b"a": 0.5, b"b\nc": 0.3, b"\nd": 0.2}
    _, middles = several(texts, 4, lines=0)
    assert {b"a", b"b"} <= {middle.text for middle in middles}
    assert not any(b"\n" in middle.text for middle in middles)


def test_cancelling_gives_one_middle_back():
    _, middles = several(WORDS, 3, should_stop=lambda: True)
    assert [middle.stop_reason for middle in middles] == ["cancelled"]


def test_the_time_limit_is_for_all():
    _, middles = several(WORDS, 3, seconds=0)
    assert len(middles) == 1


TEXTS = st.text("ab([)]\n", max_size=5).map(str.encode)


@given(
    texts=st.dictionaries(TEXTS, st.floats(0.01, 1), min_size=1, max_size=6),
    start=st.sampled_from([b"", b"(", b"(["]),
    n=st.integers(1, 5),
    lines=st.sampled_from([None, 0, 1]),
    tokens=st.sampled_from([1, 3, 12]),
)
def test_candidates_differ_and_connect(texts, start, n, lines, tokens):
    _, middles = several(texts, n, start, lines=lines, tokens=tokens)
    settings = DecodeSettings(lines=lines, tokens=tokens)
    greedy = decode_middle(Tree(texts), PROMPT, Brackets(start), settings, lambda: False)
    assert greedy.text in {middle.text for middle in middles}
    assert len({middle.text.strip() for middle in middles}) == len(middles) <= n
    assert all(Brackets(start).feed(middle.text).complete for middle in middles)
    assert all(middle.tokens <= tokens for middle in middles)
    scores = [middle.log_probability for middle in middles]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.slow
def test_candidates_fit_into_the_context_of_the_bundled_model():
    left, right = b"value = [1, 2]\n" * 600 + b"value = ", b"\n" + b"print(value)\n" * 600
    model = load_model()
    start = Engine(python()).document(left + right).middle(len(left), len(left)).start
    settings = DecodeSettings(candidates=5, tokens=3, lines=None)
    middles = complete_many(model, left, right, start, settings, lambda: False)
    assert max(middle.tokens for middle in middles) <= 3


@pytest.mark.parametrize("n", [1, 4])
def test_the_bundled_model_gives_several(n):
    left, right = b"def area(width, height):\n    return ", b"\n\n\nprint(area(2, 3))\n"
    model = load_model()
    start = Engine(python()).document(left + right).middle(len(left), len(left)).start
    middles = complete_many(model, left, right, start, DecodeSettings(candidates=n), lambda: False)
    assert len({middle.text for middle in middles}) == n
    assert all(start.feed(middle.text).complete for middle in middles)
    (greedy,) = complete_many(model, left, right, start, DecodeSettings(), lambda: False)
    assert greedy.text in {middle.text for middle in middles}


def test_independent_draws_can_be_counted():
    """Equal, empty and incomplete ones stay, in the order of the draws, so a share of them is unbiased."""
    texts = {b"a": 0.6, b"": 0.3, b"b": 0.1}
    texts = [
        middle.text
        for seed in range(60)
        for middle in several(
            texts, 10, temperature=1.0, independent=True, seed=seed, steer=False, lines=None, tokens=3
        )[1]
    ]
    assert len(texts) == 600
    assert abs(texts.count(b"a") / 600 - 0.6) < 0.06
    assert abs(texts.count(b"") / 600 - 0.3) < 0.06


def test_neighbouring_seeds_share_no_draws():
    texts = {bytes([letter]): 1.0 for letter in b"abcdefghijklmnopqrstuvwxyz"}
    draws = [
        [middle.text for middle in several(texts, 8, temperature=1.0, independent=True, seed=seed)[1]]
        for seed in range(3)
    ]
    assert draws[0][1:] != draws[1][:-1]
    assert draws[1][1:] != draws[2][:-1]
    assert draws[0] == [
        middle.text for middle in several(texts, 8, temperature=1.0, independent=True, seed=0)[1]
    ]


READS = [
    ({"tokens": 1, "stop_rule": "last", "steer": False}, [((7, 8), 0)]),
    ({"tokens": 1, "stop_rule": "first", "steer": False}, [((7, 8), 0), *[((7, 8), 1)] * 3]),
    ({"tokens": 2, "stop_rule": "last", "steer": False}, [((7, 8), 0), *[((7, 8), 1)] * 3]),
]


@pytest.mark.parametrize(("limits", "reads"), READS)
def test_draws_share_their_first_candidates(limits, reads):
    """The prompt is read once; other draws are read from their first token on, if there is a reason to."""
    texts = {b"ab": 0.5, b"ba": 0.5}
    model, middles = several(texts, 4, temperature=1.0, independent=True, seed=3, lines=None, **limits)
    assert [(prompt, len(written)) for prompt, written in model.prompts] == reads
    assert all(b"ab".startswith(middle.text) or b"ba".startswith(middle.text) for middle in middles)
    assert len(middles) == 4


class ListingMore(Tree):
    """Lists one candidate, and all of them on request, for the text that was read last."""

    def _next(self):
        self.all = super()._next()
        return Candidates(self.all.tokens[:1], self.all.log_probabilities[:1], self.all.stop)

    def more_after(self, tokens, written, _most=None):
        read = b"".join(self.token_bytes[token] for token in written)
        return self.all if tokens == PROMPT.tokens and read == self.written else None


def test_more_candidates_of_the_first_token_are_listed_for_every_draw():
    """Another draw has read on since; the network then reads the prompt again."""
    model = ListingMore({b"(": 0.97, b"a": 0.03})
    settings = DecodeSettings(
        candidates=5, tokens=2, temperature=1.0, independent=True, stop_rule="last", steer=False, lines=None
    )
    middles = decode_many(model, PROMPT, Forbidding(b"("), settings, lambda: False)
    assert [middle.text for middle in middles] == [b"a"] * 5


class Forbidding(Brackets):
    """Texts without one that is forbidden."""

    def feed(self, data):
        return None if self.open in data else self

    @property
    def complete(self):
        return True
