"""A network of the Llama family in plain NumPy, for models of a few million parameters on a CPU.

For such a model the general libraries cost more than the arithmetic. Importing torch takes seconds, and each
of its 150 calls for a token several microseconds. Here the weights are stored ready to multiply: one matrix
for queries, keys and values, and one for gate and up. Norm weights and the attention scale are folded in.
Keys and values go into arrays that are allocated once. A test compares the logits with those of transformers'
implementation on the same folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fimlsp.models.checkpoints.eight_bits import read_tensors, stored_bits
from fimlsp.models.networks.candidates import best_candidates, n_known
from fimlsp.models.protocols import Candidates

if TYPE_CHECKING:
    from fimlsp.quotient.masks.vocabulary import Vocabulary


Array = NDArray[np.float32]

BYTES_MAX = 200_000_000
"""Bytes of the weights in half precision; larger models are faster with torch."""

CHUNK = 256
FUTURE: Array = np.triu(np.full((CHUNK, CHUNK), -np.inf, np.float32), 1)
"""Mask that hides later positions of a chunk."""


@dataclass(frozen=True, slots=True)
class LlamaShape:
    """Sizes of the network, under the names of a Llama `config.json`."""

    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    max_position_embeddings: int
    rope_theta: float = 10_000.0
    rms_norm_eps: float = 1e-6

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> LlamaShape:
        """Read the sizes from *config*.

        Raises:
            KeyError: a size is missing.
        """
        rope = config.get("rope_parameters") or {}
        heads = config["num_attention_heads"]
        return cls(
            vocab_size=config["vocab_size"],
            hidden_size=config["hidden_size"],
            intermediate_size=config["intermediate_size"],
            num_hidden_layers=config["num_hidden_layers"],
            num_attention_heads=heads,
            num_key_value_heads=config.get("num_key_value_heads") or heads,
            head_dim=config.get("head_dim") or config["hidden_size"] // heads,
            max_position_embeddings=config["max_position_embeddings"],
            rope_theta=rope.get("rope_theta") or config.get("rope_theta") or 10_000.0,
            rms_norm_eps=config["rms_norm_eps"],
        )


def is_supported(config: Mapping[str, Any], weights: Sequence[Path]) -> bool:
    """True if this module computes a checkpoint with *config* and these *weights* exactly, and fast."""
    return (
        config.get("model_type") == "llama"
        and config.get("hidden_act") == "silu"
        and not (config.get("attention_bias") or config.get("mlp_bias") or config.get("rope_scaling"))
        and (config.get("rope_parameters") or {}).get("rope_type", "default") == "default"
        and (config.get("dtype") or config.get("torch_dtype")) in ("float16", "float32")
        and sum(path.stat().st_size for path in weights) * 16 <= BYTES_MAX * stored_bits(config)
    )


@dataclass(frozen=True, slots=True)
class Layer:
    """Weights of one block, each [inputs, outputs]."""

    queries_keys_values: Array
    output: Array
    gate_up: Array
    down: Array


class NumpyLlama:
    """`NextToken` over the weights of a checkpoint; reads one text at a time."""

    def __init__(
        self,
        shape: LlamaShape,
        weights: Mapping[str, NDArray[Any]],
        token_bytes: Sequence[bytes | None],
        stops: frozenset[int],
    ) -> None:
        self.token_bytes = token_bytes
        self.stops = stops
        self._shape = shape
        self._embedding = _float(weights["model.embed_tokens.weight"])
        head = _float(weights["lm_head.weight"]) if "lm_head.weight" in weights else self._embedding
        self._head: Array = np.ascontiguousarray(
            (head * _float(weights["model.norm.weight"]))[: len(token_bytes)].T
        )
        self._layers = [_layer(weights, f"model.layers.{n}.", shape) for n in range(shape.num_hidden_layers)]
        self._cosine, self._sine = _rotation(shape)
        cached = (
            shape.num_hidden_layers,
            shape.num_key_value_heads,
            shape.max_position_embeddings,
            shape.head_dim,
        )
        self._keys: Array = np.zeros(cached, np.float32)
        self._values: Array = np.zeros(cached, np.float32)
        self._read = list[int]()
        self._scores: Array = np.zeros(0, np.float32)

    @cached_property
    def mask_vocabulary(self) -> Vocabulary:
        """See `fimlsp.models.protocols.Maskable`."""
        from fimlsp.quotient.masks.vocabulary import Vocabulary

        return Vocabulary(self.token_bytes, self.stops)

    @classmethod
    def load(
        cls,
        config: Mapping[str, Any],
        weights: Sequence[Path],
        token_bytes: Sequence[bytes | None],
        stops: frozenset[int],
        context: int,
    ) -> NumpyLlama:
        """Read the *weights* files of a supported checkpoint, for texts of up to *context* tokens.

        Raises:
            KeyError: a size or a weight is missing.
        """
        tensors = read_tensors(weights)
        if "lm_head.weight" not in tensors and not config.get("tie_word_embeddings"):
            raise KeyError("lm_head.weight is missing")
        shape = replace(LlamaShape.from_config(config), max_position_embeddings=context)
        return cls(shape, tensors, token_bytes, stops)

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
        return best_candidates(self._scores, self.stops, len(self._scores))

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
        """Scores [vocabulary] after *tokens* (at most 256), read after the text read so far."""
        past, n = len(self._read), len(tokens)
        if past + n > self._shape.max_position_embeddings:
            raise ValueError(
                f"{past} tokens were read and {n} more do not fit into a context of "
                f"{self._shape.max_position_embeddings}"
            )
        turn = self._cosine[past : past + n], self._sine[past : past + n]
        x: Array = self._embedding[np.asarray(tokens)]
        for number, layer in enumerate(self._layers):
            x = (
                x
                + self._attend(self._normal(x) @ layer.queries_keys_values, number, past, turn) @ layer.output
            )
            gate, up = np.split(self._normal(x) @ layer.gate_up, 2, axis=-1)
            x = x + _gated(gate, up) @ layer.down
        scores: Array = (self._normal(x[-1:]) @ self._head)[0]
        self._read.extend(tokens)  # only now are keys and values of all layers written
        self._scores = scores
        return scores

    def _normal(self, x: Array) -> Array:
        """*x* [positions, hidden] scaled to a root mean square of 1 per position."""
        scaled: Array = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + self._shape.rms_norm_eps)
        return scaled

    def _attend(self, projected: Array, number: int, past: int, turn: tuple[Array, Array]) -> Array:
        """Mixed values [positions, heads * head_dim] from the *projected* new positions."""
        shape, n = self._shape, len(projected)
        heads, groups = shape.num_attention_heads, shape.num_key_value_heads
        parts = projected.reshape(n, heads + 2 * groups, shape.head_dim).transpose(1, 0, 2)
        turned = rotate(parts[: heads + groups], turn)
        keys, values = self._keys[number, :, : past + n], self._values[number, :, : past + n]
        keys[:, past:], values[:, past:] = turned[heads:], parts[heads + groups :]
        queries = turned[:heads].reshape(groups, -1, shape.head_dim)
        scores = queries @ keys.transpose(0, 2, 1)
        if n > 1:
            scores.reshape(heads, n, past + n)[:, :, past:] += FUTURE[:n, :n]
        scores -= scores.max(axis=-1, keepdims=True)
        weight = np.exp(scores, out=scores)
        mixed: Array = (weight @ values) / weight.sum(axis=-1, keepdims=True)
        return mixed.reshape(heads, n, shape.head_dim).transpose(1, 0, 2).reshape(n, -1)


def _gated(gate: Array, up: Array) -> Array:
    """SwiGLU (Shazeer 2020): *up* times the sigmoid-weighted *gate*; one array, as new memory is slow."""
    swish = np.negative(gate)
    np.exp(swish, out=swish)
    swish += 1
    np.divide(gate, swish, out=swish)
    swish *= up
    return swish


def _layer(weights: Mapping[str, NDArray[Any]], prefix: str, shape: LlamaShape) -> Layer:
    def matrix(name: str) -> Array:
        return _float(weights[f"{prefix}{name}.weight"])

    queries = matrix("self_attn.q_proj") / np.float32(shape.head_dim**0.5)
    attention = np.concatenate([queries, matrix("self_attn.k_proj"), matrix("self_attn.v_proj")])
    gate_up = np.concatenate([matrix("mlp.gate_proj"), matrix("mlp.up_proj")])
    return Layer(
        queries_keys_values=np.ascontiguousarray((attention * matrix("input_layernorm")).T),
        output=np.ascontiguousarray(matrix("self_attn.o_proj").T),
        gate_up=np.ascontiguousarray((gate_up * matrix("post_attention_layernorm")).T),
        down=np.ascontiguousarray(matrix("mlp.down_proj").T),
    )


def _float(weight: NDArray[Any]) -> Array:
    return weight.astype(np.float32)


def _rotation(shape: LlamaShape) -> tuple[Array, Array]:
    """Cosines and sines of all positions, each [positions, head_dim]."""
    frequency = shape.rope_theta ** (-np.arange(0, shape.head_dim, 2) / shape.head_dim)
    angle = np.tile(np.outer(np.arange(shape.max_position_embeddings), frequency), 2)
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)


def rotate(x: Array, turn: tuple[Array, Array]) -> Array:
    """Rotate the halves of each head of *x* [heads, positions, head_dim] by the angles of its position."""
    first, second = np.split(x, 2, axis=-1)
    return x * turn[0] + np.concatenate((-second, first), axis=-1) * turn[1]
