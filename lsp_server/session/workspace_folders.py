"""The folders that the editor has open, and which Python each of them is for.

A thread reads the files that tell the Python: no file of a workspace is opened on the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Thread

from fimlsp.languages.python.versions import PythonVersion
from fimlsp.lsp_server.documents.uris import path_of
from fimlsp.lsp_server.python.environments import running_version, version_of_workspace

_Versions = dict[Path | None, PythonVersion]


class WorkspaceFolders:
    """The folders of one client, by their URIs.

    *on_change* is called when they turn out to be for other versions of Python than was thought.
    """

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self._folders: dict[str, Path] = {}
        self._versions: _Versions = {}
        self._n_looks = 0

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

    def look(self) -> None:
        """Find out what Pythons the folders are for; returns at once, and `on_change` is called later."""
        self._n_looks += 1
        folders = [None, *self._folders.values()]
        loop = asyncio.get_running_loop()
        Thread(target=self._look, args=(folders, self._n_looks, loop), daemon=True).start()

    def python_of(self, uri: str) -> PythonVersion:
        """The Python of the innermost folder that has the document, as far as it is known."""
        return self._versions.get(self._folder_of(uri), running_version())

    def _look(self, folders: list[Path | None], look: int, loop: asyncio.AbstractEventLoop) -> None:
        versions = {folder: version_of_workspace(folder) for folder in folders}
        with contextlib.suppress(RuntimeError):  # the loop may be closed by now
            loop.call_soon_threadsafe(self._take, versions, look)

    def _take(self, versions: _Versions, look: int) -> None:
        if look == self._n_looks and versions != self._versions:
            self._versions = versions
            self._on_change()

    def _folder_of(self, uri: str) -> Path | None:
        path = path_of(uri)
        around = [
            folder for folder in self._folders.values() if path is not None and path.is_relative_to(folder)
        ]
        if path is None:  # a buffer without a file belongs to the workspace, if there is but one
            around = [*self._folders.values()] if len(self._folders) == 1 else []
        return max(around, key=lambda folder: len(folder.parts), default=None)
