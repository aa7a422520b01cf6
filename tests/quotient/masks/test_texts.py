"""Texts, suffixes and leading spaces of a vocabulary as arrays agree with sets of byte strings."""

import random

import numpy as np
import pytest

from fimlsp import Engine, Vocabulary
from fimlsp.languages import language_named
from fimlsp.quotient.masks import first_lexemes
from fimlsp.quotient.masks.suffixes import Suffixes
from fimlsp.quotient.masks.texts import Texts


def random_tokens(seed, alphabet):
    random_ = random.Random(seed)
    texts = [bytes(random_.choices(alphabet, k=random_.randrange(9))) for _ in range(random_.randrange(30))]
    return [text if random_.random() < 0.9 else None for text in texts]


def suffixes_of(texts):
    return Suffixes(Texts.of(texts), lambda _, make: make())


@pytest.mark.parametrize("seed", range(60))
def test_texts_are_sorted(seed):
    random_ = random.Random(seed)
    shared = [bytes(random_.choices(b"a\0", k=random_.choice((0, 7, 8, 9, 20)))) for _ in range(3)]
    texts = [
        random_.choice(shared) + bytes(random_.choices(b"\0ab\xff", k=random_.randrange(9)))
        for _ in range(40)
    ]
    texts = [text[: random_.randrange(len(text) + 1)] for text in texts]
    order, is_new = Texts.of(texts).sorted()
    assert [texts[number] for number in order] == sorted(texts)
    assert [*Texts.of(texts).taken(order[is_new])] == sorted(set(texts))
    assert [*Texts.of(texts).reversed] == [text[::-1] for text in reversed(texts)]


@pytest.mark.parametrize("seed", range(40))
def test_suffixes_are_the_shortest_first(seed):
    texts = sorted({text for text in random_tokens(seed, b"ab\xff") if text is not None})
    suffixes = suffixes_of(texts)
    found = [suffixes.text(number) for number in range(len(suffixes))]
    assert [*map(len, found)] == sorted(map(len, found)) == suffixes.lengths.tolist()
    assert sorted(found) == sorted({b"", *(text[at:] for text in texts for at in range(len(text)))})
    assert [found[number] for number in suffixes.number_of] == texts
    assert [found[number] for number in suffixes.shorter] == [text[1:] for text in found]
    assert [bytes([first]) for first in suffixes.first_bytes[1:]] == [text[:1] for text in found[1:]]
    assert all(
        len({len(found[number]) for number in range(level.start, level.stop)}) == 1
        for level in suffixes.levels
    )


@pytest.mark.parametrize("seed", range(40))
def test_rests_of_suffixes(seed):
    suffixes = suffixes_of(sorted({text for text in random_tokens(seed, b"ab ") if text is not None}))
    found = [suffixes.text(number) for number in range(len(suffixes))]
    skipped = np.zeros(256, np.bool_)
    skipped[list(b"a ")] = True
    assert [found[number] for number in suffixes.rests(skipped)] == [text.lstrip(b"a ") for text in found]
    assert suffixes.holding(ord("b")).tolist() == [b"b" in text for text in found]
    counts = np.array([len(text) * 2 // 3 for text in found], np.int32)
    left = suffixes.without(np.arange(len(found), dtype=np.int32), counts)
    assert [found[number] for number in left] == [text[len(text) * 2 // 3 :] for text in found]


@pytest.mark.parametrize("name", ["python", "json", "go"])
def test_first_lexemes_are_those_of_the_automaton(name, monkeypatch):
    lexical = Engine(language_named(name)).tables.lexical
    texts = [
        b"def x(a,",
        b"  #a--",
        b"-" * 40,
        b"a" * 40 + b" ",
        b" " * 30 + b"1e5+",
        b'"a\xc3\xa9',
        b"'a\\",
        b"0x_1",
    ]
    suffixes = suffixes_of(sorted(texts))
    numbers = np.arange(len(suffixes), dtype=np.int32)
    for together in (7, 1 << 16):
        monkeypatch.setattr(first_lexemes, "_TOGETHER", together)
        for start in sorted(set(lexical.dfa.starts.values())):
            first = first_lexemes.first_lexemes(first_lexemes.automaton_of(lexical), suffixes, numbers, start)
            for number in numbers:
                expected = longest_lexeme(lexical, suffixes.text(number), start)
                left = suffixes.text(first.left[number])
                assert (first.states[number], first.kinds[number], left, first.checked[number]) == expected


def longest_lexeme(lexical, text, state):
    kind, left, checked = -1, text, False
    for at, byte in enumerate(text, 1):
        state = lexical.dfa.rows[state][byte]
        checked |= state in lexical.word_states
        if lexical.dfa.accepts[state] >= 0:
            kind, left = lexical.dfa.accepts[state], text[at:]
        if not state:
            break
    return state, kind, left, checked


@pytest.mark.parametrize("seed", range(40))
def test_leading_spaces_are_those_of_each_suffix(seed):
    suffixes = Vocabulary(random_tokens(seed, b"a \t\x0c")).suffixes
    number_of, spaces = suffixes.leading_spaces
    assert len(set(spaces)) == len(spaces)
    for number in range(len(suffixes)):
        text = suffixes.text(number)
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
