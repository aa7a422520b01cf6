"""Downloads files of the hub into the cache of its own client, and resumes interrupted downloads.

The hub is not trusted. The names, checksums and sizes that it announces are checked before anything is
written. No file gets more bytes than announced, and each must match its checksum before it enters the cache.
The hub's own client is not used for this: it takes paths from the server's answers. It also restarts
interrupted files, although files of weights have gigabytes.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from io import FileIO
from pathlib import Path, PurePosixPath
from typing import Any

from fimlsp.models.checkpoints.memory import GIB
from fimlsp.models.errors import ModelError
from fimlsp.models.regular_files import TEXT_BYTES_MAX

WEIGHTS = ("*.safetensors", "*.gguf")
FILES_MAX = 1000
READ_BYTES = 1 << 20
_COMMIT = re.compile(r"[0-9a-f]{40}")
_CHECKSUM = re.compile(r"[0-9a-f]{64}|[0-9a-f]{40}")
_NAME = re.compile(r"\w[\w.+-]*")
_LICENCE = re.compile(r"license:([\w.+-]{1,60})")


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file as the hub announces it.

    Attributes:
        path: path in the repository; each part is a plain name.
        size: size in bytes.
        checksum: SHA-256 of a large file, else git's SHA-1 of the content; in hexadecimal.
    """

    path: PurePosixPath
    size: int
    checksum: str

    def is_content_of(self, path: Path) -> bool:
        """True if the file at *path* has this content."""
        if not path.is_file() or path.stat().st_size != self.size:
            return False
        is_git = len(self.checksum) == hashlib.sha1(usedforsecurity=False).digest_size * 2
        digest = hashlib.sha1(b"blob %d\0" % self.size, usedforsecurity=False) if is_git else hashlib.sha256()
        with path.open("rb") as file:
            while data := file.read(READ_BYTES):
                digest.update(data)
        return digest.hexdigest() == self.checksum


@dataclass(frozen=True, slots=True)
class Announcement:
    """The hub's description of a model, before any of it is downloaded.

    Attributes:
        name: the repository.
        commit: newest commit of the requested revision.
        files: the requested files.
        licence: name of the licence, such as `apache-2.0`; empty: unknown.
    """

    name: str
    commit: str
    files: Sequence[HubFile]
    licence: str

    @property
    def size(self) -> int:
        """Total size of the files in bytes."""
        return sum(file.size for file in self.files)


def announce(name: str, revision: str | None, patterns: Sequence[str]) -> Announcement:
    """List the files of a model on the hub whose paths match *patterns*.

    Raises:
        ModelError: the hub's answer is invalid.
        Exception: any error of the hub's client.
    """
    from huggingface_hub import HfApi

    info = HfApi().model_info(name, revision=revision)
    commit = info.sha
    if not isinstance(commit, str) or not _COMMIT.fullmatch(commit):
        raise ModelError(f"Cannot download {name}: the hub returned no commit. Use another hub.")
    entries = HfApi().list_repo_tree(name, revision=commit, recursive=True)
    return Announcement(name, commit, [*announced_files(name, entries, patterns)], _licence(info.tags))


def _licence(tags: object) -> str:
    """The licence among a model's *tags*; empty without any."""
    texts = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    licences = [match[1] for match in map(_LICENCE.fullmatch, texts) if match]
    return licences[0] if licences else ""


def download(announced: Announcement, revision: str | None) -> Path:
    """Download the files that were *announced* for *revision*; returns their folder.

    Files in the cache are not downloaded again, and interrupted downloads are resumed. Shows progress on
    standard error.

    Raises:
        ModelError: the disk is too small, or a file is corrupt.
        Exception: any error of the hub's client.
    """
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    name, commit, files = announced.name, announced.commit, announced.files
    repository = Path(constants.HF_HUB_CACHE, repo_folder_name(repo_id=name, repo_type="model"))
    blobs = repository / "blobs"
    blobs.mkdir(parents=True, exist_ok=True)
    missing = [file for file in files if not file.is_content_of(blobs / file.checksum)]
    _check_disk(name, blobs, sum(file.size - _size(_partial(blobs, file)) for file in missing))
    for file in missing:
        _fetch(name, commit, file, blobs)
    snapshot = repository / "snapshots" / commit
    for file in files:
        _link(blobs / file.checksum, snapshot.joinpath(*file.path.parts))
    _remember(repository / "refs", revision or constants.DEFAULT_REVISION, commit)
    return snapshot


def announced_files(name: str, entries: Iterable[Any], patterns: Sequence[str]) -> Iterator[HubFile]:
    """The files among the *entries* of a listing that match *patterns*.

    Raises:
        ModelError: the name, checksum or size of one of them is invalid.
    """
    from huggingface_hub.hf_api import RepoFile

    n_files = 0
    for entry in entries:
        if not isinstance(entry, RepoFile) or not any(fnmatch(entry.path, pattern) for pattern in patterns):
            continue
        checksum = entry.blob_id if entry.lfs is None else entry.lfs.sha256
        n_files += 1
        if not (
            all(map(_NAME.fullmatch, entry.path.split("/")))
            and isinstance(checksum, str)
            and _CHECKSUM.fullmatch(checksum)
            and isinstance(entry.size, int)
            and entry.size >= 0
            and (entry.size <= TEXT_BYTES_MAX or any(fnmatch(entry.path, weights) for weights in WEIGHTS))
            and n_files <= FILES_MAX
        ):
            raise ModelError(
                f"Cannot download {name}: the hub announces an invalid file ({entry.path[:80]!r}). "
                f"Use another hub or model."
            )
        yield HubFile(PurePosixPath(entry.path), entry.size, checksum)


class BoundedFile(FileIO):
    """A file opened for appending that never grows beyond *limit* bytes."""

    def __init__(self, path: Path, limit: int) -> None:
        super().__init__(path, "ab")
        self._limit = limit

    def write(self, data: Any) -> int:  # noqa: ANN401 - any buffer, as the base class has it
        """Append *data*.

        Raises:
            ModelError: the file would become larger than announced.
        """
        if self.tell() + len(data) > self._limit:
            raise ModelError(
                f"Cannot download the file: it has more than the announced {self._limit} bytes. "
                f"Use another hub."
            )
        return super().write(data)


def _fetch(name: str, commit: str, file: HubFile, blobs: Path) -> None:
    from filelock import FileLock
    from huggingface_hub import hf_hub_url
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]  # public, but not in __all__

    partial = _partial(blobs, file)
    with FileLock(partial.with_suffix(".lock")):
        with BoundedFile(partial, file.size) as target:
            offset = target.seek(0 if target.tell() > file.size else target.tell())
            target.truncate()
            http_get(
                hf_hub_url(name, str(file.path), revision=commit),
                target,
                resume_size=offset,
                headers=build_hf_headers(),
                expected_size=file.size,
                displayed_filename=str(file.path),
            )
        if not file.is_content_of(partial):
            partial.unlink()
            raise ModelError(
                f"Cannot use {file.path} of {name}: checksum mismatch, so it was deleted. Download it again."
            )
        partial.replace(blobs / file.checksum)


def _partial(blobs: Path, file: HubFile) -> Path:
    return blobs / f"{file.checksum}.partial"


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _check_disk(name: str, folder: Path, size: int) -> None:
    free = shutil.disk_usage(folder).free
    if size > free:
        raise ModelError(
            f"Cannot download {name}: it needs {size / GIB:.1f} GiB on the disk of {folder.parents[1]}, and "
            f"{free / GIB:.1f} are free. Free some space, or set HF_HOME to a folder on another disk."
        )


def _link(blob: Path, path: Path) -> None:
    """Make *path* a link to *blob*, or a copy where links are not allowed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    try:
        path.symlink_to(os.path.relpath(blob, path.parent))
    except OSError:
        shutil.copyfile(blob, path)


def _remember(refs: Path, revision: str, commit: str) -> None:
    """Record that *revision* is *commit*, so that it is found without the hub."""
    if revision == commit:
        return
    path = refs.joinpath(*revision.split("/"))
    if not path.resolve().is_relative_to(refs.resolve()):
        raise ModelError(f"Cannot use {revision!r} as a revision. Give a branch, a tag or a commit.")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(commit)
