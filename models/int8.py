"""Weights of 8 bits on the CPU, for any network of transformers.

A token that is decoded reads every weight once, so on a CPU a quarter of the bytes means about a third of the
time. Each output channel of a linear layer has a scale of its own, and so has each token that goes in
(symmetric, as in LLM.int8(), Dettmers et al. 2022, section 2.1): what a token becomes does not depend on what
is computed along with it. oneDNN, which comes with torch, multiplies; it wants inputs without a sign, hence
the zero at 128.
"""

from __future__ import annotations

from math import inf

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

LARGEST = 127
ZERO = 128
ROUNDED_ZERO = torch.tensor(ZERO + 0.5)
SMALLEST_SCALE = 1e-8


def quantise(network: nn.Module) -> None:
    """Replace the linear layers of *network*, one by one; what is left of it becomes `float32`.

    Needs no more memory than the network has before, and one layer.
    """
    for parent in list(network.modules()):
        for name, layer in list(parent.named_children()):
            if isinstance(layer, nn.Linear):
                setattr(parent, name, Int8Linear(layer.weight, layer.bias))
            elif isinstance(layer, Conv1D):
                setattr(parent, name, Int8Linear(layer.weight.t(), layer.bias))
    network.float()


class Int8Linear(nn.Module):
    """Inputs [..., inputs] times *weight* [outputs, inputs], plus *bias* [outputs]; all in `float32`."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        with torch.no_grad():
            weight = weight.detach().float().contiguous()
            scale = weight.abs().amax(1).clamp_min_(SMALLEST_SCALE) / LARGEST
            rounded = (weight / scale[:, None]).round_().to(torch.int8)
            self._bias = torch.zeros_like(scale) if bias is None else bias.detach().float()
            self._scale = scale / LARGEST
            self._zeros = torch.zeros(len(scale), dtype=torch.int64)
            self._packed = torch.ops.onednn.qlinear_prepack(rounded, None)

    def forward(self, inputs: Tensor) -> Tensor:
        """The product; inputs are rounded to 255 steps, each token by its largest."""
        rows = inputs.reshape(-1, inputs.shape[-1])
        scale = torch.linalg.vector_norm(rows, inf, -1, keepdim=True).clamp_min_(SMALLEST_SCALE)
        rounded = torch.add(ROUNDED_ZERO, rows / scale, alpha=LARGEST).to(torch.uint8)
        product = torch.ops.onednn.qlinear_pointwise(
            rounded, 1.0, ZERO, self._packed, self._scale, self._zeros, None,
            1.0, 0, torch.float32, "none", [], "",
        )  # fmt: skip
        return torch.addcmul(self._bias, product, scale).view(*inputs.shape[:-1], -1)
