"""Sends tokens to a network's device and brings candidates back, with one wait for each step.

On a GPU the scores of tens of thousands of tokens stay there: only the candidates are copied, a few hundred
numbers in one tensor.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

import torch
from torch import Tensor

from fimlsp.models.networks.step import CANDIDATES, best_candidates
from fimlsp.models.protocols import Candidates


def sent(numbers: Sequence[int] | Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """*numbers* on *device*; the copy need not have arrived yet."""
    return torch.tensor(numbers).to(device, non_blocking=True)


class Ranking(Protocol):
    """Turns scores into candidates, in two parts."""

    def begin(self, scores: Tensor) -> Tensor:
        """Prepare *scores* [texts, vocabulary] for `finish`, without waiting for them."""

    def finish(self, prepared: Tensor) -> list[Candidates]:
        """The candidates of each text; waits for the scores."""


def ranking_for(device: torch.device, stops: Collection[int]) -> Ranking:
    """The fastest ranking on *device*; a Mac's shares main memory, and lacks some calls of the other."""
    return HostRanking(stops) if device.type in ("cpu", "mps") else DeviceRanking(stops, device)


class HostRanking:
    """Ranks in main memory."""

    def __init__(self, stops: Collection[int]) -> None:
        self._stops = frozenset(stops)

    def begin(self, scores: Tensor) -> Tensor:
        """See `Ranking`."""
        return scores.float()

    def finish(self, prepared: Tensor) -> list[Candidates]:
        """See `Ranking`."""
        return [best_candidates(row, self._stops) for row in prepared.cpu().numpy()]


class DeviceRanking:
    """Ranks on *device*, where the scores are."""

    def __init__(self, stops: Collection[int], device: torch.device) -> None:
        self._stops = torch.tensor(sorted(stops), dtype=torch.long, device=device)

    @torch.inference_mode()
    def begin(self, scores: Tensor) -> Tensor:
        """Log-probabilities of the best tokens, their ids, and the stop's: [texts, 2 * 64 + 1].

        Token ids are exact in `float32`, as they are whole numbers below 2^24.
        """
        scores = scores.float()
        best, tokens = scores.topk(min(CANDIDATES, scores.shape[-1]))
        total = scores.logsumexp(-1, keepdim=True)
        none = torch.full_like(total, -torch.inf)
        stop = torch.cat([none, scores[:, self._stops]], -1).amax(-1, keepdim=True)
        return torch.cat([best - total, tokens.float(), stop - total], -1)

    def finish(self, prepared: Tensor) -> list[Candidates]:
        """See `Ranking`."""
        n = prepared.shape[-1] // 2
        rows = prepared.tolist()
        return [Candidates([int(token) for token in row[n:-1]], row[:n], row[-1]) for row in rows]
