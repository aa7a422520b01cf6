"""The types of Python by ty, which is used as a language server on copies of modules.

ty is a beta; `pyproject.toml` pins its version. `KINDS` are the diagnostics that hold on real edits
(docs/suggestions.md).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path

from fimlsp.languages.python.checker.modules import (
    UNTITLED,
    ModuleCopies,
    Name,
    above_package,
    imported_modules,
    installed_packages,
    source_folders,
)
from fimlsp.languages.type_checker.language_server import Bounds, Diagnostic, TypeServer
from fimlsp.languages.type_checker.process import CheckedPlace

KINDS = frozenset(
    {
        "invalid-explicit-return",
        "invalid-super-argument",
        "missing-attribute",
        "missing-module-member",
        "no-matching-overload",
        "not-callable",
        "not-iterable",
        "parameter-already-assigned",
        "too-many-positional-arguments",
        "unknown-argument",
        "unresolved-reference",
        "unsupported-operator",
    }
)
"""The kinds of diagnostics, by ty's codes, that hold a suggestion back."""

BOUNDS = Bounds(3.0, 400_000_000)

UNREAD = "invalid-syntax"
"""The kind of a text that ty cannot parse."""

_PYTHONS = {"posix": ("lib", "python3.11", "site-packages"), "nt": ("Lib", "site-packages")}


class PythonProject:
    """ty with the copies of modules for one search path and version."""

    def __init__(self, server: TypeServer, copies: ModuleCopies) -> None:
        self.server = server
        self._copies = copies
        self._imports: tuple[Name, ...] = ()

    def refresh(self) -> None:
        """As in `Project`."""
        self._imports = ()

    def diagnostics(self, place: CheckedPlace, text: bytes) -> list[Diagnostic]:
        """As in `Project`."""
        document, data = _document_name(place.path), place.left + text + place.right
        imports = tuple(imported_modules(data, document[:-1]))
        if imports != self._imports:
            self.server.announce(self._copies.update(document, imports))
            self._imports = imports
        ending = ".pyi" if place.path is not None and place.path.suffix == ".pyi" else ".py"
        path, changes = self._copies.place(document, ending)
        self.server.announce(changes)
        return self.server.diagnostics(path, data.decode(), "python")

    def counts(self, diagnostic: Diagnostic, before: Collection[Diagnostic]) -> bool:
        """As in `Project`."""
        del before
        return diagnostic.code in KINDS

    def is_unread(self, diagnostic: Diagnostic) -> bool:
        """As in `Project`."""
        return diagnostic.code == UNREAD


class PythonProjects:
    """The projects of Python; *program* is ty."""

    def __init__(self, program: str) -> None:
        self._program = program

    def key(self, place: CheckedPlace) -> object:
        """As in `Projects`."""
        return _roots(place)

    def make(self, place: CheckedPlace, folder: Path, read: Callable[[Path], bytes | None]) -> PythonProject:
        """As in `Projects`."""
        server = ty_server(self._program, folder, place.against)
        return PythonProject(server, ModuleCopies(server.modules, _roots(place), read))


def ty_server(program: str, folder: Path, version: object) -> TypeServer:
    """A server of ty for texts of one Python *version* in *folder*, which it may fill.

    Raises:
        OSError, TypeServerError: as in `TypeServer`.
    """
    assert isinstance(version, tuple)
    python = {
        "python": str(_without_packages(folder)),
        "python-version": "{}.{}".format(*version),
        "root": [str(folder / "modules")],
    }
    options = {
        "configuration": {"environment": python},
        "diagnosticMode": "openFilesOnly",
        "untrustedWorkspace": True,
    }
    return TypeServer((program, "server"), folder, options, {"TY_MAX_PARALLELISM": "1"}, BOUNDS)


def _roots(place: CheckedPlace) -> tuple[Path, ...]:
    packages = (packages for folder in place.folders for packages in installed_packages(folder))
    return (*source_folders(place.path, place.folders), *packages)


def _document_name(path: Path | None) -> Name:
    """The name of the module at *path* within its outermost package."""
    if path is None:
        return (UNTITLED,)
    return path.relative_to(above_package(path.parent)).with_suffix("").parts


def _without_packages(folder: Path) -> Path:
    """A new environment in *folder* without packages; else ty would search for one."""
    environment = folder / "environment"
    environment.joinpath(*_PYTHONS[os.name]).mkdir(parents=True)
    (environment / "pyvenv.cfg").write_text(f"home = {environment / 'bin'}\n", encoding="utf-8")
    return environment
