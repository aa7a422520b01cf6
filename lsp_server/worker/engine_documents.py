"""The worker's copy of the editor's documents: texts, engine documents of those in use, names at cursors.

The contexts of a document take about 0.002 ms per character to make and 0.1 KB to store
(benchmarks/engine.py); an edit afterwards is nearly free. They are made for the first request, or in idle
time for the newest document. The least recently used ones are dropped above a total size; texts are always
kept. Each edit starts the look-up of names at the new cursor, in another process.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fimlsp.languages.python import Python
from fimlsp.languages.python.names.known_names import MOST_BYTES as MOST_ANALYSED
from fimlsp.languages.type_checker.process import MOST_BYTES as MOST_CHECKED
from fimlsp.languages.typescript.checker.configuration import JAVASCRIPT_ENDINGS
from fimlsp.lexing.interruption import Interrupted, interruptible, time_limit
from fimlsp.lsp_server.messages import DocumentId
from fimlsp.lsp_server.worker.names import NameLookup, NamesAtCursor
from fimlsp.lsp_server.worker.type_checks import TypeChecks, TypesAtCursor
from fimlsp.lsp_server.workspace_files import is_cell, path_of
from fimlsp.quotient.contexts.replacement import Replacement
from fimlsp.quotient.engine import Document, Engine
from fimlsp.quotient.grammar.cfg import GrammarError
from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.language.editor_policy import EditorPolicy

_TYPED: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("TypeScript", "TSX"), frozenset()),
    **dict.fromkeys(("JavaScript", "JSX"), JAVASCRIPT_ENDINGS),
}
"""The languages with a type checker that a user may name, with the endings that a file must have, if any."""

MOST_BYTES = 2_000_000
"""Bytes of all texts with engine documents; the newest text always has one."""

MOST_OF_CELLS = 100_000
"""Bytes of a notebook's other cells that count for one of them; the nearest ones come first."""

STEP = 2_000
"""Bytes parsed in one piece of idle work, about 4 ms; requests are answered in between."""

_ENTER_IN_BRACKETS = re.compile(rb"(\r?\n[ \t]*)\r?\n[ \t]*")
"""Matches the text of Enter between two brackets; the cursor stays before that of the closing one."""

REFUSED_PLACE_S = 0.5
"""Time limit for finding the place that a grammar refuses."""


@dataclass(slots=True)
class DocumentEntry:
    """A document: its text, the engine's document if it is in use, and the offset of its last edit.

    *path* is its file, if it has one, or the notebook of a cell (*is_cell*). *policy* is that of its
    language. After its last edit the cursor is probably at *edit_end*.
    """

    path: Path | None
    is_cell: bool
    version: int
    data: bytes
    grammar: Language
    policy: EditorPolicy
    document: Document | None = None
    steps: Iterator[int] | None = None
    edited_at: int | None = None
    edit_end: int | None = None

    @property
    def real_path(self) -> Path | None:
        """*path* without links."""
        return None if self.path is None else self.path.resolve()

    @property
    def is_python(self) -> bool:
        """True if Python's names, imports and outlines apply to the document."""
        return isinstance(self.grammar, Python)

    @property
    def has_types(self) -> bool:
        """True if there is a type checker of the document's language."""
        endings = _TYPED.get(self.grammar.name)
        ending = "" if self.path is None else self.path.suffix
        return self.is_python or (endings is not None and (not endings or ending in endings))


class EngineDocuments:
    """The open documents by id, the least recently used first.

    *make_engine* is called for the first use of each language. *names* looks up the names in scope at
    cursors, for a cell including those of the notebook's other cells; without it, they are unknown. *types*
    checks the types of texts there; without it, none are checked.
    """

    def __init__(
        self,
        make_engine: Callable[[Language], Engine],
        names: NameLookup | None = None,
        types: TypeChecks | None = None,
    ) -> None:
        self._make_engine = make_engine
        self._names = names
        self._types = types
        self._engines: dict[Language, Engine] = {}
        self._entries: OrderedDict[DocumentId, DocumentEntry] = OrderedDict()
        self._notebooks: dict[DocumentId, tuple[DocumentId, ...]] = {}

    def engine(self, grammar: Language) -> Engine:
        """The engine of a language. Its tables are loaded from the cache, or made in a few seconds."""
        if grammar not in self._engines:
            self._engines[grammar] = self._make_engine(grammar)
        return self._engines[grammar]

    def open(self, document: DocumentId, version: int, data: bytes, grammar: Language) -> None:
        """Add a document."""
        entry = DocumentEntry(
            path_of(document.uri), is_cell(document.uri), version, data, grammar, grammar.editor
        )
        self._entries[document] = entry
        self._entries.move_to_end(document)
        self._look_ahead(document, entry, 0)

    def edit(self, document: DocumentId, version: int, replacement: Replacement) -> None:
        """Edit a document; the result is *version*. O(len(data)) for one copy.

        Raises:
            KeyError: It is not open.
        """
        entry = self._entries[document]
        known, steps = entry.document, entry.steps
        entry.document = entry.steps = None
        entry.version = version
        entry.edited_at, entry.edit_end = replacement.start, replacement.start + _typed(replacement.text)
        self._entries.move_to_end(document)
        try:
            if known is not None:
                known.edit(replacement.start, replacement.end, replacement.text)
                entry.document, entry.steps = known, steps
        finally:
            entry.data = replacement.applied_to(entry.data) if entry.document is None else entry.document.data
        self._look_ahead(document, entry, entry.edit_end)

    def close(self, document: DocumentId) -> None:
        """Drop a document."""
        self._entries.pop(document, None)
        if self._names is not None:
            self._names.close(document)

    def arrange(self, client: int, notebook: str, cells: Sequence[str]) -> None:
        """Set the order of the cells of a notebook; without cells, it is closed."""
        name = DocumentId(client, notebook)
        self._notebooks.pop(name, None)
        if cells:
            self._notebooks[name] = tuple(DocumentId(client, cell) for cell in cells)

    def leave(self, client: int) -> None:
        """Drop all documents of a client."""
        for name in [name for name in self._entries if name.client == client]:
            del self._entries[name]
        for name in [name for name in self._notebooks if name.client == client]:
            del self._notebooks[name]
        if self._names is not None:
            self._names.leave(client)
        if self._types is not None:
            self._types.leave(client)

    def _look_ahead(self, document: DocumentId, entry: DocumentEntry, offset: int) -> None:
        """Start to look up the names at *offset*, the expected cursor, and to prepare the check of types."""
        if self._names is not None and len(entry.data) <= MOST_ANALYSED and entry.is_python:
            self._names.look_up(document, entry.path, *self.around(document, offset))
        if self._types is not None and (types := self.types_at(document, offset, 0)) is not None:
            self._types.prepare(document.client, types)

    def names_at(self, document: DocumentId, offset: int) -> NamesAtCursor | None:
        """The names at *offset* of an open document, as far as they are known by now."""
        entry = self._entries[document]
        if self._names is None or not entry.is_python:
            return None
        return self._names.at(document, entry.path, *self.around(document, offset))

    def types_at(self, document: DocumentId, offset: int, deadline_ms: int) -> TypesAtCursor | None:
        """The checks of types at *offset* of an open document; None in large ones and other languages.

        *deadline_ms* is the time limit of the request; 0 if there is none yet.
        """
        entry = self._entries[document]
        is_small = len(entry.data) <= MOST_CHECKED
        if self._types is None or not is_small or not entry.has_types:
            return None
        opened = {
            other.path: other.data
            for other in self.others(document)
            if other.path is not None and other.is_python == entry.is_python and not other.is_cell
        }
        around = self.around(document, offset)
        version = entry.grammar.version if isinstance(entry.grammar, Python) else None
        return self._types.at(document.client, entry.path, version, around, opened, deadline_ms)

    def others(self, name: DocumentId) -> list[DocumentEntry]:
        """The other documents of the same client, the most recently used first; no cells of its notebook."""
        cells = frozenset(self._cells_around(name))
        return [
            entry
            for other, entry in reversed(self._entries.items())
            if other.client == name.client and other not in cells and other != name
        ]

    def find(self, name: DocumentId) -> DocumentEntry | None:
        """The document; None if it is not open."""
        return self._entries.get(name)

    def around(self, name: DocumentId, offset: int) -> tuple[bytes, bytes]:
        """The text on both sides of *offset*; for a cell, the left one includes the other cells.

        Those below the cell come first. So the last binding of a name is the nearest one above.
        """
        data = self._entries[name].data
        above, below = self.other_cells(name)
        return below + above + data[:offset], data[offset:]

    def other_cells(self, name: DocumentId) -> tuple[bytes, bytes]:
        """The cells above and below the cell *name* in its notebook, each with a line end; empty for a file.

        Of a long notebook, the nearest cells are taken, and those above first.
        """
        cells = self._cells_around(name)
        at = cells.index(name) if cells else 0
        above = self._nearest(reversed(cells[:at]), MOST_OF_CELLS)
        below = self._nearest(cells[at + 1 :], MOST_OF_CELLS - sum(map(len, above)))
        return b"".join(reversed(above)), b"".join(below)

    def _nearest(self, cells: Iterable[DocumentId], budget: int) -> list[bytes]:
        """The texts of the first of *cells* that have at most *budget* bytes in total."""
        texts = list[bytes]()
        for name in cells:
            entry = self._entries.get(name)
            if entry is not None and entry.is_python and entry.data:
                budget -= len(entry.data) + 1
                if budget < 0:
                    break
                texts.append(entry.data + b"\n")
        return texts

    def _cells_around(self, name: DocumentId) -> Sequence[DocumentId]:
        """The cells of the notebook that has the cell *name*, in their order; empty for a file."""
        return next((cells for cells in self._notebooks.values() if name in cells), ())

    def newest(self) -> DocumentEntry | None:
        """The most recently used document, if there is one."""
        return next(reversed(self._entries.values()), None)

    def prepare_newest(self) -> bool:
        """Make some missing contexts of the most recently used document; false if none are missing.

        After an interruption, the next call continues with the contexts made so far.
        """
        if not self._entries:
            return False
        name, entry = next(reversed(self._entries.items()))
        if entry.document is None:
            try:
                entry.steps = preparation(self.document(name))
            except GrammarError:  # the next completion reports it
                return False
        if entry.steps is None:
            return False
        try:
            if next(entry.steps, None) is None:
                entry.steps = None
        except Interrupted:
            self.read_on(name)
        return True

    def read_on(self, name: DocumentId) -> None:
        """Let `prepare_newest` make the missing contexts of the document."""
        self._entries[name].steps = preparation(self.document(name))

    def renew(self, name: DocumentId) -> None:
        """Drop the contexts of a document; they are made again when needed."""
        entry = self._entries[name]
        entry.document = entry.steps = None

    def document(self, name: DocumentId) -> Document:
        """The engine's document; O(len(data)) if it is not in use.

        Raises:
            KeyError: It is not open.
        """
        entry = self._entries[name]
        self._entries.move_to_end(name)
        if entry.document is None:
            self._drop_oldest(MOST_BYTES - len(entry.data))
            entry.document = self.engine(entry.grammar).document(entry.data)
        return entry.document

    def _drop_oldest(self, budget: int) -> None:
        """Drop engine documents, oldest first, until the rest has at most *budget* bytes of text."""
        in_use = [entry for entry in self._entries.values() if entry.document is not None]
        total = sum(len(entry.data) for entry in in_use)
        for entry in in_use:
            if total <= budget:
                return
            entry.document = entry.steps = None
            total -= len(entry.data)


def _typed(text: bytes) -> int:
    """The length of *text* up to the cursor, if the user has just typed it."""
    enter = _ENTER_IN_BRACKETS.fullmatch(text)
    return len(text) if enter is None else enter.end(1)


def preparation(document: Document) -> Iterator[int]:
    """Makes the contexts of *document*, which may be edited meanwhile, in steps of about the same size.

    Yields its offset, first forwards, then backwards, and finally checks the whole text. On the way back, a
    few lines in long brackets may be skipped; a request there takes 2 ms longer.
    """
    offset = 0
    document.prepare_language()
    while offset < len(document.data):
        offset += STEP
        document.left_at(min(offset, len(document.data)))
        yield offset
    while offset > 0:
        offset = min(offset, len(document.data)) - STEP
        document.right_at(document.left_at(max(0, offset))[0])
        yield offset
    document.prepare_check()


def with_cells(left: bytes, right: bytes, above: bytes, below: bytes) -> tuple[bytes, bytes]:
    """The text *left* and *right* of a cursor, with the notebook's other cells *above* and *below*."""
    return above + left, right + (b"\n" + below if below else b"")


def refused_place(language: Language, text: bytes, cursor: int) -> str | None:
    """The place beside *cursor* that *language* refuses, if it is found in good time."""
    try:
        with interruptible(time_limit(REFUSED_PLACE_S)):
            return language.refused_place(text, cursor)
    except Interrupted:
        return None
