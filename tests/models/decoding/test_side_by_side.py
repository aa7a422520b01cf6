"""Candidates decoded side by side are those decoded one after the other, whatever the network."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fimlsp.models.decoding.multi_candidate import decode_many
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.errors import OutOfMemoryError
from fimlsp.models.loading import load_model
from fimlsp.models.prompts.prompt import Prompt

from .. import tiny_checkpoints as c
from ..scripted import Brackets
from ..tiny_checkpoints import FAMILIES
from .test_branching import TEXTS, Tree

PROMPT = Prompt((7, 8), room=1000)


class Beside(Tree):
    """A tree that reads several texts side by side; counts the passes."""

    def __init__(self, texts):
        super().__init__(texts)
        self.passes = 0

    def advance(self, token):
        self.passes += 1
        return super().advance(token)

    def side_by_side(self, tokens, room):
        assert (tuple(tokens), room > 0) == (PROMPT.tokens[:-1], True)
        return TreeRows(self)


class TreeRows:
    def __init__(self, tree):
        self.tree = tree

    def begin(self, texts):
        assert all(text[0] == PROMPT.tokens[-1] for text in texts)
        self.texts = [list(text[1:]) for text in texts]
        return self.read()

    def advance(self, kept, tokens):
        self.texts = [[*self.texts[n], token] for n, token in zip(kept, tokens, strict=True)]
        return self.read()

    def read(self):
        self.tree.passes += 1
        return [Tree(self.tree.texts).begin(PROMPT.tokens, text) for text in self.texts]


def texts_of(model, prompt=PROMPT, start=b"", **limits):
    middles = decode_many(model, prompt, Brackets(start), DecodeSettings(**limits), lambda: False)
    return [middle.text for middle in middles]


@given(
    texts=st.dictionaries(TEXTS, st.floats(0.01, 1), min_size=1, max_size=6),
    start=st.sampled_from([b"", b"(", b"(["]),
    n=st.integers(1, 5),
    temperature=st.sampled_from([0.0, 1.0]),
    tokens=st.sampled_from([1, 3, 12]),
)
@settings(deadline=None)
def test_the_same_texts(texts, start, n, temperature, tokens):
    limits = {"candidates": n, "temperature": temperature, "tokens": tokens, "start": start}
    assert texts_of(Beside(texts), **limits) == texts_of(Tree(texts), **limits)


def test_fewer_passes():
    words = {b"count_all": 0.4, b"color_all": 0.3, b"zebra_all": 0.2, b"xylem_all": 0.1}
    model = Beside(words)
    assert set(texts_of(model, candidates=4)) == set(words)
    assert model.passes == 2 * len(b"count_all"), "those of the first, and as many for the others"


@pytest.mark.parametrize("passes", range(1, 22, 4))
def test_memory_that_runs_out_costs_time_alone(passes):
    words = {b"count_all": 0.4, b"color_all": 0.3, b"zebra_all": 0.2, b"xylem_all": 0.1}

    class Crowded(Beside):
        def side_by_side(self, tokens, room):
            return CrowdedRows(super().side_by_side(tokens, room).tree)

    class CrowdedRows(TreeRows):
        def read(self):
            if self.tree.passes >= passes:
                raise OutOfMemoryError("no more memory")
            return super().read()

    assert texts_of(Crowded(words), candidates=4) == texts_of(Tree(words), candidates=4)


def test_cancelling_stops_all():
    model = Beside({b"aaaaaaaa": 0.5, b"bbbbbbbb": 0.5})
    polls = iter([False] * 10)
    middles = decode_many(model, PROMPT, Brackets(), DecodeSettings(candidates=2), lambda: next(polls, True))
    assert len(middles) == 1


@pytest.mark.parametrize("family", FAMILIES)
@torch.inference_mode()
def test_networks_of_all_families_read_side_by_side(family, tmp_path):
    network = load_model(str(c.make(tmp_path, *FAMILIES[family])), dtype="float32").network
    shared, texts = [5, 9, 30, 31, 40], [[7], [50, 51, 52], [12, 13]]
    network.begin([*shared, 60, 61])
    rows = network.side_by_side(shared, 4)
    row_candidates = rows.begin(texts)
    check(network, shared, texts, row_candidates)
    row_candidates = rows.advance([0, 1, 2], [20, 21, 22])
    texts = [[*text, token] for text, token in zip(texts, (20, 21, 22), strict=True)]
    check(network, shared, texts, row_candidates)
    row_candidates = rows.advance([1], [33])
    check(network, shared, [[*texts[1], 33]], row_candidates)
    row_candidates = rows.advance([0], [34])
    check(network, shared, [[*texts[1], 33, 34]], row_candidates)


def check(network, shared, texts, row_candidates):
    for text, candidates in zip(texts, row_candidates, strict=True):
        alone = network.begin([*shared, *text])
        np.testing.assert_allclose(candidates.log_probabilities, alone.log_probabilities, atol=1e-4)
        assert candidates.tokens[:5] == alone.tokens[:5]
        assert candidates.stop == pytest.approx(alone.stop, abs=1e-4)


@pytest.mark.parametrize("bits", [None, 8])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_checkpoint_writes_the_same_texts(bits, temperature, tmp_path, monkeypatch):
    model = load_model(str(c.make(tmp_path, c.santacoder, c.SANTACODER)), device="cpu", bits=bits)
    prompt = Prompt((5, 9, 30, 31, 40, 41), room=40)
    limits = {"candidates": 4, "temperature": temperature, "tokens": 12, "steer": False, "lines": None}
    together = texts_of(model.network, prompt, **limits)
    monkeypatch.setattr(model.network, "side_by_side", lambda *_: None)
    assert together == texts_of(model.network, prompt, **limits)
    assert len(together) > 2
