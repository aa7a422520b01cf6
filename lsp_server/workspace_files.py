r"""Files of a workspace, which may be hostile: paths of URIs, exclusion by globs, and guarded reading.

The globs of the option `exclude` are like those of editors and `.gitignore`. `*` and `?` stop at a slash,
`**` stands for any number of folders, `{a,b}` is either, `[a-z]` a character. A glob without a slash applies
to the file's name. One that starts with a slash or a drive applies to the whole path, any other to the path
from any folder on.

A hostile workspace may contain globs, so matching takes time proportional to the product of the lengths of
glob and path. `fnmatch` matches each folder's name by itself, with patterns that do not backtrack. (wcmatch,
which supports all of this syntax, takes seconds for `**/a/**/a/**/a/**/a/**/a/b`.)

A workspace may also contain links to `/dev/stdin` or to a named pipe, which a plain `open` would never return
from. So only regular files of a bounded size are read.
"""

from __future__ import annotations

import fnmatch
import os
import re
import stat
import sys
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePath
from urllib.parse import unquote, urlsplit

import bracex

CELL_SCHEME = "vscode-notebook-cell"
IS_WINDOWS = os.name == "nt"
NAMES_IGNORE_CASE = sys.platform in ("win32", "darwin")
"""True where `Secret` and `secret` are usually the same file."""


def path_of(uri: str) -> Path | None:
    """The absolute path of the file (for a cell, of its notebook); None for buffers without one.

    A file of another machine has none, but on Windows, where its share is part of the path.
    """
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme not in ("file", CELL_SCHEME):
        return None
    host = "" if parts.scheme == CELL_SCHEME or parts.netloc == "localhost" else parts.netloc
    text = unquote(parts.path)
    if IS_WINDOWS:
        text = windows_path(host, text)
    elif host:
        return None
    path = Path(text)
    return path if path.is_absolute() else None


def windows_path(host: str, text: str) -> str:
    r"""The path of a URI as Windows writes it: `c:/a` for `/c:/a`, and `//host/share/a` with a *host*.

    `url2pathname` of Python before 3.14 reads a drive only if its colon is not quoted; VS Code quotes it.
    """
    if host:
        return f"//{host}{text}"
    has_drive = text[:1] == "/" and text[1:2].isalpha() and text[2:3] == ":"
    return text[1:] if has_drive else text


def is_cell(uri: str) -> bool:
    """True if the scheme of *uri* is that of a notebook cell."""
    return uri.startswith(CELL_SCHEME + ":")


MOST_EXPANDED = 100
"""Globs to which one glob with braces may expand."""

LONGEST_GLOB = 256
MOST_CHARACTERS = 10_000
"""Characters of all globs together, after the expansion of braces."""

_PathPattern = tuple[re.Pattern[str] | None, ...]
"""A pattern for each name of a path; None for any number of names."""


@dataclass(frozen=True, slots=True)
class Exclusions:
    """The files that match some globs. *problems* has a sentence for each glob that is ignored."""

    problems: tuple[str, ...] = ()
    _globs: tuple[_PathPattern, ...] = ()

    def has(self, path: PurePath) -> bool:
        """True if any of the globs matches the absolute *path*."""
        if not self._globs:
            return False
        names = path.as_posix().split("/")
        return any(_matches(parts, names) for parts in self._globs)


NO_EXCLUSIONS = Exclusions()


@lru_cache(maxsize=16)
def exclusions(globs: tuple[str, ...]) -> Exclusions:
    """The files that match *globs*. O(characters)."""
    problems: list[str] = []
    plain: list[str] = []
    size = 0
    for glob in dict.fromkeys(globs):
        if len(glob) > LONGEST_GLOB:
            problems.append(f"exclude: {glob[:20]}… is longer than {LONGEST_GLOB} characters; it is ignored.")
            continue
        try:
            expanded = bracex.expand(glob, keep_escapes=True, limit=MOST_EXPANDED)
        except bracex.ExpansionLimitException:
            problems.append(f"exclude: {glob} expands to more than {MOST_EXPANDED} globs; it is ignored.")
            continue
        size += sum(map(len, expanded))
        if size > MOST_CHARACTERS:
            problems.append(f"exclude: too many globs; those from {glob} on are ignored.")
            break
        plain += expanded
    return Exclusions(tuple(problems), tuple(map(_to_parts, plain)))


def _to_parts(glob: str) -> _PathPattern:
    names = glob.split("/")
    if not PurePath(glob).is_absolute():
        names = ["**", *names]
    if names[-1] == "**":
        names.append("*")  # the contents of a folder, not the folder
    return tuple(None if name == "**" else _name_pattern(name) for name in names)


def _name_pattern(name: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(name), re.IGNORECASE if NAMES_IGNORE_CASE else 0)


def _matches(parts: _PathPattern, names: list[str]) -> bool:
    """True if *parts* match all of *names*. O(len(parts) * len(names)).

    If a part does not match, only the last `**` is extended by one name. It can take every name that an
    earlier `**` could take.
    """
    part = name = taken = 0
    last_wildcard = -1  # the last `**` so far; it does not match the names from `taken` on
    while name < len(names):
        pattern = parts[part] if part < len(parts) else None
        if part < len(parts) and pattern is None:
            last_wildcard, taken = part, name
            part += 1
        elif pattern is not None and pattern.match(names[name]):
            part, name = part + 1, name + 1
        elif last_wildcard >= 0:
            taken += 1
            part, name = last_wildcard + 1, taken
        else:
            return False
    return all(pattern is None for pattern in parts[part:])


_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def read_regular_file(path: Path, most: int) -> bytes | None:
    """The bytes of the file at *path*, links followed; None if it is larger than *most* bytes or not regular.

    The size of a growing file is that at the end of reading.

    Raises:
        OSError: The file does not exist, or cannot be read.
        ValueError: The path contains a NUL.
    """
    if not stat.S_ISREG(path.stat().st_mode):  # opening a device may have an effect
        return None
    descriptor = os.open(path, _FLAGS)  # does not block if the file has become a pipe since
    with os.fdopen(descriptor, "rb") as opened:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode) or state.st_size > most:
            return None
        data = opened.read(most + 1)
    return data if len(data) <= most else None


LARGEST_FILE = 500_000
MOST_FILES = 200
MOST_BYTES = 10_000_000
"""Bytes of all files in memory."""

PYTHON_SUFFIXES = frozenset((".py", ".pyi"))
TYPESCRIPT_SUFFIXES = frozenset((".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json"))


@dataclass(slots=True)
class WorkspaceFiles:
    """The files of *folders* with some *suffixes*, without the excluded ones, as they are on disk now.

    Those with more than *largest* bytes are not read.
    """

    folders: tuple[Path, ...] = ()
    excluded: Exclusions = field(default_factory=Exclusions)
    suffixes: frozenset[str] = PYTHON_SUFFIXES
    largest: int = LARGEST_FILE
    _known: OrderedDict[Path, tuple[tuple[int, int], bytes]] = field(default_factory=OrderedDict)
    _size: int = 0

    def read(self, path: Path) -> bytes | None:
        """The text of a file; None if it may not be read or does not exist. Cheap if it has not changed."""
        try:
            real = self.permitted(path)
            return None if real is None else self._read(real)
        except (OSError, RuntimeError, ValueError):  # not readable
            return None

    def permitted(self, path: Path) -> Path | None:
        """The real path of *path*; None if it may not be read or does not exist."""
        if path.suffix not in self.suffixes:
            return None
        try:
            path.stat()  # most of these files do not exist, and this is the quickest check
            real = path.resolve(strict=True)
        except (OSError, RuntimeError, ValueError):  # does not exist, a circle of links, not a path
            return None
        is_excluded = not self.has(real) or self.excluded.has(path) or self.excluded.has(real)
        return None if is_excluded else real

    def has(self, path: Path) -> bool:
        """True if *path*, without links, is inside one of the folders."""
        return any(path.is_relative_to(folder) for folder in self.folders)

    def _read(self, path: Path) -> bytes | None:
        state = path.stat()
        stamp = state.st_mtime_ns, state.st_size
        known = self._known.get(path)
        if known is not None and known[0] == stamp:
            self._known.move_to_end(path)
            return known[1]
        data = read_regular_file(path, self.largest)
        self._forget(path)
        if data is not None:
            self._known[path] = stamp, data
            self._size += len(data)
        while len(self._known) > MOST_FILES or self._size > MOST_BYTES:
            self._forget(next(iter(self._known)))
        return data

    def _forget(self, path: Path) -> None:
        if path in self._known:
            self._size -= len(self._known.pop(path)[1])


def workspace_files(folders: tuple[str, ...], exclude: tuple[str, ...]) -> WorkspaceFiles:
    """The files of *folders*, which may be links, without those that match the globs *exclude*."""
    return WorkspaceFiles(tuple(Path(folder).resolve() for folder in folders), exclusions(exclude))
