"""Any causal language model of transformers as a `NextToken`, on a GPU or the CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from fimlsp.models.checkpoints.checkpoint_files import CheckpointFiles
from fimlsp.models.errors import ModelError, OutOfMemoryError
from fimlsp.models.networks.prefix_reuse import n_known
from fimlsp.models.networks.torch.captured_step import captured_step
from fimlsp.models.networks.torch.exchange import ranking_for, sent
from fimlsp.models.networks.torch.int8 import quantise
from fimlsp.models.networks.torch.kv_cache import KVCache
from fimlsp.models.networks.torch.loading_share import Tell, telling
from fimlsp.models.networks.torch.placement import Placement
from fimlsp.models.networks.torch.recorded_step import recorded_step
from fimlsp.models.networks.torch.rows import PADDING, CheckpointRows
from fimlsp.models.protocols import Candidates
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
from transformers.utils import logging


class CheckpointNetwork:
    """`NextToken` over a loaded checkpoint; reads one text at a time and keeps its keys and values."""

    def __init__(
        self,
        network: PreTrainedModel,
        context: int,
        token_bytes: Sequence[bytes | None],
        stops: frozenset[int],
    ) -> None:
        self.token_bytes = token_bytes
        self.stops = stops
        self._network = network
        self._kept = KVCache(network.config, context)
        self._read = list[int]()
        self._step = captured_step(network, self._kept) or recorded_step(network, self._kept)
        known = min(len(token_bytes), network.config.vocab_size)
        self._ranking = ranking_for(network.device, [token for token in stops if token < known])
        self._is_elsewhere = network.device.type != "cpu"

    @classmethod
    def load(
        cls,
        files: CheckpointFiles,
        placement: Placement,
        token_bytes: Sequence[bytes | None],
        stops: frozenset[int],
        tell: Tell = lambda _: None,
    ) -> CheckpointNetwork:
        """Read the safetensors weights; runs no code of the checkpoint and fetches nothing.

        *tell* is called with the share of the weights that is there.

        Raises:
            ModelError: the architecture is not one of transformers' own, or weights are missing.
        """
        _check_architecture(files)
        _be_quiet()
        network: PreTrainedModel
        read: Any = AutoModelForCausalLM.from_pretrained
        with telling(tell):
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
        """Read a prompt and what was written; what was read before is reused as far as it is the same."""
        text = [*tokens, *written]
        known = self._kept.keep(n_known(self._read, text))
        del self._read[known:]
        return self._candidates(text[known:])

    def advance(self, token: int) -> Candidates:
        """Read one more token."""
        return self._candidates([token])

    def launch(self, token: int) -> Callable[[], Candidates]:
        """Begin to read one more token; on the CPU, when it is waited for."""
        if self._is_elsewhere:
            return partial(self._finished, self._begun([token]))
        return partial(self.advance, token)

    def side_by_side(self, tokens: Sequence[int], room: int) -> CheckpointRows | None:
        """See `SideBySide`."""
        if not self._kept.is_roomy:
            return None
        known = self._kept.keep(n_known(self._read, [*tokens, PADDING]))
        del self._read[known:]
        if rest := tokens[known:]:
            self._read_on(rest)
        return CheckpointRows(self._network, self._kept.cache, room, self._rows_ranked)

    def _rows_ranked(self, read: Callable[[], torch.Tensor]) -> list[Candidates]:
        """Candidates for each row of the scores that *read* gives."""
        with self._forgetting_if_it_fails():
            return self._ranking.finish(self._ranking.begin(read()[:, : len(self.token_bytes)]))

    def _candidates(self, tokens: Sequence[int]) -> Candidates:
        return self._finished(self._begun(tokens))

    def _begun(self, tokens: Sequence[int]) -> torch.Tensor:
        """What `_finished` makes the candidates behind *tokens* of; on a GPU it need not be there yet."""
        scores = self._read_on(tokens)
        with self._forgetting_if_it_fails():
            return self._ranking.begin(scores[None])

    def _read_on(self, tokens: Sequence[int]) -> torch.Tensor:
        """Scores [vocabulary] of what follows *tokens*."""
        with self._forgetting_if_it_fails():
            scores = self._logits(tokens)
        self._read.extend(tokens)
        return scores

    def _finished(self, begun: torch.Tensor) -> Candidates:
        with self._forgetting_if_it_fails():
            (candidates,) = self._ranking.finish(begun)
        return candidates

    @contextmanager
    def _forgetting_if_it_fails(self) -> Iterator[None]:
        """Around what may leave some layers having read what others have not; begin anew then."""
        try:
            yield
        except BaseException as error:
            self._forget()
            if _is_out_of_memory(error):
                raise OutOfMemoryError(
                    "The device ran out of memory while completing; close what else uses it and load the "
                    "model again, or load it in 4 bits or on another device."
                ) from error
            raise

    @torch.inference_mode()
    def _logits(self, tokens: Sequence[int]) -> torch.Tensor:
        """Scores of what follows *tokens*, [vocabulary]."""
        if self._step and len(tokens) == 1:
            return self._step(tokens[0], len(self._read))[: len(self.token_bytes)]
        ids = sent([tokens], self._network.device)
        output = self._network(
            input_ids=ids, past_key_values=self._kept.cache, use_cache=True, logits_to_keep=1
        )
        scores: torch.Tensor = output.logits[0, -1, : len(self.token_bytes)]
        return scores

    def _forget(self) -> None:
        self._kept.clear()
        self._read.clear()
        if self._network.device.type == "cuda":
            self._step = None  # it may write into room that is given back
            torch.cuda.empty_cache()


def _is_out_of_memory(error: BaseException) -> bool:
    """Torch has a type of its own for this on a GPU only."""
    told = "out of memory" in str(error) or "can't allocate memory" in str(error)
    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or (
        isinstance(error, RuntimeError) and told
    )


def _check_architecture(files: CheckpointFiles) -> None:
    """Raise if transformers would take the checkpoint for another network than it is."""
    known = MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.get(files.architecture)
    told = files.config.get("architectures")
    meant = next(iter(told), known) if isinstance(told, list) else known
    if known is None or meant != known:
        instead = "bigcode/gpt_bigcode-santacoder" if known == "GPT2LMHeadModel" else "bigcode/starcoder2-3b"
        raise ModelError(
            f"{files.name} is a {meant or files.architecture}, for which it brings code of its own that is "
            f"not run here; use a model of an architecture that transformers has, such as {instead}."
        )


def _quantisation(placement: Placement) -> Mapping[str, Any]:
    """What makes transformers quantise while it loads."""
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
    """No progress bars and advice on the terminal: standard output belongs to the protocol of the caller."""
    set_verbosity: Callable[[], None] = logging.set_verbosity_error
    disable_bar: Callable[[], None] = logging.disable_progress_bar
    set_verbosity()
    disable_bar()
