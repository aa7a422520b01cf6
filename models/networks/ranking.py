"""Picks the best candidates from the scores of a network."""

from __future__ import annotations

import numpy as np
from fimlsp.models.protocols import Candidates
from numpy.typing import NDArray

CANDIDATES = 64


def best_candidates(logits: NDArray[np.float32], stops: frozenset[int]) -> Candidates:
    """The 64 best of *logits* [vocabulary], best first. O(vocabulary)."""
    n = min(CANDIDATES, len(logits))
    best = np.argpartition(logits, -n)[-n:]
    best = best[np.argsort(-logits[best], kind="stable")]
    top = logits[best[0]]
    total = top + np.log(np.exp(logits - top).sum())
    stop = max((float(logits[token]) for token in stops if token < len(logits)), default=-np.inf)
    return Candidates(best.tolist(), (logits[best] - total).tolist(), float(stop - total))
