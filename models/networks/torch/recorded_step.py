"""Traces a one-token decoding step into a graph, avoiding transformers' Python overhead.

A network of transformers spends as much time in Python as in torch: modules call modules, options are looked
up, masks are chosen. For one token after others, all of this has the same result each time. So one step is
recorded as a `torch.fx` graph of its calls of torch, and the graph runs from then on. It is used only if it
agrees with the network on another token at another position. Otherwise the reason is logged and the network
itself is used.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from operator import getitem
from typing import Any, TypeAlias

import torch
from torch import Tensor, fx
from torch.fx.node import map_aggregate
from torch.overrides import TorchFunctionMode, handle_torch_function
from transformers import PreTrainedModel
from transformers.cache_utils import Cache

from fimlsp.models.networks.torch.kv_cache import KVCache

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
