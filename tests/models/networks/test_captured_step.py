"""Graphs of a step give the same scores as the network, wherever a text ends.

Without a GPU, the calls of torch in the step are traced instead. As in a graph, no Python of the network runs
again, and the result is always in the same memory. Capturing by CUDA itself is not tested.
"""

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from fimlsp.models.networks.torch import decoding_step as module
from fimlsp.models.networks.torch.checkpoint import CheckpointNetwork
from fimlsp.models.networks.torch.kv_cache import KVCache

from ...sampling import sampled
from .. import tiny_checkpoints as c
from ..tiny_checkpoints import NETWORKS
from .test_recorded_step import PROMPTS, SIZE, TEXT, network_of

CONTEXT = 128


def traced(run):
    """Replaces `graph_of`."""
    graph = make_fx(run)()
    scores = run().clone()
    return lambda: scores.copy_(graph())


@pytest.fixture
def captured(monkeypatch):
    """Makes readers with captured steps."""
    monkeypatch.setattr(module, "graph_of", traced)
    monkeypatch.setattr(module, "SMALLEST", 64)
    monkeypatch.setattr("fimlsp.models.networks.torch.checkpoint.recorded_step", lambda *_: None)

    def make(network):
        with monkeypatch.context() as patch:
            patch.setattr("fimlsp.models.networks.torch.checkpoint.captured_step", on_this_device)
            return CheckpointNetwork(network, CONTEXT, [b"x"] * SIZE, frozenset())

    return make


@pytest.mark.parametrize("name", sampled(NETWORKS, 3))
@torch.inference_mode()
def test_a_graph_reads_no_memory_that_is_given_back(name, monkeypatch):
    graphs = []
    monkeypatch.setattr(module, "graph_of", lambda run: graphs.append(make_fx(run)()))
    network = network_of(NETWORKS[name])
    kept = KVCache(network.config, CONTEXT)
    module.scores_of(network, kept.cache, *[torch.zeros((1, 1), dtype=torch.long)] * 2)
    captured = module.capture(network, kept, 64)
    rooms = [states for room in kept.layers for states in (room.keys, room.values)]
    lasting = [*network.parameters(), *network.buffers(), *rooms, captured.token, captured.position]
    places = {tensor.untyped_storage().data_ptr() for tensor in lasting}
    read = [getattr(graphs[0], node.target) for node in graphs[0].graph.nodes if node.op == "get_attr"]
    assert len(read) > len(rooms)
    assert [tensor for tensor in read if tensor.untyped_storage().data_ptr() not in places] == []


@torch.inference_mode()
def on_this_device(network, kept):
    step = module.capture_checked(network, kept)
    kept.clear_texts()
    return step


def plain(network):
    reader = CheckpointNetwork(network, CONTEXT, [b"x"] * SIZE, frozenset())
    reader.step = None
    return reader


@pytest.mark.parametrize("name", sampled(NETWORKS, 3))
def test_every_network_says_the_same(name, captured):
    network = network_of(NETWORKS[name])
    reader, expected = captured(network), plain(network)
    assert reader.step
    for prompt in [*PROMPTS, [*TEXT, *TEXT, *TEXT, *TEXT][:120]]:
        scores = reader.begin(prompt).log_probabilities
        assert scores == pytest.approx(expected.begin(prompt).log_probabilities, abs=1e-4)
        for token in TEXT[:4]:
            assert torch.allclose(reader.read_on([token]), expected.read_on([token]), atol=1e-4)


def test_half_precision_too(captured):
    network = network_of(c.llama).bfloat16()
    reader, expected = captured(network), plain(network)
    for token in TEXT:
        difference = reader.read_on([token]) - expected.read_on([token])
        assert difference.abs().max() < 0.1 * expected.read_on([token]).float().std()
        reader.read_on([token])


SIZES = [(100, [100]), (512, [512]), (2048, [512, 1024, 2048]), (3000, [512, 1024, 2048, 3000])]


@pytest.mark.parametrize(("context", "expected"), SIZES)
def test_there_is_a_graph_for_each_power_of_two(context, expected):
    assert list(module.sizes(context)) == expected


def wrong(run):
    return lambda: run() + 1


def no_number(run):
    return lambda: run() * float("nan")


def fails(_):
    raise RuntimeError("operation not permitted when stream is capturing")


REASONS = {
    wrong: "differ from the network",
    no_number: "differ from the network",
    fails: "not permitted when",
}


@pytest.mark.parametrize("graph_of", REASONS)
def test_what_does_not_say_the_same_is_not_used_and_the_reason_is_logged(graph_of, monkeypatch, caplog):
    monkeypatch.setattr(module, "graph_of", graph_of)
    monkeypatch.setattr(module, "is_cuda", lambda _: True)
    monkeypatch.setattr(torch.cuda, "device", lambda _: torch.inference_mode())
    network = network_of(c.llama)
    kept = KVCache(network.config, CONTEXT)
    assert module.captured_step(network, kept) is None
    assert kept.cache.get_seq_length() == 0
    assert REASONS[graph_of] in caplog.text


def test_a_text_may_fill_the_context_but_not_exceed_it(captured):
    reader = captured(network_of(c.llama))
    reader.begin([7] * (CONTEXT - 1))
    reader.advance(8)
    with pytest.raises(ValueError, match="do not fit into a context of 128"):
        reader.advance(9)


def test_on_the_cpu_there_is_none():
    network = network_of(c.llama)
    assert module.captured_step(network, KVCache(network.config, CONTEXT)) is None
