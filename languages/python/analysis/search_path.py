"""Where the imports of a file are looked for, as far as folders and their names tell."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ENVIRONMENTS = (".venv", "venv")


def search_path(path: Path | None, folders: Sequence[Path]) -> list[Path]:
    """The folders in which a module that the file at *path* imports may lie, the first before others.

    They are those that are open, their `src`, the one that the file's package is in, and the packages of the
    environments in them, or else of this Python. Nothing of it is read.
    """
    found = [*folders, *(folder / "src" for folder in folders)]
    if path is not None:
        found.insert(0, above_package(path.parent))
    installed = [each for folder in folders for each in installed_packages(folder)]
    return [*dict.fromkeys([*found, *(installed or [Path(each) for each in sys.path if each])])]


def above_package(folder: Path) -> Path:
    """The innermost folder around *folder*, or itself, that is no package."""
    while (folder / "__init__.py").exists() and folder != folder.parent:
        folder = folder.parent
    return folder


def installed_packages(folder: Path) -> Iterator[Path]:
    """Where the virtual environments in *folder* keep their packages."""
    for name in ENVIRONMENTS:
        yield from sorted((folder / name).glob("lib/python3*/site-packages"))
        windows = folder / name / "Lib" / "site-packages"
        if windows.is_dir():
            yield windows
