"""Finds models of the hub on this machine, and fetches one when the user asks.

Only `fetch` uses the network, and nothing here runs while completing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fimlsp.models.checkpoints.download import download
from fimlsp.models.errors import ModelError

DEFAULT_FOR_GPU = "bigcode/gpt_bigcode-santacoder"
HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
# Weights that can hold no code, the configuration and the tokenizer.
HUB_FILES = [
    "*.safetensors",
    "*.safetensors.index.json",
    "config.json",
    "tokenizer*",
    "*.model",
    "vocab.json",
    "merges.txt",
    "special_tokens_map.json",
    "added_tokens.json",
]


@dataclass(frozen=True, slots=True)
class CachedModel:
    """A model on this machine: its hub name, and the size of its files in bytes."""

    name: str
    size: int


def find_folder(name_or_path: str, revision: str | None = None) -> Path:
    """The folder of a checkpoint; a hub name is looked up among the models already on this machine.

    Raises:
        ModelError: there is no such folder, or the model is not on this machine.
    """
    folder = Path(name_or_path).expanduser()
    if folder.is_dir():
        return folder
    check_name(name_or_path)
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(
            snapshot_download(
                name_or_path, revision=revision, allow_patterns=HUB_FILES, local_files_only=True
            )
        )
    except (LocalEntryNotFoundError, HfHubHTTPError, HFValidationError, OSError) as error:
        wanted = f"{name_or_path} --revision {revision}" if revision else name_or_path
        raise ModelError(
            f"{name_or_path}{f' at {revision}' if revision else ''} is not on this machine; "
            f"fetch it once with `fimlsp models pull {wanted}`, or give the folder of a checkpoint."
        ) from error


def fetch(name: str, revision: str | None = None) -> Path:
    """Download a model's weights (safetensors only), configuration and tokenizer; the folder they are in.

    Goes on where an interrupted download was, and checks every file against the checksum that the hub gives.
    Shows progress on standard error.

    Raises:
        ModelError: the hub cannot be reached, has no such model or answers nonsense, or a file came damaged.
    """
    check_name(name)
    from huggingface_hub.errors import (
        GatedRepoError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    try:
        return download(name, revision, HUB_FILES)
    except GatedRepoError as error:
        raise ModelError(
            f"{name} asks for consent first: accept its terms on its page of the hub, then `hf auth login`."
        ) from error
    except RepositoryNotFoundError as error:
        raise ModelError(f"The hub has no model {name}; `fimlsp models list` tells which work.") from error
    except RevisionNotFoundError as error:
        raise ModelError(f"{name} has no revision {revision}; leave it out for the newest.") from error
    except ModelError:
        raise
    except Exception as error:  # the network may fail in many ways, which have no common class
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise ModelError(f"{name} cannot be fetched ({reason}); what came is kept, try again.") from error


def check_name(name: str) -> None:
    """Raise unless *name* looks like a name of the hub.

    Raises:
        ModelError: it does not.
    """
    if not HUB_NAME.fullmatch(name) or name.startswith((".", "/")):
        raise ModelError(f"{name} is neither a folder nor a hub name like {DEFAULT_FOR_GPU}.")


def cached_models() -> Iterator[CachedModel]:
    """The models of the hub that are on this machine, in the order of their names."""
    from huggingface_hub import scan_cache_dir
    from huggingface_hub.errors import CacheNotFound

    try:
        repositories = scan_cache_dir().repos
    except CacheNotFound:
        return
    for repository in sorted(repositories, key=lambda found: found.repo_id.lower()):
        if repository.repo_type == "model":
            yield CachedModel(repository.repo_id, repository.size_on_disk)
