"""Finds what a Python file imports, and where that is in the workspace."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fimlsp.lsp_server.python.remembered import remembered

MOST_BYTES = 200_000
"""How much of a buffer is searched for imports."""

_STATEMENT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(?P<module>[\w.]+)[ \t]+import[ \t]+(?:\((?P<inside>[^)]*)\)|(?P<names>[^\n#;]+))"
    rb"|import[ \t]+(?P<modules>[^\n#;]+))",
    re.MULTILINE,
)
_NAME = re.compile(r"\s*([\w.]+|\*)")


@dataclass(frozen=True, slots=True)
class Import:
    """*names* imported from *module*, which begins with a dot for each level up; without names, it itself."""

    module: str
    names: tuple[str, ...] = ()


def imports_of(source: bytes) -> tuple[Import, ...]:
    """The imports in the first `MOST_BYTES` of *source*, the last one first.

    Those nearest to the cursor are often the newest.
    """
    return _imports(source[:MOST_BYTES])


@remembered(64)
def _imports(source: bytes) -> tuple[Import, ...]:
    found = []
    for statement in _STATEMENT.finditer(source):
        if statement["modules"] is not None:
            found += [Import(name) for name in _names(statement["modules"])]
        else:
            inside = re.sub(rb"#[^\n]*", b"", statement["inside"] or b"")
            found.append(Import(statement["module"].decode(), _names(inside or statement["names"] or b"")))
    return tuple(dict.fromkeys(reversed(found)))


def _names(listed: bytes) -> tuple[str, ...]:
    """The names of a list such as `a as b, c`."""
    parts = listed.decode(errors="replace").split(",")
    return tuple(match[1] for part in parts if (match := _NAME.match(part)) is not None)


def module_files(module: str, importer: Path, folders: Sequence[Path]) -> Iterator[Path]:
    """Where *module* may be, as *importer* sees it, the most likely first. Nothing is read here."""
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
