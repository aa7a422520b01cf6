"""How much of a prompt a network has read already."""

from __future__ import annotations

from collections.abc import Sequence


def n_known(read: Sequence[int], prompt: Sequence[int]) -> int:
    """How many tokens at the beginning of *prompt* equal those of *read*; the last one never counts."""
    pairs = enumerate(zip(read, prompt, strict=False))
    most = max(0, min(len(read), len(prompt) - 1))
    return min(most, next((number for number, (known, token) in pairs if known != token), most))
