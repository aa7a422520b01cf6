"""Finds the modules from which a file can import a name: as other files do, or from its definition."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, takewhile
from pathlib import PurePath
from typing import NamedTuple

from fimlsp.languages.python.missing_names.signatures import Required, signatures_in

_STATEMENT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(?P<module>[\w.]+)[ \t]+import[ \t]*"
    rb"(?:\((?P<inside>(?:[^()#]|#[^\n]*\n)*)\)|(?P<names>[^\n(;#]+))"
    rb"|import[ \t]+(?P<modules>[^\n(;#]+))",
    re.MULTILINE,
)
_DEFINITION = re.compile(
    rb"^(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]*)?=(?!=)", re.MULTILINE
)
_COMMENT = re.compile(rb"#[^\n]*")
_ITEM = re.compile(rb"\s*([\w.]+)(?:\s+as\s+(\w+))?\s*\Z")
_RELATIVE = re.compile(rb"^from[ \t]+\.", re.MULTILINE)

PACKAGE = "__init__"
IMPORT_WEIGHT = 2
"""The weight of an import of a name; its definition has a weight of one."""


class Origin(NamedTuple):
    """The *module* that a name is imported from, as an *item* such as `a as b`.

    Without an item, the module itself is imported by `import`.
    """

    module: bytes
    item: bytes


class _Imported(NamedTuple):
    """An import in the file at *path*."""

    path: PurePath
    origin: Origin


@dataclass(frozen=True, slots=True)
class ImportTable:
    """The imports, and the definitions at the top level, of some Python files of a project, by names.

    *modules* are those that are imported by absolute names, *packages* the outermost packages around these.
    *signatures* has the required parameters of all functions and methods (see `signatures_in`).
    """

    modules: frozenset[bytes]
    packages: frozenset[bytes]
    imports: Mapping[bytes, Sequence[_Imported]] = field(hash=False)
    definitions: Mapping[bytes, Sequence[PurePath]] = field(hash=False)
    signatures: Mapping[bytes, Sequence[Required]] = field(hash=False)

    @classmethod
    def of(cls, files: Mapping[PurePath, bytes]) -> ImportTable:
        """The table of *files*, texts by paths. O(bytes)."""
        imports = defaultdict[bytes, list[_Imported]](list)
        definitions = defaultdict[bytes, list[PurePath]](list)
        signatures = defaultdict[bytes, list[Required]](list)
        for path, text in files.items():
            for name, origin in imports_in(text):
                imports[name].append(_Imported(path, origin))
            for name in {match[1] or match[2] for match in _DEFINITION.finditer(text)}:
                definitions[name].append(path)
            for name, required in signatures_in(text).items():
                signatures[name] += required
        named = (item.origin.module.split()[0] for items in imports.values() for item in items)
        modules = frozenset(module for module in named if not module.startswith(b"."))
        packages = frozenset(module.partition(b".")[0] for module in modules)
        return cls(modules, packages, imports, definitions, dict(signatures))


def uses_relative_names(text: bytes) -> bool:
    """True if *text* imports by relative names."""
    return _RELATIVE.search(text) is not None


def origins(
    tables: Sequence[ImportTable], name: bytes, path: PurePath | None, *, is_relative: bool
) -> Counter[Origin]:
    """The origins from which the file at *path* can import *name*, with their weights.

    With *is_relative*, modules of the project have relative names. A name that several files define and none
    imports, such as `logger`, has no origin.
    """
    weights = Counter[Origin]()
    for importer, origin in chain.from_iterable(table.imports.get(name, ()) for table in tables):
        if importer != path and (seen := _seen_from(path, importer, origin)) is not None:
            weights[seen] += IMPORT_WEIGHT
    definitions = [file for table in tables for file in table.definitions.get(name, ()) if file != path]
    if path is not None and (weights or len(definitions) == 1):
        folder = path.parent if is_relative else None
        modules = (_module(tables, file, folder) for file in definitions)
        weights.update(Origin(module, name) for module in modules if module)
    return weights


def _seen_from(path: PurePath | None, importer: PurePath, origin: Origin) -> Origin | None:
    """*origin*, as *importer* imports it, for the file at *path*; None if that has no name there."""
    if not origin.module.startswith(b"."):
        return origin
    if path is None:
        return None
    if importer.parent == path.parent:
        return origin
    return Origin(_relative(resolved(importer.parent, origin.module), path.parent), origin.item)


def _module(tables: Sequence[ImportTable], definition: PurePath, folder: PurePath | None) -> bytes | None:
    """The name of the module at *definition*, relative to *folder* if that is given."""
    target = definition.parent if definition.stem == PACKAGE else definition.with_suffix("")
    if folder is not None:
        return _relative(target, folder)
    return _absolute(tables, target.parts) if target.name else None


def _absolute(tables: Sequence[ImportTable], parts: Sequence[str]) -> bytes:
    """The absolute name of the module whose path has these *parts*, as imports elsewhere suggest it.

    It starts at the first package of which a module is imported so, else at one whose package is imported.
    """
    encoded = [part.encode() for part in parts]
    packages = [n for n, part in enumerate(encoded) if any(part in table.packages for table in tables)]
    names = [b".".join(encoded[first:]) for first in packages]
    imported = (name for name in names if _is_imported(tables, name))
    beside = (name for name in names if _is_imported(tables, name.rpartition(b".")[0]))
    return next(imported, next(beside, names[-1] if names else encoded[-1]))


def _is_imported(tables: Sequence[ImportTable], module: bytes) -> bool:
    return any(module in table.modules for table in tables)


def imports_in(text: bytes) -> Iterator[tuple[bytes, Origin]]:
    """The names that the imports of *text* bind, each with its origin."""
    for statement in _STATEMENT.finditer(text):
        module, listed = statement["module"], statement["modules"]
        if listed is None:
            listed = _COMMENT.sub(b"", statement["inside"] or b"") or statement["names"] or b""
        for item in map(_ITEM.match, listed.split(b",")):
            if item is None:
                continue
            written = item[1] if item[2] in (None, item[1]) else b"%b as %b" % (item[1], item[2])
            bound = item[2] or item[1].partition(b".")[0]
            yield bound, Origin(written, b"") if module is None else Origin(module, written)


def statements(origins_by_name: Mapping[bytes, Counter[Origin]]) -> list[tuple[bytes, float]]:
    """The import statements that bind names from their origins, each with its share of 1.

    All names from one module are in one statement.
    """
    weights, items = defaultdict[bytes, float](float), defaultdict[bytes, set[bytes]](set)
    for counts in origins_by_name.values():
        total = counts.total()
        for (module, item), count in counts.items():
            weights[module if item else b"import " + module] += count / total
            if item:
                items[module].add(item)
    total_weight = sum(weights.values())
    return [(_statement(key, items.get(key)), weight / total_weight) for key, weight in weights.items()]


def _statement(key: bytes, items: set[bytes] | None) -> bytes:
    """The statement that imports *items* from the module *key*; without items, *key* is the statement."""
    ordered: list[bytes] = sorted(items or (), key=_by_type)
    return b"from %b import %b" % (key, b", ".join(ordered)) if ordered else key


def _by_type(item: bytes) -> tuple[int, bytes]:
    """The usual order of imported names: constants, classes, all others."""
    is_constant = item.isupper() and len(item) > 1
    return (0 if is_constant else 1 if item[:1].isupper() else 2), item


def resolved(folder: PurePath, module: bytes) -> PurePath:
    """The path, without its ending, of the relative name *module* in a file in *folder*."""
    name = module.decode().lstrip(".")
    for _ in range(len(module) - len(name) - 1):
        folder = folder.parent
    return folder.joinpath(*filter(None, name.split(".")))


def _relative(target: PurePath, folder: PurePath) -> bytes:
    """The relative name of the module at *target* in a file in *folder*."""
    pairs = zip(target.parts, folder.parts, strict=False)
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    dots = len(folder.parts) - common + 1
    return ("." * dots + ".".join(target.parts[common:])).encode()
