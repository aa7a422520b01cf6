"""A one-token decoding step without the overhead of Python (recorded), and on a GPU of launches (captured).

A network of transformers spends as much time in Python as in torch: modules call modules, options are looked
up, masks are chosen. For one token after others, all of this has the same result each time. So one step is
recorded as a `torch.fx` graph of its calls of torch, and the graph runs from then on. It is used only if it
agrees with the network on another token at another position.

On a GPU, launching hundreds of kernels one by one takes longer than running them. So the step is captured as
a CUDA graph, which is launched at once, but always reads and writes the same memory. Its token and position
are numbers on the device, and keys and values are written at that position. Attention reads a fixed part of
the cache, in which all positions not yet written are masked. There is a graph for each power of two. It is
used only if it agrees with the network.

If either fails, the reason is logged and the network itself is used.
"""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import getitem
from typing import Any, TypeAlias

import torch
from torch import Tensor, fx
from torch.fx.node import map_aggregate
from torch.overrides import TorchFunctionMode, handle_torch_function
from transformers import PreTrainedModel
from transformers.cache_utils import Cache, DynamicLayer

from fimlsp.models.networks.torch.kv_cache import KVCache, PreallocatedLayer

Step = Callable[[int, int], Tensor]
Arguments: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]

# These turn computed values into Python numbers, so that the next calls may differ from step to step.
READING = frozenset(
    {"item", "tolist", "numpy", "equal", "allclose", "__bool__", "__int__", "__float__", "__index__"}
)

log = logging.getLogger(__name__)


class CannotRecordError(Exception):
    """The calls of a step depend on computed values."""


@torch.inference_mode()
def recorded_step(network: PreTrainedModel, kv_cache: KVCache) -> Step | None:
    """A function from a token and its position to scores [vocabulary]; None if a step cannot be recorded.

    The function appends to the text in *kv_cache*. Recording costs three steps of the network; *kv_cache*
    must be empty, and is empty afterwards.
    """
    if not kv_cache.is_preallocated:
        return None
    try:
        return record_checked(network, kv_cache)
    except CannotRecordError as reason:
        log.info("a decoding step is not recorded: %s; decoding is slower", reason)
        return None
    except Exception:  # torch and transformers raise anything while recording; the network can still be used
        log.warning("a decoding step cannot be recorded; decoding is slower", exc_info=True)
        return None
    finally:
        kv_cache.clear()


def record_checked(network: PreTrainedModel, kv_cache: KVCache) -> Step:
    """Record a step.

    Raises:
        CannotRecordError: its calls depend on computed values, or it does not agree with *network*.
    """

    def given(number: int) -> Tensor:
        """A number on the network's device, created there to avoid waiting for a copy."""
        return torch.full((1, 1), number, device=network.device)

    first, second = given(0), given(1)
    recorder = Recorder((second, first))
    with recorder:
        scores = scores_of(network, WatchedKeys(kv_cache), second, first)
    run = recorder.finished(scores)

    def step(token: int, position: int) -> Tensor:
        return run(given(token), given(position))

    recorded = step(0, 1)
    kv_cache.keep(1)
    expected = scores_of(network, kv_cache.cache, first, second)
    if not torch.allclose(recorded, expected, rtol=1e-4, atol=1e-5):
        raise CannotRecordError("the recording and the network give different scores")
    return step


def scores_of(
    network: PreTrainedModel, cache: Cache, ids: Tensor, positions: Tensor, mask: Tensor | None = None
) -> Tensor:
    """Scores [vocabulary] of the next token, from the network itself."""
    output = network(
        input_ids=ids,
        position_ids=positions,
        attention_mask=mask,
        past_key_values=cache,
        use_cache=True,
        logits_to_keep=1,
    )
    scores: Tensor = output.logits[0, -1]
    return scores


class WatchedKeys(Cache):
    """The cache of *kv_cache*, in which a recorder sees each layer's update as one call."""

    def __init__(self, kv_cache: KVCache) -> None:
        super().__init__(layers=kv_cache.cache.layers)
        self._writes = [_write_into(kv_cache, n) for n in range(len(self.layers))]

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *_: object, **__: object
    ) -> tuple[Tensor, Tensor]:
        """Write new positions after those in use; views of all in use."""
        both = (key_states, value_states)
        updated: tuple[Tensor, Tensor] = handle_torch_function(self._writes[layer_idx], both, *both)
        return updated


def _write_into(kv_cache: KVCache, layer: int) -> Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """A function that writes into a layer of the cache that *kv_cache* has when it is called."""

    def write(keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        return kv_cache.cache.update(keys, values, layer)

    return write


class Recorder(TorchFunctionMode):
    """Records the calls that depend on *inputs*; results of all others are constants."""

    def __init__(self, inputs: Sequence[Tensor]) -> None:
        super().__init__()
        self._graph = fx.Graph()
        self._nodes = {id(tensor): self._graph.placeholder(f"input_{n}") for n, tensor in enumerate(inputs)}
        self._last_input = list(self._nodes.values())[-1]
        self._alive = list[object](inputs)  # so that no new object gets the id of a known one
        self._constants = dict[int, tuple[Tensor, fx.Node]]()

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: object,
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        """Call *func*, and record the call."""
        arguments = (args, dict(kwargs or {}))
        result = func(*arguments[0], **arguments[1])
        if self._depends_on_inputs(arguments):
            self._write(func, arguments, result)
        return result

    def finished(self, result: Tensor) -> Callable[[Tensor, Tensor], Tensor]:
        """A function that computes *result* for other inputs."""
        self._graph.output(self._node_of(result))
        run: Callable[..., Tensor] = fx.GraphModule(torch.nn.Module(), self._graph).forward
        constants = [tensor for tensor, _ in reversed(self._constants.values())]
        return lambda *inputs: run(*inputs, *constants)

    def _depends_on_inputs(self, arguments: Arguments) -> bool:
        are_known = list[bool]()
        map_aggregate(arguments, lambda value: are_known.append(id(value) in self._nodes))
        return any(are_known)

    def _write(self, func: Callable[..., object], arguments: Arguments, result: object) -> None:
        """Add a call of *func*, unless it returned one of its arguments or nothing but a shape."""
        name = func.__name__.partition(".")[0]
        if name in READING:
            raise CannotRecordError(f"the network calls {name}, which reads a computed value")
        is_argument = any(result is argument for argument in arguments[0])
        is_in_place = result is None or (is_argument and name.endswith("_"))
        if is_in_place or (_tensors(result) and not is_argument):
            self._name(result, self._graph.call_function(func, *map_aggregate(arguments, self._in_graph)))

    def _name(self, result: object, node: fx.Node) -> None:
        """Remember that *node* computes *result*."""
        self._alive.append(result)
        if isinstance(result, Tensor):
            self._nodes[id(result)] = node
            return
        for n, tensor in enumerate(_tensors(result)):
            self._nodes[id(tensor)] = self._graph.call_function(getitem, (node, n))

    def _in_graph(self, value: Any) -> Any:  # noqa: ANN401 - arguments of any type
        return self._node_of(value) if isinstance(value, Tensor) else value

    def _node_of(self, tensor: Tensor) -> fx.Node:
        if id(tensor) in self._nodes:
            return self._nodes[id(tensor)]
        if id(tensor) not in self._constants:
            with self._graph.inserting_after(self._last_input):
                node = self._graph.placeholder(f"constant_{len(self._constants)}")
            self._constants[id(tensor)] = (tensor, node)
        return self._constants[id(tensor)][1]


def _tensors(result: object) -> Sequence[Tensor]:
    """The tensors of *result*; empty if it has parts of any other kind."""
    parts = list(result) if isinstance(result, (tuple, list)) else [result]
    tensors = [part for part in parts if isinstance(part, Tensor)]
    return tensors if len(tensors) == len(parts) else []


SMALLEST = 512
TOLERANCE = 0.1

Replay = Callable[[], Tensor]


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
