"""The definitions and imports of files, read without parsing them: signatures, and the origins of names.

A signature has the required parameters of a function or method. The origin of a name is the module from which
a file can import it: as other files do, or from its definition.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, takewhile
from pathlib import PurePath
from typing import NamedTuple

from fimlsp.languages.python.names.symbol_tables import code_alone

Required = tuple[bytes, ...]
"""The names of the positional parameters that have no default, without the object of a method."""

LONGEST_HEADER = 2_000
"""Bytes of the header of a definition, and of the decorators above it, that are read."""

_DEFINED = rb"^([ \t]*)(?:async[ \t]+)?def[ \t]+(%b)[ \t]*\("
_ANY = re.compile(_DEFINED % rb"\w+", re.M)
_CLASS = rb"^([ \t]*)class[ \t]+(%b)\b[^\n]*\n"
_ANY_CLASS = re.compile(_CLASS % rb"\w+", re.M)
_STATIC = re.compile(rb"@staticmethod[ \t]*\r?\n[ \t]*\Z")
_PARAMETER = re.compile(rb"\s*([\w\x80-\xff]+)")
_STEPS = {**dict.fromkeys(b"([{", 1), **dict.fromkeys(b")]}", -1)}
INITIALIZER = b"__init__"


class Parameter(NamedTuple):
    """A parameter that takes an argument by its position."""

    name: bytes
    is_required: bool


def signatures_in(code: bytes) -> Mapping[bytes, Sequence[Required]]:
    """The required parameters of all functions and methods that *code* defines, by names.

    The name of a method starts with a dot. A class has those of its `__init__`. O(len(code)).
    """
    signatures = defaultdict[bytes, list[Required]](list)
    classes = [*_ANY_CLASS.finditer(code)]
    number = 0
    definitions = [*_ANY.finditer(code)]
    starts = [0, *(definition.start() for definition in definitions), len(code)]
    for place, definition in enumerate(definitions):
        is_method = bool(definition[1])
        around = range(starts[place], starts[place + 2])
        required = _required(code, definition, around, is_method=is_method)
        if is_method and definition[2] == INITIALIZER:
            while number + 1 < len(classes) and classes[number + 1].start() < definition.start():
                number += 1
            if classes and classes[number].start() < definition.start():
                signatures[classes[number][2]].append(required)
        else:
            signatures[b"." * is_method + definition[2]].append(required)
    return signatures


def required_parameters(code: bytes, callee: bytes) -> Required | None:
    """The required parameters of *callee*, if *code* defines exactly one such function, method or class.

    *callee* is a name; that of a method starts with a dot. None without a definition; empty if there are
    several. O(len(code)).
    """
    name = callee.removeprefix(b".")
    is_method = name != callee
    found = [*re.finditer(_DEFINED % re.escape(name), code, re.M)]
    if not found and not is_method:
        classes = [*re.finditer(_CLASS % re.escape(name), code, re.M)]
        if len(classes) != 1:
            return () if classes else None
        body, is_method = _block(code, classes[0]), True
        found = [*re.compile(_DEFINED % INITIALIZER, re.M).finditer(code, body.start, body.stop)][:1]
    if not found:
        return None
    is_one = len(found) == 1 and bool(found[0][1]) == is_method
    return _required(code, found[0], range(len(code)), is_method=is_method) if is_one else ()


def positional_parameters(definition: bytes) -> list[Parameter]:
    """The positional parameters of the function that *definition* starts with."""
    start = definition.index(b"(") + 1
    inside = code_alone(definition[start : end_of_bracket(definition, start)])
    depth, parts, at = 0, list[bytes](), 0
    for offset, byte in enumerate(inside):
        depth += _STEPS.get(byte, 0)
        if byte == ord(",") and not depth:
            parts.append(inside[at:offset])
            at = offset + 1
    positional = takewhile(lambda part: not part.lstrip().startswith(b"*"), [*parts, inside[at:]])
    named = ((_PARAMETER.match(part), part) for part in positional)
    return [Parameter(name[1], b"=" not in part) for name, part in named if name is not None]


def end_of_bracket(text: bytes, start: int) -> int:
    """The offset of the bracket that closes the one before *start*; the end of *text* without it."""
    depth = 1
    for offset in range(start, len(text)):
        depth += _STEPS.get(text[offset], 0)
        if depth == 0:
            return offset
    return len(text)


def _required(code: bytes, definition: re.Match[bytes], around: range, *, is_method: bool) -> Required:
    """The required parameters of a *definition*; *around* is from the one before it to the one after."""
    start = definition.start()
    above = code[max(around.start, start - LONGEST_HEADER) : start]
    is_bound = is_method and not _STATIC.search(above)
    parameters = positional_parameters(code[start : min(start + LONGEST_HEADER, around.stop)])
    return tuple(parameter.name for parameter in parameters[is_bound:] if parameter.is_required)


def _block(code: bytes, header: re.Match[bytes]) -> range:
    """The block below *header*, up to the next line that is not deeper."""
    end = re.compile(rb"^[ \t]{0,%d}\S" % len(header[1]), re.M).search(code, header.end())
    return range(header.end(), len(code) if end is None else end.start())


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
