"""Context from the client's other files: text that the model reads, and indexed text that is mixed in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from fimlsp.languages.python.missing_names.import_table import ImportTable
from fimlsp.lsp_server.messages import Workspace
from fimlsp.lsp_server.worker.engine_documents import DocumentEntry
from fimlsp.lsp_server.worker.neighbour_texts import (
    OpenFile,
    lines_around,
    neighbours_of,
    open_neighbours,
    shown_path,
)
from fimlsp.lsp_server.worker.project_texts import ProjectTexts
from fimlsp.lsp_server.workspace_files import WorkspaceFiles, workspace_files

if TYPE_CHECKING:
    from fimlsp.models.loading import FimModel
    from fimlsp.models.networks.matches import MatchSource
    from fimlsp.models.prompts.prompt import Neighbour


RECENT_WEIGHT = 4.0
"""The weight of a text that was changed lately.

At 260 real edits in eight packages, a true token needs 2.51 bits with the texts of the edits before, and 2.56
without them. The sum of the probabilities of all true lines is 28.6, and 28.2 without.
"""

OPENED_BYTES = 32_000
"""Bytes of all edited documents in total that are searched in each decoding step."""


class OtherFileContext(NamedTuple):
    """Context for a completion: the shown path of its file, texts of other files, and indexed text.

    *imports* returns the import tables of the indexed files. *left_out* is as in `ProjectTexts`.
    """

    path: str | None = None
    neighbours: Sequence[Neighbour] = ()
    elsewhere: MatchSource | None = None
    imports: Callable[[], Sequence[ImportTable]] = tuple
    left_out: str | None = None


class OtherFiles:
    """The files that may be read for a client: those of its *workspace*, and its open documents."""

    def __init__(self, workspace: Workspace | None = None) -> None:
        self._files = WorkspaceFiles()
        if workspace is not None:
            self._files = workspace_files(workspace.folders, workspace.exclude)
        self._project = ProjectTexts(self._files)

    def end(self) -> None:
        """Stop reading files."""
        self._project.end()

    def context(
        self,
        model: FimModel,
        entry: DocumentEntry,
        opened: Sequence[DocumentEntry],
        tokens: int,
        above: bytes = b"",
        recent: Sequence[bytes] = (),
    ) -> OtherFileContext:
        """Context of *model* for the document *entry*, with about *tokens* tokens of text to read.

        *opened* are the client's other documents, the most recently used first, *recent* the pieces of text
        that were changed last in any document. For a cell, *above* has the cells above it, with their
        imports.
        """
        others = [other for other in opened if other.policy == entry.policy]
        path, neighbours = self._read(entry, others, tokens, above) if model.fim.reads_files else (None, [])
        if not model.uses_buffer:
            return OtherFileContext(path, neighbours)
        return OtherFileContext(
            path,
            neighbours,
            self._elsewhere(entry, others, recent),
            partial(self._imports, entry),
            self._project.left_out,
        )

    def _imports(self, entry: DocumentEntry) -> Sequence[ImportTable]:
        return [] if entry.path is None else self._project.imports(entry.path)

    def _read(
        self, entry: DocumentEntry, opened: Sequence[DocumentEntry], tokens: int, above: bytes
    ) -> tuple[str, list[Neighbour]]:
        others = [OpenFile(other.path, other.data, other.edited_at) for other in opened]
        ending = entry.policy.file_ending
        if entry.is_python:
            neighbours = neighbours_of(entry.path, above + entry.data, others, self._files, tokens)
        else:
            neighbours = open_neighbours(others, self._files, tokens, ending)
        return shown_path(entry.path, self._files, ending), neighbours

    def _elsewhere(
        self, entry: DocumentEntry, opened: Sequence[DocumentEntry], recent: Sequence[bytes]
    ) -> MatchSource:
        """The *recent* texts, the text around the last edits of *opened* documents, and files from disk."""
        from fimlsp.models.networks.matches import CombinedSources, ScannedTexts

        edited = [other for other in opened if other.edited_at is not None]
        size = OPENED_BYTES // max(1, len(edited))
        parts = [lines_around(other.data, other.edited_at or 0, size) for other in edited]
        scanned = [ScannedTexts(parts)] if parts else []
        scanned += [ScannedTexts(recent, RECENT_WEIGHT)] if recent else []
        if entry.path is None or not entry.is_python:
            return CombinedSources(scanned)
        known = [other.path for other in edited if other.path is not None]
        return CombinedSources([*scanned, *self._project.elsewhere(entry.path, known)])
