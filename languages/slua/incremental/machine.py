"""The parser's state between two lexemes: the core's stack of tasks, names in scope, types with values.

A number can always be written. A value of an object can only be reached by a path from a variable, through
fields, and through calls whose arguments have values themselves. The least fixed point of these rules is
computed in rounds with the cheapest texts (Knuth, "A generalization of Dijkstra's algorithm", 1977).

A task knows by types which lexemes may come. A path such as `a.b(c).d` is followed through the types of its
parts. Its first part is only accepted if some continuation leads to the target type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import ClassVar

from fimlsp.languages.slua.interface import Interface
from fimlsp.languages.slua.lexemes import ExpectedTokens
from fimlsp.languages.slua.scopes import Variable, given_variables
from fimlsp.languages.slua.types import BOOLEAN, NUMBER, STRING, VOID, Function, Table, Type
from fimlsp.languages.typed import machine as core
from fimlsp.languages.typed.lexicon import PLACEHOLDER
from fimlsp.languages.typed.machine import Outline as Outline
from fimlsp.languages.typed.machine import Stack as Stack

_LITERALS: Mapping[Type, str] = {NUMBER: "0", STRING: '""', BOOLEAN: "true"}
_MOST_KEPT = 512


@dataclass(frozen=True, eq=False)
class Inhabitants:
    """The types with values in a scope.

    Attributes:
        variables: one variable for each type that has one.
        values: the cheapest text of each type except functions, which `value` computes.
        paths: the cheapest path to each type, starting from a variable.
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
        """True if *type_* has a value."""
        return self.value(type_) is not None

    def in_function_with(self, parameters: tuple[Type, ...]) -> Inhabitants:
        """The types with values in a function with *parameters*, whose names are placeholders."""
        known = {type_ for type_, _ in self.variables}
        names = zip(parameters, parameter_names(self, len(parameters)), strict=True)
        added = {type_: name for type_, name in names if type_ not in known}
        return inhabitants((*self.variables, *added.items()), self.tables) if added else self

    def arguments(self, function: Function) -> str | None:
        """The cheapest arguments of a call of *function*; None if a parameter type has no value."""
        texts = [self.value(parameter) for parameter in function.parameters]
        return None if None in texts else ",".join(text for text in texts if text is not None)


def parameter_names(scope: Inhabitants, count: int) -> list[str]:
    """Placeholders for the names of *count* parameters of a function in *scope*."""
    used = sum(name.startswith(PLACEHOLDER[0]) for _, name in scope.variables)
    return [PLACEHOLDER.format(used + number) for number in range(count)]


@lru_cache(_MOST_KEPT)
def inhabitants(variables: tuple[tuple[Type, str], ...], tables: tuple[Table, ...]) -> Inhabitants:
    """The types with values in a scope with *variables* (one for each type) and *tables*."""
    values: dict[Type, str] = dict(_LITERALS)
    paths: dict[Type, str] = {}
    scope = Inhabitants(variables, values, paths, tables)
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
                arguments = scope.arguments(type_)
                if arguments is not None:
                    changed |= _offer(paths, type_.result, f"{path}({arguments})")
        for table in tables:
            text = None if table.is_object else _table(scope, table)
            if text is not None:
                changed |= _offer(values, table, text)
    return scope


def _offer(texts: dict[Type, str], type_: Type, text: str) -> bool:
    """Keep *text* for *type_* if it is the cheapest so far. Returns True if it is."""
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
        inner = scope.in_function_with(function.parameters)
        result = None if inner is scope else inner.values.get(function.result)
    return None if result is None else f"function({parameters})return {result};end"


@dataclass(frozen=True, eq=False)
class Environment:
    """Variables and types by name, and the function around the place.

    Attributes:
        interface: the interface that the script is given.
        variables: all variables in scope.
        types: all tables in scope.
        result: the result type of the surrounding function; None outside of functions.
        loops: number of surrounding loops within that function.
        slots: number of Lua's local variables in use in that function.
        outer_slots: number in use in the functions around it.
    """

    interface: Interface
    variables: Mapping[str, Variable]
    types: Mapping[str, Table]
    result: Type | None = None
    loops: int = 0
    slots: int = 0
    outer_slots: int = 0

    @staticmethod
    def of(interface: Interface) -> Environment:
        """The scope at the start of a script."""
        return Environment(interface, given_variables(interface), dict(interface.types))

    @property
    def unfilled(self) -> frozenset[str]:
        """The open types whose fields the script may still define, as it has declared no other type yet."""
        has_own_types = len(self.types) > len(self.interface.types)
        return frozenset() if has_own_types else self.interface.open_types

    @cached_property
    def inhabitants(self) -> Inhabitants:
        """The types with values here."""
        first: dict[Type, str] = {}
        for variable in self.variables.values():
            if variable.type is not VOID:
                first.setdefault(variable.type, variable.name)
        return inhabitants(tuple(first.items()), tuple(self.types.values()))

    def declare(self, variable: Variable) -> Environment:
        """With *variable* added."""
        return replace(self, variables={**self.variables, variable.name: variable}, slots=self.slots + 1)

    def declare_type(self, table: Table) -> Environment:
        """With *table* added."""
        return replace(self, types={**self.types, table.name: table})

    def in_loop(self, slots: int) -> Environment:
        """In the body of a loop, which takes so many *slots* for itself."""
        return replace(self, loops=self.loops + 1, slots=self.slots + slots)

    def in_function(self, result: Type) -> Environment:
        """In the body of a function that returns *result*."""
        return replace(self, result=result, loops=0, slots=0, outer_slots=self.outer_slots + self.slots)


MOST_LEVELS, MOST_HELD = 140, 200
"""Levels within each other, and values held at once, beyond which only required lexemes are accepted.

Lua has limits for both. The distance to those of the checker is room for what a text still needs.
"""


class Task(core.Task["Machine"]):
    """Something to read in a script; its size is the number of levels that Lua counts around it."""

    size: ClassVar[int] = 0


class Step(core.Step["Machine"], Task):
    """A task that reads nothing."""

    size: ClassVar[int] = 0


_OPENING = frozenset(("(", "{"))
_CLOSING = frozenset((")", "}", "then", "do", "end"))


@dataclass(frozen=True, slots=True)
class Sign(core.Sign["Machine"], Task):
    """A keyword or sign. After it the expression has *weight*, if that is given."""

    weight: int | None = None

    def outline(self, below: Outline) -> Outline:
        """As in `Task`; a closer whose opener is still to come does not count."""
        if self.text in _OPENING:
            return below[1:]
        return (self.text, *below) if self.text in _CLOSING else below

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        del token
        return machine if self.weight is None else machine.with_weight(self.weight)


@dataclass(frozen=True, slots=True)
class LeaveScope(Step):
    """The end of a scope: restores the environment around it, and its weight."""

    size: ClassVar[int] = 1
    environment: Environment
    weight: int

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        return machine.with_environment(self.environment).with_weight(self.weight)


@dataclass(frozen=True, slots=True)
class LeaveFunction(LeaveScope):
    """The end of a function, a level with the expression that it is."""

    size: ClassVar[int] = 0


@dataclass(frozen=True, slots=True)
class SetWeight(Step):
    """The end of an operand: restores the weight of the expression before it."""

    weight: int

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        return machine.with_weight(self.weight)


@dataclass(frozen=True, slots=True)
class Room(SetWeight):
    """The end of an operand for which the translation may need one more level."""

    size: ClassVar[int] = 1


@dataclass(frozen=True, slots=True)
class Value:
    """A value that was read, of *type*; it may be absent if it is *optional*."""

    type: Type
    optional: bool = False


@dataclass(frozen=True)
class Machine(core.Machine):
    """A place of a script, between two lexemes.

    Attributes:
        environment: the scope.
        body: makes the task of a function's body; its argument is True if the body has to return.
        value: the expression that was read last.
        returned: True if every way through the block that was closed last ends with `return`.
        weight: number of values that the surrounding expression holds: functions with their arguments,
            parts of a joined text, tables, and the left operands of operators.
    """

    expects: ClassVar[type[ExpectedTokens]] = ExpectedTokens
    most_height: ClassVar[int] = MOST_LEVELS

    environment: Environment
    body: Callable[[bool], Task]
    value: Value | None = None
    returned: bool = False
    weight: int = 0

    def on(self, stack: Stack | None) -> Machine:
        """As in the core."""
        return Machine(stack, self.environment, self.body, self.value, self.returned, self.weight)

    @property
    def taken_names(self) -> frozenset[str]:
        """As in the core."""
        return frozenset(self.environment.variables)

    def with_environment(self, environment: Environment) -> Machine:
        """With another environment."""
        return Machine(self.stack, environment, self.body, self.value, self.returned, self.weight)

    def with_weight(self, weight: int) -> Machine:
        """With another weight."""
        return Machine(self.stack, self.environment, self.body, self.value, self.returned, weight)

    def with_value(self, value: Value) -> Machine:
        """After the expression *value*."""
        return Machine(self.stack, self.environment, self.body, value, self.returned, self.weight)

    @property
    def is_full(self) -> bool:
        """As in the core; also if the function holds many values."""
        return self.height > self.most_height or self.weight + self.environment.slots > MOST_HELD
