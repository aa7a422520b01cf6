"""Finds models of the hub on this machine, and fetches one when the user asks.

Only `fetch` uses the network, and nothing here runs while completing.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from fimlsp.models.checkpoints.download import Announcement, announce, download
from fimlsp.models.errors import ModelError

DEFAULT_FOR_GPU = "bigcode/gpt_bigcode-santacoder"
HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
GGUF = "*.gguf"
FILES_LISTED = 4
_PART = re.compile(r"-00001(-of-\d{5}\.gguf)$")
_ANY_PART = re.compile(r"-\d{5}-of-\d{5}\.gguf$")
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

    What looks like `owner/name` is always a hub name, never a folder of the working directory, which may be
    somebody else's workspace; such a folder is written `./owner/name`.

    Raises:
        ModelError: there is no such folder, or the model is not on this machine.
    """
    if not is_hub_name(name_or_path):
        folder = _folder(name_or_path)
        if folder is None:
            raise _neither(name_or_path)
        return folder
    cached = _cached_folder(name_or_path, revision)
    if cached is None:
        wanted = f"{name_or_path} --revision {revision}" if revision else name_or_path
        raise ModelError(
            f"{name_or_path}{f' at {revision}' if revision else ''} is not on this machine; fetch it once "
            f"with `fimlsp models pull {wanted}`, or give the folder of a checkpoint (./{name_or_path} for "
            f"one below the working directory)."
        )
    return cached


def find_on_command_line(name_or_path: str) -> str:
    """What the user of a command line means by *name_or_path*, for `find_folder`.

    A hub name of no model on this machine may be a folder below the working directory, which this user chose;
    and so may a name of a GGUF file.
    """
    if _is_gguf_file(name_or_path):
        return str(Path(name_or_path).expanduser().absolute())
    is_folder = is_hub_name(name_or_path) and _folder(name_or_path) is not None
    return f"./{name_or_path}" if is_folder and _cached_folder(name_or_path) is None else name_or_path


def _is_gguf_file(path: str) -> bool:
    try:
        return path.lower().endswith(".gguf") and Path(path).expanduser().is_file()
    except (OSError, RuntimeError, ValueError):  # nobody has that home; a name that no file can have
        return False


def is_hub_name(name: str) -> bool:
    """Whether *name* looks like a name of the hub."""
    return HUB_NAME.fullmatch(name) is not None and not name.startswith(".")


def _folder(path: str) -> Path | None:
    """The folder at *path*, where `~` is somebody's home; None if there is none."""
    try:
        folder = Path(path).expanduser()
        return folder if folder.is_dir() else None
    except (OSError, RuntimeError, ValueError):  # nobody has that home; a name that no file can have
        return None


def _cached_folder(name: str, revision: str | None = None) -> Path | None:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(
            snapshot_download(name, revision=revision, allow_patterns=HUB_FILES, local_files_only=True)
        )
    except (LocalEntryNotFoundError, HfHubHTTPError, HFValidationError, OSError):
        return None


def fetch(
    name: str, revision: str | None = None, on_announced: Callable[[Announcement], None] = lambda _: None
) -> Path:
    """Download a model's weights (safetensors only), configuration and tokenizer; the folder they are in.

    Goes on where an interrupted download was, and checks every file against the checksum that the hub gives.
    Shows progress on standard error. *on_announced* is called before anything is fetched.

    Raises:
        ModelError: the hub cannot be reached, has no such model or answers nonsense, or a file came damaged.
    """
    check_name(name)
    with _explained(name, revision):
        announced = announce(name, revision, [*HUB_FILES, GGUF])
        ggufs = [str(file.path) for file in announced.files if file.path.match(GGUF)]
        wanted = [file for file in announced.files if not file.path.match(GGUF)]
        if ggufs and not any(file.path.match("*.safetensors") for file in wanted):
            raise ModelError(f"{name} has GGUF files only; say which: {_listed(name, ggufs)}.")
        announced = replace(announced, files=wanted)
        on_announced(announced)
        return download(announced, revision)


def fetch_gguf(
    repository: str,
    file: str,
    revision: str | None = None,
    on_announced: Callable[[Announcement], None] = lambda _: None,
) -> Path:
    """Download a GGUF file of *repository*, as `fetch` does; its place.

    *file* is its path there. If it is the first of several parts, all are fetched.

    Raises:
        ModelError: as `fetch`; or there is no such file.
    """
    check_name(repository)
    parts = _PART.sub(lambda found: "-?????" + found[1], glob.escape(file))
    with _explained(repository, revision):
        announced = announce(repository, revision, [parts])
        if not any(str(each.path) == file for each in announced.files):
            raise ModelError(f"{repository} has no file {file}; look at its page on the hub.")
        on_announced(announced)
        return download(announced, revision).joinpath(*PurePosixPath(file).parts)


def fetch_quantised(
    repository: str,
    quantisation: str,
    revision: str | None = None,
    on_announced: Callable[[Announcement], None] = lambda _: None,
) -> Path:
    """Download the GGUF file of *repository* that has a *quantisation* such as `Q4_K_M` in its name.

    Raises:
        ModelError: as `fetch`; or there is no such file, or there are several.
    """
    check_name(repository)
    with _explained(repository, revision):
        files = [str(file.path) for file in announce(repository, revision, [GGUF]).files]
    wanted = re.compile(rf"(?:.*[-._/])?{re.escape(quantisation)}(?:[-.].*)?\.gguf", re.IGNORECASE)
    found = [file for file in files if wanted.fullmatch(file) and _is_whole_model(file)]
    if len(found) != 1:
        there = found or [*filter(_is_whole_model, files)]
        choice = f"; say which: {_listed(repository, there)}" if there else ""
        number = "several files" if found else "no GGUF file"
        raise ModelError(f"{repository} has {number} of the kind {quantisation}{choice}.")
    return fetch_gguf(repository, found[0], revision, on_announced)


def _is_whole_model(file: str) -> bool:
    """Whether a GGUF file is a model, or the first part of one; beside them lie parts that see images."""
    is_later_part = _ANY_PART.search(file) is not None and _PART.search(file) is None
    return not is_later_part and not PurePosixPath(file).name.lower().startswith("mmproj")


def _listed(repository: str, files: Sequence[str]) -> str:
    """Some of *files*, as `fimlsp models pull` takes them."""
    more = " or another" if len(files) > FILES_LISTED else ""
    return ", ".join(f"{repository}/{file}" for file in files[:FILES_LISTED]) + more


@contextmanager
def _explained(name: str, revision: str | None) -> Iterator[None]:
    """Turns whatever the hub's client raises into a sentence about the model *name*."""
    from huggingface_hub.errors import (
        GatedRepoError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    try:
        yield
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
    if not is_hub_name(name):
        raise _neither(name)


def _neither(name: str) -> ModelError:
    return ModelError(f"{name} is neither a folder nor a hub name like {DEFAULT_FOR_GPU}.")


def cached_models() -> Iterator[CachedModel]:
    """The models of the hub that are on this machine, in the order of their names."""
    from huggingface_hub import constants, scan_cache_dir
    from huggingface_hub.errors import CacheNotFound

    try:
        repositories = scan_cache_dir(constants.HF_HUB_CACHE).repos
    except CacheNotFound:
        return
    for repository in sorted(repositories, key=lambda found: found.repo_id.lower()):
        if repository.repo_type == "model":
            yield CachedModel(repository.repo_id, repository.size_on_disk)
