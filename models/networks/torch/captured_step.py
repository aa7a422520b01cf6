"""Captures a one-token decoding step as CUDA graphs, which a GPU runs without a launch for each kernel.

Launching hundreds of kernels one by one takes longer than running them. A graph is launched at once, but it
always reads and writes the same memory. So its token and position are numbers on the device, and keys and
values are written at that position. Attention reads a fixed part of the cache, in which all positions not yet
written are masked. There is a graph for each power of two. A graph is used only if it agrees with the
network. If capturing fails, the reason is logged and the network itself is used.
"""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import PreTrainedModel
from transformers.cache_utils import Cache, DynamicLayer

from fimlsp.models.networks.torch.kv_cache import KVCache, PreallocatedLayer
from fimlsp.models.networks.torch.recorded_step import Step, scores_of

SMALLEST = 512
TOLERANCE = 0.1

Replay = Callable[[], Tensor]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Graph:
    """A step for positions below *size*, which reads `token` and `position` [1, 1]."""

    size: int
    token: Tensor
    position: Tensor
    replay: Replay

    def __call__(self, token: int, position: int) -> Tensor:
        """Scores [vocabulary], in memory that the next call overwrites."""
        self.token.fill_(token)
        self.position.fill_(position)
        return self.replay()


@torch.inference_mode()
def captured_step(network: PreTrainedModel, kv_cache: KVCache) -> Step | None:
    """A function from a token and its position to scores, like `recorded_step`; None if capturing fails.

    Uses the memory that *kv_cache* has now; it must be empty, and is empty afterwards. Costs about four
    steps of the network for each power of two.
    """
    if not (is_cuda(network.device) and kv_cache.is_preallocated):
        return None
    try:
        with torch.cuda.device(network.device):
            return capture_checked(network, kv_cache)
    except Exception:  # torch and transformers raise anything while capturing; the network can still be used
        log.warning("a decoding step cannot be captured as a CUDA graph; decoding is slower", exc_info=True)
        return None
    finally:
        kv_cache.clear_texts()


def is_cuda(device: torch.device) -> bool:
    """True if *device* can run graphs."""
    return device.type == "cuda"


def capture_checked(network: PreTrainedModel, kv_cache: KVCache) -> Step | None:
    """Capture a graph for each power of two; None, and a log message, unless all agree with *network*."""
    _, expected = (scores_of(network, kv_cache.cache, number, number) for number in _numbers(network, 0, 1))
    graphs = [capture(network, kv_cache, size) for size in sizes(kv_cache.context)]
    near = TOLERANCE * expected.float().std()
    differences = [float((graph(1, 1) - expected).abs().max()) for graph in graphs]
    if not all(difference <= near for difference in differences):
        log.warning("CUDA graphs of a decoding step differ from the network by %s; unused", differences)
        return None
    limits = [graph.size for graph in graphs]

    def step(token: int, position: int) -> Tensor:
        """Scores after *token*; *position* must be below the context."""
        graph = graphs[bisect_right(limits, position)]
        kv_cache.grow()
        return graph(token, position)

    return step


def sizes(context: int) -> Iterator[int]:
    """Powers of two from 512 on, and at the end *context* itself."""
    size = SMALLEST
    while size < context:
        yield size
        size *= 2
    yield context


def _numbers(network: PreTrainedModel, *numbers: int) -> list[Tensor]:
    return [torch.full((1, 1), number, device=network.device) for number in numbers]


def capture(network: PreTrainedModel, kv_cache: KVCache, size: int) -> Graph:
    """A graph of one step that attends to the first *size* positions of *kv_cache*."""
    token, position = _numbers(network, 1, 1)
    cache = Cache(layers=[FixedLayer(layer, size, position[0]) for layer in kv_cache.layers])

    def run() -> Tensor:
        """Allocate all memory inside, except that of the network, the cache and the two numbers."""
        columns = torch.arange(size, device=network.device)
        mask = torch.zeros((1, 1, 1, size), dtype=network.dtype, device=network.device)
        mask = mask.masked_fill(columns > position, torch.finfo(network.dtype).min)
        return scores_of(network, cache, token, position, mask)

    return Graph(size, token, position, graph_of(run))


def graph_of(run: Replay) -> Replay:
    """*run* as a CUDA graph. It runs twice before, so that libraries have finished their set-up."""
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
    """Reads the first *size* positions of *layer*, and writes the one at *position* [1]."""

    def __init__(self, layer: PreallocatedLayer, size: int, position: Tensor) -> None:
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
        """Unused, as positions and mask are arguments of the step."""
        return 0
