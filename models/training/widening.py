"""Doubles the width of a trained network, which then computes the same and has room to learn more.

Every hidden feature gets a twin, and so does every query head and every unit of the feed-forward layers
(HyperCloning, Samragh et al. 2024, after Net2Net, Chen et al. 2016). Noise parts the twins in learning: it is
added to the weights of a feature and taken from those of its twin, so that it cancels out at first.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from fimlsp.models.training.network import Transformer

NOISE = 0.5
"""Of the noise, in standard deviations of the matrix that it is added to."""

_ONE_HEAD = ("k_proj.weight", "v_proj.weight")
_EMBEDDING, _LAST_NORM = "model.embed_tokens.weight", "model.norm.weight"


def widened(model: Transformer) -> Transformer:
    """A network twice as wide as *model*, which has one head of keys and values, and with the same logits."""
    shape = model.shape
    wide = Transformer(
        replace(
            shape,
            hidden_size=2 * shape.hidden_size,
            intermediate_size=2 * shape.intermediate_size,
            num_attention_heads=2 * shape.num_attention_heads,
        )
    )
    noise = torch.Generator().manual_seed(0)
    wide.load_state_dict(
        {name: _twinned(name, weight.detach(), noise) for name, weight in model.state_dict().items()}
    )
    return wide


def _twinned(name: str, weight: Tensor, noise: torch.Generator) -> Tensor:
    """The weights (outputs, inputs) or (features,) of *name*, for twice as many features."""
    if name == _EMBEDDING:
        return torch.cat([weight, weight], dim=1)
    if name == _LAST_NORM:  # the output layer, which is the embedding, sums over twice as many features
        return torch.cat([weight, weight]) / 2
    if weight.ndim == 1:
        return torch.cat([weight, weight])
    outputs = weight if name.endswith(_ONE_HEAD) else torch.cat([weight, weight])
    apart = torch.randn(outputs.shape, generator=noise) * weight.std() * NOISE
    return torch.cat([outputs / 2 + apart, outputs / 2 - apart], dim=1)
