"""The files of a user's grammar: the file itself and its imports from its own folder.

They are read as text and never run. Lark's loader gets them from memory, so that it opens nothing itself.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from lark.load_grammar import stdlib_loader

from fimlsp.quotient.grammar.cfg import GrammarError

LARGEST_FILE = 1_000_000
"""Bytes."""

MOST_FILES = 50

LEXERS = BASIC, CONTEXTUAL, DYNAMIC = "basic", "contextual", "dynamic"
"""The lexers. The first tries all terminals everywhere, the second those that the parser expects. The third
goes on with every expected terminal that matches."""

_LEXER = re.compile(r"""^[ \t]*//[ \t]*lexer[ \t]*=[ \t]*["']?(\w*)["']?[ \t]*$""", re.MULTILINE)

Read = Callable[[Path, int], bytes | None]
"""Reads a file of at most so many bytes; None if it is larger or not a regular file. Raises OSError."""

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

    @property
    def lexer(self) -> str:
        """The lexer that a comment of the grammar names, as in `// lexer = "contextual"`; else the basic one.

        Raises:
            GrammarError: there is no such lexer here.
        """
        named = _LEXER.search(self.text)
        if named is None or named[1] in LEXERS:
            return named[1] if named else BASIC
        line = self.text.count("\n", 0, named.start()) + 1
        raise GrammarError(
            f'Cannot use the lexer "{named[1]}" ({self.name}, line {line}): it is none of '
            f'"{BASIC}", "{CONTEXTUAL}" and "{DYNAMIC}". Name one of them.'
        )

    def listed(self, name: str) -> tuple[str, ...] | None:
        """The texts that a comment lists for the group *name*, as in `// heredoc = ["EOF"]`; else None.

        Raises:
            GrammarError: the comment has no such list.
        """
        found = re.search(rf"^[ \t]*//[ \t]*{re.escape(name)}[ \t]*=(.*)$", self.text, re.MULTILINE)
        if found is None:
            return None
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            texts = ast.literal_eval(found[1].strip())
            if isinstance(texts, list) and texts and all(isinstance(text, str) and text for text in texts):
                return tuple(dict.fromkeys(texts))
        line = self.text.count("\n", 0, found.start()) + 1
        raise GrammarError(f'{self.name}, line {line}: {name} has to be a list of texts, such as ["EOF"].')

    def load(self, base: object, path: str) -> tuple[Any, str]:
        """The text for an import of *path* from the folder *base*, for Lark's loader.

        Raises:
            OSError: it is none of these files; then Lark looks among its own.
            GrammarError: it is none of Lark's files either.
        """
        if isinstance(base, str):
            imported = str(PurePosixPath(base, *Path(path).parts))
            for name, text in self.texts:
                if name == imported:
                    return imported, text
        try:
            return stdlib_loader(None, path)
        except OSError:
            name = ".".join(Path(path).with_suffix("").parts)
            raise GrammarError(
                f"Cannot import {name} into {self.name}: neither in its folder (as .{name}) nor one of "
                f"Lark's own grammars."
            ) from None

    def location(self, name: str) -> str:
        """The definition of the rule or terminal *name*: `file, line n`; only the file if it is not found."""
        for file, text in self.texts:
            definition = re.search(
                rf"^[ \t]*(?:(?:%override|%extend)[ \t]*)?[!?]*{re.escape(name)}\b", text, re.MULTILINE
            )
            if definition is not None:
                return f"{file}, line {text.count(chr(10), 0, definition.end()) + 1}"
        return self.name


def read_files(path: Path, read: Read) -> GrammarFiles:
    """The grammar at *path* with all its imports from its own folder or from folders below.

    Raises:
        GrammarError: a file is missing, too large, not text, or lies elsewhere.
    """
    root = path.parent.resolve()
    texts = {path.name: _text(path, path.name, root, read)}
    pending = [path.name]
    while pending:
        name = pending.pop()
        for imported in _imports(texts[name]):
            file = str(PurePosixPath(name).parent / imported)
            options = [file, str(PurePosixPath(file).parent) + ".lark"]
            known = (option for option in options if option in texts or (root / option).exists())
            imported_file = next(known, None)
            if imported_file is None or imported_file in texts:
                continue  # Lark's loader reports missing files
            if len(texts) == MOST_FILES:
                raise GrammarError(f"{path.name} imports more than {MOST_FILES} files; import fewer.")
            texts[imported_file] = _text(root / imported_file, imported_file, root, read)
            pending.append(imported_file)
    return GrammarFiles(tuple(texts.items()))


def _imports(text: str) -> list[str]:
    """The possible paths of relative imports in *text*: with the last name, or without it."""
    names = [re.findall(r"\w+", statement[1]) for statement in _IMPORT.finditer(text)]
    return ["/".join(parts) + ".lark" for parts in names]


def _text(path: Path, name: str, root: Path, read: Read) -> str:
    if not path.resolve().is_relative_to(root):
        raise GrammarError(f"Cannot read {name}: it lies outside of the grammar's folder. Copy it there.")
    try:
        data = read(path, LARGEST_FILE)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise GrammarError(f"Cannot read the grammar {name}: {reason}.") from error
    if data is None:
        raise GrammarError(
            f"Cannot read the grammar {name}: not a regular file of at most {LARGEST_FILE:,} bytes."
        )
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise GrammarError(
            f"Cannot read the grammar {name}: not UTF-8 at byte {error.start}. Save it as UTF-8."
        ) from error
