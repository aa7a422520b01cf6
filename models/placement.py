"""Where a checkpoint runs and in which precision, and whether it fits there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

import torch
from fimlsp.models.checkpoint_files import CheckpointFiles
from fimlsp.models.errors import ModelError
from fimlsp.models.memory import cache_bytes, check_memory, free_main_memory, needed_bytes

DType = Literal["float32", "bfloat16", "float16"]
Bits = Literal[4, 8]

CONTEXT_MAX = {"cpu": 2048, "mps": 4096, "cuda": 8192}
FULL_PRECISION_BYTES_MAX = 4 << 30
QUANTISED_BYTES = {4: 0.6, 8: 1.1}  # per parameter: the embedding and the norms stay in half precision
QUANTISERS = ("accelerate", "bitsandbytes")


@dataclass(frozen=True, slots=True)
class Placement:
    """Device, type of numbers, quantisation in bits (None: none), and tokens of context."""

    device: str
    dtype: torch.dtype
    bits: Bits | None
    context: int


def place(files: CheckpointFiles, device: str | None, dtype: DType | None, bits: Bits | None) -> Placement:
    """Decide where and how the checkpoint of *files* runs, as far as *device*, *dtype*, *bits* leave it open.

    Raises:
        ModelError: there is no such device, it has too little memory free, or quantising cannot be done here.
    """
    device = device or default_device()
    kind = _kind(device)
    if bits is not None and not all(map(find_spec, QUANTISERS)):
        raise ModelError(
            f"Loading in {bits} bits needs two more packages: `pip install 'fimlsp[quantized]'`."
        )
    chosen = getattr(torch, dtype) if dtype else _default_dtype(files, kind)
    context = min(_context(files.config), CONTEXT_MAX[kind])
    size = QUANTISED_BYTES[bits] if bits else chosen.itemsize
    cache = cache_bytes(files.config, context, chosen.itemsize)
    check_memory(files.name, device, needed_bytes(files.n_parameters, size, cache), _free_memory(device))
    return Placement(device, chosen, bits, context)


def default_device() -> str:
    """`cuda` or `mps` where torch finds one, else `cpu`."""
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _kind(device: str) -> str:
    """The kind of *device*, which must be one that is here."""
    kind, _, number = device.partition(":")
    there = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    if kind not in there or (number and not number.isdecimal()):
        raise ModelError(f"{device} is no device; use cpu, cuda, cuda:N or mps.")
    if int(number or 0) >= there[kind]:
        known = ", ".join(_names(there))
        raise ModelError(
            f"There is no {device} on this machine, only {known}; leave the device out to choose."
        )
    return kind


def _names(there: Mapping[str, int]) -> list[str]:
    return [kind if n == 0 else f"{kind}:{n}" for kind, count in there.items() for n in range(count)]


def _default_dtype(files: CheckpointFiles, kind: str) -> torch.dtype:
    """Half precision on a GPU and for weights that would take up too much memory in full precision."""
    if kind == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    if kind == "mps":
        return torch.float16
    fits = files.n_parameters * torch.float32.itemsize <= FULL_PRECISION_BYTES_MAX
    return torch.float32 if fits else torch.bfloat16


def _context(config: Mapping[str, Any]) -> int:
    """Tokens of the context; no more than a sliding window, behind which nothing read could be reused."""
    context = config.get("max_position_embeddings") or config.get("n_positions") or min(CONTEXT_MAX.values())
    window = config.get("sliding_window") if config.get("use_sliding_window", True) else None
    return min(int(context), int(window or context))


def _free_memory(device: str) -> int | None:
    if device.startswith("cuda"):
        free, _total = torch.cuda.mem_get_info(torch.device(device))
        return free
    return free_main_memory()
