"""Memory that a model needs and memory that is free, compared before loading starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fimlsp.models.catalogue import largest_within
from fimlsp.models.errors import ModelError

GIB = 1 << 30
HALF_PRECISION_BYTES = 2.0
QUANTISED_BYTES = {4: 0.6, 8: 1.1}  # of a parameter, by bits: embedding and norms stay in half precision
WORKING_SHARE = 0.1
CPU_CONTEXT_MAX = 2048
"""Tokens of context on a CPU, which takes too long to read longer prompts."""


@dataclass(frozen=True, slots=True)
class FreeMemory:
    """A device and the free bytes of its memory; None if unknown."""

    device: str
    free: int | None

    def fits(self, n_parameters: float) -> str:
        """How a model of this size fits: "yes" in half precision, "in N bits", or empty if it does not."""
        free = self.free
        if free is None:
            return ""
        ways = {HALF_PRECISION_BYTES: "yes"}
        if self.device != "cpu":
            ways |= {QUANTISED_BYTES[bits]: f"in {bits} bits" for bits in (8, 4)}
        fitting = (way for size, way in ways.items() if needed_bytes(int(n_parameters), size, 0) <= free)
        return next(fitting, "")


def check_memory(name: str, device: str, needed: int, free: int | None) -> None:
    """Raise unless *needed* bytes are free on *device*; *free* is None if unknown.

    Raises:
        ModelError: fewer bytes are free; the message names a model that would fit.
    """
    if free is None or needed <= free:
        return
    smaller = largest_within(int(free / (1 + WORKING_SHARE)))
    fits = f"{smaller.name} would fit" if smaller else "only the bundled model would fit"
    raise ModelError(
        f"Cannot load {name}: it needs about {needed / GIB:.1f} GiB on {device}, "
        f"where {free / GIB:.1f} are free ({fits}). "
        f"Use a smaller model, load it in 4 bits, or use another device."
    )


def needed_bytes(n_parameters: int, bytes_per_parameter: float, cache: int) -> int:
    """Bytes of the weights and of *cache* (keys and values), plus a tenth for temporary values."""
    return int((n_parameters * bytes_per_parameter + cache) * (1 + WORKING_SHARE))


def cache_bytes(config: Mapping[str, Any], context: int, bytes_per_number: int) -> int:
    """Bytes of keys and values of *context* tokens; 0 if *config* lacks the usual sizes."""
    layers = config.get("num_hidden_layers") or config.get("n_layer") or 0
    heads = config.get("num_attention_heads") or config.get("n_head") or 1
    width = config.get("hidden_size") or config.get("n_embd") or 0
    groups = 1 if config.get("multi_query") else config.get("num_key_value_heads") or heads
    head = config.get("head_dim") or width // heads
    return int(2 * layers * groups * head * context * bytes_per_number)


def embedding_bytes(config: Mapping[str, Any]) -> int:
    """Bytes of the vocabulary's vectors in full precision; 0 if *config* lacks their sizes."""
    width = config.get("hidden_size") or config.get("n_embd") or 0
    return 4 * int(config.get("vocab_size") or 0) * int(width)


def stored_bytes(weights: Sequence[Path]) -> int:
    """Total size of the weight files in bytes."""
    return sum(path.stat().st_size for path in weights)


def free_main_memory() -> int | None:
    """Available bytes of main memory; None if the system does not report them."""
    table = Path("/proc/meminfo")
    if not table.exists():
        return None
    for line in table.read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None
