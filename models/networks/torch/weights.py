"""Reads the weights of a checkpoint with transformers, without running code of the checkpoint."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, BitsAndBytesConfig, PreTrainedModel
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
)
from transformers.utils import logging

from fimlsp.models.checkpoints.checkpoint_files import CheckpointFiles
from fimlsp.models.checkpoints.eight_bits import read_tensors, stored_bits
from fimlsp.models.errors import ModelError
from fimlsp.models.networks.torch.int8 import quantise
from fimlsp.models.networks.torch.placement import Placement

OnProgress = Callable[[float], None]

IMPLEMENTATION_KEY = "_implementation"
IMPLEMENTATIONS = (None, "eager", "sdpa")
"""The implementations that transformers and torch include; others may be downloaded from the hub and run."""


def read_weights(files: CheckpointFiles, placement: Placement, on_progress: OnProgress) -> PreTrainedModel:
    """The network of *files* at its *placement*, from safetensors weights; nothing is downloaded.

    *on_progress* receives the share of the weights that is loaded, from 0 to 1.

    Raises:
        ModelError: the architecture is not one of transformers' own, or weights are missing.
    """
    _check_architecture(files)
    _check_implementations(files)
    _silence_transformers()
    network: PreTrainedModel
    read, place = _reader(files)
    with _reporting_progress(on_progress):
        network, report = read(
            **place,
            dtype="auto" if placement.is_int8 else placement.dtype,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
            **_quantisation(placement),
        )
    if missing := sorted(report["missing_keys"]):
        raise ModelError(
            f"{files.name} lacks {len(missing)} of its weights, {missing[0]} first; download it again."
        )
    if placement.is_int8:
        quantise(network)
    elif placement.bits is None:
        torch.nn.Module.to(network, placement.device)
    network.train(False)
    return network


def _reader(files: CheckpointFiles) -> tuple[Callable[..., Any], Mapping[str, Any]]:
    """The function of transformers that reads *files*, with arguments: a folder, or weights of 8 bits."""
    if stored_bits(files.config) != 8:
        read: Callable[..., Any] = AutoModelForCausalLM.from_pretrained
        return read, {"pretrained_model_name_or_path": files.folder}
    auto_config: Any = AutoConfig
    config = auto_config.from_pretrained(files.folder, local_files_only=True)
    weights = {name: torch.from_numpy(value) for name, value in read_tensors(files.weights).items()}
    network: Any = MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]
    return network.from_pretrained, {
        "pretrained_model_name_or_path": None,
        "config": config,
        "state_dict": weights,
    }


def _check_architecture(files: CheckpointFiles) -> None:
    """Raise a ModelError if transformers would load the checkpoint as another network than it is."""
    known = MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.get(files.architecture)
    declared = files.config.get("architectures")
    name = next(iter(declared), known) if isinstance(declared, list) else known
    if known is None or name != known:
        instead = "bigcode/gpt_bigcode-santacoder" if known == "GPT2LMHeadModel" else "bigcode/starcoder2-3b"
        raise ModelError(
            f"{files.name} is a {name or files.architecture}, for which it brings code of its own that is "
            f"not run here; use a model of an architecture that transformers has, such as {instead}."
        )


def _check_implementations(files: CheckpointFiles) -> None:
    """Raise a ModelError if config.json selects an implementation that would have to be downloaded."""
    for key, value in _implementations(files.config):
        if value not in IMPLEMENTATIONS:
            raise ModelError(
                f"config.json of {files.name} asks for code of its own for {key}, which is not downloaded; "
                f"remove that line."
            )


def _implementations(config: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Keys and values in *config*, and in the configurations nested in it, that select implementations."""
    pending = deque([config])
    while pending:
        for key, value in pending.popleft().items():
            if key.endswith(IMPLEMENTATION_KEY):
                yield key, value
            elif isinstance(value, Mapping):
                pending.append(value)


def _quantisation(placement: Placement) -> Mapping[str, Any]:
    """The arguments that make transformers quantise with bitsandbytes while it loads; none otherwise."""
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


def _silence_transformers() -> None:
    """Keep progress bars and advice of transformers off the terminal."""
    set_verbosity: Callable[[], None] = logging.set_verbosity_error
    disable_bar: Callable[[], None] = logging.disable_progress_bar
    set_verbosity()
    disable_bar()


@contextmanager
def _reporting_progress(on_progress: OnProgress) -> Iterator[None]:
    """Within this context transformers reports the share of loaded weights to *on_progress*.

    Its progress bars are replaced. Versions of transformers without a hook for them report nothing.
    """
    set_hook: Callable[[Any], Any] | None = getattr(logging, "set_tqdm_hook", None)
    if set_hook is None:
        yield
        return

    def bar(factory: Callable[..., Any], arguments: tuple[Any, ...], options: Mapping[str, Any]) -> object:
        return _counted(arguments[0], on_progress) if arguments else factory(**options)

    previous = set_hook(bar)
    try:
        yield
    finally:
        set_hook(previous)


def _counted(items: Iterable[Any], on_progress: OnProgress) -> Iterator[Any]:
    """The *items*; *on_progress* receives the share already yielded before each of them, and 1 at the end."""
    items = list(items)
    for number, item in enumerate(items):
        on_progress(number / len(items))
        yield item
    on_progress(1.0)
