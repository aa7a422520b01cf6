"""Keeps the editor's documents: their texts, the engine's documents of those in use, and names at cursors.

A document's contexts cost about 0.002 ms per character to make and 0.1 KB to hold (benchmarks/engine.py), an
edit afterwards almost nothing. So they are made when a document is asked about, or in idle time for the one
touched last; the least recently used are dropped when all together grow too large. The text itself is always
kept. The names where the cursor will be are looked up at each edit, beside all other work.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fimlsp.languages.python import Python
from fimlsp.languages.python.analysis.questions import MOST_BYTES as MOST_ANALYSED
from fimlsp.lexing.interruption import Interrupted
from fimlsp.lsp_server.documents.uris import is_cell, path_of
from fimlsp.lsp_server.messages import DocumentId
from fimlsp.lsp_server.worker.names import Names, NamesHere
from fimlsp.quotient.contexts.replacement import Replacement
from fimlsp.quotient.engine import EditedDocument, Engine
from fimlsp.quotient.grammar.cfg import GrammarError
from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.language.editor_policy import EditorPolicy

MOST_BYTES = 2_000_000
"""Bytes of all texts that have engine documents at the same time; the newest always has one."""

STEP = 2_000
"""Bytes whose contexts are made in one piece of idle work, about 4 ms; requests are answered in between."""


@dataclass(slots=True)
class Entry:
    """A document: its text, the engine's document if that is in use, where it was edited last.

    *path* is that of its file, if it has one; of a cell (*is_cell*), of its notebook. *policy* is that of its
    language.
    """

    path: Path | None
    is_cell: bool
    version: int
    data: bytes
    grammar: Language
    policy: EditorPolicy
    document: EditedDocument | None = None
    steps: Iterator[int] | None = None
    edited_at: int | None = None

    @property
    def real_path(self) -> Path | None:
        """Where *path* leads to."""
        return None if self.path is None else self.path.resolve()

    @property
    def is_python(self) -> bool:
        """Whether what is known of Python's names, imports and outlines says anything of the document."""
        return isinstance(self.grammar, Python)


class EngineDocuments:
    """The open documents by name, the least recently touched first.

    *make_engine* is called for each language when it is first used. *names* looks up the names at cursors, in
    a cell with those above it; without it, nothing is known of them.
    """

    def __init__(self, make_engine: Callable[[Language], Engine], names: Names | None = None) -> None:
        self._make_engine = make_engine
        self._names = names
        self._engines: dict[Language, Engine] = {}
        self._entries: OrderedDict[DocumentId, Entry] = OrderedDict()

    def engine(self, grammar: Language) -> Engine:
        """The engine of a language: reads the grammar's tables, or makes them in a few seconds."""
        if grammar not in self._engines:
            self._engines[grammar] = self._make_engine(grammar)
        return self._engines[grammar]

    def open(self, document: DocumentId, version: int, data: bytes, grammar: Language) -> None:
        """Take a document in."""
        entry = Entry(path_of(document.uri), is_cell(document.uri), version, data, grammar, grammar.editor)
        self._entries[document] = entry
        self._entries.move_to_end(document)
        if self._names is not None:
            self._look(self._names, document, entry, 0)

    def edit(self, document: DocumentId, version: int, replacement: Replacement) -> None:
        """Edit a document, which makes *version* of it. O(len(data)) for one copy.

        Raises:
            KeyError: It is not open.
        """
        entry = self._entries[document]
        known, steps = entry.document, entry.steps
        entry.document = entry.steps = None
        entry.version = version
        entry.edited_at = replacement.start
        self._entries.move_to_end(document)
        try:
            if known is not None:
                known.edit(replacement.start, replacement.end, replacement.text)
                entry.document, entry.steps = known, steps
        finally:
            entry.data = replacement.applied_to(entry.data) if entry.document is None else entry.document.data
        if self._names is not None:
            self._look(self._names, document, entry, replacement.start + len(replacement.text))

    def close(self, document: DocumentId) -> None:
        """Forget a document."""
        self._entries.pop(document, None)
        if self._names is not None:
            self._names.close(document)

    def leave(self, client: int) -> None:
        """Forget all that belongs to a client."""
        for name in [name for name in self._entries if name.client == client]:
            del self._entries[name]
        if self._names is not None:
            self._names.leave(client)

    def _look(self, names: Names, document: DocumentId, entry: Entry, offset: int) -> None:
        """Begin to look up the *names* at *offset*, where the cursor will be."""
        if len(entry.data) <= MOST_ANALYSED and entry.is_python:
            names.look(document, entry.path, *self.around(document, offset))

    def names_at(self, document: DocumentId, offset: int) -> NamesHere | None:
        """What is known by now of the names at *offset* of a document that is open."""
        entry = self._entries[document]
        if self._names is None or not entry.is_python:
            return None
        return self._names.at(document, entry.path, *self.around(document, offset))

    def others(self, name: DocumentId) -> list[Entry]:
        """The other documents of the same client, the one touched last first."""
        return [
            entry
            for other, entry in reversed(self._entries.items())
            if other.client == name.client and other != name
        ]

    def find(self, name: DocumentId) -> Entry | None:
        """The document; None if it is not open."""
        return self._entries.get(name)

    def around(self, name: DocumentId, offset: int) -> tuple[bytes, bytes]:
        """What stands left and right of *offset*, in a cell behind the other cells of its notebook."""
        entry = self._entries[name]
        left, right = entry.data[:offset], entry.data[offset:]
        if entry.is_cell:
            cells = [
                other.data
                for id, other in self._entries.items()
                if id.client == name.client
                and other is not entry
                and other.is_cell
                and other.path == entry.path
            ]
            left = b"\n".join([*cells, left])
        return left, right

    def newest(self) -> Entry | None:
        """The document touched last, if there is one."""
        return next(reversed(self._entries.values()), None)

    def prepare_newest(self) -> bool:
        """Make some contexts of the document touched last, if they are not there; whether there was work.

        If that is interrupted, what was made is kept, and the next call goes on from there.
        """
        if not self._entries:
            return False
        name, entry = next(reversed(self._entries.items()))
        if entry.document is None:
            try:
                entry.steps = preparation(self.document(name))
            except GrammarError:  # said when a completion is asked for
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
        """Let `prepare_newest` make what contexts of the document are missing."""
        self._entries[name].steps = preparation(self.document(name))

    def renew(self, name: DocumentId) -> None:
        """Make the contexts of a document again when they are next asked for."""
        entry = self._entries[name]
        entry.document = entry.steps = None

    def document(self, name: DocumentId) -> EditedDocument:
        """The engine's document; O(len(data)) if it was not in use. KeyError if it is not open."""
        entry = self._entries[name]
        self._entries.move_to_end(name)
        if entry.document is None:
            self._drop_oldest(MOST_BYTES - len(entry.data))
            entry.document = self.engine(entry.grammar).document(entry.data)
        return entry.document

    def _drop_oldest(self, budget: int) -> None:
        """Drop engine documents, oldest first, until those left have at most *budget* bytes of text."""
        in_use = [entry for entry in self._entries.values() if entry.document is not None]
        total = sum(len(entry.data) for entry in in_use)
        for entry in in_use:
            if total <= budget:
                return
            entry.document = entry.steps = None
            total -= len(entry.data)


def preparation(document: EditedDocument) -> Iterator[int]:
    """Makes the contexts of *document*, which may be edited meanwhile, in steps of about the same size.

    Yields the offset it has reached, first forwards, then backwards; at last the whole is checked. On the way
    back a few lines in long brackets may be left out; a question about one of them costs 2 ms more.
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
