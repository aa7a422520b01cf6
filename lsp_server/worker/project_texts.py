"""Reads and indexes the Python files of a project, beside all other work, for what they suggest elsewhere."""

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
from typing import TYPE_CHECKING, NamedTuple

from fimlsp.languages.python.wanted.import_table import ImportTable
from fimlsp.lsp_server.workspace.guarded_reading import read_regular_file
from fimlsp.lsp_server.workspace.workspace_files import WorkspaceFiles

if TYPE_CHECKING:
    from fimlsp.models.networks.precedents import Precedents
    from fimlsp.models.networks.text_index import TextIndex

log = logging.getLogger(__name__)

MOST_BYTES = 2_000_000
"""Bytes of a folder of the workspace that are indexed, which take five times as much memory."""

LARGEST_FILE = 200_000
MOST_ENTRIES = 20_000
"""Files and folders that are looked at in a folder of the workspace."""

INDEX_BYTES = 500_000
"""Bytes of the files that share an index; when one of them changes, it is made again."""

REST_S = 60.0
"""Seconds after which files are looked at again, if anything is asked."""

_ENDING = ".py"
_NO_SOURCE = frozenset({"__pycache__", "node_modules", "site-packages"})
_ENVIRONMENT = "pyvenv.cfg"


class _File(NamedTuple):
    """A file as it was when it was looked at."""

    path: Path
    modified_ns: int
    size: int


_Group = tuple[_File, ...]


class _Indexed(NamedTuple):
    """What is known of the files of a group: what they hold, and what they import and define."""

    texts: TextIndex
    imports: ImportTable


@dataclass(slots=True)
class _Folder:
    """What is known of a folder of the workspace."""

    indexes: dict[_Group, _Indexed] = field(default_factory=dict)
    looked_at: float = -inf
    reading: Thread | None = None


class ProjectTexts:
    """What stands in the Python files of the folders of *files*, each read when it is first asked about."""

    def __init__(self, files: WorkspaceFiles) -> None:
        self._files = files
        self._folders = {folder: _Folder() for folder in files.folders}
        self._is_wanted = True

    def elsewhere(self, path: Path, opened: Iterable[Path]) -> list[Precedents]:
        """What is indexed by now of the project of the file at *path*, without that file and those *opened*.

        Never waits: what is missing or old is read in a thread, for the next question.
        """
        real = path.resolve()
        without = {str(real), *(str(each.resolve()) for each in opened)}
        return [each.texts.without(without) for each in self._known(real)]

    def imports(self, path: Path) -> list[ImportTable]:
        """What the files of the project of the file at *path* import and define.

        As `elsewhere`, it never waits.
        """
        return [each.imports for each in self._known(path.resolve())]

    def _known(self, real: Path) -> tuple[_Indexed, ...]:
        around = (each for each in self._folders if real.is_relative_to(each))
        folder = max(around, key=lambda each: len(each.parts), default=None)
        if folder is None:
            return ()
        known = self._folders[folder]
        self._look(folder, known, real.parent)
        return tuple(known.indexes.values())

    def end(self) -> None:
        """Read nothing more."""
        self._is_wanted = False

    def wait(self) -> None:
        """Wait until nothing is being read."""
        for known in self._folders.values():
            if known.reading is not None:
                known.reading.join()

    def _look(self, folder: Path, known: _Folder, around: Path) -> None:
        is_busy = known.reading is not None and known.reading.is_alive()
        if not is_busy and time.monotonic() > known.looked_at + REST_S:
            known.looked_at = time.monotonic()
            known.reading = Thread(target=self._read, args=(folder, known, around), daemon=True)
            known.reading.start()

    def _read(self, folder: Path, known: _Folder, around: Path) -> None:
        """Index what is new or has changed, in a thread; each index is in use as soon as it is made."""
        try:
            indexes: dict[_Group, _Indexed] = {}
            for group in _groups(_chosen(self._found(folder), around)):
                if not self._is_wanted:
                    return
                indexes[group] = known.indexes.get(group) or self._index(group)
                known.indexes = {**known.indexes, **indexes}
            known.indexes = indexes
        except Exception:
            log.exception("reading the project failed; nothing more is suggested from its other files")

    def _found(self, folder: Path) -> Iterator[_File]:
        for path in _sources(folder):
            real = self._files.permitted(path)
            if real is not None:
                with suppress(OSError):  # it has gone meanwhile
                    state = real.stat()
                    yield _File(real, state.st_mtime_ns, state.st_size)

    def _index(self, group: _Group) -> _Indexed:
        from fimlsp.models.networks.text_index import TextIndex

        texts = dict[PurePath, bytes]()
        for file in group:
            with suppress(OSError):
                texts[file.path] = read_regular_file(file.path, LARGEST_FILE) or b""
        index = TextIndex({str(path): text for path, text in texts.items()})
        return _Indexed(index, ImportTable.of(texts))


def _sources(folder: Path) -> Iterator[Path]:
    """Python files below *folder*, as far as it is looked at; not those of environments and caches."""
    entries = 0
    for at, folders, files in os.walk(folder):
        if _ENVIRONMENT in files:
            folders.clear()
            continue
        folders[:] = sorted(each for each in folders if not each.startswith(".") and each not in _NO_SOURCE)
        entries += len(folders) + len(files)
        if entries > MOST_ENTRIES:
            return
        yield from (Path(at, each) for each in sorted(files) if each.endswith(_ENDING))


def _chosen(files: Iterable[_File], around: Path) -> list[_File]:
    """Those of *files* that are indexed, by path; if they are too large together, those near *around*."""
    small = sorted({file for file in files if 0 < file.size <= LARGEST_FILE})
    if sum(file.size for file in small) <= MOST_BYTES:
        return small
    small.sort(key=lambda file: _distance(file.path.parent, around))
    sizes = accumulate(file.size for file in small)
    return [file for file, size in zip(small, sizes, strict=True) if size <= MOST_BYTES]


def _groups(files: Iterable[_File]) -> Iterator[_Group]:
    """*files* in groups, each of which shares an index."""
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
    """Steps from folder to folder between *one* and *other*."""
    common = takewhile(lambda pair: pair[0] == pair[1], zip(one.parts, other.parts, strict=False))
    return len(one.parts) + len(other.parts) - 2 * sum(1 for _ in common)
