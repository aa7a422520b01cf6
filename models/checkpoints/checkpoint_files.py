"""Reads a checkpoint folder: configuration, headers of the weights, and tokenizer.

Only data is read, from regular files of bounded size. Weights must be safetensors, since a pickle can run
code when it is read. Errors give the reason and the remedy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path, PurePath
from typing import Any

from safetensors import SafetensorError, safe_open
from tokenizers import Tokenizer

from fimlsp.models.catalogue import MODELS_THAT_WORK
from fimlsp.models.errors import MissingExtraError, ModelError, is_panic, require
from fimlsp.models.prompts.chat_template import ChatTemplate, encode_marked
from fimlsp.models.regular_files import CONFIG_BYTES_MAX, TEXT_BYTES_MAX, check_regular, read_bounded

BUNDLED = Path(__file__).parents[1] / "bundled"
"""The folder of the bundled model."""

BUFFER_KEY = "fimlsp_buffer_cache"
PROMPT_KEY = "fimlsp_prompt_tokens"
READ_WHOLE = (".json", ".jinja", ".model", ".txt")
"""Suffixes of files that transformers or the tokenizer may read as a whole."""

TOKENS_MAX = 1 << 22
"""Limit of token ids: libraries make tables as long as the largest id, and walk through them."""

END_KEYS = (
    ("config.json", "eos_token_id"),
    ("generation_config.json", "eos_token_id"),
    ("tokenizer_config.json", "eos_token"),
)
"""The files of a checkpoint that declare tokens that end its texts."""

INDEX = "model.safetensors.index.json"
_LAYER = re.compile(r"\b(?:layers|h)\.(\d+)\.")


@dataclass(frozen=True, slots=True)
class CheckpointFiles:
    """A complete checkpoint folder.

    Attributes:
        name: name of the model, as the user gave it.
        folder: folder of the files.
        config: content of `config.json`.
        weights: the safetensors files.
        n_parameters: number of values in them.
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
        """True if the model is to be mixed with the buffer cache, as `fimlsp train` declares."""
        return self.config.get(BUFFER_KEY) is True

    @property
    def prompt_tokens(self) -> int | None:
        """Maximum number of tokens around a cursor that the model reads; None: as many as fit."""
        limit = self.config.get(PROMPT_KEY)
        return limit if type(limit) is int and limit > 0 else None


def read_files(folder: Path, name: str) -> CheckpointFiles:
    """Read the checkpoint in *folder*, which the user knows as *name*.

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
            f"Cannot load {name}: it has no config.json. Give the folder of the whole checkpoint."
        ) from error
    except (ValueError, OSError, RecursionError) as error:
        raise ModelError(
            f"Cannot read config.json of {name}: {error}. Download the checkpoint again."
        ) from error
    if not (isinstance(config, dict) and isinstance(config.get("model_type"), str)):
        raise ModelError(
            f"Cannot load {name}: its config.json has no model_type. Download it again, or use another model."
        )
    return config


def _check_other_files(folder: Path, name: str) -> None:
    """Raise if a file could block a library that reads it, or fill the memory."""
    try:
        for path in folder.iterdir():
            if path.exists() and not path.is_dir():
                check_regular(path, TEXT_BYTES_MAX if path.suffix in READ_WHOLE else None)
    except OSError as error:
        raise ModelError(
            f"Cannot use the folder of {name}: {error}. Download the checkpoint again."
        ) from error


def _find_weights(folder: Path, name: str) -> list[Path]:
    listed = _listed_weights(folder, name)
    missing = [path.name for path in listed if not path.exists()]
    if missing:
        raise ModelError(f"Cannot load {name}: its weight file {missing[0]} is missing. Download it again.")
    if listed:
        return listed
    weights = sorted(folder.glob("*.safetensors"))
    if weights:
        return weights
    if any(folder.glob("*.bin")):
        raise ModelError(
            f"Cannot load {name}: its weights are pickles, which can run code when they are read. "
            f"Use a checkpoint with .safetensors files, such as {MODELS_THAT_WORK}."
        )
    raise ModelError(
        f"Cannot load {name}: it has no .safetensors file. Give the folder of the whole checkpoint."
    )


def leads_outside(file: PurePath) -> bool:
    """True if *file*, taken as relative to a folder, may lie elsewhere.

    On Windows `c:a` and `/a` are not absolute, and yet lie on another drive or at its root.
    """
    return bool(file.anchor) or ".." in file.parts


def _listed_weights(folder: Path, name: str) -> list[Path]:
    """The shards in the index, if there is one."""
    index = folder / INDEX
    if not index.exists():
        return []
    try:
        weight_map = json.loads(read_bounded(index, TEXT_BYTES_MAX))["weight_map"]
        listed = {Path(file) for file in weight_map.values()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ModelError(f"Cannot read {INDEX} of {name}. Download the checkpoint again.") from error
    if any(leads_outside(file) for file in listed):
        raise ModelError(
            f"Cannot load {name}: {INDEX} lists files outside the folder. Use another checkpoint."
        )
    return sorted(folder / file for file in listed)


def _sizes(path: Path, name: str) -> dict[str, int]:
    """Number of values of each tensor in a file."""
    try:
        check_regular(path)
        with safe_open(path, "np") as tensors:
            return {key: prod(tensors.get_slice(key).get_shape()) for key in tensors.keys()}  # noqa: SIM118 - not a mapping
    except (SafetensorError, OSError) as error:
        raise ModelError(
            f"Cannot read {path.name} of {name}: damaged or cut short ({error}). Download it again."
        ) from error


def _check_layers(tensors: Iterable[str], config: Mapping[str, Any], name: str) -> None:
    """Raise if there are weights of more layers than *config* declares: they would be ignored silently."""
    declared = config.get("num_hidden_layers", config.get("n_layer"))
    extra = config.get("num_nextn_predict_layers")  # for tokens beyond the next, left out on purpose
    present = 1 + max([int(layer) for tensor in tensors for layer in _LAYER.findall(tensor)], default=-1)
    if isinstance(declared, int) and declared + (extra if isinstance(extra, int) else 0) < present:
        raise ModelError(
            f"Cannot load {name}: it has the weights of {present} layers, but config.json has {declared}. "
            f"Download the checkpoint again."
        )


def read_tokenizer(folder: Path, name: str) -> Tokenizer:
    """The tokenizer of the checkpoint in *folder*, which the user knows as *name*.

    Raises:
        ModelError: it is missing or unreadable.
    """
    path = folder / "tokenizer.json"
    try:
        if path.exists():
            tokenizer = Tokenizer.from_buffer(read_bounded(path, TEXT_BYTES_MAX))
        else:
            require("checkpoints", f"Cannot load {name}: without a tokenizer.json it needs transformers")
            tokenizer = _converted_tokenizer(folder)
        ids = tokenizer.get_vocab(with_added_tokens=True).values()
    except ImportError as error:
        raise MissingExtraError(
            "sentencepiece", f"Cannot load {name}: its tokenizer needs SentencePiece"
        ) from error
    except BaseException as error:  # the tokenizers library raises no narrower class, and panics
        if not (isinstance(error, Exception) or is_panic(error)):
            raise
        raise ModelError(f"Cannot read the tokenizer of {name}. Download the checkpoint again.") from error
    if max(ids, default=0) >= TOKENS_MAX:
        raise ModelError(f"Cannot load {name}: token id {max(ids)} is too large. Use another checkpoint.")
    return tokenizer


def end_tokens(folder: Path, tokenizer: Tokenizer) -> frozenset[int]:
    """The tokens that end texts, as the files of a checkpoint's *folder* declare; only markers count."""
    added = {token: entry.content for token, entry in tokenizer.get_added_tokens_decoder().items()}
    declared = list[object]()
    for file, key in END_KEYS:
        try:
            value = json.loads(read_bounded(folder / file, TEXT_BYTES_MAX)).get(key)
        except (OSError, ValueError, AttributeError, RecursionError):
            continue  # a checkpoint need not have this file
        values = value if isinstance(value, list) else [value]
        declared += [entry.get("content") if isinstance(entry, dict) else entry for entry in values]
    return frozenset(token for token, text in added.items() if token in declared or text in declared)


def template_beside(folder: Path, tokenizer: Tokenizer) -> ChatTemplate | None:
    """The template of the checkpoint in *folder*; None if it has none, or an unreadable one."""
    config = _tokenizer_config(folder)
    try:
        text = read_bounded(folder / "chat_template.jinja", TEXT_BYTES_MAX).decode()
    except (OSError, UnicodeDecodeError):
        text = _default_template(config.get("chat_template"))
    if not text:
        return None
    added = {entry.content: token for token, entry in tokenizer.get_added_tokens_decoder().items()}
    start, end = (_token_text(config.get(key)) for key in ("bos_token", "eos_token"))
    return ChatTemplate(text, start, end, lambda part: encode_marked(part, added, tokenizer))


def _tokenizer_config(folder: Path) -> Mapping[str, Any]:
    try:
        config = json.loads(read_bounded(folder / "tokenizer_config.json", TEXT_BYTES_MAX))
    except (OSError, ValueError, RecursionError):
        return {}
    return config if isinstance(config, dict) else {}


def _default_template(value: object) -> str:
    """The template for conversations, which may be one of several with names."""
    if isinstance(value, list):
        named = {entry.get("name"): entry.get("template") for entry in value if isinstance(entry, dict)}
        value = named.get("default")
    return value if isinstance(value, str) else ""


def _token_text(value: object) -> str:
    text = value.get("content") if isinstance(value, dict) else value
    return text if isinstance(text, str) else ""


def _converted_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer of a checkpoint with only the files of a slow tokenizer; needs transformers."""
    from transformers import AutoTokenizer

    converted = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    return Tokenizer.from_str(converted.backend_tokenizer.to_str())
