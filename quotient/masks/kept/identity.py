"""Names of what is kept: they differ wherever the tables may."""

from __future__ import annotations

import hashlib
import sys
import unicodedata
from pathlib import Path
from types import ModuleType

from fimlsp.lexing import lexer_state
from fimlsp.lexing.lexer_state import LexerState
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.masks import vocabulary
from fimlsp.quotient.masks.grouping import groups
from fimlsp.quotient.masks.kept import table_arrays
from fimlsp.quotient.masks.texts import text_trie

_OWN = (lexer_state, vocabulary, text_trie, groups, table_arrays)


def language_name(tables: LanguageTables) -> str:
    """Names how a language is read: its automaton, itself, and the code that goes with it.

    Raises:
        OSError: that code does not lie in files.
    """
    lexical = tables.lexical
    dfa = lexical.dfa  # numbers have the same hash in all processes
    told = (hash(dfa.rows), hash(dfa.accepts), sorted(dfa.starts.items()), dfa.kinds, repr(tables.language))
    found = hashlib.sha256(repr((told, unicodedata.unidata_version)).encode())
    parts = (tables.language, lexical.start, lexical.words)
    modules = (*_OWN, *(sys.modules[type(part).__module__] for part in parts))
    for folder in sorted({_folder_of(module) for module in modules}):
        for path in sorted(folder.glob("*.py")):
            found.update(path.read_bytes())
    return found.hexdigest()


def _folder_of(module: ModuleType) -> Path:
    path = Path(module.__file__ or "")
    if not path.is_file():
        raise FileNotFoundError(path)
    return path.parent


def state_name(lexer: LexerState) -> str:
    """Names a lexer state, whatever blocks are around it."""
    _, state, modes, _, accepted, *others = lexer
    return repr((state, modes, accepted, others))


def file_name(*parts: str) -> str:
    """The name of a file for what has these names."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:40]
