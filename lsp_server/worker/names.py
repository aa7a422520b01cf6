"""The names that are known at the cursors of documents, looked up beside all other work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from fimlsp.languages.python.analysis.client import Analysis
from fimlsp.languages.python.analysis.questions import Cursor
from fimlsp.languages.python.names.preference import NamePreference
from fimlsp.lsp_server.messages import DocumentId, Workspace
from fimlsp.lsp_server.worker.file_guard import GUARDED_COMMAND


@dataclass(frozen=True, slots=True)
class NamesHere:
    """What is known at one cursor: what to prefer, and why that is nothing yet, if so."""

    preference: NamePreference
    problem: str | None


class _Readable(NamedTuple):
    """The folders of a client whose files may be read, but for those that are excluded."""

    folders: tuple[Path, ...]
    excluded: tuple[str, ...]


_NOTHING = _Readable((), ())


class Names:
    """The names at cursors in Python documents. *command* starts the process of the analysis."""

    def __init__(self, command: Sequence[str] = GUARDED_COMMAND) -> None:
        self._analysis = Analysis(command)
        self._workspaces: dict[int, _Readable] = {}
        self._last: tuple[DocumentId, Cursor] | None = None

    def enter(self, workspace: Workspace) -> None:
        """Take in which files may be read for a client."""
        folders = tuple(map(Path, workspace.folders))
        self._workspaces[workspace.client] = _Readable(folders, workspace.exclude)
        self._last = None

    def leave(self, client: int) -> None:
        """Forget what belongs to a client."""
        self._workspaces.pop(client, None)
        self._analysis.forget(lambda document: isinstance(document, DocumentId) and document.client == client)

    def close(self, document: DocumentId) -> None:
        """Forget a document."""
        self._analysis.forget(lambda other: other == document)

    def look(self, document: DocumentId, path: Path | None, left: bytes, right: bytes) -> Cursor:
        """Begin to find out what is known between *left* and *right* of *document*, the file at *path*.

        About 0.5 ms; the cursor of the last call is not read again.
        """
        cursor = self._cursor(document, path, left, right)
        self._analysis.look(document, cursor)
        return cursor

    def _cursor(self, document: DocumentId, path: Path | None, left: bytes, right: bytes) -> Cursor:
        if self._last is not None:
            name, cursor = self._last
            if name == document and cursor.left == left and cursor.right == right:
                return cursor
        readable = self._workspaces.get(document.client, _NOTHING)
        cursor = Cursor(path, readable.folders, left, right, readable.excluded)
        self._last = document, cursor
        return cursor

    def at(self, document: DocumentId, path: Path | None, left: bytes, right: bytes) -> NamesHere:
        """What is known between *left* and *right* of *document* by now; as `look`, it never waits."""
        cursor = self.look(document, path, left, right)
        preference = NamePreference(left, right, cursor.state, lambda: self._analysis.known(document, cursor))
        return NamesHere(preference, self._analysis.problem(document, cursor))

    def are_looked_up(self, tell: Callable[[], None]) -> bool:
        """Whether no names are being looked up; if some are, *tell* is called later, by another thread."""
        return self._analysis.is_at_rest(tell)

    def learn(self, document: DocumentId, here: NamesHere) -> None:
        """Look up with the next question what was missed *here*."""
        self._analysis.miss(document, here.preference.missed)
