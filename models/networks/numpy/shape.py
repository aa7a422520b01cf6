"""Sizes of a network of the Llama family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Shape:
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
    def from_config(cls, config: Mapping[str, Any]) -> Shape:
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
