"""Arguments, statements and imports that the project makes likely, as texts for a model that hardly sees why.

A call mostly gets the variables that have the names of the parameters. `__init__` keeps its parameters as
attributes. A module with a function `main` ends with a call of it. All this depends on the text at the
moment, so `LikelyTexts` reads it anew after each token. It knows no more of the code than `code_state.py`, so
it works in broken files as well.

`ImportTexts` has the modules of the project, and their names, for an import that is being written. A small
network does not know the files beside the one that is edited. In 1,272 imports of own modules in 12 packages,
nearly all modules are files of the project, and 97 % of the first names are names of the module. Modules and
names that other files import weigh more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain, takewhile
from pathlib import PurePath
from typing import NamedTuple

from fimlsp.languages.python.missing_names.import_table import (
    INITIALIZER,
    PACKAGE,
    ImportTable,
    Required,
    end_of_bracket,
    imports_in,
    positional_parameters,
    required_parameters,
    resolved,
)
from fimlsp.languages.python.names.code_state import CodeState, NameRole, state_at_end
from fimlsp.languages.python.names.symbol_tables import MOST_BYTES, header_around, names_above


class ArgumentShares(NamedTuple):
    """Probabilities of the arguments of a call, counted in 12 packages.

    Attributes:
        all: they are the required parameters, by the number of these, if all are bound above.
        first: the first one is the first parameter, if not all are bound.
    """

    all: Sequence[float]
    first: float


OWN_METHOD = ArgumentShares((0.88, 0.86, 0.78), 0.77)
FUNCTION = ArgumentShares((0.79, 0.68, 0.55), 0.77)
ELSEWHERE = ArgumentShares((0.75, 0.6, 0.5), 0.55)
"""Calls of functions that other files define, and of methods of other objects."""


class StatementShares(NamedTuple):
    """Probabilities of statements, counted in 12 packages; the last two in 159 files with `main`.

    Attributes:
        first_attribute: `__init__` starts with an attribute for its first parameter.
        attribute_after_call: the same after a call in a base class.
        next_attribute: an attribute for the next parameter follows an attribute for the one before.
        guard: a definition of `main` that needs no arguments is followed by a check of the module's name.
        call: such a check holds the call of `main` alone.
    """

    first_attribute: float = 0.31
    attribute_after_call: float = 0.5
    next_attribute: float = 0.54
    guard: float = 0.77
    call: float = 0.79


STATEMENTS = StatementShares()

Signatures = Callable[[bytes], Sequence[Required]]

LONGEST_FUNCTION = 20_000
"""Bytes before the cursor in which the function around it is searched."""

LONGEST_CALL = 400
"""Bytes of a call before the cursor."""

_ATTRIBUTE = re.compile(rb"(\w+)\.(\w+)(?::[^=\n]*)? = (\w+)\Z")
_BASE_CALL = re.compile(rb"super\(\)|[\w.]+\.__init__\(")
_MAIN = re.compile(rb"^def main\(", re.M)
_STEPS = {**dict.fromkeys(b"([{", 1), **dict.fromkeys(b")]}", -1)}


@dataclass(frozen=True)
class LikelyTexts:
    """`ExpectedTexts` that are likely after *left*, which ends with *state*, before *right*.

    *elsewhere* is as in `at`.
    """

    left: bytes
    right: bytes
    state: CodeState
    elsewhere: Signatures
    back: int = 0
    _known: dict[bytes, tuple[Required, ArgumentShares]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @classmethod
    def at(cls, left: bytes, right: bytes, elsewhere: Signatures = lambda _: ()) -> LikelyTexts | None:
        """The texts between *left* and *right*; None in large files.

        *elsewhere* returns the required parameters of all definitions of a name in other files.
        """
        is_small = len(left) + len(right) <= MOST_BYTES
        return cls(left, right, state_at_end(left), elsewhere) if is_small else None

    def after(self, text: bytes) -> Mapping[bytes, float]:
        """See `ExpectedTexts`. O(len(text)), and O(file) once for each function that is called."""
        state = self.state.feed(text)
        if state.quote or (state.brackets and state.role is not NameRole.ARGUMENT):
            return {}
        code = self.left[-LONGEST_FUNCTION:] + text
        line_start = code.rfind(b"\n") + 1
        above, typed = code[:line_start], code[line_start:].lstrip()
        column = len(code) - line_start - len(typed)
        if state.brackets:
            return self._arguments(state.callee, code[-LONGEST_CALL:], names_above(above, column))
        return {
            whole[len(typed) :]: share
            for whole, share in _statements(above, column, self._below).items()
            if whole.startswith(typed) and whole != typed
        }

    @cached_property
    def _below(self) -> bytes:
        """The code below, as far as the statements here depend on it."""
        return self.right[:LONGEST_CALL] if self.right.strip() else b""

    def _arguments(self, callee: bytes, code: bytes, bound: frozenset[bytes]) -> Mapping[bytes, float]:
        """The rest of the arguments in a call of *callee* at the end of *code*; the names *bound* exist."""
        start = _opened(code)
        if not callee or start is None:
            return {}
        if callee not in self._known:
            self._known[callee] = self._required(callee)
        required, shares = self._known[callee]
        known, given = [*takewhile(bound.__contains__, required)], code[start:]
        is_all = len(known) == len(required)
        whole = b", ".join(known if is_all else known[:1])
        if not whole.startswith(given) or given == whole:
            return {}
        share = shares.all[min(len(required), len(shares.all)) - 1] if is_all else shares.first
        return {whole[len(given) :]: share}

    def _required(self, callee: bytes) -> tuple[Required, ArgumentShares]:
        """The required parameters of *callee*, defined here or in another file, and the shares of a call."""
        owner, _, name = callee.rpartition(b".")
        is_own = owner in (b"self", b"cls")
        key = b"." * bool(owner) + name
        here = required_parameters(self.left + self.right, key)
        if here is not None and (is_own or not owner):
            return here, OWN_METHOD if owner else FUNCTION
        there = set(self.elsewhere(key)) | ({here} if here is not None else set())
        is_visible = bool(owner) or any(name == imported for imported, _ in imports_in(self.left))
        return (there.pop() if len(there) == 1 and is_visible else ()), ELSEWHERE


@lru_cache(maxsize=8)
def _statements(above: bytes, column: int, below: bytes) -> Mapping[bytes, float]:
    """The statements that may stand between *above* and *below*, in a line that is indented by *column*.

    Cached, as all steps in a line have the same.
    """
    if column == 0:
        return {} if below or b"__name__" in above or not _has_main(above) else _main_guard(above)
    previous = above.rstrip().rpartition(b"\n")[2]
    if previous.startswith(b"if __name__ ==") and _has_main(above):
        return {b"main()": STATEMENTS.call}
    header = header_around(above, column)
    if header is None or header["name"] != INITIALIZER:
        return {}
    return _attributes(above[header.start() :], previous.strip(), below)


def _main_guard(code: bytes) -> Mapping[bytes, float]:
    """The check of the module's name, with the quotes of *code*."""
    quote = b"'" if code.count(b"'") > code.count(b'"') else b'"'
    return {b"if __name__ == %b__main__%b:\n" % (quote, quote): STATEMENTS.guard}


def _has_main(code: bytes) -> bool:
    """True if *code* defines a function `main` that needs no arguments."""
    return _MAIN.search(code) is not None and required_parameters(code, b"main") == ()


def _attributes(function: bytes, previous: bytes, below: bytes) -> Mapping[bytes, float]:
    """An attribute for the first parameter that *function*, which ends with *previous*, and *below* lack."""
    end = end_of_bracket(function, function.index(b"(") + 1)
    receiver, *names = [parameter.name for parameter in positional_parameters(function)] or [b""]
    around = function[end:], below
    name = next((name for name in names if not any(_has_word(part, name) for part in around)), b"")
    last = _ATTRIBUTE.match(previous)
    if not name:
        return {}
    if last is not None and last[1] == receiver and last[2].lstrip(b"_") == last[3]:
        marks = last[2].removesuffix(last[3])
        return {b"%b.%b%b = %b\n" % (receiver, marks, name, name): STATEMENTS.next_attribute}
    is_after_call = _BASE_CALL.match(previous) is not None
    if not is_after_call and not previous.endswith((b":", b'"""')):
        return {}
    share = STATEMENTS.attribute_after_call if is_after_call else STATEMENTS.first_attribute
    return {b"%b.%b = %b\n" % (receiver, name, name): share}


def _opened(text: bytes) -> int | None:
    """The offset after the bracket that is open at the end of *text*; None if there is none, or a string."""
    depth = 0
    for offset in range(len(text) - 1, -1, -1):
        depth -= _STEPS.get(text[offset], 0)
        if text[offset] in b"\"'#":
            return None
        if depth < 0:
            return offset + 1
    return None


def _has_word(text: bytes, word: bytes) -> bool:
    return re.search(rb"(?<![\w\x80-\xff])%b(?![\w\x80-\xff])" % re.escape(word), text) is not None


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
