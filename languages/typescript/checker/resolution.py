"""The files that an import in TypeScript means, as the compiler's resolution for bundlers finds them.

Files are known by their paths in the workspace. A package that pnpm installs is found beside the real
place of the importing package. It then has a place in the outermost folder.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from fimlsp.languages.typescript.checker.configuration import (
    JAVASCRIPT_ENDINGS,
    Configuration,
    read_configuration,
)

MOST_ENTRIES = 2_000
"""Entries of a folder that are searched for declarations."""

PACKAGES = "node_modules"

_ENDINGS = (".ts", ".tsx", ".d.ts", ".mts", ".d.mts", ".cts", ".d.cts")
_SOURCES = (".ts", ".tsx", ".mts", ".cts")
_WRITTEN = {
    ".js": (".ts", ".tsx", ".d.ts"),
    ".jsx": (".tsx", ".d.ts"),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
}
"""The endings of files that an import with an ending of JavaScript may mean."""

_AMBIENT = ("", "src", "types", "typings", "@types")
"""Folders of a project with declarations that no file imports."""

_IMPORTED = re.compile(
    rb"\b(?:from|import|require)[ \t]{0,8}\(?[ \t\r\n]{0,80}([\"'])([^\"'\\\n]{1,200})\1"
    rb"|^///[ \t]{0,8}<reference[ \t]{1,8}(path|types)[ \t]{0,8}=[ \t]{0,8}([\"'])([^\"'\\\n]{1,200})\4",
    re.MULTILINE,
)

Read = Callable[[Path], bytes | None]
"""Returns the text of a file; None if there is none, or if it may not be read."""


class Import(NamedTuple):
    """The *name* of a module, or with *are_types* of a package of types."""

    name: str
    are_types: bool = False


def imports_in(text: bytes) -> tuple[Import, ...]:
    """The distinct modules that *text* may import. O(len(text))."""
    found: dict[Import, None] = {}
    for match in _IMPORTED.finditer(text):
        name = (match[2] or match[5]).decode("utf-8", "replace")
        is_path = match[3] == b"path" and not name.startswith(".")
        found[Import(f"./{name}" if is_path else name, match[3] == b"types")] = None
    return tuple(found)


@dataclass(slots=True)
class Resolution:
    """The files of the folder *root*, and those that they import; *read* decides about all of them.

    `unreadable` are files that an import may mean, and that may not be read.
    """

    root: Path
    read: Read
    unreadable: set[Path] = field(default_factory=set)
    configuration: Configuration = field(default_factory=Configuration)
    _texts: dict[Path, bytes | None] = field(default_factory=dict)
    _following: dict[tuple[Path, bool], tuple[bytes, tuple[Path, ...]]] = field(default_factory=dict)
    _packages: dict[tuple[Path, str], tuple[Path, ...]] = field(default_factory=dict)
    _linked: dict[Path, Path] = field(default_factory=dict)

    def forget(self) -> None:
        """Read the files of the project again when they are next needed; packages are kept."""
        self._texts = {path: text for path, text in self._texts.items() if text and PACKAGES in path.parts}
        self.unreadable.clear()

    def text(self, path: Path) -> bytes | None:
        """The text of the file at *path*, as in `Read`."""
        if path not in self._texts:
            self._texts[path] = self._read(path) if path.is_relative_to(self.root) else None
        return self._texts[path]

    def first_files(self, document: Path, imports: Sequence[Import]) -> Iterator[Path]:
        """The files that a *document* with *imports* needs itself, and the declarations for all files."""
        self.configuration = read_configuration(document, self.root, self.text)
        for one in (*imports, *map(Import, self.configuration.implied)):
            yield from self._files(one, document)
        for folder in _AMBIENT:
            names = entries_of(self.root / folder)
            yield from (self.root / folder / name for name in names if name.endswith(".d.ts"))
        for name in self.configuration.types:
            yield from self._files(Import(name, are_types=True), document)
        if not self.configuration.types:
            for around in (folder / PACKAGES / "@types" for folder in self._around(document)):
                for name in entries_of(around):
                    yield from self._package_files(around / name, "")

    def files_after(self, path: Path, text: bytes) -> tuple[Path, ...]:
        """The files that the file at *path* with this *text* imports."""
        key = path, self.configuration.javascript is not None
        known = self._following.get(key)
        if known is not None and known[0] == text:
            return known[1]
        found = [tuple(self._files(one, path)) for one in imports_in(text)] if path.suffix != ".json" else []
        files = tuple(file for group in found for file in group)
        if all(found) or PACKAGES in path.parts:  # a missing file of the project may be there later
            self._following[key] = text, files
        return files

    def _files(self, imported: Import, origin: Path) -> Iterator[Path]:
        """The files that *imported* means in the file *origin*."""
        name = imported.name
        if name.startswith("."):
            yield from self._module(Path(os.path.normpath(origin.parent / name)))
            return
        for target in self.configuration.aliases(name):
            yield from self._module(target)
        package, inside = _split(name)
        types = f"@types/{package.removeprefix('@').replace('/', '__')}"
        for each in (types, package) if imported.are_types else (package, types):
            yield from self._installed(each, inside, origin)

    def _installed(self, package: str, inside: str, origin: Path) -> Iterator[Path]:
        """The files of a *package* that a file *origin* sees."""
        places = [folder / PACKAGES / package for folder in self._around(origin)]
        found = next((place for place in places if self._has_description(place)), None)
        if found is None and (real := self._linked_package(package, origin)) is not None:
            found = self.root / PACKAGES / package
            self._linked[found] = real
        if found is not None:
            yield from self._package_files(found, inside)

    def _linked_package(self, package: str, origin: Path) -> Path | None:
        """A *package* beside the one that the place of *origin* links to, as pnpm installs them."""
        if PACKAGES not in origin.parts:
            return None
        linked = next((real for place, real in self._linked.items() if origin.is_relative_to(place)), origin)
        real = Path(os.path.realpath(linked))
        places = (folder / PACKAGES / package for folder in self._around(real / "file"))
        return next((place for place in places if self._has_description(place)), None)

    def _has_description(self, place: Path) -> bool:
        return self.text(place / "package.json") is not None

    def _package_files(self, place: Path, inside: str) -> tuple[Path, ...]:
        """The description of the package at *place*, and the files of its module *inside*."""
        if (place, inside) not in self._packages:
            description = place / "package.json"
            names = _files_of_package(self.text(description) or b"", inside)
            files = (file for name in names for file in self._module(Path(os.path.normpath(place / name))))
            self._packages[place, inside] = description, *dict.fromkeys(files)
        return self._packages[place, inside]

    def _module(self, path: Path) -> Iterator[Path]:
        """The first file that an import of *path* can mean."""
        name, suffix = path.name, path.suffix
        stem = name.removesuffix(suffix)
        candidates = (
            *([path] if suffix in _SOURCES else []),
            *(path.with_name(stem + ending) for ending in _WRITTEN.get(suffix, ())),
            *(path.with_name(name + ending) for ending in _ENDINGS),
            *(path / f"index{ending}" for ending in _ENDINGS[:3]),
            *([path] if suffix == ".json" else []),
            *(self._javascript(path) if self.configuration.javascript else ()),
        )
        found = next((one for one in candidates if self.text(one) is not None), None)
        if found is not None:
            yield found

    @staticmethod
    def _javascript(path: Path) -> Iterator[Path]:
        """The files without types that an import of *path* may mean; none in packages."""
        if PACKAGES not in path.parts:
            if path.suffix in JAVASCRIPT_ENDINGS:
                yield path
            yield from (path.with_name(path.name + ending) for ending in _WRITTEN)
            yield path / "index.js"

    def _read(self, path: Path) -> bytes | None:
        text = self.read(path)
        if text is None and self._linked:
            place = next((place for place in self._linked if path.is_relative_to(place)), None)
            text = None if place is None else self.read(self._linked[place] / path.relative_to(place))
        if text is None and path.is_file():
            self.unreadable.add(path)
        return text

    def _around(self, path: Path) -> Iterator[Path]:
        """The folders around *path* up to the root, the innermost first."""
        for folder in path.parents:
            if not folder.is_relative_to(self.root):
                return
            if folder.name != PACKAGES:
                yield folder


def entries_of(folder: Path) -> Sequence[str]:
    """The names in *folder*; none if it is no folder."""
    with suppress(OSError, ValueError), os.scandir(folder) as entries:
        return sorted(entry.name for entry in islice(entries, MOST_ENTRIES))
    return ()


def _split(name: str) -> tuple[str, str]:
    """The package of a module, and the module in the package."""
    parts = name.split("/")
    size = 2 if name.startswith("@") else 1
    return "/".join(parts[:size]), "/".join(parts[size:])


def _files_of_package(description: bytes, inside: str) -> Iterator[str]:
    """The files, without a sure ending, of the module *inside* a package with this *description*."""
    try:
        package = json.loads(description)
    except (ValueError, RecursionError):
        package = None
    package = package if isinstance(package, dict) else {}
    exports = package.get("exports")
    if isinstance(exports, Mapping) and any(key.startswith(".") for key in exports):
        yield from _exported(exports, f"./{inside}" if inside else ".")
    elif exports is not None and not inside:
        yield from _names_in(exports, "")
    if inside:
        yield inside
        return
    yield from (package[key] for key in ("types", "typings", "main") if isinstance(package.get(key), str))
    yield "index"


def _exported(exports: Mapping[str, object], wanted: str) -> Iterator[str]:
    """The files that *exports* have for the path *wanted*, in which a pattern may have one `*`."""
    for key, value in exports.items():
        before, star, after = key.partition("*")
        if key == wanted:
            yield from _names_in(value, "")
        elif star and wanted.startswith(before) and wanted.endswith(after):
            yield from _names_in(value, wanted[len(before) : len(wanted) - len(after)])


def _names_in(value: object, part: str) -> Iterator[str]:
    """The names in *value*, first those of types; *part* stands for `*`."""
    if isinstance(value, str):
        yield value.replace("*", part)
    elif isinstance(value, Mapping):
        for key in sorted(value, key=lambda key: not key.startswith("types")):
            yield from _names_in(value[key], part)
    elif isinstance(value, Sequence):
        for one in value:
            yield from _names_in(one, part)
