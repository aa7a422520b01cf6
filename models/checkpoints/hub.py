"""Looks up hub models on this machine, and downloads them on the user's request.

Only the `fetch` functions use the network, and nothing here runs during completions.
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

EXAMPLE_NAME = "bigcode/gpt_bigcode-santacoder"
HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
GGUF = "*.gguf"
FILES_LISTED = 4
_PART = re.compile(r"-00001(-of-\d{5}\.gguf)$")
_ANY_PART = re.compile(r"-\d{5}-of-\d{5}\.gguf$")
SAFETENSORS = "*.safetensors"
HUB_FILES = [
    SAFETENSORS,
    "*.safetensors.index.json",
    "config.json",
    "tokenizer*",
    "*.model",
    "vocab.json",
    "merges.txt",
    "special_tokens_map.json",
    "added_tokens.json",
]
"""Weights in a format without code, the configuration and the tokenizer."""


@dataclass(frozen=True, slots=True)
class CachedModel:
    """A model on this machine: hub name, and size of its files in bytes."""

    name: str
    size: int


def find_folder(name_or_path: str, revision: str | None = None) -> Path:
    """The folder of a checkpoint; a hub name is looked up among the models on this machine.

    A name like `owner/name` is always a hub name, never a folder of the working directory, which may be an
    untrusted workspace. Such a folder is written `./owner/name`.

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
        argument = f"{name_or_path} --revision {revision}" if revision else name_or_path
        raise ModelError(
            f"Cannot load {name_or_path}{f' at {revision}' if revision else ''}: it is not on this machine. "
            f"Run `fimlsp models pull {argument}`, or give the folder of a checkpoint (./{name_or_path} for "
            f"one below the working directory)."
        )
    return cached


def find_on_command_line(name_or_path: str) -> str:
    """*name_or_path* from a command line in the form that `find_folder` takes.

    The user of a command line chose the working directory. So `owner/name` may be a folder below it, unless
    that hub model is on this machine. The name of a GGUF file may be relative to it, too.
    """
    if _is_gguf_file(name_or_path):
        return str(Path(name_or_path).expanduser().absolute())
    is_folder = is_hub_name(name_or_path) and _folder(name_or_path) is not None
    return f"./{name_or_path}" if is_folder and _cached_folder(name_or_path) is None else name_or_path


def _is_gguf_file(path: str) -> bool:
    try:
        return path.lower().endswith(".gguf") and Path(path).expanduser().is_file()
    except (OSError, RuntimeError, ValueError):  # no such user; an impossible file name
        return False


def is_hub_name(name: str) -> bool:
    """True if *name* looks like a hub name."""
    return HUB_NAME.fullmatch(name) is not None and not name.startswith(".")


def _folder(path: str) -> Path | None:
    """The folder at *path*, with `~` expanded; None if there is none."""
    try:
        folder = Path(path).expanduser()
        return folder if folder.is_dir() else None
    except (OSError, RuntimeError, ValueError):  # no such user; an impossible file name
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
    """Download a model's weights (safetensors only), configuration and tokenizer; returns their folder.

    Resumes an interrupted download, and checks every file against the hub's checksum. Shows progress on
    standard error. *on_announced* is called before the download starts.

    Raises:
        ModelError: the hub is unreachable, has no such model or gives invalid answers, or a file is corrupt.
    """
    check_name(name)
    with _explained(name, revision):
        announced = announce(name, revision, [*HUB_FILES, GGUF])
        ggufs = [str(file.path) for file in announced.files if file.path.match(GGUF)]
        others = [file for file in announced.files if not file.path.match(GGUF)]
        if ggufs and not any(file.path.match(SAFETENSORS) for file in others):
            raise ModelError(
                f"Cannot download {name} as a checkpoint: it has GGUF files only. "
                f"Choose one: {_listed(name, ggufs)}."
            )
        announced = replace(announced, files=others)
        on_announced(announced)
        return download(announced, revision)


def fetch_tokenizer(
    name: str, revision: str | None = None, on_announced: Callable[[Announcement], None] = lambda _: None
) -> Path:
    """As `fetch`, without the weights: enough to use a server that runs the model elsewhere.

    Raises:
        ModelError: as `fetch`.
    """
    check_name(name)
    with _explained(name, revision):
        announced = announce(name, revision, [file for file in HUB_FILES if file != SAFETENSORS])
        on_announced(announced)
        return download(announced, revision)


def fetch_gguf(
    repository: str,
    file: str,
    revision: str | None = None,
    on_announced: Callable[[Announcement], None] = lambda _: None,
) -> Path:
    """Download a GGUF file of *repository*, as `fetch` does; returns its path on this machine.

    *file* is its path in the repository. If it is the first of several parts, all are downloaded.

    Raises:
        ModelError: as `fetch`; or there is no such file.
    """
    check_name(repository)
    parts = _PART.sub(lambda part: "-?????" + part[1], glob.escape(file))
    with _explained(repository, revision):
        announced = announce(repository, revision, [parts])
        if not any(str(listed.path) == file for listed in announced.files):
            raise ModelError(
                f"Cannot download {file}: {repository} has no such file. See the page of the repository."
            )
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
    named = re.compile(rf"(?<![^-._/]){re.escape(quantisation)}(?=[-.])", re.IGNORECASE)
    matching = [file for file in files if named.search(file[: -len("gguf")]) and _is_whole_model(file)]
    if len(matching) != 1:
        choices = matching or [*filter(_is_whole_model, files)]
        remedy = f"Choose one: {_listed(repository, choices)}" if choices else "Use another repository"
        number = "several files" if matching else "no GGUF file"
        raise ModelError(f"Cannot download {quantisation}: {repository} has {number} of this kind. {remedy}.")
    return fetch_gguf(repository, matching[0], revision, on_announced)


def _is_whole_model(file: str) -> bool:
    """True if a GGUF file is a model or the first part of one, not a later part or an image encoder."""
    is_later_part = _ANY_PART.search(file) is not None and _PART.search(file) is None
    return not is_later_part and not PurePosixPath(file).name.lower().startswith("mmproj")


def _listed(repository: str, files: Sequence[str]) -> str:
    """The first of *files*, as arguments of `fimlsp models pull`."""
    more = " or another" if len(files) > FILES_LISTED else ""
    return ", ".join(f"{repository}/{file}" for file in files[:FILES_LISTED]) + more


@contextmanager
def _explained(name: str, revision: str | None) -> Iterator[None]:
    """Turns any error of the hub's client into a `ModelError` about the model *name*."""
    from huggingface_hub.errors import (
        GatedRepoError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    try:
        yield
    except GatedRepoError as error:
        raise ModelError(
            f"Cannot download {name}: it requires consent. "
            f"Accept the terms on its page of the hub, then run `hf auth login`."
        ) from error
    except RepositoryNotFoundError as error:
        raise ModelError(
            f"Cannot download {name}: the hub has no such model. See `fimlsp models list`."
        ) from error
    except RevisionNotFoundError as error:
        raise ModelError(
            f"Cannot download {name}: it has no revision {revision}. Omit it for the newest."
        ) from error
    except ModelError:
        raise
    except Exception as error:  # the network may fail in many ways, which have no common class
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise ModelError(
            f"Cannot download {name}: {reason}. Try again; the download will be resumed."
        ) from error


def check_name(name: str) -> None:
    """Raise unless *name* looks like a name of the hub.

    Raises:
        ModelError: *name* has another form.
    """
    if not is_hub_name(name):
        raise _neither(name)


def _neither(name: str) -> ModelError:
    return ModelError(f"Cannot find a model {name!r}. Give a folder, or a hub name like {EXAMPLE_NAME}.")


def cached_models() -> Iterator[CachedModel]:
    """The hub models on this machine, sorted by name."""
    from huggingface_hub import constants, scan_cache_dir
    from huggingface_hub.errors import CacheNotFound

    try:
        repositories = scan_cache_dir(constants.HF_HUB_CACHE).repos
    except CacheNotFound:
        return
    for repository in sorted(repositories, key=lambda repository: repository.repo_id.lower()):
        if repository.repo_type == "model":
            yield CachedModel(repository.repo_id, repository.size_on_disk)
