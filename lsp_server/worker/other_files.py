"""What a completion learns from the files of a client other than its own: read by the model, or mixed in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from fimlsp.languages.python.wanted.import_table import ImportTable
from fimlsp.lsp_server.messages import Workspace
from fimlsp.lsp_server.worker.engine_documents import Entry
from fimlsp.lsp_server.worker.neighbourhood import (
    OpenFile,
    lines_around,
    neighbours_of,
    open_neighbours,
    shown_path,
)
from fimlsp.lsp_server.worker.project_texts import ProjectTexts
from fimlsp.lsp_server.workspace.workspace_files import WorkspaceFiles, workspace_files

if TYPE_CHECKING:
    from fimlsp.models.loading import FimModel
    from fimlsp.models.networks.precedents import Precedents
    from fimlsp.models.prompts.neighbours import Neighbour

OPENED_BYTES = 32_000
"""Bytes of all edited documents together that are looked through in each step."""


class Beside(NamedTuple):
    """The path of a file as the model is told it, what the model reads of others, and what is mixed in.

    *imports* has what they import.
    """

    path: str | None = None
    neighbours: Sequence[Neighbour] = ()
    elsewhere: Precedents | None = None
    imports: Callable[[], Sequence[ImportTable]] = tuple


class OtherFiles:
    """The files that may be read for a client: those of its *workspace*, and what it has opened."""

    def __init__(self, workspace: Workspace | None = None) -> None:
        self._files = WorkspaceFiles()
        if workspace is not None:
            self._files = workspace_files(workspace.folders, workspace.exclude)
        self._project = ProjectTexts(self._files)

    def end(self) -> None:
        """Read nothing more."""
        self._project.end()

    def beside(self, model: FimModel, entry: Entry, opened: Sequence[Entry], tokens: int) -> Beside:
        """What *model* is to know beside the document *entry*; about *tokens* tokens of what it reads.

        *opened* are the client's other documents, the one touched last first.
        """
        others = [other for other in opened if other.policy == entry.policy]
        path, neighbours = self._read(entry, others, tokens) if model.fim.reads_files else (None, [])
        if not model.uses_buffer:
            return Beside(path, neighbours)
        return Beside(path, neighbours, self._elsewhere(entry, others), partial(self._imports, entry))

    def _imports(self, entry: Entry) -> Sequence[ImportTable]:
        return [] if entry.path is None else self._project.imports(entry.path)

    def _read(self, entry: Entry, opened: Sequence[Entry], tokens: int) -> tuple[str, list[Neighbour]]:
        others = [OpenFile(other.path, other.data, other.edited_at) for other in opened]
        ending = entry.policy.file_ending
        if entry.is_python:
            neighbours = neighbours_of(entry.path, entry.data, others, self._files, tokens)
        else:
            neighbours = open_neighbours(entry.path, others, self._files, tokens, ending)
        return shown_path(entry.path, self._files, ending), neighbours

    def _elsewhere(self, entry: Entry, opened: Sequence[Entry]) -> Precedents:
        """What is around the last edits of *opened* documents, and all other files as they are on disk."""
        from fimlsp.models.networks.precedents import ScannedTexts, Together

        edited = [other for other in opened if other.edited_at is not None]
        parts = [lines_around(each.data, each.edited_at or 0, OPENED_BYTES // len(edited)) for each in edited]
        scanned = [ScannedTexts(parts)] if parts else []
        if entry.path is None or not entry.is_python:
            return Together(scanned)
        known = [other.path for other in edited if other.path is not None]
        return Together([*scanned, *self._project.elsewhere(entry.path, known)])
