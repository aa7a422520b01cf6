"""Any causal language model of transformers as a `NextToken`, on a GPU or the CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from fimlsp.models.prefix_reuse import n_known
from fimlsp.models.protocols import Candidates
from fimlsp.models.ranking import best_candidates
from transformers import AutoModelForCausalLM, PreTrainedModel
from transformers.cache_utils import DynamicCache
from transformers.utils import logging

FULL_PRECISION_BYTES_MAX = 4 << 30


class CheckpointNetwork:
    """`NextToken` over a loaded checkpoint; reads one text at a time and keeps its keys and values."""

    def __init__(
        self, network: PreTrainedModel, token_bytes: Sequence[bytes | None], stops: frozenset[int]
    ) -> None:
        self.token_bytes = token_bytes
        self.stops = stops
        self._network = network
        self._cache = DynamicCache(config=network.config)
        self._read = list[int]()

    @classmethod
    def load(
        cls, folder: Path, device: str, token_bytes: Sequence[bytes | None], stops: frozenset[int]
    ) -> CheckpointNetwork:
        """Read the safetensors weights of *folder*; runs no code of the checkpoint and fetches nothing."""
        _be_quiet()
        network: PreTrainedModel = AutoModelForCausalLM.from_pretrained(
            folder,
            dtype=_dtype(folder, device),
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
        )
        torch.nn.Module.to(network, device)
        network.train(False)
        return cls(network, token_bytes, stops)

    def begin(self, tokens: Sequence[int], written: Sequence[int] = ()) -> Candidates:
        """Read a prompt and what was written; what was read before is reused as far as it is the same."""
        text = [*tokens, *written]
        known = n_known(self._read, text)
        return self._candidates(text[self._forget(known) :])

    def advance(self, token: int) -> Candidates:
        """Read one more token."""
        return self._candidates([token])

    def _forget(self, known: int) -> int:
        """Drop all but the first *known* tokens (all, where layers keep a window); how many are kept."""
        if any(self._cache.is_sliding) or known == 0:
            self._cache, known = DynamicCache(config=self._network.config), 0
        elif known < len(self._read):
            self._cache.crop(known - len(self._read))
        del self._read[known:]
        return known

    @torch.inference_mode()
    def _candidates(self, tokens: Sequence[int]) -> Candidates:
        ids = torch.tensor([list(tokens)], device=self._network.device)
        output = self._network(input_ids=ids, past_key_values=self._cache, use_cache=True, logits_to_keep=1)
        self._read.extend(tokens)
        return best_candidates(
            output.logits[0, -1, : len(self.token_bytes)].float().cpu().numpy(), self.stops
        )


def _be_quiet() -> None:
    """No progress bars and advice on the terminal: standard output belongs to the protocol of the caller."""
    set_verbosity: Callable[[], None] = logging.set_verbosity_error
    disable_bar: Callable[[], None] = logging.disable_progress_bar
    set_verbosity()
    disable_bar()


def default_device() -> str:
    """`cuda` where torch finds one, else `cpu`."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def _dtype(folder: Path, device: str) -> torch.dtype:
    """Half precision on a GPU and for weights that would not fit into memory in full precision."""
    if device.startswith("cuda"):
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    size = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    return torch.float32 if size <= FULL_PRECISION_BYTES_MAX else torch.bfloat16
