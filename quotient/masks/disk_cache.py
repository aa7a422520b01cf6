"""Tables of masks in the cache folder, made once for all processes.

A table is a file of arrays, which any process may read, add and delete, but never changes. Files are deleted
if they are damaged, if their reader cannot use them, or in order of their last use when they exceed
`MOST_BYTES` together. A name covers all that a table depends on, the code included.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sys
import unicodedata
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fimlsp.lexing import lexer_state
from fimlsp.lexing.automata.cached_files import cache_folder, read_cached, write_cached
from fimlsp.lexing.lexer_state import LexerState
from fimlsp.quotient.language.tables import LanguageTables

log = logging.getLogger(__name__)

MOST_BYTES = 1 << 26
"""The limit for all files together."""

_ALIGNED = 8
_SIZE_BYTES = 4
_COMPRESSED = b"\xffzlib\xff\xff\xff"  # no header is that large
_CHECKS = 32
"""The size of the folder is checked each time that this share of `MOST_BYTES` was written."""

Arrays = Mapping[str, NDArray[Any]]
T = TypeVar("T")


def load(name: str, read: Callable[[Arrays], T]) -> T | None:
    """The result of *read* on the arrays saved under *name*; None if they are missing or damaged."""
    try:
        path = _folder() / name
        table = read(_unpacked(read_cached(path, MOST_BYTES)))
        os.utime(path)
    except (OSError, RuntimeError):
        return None
    except (ValueError, LookupError, TypeError, OverflowError, zlib.error) as error:
        log.warning("A cached table of masks is unusable and was deleted: %s", error)
        with suppress(OSError):
            path.unlink()
        return None
    return table


def save(name: str, arrays: Arrays, *, compressed: bool = False) -> None:
    """Save *arrays* under *name*; does nothing if the folder cannot be written."""
    content = _packed(arrays)
    if compressed:
        content = _COMPRESSED + zlib.compress(content, 1)
    with suppress(OSError, RuntimeError):
        write_cached(_folder() / name, content)
        _quota.add(len(content))


class TableCache:
    """The tables of a language and a vocabulary on disk; saves none if it has no *vocabulary_digest*."""

    def __init__(self, tables: LanguageTables, vocabulary_digest: str | None) -> None:
        self._source = None
        if vocabulary_digest is not None:
            with suppress(OSError):
                self._source = language_digest(tables) + vocabulary_digest

    def table(
        self,
        kind: str,
        key: str,
        make: Callable[[], T],
        to_arrays: Callable[[T], Arrays | None],
        from_arrays: Callable[[Arrays], T],
    ) -> T:
        """The table of a *kind* with this *key*, from the disk if it is there, else as *make* returns it.

        A table that *to_arrays* cannot convert, which returns None then, is not saved.
        """
        if self._source is None:
            return make()
        name = hashlib.sha256("\n".join((self._source, kind, key)).encode()).hexdigest()[:40]
        table = load(name, from_arrays)
        if table is None:
            table = make()
            arrays = to_arrays(table)
            if arrays is not None:
                save(name, arrays, compressed=True)
        return table


def code_digest(*modules: ModuleType) -> str:
    """A hash of the code of *modules*, so that a table made by other code is not used.

    Raises:
        OSError: a module is not in a file.
    """
    code = hashlib.sha256()
    for module in modules:
        code.update(Path(module.__file__ or "").read_bytes())
    return code.hexdigest()


def language_digest(tables: LanguageTables) -> str:
    """A hash of all that decides how a language is read: its automaton, its value, and the code for both.

    Raises:
        OSError: that code is not in files.
    """
    lexical = tables.lexical
    dfa = lexical.dfa  # numbers have the same hash in all processes
    values = (hash(dfa.rows), hash(dfa.accepts), sorted(dfa.starts.items()), dfa.kinds, repr(tables.language))
    digest = hashlib.sha256(repr((values, unicodedata.unidata_version)).encode())
    parts = (tables.language, lexical.start, lexical.words)
    names = (lexer_state.__name__, __name__, *(type(part).__module__ for part in parts))
    for folder in sorted({_folder_of(sys.modules[name]) for name in names}):
        for path in sorted(folder.glob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _folder_of(module: ModuleType) -> Path:
    path = Path(module.__file__ or "")
    if not path.is_file():
        raise FileNotFoundError(path)
    return path.parent


def state_key(lexer: LexerState) -> str:
    """A text that identifies a lexer state without the blocks around it."""
    _, state, modes, _, accepted, *others = lexer
    return repr((state, modes, accepted, others))


def _folder() -> Path:
    return cache_folder() / "masks"


class _Quota:
    """Keeps all files together below `MOST_BYTES`."""

    def __init__(self) -> None:
        self._written = MOST_BYTES

    def add(self, size: int) -> None:
        """Count a file of *size* bytes that was written."""
        self._written += size
        if self._written > MOST_BYTES // _CHECKS:
            self._written = 0
            _delete_oldest(_folder())


_quota = _Quota()


def _delete_oldest(folder: Path) -> None:
    files = []
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):  # another process may have deleted it
                files.append((entry.stat().st_mtime_ns, entry.stat().st_size, entry.path))
    excess = sum(size for _, size, _ in files) - MOST_BYTES
    for _, size, path in sorted(files):
        if excess <= 0:
            break
        with suppress(OSError):
            Path(path).unlink()
        excess -= size


def _packed(arrays: Arrays) -> bytes:
    """The size of the header, a JSON header, and the arrays in its order, all aligned."""
    header = json.dumps([[name, array.dtype.str, array.shape] for name, array in arrays.items()]).encode()
    parts = [len(header).to_bytes(_SIZE_BYTES, "little") + header]
    parts += [np.ascontiguousarray(array).tobytes() for array in arrays.values()]
    return b"".join(part + bytes(-len(part) % _ALIGNED) for part in parts)


def _unpacked(content: bytes) -> Arrays:
    """The inverse of `_packed`; the arrays are read-only views."""
    if content.startswith(_COMPRESSED):
        content = zlib.decompress(content[len(_COMPRESSED) :])
    offset = _SIZE_BYTES + int.from_bytes(content[:_SIZE_BYTES], "little")
    unpacked: dict[str, NDArray[Any]] = {}
    for name, kind, shape in json.loads(content[_SIZE_BYTES:offset]):
        offset += -offset % _ALIGNED
        array = np.frombuffer(content, np.dtype(kind), prod(shape), offset).reshape(shape)
        offset += array.nbytes
        unpacked[name] = array
    return unpacked
