"""The texts of the open documents, kept in step with the editor's and passed on to the worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fimlsp.lsp_server.errors import NoSuggestion
from fimlsp.lsp_server.messages import Close, Edit, Open, Request
from fimlsp.lsp_server.text_positions import Text, encode

LANGUAGE = "python"

LARGEST_DOCUMENT = 500_000
"""Bytes; the charts of a larger file would take more than a gigabyte of memory."""


@dataclass(frozen=True, slots=True)
class Document:
    """One open document in its newest version."""

    uri: str
    language: str
    version: int
    text: Text

    @property
    def is_wanted(self) -> bool:
        """Whether the worker should know the document."""
        return self.language == LANGUAGE and len(self.text.data) <= LARGEST_DOCUMENT


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


class Documents:
    """The open documents. *send* passes a message to the worker, which gets the same edits in bytes."""

    def __init__(self, send: Callable[[Request], None]) -> None:
        self.encoding = "utf-16"
        self._send = send
        self._open: dict[str, Document] = {}

    def __contains__(self, uri: str) -> bool:
        return uri in self._open

    def open(self, uri: str, language: str, version: int, text: str) -> None:
        """The editor shows a document."""
        self._open[uri] = Document(uri, language, version, Text(encode(text)))
        self._send_whole(self._open[uri])

    def change(self, uri: str, version: int, changes: Sequence[Change]) -> None:
        """The editor changed an open document; each change applies to the outcome of the one before."""
        for change in changes:
            old = self._open[uri]
            start, end = self._bytes_of(old.text, change.span)
            replacement = encode(change.text)
            new = replace(old, version=version, text=old.text.replaced(start, end, replacement))
            self._open[uri] = new
            if old.is_wanted and new.is_wanted:
                self._send(Edit(uri, version, start, end, replacement))
            else:
                self._send_whole(new)

    def close(self, uri: str) -> None:
        """The editor has closed a document; unknown ones are ignored."""
        if self._open.pop(uri, None) is not None:
            self._send(Close(uri))

    def send_all(self) -> None:
        """Tell a worker that knows nothing yet."""
        for document in self._open.values():
            self._send_whole(document)

    def find(self, uri: str) -> Document:
        """The document, if completions can be made in it.

        Raises:
            NoSuggestion: It is not open, not Python, or too large.
        """
        document = self._open.get(uri)
        if document is None:
            raise NoSuggestion("the document was not opened in this server")
        if document.language != LANGUAGE:
            raise NoSuggestion(f"only Python is completed, and this document is {document.language}")
        if not document.is_wanted:
            raise NoSuggestion(f"the file is larger than {LARGEST_DOCUMENT:,} bytes")
        return document

    def offset(self, document: Document, line: int, character: int) -> int:
        """Byte offset of a position.

        Raises:
            NoSuggestion: The document has no such line.
        """
        if not document.text.has_line(line):
            raise NoSuggestion(f"the document has no line {line + 1}")
        return document.text.offset(line, character, self.encoding)

    def _bytes_of(self, text: Text, span: Span | None) -> tuple[int, int]:
        if span is None:
            return 0, len(text.data)
        start, end = (text.offset(*position, self.encoding) for position in (span.start, span.end))
        return start, max(start, end)

    def _send_whole(self, document: Document) -> None:
        if document.is_wanted:
            self._send(Open(document.uri, document.version, document.text.data))
        else:
            self._send(Close(document.uri))
