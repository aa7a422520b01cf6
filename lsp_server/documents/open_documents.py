"""The texts of the open documents, kept in step with the editor's and passed on to the worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from fimlsp.languages.python.versions import PythonVersion
from fimlsp.lsp_server.documents.text_positions import Text, encode
from fimlsp.lsp_server.documents.uris import is_cell, path_of
from fimlsp.lsp_server.errors import NoSuggestion
from fimlsp.lsp_server.messages import Close, DocumentId, Edit, Open, Request
from fimlsp.lsp_server.python.notebook_cells import Cell, read_cell
from fimlsp.lsp_server.workspace.exclusions import is_excluded

LARGEST_DOCUMENT = 8_000_000
"""Bytes, about 200,000 lines; the contexts of such a file take 20 seconds and half a gigabyte."""

LONGEST_LINE = 50_000
"""Bytes; each keystroke reads the cursor's line again, 0.02 ms per 1,000 bytes of code."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Which documents are completed, and as which Python; None: that of their workspace."""

    languages: tuple[str, ...] = ("python",)
    exclude: tuple[str, ...] = ()
    python: PythonVersion | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """One open document in its newest version, written for *python*.

    *cell* is how a cell of a notebook is read.
    """

    uri: str
    language: str
    version: int
    text: Text
    python: PythonVersion
    cell: Cell | None = None

    @property
    def read(self) -> Text:
        """What is read: the text, or what a cell has of Python, of the same length."""
        return self.text if self.cell is None else Text(self.cell.data)

    @property
    def data(self) -> bytes:
        """What is read, as bytes."""
        return self.text.data if self.cell is None else self.cell.data

    def with_text(self, version: int, text: Text) -> Document:
        """The next version."""
        cell = None if self.cell is None else read_cell(text.data)
        return replace(self, version=version, text=text, cell=cell)


@dataclass(frozen=True, slots=True)
class Span:
    """A range as the editor tells it: (line, character) of its start and its end."""

    start: tuple[int, int]
    end: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Change:
    """One edit: *text* takes the place of *span*, or of the whole document when that is None."""

    span: Span | None
    text: str


@dataclass(frozen=True, slots=True)
class Replaced:
    """One edit in bytes: what was put in the place of the bytes from *start* to *end*."""

    start: int
    end: int
    replacement: bytes = field(repr=False)


class Documents:
    """The open documents of one client.

    *send* passes a message to the worker, which gets edits in bytes; *python_of* tells the Python of a
    document's workspace.
    """

    def __init__(
        self, client: int, send: Callable[[Request], None], python_of: Callable[[str], PythonVersion]
    ) -> None:
        self.encoding = "utf-16"
        self._python_of = python_of
        self._rules = Rules()
        self._client = client
        self._send = send
        self._open: dict[str, Document] = {}

    def __contains__(self, uri: str) -> bool:
        return uri in self._open

    def __getitem__(self, uri: str) -> Document:
        return self._open[uri]

    def is_current(self, document: Document) -> bool:
        """Whether the document is open and was not changed since."""
        current = self._open.get(document.uri)
        return current is not None and current.text is document.text

    def id(self, uri: str) -> DocumentId:
        """How the worker knows the document."""
        return DocumentId(self._client, uri)

    def follow(self, rules: Rules) -> None:
        """Use other *rules* from now on, and find out again what the workspaces are written for."""
        refused = {uri for uri, document in self._open.items() if self._refusal(document) is not None}
        self._rules = rules
        for uri, document in self._open.items():
            self._open[uri] = followed = replace(document, python=self._python(uri))
            if followed != document or (uri in refused) != (self._refusal(document) is not None):
                self._send_whole(followed)

    def open(self, uri: str, language: str, version: int, text: str, *, cell: bool = False) -> None:
        """The editor shows a document, *cell*: of a notebook."""
        data = encode(text)
        read = read_cell(data) if cell or is_cell(uri) else None
        self._open[uri] = Document(uri, language, version, Text(data), self._python(uri), read)
        self._send_whole(self._open[uri])

    def change(self, uri: str, version: int, changes: Sequence[Change]) -> Iterator[tuple[int, Replaced]]:
        """The editor changed an open document; each change applies to the outcome of the one before.

        Each is made when the iterator comes to it, and told with the size of the document before.
        """
        for change in changes:
            old = self._open[uri]
            start, end = self._bytes_of(old.text, change.span)
            made = Replaced(start, end, encode(change.text))
            new = old.with_text(version, old.text.replaced(start, end, made.replacement))
            self._open[uri] = new
            if self._refusal(old) is None and self._refusal(new) is None:
                told = made if new.cell is None else difference(old.data, new.data)
                self._send(Edit(self.id(uri), version, told.start, told.end, told.replacement))
            else:
                self._send_whole(new)
            yield len(old.text.data), made

    def close(self, uri: str) -> None:
        """The editor has closed a document; unknown ones are ignored."""
        if self._open.pop(uri, None) is not None:
            self._send(Close(self.id(uri)))

    def send_all(self) -> None:
        """Tell a worker that knows nothing yet."""
        for document in self._open.values():
            self._send_whole(document)

    def find(self, uri: str) -> Document:
        """The document, if completions can be made in it.

        Raises:
            NoSuggestion: It is not open, not Python, switched off, or too large.
        """
        document = self._open.get(uri)
        if document is None:
            raise NoSuggestion("the document was not opened in this server")
        refusal = self._refusal(document)
        if refusal is not None:
            raise NoSuggestion(refusal)
        return document

    def offset(self, document: Document, line: int, character: int) -> int:
        """Byte offset of a position.

        Raises:
            NoSuggestion: The document has no such line, or there is no Python at this place of it.
        """
        if not document.text.has_line(line):
            raise NoSuggestion(f"the document has no line {line + 1}")
        offset = document.text.offset(line, character, self.encoding)
        if document.cell is not None and document.cell.is_command(offset):
            raise NoSuggestion("the cursor is in a command of IPython")
        return offset

    def _python(self, uri: str) -> PythonVersion:
        return self._rules.python or self._python_of(uri)

    def _refusal(self, document: Document) -> str | None:
        """Why the document gets no completions, and the worker does not know it."""
        rules, text = self._rules, document.text
        if document.language not in rules.languages:
            known = ", ".join(map(language_name, rules.languages)) or "nothing"
            return f"only {known} is completed, and this document is {document.language}"
        path = path_of(document.uri) if rules.exclude else None
        if path is not None and is_excluded(path, rules.exclude):
            return "completions are switched off for this file (option exclude)"
        if document.cell is not None and document.cell.language is not None:
            return f"this cell is not Python ({document.cell.language})"
        if len(text.data) > LARGEST_DOCUMENT:
            return f"the file is larger than {LARGEST_DOCUMENT:,} bytes"
        if len(text.data) > LONGEST_LINE:
            line, length = text.longest_line()
            if length > LONGEST_LINE:
                return f"line {line + 1} of the file is longer than {LONGEST_LINE:,} bytes"
        return None

    def _bytes_of(self, text: Text, span: Span | None) -> tuple[int, int]:
        if span is None:
            return 0, len(text.data)
        start, end = (text.offset(*position, self.encoding) for position in (span.start, span.end))
        return start, max(start, end)

    def _send_whole(self, document: Document) -> None:
        name = self.id(document.uri)
        if self._refusal(document) is None:
            self._send(Open(name, document.version, document.data, document.python))
        else:
            self._send(Close(name))


def difference(old: bytes, new: bytes) -> Replaced:
    """The smallest edit that makes *new* of *old*. O(len)."""
    start = n_equal(old, new)
    same = n_equal(
        old[: start - 1 : -1] if start else old[::-1], new[: start - 1 : -1] if start else new[::-1]
    )
    return Replaced(start, len(old) - same, new[start : len(new) - same])


def n_equal(one: bytes, other: bytes) -> int:
    """How many bytes of two texts are the same from the first on."""
    size = min(len(one), len(other))
    differs = np.frombuffer(one, np.uint8, size) != np.frombuffer(other, np.uint8, size)
    return int(differs.argmax()) if differs.any() else size


def language_name(identifier: str) -> str:
    """An editor's name of a language for users."""
    return "Python" if identifier == "python" else identifier
