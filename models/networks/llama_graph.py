"""A network of the Llama family as an ONNX graph, with the kernels of ONNX Runtime for attention and 8 bits.

A matrix that is stored in 8 bits is multiplied in 8 bits (LLM.int8(), Dettmers et al. 2022, section 2.1,
without its outliers). Each row of inputs is rounded to 255 levels around zero. Its products are added as
whole numbers, and the two scales are applied afterwards. A row has its own levels, so they do not depend on
the tokens beside it. All other matrices are multiplied in 32 bits.

| input | shape | meaning |
|---|---|---|
| `tokens` | [1, n] | the new tokens |
| `last` | [1] | the number of all tokens less one |
| `total` | | the number of all tokens |
| `past_keys.L`, `past_values.L` | [1, heads, context, numbers of a head] | for each layer L |

Outputs are `logits` [vocabulary] after the last token, and `keys.L` and `values.L`, in the inputs' memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

from fimlsp.models.checkpoints.eight_bits import SCALE
from fimlsp.models.networks.llama_shape import LlamaShape

OPSET = 21
IR_VERSION = 10
OF_RUNTIME = "com.microsoft"
LARGEST_LEVEL = 127
MIDDLE = 128
SMALLEST_STEP = 1e-10
EMBEDDING = "model.embed_tokens.weight"
HEAD = "lm_head.weight"

PROBED = 64

Array = NDArray[Any]
Value = tuple[str, int, tuple[int | str, ...]]
Weights = Mapping[str, Array]


def llama_graph(shape: LlamaShape, weights: Weights, n_tokens: int) -> bytes:
    """The serialised graph with its *weights* (as stored, see `eight_bits.py`) for *n_tokens* tokens.

    Raises:
        KeyError: a weight is missing.
    """
    graph = _Graph(weights)
    residual = graph.embedded("tokens")
    normalised = graph.add(
        "SimplifiedLayerNormalization",
        [residual, graph.vector("model.layers.0.input_layernorm")],
        axis=-1,
        epsilon=shape.rms_norm_eps,
    )
    turns = _rotation(graph, shape)
    for layer in range(shape.num_hidden_layers):
        mixed = _attention(graph, shape, layer, normalised, turns)
        before = f"model.layers.{layer}.post_attention_layernorm"
        normalised, residual = graph.add_and_normalise(residual, mixed, before, shape.rms_norm_eps)
        gated = _gated(graph, layer, normalised)
        is_last = layer + 1 == shape.num_hidden_layers
        before = "model.norm" if is_last else f"model.layers.{layer + 1}.input_layernorm"
        normalised, residual = graph.add_and_normalise(residual, gated, before, shape.rms_norm_eps)
    last = graph.add("Gather", [normalised, graph.constant(np.array([-1]))], axis=1)
    head = HEAD if HEAD in weights else EMBEDDING
    graph.add("Squeeze", [graph.product(last, [head], n_tokens)], output="logits")
    names, cached = cache_names(shape.num_hidden_layers), cache_shape(shape)
    inputs: list[Value] = [
        ("tokens", TensorProto.INT64, (1, "n")),
        ("last", TensorProto.INT32, (1,)),
        ("total", TensorProto.INT32, ()),
        *((past, TensorProto.FLOAT, cached) for past, _ in names),
    ]
    logits: Value = ("logits", TensorProto.FLOAT, (n_tokens,))
    return graph.serialised(inputs, [logits, *((new, TensorProto.FLOAT, cached) for _, new in names)])


def largest_sum_graph() -> bytes:
    """A graph from `inputs` [1, 64] to `sum` [1, 1] that adds the largest products in 8 bits."""
    largest = np.full((1, PROBED), LARGEST_LEVEL, np.int8)
    graph = _Graph({"m": largest, "m" + SCALE: np.ones(1, np.float32)})
    graph.add("Identity", [graph.product("inputs", ["m"])], output="sum")
    number = TensorProto.FLOAT
    return graph.serialised([("inputs", number, (1, PROBED))], [("sum", number, (1, 1))])


def cache_names(layers: int) -> list[tuple[str, str]]:
    """The names of the graph's inputs and outputs for the keys and values of all layers."""
    return [(f"past_{kind}.{n}", f"{kind}.{n}") for n in range(layers) for kind in ("keys", "values")]


def cache_shape(shape: LlamaShape) -> tuple[int, int, int, int]:
    """The shape of the keys of a layer, and of its values."""
    return 1, shape.num_key_value_heads, shape.max_position_embeddings, shape.head_dim


class _Graph:
    """Nodes and constants in the order in which they were added; results are named by number."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []
        self._one = self.constant(np.float32(1))
        self._level = self.constant(np.float32(1 / LARGEST_LEVEL))
        self._smallest = self.constant(np.float32(SMALLEST_STEP))
        self._middle = self.constant(np.uint8(MIDDLE))
        self._last_axis = self.constant(np.array([-1]))

    def constant(self, value: Array | np.generic) -> str:
        """The name of a new constant."""
        name = f"constant{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def add(self, kind: str, inputs: list[str], domain: str = "", output: str = "", **attributes: Any) -> str:
        """The name of the result of a new node with one result."""
        return self.add_many(kind, inputs, [output or f"result{len(self._nodes)}"], domain, **attributes)[0]

    def add_many(
        self, kind: str, inputs: list[str], outputs: list[str], domain: str = "", **attributes: Any
    ) -> list[str]:
        """*outputs*, the names of the results of a new node."""
        self._nodes.append(helper.make_node(kind, inputs, outputs, domain=domain, **attributes))
        return outputs

    def vector(self, name: str) -> str:
        """The name of the constant with the weights *name* of a norm."""
        return self.constant(self._weights[f"{name}.weight"].astype(np.float32))

    def embedded(self, tokens: str) -> str:
        """The rows of the embedding for *tokens*."""
        rows = self.add("Gather", [self.constant(self._weights[EMBEDDING]), tokens])
        numbers = self.add("Cast", [rows], to=TensorProto.FLOAT)
        if EMBEDDING + SCALE not in self._weights:
            return numbers
        scales = self.constant(self._weights[EMBEDDING + SCALE][:, None])
        return self.add("Mul", [numbers, self.add("Gather", [scales, tokens])])

    def add_and_normalise(self, residual: str, change: str, norm: str, epsilon: float) -> list[str]:
        """The sum of *residual* and *change*: normalised with the weights of *norm*, and as it is."""
        normalised, total = f"normalised{len(self._nodes)}", f"residual{len(self._nodes)}"
        self.add_many(
            "SkipSimplifiedLayerNormalization",
            [residual, change, self.vector(norm)],
            [normalised, "", "", total],
            OF_RUNTIME,
            epsilon=epsilon,
        )
        return [normalised, total]

    def product(self, inputs: str, names: list[str], most: int | None = None) -> str:
        """*inputs* times the first *most* outputs of the matrices *names* side by side."""
        matrix = self.constant(np.concatenate([self._weights[name] for name in names])[:most].T)
        if names[0] + SCALE not in self._weights:
            return self.add("MatMul", [inputs, self.add("Cast", [matrix], to=TensorProto.FLOAT)])
        scales = np.concatenate([self._weights[name + SCALE] for name in names])[:most]
        largest = self.add("ReduceMax", [self.add("Abs", [inputs]), self._last_axis], keepdims=1)
        step = self.add("Max", [self.add("Mul", [largest, self._level]), self._smallest])
        levels = self.add("QuantizeLinear", [self.add("Div", [inputs, step]), self._one, self._middle])
        scaled = self.add(
            "MatMulIntegerToFloat",
            [levels, matrix, self._one, self.constant(scales), self._middle],
            OF_RUNTIME,
        )
        return self.add("Mul", [scaled, step])

    def serialised(self, inputs: Sequence[Value], outputs: Sequence[Value]) -> bytes:
        """The graph from *inputs* to *outputs*."""
        inner = helper.make_graph(
            self._nodes,
            "graph",
            [helper.make_tensor_value_info(*value) for value in inputs],
            [helper.make_tensor_value_info(*value) for value in outputs],
            self._constants,
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(OF_RUNTIME, 1)]
        model = helper.make_model(inner, opset_imports=opsets, ir_version=IR_VERSION)
        serialised: bytes = model.SerializeToString()
        return serialised


def _attention(graph: _Graph, shape: LlamaShape, layer: int, inputs: str, turns: list[str]) -> str:
    """The mixed values of a layer, multiplied by its output matrix."""
    names = [f"model.layers.{layer}.self_attn.{part}_proj.weight" for part in "qkv"]
    projected = graph.product(inputs, names)
    past = [f"past_keys.{layer}", f"past_values.{layer}"]
    mixed, *_ = graph.add_many(
        "GroupQueryAttention",
        [projected, "", "", *past, "last", "total", *turns],
        [f"mixed.{layer}", f"keys.{layer}", f"values.{layer}"],
        OF_RUNTIME,
        num_heads=shape.num_attention_heads,
        kv_num_heads=shape.num_key_value_heads,
        do_rotary=1,
    )
    return graph.product(mixed, [f"model.layers.{layer}.self_attn.o_proj.weight"])


def _gated(graph: _Graph, layer: int, inputs: str) -> str:
    """SwiGLU (Shazeer 2020): the sigmoid-weighted gate times the other half, and its output matrix."""
    names = [f"model.layers.{layer}.mlp.{part}_proj.weight" for part in ("gate", "up")]
    both = graph.product(inputs, names)
    gate, up = graph.add_many("Split", [both], [f"gate.{layer}", f"up.{layer}"], axis=-1, num_outputs=2)
    swish = graph.add("QuickGelu", [gate], OF_RUNTIME, alpha=1.0)
    return graph.product(graph.add("Mul", [swish, up]), [f"model.layers.{layer}.mlp.down_proj.weight"])


def _rotation(graph: _Graph, shape: LlamaShape) -> list[str]:
    """The names of the cosines and sines of all positions, each [positions, half a head]."""
    frequency = shape.rope_theta ** (-np.arange(0, shape.head_dim, 2) / shape.head_dim)
    angle = np.outer(np.arange(shape.max_position_embeddings), frequency)
    return [graph.constant(turn(angle).astype(np.float32)) for turn in (np.cos, np.sin)]
