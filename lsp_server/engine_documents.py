"""The documents as the engine knows them, kept for those that are in use.

A document's contexts cost about 0.004 ms and 0.1 KB per character to make and to hold
(benchmarks/engine.py), an edit afterwards almost nothing. So they are made when a document is asked
about, or in idle time for the one touched last, and the least recently used are given up when together
they grow too large; the text itself is always kept.
"""

from __future__ import annotations

import gc
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from fimlsp.quotient.engine import EditedDocument, Engine

MOST_BYTES = 2_000_000
"""Text that may have engine documents at the same time, the newest document always among it."""


@dataclass(slots=True)
class _Entry:
    version: int
    data: bytes
    document: EditedDocument | None = None


class EngineDocuments:
    """The open documents by name, the least recently touched first. *make_engine* is called on first use."""

    def __init__(self, make_engine: Callable[[], Engine]) -> None:
        self._make_engine = make_engine
        self._entries: OrderedDict[str, _Entry] = OrderedDict()

    @cached_property
    def _engine(self) -> Engine:
        return self._make_engine()

    def start_engine(self) -> None:
        """Make the engine now: it reads the grammar's tables, or makes them in a few seconds."""
        assert self._engine is not None

    def open(self, uri: str, version: int, data: bytes) -> None:
        """Take a text in."""
        self._entries[uri] = _Entry(version, data)
        self._entries.move_to_end(uri)

    def edit(self, uri: str, version: int, start: int, end: int, replacement: bytes) -> None:
        """Replace the bytes from *start* to *end*. O(len(data)) copying; KeyError if it is not open."""
        entry = self._entries[uri]
        document, entry.document = entry.document, None
        entry.version = version
        entry.data = entry.data[:start] + replacement + entry.data[end:]
        self._entries.move_to_end(uri)
        if document is not None:
            document.edit(start, end, replacement)
            entry.document = document

    def close(self, uri: str) -> None:
        """Forget a text."""
        self._entries.pop(uri, None)

    def prepare_newest(self) -> bool:
        """Make the contexts of the document touched last, if they are not there; whether there was work."""
        if not self._entries:
            return False
        uri, entry = next(reversed(self._entries.items()))
        if entry.document is not None:
            return False
        self.document(uri).prepare()
        gc.collect()
        gc.freeze()  # else each later full collection would walk all contexts again: 0.1 s for a large file
        return True

    def renew(self, uri: str) -> None:
        """Make the contexts of a document again when they are next asked for."""
        self._entries[uri].document = None

    def version(self, uri: str) -> int | None:
        """The version of the text; None if it is not open."""
        entry = self._entries.get(uri)
        return None if entry is None else entry.version

    def document(self, uri: str) -> EditedDocument:
        """The engine's document; O(len(data)) if it was not in use. KeyError if it is not open."""
        entry = self._entries[uri]
        self._entries.move_to_end(uri)
        if entry.document is None:
            self._give_up_oldest(MOST_BYTES - len(entry.data))
            entry.document = self._engine.document(entry.data)
        return entry.document

    def _give_up_oldest(self, budget: int) -> None:
        """Give up engine documents, oldest first, until the rest is at most *budget* bytes."""
        in_use = [entry for entry in self._entries.values() if entry.document is not None]
        total = sum(len(entry.data) for entry in in_use)
        for entry in in_use:
            if total <= budget:
                return
            entry.document = None
            total -= len(entry.data)
