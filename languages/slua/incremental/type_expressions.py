"""The tasks of type expressions: names, function types, and the tables that scripts declare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol

from fimlsp.languages.slua.incremental.machine import Environment, Machine, Outline, Sign, Task
from fimlsp.languages.slua.interface import filled
from fimlsp.languages.slua.lexemes import ExpectedTokens
from fimlsp.languages.slua.types import (
    MOST_PARAMETERS,
    NUMBER,
    SIMPLE,
    VOID,
    Field,
    Function,
    Table,
    Type,
    holds_functions,
)

_MOST_KEPT = 64


class Purpose(Protocol):
    """The construct that a type belongs to."""

    def outline(self, below: Outline) -> Outline:
        """The closers that are still to come after the type."""

    def allows(self, machine: Machine, type_: Type) -> bool:
        """True if *type_* is allowed."""

    def allows_functions(self) -> bool:
        """True if a function type is allowed."""

    def then(self, machine: Machine, type_: Type) -> Machine:
        """The state after the type, which is *type_*."""


@lru_cache(_MOST_KEPT)
def named_types(environment: Environment) -> Mapping[str, Type]:
    """The types of values that have names."""
    types: dict[str, Type] = {**SIMPLE, **environment.types}
    return {name: type_ for name, type_ in types.items() if type_ is not VOID}


@lru_cache(_MOST_KEPT)
def plain_types(environment: Environment) -> Mapping[str, Type]:
    """The types that functions of scripts may take and return."""
    return {
        name: type_
        for name, type_ in named_types(environment).items()
        if not holds_functions(type_) and not (isinstance(type_, Table) and type_.is_open)
    }


@dataclass(frozen=True, slots=True)
class WrittenType(Task):
    """A type."""

    purpose: Purpose

    def outline(self, below: Outline) -> Outline:
        """As in `Task`."""
        return self.purpose.outline(below)

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        types = named_types(machine.environment).items()
        words = {name for name, type_ in types if self.purpose.allows(machine, type_)}
        return ExpectedTokens(frozenset(words | ({"("} if self.purpose.allows_functions() else set())))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        if token == "(":
            return machine.push(ParameterTypes(self.purpose))
        return self.purpose.then(machine, named_types(machine.environment)[token])

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        del machine
        return NUMBER.name


@dataclass(frozen=True, slots=True)
class ParameterTypes(Task):
    """A parameter (its name, if it has one, or its type), or the end of the list."""

    purpose: Purpose
    types: tuple[Type, ...] = ()

    def outline(self, below: Outline) -> Outline:
        """As in `Task`."""
        return (")", *self.purpose.outline(below))

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        words = set(plain_types(machine.environment)) | (set() if self.types else {")"})
        return ExpectedTokens(frozenset(words), taken_names=frozenset())

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        if token == ")":
            return machine.push(Sign("->"), ResultType(self.purpose, self.types))
        return machine.push(AfterParameter(self.purpose, self.types, token))

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        del machine
        return NUMBER.name if self.types else ")"


@dataclass(frozen=True, slots=True)
class AfterParameter(Task):
    """After a word that is the type of a parameter or, if a colon follows, its name."""

    purpose: Purpose
    before: tuple[Type, ...]
    word: str
    is_type: bool = False

    def outline(self, below: Outline) -> Outline:
        """As in `Task`."""
        return (")", *self.purpose.outline(below))

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        words = set() if self.is_type else {":"}
        if self.word in plain_types(machine.environment):
            words |= {")", ","} if len(self.before) + 1 < MOST_PARAMETERS else {")"}
        return ExpectedTokens(frozenset(words))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        if token == ":":
            return machine.push(NamedParameterType(self.purpose, self.before))
        types = (*self.before, plain_types(machine.environment)[self.word])
        if token == ",":
            return machine.push(ParameterTypes(self.purpose, types))
        return machine.push(Sign("->"), ResultType(self.purpose, types))

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        return ")" if self.word in plain_types(machine.environment) else ":"


@dataclass(frozen=True, slots=True)
class NamedParameterType(Task):
    """The type of a parameter with a name."""

    purpose: Purpose
    before: tuple[Type, ...]

    def outline(self, below: Outline) -> Outline:
        """As in `Task`."""
        return (")", *self.purpose.outline(below))

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        return ExpectedTokens(frozenset(plain_types(machine.environment)))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        return machine.push(AfterParameter(self.purpose, self.before, token, is_type=True))

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        del machine
        return NUMBER.name


@dataclass(frozen=True, slots=True)
class ResultType(Task):
    """The result type of a function with parameters of *types*."""

    purpose: Purpose
    types: tuple[Type, ...]

    def outline(self, below: Outline) -> Outline:
        """As in `Task`."""
        return self.purpose.outline(below)

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        results = {**plain_types(machine.environment), VOID.name: VOID}.items()
        allows = self.purpose.allows
        return ExpectedTokens(
            frozenset(n for n, result in results if allows(machine, Function(self.types, result)))
        )

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        result = VOID if token == VOID.name else named_types(machine.environment)[token]
        return self.purpose.then(machine, Function(self.types, result))

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        del machine
        return VOID.name


@dataclass(frozen=True, slots=True)
class TableName(Task):
    """The name of a declared table; *unfilled* are the open types of the interface."""

    unfilled: frozenset[str] = frozenset()

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        return ExpectedTokens(self.unfilled, taken_names=frozenset((*machine.environment.types, *SIMPLE)))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        table = Table(token, is_open=True)
        around, fields = machine.environment, FieldDeclarations(table, is_plain=token in self.unfilled)
        return machine.with_environment(around.declare_type(table)).push(Sign("{"), fields)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        if self.unfilled:
            return min(self.unfilled)
        taken = machine.environment.types.keys() | SIMPLE.keys()
        return next(name for name in (f"T{n or ''}" for n in range(len(taken) + 1)) if name not in taken)


@dataclass(frozen=True, slots=True)
class FieldDeclarations(Task):
    """The fields of *table*, which is being declared, and the modifiers of the next one.

    *is_plain*: True for an open type of the interface, which holds no functions.
    """

    table: Table
    is_plain: bool = False
    fields: tuple[Field, ...] = ()
    modifiers: frozenset[str] = frozenset()

    def outline(self, below: Outline) -> Outline:
        """As in `Task`."""
        return ("}", *below)

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        del machine
        words = {"mutable", "optional"} | (set() if self.modifiers else {"}"})
        return ExpectedTokens(frozenset(words), taken_names=frozenset(field.name for field in self.fields))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        if token == "}" and self.is_plain:
            interface = filled(machine.environment.interface, self.table.name, self.fields)
            return machine.with_environment(Environment.of(interface))
        if token == "}":
            return machine.with_environment(machine.environment.declare_type(self._whole()))
        if token in ("mutable", "optional"):
            return machine.push(replace(self, modifiers=self.modifiers | {token}))
        return machine.push(Sign(":"), WrittenType(FieldType(self, token)))

    def _whole(self) -> Table:
        """The complete table; fields that refer to the open one refer to it."""
        whole = Table(self.table.name)
        whole.fields = {
            field.name: replace(field, type=whole if field.type is self.table else field.type)
            for field in self.fields
        }
        return whole

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        if not self.modifiers:
            return "}"
        taken = {field.name for field in self.fields} | machine.environment.variables.keys()
        return next(name for name in (f"f{n or ''}" for n in range(len(taken) + 1)) if name not in taken)


@dataclass(frozen=True, slots=True)
class FieldType:
    """The type of a declared field. By the laws in `types`, no table requires itself."""

    fields: FieldDeclarations
    name: str

    def outline(self, below: Outline) -> Outline:
        """As in `Purpose`."""
        return ("}", *below)

    def allows(self, machine: Machine, type_: Type) -> bool:
        """True if *type_* is allowed."""
        del machine
        if type_ is self.fields.table:
            has_functions = any(holds_functions(field.type) for field in self.fields.fields)
            return "optional" in self.fields.modifiers and not (
                "mutable" in self.fields.modifiers and has_functions
            )
        return not holds_functions(type_) or self.allows_functions()

    def allows_functions(self) -> bool:
        """True if a function type is allowed."""
        changes_itself = any(f.mutable and f.type is self.fields.table for f in self.fields.fields)
        return not (self.fields.is_plain or "mutable" in self.fields.modifiers or changes_itself)

    def then(self, machine: Machine, type_: Type) -> Machine:
        """The state after the type, which is *type_*."""
        modifiers = self.fields.modifiers
        field = Field(self.name, type_, "mutable" in modifiers, "optional" in modifiers)
        following = replace(self.fields, fields=(*self.fields.fields, field), modifiers=frozenset())
        return machine.push(Sign(";"), following)
