"""Reads a checkpoint folder: configuration, headers of the weights, and tokenizer.

Only data is read, from regular files of bounded size; weights as safetensors, since a pickle can run code
when it is read. What cannot be used is reported in one sentence with its remedy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from tokenizers import Tokenizer

from fimlsp.models.catalogue import MODELS_THAT_WORK
from fimlsp.models.checkpoints.regular_files import (
    CONFIG_BYTES_MAX,
    TEXT_BYTES_MAX,
    check_regular,
    read_bounded,
)
from fimlsp.models.errors import MissingExtraError, ModelError, is_panic, require

BUFFER_KEY = "fimlsp_buffer_cache"
PROMPT_KEY = "fimlsp_prompt_tokens"
READ_WHOLE = (".json", ".jinja", ".model", ".txt")
"""Endings of files that transformers or the tokenizer may read as a whole."""

TOKENS_MAX = 1 << 22
"""Tables of tokens are as long as the largest id, and the libraries walk through all ids below it."""

INDEX = "model.safetensors.index.json"
_LAYER = re.compile(r"\b(?:layers|h)\.(\d+)\.")


@dataclass(frozen=True, slots=True)
class CheckpointFiles:
    """A folder whose files are all there.

    Attributes:
        name: how the model was asked for.
        folder: where the files are.
        config: content of `config.json`.
        weights: the safetensors files.
        n_parameters: how many numbers these hold.
        tokenizer: the tokenizer.
    """

    name: str
    folder: Path
    config: Mapping[str, Any]
    weights: Sequence[Path]
    n_parameters: int
    tokenizer: Tokenizer

    @property
    def architecture(self) -> str:
        """The `model_type`."""
        return str(self.config["model_type"])

    @property
    def asks_for_buffer(self) -> bool:
        """Whether the model is to be mixed with the buffer cache, as `fimlsp train` writes it."""
        return self.config.get(BUFFER_KEY) is True

    @property
    def prompt_tokens(self) -> int | None:
        """How many tokens around a cursor the model is to read at most; None if as many as fit."""
        told = self.config.get(PROMPT_KEY)
        return told if type(told) is int and told > 0 else None


def read_files(folder: Path, name: str) -> CheckpointFiles:
    """Look at the checkpoint in *folder*, which the user knows as *name*.

    Raises:
        ModelError: a file is missing, damaged, too large or not a regular file.
    """
    config = _read_config(folder, name)
    _check_other_files(folder, name)
    weights = _find_weights(folder, name)
    sizes = {tensor: size for path in weights for tensor, size in _sizes(path, name).items()}
    _check_layers(sizes, config, name)
    return CheckpointFiles(name, folder, config, weights, sum(sizes.values()), read_tokenizer(folder, name))


def _read_config(folder: Path, name: str) -> Mapping[str, Any]:
    try:
        config = json.loads(read_bounded(folder / "config.json", CONFIG_BYTES_MAX))
    except FileNotFoundError as error:
        raise ModelError(
            f"{name} has no config.json; give the folder that holds the whole checkpoint."
        ) from error
    except (ValueError, OSError, RecursionError) as error:
        raise ModelError(
            f"config.json of {name} cannot be read ({error}); fetch the checkpoint again."
        ) from error
    if not (isinstance(config, dict) and isinstance(config.get("model_type"), str)):
        raise ModelError(
            f"config.json of {name} has no model_type; fetch the checkpoint again, or another one."
        )
    return config


def _check_other_files(folder: Path, name: str) -> None:
    """Raise if a file that some library might read would block it, or fill the memory."""
    try:
        for path in folder.iterdir():
            if path.exists() and not path.is_dir():
                check_regular(path, TEXT_BYTES_MAX if path.suffix in READ_WHOLE else None)
    except OSError as error:
        raise ModelError(
            f"The folder of {name} cannot be used ({error}); fetch the checkpoint again."
        ) from error


def _find_weights(folder: Path, name: str) -> list[Path]:
    listed = _listed_weights(folder, name)
    missing = [path.name for path in listed if not path.exists()]
    if missing:
        raise ModelError(
            f"{name} lacks {missing[0]}, one of its {len(listed)} files of weights; fetch it again."
        )
    if listed:
        return listed
    weights = sorted(folder.glob("*.safetensors"))
    if weights:
        return weights
    if any(folder.glob("*.bin")):
        raise ModelError(
            f"{name} has its weights as pickles only, which could run code when read; "
            f"use a checkpoint with .safetensors files, such as {MODELS_THAT_WORK}."
        )
    raise ModelError(f"{name} has no .safetensors file; give the folder that holds the whole checkpoint.")


def _listed_weights(folder: Path, name: str) -> list[Path]:
    """The shards that the index names, if there is one."""
    index = folder / INDEX
    if not index.exists():
        return []
    try:
        weight_map = json.loads(read_bounded(index, TEXT_BYTES_MAX))["weight_map"]
        listed = {Path(file) for file in weight_map.values()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ModelError(f"{INDEX} of {name} cannot be read; fetch the checkpoint again.") from error
    if any(file.is_absolute() or ".." in file.parts for file in listed):
        raise ModelError(f"{INDEX} of {name} names files of other folders, which are not read.")
    return sorted(folder / file for file in listed)


def _sizes(path: Path, name: str) -> dict[str, int]:
    """How many numbers each tensor of a file has."""
    try:
        check_regular(path)
        with safe_open(path, "np") as tensors:
            return {key: prod(tensors.get_slice(key).get_shape()) for key in tensors.keys()}  # noqa: SIM118 - no mapping
    except (SafetensorError, OSError) as error:
        raise ModelError(
            f"{path.name} of {name} is damaged or cut short ({error}); fetch it again."
        ) from error


def _check_layers(tensors: Iterable[str], config: Mapping[str, Any], name: str) -> None:
    """Raise if there are weights of layers that *config* does not mention: they would be ignored silently."""
    named = config.get("num_hidden_layers", config.get("n_layer"))
    further = config.get("num_nextn_predict_layers")  # for tokens beyond the next, left out on purpose
    there = 1 + max([int(layer) for tensor in tensors for layer in _LAYER.findall(tensor)], default=-1)
    if isinstance(named, int) and named + (further if isinstance(further, int) else 0) < there:
        raise ModelError(
            f"{name} has the weights of {there} layers, but its config.json says {named}; "
            f"fetch the checkpoint again."
        )


def read_tokenizer(folder: Path, name: str) -> Tokenizer:
    """The tokenizer of the checkpoint in *folder*, which the user knows as *name*.

    Raises:
        ModelError: there is none, or it cannot be read.
    """
    path = folder / "tokenizer.json"
    try:
        if path.exists():
            tokenizer = Tokenizer.from_buffer(read_bounded(path, TEXT_BYTES_MAX))
        else:
            require("checkpoints", f"{name} has no tokenizer.json, so it needs PyTorch and transformers")
            tokenizer = _converted_tokenizer(folder)
        ids = tokenizer.get_vocab(with_added_tokens=True).values()
    except ImportError as error:
        raise MissingExtraError(
            "sentencepiece", f"The tokenizer of {name} is one of SentencePiece"
        ) from error
    except BaseException as error:  # the tokenizers library raises no narrower class, and panics
        if not (isinstance(error, Exception) or is_panic(error)):
            raise
        raise ModelError(f"The tokenizer of {name} cannot be read; fetch the checkpoint again.") from error
    if max(ids, default=0) >= TOKENS_MAX:
        raise ModelError(f"The tokenizer of {name} has a token of number {max(ids)}; use another checkpoint.")
    return tokenizer


def _converted_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer of a checkpoint that has only the files of a slow one; needs transformers."""
    from transformers import AutoTokenizer

    converted = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    return Tokenizer.from_str(converted.backend_tokenizer.to_str())
