"""What scripts add to their interface: fields of the types that it leaves open, and what later ones may use.

Types are compared by identity, so an interface never changes: one with more in it has types of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

from fimlsp.errors import UserError
from fimlsp.languages.slua.interface import Interface, Root
from fimlsp.languages.slua.types import Field, Function, Table, Type

_MOST_KEPT = 64


class NameTakenError(UserError, ValueError):
    """A script with this name was there before."""


@lru_cache(_MOST_KEPT)
def filled(interface: Interface, name: str, fields: tuple[Field, ...]) -> Interface:
    """*interface* for a script that says that its open type *name* has *fields*."""
    tables = _copies(interface)
    _fill(tables[name], fields, tables)
    return _with(interface, tables, interface.open_types - {name})


def extended(interface: Interface, root: Root, name: str, own: Interface) -> Interface:
    """*interface* for scripts after one of the kind *root*, which has the name *name*.

    *own* is the interface of that script, with the types that it has filled (`Checked.interface`). If the
    kind offers nothing, the interface is the same.

    Raises:
        NameTakenError: a script of that name has been there.
    """
    if root.offered is None or root.among is None:
        return interface
    tables = _copies(interface)
    among = tables[root.among.name]
    if name in among.fields:
        raise NameTakenError(f"{among} already has a field `{name}`")
    mine = {left_open: Table(f"{name}_{left_open}") for left_open in sorted(interface.open_types)}
    seen = {**tables, **mine}
    for left_open, table in mine.items():
        _fill(table, own.types[left_open].fields.values(), seen)
    offered = Table(f"{name}_{root.offered}", is_object=True, documentation=root.offered.documentation)
    _fill(offered, root.offered.fields.values(), seen)
    among.fields = {**among.fields, name: Field(name, offered)}
    added = {table.name: table for table in (*mine.values(), offered)}
    return _with(interface, {**tables, **added}, interface.open_types)


def _copies(interface: Interface) -> dict[str, Table]:
    """Tables like those of *interface*, by name, which refer to each other."""
    tables = {
        name: Table(name, table.is_object, documentation=table.documentation)
        for name, table in interface.types.items()
    }
    for name, table in interface.types.items():
        _fill(tables[name], table.fields.values(), tables)
    return tables


def _fill(table: Table, fields: Iterable[Field], tables: Mapping[str, Table]) -> None:
    table.fields = {field.name: replace(field, type=_among(field.type, tables)) for field in fields}


def _among(type_: Type, tables: Mapping[str, Table]) -> Type:
    """*type_*, of *tables* those that it names."""
    if isinstance(type_, Table):
        return tables[type_.name]
    if isinstance(type_, Function):
        parameters = tuple(_among(parameter, tables) for parameter in type_.parameters)
        return Function(parameters, _among(type_.result, tables))
    return type_


def _with(interface: Interface, tables: Mapping[str, Table], left_open: frozenset[str]) -> Interface:
    roots = {
        name: replace(
            root,
            type=tables[root.type.name],
            offered=root.offered and tables[root.offered.name],
            among=root.among and tables[root.among.name],
        )
        for name, root in interface.roots.items()
    }
    found = {name: _among(type_, tables) for name, type_ in interface.globals.items()}
    return Interface(tables, found, interface.documentation, roots, left_open)
