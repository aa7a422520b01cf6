"""From a name to a model: the bundled one, a checkpoint folder, or a hub name whose files are here.

Only data is read: weights as safetensors (a pickle can run code), architectures that transformers itself
has (no code from the checkpoint), and no network unless *download* says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fimlsp.models import small
from fimlsp.models.errors import ModelError
from fimlsp.models.fim_format import MODELS_THAT_WORK, FimFormat, find_format
from fimlsp.models.protocols import NextToken
from fimlsp.models.vocabulary import Vocabulary, read_vocabulary
from safetensors import SafetensorError
from tokenizers import Tokenizer

BUNDLED = Path(__file__).parent / "bundled"
DEFAULT_FOR_GPU = "bigcode/gpt_bigcode-santacoder"
HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
HUB_FILES = ["*.json", "*.safetensors", "*.model", "*.txt"]
CONTEXT_MAX = {"cpu": 2048, "cuda": 8192}


@dataclass(frozen=True, slots=True)
class FimModel:
    """A loaded model.

    Attributes:
        name: as it was asked for.
        network: what predicts tokens.
        vocabulary: token ids and bytes.
        fim: markers and order of the prompt.
        context: how many tokens prompt and middle may have together.
        device: `cpu` or `cuda`.
        uses_buffer: whether predictions are mixed with what the buffer suggests, as helps a small network.
    """

    name: str
    network: NextToken
    vocabulary: Vocabulary
    fim: FimFormat
    context: int
    device: str
    uses_buffer: bool


def load_model(
    name_or_path: str | None = None, *, device: str | None = None, download: bool = False
) -> FimModel:
    """Load a fill-in-the-middle model.

    Args:
        name_or_path: a folder, or a hub name such as `bigcode/gpt_bigcode-santacoder`; None: the bundled
            model.
        device: `cpu`, `cuda` or `cuda:N`; None: a GPU if there is one (the bundled model always runs on the
            CPU).
        download: whether a hub model that is not on this machine may be fetched.

    Raises:
        ModelError: with one sentence on what to do about it.
    """
    folder = BUNDLED if name_or_path is None else find_folder(name_or_path, download)
    name = name_or_path or "bundled"
    config, weights = _read_config(folder, name), _find_weights(folder, name)
    tokenizer = _read_tokenizer(folder, name)
    fim = find_format(tokenizer.get_vocab(with_added_tokens=True), name)
    vocabulary = read_vocabulary(tokenizer, fim.markers)
    small_fits = device in (None, "cpu") and small.fits(config, weights)
    device = "cpu" if small_fits else device or _default_device()
    try:
        network: NextToken
        if small_fits:
            network = small.SmallNetwork.load(config, weights, vocabulary.token_bytes, fim.stops)
        else:
            network = _load_with_transformers(folder, device, vocabulary, fim)
    except (OSError, ValueError, KeyError, RuntimeError, AssertionError, SafetensorError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise ModelError(
            f"{name} cannot be loaded on {device} ({reason}); "
            f"use another model, such as {MODELS_THAT_WORK}, or another device."
        ) from error
    context = min(_context(config), CONTEXT_MAX[device.partition(":")[0]])
    return FimModel(name, network, vocabulary, fim, context, device, uses_buffer=small_fits)


def find_folder(name_or_path: str, download: bool = False) -> Path:
    """Folder of a checkpoint; a hub name is looked up among the models already on this machine.

    Raises:
        ModelError: there is no such folder, or the model is not on this machine.
    """
    folder = Path(name_or_path).expanduser()
    if folder.is_dir():
        return folder
    if not HUB_NAME.fullmatch(name_or_path) or name_or_path.startswith((".", "/")):
        raise ModelError(f"{name_or_path} is neither a folder nor a hub name like {DEFAULT_FOR_GPU}.")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name_or_path, local_files_only=not download, allow_patterns=HUB_FILES))
    except (LocalEntryNotFoundError, HfHubHTTPError, HFValidationError, OSError) as error:
        raise ModelError(
            f"{name_or_path} is not on this machine; fetch it once with `hf download {name_or_path}`, "
            f"or give the folder of a checkpoint."
        ) from error


def _read_config(folder: Path, name: str) -> Mapping[str, Any]:
    try:
        config: Mapping[str, Any] = json.loads((folder / "config.json").read_text())
    except FileNotFoundError as error:
        raise ModelError(
            f"{name} has no config.json; give the folder that holds the whole checkpoint."
        ) from error
    except ValueError as error:
        raise ModelError(
            f"config.json of {name} is not valid JSON ({error}); fetch the checkpoint again."
        ) from error
    return config


def _find_weights(folder: Path, name: str) -> list[Path]:
    weights = sorted(folder.glob("*.safetensors"))
    if weights:
        return weights
    if any(folder.glob("*.bin")):
        raise ModelError(
            f"{name} has its weights as pickles only, which could run code when read; "
            f"use a checkpoint with .safetensors files, such as {MODELS_THAT_WORK}."
        )
    raise ModelError(f"{name} has no .safetensors file; give the folder that holds the whole checkpoint.")


def _read_tokenizer(folder: Path, name: str) -> Tokenizer:
    path = folder / "tokenizer.json"
    try:
        return Tokenizer.from_file(str(path)) if path.exists() else _convert_tokenizer(folder)
    except Exception as error:  # the tokenizers library raises no narrower type
        raise ModelError(f"The tokenizer of {name} cannot be read; fetch the checkpoint again.") from error


def _convert_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer of a checkpoint that has only the files of a slow one."""
    from transformers import AutoTokenizer

    converted = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    return Tokenizer.from_str(converted.backend_tokenizer.to_str())


def _load_with_transformers(folder: Path, device: str, vocabulary: Vocabulary, fim: FimFormat) -> NextToken:
    from fimlsp.models.checkpoint import CheckpointNetwork

    return CheckpointNetwork.load(folder, device, vocabulary.token_bytes, fim.stops)


def _default_device() -> str:
    from fimlsp.models.checkpoint import default_device

    return default_device()


def _context(config: Mapping[str, Any]) -> int:
    return int(
        config.get("max_position_embeddings") or config.get("n_positions") or min(CONTEXT_MAX.values())
    )
