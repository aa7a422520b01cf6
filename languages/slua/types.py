"""The types of sLua: numbers, texts, truth values, functions, and tables with named fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


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
"""The result of a function that gives none."""

SIMPLE = {simple.name: simple for simple in (NUMBER, STRING, BOOLEAN, VOID)}


@dataclass(frozen=True, slots=True)
class Function:
    """A function; its parameters have names only for readers."""

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
        mutable: whether scripts may assign to it.
        optional: whether a table may lack it.
        documentation: what it is for, told to readers.
    """

    name: str
    type: Type
    mutable: bool = False
    optional: bool = False
    documentation: str = ""


@dataclass(eq=False, slots=True)
class Table:
    """A table with a fixed set of fields; two tables of equal fields are different types.

    The fields are set once, after all tables of a file have their names, as tables may refer to each other.

    Attributes:
        name: how scripts call it.
        is_object: its values are made by the program that runs scripts, never by a script.
        fields: by name.
        documentation: what it is for, told to readers.
        is_open: whether it is still being declared.
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
    """Whether a script could put a function of its own into a value of *type_*, however deep.

    Such values never change: assigned to, a function could come to call itself, and a script would not end.
    """
    return any(isinstance(part, Function) for part in parts(type_))


def parts(type_: Type) -> Iterator[Type]:
    """*type_*, and the types of all that a script itself builds it from."""
    waiting: list[Type] = [type_]
    seen: set[int] = set()
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, Table) and not part.is_object and id(part) not in seen:
            seen.add(id(part))
            waiting.extend(each.type for each in part.fields.values())
