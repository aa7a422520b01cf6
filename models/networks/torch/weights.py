"""Reads the weights of a checkpoint without running its code, and multiplies in 8 bits on a CPU.

Decoding a token reads every weight once, so on a CPU a quarter of the bytes means about a quarter of the
time. Each output channel of a linear layer has its own scale, and so has each input token, as in LLM.int8()
(Dettmers et al. 2022, section 2.1). So the result for a token does not depend on the tokens beside it.

The products are computed by the CPU libraries that torch includes: FBGEMM or oneDNN. Weights are whole
numbers from -127 to 127, [outputs, inputs].
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from math import inf
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForCausalLM, BitsAndBytesConfig, PreTrainedModel
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
)
from transformers.pytorch_utils import Conv1D
from transformers.utils import logging

from fimlsp.models.checkpoints.checkpoint_files import CheckpointFiles
from fimlsp.models.checkpoints.eight_bits import read_tensors, stored_bits
from fimlsp.models.errors import ModelError
from fimlsp.models.networks.torch.placement import Placement

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


OnProgress = Callable[[float], None]

IMPLEMENTATION_KEY = "_implementation"
IMPLEMENTATIONS = (None, "eager", "sdpa")
"""The implementations that transformers and torch include; others may be downloaded from the hub and run."""


def read_weights(files: CheckpointFiles, placement: Placement, on_progress: OnProgress) -> PreTrainedModel:
    """The network of *files* at its *placement*, from safetensors weights; nothing is downloaded.

    *on_progress* receives the share of the weights that is loaded, from 0 to 1.

    Raises:
        ModelError: the architecture is not one of transformers' own, or weights are missing.
    """
    _check_architecture(files)
    _check_implementations(files)
    _silence_transformers()
    network: PreTrainedModel
    read, place = _reader(files)
    with _reporting_progress(on_progress):
        network, report = read(
            **place,
            dtype="auto" if placement.is_int8 else placement.dtype,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
            **_quantisation(placement),
        )
    if missing := sorted(report["missing_keys"]):
        raise ModelError(
            f"{files.name} lacks {len(missing)} of its weights, {missing[0]} first; download it again."
        )
    if placement.is_int8:
        quantise(network)
    elif placement.bits is None:
        torch.nn.Module.to(network, placement.device)
    network.train(False)
    return network


def _reader(files: CheckpointFiles) -> tuple[Callable[..., Any], Mapping[str, Any]]:
    """The function of transformers that reads *files*, with arguments: a folder, or weights of 8 bits."""
    if stored_bits(files.config) != 8:
        read: Callable[..., Any] = AutoModelForCausalLM.from_pretrained
        return read, {"pretrained_model_name_or_path": files.folder}
    auto_config: Any = AutoConfig
    config = auto_config.from_pretrained(files.folder, local_files_only=True)
    weights = {name: torch.from_numpy(value) for name, value in read_tensors(files.weights).items()}
    network: Any = MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]
    return network.from_pretrained, {
        "pretrained_model_name_or_path": None,
        "config": config,
        "state_dict": weights,
    }


def _check_architecture(files: CheckpointFiles) -> None:
    """Raise a ModelError if transformers would load the checkpoint as another network than it is."""
    known = MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.get(files.architecture)
    declared = files.config.get("architectures")
    name = next(iter(declared), known) if isinstance(declared, list) else known
    if known is None or name != known:
        instead = "bigcode/gpt_bigcode-santacoder" if known == "GPT2LMHeadModel" else "bigcode/starcoder2-3b"
        raise ModelError(
            f"{files.name} is a {name or files.architecture}, for which it brings code of its own that is "
            f"not run here; use a model of an architecture that transformers has, such as {instead}."
        )


def _check_implementations(files: CheckpointFiles) -> None:
    """Raise a ModelError if config.json selects an implementation that would have to be downloaded."""
    for key, value in _implementations(files.config):
        if value not in IMPLEMENTATIONS:
            raise ModelError(
                f"config.json of {files.name} asks for code of its own for {key}, which is not downloaded; "
                f"remove that line."
            )


def _implementations(config: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Keys and values in *config*, and in the configurations nested in it, that select implementations."""
    pending = deque([config])
    while pending:
        for key, value in pending.popleft().items():
            if key.endswith(IMPLEMENTATION_KEY):
                yield key, value
            elif isinstance(value, Mapping):
                pending.append(value)


def _quantisation(placement: Placement) -> Mapping[str, Any]:
    """The arguments that make transformers quantise with bitsandbytes while it loads; none otherwise."""
    if placement.bits is None or placement.is_int8:
        return {}
    config = BitsAndBytesConfig(  # type: ignore[no-untyped-call]  # transformers gives it no types
        load_in_4bit=placement.bits == 4,
        load_in_8bit=placement.bits == 8,
        bnb_4bit_compute_dtype=placement.dtype,
        bnb_4bit_quant_type="nf4",
    )
    device = "cuda:0" if placement.device == "cuda" else placement.device
    return {"quantization_config": config, "device_map": {"": device}}


def _silence_transformers() -> None:
    """Keep progress bars and advice of transformers off the terminal."""
    set_verbosity: Callable[[], None] = logging.set_verbosity_error
    disable_bar: Callable[[], None] = logging.disable_progress_bar
    set_verbosity()
    disable_bar()


@contextmanager
def _reporting_progress(on_progress: OnProgress) -> Iterator[None]:
    """Within this context transformers reports the share of loaded weights to *on_progress*.

    Its progress bars are replaced. Versions of transformers without a hook for them report nothing.
    """
    set_hook: Callable[[Any], Any] | None = getattr(logging, "set_tqdm_hook", None)
    if set_hook is None:
        yield
        return

    def bar(factory: Callable[..., Any], arguments: tuple[Any, ...], options: Mapping[str, Any]) -> object:
        return _counted(arguments[0], on_progress) if arguments else factory(**options)

    previous = set_hook(bar)
    try:
        yield
    finally:
        set_hook(previous)


def _counted(items: Iterable[Any], on_progress: OnProgress) -> Iterator[Any]:
    """The *items*; *on_progress* receives the share already yielded before each of them, and 1 at the end."""
    items = list(items)
    for number, item in enumerate(items):
        on_progress(number / len(items))
        yield item
    on_progress(1.0)
