"""The engine: documents, and the constraint at a cursor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from fimlsp.lexing.line import LineReader, physical_end
from fimlsp.lexing.python_terminals import python_dfa
from fimlsp.lexing.python_versions import DEFAULT_VERSION, PythonVersion, known_version
from fimlsp.lexing.reading import Lexicon, Reading
from fimlsp.quotient.connecting import connect, read_up_to
from fimlsp.quotient.document import Document
from fimlsp.quotient.ebnf import python_grammar
from fimlsp.quotient.language import Language
from fimlsp.quotient.left_context import LeftContext
from fimlsp.quotient.middle_state import Middle, MiddleState

Relaxed = Literal["right", "left", "both"]


@dataclass(frozen=True, slots=True)
class Constraint:
    """What may replace a part of a document.

    `middle` is None if nothing connects what stands around it; `relaxed` names the contexts of which a part
    had to be left out because the file is broken there.
    """

    middle: Middle | None
    relaxed: Relaxed | None = None

    @property
    def connectable(self) -> bool:
        """Whether some middle exists."""
        return self.middle is not None

    @property
    def start(self) -> MiddleState | None:
        """The state before any byte; None if no middle exists."""
        return None if self.middle is None else self.middle.start


class EditedDocument(Document):
    """A document that answers what may stand at a cursor."""

    def middle(self, start: int, end: int, *, relax: bool = True) -> Constraint:
        """What may replace `data[start:end]`, with O(depth) work once the lines around are known.

        If nothing does, and unless *relax* is off, parts of the contexts are left out, as few as needed.
        """
        found = read_up_to(self, start)
        if found is not None and not found[0].broken:
            middle = connect(self, end, *found)
            if middle is not None or not relax:
                return Constraint(middle)
        if not relax:
            return Constraint(None)
        return self._relaxed(start, end, found)

    def _relaxed(self, start: int, end: int, found: tuple[LeftContext, Reading] | None) -> Constraint:
        for left, is_whole in self._lefts_to_try(start, found):
            for middle, right_is_whole in self._rights_to_try(end, left):
                if middle is not None:
                    if is_whole:
                        return Constraint(middle, "right")
                    return Constraint(middle, "left" if right_is_whole else "both")
        return Constraint(None)

    def _rights_to_try(
        self, end: int, left: tuple[LeftContext, Reading]
    ) -> Iterator[tuple[Middle | None, bool]]:
        """All of the right context, then less and less of it."""
        yield connect(self, end, *left), True
        yield connect(self, end, *left, lenient=True), False
        line_end = physical_end(self.data, end)
        yield connect(self, line_end, *left, lenient=True), False
        yield connect(Document(self.language, self.lines, b""), 0, *left), False

    def _lefts_to_try(
        self, start: int, found: tuple[LeftContext, Reading] | None
    ) -> Iterator[tuple[tuple[LeftContext, Reading], bool]]:
        """All of the left context, then only as much of its last line as can begin a statement."""
        if found is not None:
            yield found, not found[0].broken
        line_start, context = self.left_at(start)
        step = context.reading().feed(self.data[line_start:start])
        fresh = replace(context, group=context.start, broken=True)
        if step is not None:
            kinds = [
                kind
                for kind in step.symbols
                if isinstance(kind, int) and self.language.terminal_of[kind] >= 0
            ]
            for skipped in range(len(kinds)):
                left = fresh.after_symbols(self.language.terminals(kinds[skipped:]))
                if left is not None:
                    yield (left, step.reading), False
        blank = fresh.reading()
        yield (fresh, replace(blank, margin=None)), False


def python_language(version: PythonVersion = DEFAULT_VERSION) -> Language:
    """The tables of a Python version; read from the cache on disk, or made in a few seconds.

    Raises:
        UnknownVersionError: if the version is none of `PYTHON_VERSIONS`.
    """
    return _python_language(known_version(version))


@cache
def _python_language(version: PythonVersion) -> Language:
    return Language(Lexicon(python_dfa()), python_grammar(version))


class Engine:
    """Makes documents of one language, which share what was learnt of its lines."""

    def __init__(self, language: Language | None = None) -> None:
        self.language = language or python_language()
        self._lines = LineReader(self.language.lexicon)

    def document(self, data: bytes) -> EditedDocument:
        """A document of *data*, UTF-8; its contexts are made when asked for, or by `prepare`."""
        return EditedDocument(self.language, self._lines, data)
