"""A scripting interface: the types and globals that a program gives its scripts, read from a file.

For example:

    --- A creature that acts.
    object Actor {
        --- Its displayed name.
        name: string;
        mutable health: number;
        Hit: (amount: number, by: Actor) -> void;
    };

    --- Calls *body* with the actor at the place, if there is one.
    global WithActorAt: (x: number, y: number, body: (Actor) -> void) -> void;

Values of an `object` are made by the program alone, those of an `interface` by scripts too. An interface
also declares the kinds of scripts, and the part of each that later scripts can use:

    --- The parameters of an effect: each script declares its own.
    open interface Parameters;

    --- The operations on an effect.
    object EffectKind { Apply: (to: Actor, with: Parameters) -> void; };

    --- All effects, by name.
    object Effects { };
    global g_effects: Effects;

    --- A script that adds an effect.
    root effect: NewEffect(Effect) as EffectKind in Effects;

A script of the kind `effect` ends with a call of `NewEffect`, which can be called nowhere else. After a
script with the name `poison`, an `EffectKind` with its own `Parameters` is available as
`g_effects.poison`.

Types are compared by identity, so an interface never changes: an extended one has types of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from fimlsp.errors import UserError
from fimlsp.languages.slua import syntax
from fimlsp.languages.slua.parsing import Declaration, Fault, ScriptSyntaxError, parse_interface
from fimlsp.languages.slua.types import SIMPLE, Field, Function, Table, Type, TypeResolver, parts, suggest

_MOST_KEPT = 64


class InterfaceError(UserError, ValueError):
    """An interface file cannot be used; `faults` has all its faults."""

    def __init__(self, name: str, faults: tuple[Fault, ...]) -> None:
        super().__init__("\n".join(f"{name}:{fault}" for fault in faults))
        self.faults = faults


class UnknownRootError(UserError, ValueError):
    """An interface has no such kind of scripts."""


@dataclass(frozen=True, slots=True)
class Root:
    """A kind of scripts.

    Attributes:
        name: of the kind.
        function: a script of it ends with a call of this function, which nothing else calls.
        type: of the argument.
        offered: the type with which later scripts see such a script; None if they do not.
        among: the type of the object that has it, under the name of the script.
        documentation: its description for readers.
    """

    name: str
    function: str
    type: Table
    offered: Table | None = None
    among: Table | None = None
    documentation: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class Interface:
    """The types and globals that scripts are given.

    Attributes:
        types: tables by name.
        globals: the types of variables that every script has, by name.
        documentation: of the globals, by name.
        roots: the kinds of scripts, by name.
        open_types: names of those types whose fields each script declares itself, before anything else.
    """

    types: Mapping[str, Table] = field(default_factory=dict)
    globals: Mapping[str, Type] = field(default_factory=dict)
    documentation: Mapping[str, str] = field(default_factory=dict)
    roots: Mapping[str, Root] = field(default_factory=dict)
    open_types: frozenset[str] = frozenset()

    def endings(self, root: str | None) -> Mapping[str, Root]:
        """The calls that a script may end with, by the names of their functions.

        A script of the kind *root* has to end with that of its own; if *root* is None, it may end with any.

        Raises:
            UnknownRootError: the kind is unknown.
        """
        if root is not None and root not in self.roots:
            raise UnknownRootError(f"unknown kind of scripts `{root}`{suggest(root, sorted(self.roots))}")
        return {kind.function: kind for kind in self.roots.values() if root in (None, kind.name)}


def read_interface(text: str, name: str = "interface") -> Interface:
    """The interface that *text* declares; *name* is that of its file, for messages.

    Raises:
        InterfaceError: the text has faults.
    """
    try:
        declarations = parse_interface(text)
    except ScriptSyntaxError as error:
        raise InterfaceError(name, (error.fault,)) from None
    reader = _Reader()
    interface = reader.read(declarations)
    if reader.faults:
        raise InterfaceError(name, tuple(sorted(reader.faults)))
    return interface


class _Reader:
    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self._types: dict[str, Table] = {}
        self._resolver = TypeResolver(self._report, lambda: self._types)

    def _report(self, at: syntax.Position, message: str) -> None:
        self.faults.append(Fault(at, message))

    def read(self, declarations: Sequence[Declaration]) -> Interface:
        """The interface; only valid if there are no faults."""
        tables = [written for written in declarations if isinstance(written, syntax.TableSyntax)]
        self._read_tables(tables)
        types: dict[str, Type] = {}
        documentation: dict[str, str] = {}
        for written in declarations:
            if isinstance(written, syntax.GlobalSyntax):
                self._read_global(written, types)
                documentation[written.name] = written.documentation
        written_roots = [written for written in declarations if isinstance(written, syntax.RootSyntax)]
        open_types = frozenset(written.name for written in tables if written.is_left_open)
        roots = self._roots(written_roots, types, open_types)
        return Interface(self._types, types, documentation, roots, open_types)

    def _read_global(self, written: syntax.GlobalSyntax, types: dict[str, Type]) -> None:
        """Add the type of a global to *types*."""
        type_ = self._resolver.value_type(written.type)
        if written.name in types:
            self._report(written.at, f"global `{written.name}` is already declared")
        if type_ is not None:
            self._resolver.check_given_value(written.at, type_)
            types[written.name] = type_

    def _read_tables(self, tables: Sequence[syntax.TableSyntax]) -> None:
        types = self._types
        for written in tables:
            if written.name in SIMPLE or written.name in types:
                self._report(written.at, f"type `{written.name}` is already declared")
            types[written.name] = Table(written.name, written.is_object, documentation=written.documentation)
        for written in tables:
            self._resolver.fill(types[written.name], written)
        for written in tables:
            self._resolver.check_table(types[written.name], written)

    def _check_ending(self, root: syntax.RootSyntax, type_: Table | None, open_types: frozenset[str]) -> None:
        """Report *type_* if the fields of an open type could leave it without values."""
        for part in () if type_ is None else parts(type_):
            made = part.result if isinstance(part, Function) else part
            if any(isinstance(held, Table) and held.name in open_types for held in parts(made)):
                self._report(root.at, f"{type_} cannot hold or return values of an open type")
                return

    def _roots(
        self, written: Sequence[syntax.RootSyntax], taken: Mapping[str, Type], open_types: frozenset[str]
    ) -> dict[str, Root]:
        roots: dict[str, Root] = {}
        functions = set(taken)
        for kind in written:
            if kind.name in roots:
                self._report(kind.at, f"kind of scripts `{kind.name}` is already declared")
            if kind.function in functions:
                self._report(kind.at, f"global `{kind.function}` is already declared")
            functions.add(kind.function)
            type_ = self._table(kind.type, is_object=False)
            self._check_ending(kind, type_, open_types)
            offered, among = (self._table(part, is_object=True) for part in kind.offered or (None, None))
            if type_ is not None:
                roots[kind.name] = Root(kind.name, kind.function, type_, offered, among, kind.documentation)
        return roots

    def _table(self, written: syntax.TypeSyntax | None, *, is_object: bool) -> Table | None:
        type_ = None if written is None else self._resolver.resolve(written)
        if isinstance(type_, Table) and type_.is_object is is_object:
            return type_
        if written is not None and type_ is not None:
            self._report(written.at, f"expected {'an object' if is_object else 'an interface'}")
        return None


class NameTakenError(UserError, ValueError):
    """There is already a script with this name."""


@lru_cache(_MOST_KEPT)
def filled(interface: Interface, name: str, fields: tuple[Field, ...]) -> Interface:
    """*interface* for a script that gives its open type *name* these *fields*."""
    tables = _copied_tables(interface)
    _fill(tables[name], fields, tables)
    return _with(interface, tables, interface.open_types - {name})


def extended(interface: Interface, root: Root, name: str, own: Interface) -> Interface:
    """*interface* for scripts after one of the kind *root* with the name *name*.

    *own* is the interface of that script, with the open types that it has filled (`Checked.interface`).
    If the kind offers nothing, the interface is the same.

    Raises:
        NameTakenError: there is already a script with that name.
    """
    if root.offered is None or root.among is None:
        return interface
    tables = _copied_tables(interface)
    among = tables[root.among.name]
    if name in among.fields:
        raise NameTakenError(f"{among} already has a field `{name}`")
    mine = {open_type: Table(f"{name}_{open_type}") for open_type in sorted(interface.open_types)}
    seen = {**tables, **mine}
    for open_type, table in mine.items():
        _fill(table, own.types[open_type].fields.values(), seen)
    offered = Table(f"{name}_{root.offered}", is_object=True, documentation=root.offered.documentation)
    _fill(offered, root.offered.fields.values(), seen)
    among.fields = {**among.fields, name: Field(name, offered)}
    added = {table.name: table for table in (*mine.values(), offered)}
    return _with(interface, {**tables, **added}, interface.open_types)


def _copied_tables(interface: Interface) -> dict[str, Table]:
    """Copies of the tables of *interface*, by name, which refer to each other."""
    tables = {
        name: Table(name, table.is_object, documentation=table.documentation)
        for name, table in interface.types.items()
    }
    for name, table in interface.types.items():
        _fill(tables[name], table.fields.values(), tables)
    return tables


def _fill(table: Table, fields: Iterable[Field], tables: Mapping[str, Table]) -> None:
    table.fields = {field.name: replace(field, type=_with_tables_of(field.type, tables)) for field in fields}


def _with_tables_of(type_: Type, tables: Mapping[str, Table]) -> Type:
    """*type_* with every table replaced by the one of the same name in *tables*."""
    if isinstance(type_, Table):
        return tables[type_.name]
    if isinstance(type_, Function):
        parameters = tuple(_with_tables_of(parameter, tables) for parameter in type_.parameters)
        return Function(parameters, _with_tables_of(type_.result, tables))
    return type_


def _with(interface: Interface, tables: Mapping[str, Table], open_types: frozenset[str]) -> Interface:
    roots = {
        name: replace(
            root,
            type=tables[root.type.name],
            offered=root.offered and tables[root.offered.name],
            among=root.among and tables[root.among.name],
        )
        for name, root in interface.roots.items()
    }
    types = {name: _with_tables_of(type_, tables) for name, type_ in interface.globals.items()}
    return Interface(tables, types, interface.documentation, roots, open_types)


LANGUAGE = """\
Write a script in sLua, which is Lua with types.

- Types: number, string, boolean, those declared below, functions such as (number, Actor) -> boolean, and your
  own: interface Name { field: number; optional other: string; };
- Statements: local name: type = value; assignments; calls; do, if, for i = a, b do, while, return, break.
  Each ends with a semicolon, also after `end`.
- Expressions are those of Lua, without //, # and bit operators. Texts stand in double quotes. A function has
  no types: function(a, b) ... end takes them from its place.
- A condition may be any value. An optional field is true if it is present.
- There are no comments, no nil, no indices, no methods with a colon, and no recursion.
- Use only the names that are declared below, and your own. Objects come from the program alone.
"""


def described(interface: Interface, text: str, root: str | None) -> str:
    """The language and *interface*, whose declarations are *text*, for scripts of the kind *root* if given.

    Raises:
        UnknownRootError: The interface does not declare that kind.
    """
    endings = interface.endings(root) if root is not None else {}
    calls = " or ".join(f"{name}({kind.type})" for name, kind in sorted(endings.items()))
    last = f"- The script ends with one call of {calls}, which is allowed nowhere else.\n" if calls else ""
    return f"{LANGUAGE}{last}\nThe declarations:\n\n{text.strip()}\n"
