"""The types of TypeScript and JavaScript by TypeScript 7, a native program and a language server.

A user installs it and names its folder. It is never searched for, as that would run a program of a workspace
without the user's word. It sees copies of modules alone (`modules.py`).
"""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Callable, Collection
from pathlib import Path

from fimlsp.errors import UserError
from fimlsp.languages.type_checker.language_server import Bounds, Diagnostic, TypeServer
from fimlsp.languages.type_checker.process import CheckedPlace
from fimlsp.languages.typescript.checker.configuration import JAVASCRIPT_ENDINGS
from fimlsp.languages.typescript.checker.modules import ModuleCopies
from fimlsp.languages.typescript.checker.resolution import Resolution

BOUNDS = Bounds(10.0, 1_000_000_000)
"""The first question reads all types that are installed; with those of thirty packages it takes 2 s."""

_LANGUAGES = {".tsx": "typescriptreact", ".jsx": "javascriptreact"} | dict.fromkeys(
    (".js", ".mjs", ".cjs"), "javascript"
)
_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}

NAMES = frozenset(("2304", "2503", "2552"))
"""Errors of names that nothing declares. In a script, another file may declare them."""

KINDS = {
    "export": ("2305", "2614", "2724"),
    "member": ("2339", "2551", "2576"),
    "type": ("2322", "2345", "2353", "2561", "2820"),
    "call": ("2348", "2349", "2351"),
    "operator": ("2362", "2363", "2365", "2367"),
    "iteration": ("2488", "2495"),
    "assignment": ("2540", "2588"),
    "type as a value, or value as a type": ("2693", "2749"),
    "overload": ("2769",),
}
"""Errors of types by their kinds. They count if all modules are known that the text depends on."""

TYPES = frozenset(code for codes in KINDS.values() for code in codes)

JAVASCRIPT = {
    code: frozenset(KINDS[kind])
    for kind in ("export", "member", "call", "iteration", "assignment")
    for code in KINDS[kind]
} | dict.fromkeys(NAMES, NAMES)
"""The errors that count in JavaScript, each with those of its kind. Others are no faults without types."""

_LATER = "missing the following propert", "is missing in type", "on type 'never'"
"""Parts of messages about objects whose properties, or values whose uses, may be written later."""

_OPEN = "on type 'object'", "on type '{}'", "on type 'Error'"
"""Parts of messages about values that have further members in JavaScript."""

_COUNTS = re.compile(r"Expected (?:\d+-)?(\d+) (?:type )?arguments?, but got (\d+)")
_MODULE = re.compile(rb"^[ \t]*(?:import|export)\b", re.MULTILINE)
_COMMON_MODULE = re.compile(rb"\brequire\(|\b(?:module\.)?exports\b")
_ASSIGNED = re.compile(rb"[ \t]*=(?![=>])")
_SYNTAX = re.compile(r"1\d{3}")


class NoCompilerError(UserError):
    """A folder lacks a compiler that can check types."""


def compiler_in(folder: Path) -> Path:
    """The program of the TypeScript 7 that npm installed in *folder*.

    Raises:
        NoCompilerError: There is none.
    """
    package = (folder / "node_modules" / "typescript").resolve()
    machine = platform.machine().lower()
    name = f"typescript-{sys.platform}-{_MACHINES.get(machine, machine)}"
    ending = ".exe" if sys.platform == "win32" else ""
    places = (around / "@typescript" / name for around in (package.parent, package / "node_modules"))
    programs = (place / "lib" / f"tsc{ending}" for place in places)
    found = next((program for program in programs if program.is_file()), None)
    if found is None:
        raise NoCompilerError(
            f"Cannot check types: {folder} has no TypeScript 7 for this system. "
            f"Do `npm install --prefix {folder} typescript@7`."
        )
    return found


class TypeScriptProject:
    """The compiler with the copies of modules for the files of one folder."""

    def __init__(self, server: TypeServer, copies: ModuleCopies) -> None:
        self.server = server
        self._copies = copies
        self._is_module = False
        self._is_javascript = False

    def refresh(self) -> None:
        """As in `Project`."""
        self._copies.forget()

    def diagnostics(self, place: CheckedPlace, text: bytes) -> list[Diagnostic]:
        """As in `Project`."""
        data = place.left + text + place.right
        path, changes = self._copies.update(place.path, data)
        self._is_javascript = path.suffix in JAVASCRIPT_ENDINGS
        is_common = self._is_javascript and _COMMON_MODULE.search(data) is not None
        self._is_module = is_common or _MODULE.search(data) is not None
        self.server.announce(changes)
        found = self.server.diagnostics(path, data.decode(), _LANGUAGES.get(path.suffix, "typescript"))
        return [each for each in found if not (self._is_javascript and _is_new_member(data, each))]

    def counts(self, diagnostic: Diagnostic, before: Collection[Diagnostic]) -> bool:
        """As in `Project`. In JavaScript a kind of error counts only in files that are free of it."""
        if self._is_javascript:
            alike = JAVASCRIPT.get(diagnostic.code, frozenset())
            is_open = any(words in diagnostic.message for words in _OPEN)
            if not alike or is_open or any(other.code in alike for other in before):
                return False
        if diagnostic.code in NAMES:
            return self._is_module
        if not self._copies.are_whole:
            return False
        counted = _COUNTS.match(diagnostic.message)
        if counted is not None:
            return int(counted[2]) > int(counted[1])  # others may be written later
        is_unfinished = any(words in diagnostic.message for words in _LATER)
        return diagnostic.code in TYPES and not is_unfinished

    def is_unread(self, diagnostic: Diagnostic) -> bool:
        """As in `Project`."""
        return _SYNTAX.fullmatch(diagnostic.code) is not None


def _is_new_member(data: bytes, error: Diagnostic) -> bool:
    """True if *error* is that *data* assigns to an unknown member, which JavaScript then has."""
    if error.code not in KINDS["member"]:
        return False
    lines = data.splitlines()
    line, column = error.end
    return line < len(lines) and _ASSIGNED.match(lines[line], column) is not None


class TypeScriptProjects:
    """The projects of TypeScript: one for each folder that an editor has opened."""

    def key(self, place: CheckedPlace) -> object:
        """As in `Projects`."""
        return _root(place)

    def make(
        self, place: CheckedPlace, folder: Path, read: Callable[[Path], bytes | None]
    ) -> TypeScriptProject:
        """As in `Projects`."""
        assert isinstance(place.against, Path)
        command = str(place.against), "--lsp", "--stdio"
        server = TypeServer(command, folder, {}, {"GOMAXPROCS": "2"}, BOUNDS)
        return TypeScriptProject(server, ModuleCopies(server.modules, Resolution(_root(place), read)))


def _root(place: CheckedPlace) -> Path:
    """The opened folder around the file, or the file's own folder."""
    path = place.path
    if path is None:
        return place.folders[0] if place.folders else Path.cwd()
    around = [folder for folder in place.folders if path.is_relative_to(folder)]
    return max(around, key=lambda folder: len(folder.parts), default=path.parent)
