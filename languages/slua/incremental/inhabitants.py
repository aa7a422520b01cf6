"""Which types have values at a place, with the cheapest text of each.

A number can always be written; a value of an object only be reached, by a path from a variable, through
fields, and through calls whose arguments have values themselves. The least fixed point of these rules is
found in rounds, with the cheapest texts, as in Knuth's generalisation of Dijkstra's algorithm (1977).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from fimlsp.languages.slua.types import BOOLEAN, NUMBER, STRING, VOID, Function, Table, Type

_LITERALS: Mapping[Type, str] = {NUMBER: "0", STRING: '""', BOOLEAN: "true"}
NAMELESS = "\x01{}\x02"
"""Stands for the name of a parameter in a text, until it is known which names are free."""

_MOST_KEPT = 512


@dataclass(frozen=True, eq=False)
class Inhabitants:
    """The types with values in a scope.

    Attributes:
        variables: one variable of each type that has one.
        values: the cheapest text of each type, but for functions, which are found by `value`.
        paths: the cheapest path to each type, from a variable.
        tables: all tables that can be named.
    """

    variables: tuple[tuple[Type, str], ...]
    values: Mapping[Type, str]
    paths: Mapping[Type, str]
    tables: tuple[Table, ...]

    def value(self, type_: Type) -> str | None:
        """The cheapest text of a value of *type_*; None if there is none."""
        known = self.values.get(type_)
        return _function(self, type_) if known is None and isinstance(type_, Function) else known

    def has(self, type_: Type) -> bool:
        """Whether *type_* has a value."""
        return self.value(type_) is not None

    def within(self, parameters: tuple[Type, ...]) -> Inhabitants:
        """In a function with *parameters*, which are `NAMELESS`."""
        known = {type_ for type_, _ in self.variables}
        names = zip(parameters, parameter_names(self, len(parameters)), strict=True)
        added = {type_: name for type_, name in names if type_ not in known}
        return inhabitants((*self.variables, *added.items()), self.tables) if added else self

    def arguments(self, function: Function) -> str | None:
        """The cheapest arguments of a call of *function*; None if a parameter has no value."""
        texts = [self.value(parameter) for parameter in function.parameters]
        return None if None in texts else ",".join(text for text in texts if text is not None)


def parameter_names(scope: Inhabitants, count: int) -> list[str]:
    """What stands for the names of *count* parameters of a function in *scope*."""
    used = sum(name.startswith(NAMELESS[0]) for _, name in scope.variables)
    return [NAMELESS.format(used + number) for number in range(count)]


@lru_cache(_MOST_KEPT)
def inhabitants(variables: tuple[tuple[Type, str], ...], tables: tuple[Table, ...]) -> Inhabitants:
    """The types with values where there are *variables* (one for each type) and *tables*."""
    values: dict[Type, str] = dict(_LITERALS)
    paths: dict[Type, str] = {}
    found = Inhabitants(variables, values, paths, tables)
    for type_, name in variables:
        _offer(paths, type_, name)
    changed = True
    while changed:
        changed = False
        for type_, path in list(paths.items()):
            changed |= _offer(values, type_, path)
            if isinstance(type_, Table):
                for field in type_.fields.values():
                    if not field.optional:
                        changed |= _offer(paths, field.type, f"{path}.{field.name}")
            elif isinstance(type_, Function) and type_.result is not VOID:
                arguments = found.arguments(type_)
                if arguments is not None:
                    changed |= _offer(paths, type_.result, f"{path}({arguments})")
        for table in tables:
            text = None if table.is_object else _table(found, table)
            if text is not None:
                changed |= _offer(values, table, text)
    return found


def _offer(texts: dict[Type, str], type_: Type, text: str) -> bool:
    """Keep *text* for *type_* if it is the cheapest so far, and say whether it is."""
    if type_ in texts and len(texts[type_]) <= len(text):
        return False
    texts[type_] = text
    return True


def _table(scope: Inhabitants, table: Table) -> str | None:
    entries = []
    for field in table.fields.values():
        if not field.optional:
            value = scope.value(field.type)
            if value is None:
                return None
            entries.append(f"{field.name}={value}")
    return f"{{{','.join(entries)}}}"


def _function(scope: Inhabitants, function: Function) -> str | None:
    parameters = ",".join(parameter_names(scope, len(function.parameters)))
    if function.result is VOID:
        return f"function({parameters})end"
    result = scope.values.get(function.result)
    if result is None:
        inner = scope.within(function.parameters)
        result = None if inner is scope else inner.values.get(function.result)
    return None if result is None else f"function({parameters})return {result};end"
