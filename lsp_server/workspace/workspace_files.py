"""Reads files of a workspace for context: only Python, only inside the folders, never what is excluded."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

from fimlsp.lsp_server.workspace.exclusions import Exclusions, exclusions
from fimlsp.lsp_server.workspace.guarded_reading import read_regular_file

LARGEST_FILE = 500_000
MOST_FILES = 200
MOST_BYTES = 10_000_000
"""Bytes of all files that are kept in memory."""

_SUFFIXES = (".py", ".pyi")


@dataclass(slots=True)
class WorkspaceFiles:
    """The files of *folders* but for the excluded ones, as they are on disk now."""

    folders: tuple[Path, ...] = ()
    excluded: Exclusions = field(default_factory=Exclusions)
    _known: OrderedDict[Path, tuple[tuple[int, int], bytes]] = field(default_factory=OrderedDict)
    _size: int = 0

    def read(self, path: Path) -> bytes | None:
        """The text of a file; None if it may not be read, or is not there. Cheap when nothing changed."""
        try:
            real = self.permitted(path)
            return None if real is None else self._read(real)
        except (OSError, RuntimeError, ValueError):  # not readable
            return None

    def permitted(self, path: Path) -> Path | None:
        """The file that *path* leads to, if it may be read; None if it may not be, or is not there."""
        if path.suffix not in _SUFFIXES:
            return None
        try:
            path.stat()  # most files that are asked for are not there, and this tells so soonest
            real = path.resolve(strict=True)
        except (OSError, RuntimeError, ValueError):  # not there, a circle of links, no path
            return None
        is_out = not self.has(real) or self.excluded.has(path) or self.excluded.has(real)
        return None if is_out else real

    def has(self, path: Path) -> bool:
        """Whether *path*, without links, is inside one of the folders."""
        return any(path.is_relative_to(folder) for folder in self.folders)

    def _read(self, path: Path) -> bytes | None:
        state = path.stat()
        stamp = state.st_mtime_ns, state.st_size
        known = self._known.get(path)
        if known is not None and known[0] == stamp:
            self._known.move_to_end(path)
            return known[1]
        data = read_regular_file(path, LARGEST_FILE)
        self._forget(path)
        if data is not None:
            self._known[path] = stamp, data
            self._size += len(data)
        while len(self._known) > MOST_FILES or self._size > MOST_BYTES:
            self._forget(next(iter(self._known)))
        return data

    def _forget(self, path: Path) -> None:
        if path in self._known:
            self._size -= len(self._known.pop(path)[1])


def workspace_files(folders: tuple[str, ...], exclude: tuple[str, ...]) -> WorkspaceFiles:
    """The files of *folders*, which may be named by links, but for those that the globs *exclude* mean."""
    return WorkspaceFiles(tuple(Path(folder).resolve() for folder in folders), exclusions(exclude))
