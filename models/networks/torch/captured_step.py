"""One step of decoding as graphs of CUDA, each of which a GPU goes through without being told every call.

To launch hundreds of kernels one by one takes longer than they run. A graph is launched at once, but what it
reads and writes is always the same memory. So its token and position are numbers on the device, keys and
values are written where the position says, and attention looks at a fixed part of the room, of which what is
not written yet is masked. There is a graph for each power of two. It has to say about what the network says;
else there is none, nor where anything of this fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from fimlsp.models.networks.torch.kv_cache import KVCache, RoomyLayer
from fimlsp.models.networks.torch.recorded_step import Step, scores_of
from torch import Tensor
from transformers import PreTrainedModel
from transformers.cache_utils import Cache, DynamicLayer

SMALLEST = 512
TOLERANCE = 0.1

Replay = Callable[[], Tensor]


@dataclass(frozen=True, slots=True)
class Captured:
    """A graph for positions below *size*; `token` and `position` [1, 1] are what it reads."""

    size: int
    token: Tensor
    position: Tensor
    replay: Replay

    def __call__(self, token: int, position: int) -> Tensor:
        """Scores [vocabulary], in memory that the next call writes again."""
        self.token.fill_(token)
        self.position.fill_(position)
        return self.replay()


@torch.inference_mode()
def captured_step(network: PreTrainedModel, kept: KVCache) -> Step | None:
    """From a token and its position to scores, as `recorded_step`; None where that cannot be captured.

    Works with the room that *kept* has now. Costs about four steps of the network for each power of two;
    *kept* must be empty, and is so afterwards.
    """
    if not (is_cuda(network.device) and kept.is_roomy):
        return None
    try:
        with torch.cuda.device(network.device):
            return _captured(network, kept)
    except Exception:  # whatever it was, the network itself can still be asked
        return None
    finally:
        kept.clear_texts()


def is_cuda(device: torch.device) -> bool:
    """Whether graphs can be made there."""
    return device.type == "cuda"


def _captured(network: PreTrainedModel, kept: KVCache) -> Step | None:
    _, expected = (scores_of(network, kept.cache, number, number) for number in _numbers(network, 0, 1))
    graphs = [_capture(network, kept, size) for size in sizes(kept.context)]
    near = TOLERANCE * expected.float().std()
    if not all((graph(1, 1) - expected).abs().max() <= near for graph in graphs):
        return None

    def step(token: int, position: int) -> Tensor:
        graph = next(graph for graph in graphs if position < graph.size)
        kept.grow()
        return graph(token, position)

    return step


def sizes(context: int) -> Iterator[int]:
    """Powers of two from 512 on, and at last *context* itself."""
    size = SMALLEST
    while size < context:
        yield size
        size *= 2
    yield context


def _numbers(network: PreTrainedModel, *numbers: int) -> list[Tensor]:
    return [torch.full((1, 1), number, device=network.device) for number in numbers]


def _capture(network: PreTrainedModel, kept: KVCache, size: int) -> Captured:
    token, position = _numbers(network, 1, 1)
    cache = Cache(layers=[FixedLayer(room, size, position[0]) for room in kept.rooms])

    def run() -> Tensor:
        """All memory but the network's, the room's and that of the two numbers is made within."""
        columns = torch.arange(size, device=network.device)
        hidden = torch.zeros((1, 1, 1, size), dtype=network.dtype, device=network.device)
        hidden = hidden.masked_fill(columns > position, torch.finfo(network.dtype).min)
        return scores_of(network, cache, token, position, hidden)

    return Captured(size, token, position, graph_of(run))


def graph_of(run: Replay) -> Replay:
    """What *run* does, as a graph. It is run twice before, as libraries make ready what they need."""
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        run()
        run()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        scores = run()

    def replay() -> Tensor:
        graph.replay()
        return scores

    return replay


class FixedLayer(DynamicLayer):  # type: ignore[no-untyped-call]  # transformers leaves some untyped
    """The room of a *layer*, of which *size* positions are read and that at *position* [1] is written."""

    def __init__(self, layer: RoomyLayer, size: int, position: Tensor) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # as above
        assert layer.keys is not None
        assert layer.values is not None
        self.keys, self.values = layer.keys[:, :, :size], layer.values[:, :, :size]
        self._position = position

    def update(
        self, key_states: Tensor, value_states: Tensor, *_: object, **__: object
    ) -> tuple[Tensor, Tensor]:
        """Write one position; views of all."""
        assert self.keys is not None
        assert self.values is not None
        self.keys.index_copy_(2, self._position, key_states)
        self.values.index_copy_(2, self._position, value_states)
        return self.keys, self.values

    def get_seq_length(self) -> int:
        """None is known; positions and mask tell."""
        return 0
