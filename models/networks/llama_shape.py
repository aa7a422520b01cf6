"""The sizes of a network of the Llama family, and the checkpoints that `onnx_llama.py` computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fimlsp.models.checkpoints.eight_bits import stored_bits

BYTES_MAX = 200_000_000
"""Bytes of the weights in half precision; larger models are faster with torch."""

HEAD_DIM_STEP = 16
"""The kernel for attention rotates this many numbers of a head at a time."""


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
    """True if `onnx_llama.py` computes a checkpoint with *config* and these *weights* faster than torch."""
    return (
        config.get("model_type") == "llama"
        and config.get("hidden_act") == "silu"
        and not (config.get("attention_bias") or config.get("mlp_bias") or config.get("rope_scaling"))
        and (config.get("rope_parameters") or {}).get("rope_type", "default") == "default"
        and (config.get("dtype") or config.get("torch_dtype")) in ("float16", "float32")
        and LlamaShape.from_config(config).head_dim % HEAD_DIM_STEP == 0
        and sum(path.stat().st_size for path in weights) * 16 <= BYTES_MAX * stored_bits(config)
    )
