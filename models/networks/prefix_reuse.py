"""How much of a prompt a network has read already."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile


def n_known(read: Sequence[int], prompt: Sequence[int]) -> int:
    """How many tokens at the beginning of *prompt* equal those of *read*; the last one never counts."""
    pairs = zip(read, prompt[:-1], strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
