"""Keeps the open documents in step with the editor's, and passes every change on to the worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fimlsp.languages import LANGUAGES
from fimlsp.languages.python import Python
from fimlsp.languages.python.checks import Check
from fimlsp.languages.python.versions import PythonVersion
from fimlsp.lsp_server.documents.text_positions import Text, encode
from fimlsp.lsp_server.documents.uris import is_cell, path_of
from fimlsp.lsp_server.errors import NoSuggestion
from fimlsp.lsp_server.messages import Close, DocumentId, Edit, Open, Request
from fimlsp.lsp_server.python.notebook_cells import Cell, read_cell
from fimlsp.lsp_server.workspace.exclusions import NOTHING, Exclusions
from fimlsp.models.prompts.typed_texts import common_length
from fimlsp.quotient.contexts.replacement import Replacement
from fimlsp.quotient.language.contract import Language

LARGEST_DOCUMENT = 8_000_000
"""Bytes, about 200,000 lines; the contexts of such a file take 20 seconds and half a gigabyte."""

LONGEST_LINE = 50_000
"""Bytes; each keystroke reads the cursor's line again, 0.02 ms per 1,000 bytes of code."""

Position = tuple[int, int]
"""A line and a character in it, as the editor counts them."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Which documents are completed, and in which Python; None: in that of their workspace.

    What has to be true of a document with a completion is `check`. `grammars` has the languages of the user's
    own, or why one cannot be used, by identifier.
    """

    languages: tuple[str, ...] = ("python",)
    excluded: Exclusions = NOTHING
    python: PythonVersion | None = None
    check: Check = "compile"
    grammars: Mapping[str, Language | str] = field(default_factory=dict)

    def refusal(self, uri: str, language: str) -> str | None:
        """Why a document gets no completions, whatever its text."""
        if language not in self.languages:
            known = ", ".join(map(language_name, self.languages))
            return f"{language} is not completed{known and ', only ' + known} (option languages)"
        own = self.grammars.get(language)
        if isinstance(own, str):
            return own
        path = path_of(uri)
        if path is not None and self.excluded.has(path):
            return "completions are switched off for this file (option exclude)"
        return None


@dataclass(frozen=True, slots=True)
class Document:
    """One open document in its newest version, in the language *grammar*.

    *cell* tells how a cell of a notebook is read. *refusal* says why there are no completions, in which case
    the worker does not know the document; *refusal_by_rules* is the part of it that edits cannot change.
    """

    id: DocumentId
    language: str
    version: int
    text: Text
    grammar: Language
    cell: Cell | None
    refusal_by_rules: str | None
    refusal: str | None

    @property
    def read(self) -> Text:
        """The text that the engine reads: all of it, or of a cell its Python, in the same length."""
        return self.text if self.cell is None else Text(self.cell.data)

    @property
    def data(self) -> bytes:
        """The text that the engine reads, as bytes."""
        return self.text.data if self.cell is None else self.cell.data

    def with_text(self, version: int, text: Text) -> Document:
        """The next version."""
        cell = None if self.cell is None else read_cell(text.data)
        refusal = self.refusal_by_rules or refusal_of_text(text, cell)
        return Document(
            self.id, self.language, version, text, self.grammar, cell, self.refusal_by_rules, refusal
        )


@dataclass(frozen=True, slots=True)
class Change:
    """One edit as the editor tells it: *text* replaces *span*, or the whole document if that is None."""

    span: tuple[Position, Position] | None
    text: str


class Documents:
    """The open documents of one client.

    *send* passes a message to the worker, which gets edits in bytes; *python_of* gives the Python of the
    workspace that a document is in.
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

    def get(self, uri: str) -> Document | None:
        """The document, if it is open."""
        return self._open.get(uri)

    def find_open(self, uri: str) -> Document:
        """The document. KeyError if it is not open."""
        return self._open[uri]

    def is_current(self, document: Document) -> bool:
        """Whether the document is open and was not changed since."""
        current = self._open.get(document.id.uri)
        return current is not None and current.text is document.text

    def follow(self, rules: Rules) -> None:
        """Use other *rules* from now on, and look up again what the workspaces are written for."""
        self._rules = rules
        for uri, old in self._open.items():
            self._open[uri] = new = self._document(old.id, old.language, old.version, old.text, old.cell)
            if new.grammar != old.grammar or (new.refusal is None) != (old.refusal is None):
                self._send_whole(new)

    def open(self, uri: str, language: str, version: int, text: str, *, cell: bool = False) -> None:
        """The editor shows a document, *cell*: of a notebook."""
        data = encode(text)
        read = read_cell(data) if cell or is_cell(uri) else None
        document = self._document(DocumentId(self._client, uri), language, version, Text(data), read)
        self._open[uri] = document
        self._send_whole(document)

    def change(self, uri: str, version: int, changes: Sequence[Change]) -> Iterator[tuple[int, Replacement]]:
        """The editor changed an open document; each change applies to the outcome of the one before.

        The iterator makes each change when it is reached, and gives it with the document's size before it.
        """
        for change in changes:
            old = self._open[uri]
            replacement = self._in_bytes(old.text, change)
            new = self._open[uri] = old.with_text(version, old.text.replaced(replacement))
            if old.refusal is not None or new.refusal is not None:
                self._send_whole(new)
            elif new.cell is None:
                self._send(Edit(new.id, version, replacement))
            else:
                self._send(Edit(new.id, version, difference(old.data, new.data)))
            yield len(old.text.data), replacement

    def close(self, uri: str) -> None:
        """The editor has closed a document; unknown ones are ignored."""
        document = self._open.pop(uri, None)
        if document is not None:
            self._send(Close(document.id))

    def send_all(self) -> None:
        """Send everything to a worker that knows nothing yet."""
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
        if document.refusal is not None:
            raise NoSuggestion(document.refusal)
        return document

    def offset(self, document: Document, line: int, character: int) -> int:
        """Byte offset of a position.

        Raises:
            NoSuggestion: The document has no such line, or there is no Python at this position.
        """
        if not document.text.has_line(line):
            raise NoSuggestion(f"the document has no line {line + 1}")
        offset = document.text.offset(line, character, self.encoding)
        if document.cell is not None and document.cell.is_command(offset):
            raise NoSuggestion("the cursor is in a command of IPython")
        return offset

    def _document(
        self, name: DocumentId, language: str, version: int, text: Text, cell: Cell | None
    ) -> Document:
        by_rules = self._rules.refusal(name.uri, language)
        own = self._rules.grammars.get(language)
        python = Python(self._rules.python or self._python_of(name.uri), self._rules.check)
        grammar = own if isinstance(own, Language) else grammar_of(language, python)
        refusal = by_rules or refusal_of_text(text, cell)
        return Document(name, language, version, text, grammar, cell, by_rules, refusal)

    def _in_bytes(self, text: Text, change: Change) -> Replacement:
        if change.span is None:
            return Replacement(0, len(text.data), encode(change.text))
        first, last = change.span
        start = text.offset(*first, self.encoding)
        end = start if first == last else max(start, text.offset(*last, self.encoding))
        return Replacement(start, end, encode(change.text))

    def _send_whole(self, document: Document) -> None:
        if document.refusal is None:
            self._send(Open(document.id, document.version, document.data, document.grammar))
        else:
            self._send(Close(document.id))


def refusal_of_text(text: Text, cell: Cell | None) -> str | None:
    """Why a document with this text gets no completions."""
    if cell is not None and cell.language is not None:
        return f"this cell is not Python ({cell.language})"
    size = len(text.data)
    if size > LARGEST_DOCUMENT:
        return f"the file is larger than {LARGEST_DOCUMENT:,} bytes"
    if size > LONGEST_LINE:
        line, length = text.longest_line()
        if length > LONGEST_LINE:
            return f"line {line + 1} of the file is longer than {LONGEST_LINE:,} bytes"
    return None


def difference(old: bytes, new: bytes) -> Replacement:
    """The smallest edit that makes *new* of *old*. O(len)."""
    start = common_length(old, new)
    same = common_length(
        old[: start - 1 : -1] if start else old[::-1], new[: start - 1 : -1] if start else new[::-1]
    )
    return Replacement(start, len(old) - same, new[start : len(new) - same])


def grammar_of(identifier: str, python: Python) -> Language:
    """The language of documents that an editor calls *identifier*; *python* if no other is called so."""
    others = (known for name, known in LANGUAGES.items() if name != "python")
    found = next((known for known in others if identifier in known.identifiers), None)
    return python if found is None else found.language()


def language_name(identifier: str) -> str:
    """An editor's name of a language for users."""
    return "Python" if identifier == "python" else identifier
