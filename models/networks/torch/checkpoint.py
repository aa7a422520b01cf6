"""Any causal language model of transformers as a network for the decoding loop.

On a GPU the scores of tens of thousands of tokens stay there. Only the candidates are copied: a few hundred
numbers in one tensor, with one wait for each step.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import PreTrainedModel
from transformers.cache_utils import Cache

from fimlsp.models.checkpoints.checkpoint_files import CheckpointFiles
from fimlsp.models.errors import OutOfMemoryError, is_out_of_memory
from fimlsp.models.networks.torch.decoding_step import captured_step, recorded_step
from fimlsp.models.networks.torch.kv_cache import KVCache, copied_cache
from fimlsp.models.networks.torch.placement import Placement
from fimlsp.models.networks.torch.weights import OnProgress, read_weights
from fimlsp.models.protocols import CANDIDATES, Candidates, best_candidates, n_known
from fimlsp.quotient.masks.vocabulary import Vocabulary

PADDING = 0


class CheckpointNetwork:
    """`NextToken` over a loaded checkpoint; reads one text at a time and keeps its keys and values.

    Attributes:
        network: the model, as transformers loaded it.
        kv_cache: keys and values of the text that was read last.
        step: reads one token faster than *network* does; None if that is not possible.
        ranking: turns scores into candidates.
        is_asynchronous: True if the device works while the caller does other things.
    """

    def __init__(
        self,
        network: PreTrainedModel,
        context: int,
        token_bytes: Sequence[bytes | None],
        stops: frozenset[int],
    ) -> None:
        self.token_bytes = token_bytes
        self.stops = stops
        self.network = network
        self.kv_cache = KVCache(network.config, context)
        self.step = captured_step(network, self.kv_cache) or recorded_step(network, self.kv_cache)
        known = min(len(token_bytes), network.config.vocab_size)
        self.ranking = ranking_for(network.device, [token for token in stops if token < known])
        self.is_asynchronous = network.device.type != "cpu"
        self._read = list[int]()
        self._scores_read: Tensor | None = None

    @classmethod
    def load(
        cls,
        files: CheckpointFiles,
        placement: Placement,
        token_bytes: Sequence[bytes | None],
        stops: frozenset[int],
        on_progress: OnProgress = lambda _: None,
    ) -> CheckpointNetwork:
        """Load a checkpoint; see `read_weights`.

        Raises:
            ModelError: the architecture is not one of transformers' own, or weights are missing.
        """
        return cls(read_weights(files, placement, on_progress), placement.context, token_bytes, stops)

    def begin(self, tokens: Sequence[int], written: Sequence[int] = ()) -> Candidates:
        """Read a prompt and the tokens *written* after it; their common prefix with the last text is reused.

        Raises:
            ValueError: the text is longer than the context.
        """
        text = [*tokens, *written]
        return self.finish_reading(self.begin_reading(text[self._keep_prefix(text) :]))

    def advance(self, token: int) -> Candidates:
        """Read one more token.

        Raises:
            ValueError: the context is full.
        """
        return self.finish_reading(self.begin_reading([token]))

    def log_probabilities(self, tokens: Sequence[int]) -> NDArray[np.float32]:
        """See `fimlsp.models.protocols.Scoring`."""
        scores = self.read_on(tokens[self._keep_prefix(tokens) :])
        with self._forgetting_on_error():
            array: NDArray[np.float32] = torch.log_softmax(scores.float(), dim=-1).cpu().numpy()
        return array

    @cached_property
    def mask_vocabulary(self) -> Vocabulary:
        """See `fimlsp.models.protocols.Maskable`."""
        return Vocabulary(self.token_bytes, self.stops)

    def more_after(
        self, tokens: Sequence[int], written: Sequence[int], _most: int | None = None
    ) -> Candidates | None:
        """See `fimlsp.models.protocols.ListsMore`: all; None if another text was read last."""
        if self._scores_read is None or self._read != [*tokens, *written]:
            return None
        return self._all_candidates(self._scores_read)

    def launch(self, token: int) -> Callable[[], Candidates]:
        """Start to read one more token; on the CPU, reading waits until the result is requested."""
        if self.is_asynchronous:
            return partial(self.finish_reading, self.begin_reading([token]))
        return partial(self.advance, token)

    def side_by_side(self, tokens: Sequence[int], room: int) -> CheckpointRows | None:
        """See `fimlsp.models.protocols.SideBySide`."""
        if not self.kv_cache.is_preallocated:
            return None
        if unread := tokens[self._keep_prefix([*tokens, PADDING]) :]:
            self.read_on(unread)
        return CheckpointRows(
            self.network, self.kv_cache.cache, room, self._ranked_rows, self._all_candidates
        )

    def begin_reading(self, tokens: Sequence[int]) -> Tensor:
        """Read *tokens* after the text read so far; `finish_reading` turns the result into candidates.

        On a GPU this returns before the result has been computed.
        """
        scores = self.read_on(tokens)
        with self._forgetting_on_error():
            return self.ranking.begin(scores[None])

    def finish_reading(self, prepared: Tensor) -> Candidates:
        """Candidates after the tokens for which `begin_reading` returned *prepared*; waits for the device."""
        with self._forgetting_on_error():
            (candidates,) = self.ranking.finish(prepared)
        return candidates

    def read_on(self, tokens: Sequence[int]) -> Tensor:
        """Scores [vocabulary] after *tokens*, read after the text read so far."""
        if len(self._read) + len(tokens) > self.kv_cache.context:
            raise ValueError(
                f"{len(self._read)} tokens were read and {len(tokens)} more do not fit into a context of "
                f"{self.kv_cache.context}"
            )
        with self._forgetting_on_error():
            scores = self._scores(tokens)
        self._read.extend(tokens)
        self._scores_read = scores
        return scores

    @torch.inference_mode()
    def _scores(self, tokens: Sequence[int]) -> Tensor:
        if self.step and len(tokens) == 1:
            return self.step(tokens[0], len(self._read))[: len(self.token_bytes)]
        ids = sent([tokens], self.network.device)
        output = self.network(
            input_ids=ids, past_key_values=self.kv_cache.cache, use_cache=True, logits_to_keep=1
        )
        scores: Tensor = output.logits[0, -1, : len(self.token_bytes)]
        return scores

    def _all_candidates(self, scores: Tensor) -> Candidates:
        """All tokens as candidates by these *scores* [vocabulary]."""
        with self._forgetting_on_error():
            numbers = scores[: len(self.token_bytes)].float().cpu().numpy()
        return best_candidates(numbers, self.stops, len(numbers))

    def _ranked_rows(self, read: Callable[[], Tensor]) -> list[Candidates]:
        """Candidates for each row of the scores [texts, vocabulary] that *read* returns."""
        with self._forgetting_on_error():
            return self.ranking.finish(self.ranking.begin(read()[:, : len(self.token_bytes)]))

    def _keep_prefix(self, text: Sequence[int]) -> int:
        """Forget all tokens read except the common prefix with *text*; the length of that prefix."""
        known = self.kv_cache.keep(n_known(self._read, text))
        del self._read[known:]
        return known

    @contextmanager
    def _forgetting_on_error(self) -> Iterator[None]:
        """Forget the text on any error: some layers may have read tokens that others have not."""
        try:
            yield
        except BaseException as error:
            self._forget()
            if is_out_of_memory(error):
                raise OutOfMemoryError(
                    "The device ran out of memory while completing; close other programs on it and load "
                    "the model again, or load it in 4 bits or on another device."
                ) from error
            raise

    def _forget(self) -> None:
        self.kv_cache.clear()
        self._read.clear()
        self._scores_read = None
        if self.network.device.type == "cuda":
            self.step = None  # its graphs write into memory that is freed now
            torch.cuda.empty_cache()


class CheckpointRows:
    """`Rows` of a checkpoint's network: several texts with a common prefix, read in one pass of the network.

    Most of the time of a pass goes into reading every weight once, however many texts there are. The texts
    have different lengths, so shorter ones get masked padding between the shared prefix and their own tokens;
    positions count text only. Keys and values of the prefix are copied once for each text. Masks are made
    here, because transformers inspects the masks that it makes itself, which waits for the device.

    Attributes:
        ranked: candidates of each row of the scores that a function returns.
    """

    def __init__(
        self,
        network: PreTrainedModel,
        shared: Cache,
        room: int,
        ranked: Callable[[Callable[[], Tensor]], list[Candidates]],
        all_candidates: Callable[[Tensor], Candidates],
    ) -> None:
        self._network = network
        self._shared = shared
        self._room = room
        self.ranked = ranked
        self._all_candidates = all_candidates

    def begin(self, texts: Sequence[Sequence[int]]) -> Sequence[Candidates]:
        """Read *texts*, none of them empty, after the shared prefix; candidates after each."""
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
        """Drop all texts except those numbered *kept*, and read one of *tokens* after each of these."""
        device = self._network.device
        if len(kept) < len(self._next):
            rows = sent(kept, device)
            self._cache.batch_select_indices(rows)
            self._is_text, self._next = self._is_text[rows], self._next[rows]
        self._is_text = torch.cat([self._is_text, self._is_text.new_ones((len(kept), 1))], dim=1)
        positions, self._next = self._next[:, None], self._next + 1
        ids, is_seen = sent(tokens, device)[:, None], self._is_text[:, None]
        return self.ranked(lambda: self._scores(ids, positions, is_seen))

    def all_of(self, number: int) -> Candidates:
        """See `fimlsp.models.protocols.ListsAllRows`."""
        return self._all_candidates(self._last[number])

    @torch.inference_mode()
    def _scores(self, ids: Tensor, positions: Tensor, is_seen: Tensor) -> Tensor:
        """Scores [texts, vocabulary] after *ids* [texts, tokens].

        Each token attends to the positions where *is_seen* [texts, tokens, all positions] is True.
        """
        dtype = self._network.dtype
        mask = torch.zeros(is_seen.shape, dtype=dtype, device=ids.device)
        mask = mask.masked_fill(~is_seen, torch.finfo(dtype).min)
        output = self._network(
            input_ids=ids,
            attention_mask=mask[:, None],
            position_ids=positions,
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=1,
        )
        scores: Tensor = output.logits[:, -1]
        self._last = scores
        return scores


class Ranking(Protocol):
    """Turns scores into candidates, in two parts."""

    def begin(self, scores: Tensor) -> Tensor:
        """Prepare *scores* [texts, vocabulary] for `finish`, without waiting for them."""

    def finish(self, prepared: Tensor) -> list[Candidates]:
        """The candidates of each text; waits for the scores."""


def ranking_for(device: torch.device, stops: Collection[int]) -> Ranking:
    """The fastest ranking on *device*.

    A Mac's GPU ranks on the host: it shares main memory, and lacks some calls of `DeviceRanking`.
    """
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


def sent(numbers: Sequence[int] | Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """*numbers* on *device*; returns before the copy has arrived."""
    return torch.tensor(numbers).to(device, non_blocking=True)
