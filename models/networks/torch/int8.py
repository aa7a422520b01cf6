"""Weights of 8 bits on the CPU, for any network of transformers.

Decoding a token reads every weight once, so on a CPU a quarter of the bytes means about a quarter of the
time. Each output channel of a linear layer has its own scale, and so has each input token, as in LLM.int8()
(Dettmers et al. 2022, section 2.1): the result for a token does not depend on the tokens beside it.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from fimlsp.models.networks.torch.integer_products import largest_weight, product_with

SMALLEST_SCALE = 1e-8


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
