"""The types of sLua, their resolution from type expressions, and the laws by which every script ends.

A script ends because no function can call itself. A function is in scope only after its statement, so to
call itself it would have to be stored where it can be found again. Three laws close every such way:

- a mutable field or a variable never holds functions that a script made;
- a function that a script makes takes and returns nothing that holds functions;
- the program takes such values (callbacks, tables with hooks) and never returns one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fimlsp.languages.slua import syntax


@dataclass(frozen=True, eq=False, slots=True)
class Simple:
    """A type without parts."""

    name: str

    def __str__(self) -> str:
        return self.name


NUMBER = Simple("number")
STRING = Simple("string")
BOOLEAN = Simple("boolean")
VOID = Simple("void")
"""The result of a function that returns nothing."""

SIMPLE = {simple.name: simple for simple in (NUMBER, STRING, BOOLEAN, VOID)}


@dataclass(frozen=True, slots=True)
class Function:
    """A function; names of parameters are for readers only."""

    parameters: tuple[Type, ...]
    result: Type

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.parameters))}) -> {self.result}"


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a table.

    Attributes:
        name: its name.
        type: of its value.
        mutable: True if scripts may assign to it.
        optional: True if a table may lack it.
        documentation: its description for readers.
    """

    name: str
    type: Type
    mutable: bool = False
    optional: bool = False
    documentation: str = ""


@dataclass(eq=False, slots=True)
class Table:
    """A table with a fixed set of fields; two tables with equal fields are different types.

    The fields are set once, after all tables of a file have their names, as tables may refer to each other.

    Attributes:
        name: its name in scripts.
        is_object: its values are made by the program that runs scripts, never by a script.
        fields: by name.
        documentation: its description for readers.
        is_open: True while it is being declared.
    """

    name: str
    is_object: bool = False
    fields: Mapping[str, Field] = field(default_factory=dict)
    documentation: str = ""
    is_open: bool = False

    def __str__(self) -> str:
        return self.name


Type = Simple | Function | Table


def holds_functions(type_: Type) -> bool:
    """True if a script could put a function of its own into a value of *type_*, however deep.

    Such values never change. Otherwise a function could be assigned where it finds itself, and a script
    would not end.
    """
    return any(isinstance(part, Function) for part in parts(type_))


def parts(type_: Type) -> Iterator[Type]:
    """*type_*, and the types of everything that a script itself builds it from."""
    waiting: list[Type] = [type_]
    seen: set[int] = set()
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, Table) and not part.is_object and id(part) not in seen:
            seen.add(id(part))
            waiting.extend(held.type for held in part.fields.values())


MOST_PARAMETERS = 20
Report = Callable[[syntax.Position, str], None]


class TypeResolver:
    """Makes types from type expressions, and reports their faults."""

    def __init__(self, report: Report, known: Callable[[], Mapping[str, Table]]) -> None:
        self._report = report
        self._known = known

    def resolve(self, written: syntax.TypeSyntax) -> Type | None:
        """The type; None if it refers to an unknown one, which is reported."""
        if isinstance(written, syntax.NamedType):
            return self._named(written)
        if len(written.parameters) > MOST_PARAMETERS:
            self._report(written.at, f"a function has at most {MOST_PARAMETERS} parameters")
            return None
        resolved = [self.resolve(parameter) for parameter in written.parameters]
        for parameter, type_ in zip(written.parameters, resolved, strict=True):
            if type_ is VOID:
                self._report(parameter.at, "`void` is only allowed after `->`")
        result = self._named(written.result)
        if result is None:
            return None
        parameters = tuple(type_ for type_ in resolved if type_ is not None)
        return Function(parameters, result) if len(parameters) == len(resolved) else None

    def value_type(self, written: syntax.TypeSyntax) -> Type | None:
        """As `resolve`, for something that has a value."""
        type_ = self.resolve(written)
        if type_ is VOID:
            self._report(written.at, "`void` is only allowed after `->`")
            return None
        return type_

    def script_type(self, written: syntax.TypeSyntax) -> Type | None:
        """As `value_type`, for a value that scripts make."""
        type_ = self.value_type(written)
        if isinstance(type_, Function):
            self.check_own_function(written.at, type_)
        return type_

    def check_own_function(self, at: syntax.Position, function: Function) -> None:
        """Report parameters and results of *function*, which a script may make, that hold functions."""
        for part in (*function.parameters, function.result):
            if holds_functions(part):
                self._report(
                    at, f"functions of scripts cannot take or return values that hold functions: {part}"
                )

    def check_given_function(self, at: syntax.Position, function: Function) -> None:
        """Report a result of *function*, which the program gives its scripts, that holds functions."""
        for parameter in function.parameters:
            if isinstance(parameter, Function):
                self.check_own_function(at, parameter)
        if holds_functions(function.result):
            self._report(at, f"functions cannot return values that hold functions: {function.result}")

    def check_given_value(self, at: syntax.Position, type_: Type) -> None:
        """Report *type_* if scripts cannot be given values of it."""
        if isinstance(type_, Function):
            self.check_given_function(at, type_)
        elif holds_functions(type_):
            self._report(at, f"scripts cannot be given tables with functions that a script made: {type_}")

    def fill(self, table: Table, written: syntax.TableSyntax) -> None:
        """Give *table* its fields."""
        fields: dict[str, Field] = {}
        for declared in written.fields:
            if declared.name in fields:
                self._report(declared.at, f"{table} already has a field `{declared.name}`")
            type_ = self.value_type(declared.type)
            if type_ is not None:
                mutable, optional = "mutable" in declared.modifiers, "optional" in declared.modifiers
                fields[declared.name] = Field(declared.name, type_, mutable, optional, declared.documentation)
        table.fields = fields

    def check_table(self, table: Table, written: syntax.TableSyntax) -> None:
        """Report faults in the fields of *table*, once all tables have theirs."""
        for declared in written.fields:
            field = table.fields.get(declared.name)
            if field is None:
                continue
            if field.mutable and holds_functions(field.type):
                self._report(declared.at, f"`{declared.name}` holds functions, so it cannot be mutable")
            if table.is_object:
                self.check_given_value(declared.type.at, field.type)
            elif isinstance(field.type, Function):
                self.check_own_function(declared.type.at, field.type)
        if not table.is_object and _needs_itself(table):
            self._report(
                written.at,
                f"no value of {table} can be made, as it requires another one; make a field optional",
            )

    def _named(self, written: syntax.NamedType) -> Type | None:
        simple = SIMPLE.get(written.name)
        if simple is not None:
            return simple
        known = self._known()
        if written.name not in known:
            names = sorted([*known, *(name for name in SIMPLE if name != VOID.name)])
            self._report(written.at, f"unknown type `{written.name}`{suggest(written.name, names)}")
        return known.get(written.name)


def suggest(name: str, names: Sequence[str]) -> str:
    """The end of a message about an unknown *name*: the nearest of *names*, or a list of them."""
    from difflib import get_close_matches

    close = get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f"; did you mean `{close[0]}`?"
    listed = ", ".join(f"`{known}`" for known in names[:8])
    more = f" and {len(names) - 8} others" if len(names) > 8 else ""
    return f"; known: {listed}{more}" if listed else ""


def _needs_itself(table: Table) -> bool:
    """True if a value of *table* must hold another one, through fields that are not optional."""
    waiting, seen = [table], set[int]()
    while waiting:
        for held in waiting.pop().fields.values():
            part = held.type
            if isinstance(part, Table) and not part.is_object and not held.optional:
                if part is table:
                    return True
                if id(part) not in seen:
                    seen.add(id(part))
                    waiting.append(part)
    return False
