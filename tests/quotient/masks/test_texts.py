"""Texts, suffixes and leading spaces of a vocabulary as arrays agree with sets of byte strings."""

import random

import pytest

from fimlsp import Vocabulary
from fimlsp.quotient.masks.texts import Texts, suffixes_by_length


def random_tokens(seed, alphabet):
    random_ = random.Random(seed)
    texts = [bytes(random_.choices(alphabet, k=random_.randrange(9))) for _ in range(random_.randrange(30))]
    return [text if random_.random() < 0.9 else None for text in texts]


@pytest.mark.parametrize("seed", range(40))
def test_suffixes_are_the_shortest_first(seed):
    texts = sorted({text for text in random_tokens(seed, b"ab\xff") if text is not None})
    suffixes = suffixes_by_length(Texts.of(texts))
    expected = sorted({b"", *(text[at:] for text in texts for at in range(len(text)))})
    expected.sort(key=len)
    assert [*suffixes.texts] == expected
    assert [expected[number] for number in suffixes.number_of] == texts
    assert [expected[number] for number in suffixes.shorter] == [text[1:] for text in expected]


@pytest.mark.parametrize("seed", range(40))
def test_leading_spaces_are_those_of_each_suffix(seed):
    suffixes = Vocabulary(random_tokens(seed, b"a \t\x0c")).suffixes
    number_of, spaces = suffixes.leading_spaces
    assert len(set(spaces)) == len(spaces)
    for number, text in enumerate(suffixes.texts):
        assert spaces[number_of[number]] + text.lstrip(b" \t\x0c") == text


@pytest.mark.parametrize("seed", range(40))
def test_each_token_has_the_number_of_its_text(seed):
    tokens = random_tokens(seed, b"ab")
    stops = range(0, len(tokens), 7)
    vocabulary = Vocabulary(tokens, stops)
    kept = [text if token not in stops else None for token, text in enumerate(tokens)]
    assert [*vocabulary.texts] == sorted({text for text in kept if text is not None})
    for text, number in zip(kept, vocabulary.text_of_token.tolist(), strict=True):
        assert number == len(vocabulary.texts) if text is None else vocabulary.texts[number] == text
