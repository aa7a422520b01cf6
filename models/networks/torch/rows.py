"""Reads several texts that begin with the same tokens side by side, in one pass of the network.

Most of the time of a pass goes into reading every weight once, however many texts there are. The texts have
different lengths, so the shorter ones get padding between the shared part and their own, which is masked;
positions count text only. Keys and values of the shared tokens are copied once for each text.

Masks are made here, because transformers inspects those that it makes, which waits for the device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from transformers import PreTrainedModel
from transformers.cache_utils import Cache

from fimlsp.models.networks.torch.exchange import sent
from fimlsp.models.networks.torch.kv_cache import copied_cache
from fimlsp.models.protocols import Candidates

PADDING = 0


class CheckpointRows:
    """`Rows` of a checkpoint's network: the texts that are still being read, in their order."""

    def __init__(
        self,
        network: PreTrainedModel,
        shared: Cache,
        room: int,
        ranked: Callable[[Callable[[], Tensor]], list[Candidates]],
        told: Callable[[Tensor], Candidates],
    ) -> None:
        self._network = network
        self._shared = shared
        self._room = room
        self.ranked = ranked
        self._told = told

    def begin(self, texts: Sequence[Sequence[int]]) -> Sequence[Candidates]:
        """Read *texts*, none of them empty, after what is shared; what may follow each."""
        return self.ranked(lambda: self._first_scores(texts))

    def _first_scores(self, texts: Sequence[Sequence[int]]) -> Tensor:
        n_shared, device = self._shared.get_seq_length(), self._network.device
        width = max(map(len, texts))
        self._cache = copied_cache(self._shared, len(texts), n_shared + width + self._room)
        padding = sent([width - len(text) for text in texts], device)
        columns = torch.arange(width, device=device)
        is_text = columns >= padding[:, None]
        shared = is_text.new_ones((len(texts), n_shared))
        self._is_text = torch.cat([shared, is_text], dim=1)
        self._next = n_shared + width - padding
        ids = [[PADDING] * (width - len(text)) + list(text) for text in texts]
        positions = (n_shared + columns - padding[:, None]).clamp_min(0)
        is_before = is_text.new_ones((width, n_shared + width)).tril(n_shared)
        return self._scores(sent(ids, device), positions, self._is_text[:, None] & is_before)

    def advance(self, kept: Sequence[int], tokens: Sequence[int]) -> Sequence[Candidates]:
        """Drop all texts but those numbered *kept*, and read one of *tokens* after each of these."""
        device = self._network.device
        if len(kept) < len(self._next):
            rows = sent(kept, device)
            self._cache.batch_select_indices(rows)
            self._is_text, self._next = self._is_text[rows], self._next[rows]
        self._is_text = torch.cat([self._is_text, self._is_text.new_ones((len(kept), 1))], dim=1)
        positions, self._next = self._next[:, None], self._next + 1
        return self._read(sent(tokens, device)[:, None], positions, self._is_text[:, None])

    def all_of(self, number: int) -> Candidates:
        """See `TellsAllRows`."""
        return self._told(self._last[number])

    def _read(self, ids: Tensor, positions: Tensor, is_seen: Tensor) -> list[Candidates]:
        """Candidates after *ids* [texts, tokens], each of which attends to *is_seen* [texts, tokens, all]."""
        return self.ranked(lambda: self._scores(ids, positions, is_seen))

    @torch.inference_mode()
    def _scores(self, ids: Tensor, positions: Tensor, is_seen: Tensor) -> Tensor:
        """Scores of what follows each text, [texts, vocabulary]."""
        number = self._network.dtype
        hidden = torch.zeros(is_seen.shape, dtype=number, device=ids.device)
        hidden = hidden.masked_fill(~is_seen, torch.finfo(number).min)
        output = self._network(
            input_ids=ids,
            attention_mask=hidden[:, None],
            position_ids=positions,
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=1,
        )
        scores: Tensor = output.logits[:, -1]
        self._last = scores
        return scores
