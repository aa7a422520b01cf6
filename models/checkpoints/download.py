"""Weights from the hub, of which an interruption loses nothing.

The hub's own client begins a file anew that did not come whole, and a file of weights has gigabytes. So these
are brought first, into the place where that client then finds them.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from fimlsp.models.checkpoints.memory import GIB
from fimlsp.models.errors import ModelError

if TYPE_CHECKING:
    from huggingface_hub.hf_api import RepoFile

WEIGHTS = "*.safetensors"


def fetch_weights(name: str, revision: str | None) -> None:
    """Bring the weights of a model that are not here, each from where it ended the last time.

    What came is not held against its checksum yet. Shows progress on standard error.

    Raises:
        ModelError: the disk is too small; or whatever the hub's client raises.
    """
    folder = _blobs(name)
    folder.mkdir(parents=True, exist_ok=True)
    missing = [file for file in _weights(name, revision) if not (folder / _checksum(file)).exists()]
    _check_room(name, folder, sum(file.size - _n_there(_partial(folder, file)) for file in missing))
    for file in missing:
        _fetch(name, revision, file, folder)


def _blobs(name: str) -> Path:
    """Where the hub's client keeps the content of files, under their checksums."""
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    return Path(constants.HF_HUB_CACHE, repo_folder_name(repo_id=name, repo_type="model"), "blobs")


def _weights(name: str, revision: str | None) -> Iterator[RepoFile]:
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoFile

    for file in HfApi().list_repo_tree(name, revision=revision, recursive=True):
        if isinstance(file, RepoFile) and file.lfs is not None and fnmatch(file.path, WEIGHTS):
            yield file


def _checksum(file: RepoFile) -> str:
    assert file.lfs is not None
    return file.lfs.sha256


def _partial(folder: Path, file: RepoFile) -> Path:
    return folder / f"{_checksum(file)}.partial"


def _n_there(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _check_room(name: str, folder: Path, size: int) -> None:
    free = shutil.disk_usage(folder).free
    if size > free:
        raise ModelError(
            f"{name} needs {size / GIB:.1f} GiB more of the disk with {folder.parents[1]}, where "
            f"{free / GIB:.1f} are free; make room, or set HF_HOME to a folder on another disk."
        )


def _fetch(name: str, revision: str | None, file: RepoFile, folder: Path) -> None:
    from filelock import FileLock
    from huggingface_hub import hf_hub_url
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]  # public, but not in __all__

    partial = _partial(folder, file)
    with FileLock(partial.with_suffix(".lock")), partial.open("ab") as target:
        there = target.seek(0 if target.tell() > file.size else target.tell())
        target.truncate()
        http_get(
            hf_hub_url(name, file.path, revision=revision),
            target,
            resume_size=there,
            headers=build_hf_headers(),
            expected_size=file.size,
            displayed_filename=file.path,
        )
    partial.rename(folder / _checksum(file))
