"""Chooses the device and the precision of a checkpoint, and checks that it fits into memory there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch

from fimlsp.extras import missing_modules
from fimlsp.models.checkpoints.checkpoint_files import CheckpointFiles
from fimlsp.models.checkpoints.memory import (
    CPU_CONTEXT_MAX,
    QUANTISED_BYTES,
    FreeMemory,
    cache_bytes,
    check_memory,
    embedding_bytes,
    free_main_memory,
    needed_bytes,
    stored_bytes,
)
from fimlsp.models.errors import MissingExtraError, ModelError

DType = Literal["float32", "bfloat16", "float16"]
Bits = Literal[4, 8]
BitsChoice = Bits | Literal["auto"] | None

CONTEXT_MAX = {"cpu": CPU_CONTEXT_MAX, "mps": 4096, "cuda": 8192}
FULL_PRECISION_BYTES_MAX = 4 << 30
EXACT_ON_CPU_MAX = 100_000_000


@dataclass(frozen=True, slots=True)
class Placement:
    """Device, type of numbers, bits of quantised weights (None: not quantised), and tokens of context."""

    device: str
    dtype: torch.dtype
    bits: Bits | None
    context: int

    @property
    def is_int8(self) -> bool:
        """True if `fimlsp.models.networks.torch.weights` quantises; otherwise bitsandbytes does."""
        return self.bits == 8 and self.device == "cpu"


def choose_placement(
    files: CheckpointFiles,
    device: str | None,
    dtype: DType | None,
    wanted_bits: BitsChoice,
    most_context: int | None = None,
) -> Placement:
    """Choose device, precision and context for the checkpoint of *files*; arguments that are given win.

    Raises:
        ModelError: there is no such device, too little of its memory is free, or the packages that quantise
            are missing.
    """
    device = device or default_device()
    kind = _kind(device)
    bits = _default_bits(files, kind, dtype) if wanted_bits == "auto" else wanted_bits
    _check_quantiser(kind, bits)
    chosen = getattr(torch, dtype) if dtype else _default_dtype(files, kind)
    context = min(_context(files.config), most_context or CONTEXT_MAX[kind])
    placement = Placement(device, torch.float32 if kind == "cpu" and bits == 8 else chosen, bits, context)
    check_memory(files.name, device, _needed_memory(files, placement), free_memory(device))
    return placement


def int8_is_possible() -> bool:
    """True if this build of torch can multiply weights of 8 bits on the CPU."""
    is_available: Callable[[], bool] = torch.backends.mkldnn.is_available
    return is_available() and hasattr(torch.ops.onednn, "qlinear_pointwise")


def _check_quantiser(kind: str, bits: Bits | None) -> None:
    """Raise unless weights can be quantised to *bits* on this *kind* of device."""
    is_possible = int8_is_possible() if bits == 8 and kind == "cpu" else not missing_modules("quantized")
    if bits is not None and not is_possible:
        raise MissingExtraError("quantized", f"Loading in {bits} bits needs two more packages")


def _needed_memory(files: CheckpointFiles, placement: Placement) -> int:
    """Bytes of weights, keys and values; with `is_int8` the peak, which is reached while loading."""
    cache = cache_bytes(files.config, placement.context, placement.dtype.itemsize)
    size = QUANTISED_BYTES[placement.bits] if placement.bits else placement.dtype.itemsize
    needed = needed_bytes(files.n_parameters, size, cache)
    if not placement.is_int8:
        return needed
    return max(needed + embedding_bytes(files.config), needed_bytes(stored_bytes(files.weights), 1, 0))


def default_room() -> FreeMemory:
    """The default device with its free memory."""
    device = default_device()
    return FreeMemory(device, free_memory(device))


def default_device() -> str:
    """`cuda` or `mps` where torch finds one, else `cpu`."""
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _kind(device: str) -> str:
    """The kind of *device*, which must be available."""
    kind, _, number = device.partition(":")
    counts = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    if kind not in counts or (number and not number.isdecimal()):
        raise ModelError(f"Unknown device {device!r}; use cpu, cuda, cuda:N or mps.")
    if int(number or 0) >= counts[kind]:
        known = ", ".join(_names(counts))
        raise ModelError(
            f"There is no {device} on this machine, only {known}; leave the device out to choose."
        )
    return kind


def _names(counts: Mapping[str, int]) -> list[str]:
    return [kind if n == 0 else f"{kind}:{n}" for kind, count in counts.items() for n in range(count)]


def _default_bits(files: CheckpointFiles, kind: str, dtype: DType | None) -> Bits | None:
    """8 if that is much faster than exact weights and no precision is given; otherwise None."""
    is_large = kind == "cpu" and files.n_parameters > EXACT_ON_CPU_MAX
    return 8 if is_large and dtype is None and int8_is_possible() else None


def _default_dtype(files: CheckpointFiles, kind: str) -> torch.dtype:
    """Half precision on a GPU, and for weights that would need too much memory in full precision."""
    if kind == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    if kind == "mps":
        return torch.float16
    fits = files.n_parameters * torch.float32.itemsize <= FULL_PRECISION_BYTES_MAX
    return torch.float32 if fits else torch.bfloat16


def _context(config: Mapping[str, Any]) -> int:
    """Tokens of context, at most those of a sliding window: keys before it could not be reused."""
    context = config.get("max_position_embeddings") or config.get("n_positions") or min(CONTEXT_MAX.values())
    window = config.get("sliding_window") if config.get("use_sliding_window", True) else None
    return min(int(context), int(window or context))


def free_memory(device: str) -> int | None:
    """Free bytes of *device*; None if unknown."""
    if device.startswith("cuda"):
        free, _total = torch.cuda.mem_get_info(torch.device(device))
        return free
    return free_main_memory()
