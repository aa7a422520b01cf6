"""All short texts over small alphabets, as wholes and in all cuts of valid texts."""

import random

import pytest

from .suites import ALPHABETS, JSON, SYMBOLS, cut_everywhere, valid_texts, whole_texts, wrongly_dead


@pytest.mark.parametrize("alphabet", ALPHABETS, ids=range(len(ALPHABETS)))
def test_whole_texts(alphabet):
    assert whole_texts(alphabet, 3).faults == []


def cuts_in_two(texts: list[bytes]) -> list[tuple[bytes, bytes]]:
    """The two sides of every cut of *texts*, each once."""
    return sorted({(text[:place], text[place:]) for text in texts for place in range(len(text) + 1)})


@pytest.mark.slow
def test_cuts_of_valid_texts():
    texts = valid_texts(SYMBOLS[:-2], 5)
    assert len(texts) > 20
    for text in random.Random(1).sample(texts, 12):
        assert cut_everywhere(text, SYMBOLS, 2).faults == []


def test_what_is_dead_cannot_be_completed():
    sides = cuts_in_two(valid_texts(SYMBOLS[:-2], 5))
    for left, right in random.Random(2).sample(sides, 25):
        assert wrongly_dead(left, right, SYMBOLS[:-2], 4) == []


def test_sides_that_were_not_made_for_each_other():
    texts = valid_texts(SYMBOLS[:-2], 4)
    lefts, rights = ([sides[side] for sides in cuts_in_two(texts)] for side in (0, 1))
    rng = random.Random(3)
    for _ in range(25):
        left, right = rng.choice(lefts), rng.choice(rights)
        assert wrongly_dead(left, right, SYMBOLS[:-2], 4) == []
        state = JSON.start_between(left, right)
        assert state is None or state.feed(state.shortest_completion).complete


@pytest.mark.slow
@pytest.mark.parametrize("alphabet", ALPHABETS, ids=range(len(ALPHABETS)))
def test_longer_whole_texts(alphabet):
    assert whole_texts(alphabet, 5).faults == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_all_cuts_of_texts_of_six_symbols(seed):
    texts = valid_texts(SYMBOLS[:-2], 6)
    assert len(texts) > 40
    for text in texts[seed::8]:
        assert cut_everywhere(text, SYMBOLS, 2).faults == []
    for left, right in random.Random(seed).sample(cuts_in_two(texts), 100):
        assert wrongly_dead(left, right, SYMBOLS[:-2], 4) == []
