"""A small network of the Llama family in ONNX Runtime, on the CPU: its graph, and the network that runs it.

For such a model torch costs more than the arithmetic: its import takes seconds and a fifth of a gigabyte.
Here one call of the runtime reads the new tokens of a text, with the weights as they are stored. Keys and
values stand in arrays that are allocated once. Tests compare the logits with those of transformers'
implementation on the same folder.

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

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # else its import stores an id and connects
import onnxruntime
from onnx import NodeProto, TensorProto, helper, numpy_helper

from fimlsp.models.checkpoints.eight_bits import SCALE
from fimlsp.models.networks.llama_shape import LlamaShape
from fimlsp.models.protocols import Candidates, best_candidates, n_known

if TYPE_CHECKING:
    from fimlsp.quotient.masks.vocabulary import Vocabulary

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


CHUNK = 256
"""Tokens that are read at once; attention needs memory for this many rows."""

ERRORS_ONLY = 3


class OnnxLlama:
    """`NextToken` over the weights of a checkpoint; reads one text at a time."""

    def __init__(
        self,
        shape: LlamaShape,
        weights: Weights,
        token_bytes: Sequence[bytes | None],
        stops: frozenset[int],
        threads: int,
    ) -> None:
        self.token_bytes = token_bytes
        self.stops = stops
        self._context = shape.max_position_embeddings
        self._session = session_of(llama_graph(shape, weights, len(token_bytes)), threads, sums_are_exact())
        self._step = self._session.io_binding()
        names = cache_names(shape.num_hidden_layers)
        self._cache: Array = np.zeros((len(names), *cache_shape(shape)), np.float32)
        for (past, new), part in zip(names, self._cache, strict=True):
            memory = onnxruntime.OrtValue.ortvalue_from_numpy(part)
            self._step.bind_ortvalue_input(past, memory)
            self._step.bind_ortvalue_output(new, memory)
        self._logits: Array = np.zeros(len(token_bytes), np.float32)
        memory = onnxruntime.OrtValue.ortvalue_from_numpy(self._logits)
        self._step.bind_ortvalue_output("logits", memory)
        self._read = list[int]()

    @cached_property
    def mask_vocabulary(self) -> Vocabulary:
        """See `fimlsp.models.protocols.Maskable`."""
        from fimlsp.quotient.masks.vocabulary import Vocabulary

        return Vocabulary(self.token_bytes, self.stops)

    @classmethod
    def load(
        cls,
        config: Mapping[str, Any],
        weights: Weights,
        token_bytes: Sequence[bytes | None],
        stops: frozenset[int],
        context: int,
        threads: int,
    ) -> OnnxLlama:
        """The network with the *weights* of a supported checkpoint, for texts of up to *context* tokens.

        Those of 8 bits are used as they are. Calls compute on *threads* threads.

        Raises:
            KeyError: a size or a weight is missing.
        """
        if HEAD not in weights and not config.get("tie_word_embeddings"):
            raise KeyError(f"{HEAD} is missing")
        shape = replace(LlamaShape.from_config(config), max_position_embeddings=context)
        return cls(shape, weights, token_bytes, stops, threads)

    def begin(self, tokens: Sequence[int], written: Sequence[int] = ()) -> Candidates:
        """Read a prompt and the tokens *written* after it; their common prefix with the last text is reused.

        Raises:
            ValueError: the text is longer than the context.
        """
        return best_candidates(self._logits_after([*tokens, *written]), self.stops)

    def log_probabilities(self, tokens: Sequence[int]) -> Array:
        """See `fimlsp.models.protocols.Scoring`."""
        logits = self._logits_after(tokens)
        logits = logits - logits.max()
        scores: Array = logits - np.log(np.exp(logits).sum())
        return scores

    def more_after(
        self, tokens: Sequence[int], written: Sequence[int], _most: int | None = None
    ) -> Candidates | None:
        """See `fimlsp.models.protocols.ListsMore`: all; None if another text was read last."""
        if self._read != [*tokens, *written]:
            return None
        return best_candidates(self._logits, self.stops, len(self._logits))

    def _logits_after(self, text: Sequence[int]) -> Array:
        known = n_known(self._read, text)
        del self._read[known:]
        for start in range(known, len(text), CHUNK):
            logits = self.logits(text[start : start + CHUNK])
        return logits

    def advance(self, token: int) -> Candidates:
        """Read one more token.

        Raises:
            ValueError: the context is full.
        """
        return best_candidates(self.logits([token]), self.stops)

    def logits(self, tokens: Sequence[int]) -> Array:
        """Logits [vocabulary] after *tokens* (at most 256), read after the text read so far."""
        total = len(self._read) + len(tokens)
        if total > self._context:
            raise ValueError(
                f"{len(self._read)} tokens were read and {len(tokens)} more do not fit into a context of "
                f"{self._context}"
            )
        self._step.bind_cpu_input("tokens", np.array([tokens], np.int64))
        self._step.bind_cpu_input("last", np.array([total - 1], np.int32))
        self._step.bind_cpu_input("total", np.array(total, np.int32))
        self._session.run_with_iobinding(self._step)
        self._read.extend(tokens)  # only now are keys and values of all layers written
        return self._logits.copy()


@cache
def sums_are_exact() -> bool:
    """True if sums of products in 8 bits are exact on this processor.

    Without instructions such as AVX-512 VNNI, x86 adds pairs of products in 16 bits, which may overflow.
    """
    session = session_of(largest_sum_graph(), 1, is_exact=True)
    (total,) = session.run(["sum"], {"inputs": np.ones((1, PROBED), np.float32)})
    return bool(np.isclose(total, PROBED * LARGEST_LEVEL).all())


def session_of(graph: bytes, threads: int, is_exact: bool) -> onnxruntime.InferenceSession:
    """A session whose idle threads sleep; *is_exact* if the fastest products need not be avoided."""
    onnxruntime.disable_telemetry_events()  # older builds for Windows know no variable
    options = onnxruntime.SessionOptions()
    options.log_severity_level = ERRORS_ONLY
    options.intra_op_num_threads = threads
    # The arena takes 40 MB for the first long text, and keeps them. glibc lends freed memory to others too.
    options.enable_cpu_mem_arena = sys.platform != "linux"
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.x64quantprecision", "0" if is_exact else "1")
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
