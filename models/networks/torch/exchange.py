"""To and from a network in torch: tokens that it reads, and its scores as candidates; one wait for each step.

On a device of its own the scores stay there: what comes over are the candidates, a few hundred numbers of
tens of thousands, in one tensor.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

import torch
from fimlsp.models.networks.ranking import CANDIDATES, best_candidates
from fimlsp.models.protocols import Candidates
from torch import Tensor


def sent(numbers: Sequence[int] | Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """*numbers* on *device*, on their way there at least."""
    return torch.tensor(numbers).to(device, non_blocking=True)


class Ranking(Protocol):
    """Makes candidates of scores, in two parts."""

    def begin(self, scores: Tensor) -> Tensor:
        """What `finish` needs of *scores* [texts, vocabulary]; does not wait for them."""

    def finish(self, begun: Tensor) -> list[Candidates]:
        """The candidates of each text; waits for the scores."""


def ranking_for(device: torch.device, stops: Collection[int]) -> Ranking:
    """The quickest way on *device*; that of a Mac shares our memory, and cannot do the other everywhere."""
    return HostRanking(stops) if device.type in ("cpu", "mps") else DeviceRanking(stops, device)


class HostRanking:
    """In main memory."""

    def __init__(self, stops: Collection[int]) -> None:
        self._stops = frozenset(stops)

    def begin(self, scores: Tensor) -> Tensor:
        """See `Ranking`."""
        return scores.float()

    def finish(self, begun: Tensor) -> list[Candidates]:
        """See `Ranking`."""
        return [best_candidates(row, self._stops) for row in begun.cpu().numpy()]


class DeviceRanking:
    """On *device*, where the scores are."""

    def __init__(self, stops: Collection[int], device: torch.device) -> None:
        self._stops = torch.tensor(sorted(stops), dtype=torch.long, device=device)

    @torch.inference_mode()
    def begin(self, scores: Tensor) -> Tensor:
        """Log-probabilities of the best, their ids, and that of a stop: [texts, 2 * 64 + 1].

        Ids of tokens are exact in `float32`, as these are whole numbers below 2^24.
        """
        scores = scores.float()
        best, tokens = scores.topk(min(CANDIDATES, scores.shape[-1]))
        total = scores.logsumexp(-1, keepdim=True)
        none = torch.full_like(total, -torch.inf)
        stop = torch.cat([none, scores[:, self._stops]], -1).amax(-1, keepdim=True)
        return torch.cat([best - total, tokens.float(), stop - total], -1)

    def finish(self, begun: Tensor) -> list[Candidates]:
        """See `Ranking`."""
        n = begun.shape[-1] // 2
        rows = begun.tolist()
        return [Candidates([int(token) for token in row[n:-1]], row[:n], row[-1]) for row in rows]
