"""The files of a user's grammar: the file itself and what it imports from its own folder.

They are read as text and never run. Lark's loader gets them from memory, so that it opens nothing itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from lark.load_grammar import stdlib_loader

from fimlsp.quotient.grammar.cfg import GrammarError

LARGEST_FILE = 1_000_000
"""Bytes."""

MOST_FILES = 50

Read = Callable[[Path, int], bytes | None]
"""Reads a file of at most so many bytes; None if it is larger or no regular file. Raises OSError."""

_IMPORT = re.compile(r"^[ \t]*%import[ \t]+\.((?:[ \t]*\w+)(?:[ \t]*\.[ \t]*\w+)*)[ \t]*(\()?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class GrammarFiles:
    """The texts of a grammar by path below its folder; the first is the grammar itself."""

    texts: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """The name of the grammar's file."""
        return self.texts[0][0]

    @property
    def text(self) -> str:
        """The text of the grammar's file."""
        return self.texts[0][1]

    def load(self, base: object, path: str) -> tuple[Any, str]:
        """What Lark's loader gets for an import of *path*, seen from the folder *base*.

        Raises:
            OSError: it is none of these files; then Lark looks among its own.
            GrammarError: it is none of Lark's files either.
        """
        if isinstance(base, str):
            wanted = str(PurePosixPath(base, *Path(path).parts))
            for name, text in self.texts:
                if name == wanted:
                    return wanted, text
        try:
            return stdlib_loader(None, path)
        except OSError:
            name = ".".join(Path(path).with_suffix("").parts)
            raise GrammarError(
                f"{self.name} imports {name}, which is neither in its folder ({name} with a dot in front) "
                f"nor one of Lark's own grammars."
            ) from None

    def place(self, name: str) -> str:
        """Where rule or terminal *name* is defined: `file, line n`; only the file if that is not seen."""
        for file, text in self.texts:
            found = re.search(
                rf"^[ \t]*(?:%override|%extend)?[ \t]*[!?]*{re.escape(name)}\b", text, re.MULTILINE
            )
            if found is not None:
                return f"{file}, line {text.count(chr(10), 0, found.end()) + 1}"
        return self.name


def read_files(path: Path, read: Read) -> GrammarFiles:
    """The grammar at *path* with all that it imports from its own folder or from folders below.

    Raises:
        GrammarError: a file is missing, too large, no text, or lies elsewhere.
    """
    root = path.parent.resolve()
    texts = {path.name: _text(path, path.name, root, read)}
    waiting = [path.name]
    while waiting:
        name = waiting.pop()
        for imported in _imports(texts[name]):
            file = str(PurePosixPath(name).parent / imported)
            options = [file, str(PurePosixPath(file).parent) + ".lark"]
            known = (option for option in options if option in texts or (root / option).exists())
            found = next(known, None)
            if found is None or found in texts:
                continue  # whether it is missing, Lark's loader will say
            if len(texts) == MOST_FILES:
                raise GrammarError(f"{path.name} imports more than {MOST_FILES} files.")
            texts[found] = _text(root / found, found, root, read)
            waiting.append(found)
    return GrammarFiles(tuple(texts.items()))


def _imports(text: str) -> list[str]:
    """The paths that relative imports in *text* may mean: with the last name, or without it."""
    names = [re.findall(r"\w+", found[1]) for found in _IMPORT.finditer(text)]
    return ["/".join(parts) + ".lark" for parts in names]


def _text(path: Path, name: str, root: Path, read: Read) -> str:
    if not path.resolve().is_relative_to(root):
        raise GrammarError(f"{name} lies outside of the grammar's folder; copy it there.")
    try:
        data = read(path, LARGEST_FILE)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise GrammarError(f"The grammar {name} cannot be read: {reason}.") from error
    if data is None:
        raise GrammarError(f"The grammar {name} is no file of at most {LARGEST_FILE:,} bytes.")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise GrammarError(
            f"The grammar {name} is not UTF-8 (byte {error.start}); save it as UTF-8."
        ) from error
