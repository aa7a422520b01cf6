"""Tokens that a mask allows, listed by the real llama.cpp with the probabilities of the model itself."""

from functools import partial

import numpy as np
import pytest

from fimlsp import json_schema, python
from fimlsp.models.completion import generate
from fimlsp.models.decoding.candidate_order import allowed_tokens, mask_vocabulary
from fimlsp.models.decoding.loop import REFUSALS_BEFORE_MASK, REJECTIONS_PER_STEP_MAX, VIABLE_MAX
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.loading import load_model
from fimlsp.models.protocols import ListsViable
from fimlsp.quotient.engine import Engine

PRECISION = 2e-4
"""Nats: the server adds biases in single precision."""

NAMES = json_schema({"enum": ["warm lava", "cold lake", "wide cave"]}, compact=True)
PLACES = json_schema({"type": "array", "items": {"enum": ["lava", "lake"]}, "minItems": 3, "maxItems": 3})
STARTS = {
    "one of three names": (NAMES, ""),
    "in a name": (NAMES, '"w'),
    "a list": (PLACES, '["lava", '),
    "a statement": (python(), "for index in "),
    "in brackets": (python(), "print(value"),
    "after a character's first byte": (python(), "print('\N{LATIN SMALL LETTER E WITH ACUTE}'"),
}
"""Languages, and a text before the cursor."""

FILES = ["Qwen-Coder", "CodeLlama"]


@pytest.fixture(scope="module", params=FILES)
def model(request, gguf):
    return load_model(str(gguf(request.param)))


def start_after(language, left):
    return Engine(language).document(left.encode()).middle(len(left.encode()), len(left.encode())).start


def viable_at(model, state):
    vocabulary = mask_vocabulary(model.network, may_wait=True)
    tokens = np.flatnonzero(allowed_tokens(vocabulary, state, may_cut_lines=False)).tolist()
    return [token for token in tokens if state.complete or token not in model.network.stops]


@pytest.mark.slow
def test_likely_tokens_do_not_hide_those_that_nearly_never_come(gguf):
    model, state = load_model(str(gguf("as Gemma"))), start_after(PLACES, "")
    written = generate(model, b"x = 1\n", state, DecodeSettings(tokens=4), heal=False)
    assert written.stop_reason == "budget"
    assert min(token.log_probability for token in written.trace) < -20


@pytest.mark.parametrize("where", STARTS)
def test_they_are_the_likeliest_of_the_full_list(model, where):
    language, left = STARTS[where]
    state, network = start_after(language, left), model.network
    text = model.fim.continued(model.vocabulary.encode_first(f"x = 1\n{left}"))
    viable, listed = viable_at(model, state), network.begin(text)
    found = network.viable_after(text, (), viable, listed)
    everything = network.more_after(text, ())
    own = dict(zip(everything.tokens, everything.log_probabilities, strict=True))
    wanted = [token for token in everything.tokens if token in set(viable)]
    assert set(found.tokens) <= set(viable)
    assert len(found.tokens) == min(len(viable), VIABLE_MAX)
    assert own[found.tokens[0]] == pytest.approx(own[wanted[0]], abs=PRECISION)
    assert found.log_probabilities == pytest.approx([own[token] for token in found.tokens], abs=PRECISION)
    assert found.log_probabilities == sorted(found.log_probabilities, reverse=True)
    assert network.advance(wanted[0]).tokens, "the network reads on"


@pytest.mark.parametrize("temperature", [0, 1.5])
def test_a_text_goes_on_where_all_listed_candidates_are_refused(model, temperature):
    state = start_after(PLACES, "")
    settings = DecodeSettings(tokens=12, temperature=temperature, seed=3, steer=False)
    written = generate(model, b"x = 1\n", state, settings, heal=False)
    assert written.stop_reason in ("end", "budget")
    assert all(len(token.refused) < REJECTIONS_PER_STEP_MAX for token in written.trace)
    if temperature:
        return
    assert sum(len(token.refused) >= REFUSALS_BEFORE_MASK for token in written.trace) > 1
    text = model.fim.continued(model.vocabulary.encode_first("x = 1\n"))
    for token in written.trace[:4]:
        viable, everything = set(viable_at(model, state)), model.network.server.more_after(text, None)
        assert token.token == next(one for one in everything.tokens if one in viable)
        state, text = state.feed(token.text), [*text, token.token]


@pytest.mark.parametrize("cuts", [{}, {"top_k": 40}], ids=str)
def test_draws_list_only_what_the_mask_allows_unless_they_are_cut(cuts, gguf, monkeypatch):
    model, lists = load_model(str(gguf("Qwen-Coder"))), []
    server = model.network.server
    for name in ("among", "more_after"):
        monkeypatch.setattr(server, name, partial(recorded, name, getattr(server, name), lists))
    settings = DecodeSettings(tokens=12, temperature=1.5, seed=3, steer=False, **cuts)
    written = generate(model, b"x = 1\n", start_after(PLACES, ""), settings, heal=False)
    assert written.stop_reason in ("end", "budget")
    assert "among" in lists
    assert "more_after" not in lists


def recorded(name, method, calls, *arguments):
    calls.append(name)
    return method(*arguments)


def test_nobody_waits_for_it_under_a_time_limit(gguf, monkeypatch):
    model, asked = load_model(str(gguf("Qwen-Coder"))), []
    monkeypatch.setattr(model.network.server, "among", lambda *_: asked.append(1))
    state = start_after(PLACES, "")
    middle = generate(model, b"x = 1\n", state, DecodeSettings(tokens=8, seconds=60.0), heal=False)
    assert middle.complete
    assert not asked
    generate(model, b"x = 1\n", state, DecodeSettings(tokens=8), heal=False)
    assert asked


def test_a_file_has_masks_for_those_who_may_wait(model):
    network = model.network
    assert isinstance(network, ListsViable)
    assert mask_vocabulary(network, may_wait=False) is None
    assert mask_vocabulary(network, may_wait=True) is network.known_vocabulary
    bundled = load_model().network
    assert mask_vocabulary(bundled, may_wait=False) is bundled.mask_vocabulary


@pytest.mark.usefixtures("elsewhere")
def test_a_server_elsewhere_has_no_masks(served):
    assert mask_vocabulary(load_model(served("Qwen-Coder")).network, may_wait=True) is None


def test_a_served_file_of_this_machine_has_masks(served):
    model, state = load_model(served("Qwen-Coder")), start_after(PLACES, "")
    written = generate(model, b"x = 1\n", state, DecodeSettings(tokens=8), heal=False)
    assert written.stop_reason in ("end", "budget")
