"""Any causal language model of transformers as a network that the decoding loop can ask."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
from transformers.utils import logging

from fimlsp.models.checkpoints.checkpoint_files import CheckpointFiles
from fimlsp.models.errors import ModelError, OutOfMemoryError, is_out_of_memory
from fimlsp.models.networks.step import best_candidates, n_known
from fimlsp.models.networks.torch.captured_step import captured_step
from fimlsp.models.networks.torch.exchange import ranking_for, sent
from fimlsp.models.networks.torch.int8 import quantise
from fimlsp.models.networks.torch.kv_cache import KVCache
from fimlsp.models.networks.torch.loading_progress import OnProgress, reporting_progress
from fimlsp.models.networks.torch.placement import Placement
from fimlsp.models.networks.torch.recorded_step import recorded_step
from fimlsp.models.networks.torch.rows import PADDING, CheckpointRows
from fimlsp.models.protocols import Candidates
from fimlsp.quotient.masks.vocabulary import Vocabulary

IMPLEMENTATION_KEY = "_implementation"
IMPLEMENTATIONS = (None, "eager", "sdpa")
"""Those that transformers and torch have; others may be fetched from the hub and run."""


class CheckpointNetwork:
    """`NextToken` over a loaded checkpoint; reads one text at a time and keeps its keys and values.

    Attributes:
        network: the model, as transformers loaded it.
        kv_cache: keys and values of the text that was read last.
        step: reads one token faster than *network* does; None if that is not possible.
        ranking: turns scores into candidates.
        is_asynchronous: whether the device works while the caller does other things.
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
        self._scores_read: torch.Tensor | None = None

    @classmethod
    def load(
        cls,
        files: CheckpointFiles,
        placement: Placement,
        token_bytes: Sequence[bytes | None],
        stops: frozenset[int],
        on_progress: OnProgress = lambda _: None,
    ) -> CheckpointNetwork:
        """Read the safetensors weights, without running code of the checkpoint or fetching anything.

        *on_progress* is called with the share of the weights that is there.

        Raises:
            ModelError: the architecture is not one of transformers' own, or weights are missing.
        """
        _check_architecture(files)
        _be_quiet()
        network: PreTrainedModel
        read: Any = AutoModelForCausalLM.from_pretrained
        with reporting_progress(on_progress):
            network, loaded = read(
                files.folder,
                dtype="auto" if placement.is_int8 else placement.dtype,
                use_safetensors=True,
                local_files_only=True,
                trust_remote_code=False,
                output_loading_info=True,
                **_quantisation(placement),
            )
        if missing := sorted(loaded["missing_keys"]):
            raise ModelError(
                f"{files.name} lacks {len(missing)} of its weights, {missing[0]} first; fetch it again."
            )
        if placement.is_int8:
            quantise(network)
        elif placement.bits is None:
            torch.nn.Module.to(network, placement.device)
        network.train(False)
        return cls(network, placement.context, token_bytes, stops)

    def begin(self, tokens: Sequence[int], written: Sequence[int] = ()) -> Candidates:
        """Read a prompt and what was written after it; their common beginning with the last text is reused.

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
        with self._forgetting_if_it_fails():
            array: NDArray[np.float32] = torch.log_softmax(scores.float(), dim=-1).cpu().numpy()
        return array

    @cached_property
    def mask_vocabulary(self) -> Vocabulary:
        """See `fimlsp.models.protocols.Maskable`."""
        return Vocabulary(self.token_bytes, self.stops)

    def all_after(self, tokens: Sequence[int], written: Sequence[int]) -> Candidates | None:
        """See `fimlsp.models.protocols.TellsAll`; None if another text was read last."""
        if self._scores_read is None or self._read != [*tokens, *written]:
            return None
        return self._all_of(self._scores_read)

    def _all_of(self, scores: torch.Tensor) -> Candidates:
        """All candidates by these *scores*."""
        with self._forgetting_if_it_fails():
            numbers = scores[: len(self.token_bytes)].float().cpu().numpy()
        return best_candidates(numbers, self.stops, len(numbers))

    def launch(self, token: int) -> Callable[[], Candidates]:
        """Begin to read one more token; on the CPU, reading waits until the result is asked for."""
        if self.is_asynchronous:
            return partial(self.finish_reading, self.begin_reading([token]))
        return partial(self.advance, token)

    def side_by_side(self, tokens: Sequence[int], room: int) -> CheckpointRows | None:
        """See `SideBySide`."""
        if not self.kv_cache.is_preallocated:
            return None
        if unread := tokens[self._keep_prefix([*tokens, PADDING]) :]:
            self.read_on(unread)
        return CheckpointRows(self.network, self.kv_cache.cache, room, self._ranked_rows, self._all_of)

    def begin_reading(self, tokens: Sequence[int]) -> torch.Tensor:
        """Read *tokens* after what was read; `finish_reading` turns the result into candidates.

        On a GPU the result is returned before it has been computed.
        """
        scores = self.read_on(tokens)
        with self._forgetting_if_it_fails():
            return self.ranking.begin(scores[None])

    def finish_reading(self, prepared: torch.Tensor) -> Candidates:
        """What may follow the tokens for which `begin_reading` gave *prepared*; waits for the device."""
        with self._forgetting_if_it_fails():
            (candidates,) = self.ranking.finish(prepared)
        return candidates

    def read_on(self, tokens: Sequence[int]) -> torch.Tensor:
        """Scores [vocabulary] of what follows *tokens*, read after what was read."""
        if len(self._read) + len(tokens) > self.kv_cache.context:
            raise ValueError(
                f"{len(self._read)} tokens were read and {len(tokens)} more do not fit into a context of "
                f"{self.kv_cache.context}"
            )
        with self._forgetting_if_it_fails():
            scores = self._scores(tokens)
        self._read.extend(tokens)
        self._scores_read = scores
        return scores

    @torch.inference_mode()
    def _scores(self, tokens: Sequence[int]) -> torch.Tensor:
        if self.step and len(tokens) == 1:
            return self.step(tokens[0], len(self._read))[: len(self.token_bytes)]
        ids = sent([tokens], self.network.device)
        output = self.network(
            input_ids=ids, past_key_values=self.kv_cache.cache, use_cache=True, logits_to_keep=1
        )
        scores: torch.Tensor = output.logits[0, -1, : len(self.token_bytes)]
        return scores

    def _ranked_rows(self, read: Callable[[], torch.Tensor]) -> list[Candidates]:
        """Candidates for each row of the scores that *read* gives."""
        with self._forgetting_if_it_fails():
            return self.ranking.finish(self.ranking.begin(read()[:, : len(self.token_bytes)]))

    def _keep_prefix(self, text: Sequence[int]) -> int:
        """Forget all that was read except its common beginning with *text*; how many tokens that has."""
        known = self.kv_cache.keep(n_known(self._read, text))
        del self._read[known:]
        return known

    @contextmanager
    def _forgetting_if_it_fails(self) -> Iterator[None]:
        """Forget everything if an error comes through: some layers may have read what others have not."""
        try:
            yield
        except BaseException as error:
            self._forget()
            if is_out_of_memory(error):
                raise OutOfMemoryError(
                    "The device ran out of memory while completing; close what else uses it and load the "
                    "model again, or load it in 4 bits or on another device."
                ) from error
            raise

    def _forget(self) -> None:
        self.kv_cache.clear()
        self._read.clear()
        self._scores_read = None
        if self.network.device.type == "cuda":
            self.step = None  # its graphs write into memory that is freed now
            torch.cuda.empty_cache()


def _check_architecture(files: CheckpointFiles) -> None:
    """Raise if transformers would take the checkpoint for another network than it is.

    Raises:
        ModelError: the checkpoint needs code of its own.
    """
    known = MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.get(files.architecture)
    told = files.config.get("architectures")
    meant = next(iter(told), known) if isinstance(told, list) else known
    if known is None or meant != known:
        instead = "bigcode/gpt_bigcode-santacoder" if known == "GPT2LMHeadModel" else "bigcode/starcoder2-3b"
        raise ModelError(
            f"{files.name} is a {meant or files.architecture}, for which it brings code of its own that is "
            f"not run here; use a model of an architecture that transformers has, such as {instead}."
        )
    for key, value in _implementations(files.config):
        if value not in IMPLEMENTATIONS:
            raise ModelError(
                f"config.json of {files.name} asks for code of its own for {key}, which is not fetched; "
                f"remove that line."
            )


def _implementations(config: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """What *config*, and the configurations in it, ask to be computed by: keys and values."""
    waiting = deque([config])
    while waiting:
        for key, value in waiting.popleft().items():
            if key.endswith(IMPLEMENTATION_KEY):
                yield key, value
            elif isinstance(value, Mapping):
                waiting.append(value)


def _quantisation(placement: Placement) -> Mapping[str, Any]:
    """The arguments that make transformers quantise while it loads."""
    if placement.bits is None or placement.is_int8:
        return {}
    config = BitsAndBytesConfig(  # type: ignore[no-untyped-call]  # transformers gives it no types
        load_in_4bit=placement.bits == 4,
        load_in_8bit=placement.bits == 8,
        bnb_4bit_compute_dtype=placement.dtype,
        bnb_4bit_quant_type="nf4",
    )
    device = "cuda:0" if placement.device == "cuda" else placement.device
    return {"quantization_config": config, "device_map": {"": device}}


def _be_quiet() -> None:
    """Keep progress bars and advice of transformers off the terminal."""
    set_verbosity: Callable[[], None] = logging.set_verbosity_error
    disable_bar: Callable[[], None] = logging.disable_progress_bar
    set_verbosity()
    disable_bar()
