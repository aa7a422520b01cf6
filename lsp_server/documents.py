"""Keeps the open documents in sync with the editor, and passes every change on to the worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fimlsp.errors import UserError
from fimlsp.languages import LANGUAGES, REFUSED
from fimlsp.languages.python import Python
from fimlsp.languages.python.versions import PYTHON_VERSIONS, Check, PythonVersion
from fimlsp.lsp_server.messages import Arrange, Close, DocumentId, Edit, Open, Request
from fimlsp.lsp_server.notebook_cells import Cell, is_script, read_cell, read_script
from fimlsp.lsp_server.text_positions import Text, encode
from fimlsp.lsp_server.workspace_files import NO_EXCLUSIONS, Exclusions, is_cell, path_of
from fimlsp.models.prompts.incremental_tokenizer import common_prefix_length
from fimlsp.quotient.contexts.replacement import Replacement
from fimlsp.quotient.language.contract import Language


class NoSuggestion(UserError):  # noqa: N818 - not an error, an answer
    """A request has no suggestion; the message is the reason, for status bar and log."""


LARGEST_DOCUMENT = 8_000_000
"""Bytes, about 200,000 lines. The contexts of such a file take 20 seconds and 0.5 GB."""

LARGEST_CELL = 100_000
"""Bytes of a notebook's cell, or a script of cells; each edit reads all of it again, up to 0.1 s."""

LONGEST_LINE = 50_000
"""Bytes. Each keystroke reads the cursor's line again, 0.02 ms per 1,000 bytes of code."""

UNREADABLE = "the worker process did not survive reading it. Close and open it to try again"
"""The reason to leave out a document."""

PYTHON = "python"
"""The editors' name for documents in Python."""

STUB_SUFFIX = ".pyi"

Position = tuple[int, int]
"""A line and a character in it, in the editor's units."""


@dataclass(frozen=True, slots=True)
class CompletionRules:
    """The documents that are completed, and how.

    *python* is the Python version; None for that of the document's workspace, in stubs the newest. *check* is
    what Python must be able to do with a completed document. *grammars* has the user's own languages by
    identifier, or the reason that one cannot be used.
    """

    languages: tuple[str, ...] = (PYTHON,)
    excluded: Exclusions = NO_EXCLUSIONS
    python: PythonVersion | None = None
    check: Check = "compile"
    grammars: Mapping[str, Language | str] = field(default_factory=dict)

    def refusal(self, uri: str, language: str) -> str | None:
        """The reason that a document gets no completions, if that does not depend on its text."""
        if language not in self.languages:
            known = ", ".join(map(language_name, self.languages))
            return f"{language} is not completed{known and ', only ' + known} (option languages)"
        grammar = self.grammars.get(language, REFUSED.get(language))
        if isinstance(grammar, str):
            return grammar
        path = path_of(uri)
        if path is not None and self.excluded.has(path):
            return "completions are off for this file (option exclude)"
        return None


@dataclass(frozen=True, slots=True)
class OpenDocument:
    """An open document in its newest version, in the language *grammar*.

    *cell* has the Python of a notebook cell, or of a script of cells. *refusal* is the reason for no
    completions; the worker does not have such a document. *refusal_by_rules* is its part that does not depend
    on the text.
    """

    id: DocumentId
    language: str
    version: int
    text: Text
    grammar: Language
    is_of_notebook: bool
    cell: Cell | None
    refusal_by_rules: str | None
    refusal: str | None

    @property
    def read(self) -> Text:
        """The text that the engine reads: the document, or the Python of a cell in the same length."""
        return self.text if self.cell is None else Text(self.cell.data)

    @property
    def data(self) -> bytes:
        """The text that the engine reads, as bytes."""
        return self.text.data if self.cell is None else self.cell.data

    def with_text(self, version: int, text: Text) -> OpenDocument:
        """The next version."""
        cell, problem = _read(text, self.language, is_of_notebook=self.is_of_notebook)
        refusal = self.refusal_by_rules or problem
        return replace(self, version=version, text=text, cell=cell, refusal=refusal)


@dataclass(frozen=True, slots=True)
class TextChange:
    """One edit of the editor: *text* replaces *span*, or the whole document if that is None."""

    span: tuple[Position, Position] | None
    text: str


class OpenDocuments:
    """The open documents of one client.

    *send* passes a message to the worker; *python_of* returns the Python version of a document's workspace.
    """

    def __init__(
        self, client: int, send: Callable[[Request], None], python_of: Callable[[str], PythonVersion]
    ) -> None:
        self.encoding = "utf-16"
        self._python_of = python_of
        self._rules = CompletionRules()
        self._client = client
        self._send = send
        self._open: dict[str, OpenDocument] = {}
        self._left_out: set[str] = set()
        self._notebooks: dict[str, tuple[str, ...]] = {}

    def get(self, uri: str) -> OpenDocument | None:
        """The document, if it is open."""
        return self._open.get(uri)

    def find_open(self, uri: str) -> OpenDocument:
        """The document. KeyError if it is not open."""
        return self._open[uri]

    def is_current(self, document: OpenDocument) -> bool:
        """True if the document is open and has not changed since."""
        current = self._open.get(document.id.uri)
        return current is not None and current.text is document.text

    def follow(self, rules: CompletionRules) -> None:
        """Use *rules* and the workspaces' Python versions from now on."""
        self._rules = rules
        for uri, old in self._open.items():
            self._open[uri] = new = self._again(old)
            if new.grammar != old.grammar or (new.refusal is None) != (old.refusal is None):
                self._send_whole(new)

    def open(self, uri: str, language: str, version: int, text: str, *, cell: bool = False) -> None:
        """The editor opened a document; *cell*: of a notebook."""
        self._left_out.discard(uri)
        name, is_of_notebook = DocumentId(self._client, uri), cell or is_cell(uri)
        document = self._document(name, language, version, Text(encode(text)), is_of_notebook)
        self._open[uri] = document
        self._send_whole(document)

    def change(
        self, uri: str, version: int, changes: Sequence[TextChange]
    ) -> Iterator[tuple[bytes, Replacement]]:
        """The editor changed an open document; each change applies to the result of the one before.

        The iterator applies a change when it yields it, together with the document's text before it.
        """
        for change in changes:
            old = self._open[uri]
            replacement = self._in_bytes(old.text, change)
            new = old.with_text(version, old.text.replaced(replacement))
            is_other = (new.cell is None) is not (old.cell is None)  # a script of cells, or none any more
            self._open[uri] = new = self._again(new) if is_other else new
            if is_other or old.refusal is not None or new.refusal is not None:
                self._send_whole(new)
            elif new.cell is None:
                self._send(Edit(new.id, version, replacement))
            else:
                self._send(Edit(new.id, version, difference(old.data, new.data)))
            yield old.text.data, replacement

    def close(self, uri: str) -> None:
        """The editor closed a document; unknown ones are ignored."""
        self._left_out.discard(uri)
        document = self._open.pop(uri, None)
        if document is not None:
            self._send(Close(document.id))

    def leave_out(self, uri: str) -> None:
        """Send the document to no worker any more, until it is opened again: the last one ended with it."""
        old = self._open.get(uri)
        if old is not None:
            self._left_out.add(uri)
            self._open[uri] = self._again(old)

    def arrange(self, notebook: str, start: int, deleted: int, cells: Sequence[str]) -> None:
        """Replace the *deleted* cells of a notebook from number *start* on by *cells*; all are URIs."""
        order = self._notebooks.get(notebook, ())
        self._set_order(notebook, (*order[:start], *cells, *order[start + deleted :]))

    def close_notebook(self, notebook: str) -> None:
        """The editor closed a notebook; its cells are closed by themselves."""
        self._set_order(notebook, ())

    def _set_order(self, notebook: str, cells: tuple[str, ...]) -> None:
        self._notebooks[notebook] = cells
        if not cells:
            del self._notebooks[notebook]
        self._send(Arrange(self._client, notebook, cells))

    def send_all(self) -> None:
        """Send all documents and notebooks to a new worker process."""
        for document in self._open.values():
            self._send_whole(document)
        for notebook, cells in self._notebooks.items():
            self._send(Arrange(self._client, notebook, cells))

    def find(self, uri: str) -> OpenDocument:
        """The document, if completions can be made in it.

        Raises:
            NoSuggestion: It is not open, or it has a refusal.
        """
        document = self._open.get(uri)
        if document is None:
            raise NoSuggestion("the document is not open in this server")
        if document.refusal is not None:
            raise NoSuggestion(document.refusal)
        return document

    def offset(self, document: OpenDocument, line: int, character: int) -> int:
        """Byte offset of a position.

        Raises:
            NoSuggestion: The line does not exist, or the position is in an IPython command.
        """
        if not document.text.has_line(line):
            raise NoSuggestion(f"the document has no line {line + 1}")
        offset = document.text.offset(line, character, self.encoding)
        if document.cell is not None and document.cell.is_command(offset):
            raise NoSuggestion("the cursor is in an IPython command")
        return offset

    def _document(
        self, name: DocumentId, language: str, version: int, text: Text, is_of_notebook: bool
    ) -> OpenDocument:
        by_rules = self._rules.refusal(name.uri, language)
        if name.uri in self._left_out:
            by_rules = f"this file is left out: {UNREADABLE}"
        user_grammar = self._rules.grammars.get(language)
        release = self._rules.python or self._version_of(name.uri)
        cell, problem = _read(text, language, is_of_notebook=is_of_notebook)
        python = Python(release, self._rules.check, top_level_await=cell is not None)
        grammar = user_grammar if isinstance(user_grammar, Language) else grammar_of(language, python)
        return OpenDocument(
            name, language, version, text, grammar, is_of_notebook, cell, by_rules, by_rules or problem
        )

    def _version_of(self, uri: str) -> PythonVersion:
        """The Python version of the document; stubs may use the newest syntax, as type checkers require."""
        path = path_of(uri)
        is_stub = path is not None and path.suffix == STUB_SUFFIX
        return PYTHON_VERSIONS[-1] if is_stub else self._python_of(uri)

    def _again(self, old: OpenDocument) -> OpenDocument:
        """The document *old* by the rules of now."""
        return self._document(old.id, old.language, old.version, old.text, old.is_of_notebook)

    def _in_bytes(self, text: Text, change: TextChange) -> Replacement:
        if change.span is None:
            return Replacement(0, len(text.data), encode(change.text))
        first, last = change.span
        start = text.offset(*first, self.encoding)
        end = start if first == last else max(start, text.offset(*last, self.encoding))
        return Replacement(start, end, encode(change.text))

    def _send_whole(self, document: OpenDocument) -> None:
        if document.refusal is None:
            self._send(Open(document.id, document.version, document.data, document.grammar))
        else:
            self._send(Close(document.id))


def _read(text: Text, language: str, *, is_of_notebook: bool) -> tuple[Cell | None, str | None]:
    """The cell or script of cells with this *text*, if it is one, and the reason for no completions in it.

    A text beyond the limits is not read, because this runs on the event loop.
    """
    problem = refusal_of_size(text, is_cell=is_of_notebook)
    if not is_of_notebook:
        reads = language == PYTHON and len(text.data) <= LARGEST_CELL and is_script(text.data)
        return (read_script(text.data) if reads else None), problem
    if problem is not None:
        return Cell(text.data), problem
    cell = read_cell(text.data)
    return cell, None if cell.language is None else f"this cell is not Python ({cell.language})"


def refusal_of_size(text: Text, *, is_cell: bool) -> str | None:
    """The reason that a text of this size, or with such long lines, gets no completions."""
    kind, most = ("cell", LARGEST_CELL) if is_cell else ("file", LARGEST_DOCUMENT)
    size = len(text.data)
    if size > most:
        return f"the {kind} is larger than {most:,} bytes"
    if size > LONGEST_LINE:
        line, length = text.longest_line()
        if length > LONGEST_LINE:
            return f"line {line + 1} of the {kind} is longer than {LONGEST_LINE:,} bytes"
    return None


def difference(old: bytes, new: bytes) -> Replacement:
    """The smallest edit from *old* to *new*. O(len)."""
    start = common_prefix_length(old, new)
    same = common_prefix_length(
        old[: start - 1 : -1] if start else old[::-1], new[: start - 1 : -1] if start else new[::-1]
    )
    return Replacement(start, len(old) - same, new[start : len(new) - same])


def grammar_of(identifier: str, python: Python) -> Language:
    """The language with an editor's *identifier*; *python* for unknown ones."""
    others = (known for name, known in LANGUAGES.items() if name != PYTHON)
    match = next((known for known in others if identifier in known.identifiers), None)
    return python if match is None else match.language()


def language_name(identifier: str) -> str:
    """The name of a language for users."""
    return "Python" if identifier == PYTHON else identifier
