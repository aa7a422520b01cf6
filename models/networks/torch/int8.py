"""Weights of 8 bits on the CPU, for any network of transformers.

Decoding a token reads every weight once, so on a CPU a quarter of the bytes means about a quarter of the
time. Each output channel of a linear layer has its own scale, and so has each input token, as in LLM.int8()
(Dettmers et al. 2022, section 2.1). So the result for a token does not depend on the tokens beside it.

The products are computed by the CPU libraries that torch includes: FBGEMM or oneDNN. Weights are whole
numbers from -127 to 127, [outputs, inputs].
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from math import inf
from typing import Any

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

LARGEST = 127
LARGEST_IN_PAIRS = 64
LEVELS = 255
MIDDLE = 128
SMALLEST_SCALE = 1e-8
SMALLEST_STEP = 1e-10
_PROBED = 64
ENLARGED = float(1 << 20)
"""Factor on a single row: FBGEMM has no steps below 6e-5, which is too wide for the inputs of some layers."""


def quantise(network: nn.Module) -> None:
    """Replace the linear layers of *network* one by one; all its other weights become `float32`.

    Needs memory for one layer beyond that of the network.
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
            self._scale = weight.abs().amax(1).clamp_min_(SMALLEST_SCALE) / largest_weight()
            self._bias = torch.zeros_like(self._scale) if bias is None else bias.detach().float()
            self.product = product_with((weight / self._scale[:, None]).round_().to(torch.int8))

    def forward(self, inputs: Tensor) -> Tensor:
        """The product; the inputs of each token are rounded to 256 levels of their own."""
        product = self.product(inputs.reshape(-1, inputs.shape[-1]))
        return torch.addcmul(self._bias, product, self._scale).view(*inputs.shape[:-1], -1)


def product_with(weights: Tensor) -> Callable[[Tensor], Tensor]:
    """The fastest function here that multiplies rows [rows, inputs] with *weights* (`int8`)."""
    return FbgemmProduct(weights) if has_fbgemm() else OneDnnProduct(weights)


@cache
def largest_weight() -> int:
    """The largest weight with which products are exact on this processor.

    Without instructions such as AVX-512 VNNI, x86 adds pairs of products in 16 bits. Two inputs of the
    greatest level with weights above 64 overflow these without a sign of it.
    """
    weights = torch.full((1, _PROBED), LARGEST, dtype=torch.int8)
    product = product_with(weights)(torch.ones((1, _PROBED)))
    exact = product.isclose(torch.tensor(float(LARGEST * _PROBED)), rtol=0.02)
    return LARGEST if bool(exact) else LARGEST_IN_PAIRS


@cache
def has_fbgemm() -> bool:
    """True if torch offers FBGEMM for plain tensors on this processor.

    Its functions warn, once in a process, that torch will drop them; oneDNN takes twice the time.
    """
    one = torch.ones((1, 1))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return bool(FbgemmProduct(one.to(torch.int8))(one).isclose(one))
    except (AttributeError, RuntimeError):
        return False


class FbgemmProduct:
    """Products by FBGEMM, which rounds a whole input to 256 levels between its least and greatest number."""

    def __init__(self, weights: Tensor) -> None:
        self._shape = weights.new_empty(()).expand(weights.shape)  # FBGEMM reads nothing else of it
        self._packed = torch.fbgemm_pack_quantized_matrix(weights)
        self._sums = weights.sum(1, dtype=torch.int32)
        self._zeros = torch.zeros(len(weights))

    def __call__(self, rows: Tensor) -> Tensor:
        """The products, [rows, outputs]."""
        if len(rows) == 1:
            return self._multiplied(rows * ENLARGED, 1 / ENLARGED)
        return self._on_own_levels(rows)

    def _on_own_levels(self, rows: Tensor) -> Tensor:
        """Several rows, each on its own levels as if alone; one more row spans the outermost levels."""
        least, greatest = rows.amin(1, keepdim=True).clamp_max_(0), rows.amax(1, keepdim=True).clamp_min_(0)
        step = (greatest - least).div_(LEVELS).clamp_min_(SMALLEST_STEP)
        zero = (-least / step).round_()
        levels = rows.new_zeros((len(rows) + 1, rows.shape[1]))
        levels[-1, 0] = LEVELS
        torch.addcdiv(zero, rows, step, out=levels[:-1]).clamp_(0, LEVELS)
        return torch.addcmul(self._multiplied(levels, 1.0)[:-1], zero, self._sums, value=-1).mul_(step)

    def _multiplied(self, rows: Tensor, scale: float) -> Tensor:
        multiply: Any = torch.fbgemm_linear_int8_weight_fp32_activation
        product: Tensor = multiply(rows, self._shape, self._packed, self._sums, scale, 0, self._zeros)
        return product


class OneDnnProduct:
    """Products by oneDNN, which takes unsigned levels; those of a row are symmetric around its zero."""

    def __init__(self, weights: Tensor) -> None:
        self._packed = torch.ops.onednn.qlinear_prepack(weights, None)
        self._scales = torch.ones(len(weights))
        self._zeros = torch.zeros(len(weights), dtype=torch.int64)

    def __call__(self, rows: Tensor) -> Tensor:
        """The products, [rows, outputs]."""
        largest = torch.linalg.vector_norm(rows, inf, -1, keepdim=True)
        step = largest.div_(LEVELS - MIDDLE).clamp_min_(SMALLEST_STEP)
        levels = (rows / step).add_(MIDDLE + 0.5).to(torch.uint8)
        product: Tensor = torch.ops.onednn.qlinear_pointwise(
            levels, 1.0, MIDDLE, self._packed, self._scales, self._zeros, None,
            1.0, 0, torch.float32, "none", [], "",
        )  # fmt: skip
        return product.mul_(step)
