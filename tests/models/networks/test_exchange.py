"""A network on a separate device: each step waits for it once and transfers little.

Torch's device `meta` replaces the GPU. Its tensors have no content, so reading one fails. A mode of torch
observes the calls that mix devices, compute on the host or transfer data. The results and the speed of a GPU
are not tested.
"""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from fimlsp.models.networks.torch import checkpoint, decoding_step
from fimlsp.models.networks.torch.checkpoint import CheckpointNetwork, DeviceRanking, HostRanking, ranking_for

from ..tiny_checkpoints import NETWORKS

SIZE = 300
STOPS = frozenset({1, 5})
MADE_OF_NUMBERS = ("aten::lift_fresh", "aten::detach_")  # calls that turn a list into a tensor on the host

CPU = torch.device("cpu")


class Watched(TorchDispatchMode):
    """Counts the calls, and those that transfer data to the device."""

    def __init__(self):
        super().__init__()
        self.n_calls = self.n_sent = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func._schema.name
        result = func(*args, **(kwargs or {}))
        given, made = devices((args, kwargs)), devices(result)
        self.n_calls += 1
        if given == {"cpu"} and made == {"meta"}:
            self.n_sent += 1
        elif "cpu" in given | made and name not in MADE_OF_NUMBERS:
            raise AssertionError(f"{name} is called on {given} and makes {made}")
        return result


def devices(values):
    """The devices of tensors; those of one number may be anywhere."""
    tensors = [leaf for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)]
    return {tensor.device.type for tensor in tensors if tensor.dim()}


@pytest.fixture(params=NETWORKS)
def reader(request, monkeypatch):
    """A network on the device `meta`, whose recording is accepted unchecked."""
    monkeypatch.setattr(decoding_step.torch, "allclose", lambda *_, **__: True)
    with torch.device("meta"):
        network = NETWORKS[request.param](SIZE).eval()
    reader = CheckpointNetwork(network, 256, [b"x"] * SIZE, STOPS)
    assert reader.step
    return reader


def watched(work):
    with Watched() as watch:
        result = work()
    assert result.shape[-1] == 2 * 64 + 1, "not all scores"
    assert watch.n_calls > 50
    return watch.n_sent


def test_a_token_is_launched_without_sending_or_reading(reader):
    reader.begin_reading([5, 6, 7])
    for token in (8, 9):
        assert watched(lambda token=token: reader.begin_reading([token])) == 0


@pytest.mark.parametrize("is_recorded", [True, False])
def test_only_a_prompt_is_sent(reader, is_recorded):
    reader.step = reader.step if is_recorded else None
    assert watched(lambda: reader.begin_reading(list(range(5, 40)))) == 1


def test_texts_side_by_side_read_nothing(reader):
    rows = reader.side_by_side([5, 6, 7, 8], 10)
    rows.ranked = lambda read: reader.ranking.begin(read())
    assert watched(lambda: rows.begin([[1], [2, 3], [4]])) == 2
    assert watched(lambda: rows.advance([0, 1, 2], [3, 4, 5])) == 1
    assert watched(lambda: rows.advance([0, 2], [6, 7])) == 2, "which go on is sent as well"


def test_what_becomes_a_graph_neither_sends_nor_reads(reader, monkeypatch):
    monkeypatch.setattr(decoding_step, "graph_of", lambda run: run)
    reader.begin_reading([5, 6])
    with torch.inference_mode():
        graph = decoding_step.capture(reader.network, reader.kv_cache, 64)
        assert watched(lambda: reader.ranking.begin(graph(7, 2)[None])) == 0


def scores_of(n_rows, size):
    torch.manual_seed(size)
    scores = 10 * torch.randn(n_rows, size)
    scores[:, 0] = -torch.inf
    return scores


@pytest.mark.parametrize("stops", [(), (3,), (0, 3, 8)])
@pytest.mark.parametrize("size", [9, 64, 65, 300])
@pytest.mark.parametrize("number", [torch.float32, torch.bfloat16])
def test_both_rankings_say_the_same(size, stops, number):
    scores = scores_of(3, size).to(number)
    if number is torch.bfloat16:  # of two equal scores either may come first
        scores = scores + torch.arange(size) * 1e-4
    host, device = HostRanking(stops), DeviceRanking(stops, CPU)
    for one, other in zip(host.finish(host.begin(scores)), device.finish(device.begin(scores)), strict=True):
        assert one.tokens == other.tokens
        assert one.log_probabilities == pytest.approx(other.log_probabilities, abs=1e-4)
        assert one.stop == pytest.approx(other.stop, abs=1e-4)
        assert all(type(token) is int for token in other.tokens)


def test_ids_of_large_vocabularies_are_exact():
    scores = torch.zeros(1, 262_144)
    scores[0, 262_143] = 9
    ranking = DeviceRanking((), CPU)
    assert ranking.finish(ranking.begin(scores))[0].tokens[0] == 262_143


@pytest.mark.parametrize(
    ("device", "kind"), [("cpu", HostRanking), ("mps", HostRanking), ("cuda", DeviceRanking)]
)
def test_where_candidates_are_ranked(device, kind, monkeypatch):
    monkeypatch.setattr(DeviceRanking, "__init__", lambda *_: None)
    assert isinstance(ranking_for(torch.device(device), STOPS), kind)


def test_a_stop_that_the_network_does_not_know(monkeypatch):
    monkeypatch.setattr(checkpoint, "ranking_for", lambda _, stops: DeviceRanking(stops, CPU))
    network = NETWORKS["santacoder"](SIZE).eval()
    reader = CheckpointNetwork(network, 256, [b"x"] * (SIZE + 9), frozenset({SIZE + 3}))
    assert reader.begin([5, 6, 7]).stop == -float("inf")
