"""A word at the cursor is written anew: compatible tokens, their probabilities, and the resulting middle."""

import re
from dataclasses import replace
from math import exp, inf, log

import pytest

from fimlsp.languages.python import Python
from fimlsp.models.completion import complete_many
from fimlsp.models.decoding.healing import Healed, HealedPreference, unread_part
from fimlsp.models.decoding.loop import LONGER_LISTS
from fimlsp.models.decoding.middle import Middle, TokenTrace
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.loading import load_model
from fimlsp.models.prompts.vocabulary import ModelVocabulary
from fimlsp.models.protocols import Candidates
from fimlsp.quotient.engine import Engine

from ...sampling import sampled

TEXTS = [b"he", b"hei", b"heights", b"help", b"x", None, b"h"]
PROBABILITIES = [0.1, 0.05, 0.15, 0.3, 0.2, 0.1, 0.1]


@pytest.fixture(scope="module")
def model():
    return load_model()


def listed(n):
    return Candidates(range(n), [log(probability) for probability in PROBABILITIES[:n]], -1.0)


@pytest.mark.parametrize(
    ("prefix", "n", "asks", "expected"),
    [
        (b"hei", 7, False, {0: 0.25, 1: 0.125, 2: 0.375, 6: 0.25}),
        (b"hei", 3, True, {0: 0.25, 1: 0.125, 2: 0.375, 6: 0.25}),
        (b"help", 6, False, {0: 0.25, 3: 0.75}),
        (b"q", 7, False, {}),
    ],
)
def test_tokens_are_as_likely_as_they_are_among_those_that_go_with_the_word(prefix, n, asks, expected):
    asked = []

    def everything():
        asked.append(True)
        return listed(7)

    candidates = Healed(prefix, None).compatible(listed(n), TEXTS, everything)
    shares = [exp(log_probability) for log_probability in candidates.log_probabilities]
    assert dict(zip(candidates.tokens, shares, strict=True)) == pytest.approx(expected)
    assert bool(asked) == asks
    assert candidates.stop == -inf


def test_where_not_all_can_be_told_those_listed_count():
    candidates = Healed(b"hei", None).compatible(listed(3), TEXTS, lambda: None)
    assert [round(exp(log_probability), 3) for log_probability in candidates.log_probabilities] == [
        0.333,
        0.167,
        0.5,
    ]


class Told:
    """A preference that reports its calls."""

    def misfit(self, text, continuation):
        self.asked = text, continuation
        return 2.0


@pytest.mark.parametrize(
    ("text", "continuation", "asked"),
    [
        (b"", b"height", (b"", b"ght")),
        (b"h", b"eight", (b"", b"ght")),
        (b"hei", b"ght", (b"", b"ght")),
        (b"height", b"s", (b"ght", b"s")),
        (b"", b"hei", None),
        (b"h", b"e", None),
    ],
)
def test_a_preference_hears_what_comes_behind(text, continuation, asked):
    told = Told()
    assert HealedPreference(b"hei", told).misfit(text, continuation) == (2.0 if asked else 0.0)
    assert getattr(told, "asked", None) == asked


@pytest.mark.parametrize(
    ("tokens", "left"),
    [
        ([b"height", b"s"], [(b"ght", -1.0), (b"s", -1.0)]),
        ([b"h", b"e", b"ight"], [(b"ght", -3.0)]),
        ([b"h", b"ei", b"ght"], [(b"ght", -3.0)]),
        ([b"hei"], []),
        ([b"h"], []),
    ],
)
def test_a_middle_behind_the_word(tokens, left):
    trace = tuple(TokenTrace(text, -1.0, (), False) for text in tokens)
    middle = Middle(b"".join(tokens), True, 3, 0, False, "end", -1.0, 0.0, 0.0, trace=trace)
    shortened = middle.without_prefix(b"hei")
    assert shortened.text == b"".join(tokens)[3:]
    assert [(token.text, token.log_probability) for token in shortened.trace] == left


WORDS = [
    (b"import collections\n\nheight, width = collec", b"\n"),
    (b"def area(height, width):\n    return hei", b" * width\n"),
    (b"def area(height, width):\n    retur", b"\n"),
    (b"x = [1]\nfor item in x:\n    print(item", b"\n"),
]


@pytest.mark.parametrize(("left", "right"), sampled(WORDS, 2))
@pytest.mark.parametrize("how", [{}, {"candidates": 3}, {"temperature": 1.0, "seed": 1}, {"beams": 3}])
def test_what_is_written_connects_behind_the_word(model, left, right, how):
    start = Engine(Python((3, 11), "compile")).document(left + right).middle(len(left), len(left)).start
    assert unread_part(model.vocabulary, left)
    best, *others = complete_many(
        model, left, right, start, DecodeSettings(**({"tokens": 20} | how)), lambda: False
    )
    for middle in (best, *others):
        assert start.feed(middle.text).complete
        written = b"".join(token.text for token in middle.trace)
        assert written.startswith(middle.text) or middle.text.startswith(written) or middle.steered
    assert all(middle.text.strip() for middle in others)


def test_the_rest_of_a_known_name_is_found(model):
    left, right = b"def area(height, width):\n    return hei", b" * width\n"
    start = Engine(Python()).document(left + right).middle(len(left), len(left)).start
    (middle,) = complete_many(model, left, right, start, DecodeSettings(), lambda: False)
    assert middle.text.startswith(b"ght")


def vocabulary(*texts):
    """One that cuts a text into the first of *texts* that fits, again and again."""
    cut = re.compile("|".join(map(re.escape, texts)))
    return ModelVocabulary(
        lambda text: [texts.index(piece) for piece in cut.findall(text)], [*map(str.encode, texts)], False
    )


@pytest.mark.parametrize(
    ("tokens", "text", "part"),
    [
        (["x", " =", " hei", "gh"], "x = heigh", " heigh"),
        (["x", " =", " hei", "gh"], "x = hei", " hei"),
        (["x", ".", "hei", "gh"], "x.heigh", "heigh"),
        (["x", ".", "_", "a"], "x._a_a", "_a_a"),
        (["x", ".", "a"], "x.aaaaaaaaaaa", "aaaaaaaa"),
        (["x", " =", " "], "x = ", " "),
        (["f", "(", "a", ",", " "], "f(a, ", " "),
        (["x", " =", "  "], "x =  ", ""),
        (["x", " =", " "], "x =  ", ""),
        (["x", "\n", " "], "x\n ", ""),
        (["x", " = "], "x = ", ""),
        ([" "], " ", ""),
        (["x", "(", "a"], "xa(", ""),
        (["x", " =", " gr", "ö", "ß"], "x = größ", " größ"),
        (["\nx", "a"], "\nxa", ""),
        (["a"], "", ""),
    ],
)
def test_a_word_is_begun_again_from_its_first_token_and_a_space_with_its_word(tokens, text, part):
    assert unread_part(vocabulary(*tokens), text.encode()) == part.encode()


class Listing:
    """A network that lists two tokens at each position, more only in the wanted numbers."""

    def __init__(self, network, listed=2):
        self.network, self.listed, self.asked = network, listed, []
        self.token_bytes, self.stops = network.token_bytes, network.stops

    def begin(self, tokens, written=()):
        return self.first(self.network.begin(tokens, written), self.listed)

    def advance(self, token):
        return self.first(self.network.advance(token), self.listed)

    def more_after(self, tokens, written, most=None):
        self.asked.append(most)
        return self.first(self.network.more_after(tokens, written), most)

    @staticmethod
    def first(candidates, n):
        return replace(
            candidates, tokens=candidates.tokens[:n], log_probabilities=candidates.log_probabilities[:n]
        )


@pytest.mark.parametrize(("left", "right"), WORDS)
def test_a_word_is_written_anew_without_all_candidates(model, left, right):
    start = Engine(Python()).document(left + right).middle(len(left), len(left)).start
    alone = replace(model, uses_buffer=False)
    network = Listing(alone.network)
    few, settings = replace(alone, network=network), DecodeSettings(tokens=8)
    texts = [complete_many(one, left, right, start, settings, lambda: False)[0].text for one in (alone, few)]
    assert texts[0] == texts[1]
    assert set(network.asked) <= {LONGER_LISTS[0]}


def test_where_no_token_goes_with_the_word_it_is_read_as_it_is(model):
    left, right = b"total = zqxjkvw", b"\n"
    start = Engine(Python()).document(left + right).middle(len(left), len(left)).start

    class Few(Listing):
        def more_after(self, *_):
            return None

    few = replace(model, network=Few(model.network), uses_buffer=False)
    (middle,) = complete_many(few, left, right, start, DecodeSettings(tokens=8, seconds=60), lambda: False)
    (plain,) = complete_many(
        replace(few, heals=False), left, right, start, DecodeSettings(tokens=8), lambda: False
    )
    assert middle.trace
    assert [token.text for token in middle.trace] == [token.text for token in plain.trace]
