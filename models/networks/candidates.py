"""The part of a step that all networks share: reuse of the tokens already read, and the best candidates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fimlsp.models.protocols import Candidates

CANDIDATES = 64


def best_candidates(logits: NDArray[np.float32], stops: frozenset[int], most: int = CANDIDATES) -> Candidates:
    """The *most* likely tokens by *logits* [vocabulary], best first. O(vocabulary) for a few."""
    n = min(most, len(logits))
    best = np.argpartition(logits, -n)[-n:]
    best = best[np.argsort(-logits[best], kind="stable")]
    top = logits[best[0]]
    total = top + np.log(np.exp(logits - top).sum())
    stop = max((float(logits[token]) for token in stops if token < len(logits)), default=-np.inf)
    return Candidates(best.tolist(), (logits[best] - total).tolist(), float(stop - total))


def n_known(read: Sequence[int], prompt: Sequence[int]) -> int:
    """The length of the common prefix of *read* and *prompt*; the last token of *prompt* never counts."""
    pairs = enumerate(zip(read, prompt, strict=False))
    most = max(0, min(len(read), len(prompt) - 1))
    return min(most, next((number for number, (known, token) in pairs if known != token), most))
