"""Copies the modules that a text can import into a folder of ours, which is all that a type checker sees.

A checker opens files itself, and a workspace may hold anything: links to devices, settings that name
programs, trees without an end. So it never gets the workspace. It gets copies of the modules that the
document imports, and of those that these import, the nearest first. A module may exist without being copied:
it is excluded, compiled, too large or too far away. It stands there as one with any member.
"""

from __future__ import annotations

import os
import shutil
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from fimlsp.languages.python.missing_names.import_table import imports_in
from fimlsp.languages.type_checker.language_server import Change

MOST_MODULES = 200
"""Modules that are copied for a document; those further away have any member."""

MOST_BYTES = 6_000_000
"""Bytes that are copied for a document."""

MOST_COPIES = 1_000
"""Modules in the folder, for all documents of a search path, before it is emptied."""

MOST_ENTRIES = 20_000
"""Entries of a folder that are searched for modules."""

ANY_MEMBER = b"from typing import Any\ndef __getattr__(name: str) -> Any: ...\n"

UNTITLED = "untitled"
"""The name of a document without a file."""

_ENDINGS = (".pyi", ".py")
_COMPILED = (".so", ".pyd", ".dll")

Name = tuple[str, ...]
"""The parts of an absolute name of a module."""


@dataclass(frozen=True, slots=True)
class Module:
    """A module on disk: its *file* and the *folders* of its submodules.

    A namespace and a compiled module have no file.
    """

    file: Path | None
    folders: tuple[Path, ...] = ()

    @property
    def is_namespace(self) -> bool:
        """True if it is a folder without a file of its own."""
        return self.file is None and bool(self.folders)


@dataclass(slots=True)
class _Copy:
    """A copied module: its file in the folder, its text, and the modules that it imports."""

    path: Path
    text: bytes
    imports: tuple[Name, ...]


@dataclass(slots=True)
class ModuleCopies:
    """The modules that documents with one search path import, as copies in *folder*.

    Attributes:
        folder: an empty folder, of which the copies are the only content.
        roots: the folders in which an imported module is searched, in order.
        read: returns the text of a file, None if it may not be read. It decides alone about that.
    """

    folder: Path
    roots: tuple[Path, ...]
    read: Callable[[Path], bytes | None]
    _copies: dict[Name, _Copy] = field(default_factory=dict)
    _changes: list[Change] = field(default_factory=list)
    _found: dict[Name, Module | None] = field(default_factory=dict)
    _listed: dict[Path, frozenset[str]] = field(default_factory=dict)

    def update(self, document: Name, imports: Sequence[Name]) -> list[Change]:
        """Copy the modules that the *imports* of the module *document* name; the changes of the folder.

        About 0.1 ms for a module that has not changed.
        """
        self._changes, self._found, self._listed = [], {}, {}
        if len(self._copies) > MOST_COPIES:
            self._empty()
        number = size = 0
        for name in self._nearest_first(document, imports):
            module = self._locate(name)
            if module is None:
                self._remove(name)
                continue
            number += 1
            if number > MOST_COPIES:
                break
            is_near = number <= MOST_MODULES and size <= MOST_BYTES
            size += self._copy(name, module, is_near=is_near)
        return self._changes

    def _nearest_first(self, document: Name, imports: Sequence[Name]) -> Iterator[Name]:
        """The names of the modules to copy, each after the packages around it.

        The consumer copies each before the next is requested, as its imports follow.
        """
        seen = {document}
        waiting = deque([*imports, *packages_around(document)])
        while waiting:
            name = waiting.popleft()
            for end in range(1, len(name) + 1):
                part = name[:end]
                if part not in seen:
                    seen.add(part)
                    yield part
                    if (copied := self._copies.get(part)) is not None:
                        waiting.extend(copied.imports)

    def _locate(self, name: Name) -> Module | None:
        """The module *name* on disk; None if there is none. A package around it comes first."""
        if name not in self._found:
            around = self._locate(name[:-1]) if len(name) > 1 else None
            folders = self.roots if len(name) == 1 else around.folders if around is not None else ()
            self._found[name] = self._search(folders, name[-1])
        return self._found[name]

    def _search(self, folders: Sequence[Path], name: str) -> Module | None:
        namespaces = list[Path]()
        for folder in folders:
            entries = self._entries(folder)
            if name in entries:
                inside = self._entries(folder / name)
                for init in (f"__init__{ending}" for ending in _ENDINGS):
                    if init in inside:
                        return Module(folder / name / init, (folder / name,))
                namespaces += [folder / name] if inside else []
            for ending in _ENDINGS:
                if name + ending in entries:
                    return Module(folder / (name + ending))
            if any(entry.startswith(name + ".") and entry.endswith(_COMPILED) for entry in entries):
                return Module(None)
        return Module(None, tuple(namespaces)) if namespaces else None

    def _entries(self, folder: Path) -> frozenset[str]:
        """The names in *folder*; none if it is no folder."""
        if folder not in self._listed:
            names = frozenset[str]()
            with suppress(OSError, ValueError), os.scandir(folder) as entries:
                names = frozenset(entry.name for entry in islice(entries, MOST_ENTRIES))
            self._listed[folder] = names
        return self._listed[folder]

    def _copy(self, name: Name, module: Module, *, is_near: bool) -> int:
        """Copy the *module* called *name*, or one with any member in its place; the number of bytes."""
        if module.is_namespace:
            return 0
        text = self.read(module.file) if module.file is not None and is_near else None
        path, imports = self._target(name, module), tuple[Name, ...]()
        if text is None:
            path, text = path.with_suffix(".pyi"), ANY_MEMBER
        known = self._copies.get(name)
        if known is not None and known.path == path and known.text == text:
            return len(text)
        if text is not ANY_MEMBER:
            imports = tuple(imported_modules(text, name if module.folders else name[:-1]))
        if known is not None and known.path != path:
            self._remove(name)
            known = None
        self._make_folders(path.parent)
        with suppress(OSError):
            path.write_bytes(text)
            self._changes.append(Change(path, "made" if known is None else "changed"))
        self._copies[name] = _Copy(path, text, imports)
        return len(text)

    def _target(self, name: Name, module: Module) -> Path:
        inside = self.folder.joinpath(*name)
        ending = module.file.suffix if module.file is not None else ".pyi"
        return inside / f"__init__{ending}" if module.folders else inside.with_name(name[-1] + ending)

    def place(self, document: Name, ending: str) -> tuple[Path, list[Change]]:
        """The path of *document* in the folder, where a file has to be, and the changes that made it."""
        self._changes = []
        path = self.folder.joinpath(*document).with_name(document[-1] + ending)
        if not path.exists():
            self._make_folders(path.parent)
            path.touch()
            self._changes.append(Change(path, "made"))
        return path, self._changes

    def _make_folders(self, folder: Path) -> None:
        missing = [part for part in (folder, *folder.parents) if not part.exists()]
        for part in reversed(missing):
            part.mkdir()
            self._changes.append(Change(part, "made"))

    def _remove(self, name: Name) -> None:
        copied = self._copies.pop(name, None)
        if copied is not None:
            copied.path.unlink(missing_ok=True)
            self._changes.append(Change(copied.path, "removed"))

    def _empty(self) -> None:
        for name in [*self._copies]:
            self._remove(name)
        for entry in self.folder.iterdir():
            shutil.rmtree(entry, ignore_errors=True)


def packages_around(module: Name) -> list[Name]:
    """The packages around *module*, the innermost last."""
    return [module[:end] for end in range(1, len(module))]


def imported_modules(text: bytes, package: Name) -> Iterator[Name]:
    """The modules that *text*, in a file of *package*, may import; an imported name may be one.

    O(len(text)).
    """
    seen = set[Name]()
    for _, origin in imports_in(text):
        written = origin.module.split()[0].decode(errors="replace")
        level = len(written) - len(written.lstrip("."))
        if level > len(package) + 1:
            continue
        around = package[: len(package) - level + 1] if level else ()
        module = (*around, *filter(None, written.split(".")))
        item = origin.item.split()[0].decode(errors="replace") if origin.item else ""
        for name in (module, (*module, item) if item.isidentifier() else ()):
            if name and name not in seen:
                seen.add(name)
                yield name


ENVIRONMENTS = (".venv", "venv")


def source_folders(path: Path | None, folders: Sequence[Path]) -> list[Path]:
    """The folders of sources in which to search a module that the file at *path* imports, in order.

    These are the folder around the file's package, the open *folders*, and their `src`.
    """
    around = [] if path is None else [above_package(path.parent)]
    return [*dict.fromkeys([*around, *folders, *(folder / "src" for folder in folders)])]


def above_package(folder: Path) -> Path:
    """The innermost folder, *folder* or one around it, that is not a package."""
    while (folder / "__init__.py").exists() and folder != folder.parent:
        folder = folder.parent
    return folder


def installed_packages(folder: Path) -> Iterator[Path]:
    """The folders of packages of the virtual environments in *folder*. No file in them is read."""
    for name in ENVIRONMENTS:
        yield from sorted((folder / name).glob("lib/python3*/site-packages"))
        windows = folder / name / "Lib" / "site-packages"
        if windows.is_dir():
            yield windows
