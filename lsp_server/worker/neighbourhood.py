"""Chooses what the model reads of other files: definitions that the buffer imports, then recent work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fimlsp.lsp_server.python.imports import Import, imports_of, module_files
from fimlsp.lsp_server.python.outline import defined_names, outline
from fimlsp.lsp_server.workspace.workspace_files import WorkspaceFiles

if TYPE_CHECKING:
    from fimlsp.models.prompts.neighbours import Neighbour

BYTES_PER_TOKEN = 4
MOST_OF_ONE = 1_600
"""Bytes read of one file at most: parts of several files tell more than all of one."""

MOST_HOPS = 3
"""How many imports are followed from module to module to find where a name is defined."""


@dataclass(frozen=True, slots=True)
class OpenFile:
    """Another document of the client: its file if it has one, its text, where it was edited last."""

    path: Path | None
    text: bytes
    edited_at: int | None


def neighbours_of(
    path: Path | None, source: bytes, others: Iterable[OpenFile], files: WorkspaceFiles, tokens: int
) -> list[Neighbour]:
    """What to read beside *source* at *path*, the most important first, about *tokens* tokens in all.

    *others* are the open documents, the one touched last first. Open documents count as they are in the
    editor, all else as it is on disk.
    """
    others = list(others)
    opened = {other.path: other.text for other in others if other.path is not None}

    def read(at: Path) -> bytes | None:
        return opened[at] if at in opened else files.read(at)

    imported = _imported(path, source, read, files) if path is not None else iter(())
    return _fitting([*imported, *_worked_on(path, others, outline)], files, tokens, ".py")


def open_neighbours(
    path: Path | None, others: Iterable[OpenFile], files: WorkspaceFiles, tokens: int, ending: str
) -> list[Neighbour]:
    """What to read beside a file of another language: the *others* that are open, *tokens* tokens.

    The language's files end with *ending*.
    """
    return _fitting(_worked_on(path, others, lambda text: text), files, tokens, ending)


def _fitting(
    texts: Iterable[tuple[Path | None, bytes]], files: WorkspaceFiles, tokens: int, ending: str
) -> list[Neighbour]:
    """The beginnings of *texts*, about *tokens* tokens in all."""
    from fimlsp.models.prompts.neighbours import Neighbour

    chosen = list[Neighbour]()
    room = tokens * BYTES_PER_TOKEN
    for file, text in texts:
        shown = beginning_of(text, min(room, MOST_OF_ONE))
        if shown:
            chosen.append(Neighbour(shown_path(file, files, ending), shown))
            room -= len(shown)
    return chosen


def shown_path(path: Path | None, files: WorkspaceFiles, ending: str) -> str:
    """*path* relative to its workspace folder, if it has one; without a file there is just an *ending*."""
    for folder in files.folders:
        if path is not None and path.is_relative_to(folder):
            return path.relative_to(folder).as_posix()
    return path.name if path is not None else f"untitled{ending}"


def beginning_of(text: bytes, size: int) -> bytes:
    """The first lines of *text*, at most *size* bytes."""
    return text if len(text) <= size else text[: text.rfind(b"\n", 0, max(0, size)) + 1]


def lines_around(text: bytes, offset: int, size: int) -> bytes:
    """Whole lines around *offset*, at most *size* bytes."""
    start = text.find(b"\n", max(0, offset - size // 2)) + 1 if offset > size // 2 else 0
    return beginning_of(text[start:], size)


def _worked_on(
    path: Path | None, others: Iterable[OpenFile], shorten: Callable[[bytes], bytes]
) -> Iterator[tuple[Path | None, bytes]]:
    """Other cells of the notebook, then the text around the last edits, then unedited files, shortened."""
    ordered = sorted(others, key=lambda other: (other.path != path or path is None, other.edited_at is None))
    for other in ordered:
        if other.path == path and path is not None:
            yield other.path, other.text
        elif other.edited_at is not None:
            yield other.path, lines_around(other.text, other.edited_at, MOST_OF_ONE)
        else:
            yield other.path, shorten(other.text)


def _imported(
    path: Path, source: bytes, read: Callable[[Path], bytes | None], files: WorkspaceFiles
) -> Iterator[tuple[Path, bytes]]:
    """The definitions of what *source* imports, file by file."""
    seen = set[tuple[Path, frozenset[str] | None]]()
    for each in imports_of(source):
        for file, names in _definitions(each, path, read, files, MOST_HOPS):
            found = read(file)
            text = outline(found, names) if found and (file, names) not in seen else b""
            seen.add((file, names))
            if text:
                yield file, text


def _definitions(
    wanted: Import, importer: Path, read: Callable[[Path], bytes | None], files: WorkspaceFiles, hops: int
) -> Iterator[tuple[Path, frozenset[str] | None]]:
    """The files that define *wanted*, each with the names in question; None: all that it has."""
    file, text = _first(module_files(wanted.module, importer, files.folders), read)
    if not wanted.names or wanted.names == ("*",):
        if file is not None:
            yield file, None
        return
    here = frozenset(wanted.names) & defined_names(text)
    if file is not None and here:
        yield file, here
    for name in wanted.names:
        if name in here:
            continue
        dot = "" if wanted.module.endswith(".") else "."
        submodule, _ = _first(module_files(f"{wanted.module}{dot}{name}", importer, files.folders), read)
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
