"""Beam search on a model whose texts are known."""

import math

import pytest

from fimlsp.models.decoding.multi_candidate import decode_many
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.prompts.prompt import Prompt

from ..scripted import Brackets
from .test_side_by_side import Tree

PROMPT = Prompt((7, 8), room=100)


def search(texts, start=b"", **limits):
    settings = DecodeSettings(**({"tokens": 24, "lines": None} | limits))
    return decode_many(Tree(texts), PROMPT, Brackets(start), settings, lambda: False)


def score(text, probability):
    return math.log(probability) / (len(text) + 1)


def test_a_wide_beam_finds_all_texts_best_first():
    texts = {b"abc": 0.4, b"abd": 0.1, b"x": 0.3, b"yyyy": 0.2}
    middles = search(texts, beams=4, candidates=4)
    wanted = sorted(texts, key=lambda text: -score(text, texts[text]))
    assert [middle.text for middle in middles] == wanted
    assert [middle.stop_reason for middle in middles] == ["end"] * 4


def test_it_finds_what_greedy_decoding_misses():
    texts = {b"ab": 0.27, b"ac": 0.25, b"z": 0.48}
    (greedy,), (best,) = search(texts), search(texts, beams=2)
    assert (greedy.text, best.text) == (b"ab", b"z")


def test_what_the_constraint_refuses_is_not_found():
    middles = search({b"a)": 0.6, b"b": 0.3, b"c": 0.1}, beams=3, candidates=3)
    assert {middle.text for middle in middles} >= {b"b", b"c"}
    assert all(middle.complete for middle in middles)
    assert b"a)" not in {middle.text for middle in middles}


@pytest.mark.parametrize("tokens", [1, 2, 3, 5])
def test_at_the_end_of_the_budget_texts_are_completed(tokens):
    middles = search({b"((((aaaa))))": 0.7, b"[bbbbbbbbb]": 0.3}, beams=2, candidates=2, tokens=tokens)
    assert middles
    assert all(middle.complete for middle in middles)


def test_a_cancelled_search_ends():
    polls = iter([False] * 4)
    settings = DecodeSettings(beams=3, lines=None)
    model = Tree({b"abcdefghij": 1.0})
    (middle,) = decode_many(model, PROMPT, Brackets(), settings, lambda: next(polls, True))
    assert len(middle.text) <= 4
