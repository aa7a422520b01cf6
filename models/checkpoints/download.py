"""Downloads files of the hub into the cache that its own client reads, and loses nothing when interrupted.

A hub is not trusted: the names, checksums and sizes it announces are checked before anything is written, no
file gets more bytes than were announced, and every file must match its checksum before it gets its place in
the cache. The hub's own client takes paths from the answers of the server, so it is not used for this; and it
starts a file again that was interrupted, although files of weights have gigabytes.
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
from fimlsp.models.checkpoints.regular_files import TEXT_BYTES_MAX
from fimlsp.models.errors import ModelError

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
        path: where it is in the repository; each part is a plain name.
        size: in bytes.
        checksum: SHA-256 of a large file, else the SHA-1 by which git knows the content; in hexadecimal.
    """

    path: PurePosixPath
    size: int
    checksum: str

    def is_content_of(self, path: Path) -> bool:
        """Whether the file at *path* is this one."""
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
    """What the hub says of a model before any of it is fetched.

    Attributes:
        name: the repository.
        commit: the newest one of the revision that was asked for.
        files: those that were asked for.
        licence: its name, such as `apache-2.0`; empty: the hub names none.
    """

    name: str
    commit: str
    files: Sequence[HubFile]
    licence: str

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)


def announce(name: str, revision: str | None, patterns: Sequence[str]) -> Announcement:
    """Ask the hub for the files of a model whose paths match *patterns*.

    Raises:
        ModelError: the hub announces what cannot be.
        Exception: whatever the hub's client raises.
    """
    from huggingface_hub import HfApi

    info = HfApi().model_info(name, revision=revision)
    commit = info.sha
    if not isinstance(commit, str) or not _COMMIT.fullmatch(commit):
        raise ModelError(f"The hub names no commit of {name}; use another hub.")
    entries = HfApi().list_repo_tree(name, revision=commit, recursive=True)
    return Announcement(name, commit, [*announced_files(name, entries, patterns)], _licence(info.tags))


def _licence(tags: object) -> str:
    """The licence that a model's *tags* name."""
    texts = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    found = [match[1] for match in map(_LICENCE.fullmatch, texts) if match]
    return found[0] if found else ""


def download(announced: Announcement, revision: str | None) -> Path:
    """Fetch the files that were *announced* for *revision*; the folder in which they are.

    Files that are there already are not fetched again, and interrupted ones go on where they were. Shows
    progress on standard error.

    Raises:
        ModelError: the disk is too small, or a file came damaged.
        Exception: whatever the hub's client raises.
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
        ModelError: one of them has a name, checksum or size that cannot be.
    """
    from huggingface_hub.hf_api import RepoFile

    found = 0
    for entry in entries:
        if not isinstance(entry, RepoFile) or not any(fnmatch(entry.path, pattern) for pattern in patterns):
            continue
        checksum = entry.blob_id if entry.lfs is None else entry.lfs.sha256
        found += 1
        if not (
            all(map(_NAME.fullmatch, entry.path.split("/")))
            and isinstance(checksum, str)
            and _CHECKSUM.fullmatch(checksum)
            and isinstance(entry.size, int)
            and entry.size >= 0
            and (entry.size <= TEXT_BYTES_MAX or any(fnmatch(entry.path, weights) for weights in WEIGHTS))
            and found <= FILES_MAX
        ):
            raise ModelError(
                f"The hub announces a file of {name} that cannot be one ({entry.path[:80]!r}); nothing of it "
                f"was fetched, use another hub or model."
            )
        yield HubFile(PurePosixPath(entry.path), entry.size, checksum)


class BoundedFile(FileIO):
    """A file to which is appended, but never beyond *limit* bytes."""

    def __init__(self, path: Path, limit: int) -> None:
        super().__init__(path, "ab")
        self._limit = limit

    def write(self, data: Any) -> int:  # noqa: ANN401 - any buffer, as the base class has it
        """Append *data*.

        Raises:
            ModelError: more came than was announced.
        """
        if self.tell() + len(data) > self._limit:
            raise ModelError(
                f"More than the {self._limit} bytes came that the hub announced; use another hub."
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
            there = target.seek(0 if target.tell() > file.size else target.tell())
            target.truncate()
            http_get(
                hf_hub_url(name, str(file.path), revision=commit),
                target,
                resume_size=there,
                headers=build_hf_headers(),
                expected_size=file.size,
                displayed_filename=str(file.path),
            )
        if not file.is_content_of(partial):
            partial.unlink()
            raise ModelError(f"{file.path} of {name} came damaged and was dropped; fetch it again.")
        partial.replace(blobs / file.checksum)


def _partial(blobs: Path, file: HubFile) -> Path:
    return blobs / f"{file.checksum}.partial"


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _check_disk(name: str, folder: Path, size: int) -> None:
    free = shutil.disk_usage(folder).free
    if size > free:
        raise ModelError(
            f"{name} needs {size / GIB:.1f} GiB more of the disk with {folder.parents[1]}, where "
            f"{free / GIB:.1f} are free; make room, or set HF_HOME to a folder on another disk."
        )


def _link(blob: Path, path: Path) -> None:
    """Let *path* lead to the content in *blob*; where links are not allowed, it becomes a copy."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    try:
        path.symlink_to(os.path.relpath(blob, path.parent))
    except OSError:
        shutil.copyfile(blob, path)


def _remember(refs: Path, revision: str, commit: str) -> None:
    """Note that *revision* is *commit*, so that it is found without the hub."""
    if revision == commit:
        return
    path = refs.joinpath(*revision.split("/"))
    if not path.resolve().is_relative_to(refs.resolve()):
        raise ModelError(f"{revision} is no name of a revision; give a branch, a tag or a commit.")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(commit)
