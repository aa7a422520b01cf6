"""Copies the modules that a text can import into a folder of ours, which is all that the compiler sees.

A compiler opens files itself, and a workspace may hold anything: links to devices, configurations that name
other folders, trees without an end. So it never gets the workspace. The folder of copies has the files that
the document imports, those that these import, and the types of packages, where the workspace has them. An
import that cannot be copied stays without a file, and its names have any type there.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from fimlsp.languages.type_checker.language_server import Change
from fimlsp.languages.typescript.checker.resolution import Import, Resolution, imports_in

MOST_FILES = 1_500
MOST_BYTES = 20_000_000
"""Files, and their bytes, that are copied for a document; with more, no errors of types count."""

UNTITLED = "untitled.ts"
"""The name of a document without a file."""


@dataclass(slots=True)
class ModuleCopies:
    """The copies in *folder* of the modules that documents import, as *resolution* finds them.

    `are_whole` is False if the last document needs more files than are copied, or some that may not be read.
    """

    folder: Path
    resolution: Resolution
    are_whole: bool = True
    _copied: dict[Path, bytes] = field(default_factory=dict)
    _changes: list[Change] = field(default_factory=list)
    _document: tuple[Path, tuple[Import, ...]] | None = None

    def forget(self) -> None:
        """Compare the files of the project with the disk at the next update."""
        self._document = None
        self.resolution.forget()

    def update(self, path: Path | None, text: bytes) -> tuple[Path, list[Change]]:
        """Copy the modules that *text* imports as the document at *path*.

        Returns the path in the folder, where a file is, and the changes of the folder. About 2 s of
        processor time for 600 files of packages at first, and a tenth of that later.
        """
        self._changes = []
        root = self.resolution.root
        path = path if path is not None and path.is_relative_to(root) else root / UNTITLED
        target = self._target(path)
        if not target.exists():
            self._copy(path, b"")
        imports = imports_in(text)
        if (path, imports) != self._document:
            self._document = path, imports
            self._copy_all(path, imports)
        return target, self._changes

    def _copy_all(self, document: Path, imports: tuple[Import, ...]) -> None:
        resolution, size = self.resolution, 0
        waiting = deque(resolution.first_files(document, imports))
        self._copy(resolution.root / "tsconfig.json", resolution.configuration.text())
        seen = {document}
        while waiting and len(seen) <= MOST_FILES and size < MOST_BYTES:
            path = waiting.popleft()
            if path in seen:
                continue
            seen.add(path)
            text = resolution.text(path)
            if text is not None:
                size += len(text)
                self._copy(path, text)
                waiting.extend(file for file in resolution.files_after(path, text) if file not in seen)
        self.are_whole = not resolution.unreadable and all(path in seen for path in waiting)

    def _target(self, path: Path) -> Path:
        return self.folder / path.relative_to(self.resolution.root)

    def _copy(self, path: Path, text: bytes) -> None:
        if self._copied.get(path) == text:
            return
        target = self._target(path)
        with suppress(OSError):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text)
            self._changes.append(Change(target, "changed" if path in self._copied else "made"))
            self._copied[path] = text
