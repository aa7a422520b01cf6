"""Selects the text of other files that the model reads: imported definitions first, then recent edits.

Imports and definitions are found by scanning lines instead of parsing, because a file may be incomplete.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from fimlsp.lexing.bounded_dict import BoundedDict
from fimlsp.lsp_server.workspace_files import WorkspaceFiles

if TYPE_CHECKING:
    from fimlsp.models.prompts.prompt import Neighbour


P = ParamSpec("P")
R = TypeVar("R")


def cached_by_hash(
    most: int,
) -> Callable[[Callable[Concatenate[bytes, P], R]], Callable[Concatenate[bytes, P], R]]:
    """Decorator for a function of a text, which caches its *most* newest results but not the texts.

    Texts of equal length and 64-bit hash count as equal; hashes are salted in each process.
    """

    def decorate(function: Callable[Concatenate[bytes, P], R]) -> Callable[Concatenate[bytes, P], R]:
        cache = BoundedDict[object, R](most)

        @wraps(function)
        def cached(text: bytes, /, *args: P.args, **kwargs: P.kwargs) -> R:
            key = hash(text), len(text), args, *kwargs.items()
            if key not in cache:
                cache[key] = function(text, *args, **kwargs)
            return cache[key]

        return cached

    return decorate


BYTES_PER_TOKEN = 4
MOST_OF_ONE = 1_600
"""Maximum bytes of one file: parts of several files are more useful than one whole file."""

MOST_HOPS = 3
"""Maximum number of re-exports that are followed to the definition of a name."""


@dataclass(frozen=True, slots=True)
class OpenFile:
    """Another document of the client: its file if it has one, its text, and the offset of its last edit."""

    path: Path | None
    text: bytes
    edited_at: int | None


def neighbours_of(
    path: Path | None, source: bytes, others: Iterable[OpenFile], files: WorkspaceFiles, tokens: int
) -> list[Neighbour]:
    """Texts of other files for *source* at *path*, the most important first, about *tokens* tokens in total.

    *others* are the open documents, the most recently used first. Their text is that of the editor; other
    files are read from disk.
    """
    others = list(others)
    opened = {other.path: other.text for other in others if other.path is not None}

    def read(at: Path) -> bytes | None:
        return opened[at] if at in opened else files.read(at)

    imported = _imported(path, source, read, files) if path is not None else iter(())
    return _fitting([*imported, *_worked_on(others, outline)], files, tokens, ".py")


def open_neighbours(
    others: Iterable[OpenFile], files: WorkspaceFiles, tokens: int, ending: str
) -> list[Neighbour]:
    """As `neighbours_of`, for languages other than Python: the open documents *others* only.

    The language's files end with *ending*.
    """
    return _fitting(_worked_on(others, lambda text: text), files, tokens, ending)


def _fitting(
    texts: Iterable[tuple[Path | None, bytes]], files: WorkspaceFiles, tokens: int, ending: str
) -> list[Neighbour]:
    """The first lines of each of *texts*, about *tokens* tokens in total."""
    from fimlsp.models.prompts.prompt import Neighbour

    chosen = list[Neighbour]()
    bytes_left = tokens * BYTES_PER_TOKEN
    for file, text in texts:
        shown = first_lines(text, min(bytes_left, MOST_OF_ONE))
        if shown:
            chosen.append(Neighbour(shown_path(file, files, ending), shown))
            bytes_left -= len(shown)
    return chosen


def shown_path(path: Path | None, files: WorkspaceFiles, ending: str) -> str:
    """*path* relative to its workspace folder, else its name; `untitled` with *ending* if it is None."""
    for folder in files.folders:
        if path is not None and path.is_relative_to(folder):
            return path.relative_to(folder).as_posix()
    return path.name if path is not None else f"untitled{ending}"


def first_lines(text: bytes, size: int) -> bytes:
    """The first lines of *text*, at most *size* bytes."""
    return text if len(text) <= size else text[: text.rfind(b"\n", 0, max(0, size)) + 1]


def lines_around(text: bytes, offset: int, size: int) -> bytes:
    """Whole lines around *offset*, at most *size* bytes."""
    start = text.find(b"\n", max(0, offset - size // 2)) + 1 if offset > size // 2 else 0
    return first_lines(text[start:], size)


def _worked_on(
    others: Iterable[OpenFile], shorten: Callable[[bytes], bytes]
) -> Iterator[tuple[Path | None, bytes]]:
    """The text around recent edits, then unedited files, shortened."""
    for other in sorted(others, key=lambda other: other.edited_at is None):
        if other.edited_at is not None:
            yield other.path, lines_around(other.text, other.edited_at, MOST_OF_ONE)
        else:
            yield other.path, shorten(other.text)


def _imported(
    path: Path, source: bytes, read: Callable[[Path], bytes | None], files: WorkspaceFiles
) -> Iterator[tuple[Path, bytes]]:
    """The definitions that *source* imports, file by file."""
    seen = set[tuple[Path, frozenset[str] | None]]()
    for import_ in imports_of(source):
        for file, names in _definitions(import_, path, read, files, MOST_HOPS):
            content = read(file)
            text = outline(content, names) if content and (file, names) not in seen else b""
            seen.add((file, names))
            if text:
                yield file, text


def _definitions(
    import_: Import, importer: Path, read: Callable[[Path], bytes | None], files: WorkspaceFiles, hops: int
) -> Iterator[tuple[Path, frozenset[str] | None]]:
    """The files that define the names of *import_*, each with those names; None for all of a file."""
    file, text = _first(module_files(import_.module, importer, files.folders), read)
    if not import_.names or import_.names == ("*",):
        if file is not None:
            yield file, None
        return
    here = frozenset(import_.names) & defined_names(text)
    if file is not None and here:
        yield file, here
    for name in import_.names:
        if name in here:
            continue
        dot = "" if import_.module.endswith(".") else "."
        submodule, _ = _first(module_files(f"{import_.module}{dot}{name}", importer, files.folders), read)
        if submodule is not None:
            yield submodule, None
        elif file is not None and hops:
            for other in imports_of(text):
                if name in other.names:
                    yield from _definitions(Import(other.module, (name,)), file, read, files, hops - 1)


def _first(files_to_try: Iterable[Path], read: Callable[[Path], bytes | None]) -> tuple[Path | None, bytes]:
    for file in files_to_try:
        text = read(file)
        if text is not None:
            return file, text
    return None, b""


LONGEST_OUTLINE = 16_000

LONGEST_HEADER = 20
"""Lines; a longer header is cut."""

_DEFINITION = re.compile(rb"(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)")
_ASSIGNMENT = re.compile(rb"(\w+)[ \t]*(?::[^=\n]*)?=[^=]")
_DOCSTRING = re.compile(rb"\s*[rR]?(?:\"\"\"|''')[ \t]*(\S[^\n]*)?")
_STRING_OR_COMMENT = re.compile(rb"\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?|\#.*")


@cached_by_hash(256)
def outline(source: bytes, names: frozenset[str] | None = None) -> bytes:
    """The definitions of *names* at the top level of *source*; by default of all public names.

    Each is a header, with the first line of its docstring; a class has the headers of its methods.

    At most `LONGEST_OUTLINE` bytes, in whole definitions. O(len(source)).
    """
    lines = source.replace(b"\r\n", b"\n").split(b"\n")
    parts, size = [], 0
    for start, end, name in _top_level(lines):
        if name in names if names is not None else not name.startswith("_"):
            part = b"\n".join(_shortened(lines[start:end])) + b"\n"
            size += len(part)
            if size > LONGEST_OUTLINE:
                break
            parts.append(part)
    return b"".join(parts)


@cached_by_hash(64)
def defined_names(source: bytes) -> frozenset[str]:
    """The names that `outline` finds in *source*. O(len(source))."""
    lines = source.replace(b"\r\n", b"\n").split(b"\n")
    return frozenset(name for _, _, name in _top_level(lines))


def _top_level(lines: list[bytes]) -> Iterator[tuple[int, int, str]]:
    """First line, line after the last, and name, of each definition in column 0."""
    starts = [number for number, line in enumerate(lines) if line and line[:1] not in b" \t#)]}@\"'"]
    for start, end in pairwise([*starts, len(lines)]):
        match = _DEFINITION.match(lines[start]) or _ASSIGNMENT.match(lines[start])
        if match is not None:
            yield start, end, match[1].decode(errors="replace")


def _shortened(lines: list[bytes]) -> Iterator[bytes]:
    """The header of a definition, the first line of its docstring, the headers of a class's methods."""
    if _DEFINITION.match(lines[0]) is None:
        yield lines[0]
        return
    header = _header(lines)
    summary = _docstring_summary(lines[len(header) :])
    methods = list(_methods(lines[len(header) :])) if b"class" in lines[0].split() else []
    if not summary and not methods:
        yield b"\n".join(header) + b" ..."
        return
    yield from header
    if summary:
        yield b'    """' + summary + b'"""'
    for method in methods:
        yield b"\n".join(method) + b" ..."


def _header(lines: list[bytes]) -> list[bytes]:
    """The first of *lines*, up to the colon that ends a header."""
    depth = 0
    for number, line in enumerate(lines[:LONGEST_HEADER]):
        code = _STRING_OR_COMMENT.sub(b"", line)
        depth += sum(map(code.count, (b"(", b"[", b"{"))) - sum(map(code.count, (b")", b"]", b"}")))
        if depth <= 0 and code.rstrip().endswith(b":"):
            return lines[: number + 1]
    return lines[:1]


def _docstring_summary(lines: list[bytes]) -> bytes:
    match = _DOCSTRING.match(b"\n".join(lines[:2]))
    return (match[1] or b"").split(b'"""')[0].split(b"'''")[0].strip() if match else b""


def _methods(lines: list[bytes]) -> Iterator[list[bytes]]:
    """The headers of the methods of a class with these *lines*."""
    inside = [line for line in lines if line.strip() and not line.lstrip().startswith(b"#")]
    column = len(inside[0]) - len(inside[0].lstrip()) if inside else 0
    for number, line in enumerate(lines):
        if len(line) - len(line.lstrip()) == column and _DEFINITION.match(line.lstrip()):
            yield _header(lines[number:])


MOST_SEARCHED = 200_000
"""Bytes of a buffer that are searched for imports."""

_STATEMENT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(?P<module>[\w.]+)[ \t]+import[ \t]+"
    rb"(?:\((?P<inside>(?:[^()#]|#[^\n]*\n)*)\)|(?P<names>[^\n#;]+))"
    rb"|import[ \t]+(?P<modules>[^\n#;]+))",
    re.MULTILINE,
)
_NAME = re.compile(r"\s*([\w.]+|\*)")


@dataclass(frozen=True, slots=True)
class Import:
    """*names* imported from *module*, with a dot for each level up; without names, the module itself."""

    module: str
    names: tuple[str, ...] = ()


def imports_of(source: bytes) -> tuple[Import, ...]:
    """The imports in the first `MOST_SEARCHED` bytes of *source*, the last (often the newest) first."""
    return _imports(source[:MOST_SEARCHED])


@cached_by_hash(64)
def _imports(source: bytes) -> tuple[Import, ...]:
    imports = []
    for statement in _STATEMENT.finditer(source):
        if statement["modules"] is not None:
            imports += [Import(name) for name in _names(statement["modules"])]
        else:
            inside = re.sub(rb"#[^\n]*", b"", statement["inside"] or b"")
            imports.append(Import(statement["module"].decode(), _names(inside or statement["names"] or b"")))
    return tuple(dict.fromkeys(reversed(imports)))


def _names(listed: bytes) -> tuple[str, ...]:
    """The names of a list such as `a as b, c`."""
    parts = listed.decode(errors="replace").split(",")
    return tuple(match[1] for part in parts if (match := _NAME.match(part)) is not None)


def module_files(module: str, importer: Path, folders: Sequence[Path]) -> Iterator[Path]:
    """Possible files of *module*, as imported by *importer*, the most likely first. Reads nothing."""
    level = len(module) - len(module.lstrip("."))
    parts = [part for part in module[level:].split(".") if part]
    for root in _roots(level, importer, folders):
        module_path = root.joinpath(*parts)
        if parts:
            yield module_path.with_name(module_path.name + ".py")
            yield module_path.with_name(module_path.name + ".pyi")
        yield module_path / "__init__.py"
        yield module_path / "__init__.pyi"


def _roots(level: int, importer: Path, folders: Sequence[Path]) -> Iterator[Path]:
    if level:
        yield from importer.parents[level - 1 : level]
        return
    around = [folder for folder in folders if importer.is_relative_to(folder)]
    for folder in around:
        yield from (module_path for module_path in importer.parents if module_path.is_relative_to(folder))
    for folder in folders:
        yield folder / "src"
        yield folder
