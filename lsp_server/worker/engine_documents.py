"""Keeps the engine's documents for the texts that are in use.

A document's contexts cost about 0.002 ms per character to make and 0.1 KB to hold (benchmarks/engine.py), an
edit afterwards almost nothing. So they are made when a document is asked about, or in idle time for the one
touched last; the least recently used are dropped when all together grow too large. The text itself is always
kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fimlsp.languages.python import Python
from fimlsp.lexing.interruption import Interrupted
from fimlsp.lsp_server.documents.uris import is_cell, path_of
from fimlsp.lsp_server.messages import DocumentId
from fimlsp.quotient.contexts.replacement import Replacement
from fimlsp.quotient.engine import EditedDocument, Engine
from fimlsp.quotient.grammar.cfg import GrammarError
from fimlsp.quotient.language.contract import Language

MOST_BYTES = 2_000_000
"""Bytes of all texts that have engine documents at the same time; the newest always has one."""

STEP = 2_000
"""Bytes whose contexts are made in one piece of idle work, about 4 ms; requests are answered in between."""


@dataclass(slots=True)
class Entry:
    """A document: its text, the engine's document if that is in use, where it was edited last.

    *path* is that of its file, if it has one; of a cell (*is_cell*), of its notebook.
    """

    path: Path | None
    is_cell: bool
    version: int
    data: bytes
    grammar: Language
    document: EditedDocument | None = None
    steps: Iterator[int] | None = None
    edited_at: int | None = None

    @property
    def is_python(self) -> bool:
        """Whether what is known of Python's names, imports and outlines says anything of the document."""
        return isinstance(self.grammar, Python)


class EngineDocuments:
    """The open documents by name, the least recently touched first.

    *make_engine* is called for each language when it is first used.
    """

    def __init__(self, make_engine: Callable[[Language], Engine]) -> None:
        self._make_engine = make_engine
        self._engines: dict[Language, Engine] = {}
        self._entries: OrderedDict[DocumentId, Entry] = OrderedDict()

    def engine(self, grammar: Language) -> Engine:
        """The engine of a language: reads the grammar's tables, or makes them in a few seconds."""
        if grammar not in self._engines:
            self._engines[grammar] = self._make_engine(grammar)
        return self._engines[grammar]

    def open(self, name: DocumentId, version: int, data: bytes, grammar: Language) -> Entry:
        """Take a text in."""
        entry = Entry(path_of(name.uri), is_cell(name.uri), version, data, grammar)
        self._entries[name] = entry
        self._entries.move_to_end(name)
        return entry

    def edit(self, name: DocumentId, version: int, replacement: Replacement) -> Entry:
        """Edit a document. O(len(data)) for one copy; KeyError if it is not open."""
        entry = self._entries[name]
        document, steps = entry.document, entry.steps
        entry.document = entry.steps = None
        entry.version = version
        entry.edited_at = replacement.start
        self._entries.move_to_end(name)
        try:
            if document is not None:
                document.edit(replacement.start, replacement.end, replacement.text)
                entry.document, entry.steps = document, steps
        finally:
            entry.data = replacement.applied_to(entry.data) if entry.document is None else entry.document.data
        return entry

    def close(self, name: DocumentId) -> None:
        """Forget a text."""
        self._entries.pop(name, None)

    def leave(self, client: int) -> None:
        """Forget all texts of a client."""
        for name in [name for name in self._entries if name.client == client]:
            del self._entries[name]

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

    Yields the offset it has reached, first forwards, then backwards. On the way back a few lines in long
    brackets may be left out; a question about one of them costs 2 ms more.
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
