"""A recorded step gives the same scores as the network, in every family, or there is none."""

import pytest
import torch

from fimlsp.models.networks.torch import decoding_step as module
from fimlsp.models.networks.torch.checkpoint import CheckpointNetwork
from fimlsp.models.networks.torch.decoding_step import recorded_step
from fimlsp.models.networks.torch.kv_cache import KVCache
from fimlsp.models.networks.torch.weights import quantise

from .. import tiny_checkpoints as c
from ..tiny_checkpoints import FAMILIES

SIZE = 300
CONTEXT = 256
TEXT = [*range(7, 40), 8, 8, 9]
PROMPTS = [TEXT, TEXT[:1], TEXT[:20], [*TEXT, *TEXT]]


def network_of(make, is_int8=False):
    torch.manual_seed(0)
    network = make(SIZE).eval()
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    if is_int8:
        quantise(network)
    return network


def reader(network):
    return CheckpointNetwork(network, CONTEXT, [b"x"] * SIZE, frozenset())


@pytest.fixture
def plain_reader(monkeypatch):
    """Makes readers that use the network itself."""

    def make(network):
        with monkeypatch.context() as patch:
            patch.setattr("fimlsp.models.networks.torch.checkpoint.recorded_step", lambda *_: None)
            return reader(network)

    return make


def assert_alike(network, plain_reader, prompts=PROMPTS):
    """Check that a recording gives the scores of the network, whatever was read before."""
    recorded, plain = reader(network), plain_reader(network)
    assert recorded.step
    assert not plain.step
    for prompt in prompts:
        assert recorded.begin(prompt) == plain.begin(prompt)
        for token in TEXT[:4]:
            assert torch.equal(recorded.read_on([token]), plain.read_on([token]))


@pytest.mark.parametrize("is_int8", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_says_the_same(family, is_int8, plain_reader):
    assert_alike(network_of(FAMILIES[family][0], is_int8), plain_reader)


ROPES = {
    "linear": {"rope_type": "linear", "factor": 4.0},
    "llama3": {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64,
    },
    "yarn": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64},
}


@pytest.mark.parametrize("kind", ROPES)
def test_other_positions_too(kind, plain_reader):
    rope = {"rope_theta": 10000.0} | ROPES[kind]
    assert_alike(network_of(lambda size: c.llama(size, rope_parameters=rope)), plain_reader)


def test_half_precision_too(plain_reader):
    assert_alike(network_of(c.llama).bfloat16(), plain_reader)


def changed(network, change):
    """*network* with its scores replaced by *change*, which gets its keyword arguments and its scores."""
    forward = network.forward

    def other(**arguments):
        output = forward(**arguments)
        output.logits = change(arguments, output.logits)
        return output

    network.forward = other
    return network


def depends_on_scores(_, logits):
    return logits + 1 if logits.max() > 0 else logits - 1


def depends_on_length(arguments, logits):
    return logits * arguments["past_key_values"].get_seq_length()


def draws(_, logits):
    return logits + torch.rand(1)


def fails(*_):
    raise RuntimeError("no")


REASONS = {
    depends_on_scores: "reads a computed value",
    depends_on_length: "give different scores",
    draws: "give different scores",
    fails: "RuntimeError: no",
}


@pytest.mark.parametrize("change", REASONS)
def test_what_is_not_the_same_each_time_is_not_recorded_and_the_reason_is_logged(change, caplog):
    caplog.set_level("INFO")
    network = network_of(c.llama)
    kept = KVCache(network.config, CONTEXT)
    assert recorded_step(network, kept)
    assert recorded_step(changed(network, change), kept) is None
    assert kept.cache.get_seq_length() == 0
    assert REASONS[change] in caplog.text


def test_keys_that_cannot_be_forgotten_are_not_recorded(monkeypatch):
    monkeypatch.setattr(KVCache, "is_preallocated", False)
    monkeypatch.setattr(module, "record_checked", fails)
    network = network_of(c.llama)
    assert recorded_step(network, KVCache(network.config, CONTEXT)) is None


def test_after_a_failure(plain_reader, monkeypatch):
    network = network_of(c.santacoder)
    recorded, plain = reader(network), plain_reader(network)
    recorded.begin(TEXT)
    with monkeypatch.context() as patch:
        patch.setattr(recorded, "step", fails)
        with pytest.raises(RuntimeError, match="no"):
            recorded.advance(3)
    assert recorded.begin(TEXT) == plain.begin(TEXT)
    assert recorded.advance(3) == plain.advance(3)
