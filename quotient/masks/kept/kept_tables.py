"""What is kept on disk of the tables of a language and a vocabulary."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from fimlsp.lexing.lexer_state import LexerState
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.masks import array_files
from fimlsp.quotient.masks.grouping.ends import Ends
from fimlsp.quotient.masks.grouping.lexed_suffixes import LexedSuffixes
from fimlsp.quotient.masks.grouping.token_groups import Split
from fimlsp.quotient.masks.kept.identity import file_name, language_name, state_name
from fimlsp.quotient.masks.kept.table_arrays import split_arrays, split_from, suffix_arrays, suffixes_from
from fimlsp.quotient.masks.vocabulary import Vocabulary


class KeptTables:
    """Gives tables from the disk, or has them made and keeps them."""

    def __init__(self, tables: LanguageTables, vocabulary: Vocabulary) -> None:
        self._tables = tables
        self._vocabulary = vocabulary

    @cached_property
    def _name(self) -> str | None:
        """Names what all of it is made from; None if nothing is kept."""
        if not self._vocabulary.is_kept:
            return None
        try:
            return language_name(self._tables) + self._vocabulary.digest
        except OSError:
            return None

    def split(self, lexer: LexerState, make: Callable[[], Split]) -> Split:
        """What the texts do to the lexeme in progress of *lexer*, where nothing else matters."""
        if self._name is None:
            return make()
        name = file_name(self._name, "split", repr((lexer.state, lexer.accepted)))
        found = array_files.found(name, split_from)
        if found is None:
            array_files.keep(name, split_arrays(found := make()), compressed=True)
        return found

    def suffixes(self, start: LexerState, ends: Ends, make: Callable[[], LexedSuffixes]) -> LexedSuffixes:
        """The suffixes, read from *start*, with their *ends*."""
        if self._name is None:
            return make()
        name = file_name(self._name, "suffixes", state_name(start))
        found = array_files.found(name, lambda arrays: suffixes_from(arrays, start, ends))
        if found is None:
            found = make()
            arrays = suffix_arrays(found, start)
            if arrays is not None:
                array_files.keep(name, arrays, compressed=True)
        return found
