"""Multiplies rows of numbers with weights of 8 bits, by the CPU libraries that torch includes.

Weights are whole numbers from -127 to 127, [outputs, inputs]. Each row is rounded to levels of its own, so
its result does not depend on the rows beside it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from math import inf
from typing import Any

import torch
from torch import Tensor

LARGEST = 127
LARGEST_IN_PAIRS = 64
LEVELS = 255
MIDDLE = 128
SMALLEST_STEP = 1e-10
_PROBED = 64
ENLARGED = float(1 << 20)  # FBGEMM knows no steps below 6e-5, too wide for the inputs of some layers


def product_with(weights: Tensor) -> Callable[[Tensor], Tensor]:
    """The fastest function here that multiplies rows [rows, inputs] with *weights* (`int8`)."""
    return FbgemmProduct(weights) if has_fbgemm() else OneDnnProduct(weights)


@cache
def largest_weight() -> int:
    """The largest weight with which products are exact on this processor.

    Without instructions for it (AVX-512 VNNI and its like), x86 adds pairs of products in 16 bits, which
    two of the greatest level with weights above 64 overflow, unnoticed.
    """
    weights = torch.full((1, _PROBED), LARGEST, dtype=torch.int8)
    product = product_with(weights)(torch.ones((1, _PROBED)))
    exact = product.isclose(torch.tensor(float(LARGEST * _PROBED)), rtol=0.02)
    return LARGEST if bool(exact) else LARGEST_IN_PAIRS


@cache
def has_fbgemm() -> bool:
    """Whether torch offers FBGEMM for plain tensors on this processor.

    These functions warn, once in a process, that torch will drop them; oneDNN takes twice the time.
    """
    one = torch.ones((1, 1))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return bool(FbgemmProduct(one.to(torch.int8))(one).isclose(one))
    except (AttributeError, RuntimeError):
        return False


class FbgemmProduct:
    """By FBGEMM, which rounds a whole input to 256 levels between its least and its greatest number."""

    def __init__(self, weights: Tensor) -> None:
        self._shape = weights.new_empty(()).expand(weights.shape)  # FBGEMM reads nothing else of it
        self._packed = torch.fbgemm_pack_quantized_matrix(weights)
        self._sums = weights.sum(1, dtype=torch.int32)
        self._zeros = torch.zeros(len(weights))

    def __call__(self, rows: Tensor) -> Tensor:
        """The products, [rows, outputs]."""
        if len(rows) == 1:
            return self._multiplied(rows * ENLARGED, 1 / ENLARGED)
        return self._each_on_its_levels(rows)

    def _each_on_its_levels(self, rows: Tensor) -> Tensor:
        """Several rows, each on the levels it would get alone; one more row spans the outermost levels."""
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
    """By oneDNN, which takes levels without a sign; those of a row lie evenly around its zero."""

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
