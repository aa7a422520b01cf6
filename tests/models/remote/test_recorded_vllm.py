"""Answers of a real vLLM are read as those of the same model in this process."""

import json
from pathlib import Path

import pytest

from fimlsp.models.loading import load_model

from .recorded import replayed

RECORDING = json.loads((Path(__file__).parent / "vllm.json").read_text())
RUNS = [
    body
    for path, body, _, text in RECORDING
    if path == "/v1/completions" and "error" not in text and "allowed_token_ids" not in body
]


@pytest.fixture(scope="module")
def pair():
    """The model of the recorded server, and the same in this process."""
    server = replayed(RECORDING)
    yield load_model(server.address, uses_buffer=False), load_model(uses_buffer=False, dtype="float32")
    server.shutdown()
    server.server_close()


def test_it_is_told_what_the_server_is(pair):
    assert (pair[0].name, pair[0].context) == ("bundled (vLLM)", 1024)


@pytest.mark.parametrize("body", RUNS)
def test_runs_are_what_the_model_itself_would_write(body, pair):
    served, itself = pair
    text = body["prompt"]
    places = list(served.network.server.run(text, body["max_tokens"]))
    assert places
    for place in places:
        candidates = itself.network.begin(text)
        expected = dict(zip(candidates.tokens, candidates.log_probabilities, strict=True))
        assert place.token == candidates.tokens[0]
        assert len(place.candidates.tokens) == 20
        for token, value in zip(place.candidates.tokens, place.candidates.log_probabilities, strict=True):
            assert value == pytest.approx(expected[token], abs=1e-2)
        text = [*text, place.token]


def test_the_end_is_told_and_all_candidates_are_not(pair):
    served, itself = pair
    tokens = served.fim.arrange(served.vocabulary.encode("import os"), [])
    exact = itself.network.begin(tokens).stop
    assert served.network.stop_after(tokens, ()) == pytest.approx(exact, abs=1e-2)
    assert served.network.more_after(tokens, ()) is None
