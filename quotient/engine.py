"""The engine: documents, and the constraint at a cursor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from fimlsp.lexing.line import LineReader
from fimlsp.lexing.python_terminals import python_dfa
from fimlsp.lexing.reading import Lexicon
from fimlsp.quotient.connecting import connect, read_up_to
from fimlsp.quotient.document import Document
from fimlsp.quotient.ebnf import python_grammar
from fimlsp.quotient.language import Language
from fimlsp.quotient.middle import Middle


@lru_cache(maxsize=1)
def python_language() -> Language:
    """Python's tables; read from the cache on disk, or made in a few seconds."""
    return Language(Lexicon(python_dfa()), python_grammar())


class Engine:
    """Makes documents of one language, which share what was learnt of its lines."""

    def __init__(self, language: Language | None = None) -> None:
        self.language = language or python_language()
        self._lines = LineReader(self.language.lexicon)

    def document(self, data: bytes) -> Document:
        return Document(self.language, self._lines, data)


def middle_at(document: Document, start: int, end: int) -> Middle | None:
    left = read_up_to(document, start)
    if left is None or left[0].broken:
        return None
    return connect(document, end, *left)


__all__ = ["Engine", "dataclass", "middle_at"]
