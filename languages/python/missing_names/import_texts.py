"""Modules of the project, and their names, as texts in an import that is being written.

A small network does not know the files beside the one that is edited. In 1,272 imports of own modules in 12
packages, nearly all modules are files of the project, and 97 % of the first names are names of the module.
Modules and names that other files import weigh more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import PurePath

from fimlsp.languages.python.missing_names.import_table import (
    PACKAGE,
    ImportTable,
    imports_in,
    resolved,
)

KNOWN_MODULE, KNOWN_NAME = 0.98, 0.96
"""The share of imports of own modules in which the module, or the first name, is one that the project has."""

MODULE_WEIGHT, NAME_WEIGHT = 2, 4
"""The weight of an import in another file, beside one for a module or name that nobody imports."""

MOST_TEXTS = 64

LONGEST_LINE = 500

_STATEMENT = re.compile(
    rb"[ \t]*(?:from[ \t]+(?P<module>\.[\w.]*|\w+\.[\w.]*)"
    rb"|from[ \t]+(?P<source>[\w.]+)[ \t]+import[ \t]+\(?[ \t]*"
    rb"(?P<others>(?:\w+,[ \t]*)*)(?P<name>\w*)"
    rb"|import[ \t]+(?P<whole>\w+\.[\w.]*))\Z"
)
_IMPORT = re.compile(rb"[ \t]*(?:from|import)[ \t]")
_NAME = re.compile(rb"\w+")


class ImportTexts:
    """`ExpectedTexts` after *line*, the start of an import, by the *project*."""

    back = 0

    def __init__(self, line: bytes, left: bytes, project: _Project) -> None:
        self._line, self._left, self._project = line, left, project
        self._known = dict[tuple[bytes, bytes], Mapping[bytes, int]]()

    @classmethod
    def at(
        cls, left: bytes, path: PurePath | None, imports: Callable[[], Sequence[ImportTable]]
    ) -> ImportTexts | None:
        """The texts after *left* in the file at *path*; *imports* returns the tables of the other files.

        None outside of an import. O(definitions of the project) in one.
        """
        line = left[max(left.rfind(b"\n") + 1, len(left) - LONGEST_LINE) :]
        return cls(line, left, _Project(imports(), path)) if path and _IMPORT.match(line) else None

    def after(self, text: bytes) -> Mapping[bytes, float]:
        """See `ExpectedTexts`. O(imports of the project) once for each module."""
        code = self._line + text
        if code.endswith((b" import", b",")):
            return {b" " + name: share for name, share in self.after(text + b" ").items()}
        statement = _STATEMENT.match(code)
        if statement is None:
            return {}
        begun = statement["module"] or statement["whole"]
        if begun is None:
            others = {*_NAME.findall(statement["others"])}
            names = self._weights(b"", statement["source"])
            unlisted = {name: weight for name, weight in names.items() if name not in others}
            return _rests(statement["name"], unlisted, KNOWN_NAME)
        ending = b" import " if statement["module"] else b"\n"
        return _rests(begun, self._weights(ending, begun[: begun.rfind(b".") + 1]), KNOWN_MODULE)

    def _weights(self, ending: bytes, module: bytes) -> Mapping[bytes, int]:
        """The modules in the package *module* with *ending*; without an ending, the names of *module*."""
        key = ending, module
        if key not in self._known:
            find = self._project.modules_below if ending else self._project.names_of
            self._known[key] = {name + ending: weight for name, weight in find(module, self._left).items()}
        return self._known[key]


def _rests(begun: bytes, weights: Mapping[bytes, int], share: float) -> Mapping[bytes, float]:
    """The rests of the likeliest of *weights* that start with *begun*, with *share* of all probability."""
    fitting = {
        text[len(begun) :]: n for text, n in weights.items() if text.startswith(begun) and text != begun
    }
    kept, total = Counter(fitting).most_common(MOST_TEXTS), sum(fitting.values())
    return {rest: share * n / total for rest, n in kept}


class _Project:
    """The modules that the file at *path* can import, as far as *tables* know them, by their paths.

    Those are paths without an ending; a package has the path of its folder.
    """

    def __init__(self, tables: Sequence[ImportTable], path: PurePath) -> None:
        self._tables, self._path = tables, path
        lists = chain.from_iterable(table.definitions.values() for table in tables)
        self._modules = {_module_at(file): file for file in {*chain.from_iterable(lists)} - {path}}

    def modules_below(self, package: bytes, left: bytes) -> Mapping[bytes, int]:
        """The modules of *package*, by their names with its own, and their weights.

        Those from which *left* imports already do not count. *package* ends with a dot.
        """
        used, taken = self._uses(), {origin.module for _, origin in imports_in(left) if origin.item}
        below = ((package + b".".join(rest), place) for place, rest in self._below(package))
        return {
            name: 1 + MODULE_WEIGHT * sum(used[key] for key in _keys(place))
            for name, place in below
            if name not in taken and name != package
        }

    def names_of(self, source: bytes, left: bytes) -> Mapping[bytes, int]:
        """The names of the module *source* and their weights, without those that *left* has from there."""
        inside = [*self._below(source)]
        if not inside:
            return {}
        places = {place for place, rest in inside if not rest}
        weights = Counter(
            dict.fromkeys([*(rest[0] for _, rest in inside if rest), *self._defined(places)], 1)
        )
        keys = {source, *chain.from_iterable(map(_keys, places))}
        for module, item in self._origins():
            if item and module in keys:
                weights[item.split()[0]] += NAME_WEIGHT
        taken = {origin.item for _, origin in imports_in(left) if origin.module == source}
        return {name: weight for name, weight in weights.items() if name not in taken}

    def _below(self, module: bytes) -> Iterator[tuple[PurePath, Sequence[bytes]]]:
        """The module itself and those below it, with the parts of their names after its own."""
        is_relative = module.startswith(b".")
        own = resolved(self._path.parent, module).parts if is_relative else _parts(module)
        for place in self._modules:
            parts = place.parts
            starts = (0,) if is_relative else range(len(parts) - len(own) + 1)
            for start in starts:
                if parts[start : start + len(own)] == own:
                    yield place, [part.encode() for part in parts[start + len(own) :]]

    def _defined(self, places: Iterable[PurePath]) -> Iterator[bytes]:
        """The public names that the modules at *places* define."""
        files = {self._modules[place] for place in places}
        for table in self._tables:
            for name, defining in table.definitions.items():
                if not name.startswith(b"_") and not files.isdisjoint(defining):
                    yield name

    def _origins(self) -> Iterator[tuple[bytes | PurePath, bytes]]:
        """The modules of all imports, relative ones as paths, with the imported items."""
        for table in self._tables:
            for importer, (module, item) in chain.from_iterable(table.imports.values()):
                is_relative = module.startswith(b".")
                yield (resolved(importer.parent, module) if is_relative else module), item

    def _uses(self) -> Counter[bytes | PurePath]:
        """The number of imported names by their modules."""
        return Counter(module for module, _ in self._origins())


def _module_at(file: PurePath) -> PurePath:
    return file.parent if file.stem == PACKAGE else file.with_suffix("")


def _parts(module: bytes) -> tuple[str, ...]:
    return tuple(module.decode().rstrip(".").split("."))


def _keys(place: PurePath) -> Iterator[bytes | PurePath]:
    """The keys by which imports may name the module at *place*: its path, and its possible names."""
    yield place
    for size in range(1, len(place.parts)):
        yield ".".join(place.parts[-size:]).encode()
