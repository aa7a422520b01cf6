"""The folders that the editor has open, and which Python each of them is for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fimlsp.languages.python.versions import PythonVersion
from fimlsp.lsp_server.documents.uris import path_of
from fimlsp.lsp_server.python.environments import version_of_workspace


class WorkspaceFolders:
    """The folders of one client, by their URIs."""

    def __init__(self) -> None:
        self._folders: dict[str, Path] = {}
        self._versions: dict[Path | None, PythonVersion] = {}

    @property
    def paths(self) -> tuple[str, ...]:
        """The folders' absolute paths."""
        return tuple(map(str, self._folders.values()))

    def add(self, uris: Iterable[str]) -> None:
        """Folders were opened; those that are not on this machine's disk do not count."""
        self._folders.update({uri: path for uri in uris if (path := path_of(uri)) is not None})

    def remove(self, uris: Iterable[str]) -> None:
        """Folders were closed."""
        for uri in uris:
            self._folders.pop(uri, None)

    def refresh(self) -> None:
        """Look at the folders' environments again when they are next asked for."""
        self._versions.clear()

    def python_of(self, uri: str) -> PythonVersion:
        """The Python of the innermost folder that has the document. Reads files once per folder."""
        folder = self._folder_of(uri)
        if folder not in self._versions:
            self._versions[folder] = version_of_workspace(folder)
        return self._versions[folder]

    def _folder_of(self, uri: str) -> Path | None:
        path = path_of(uri)
        around = [
            folder for folder in self._folders.values() if path is not None and path.is_relative_to(folder)
        ]
        if path is None:  # a buffer without a file belongs to the workspace, if there is but one
            around = [*self._folders.values()] if len(self._folders) == 1 else []
        return max(around, key=lambda folder: len(folder.parts), default=None)
