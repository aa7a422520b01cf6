"""Files of a workspace, read for context: only Python, only inside the folders, never what is excluded."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

from fimlsp.lsp_server.workspace.exclusions import is_excluded

LARGEST_FILE = 500_000
MOST_FILES = 200
_SUFFIXES = (".py", ".pyi")


@dataclass(slots=True)
class WorkspaceFiles:
    """The files of *folders*, but for those that the globs of *exclude* mean; as they are on disk now."""

    folders: tuple[Path, ...] = ()
    exclude: tuple[str, ...] = ()
    _known: OrderedDict[Path, tuple[tuple[int, int], bytes]] = field(default_factory=OrderedDict)

    def read(self, path: Path) -> bytes | None:
        """The text of a file; None if it may not be read, or is not there. Cheap when nothing changed."""
        if path.suffix not in _SUFFIXES or is_excluded(path, self.exclude):
            return None
        try:
            path.stat()  # most files that are asked for are not there, and this tells so soonest
            real = path.resolve(strict=True)
            if not self.has(real) or is_excluded(real, self.exclude):
                return None
            return self._read(real)
        except (OSError, RuntimeError):  # not there, not readable, or a circle of links
            return None

    def has(self, path: Path) -> bool:
        """Whether *path*, without links, is inside one of the folders."""
        return any(path.is_relative_to(folder) for folder in self.folders)

    def _read(self, path: Path) -> bytes | None:
        state = path.stat()
        if state.st_size > LARGEST_FILE or not path.is_file():
            return None
        stamp = state.st_mtime_ns, state.st_size
        known = self._known.get(path)
        if known is None or known[0] != stamp:
            known = self._known[path] = stamp, path.read_bytes()
        self._known.move_to_end(path)
        while len(self._known) > MOST_FILES:
            self._known.popitem(last=False)
        return known[1]


def workspace_files(folders: tuple[str, ...], exclude: tuple[str, ...]) -> WorkspaceFiles:
    """The files of folders that may be named by links."""
    return WorkspaceFiles(tuple(Path(folder).resolve() for folder in folders), exclude)
