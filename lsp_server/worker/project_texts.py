"""Indexes of the Python files of a project, for completions in its other files.

A thread lists the files; a process with bounds reads and indexes them, because a workspace may be hostile.
A file that exceeds the bounds is left out until it changes. Completions use the indexes that are ready.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate, takewhile
from math import inf
from pathlib import Path, PurePath
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple, cast

from fimlsp.languages.python.missing_names.import_table import ImportTable
from fimlsp.lsp_server.workspace_files import WorkspaceFiles, read_regular_file
from fimlsp.processes.bounded import BoundedProcess, BoundExceededError, Bounds

if TYPE_CHECKING:
    from fimlsp.models.networks.matches import MatchSource, TextIndex

log = logging.getLogger(__name__)

MOST_BYTES = 2_000_000
"""Indexed bytes of a workspace folder; the indexes take five times as much memory."""

LARGEST_FILE = 200_000
MOST_ENTRIES = 20_000
"""Maximum number of files and folders that are listed in a workspace folder."""

MOST_LEVELS = 50
"""Maximum depth of folders that are listed."""

INDEX_BYTES = 500_000
"""Bytes of the files that share an index. If one of them changes, the index is made again."""

BOUNDS = Bounds(seconds=10.0)
"""Those of one index, which takes half a second."""

MOST_LEFT_OUT = 3
"""Files that exceed the bounds, after which the rest of their folder is not indexed."""

REFRESH_S = 60.0
"""Seconds after which a completion makes the files to be listed again."""

_ENDING = ".py"
_SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "site-packages"})
_ENVIRONMENT_MARKER = "pyvenv.cfg"


class _File(NamedTuple):
    """A file at the time of listing."""

    path: Path
    modified_ns: int
    size: int


_Group = tuple[_File, ...]


class _Indexed(NamedTuple):
    """Indexes of the files of a group: their texts, and their imports and definitions."""

    texts: TextIndex
    imports: ImportTable


@dataclass(slots=True)
class _Folder:
    """State of a workspace folder: its indexes, the time of its last listing, and the reading thread.

    *left_out* has the files that exceeded the bounds, each with a sentence.
    """

    indexes: dict[_Group, _Indexed] = field(default_factory=dict)
    left_out: dict[_File, str] = field(default_factory=dict)
    listed_at: float = -inf
    reading: Thread | None = None


class ProjectTexts:
    """Indexes of the Python files in the folders of *files*, each made after the first request for it."""

    def __init__(self, files: WorkspaceFiles) -> None:
        self._files = files
        self._folders = {folder: _Folder() for folder in files.folders}
        self._is_active = True
        self._process = BoundedProcess(index_files, BOUNDS)

    @property
    def left_out(self) -> str | None:
        """A sentence about the files that exceeded the bounds of the process that reads them, if any did."""
        problems = [problem for folder in self._folders.values() for problem in [*folder.left_out.values()]]
        more = f" {len(problems) - 1} more files are left out." if len(problems) > 1 else ""
        return f"{problems[0]}{more}" if problems else None

    def elsewhere(self, path: Path, opened: Iterable[Path]) -> list[MatchSource]:
        """The indexes that are ready for the project of the file at *path*, without that file and *opened*.

        Never waits: a thread makes missing or old indexes for the next request.
        """
        real = path.resolve()
        without = {str(real), *(str(other.resolve()) for other in opened)}
        return [indexed.texts.without(without) for indexed in self._known(real)]

    def imports(self, path: Path) -> list[ImportTable]:
        """Imports and definitions of the files in the project of the file at *path*. Never waits."""
        return [indexed.imports for indexed in self._known(path.resolve())]

    def _known(self, real: Path) -> tuple[_Indexed, ...]:
        around = (folder for folder in self._folders if real.is_relative_to(folder))
        folder = max(around, key=lambda folder: len(folder.parts), default=None)
        if folder is None:
            return ()
        known = self._folders[folder]
        self._refresh(folder, known, real.parent)
        return tuple(known.indexes.values())

    def end(self) -> None:
        """Stop reading files."""
        self._is_active = False

    def wait(self) -> None:
        """Wait until all threads have ended."""
        for known in self._folders.values():
            if known.reading is not None:
                known.reading.join()

    def _refresh(self, folder: Path, known: _Folder, around: Path) -> None:
        is_busy = known.reading is not None and known.reading.is_alive()
        if not is_busy and time.monotonic() > known.listed_at + REFRESH_S:
            known.listed_at = time.monotonic()
            known.reading = Thread(target=self._read, args=(folder, known, around), daemon=True)
            known.reading.start()

    def _read(self, folder: Path, known: _Folder, around: Path) -> None:
        """Index new and changed files, in a thread. Each index is used as soon as it is made."""
        try:
            files = [*self._files_of(folder)]
            known.left_out = {file: known.left_out[file] for file in files if file in known.left_out}
            indexes: dict[_Group, _Indexed] = {}
            for group in _groups(_nearest((file for file in files if file not in known.left_out), around)):
                if not self._is_active or len(known.left_out) >= MOST_LEFT_OUT:
                    return
                indexes |= self._indexes(group, known)
                known.indexes = {**known.indexes, **indexes}
            known.indexes = indexes
        except Exception:
            log.exception("cannot index the project; its other files are ignored")

    def _indexes(self, group: _Group, known: _Folder) -> dict[_Group, _Indexed]:
        """The index of *group*. If that exceeds the bounds, those of its files but for the one at fault."""
        if group in known.indexes:
            return {group: known.indexes[group]}
        try:
            return {group: cast("_Indexed", self._process.ask(group))}
        except BoundExceededError as error:
            if len(group) == 1:
                problem = f"{group[0].path} is left out of the context: it {error}."
                log.warning("%s", problem)
                known.left_out = {**known.left_out, group[0]: problem}
                return {}
        indexes: dict[_Group, _Indexed] = {}
        for file in group:
            if self._is_active and len(known.left_out) < MOST_LEFT_OUT:
                indexes |= self._indexes((file,), known)
        return indexes

    def _files_of(self, folder: Path) -> Iterator[_File]:
        for path in _sources(folder):
            real = self._files.permitted(path)
            if real is not None:
                with suppress(OSError):  # it does not exist any more
                    state = real.stat()
                    yield _File(real, state.st_mtime_ns, state.st_size)


def index_files(group: _Group) -> _Indexed:
    """The indexes of the files of *group*; runs in the process with bounds."""
    from fimlsp.models.networks.matches import TextIndex

    texts = dict[PurePath, bytes]()
    for file in group:
        with suppress(OSError):
            texts[file.path] = read_regular_file(file.path, LARGEST_FILE) or b""
    index = TextIndex({str(path): text for path, text in texts.items()})
    return _Indexed(index, ImportTable.of(texts))


def _sources(folder: Path) -> Iterator[Path]:
    """Python files below *folder*, up to `MOST_ENTRIES`, without those of environments and caches."""
    entries = 0
    for at, folders, files in os.walk(folder):
        if _ENVIRONMENT_MARKER in files:
            folders.clear()
            continue
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and name not in _SKIPPED_FOLDERS
        )
        if len(Path(at).parts) - len(folder.parts) >= MOST_LEVELS:
            folders.clear()
        entries += len(folders) + len(files)
        if entries > MOST_ENTRIES:
            return
        yield from (Path(at, name) for name in sorted(files) if name.endswith(_ENDING))


def _nearest(files: Iterable[_File], around: Path) -> list[_File]:
    """The *files* to index, by path; if their total is too large, those nearest to *around*."""
    small = sorted({file for file in files if 0 < file.size <= LARGEST_FILE})
    if sum(file.size for file in small) <= MOST_BYTES:
        return small
    small.sort(key=lambda file: _distance(file.path.parent, around))
    sizes = accumulate(file.size for file in small)
    return [file for file, size in zip(small, sizes, strict=True) if size <= MOST_BYTES]


def _groups(files: Iterable[_File]) -> Iterator[_Group]:
    """*files* in groups that share an index."""
    group, size = list[_File](), 0
    for file in files:
        if group and size + file.size > INDEX_BYTES:
            yield tuple(group)
            group, size = [], 0
        group.append(file)
        size += file.size
    if group:
        yield tuple(group)


def _distance(one: Path, other: Path) -> int:
    """Number of steps from folder to folder between *one* and *other*."""
    common = takewhile(lambda pair: pair[0] == pair[1], zip(one.parts, other.parts, strict=False))
    return len(one.parts) + len(other.parts) - 2 * sum(1 for _ in common)
