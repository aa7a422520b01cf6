"""What may be declared where the right text uses a name that nobody declares."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product

from fimlsp.languages.slua.both_sides.guesses import (
    SIMPLE,
    arguments_of,
    functions_called,
    of_value,
    parts_of,
    plain_types,
)
from fimlsp.languages.slua.both_sides.reading import Stop
from fimlsp.languages.slua.both_sides.right_text import RightText
from fimlsp.languages.slua.incremental.environment import Environment
from fimlsp.languages.slua.incremental.expressions import Entries, EntryName, FieldName, Operand
from fimlsp.languages.slua.incremental.machine import Machine
from fimlsp.languages.slua.incremental.statements import Block
from fimlsp.languages.slua.incremental.wanted import ARITHMETIC, ORDERS, Truth
from fimlsp.languages.slua.incremental.ways import ValueGoal
from fimlsp.languages.slua.incremental.written_types import Fields
from fimlsp.languages.slua.types import BOOLEAN, NUMBER, STRING, VOID, Function, Type, holds_functions

_MOST_TABLES = 40


def declarations(stop: Stop, block: Machine, right: RightText) -> Iterator[str]:
    """Statements for *block*, each of which may mend what *right* lacks at *stop*, likely ones first.

    Where fields are declared, it is fields.
    """
    task = block.stack.task if block.stack is not None else None
    if isinstance(task, Fields):
        if stop.lacks_field is not None and stop.lacks_field.name == task.table.name and not task.modifiers:
            yield from _lacking_field(stop, right)
        return
    if stop.lacks_field is not None:
        return
    if stop.lacks_type:
        yield from _tables(stop.text, block, right)
        return
    scope, tried = block.environment.inhabitants, set[Type]()
    for type_ in types_wanted(stop, block, [lexeme.text for lexeme in right.follow(stop.offset)]):
        value = scope.value(type_) if type_ not in tried else None
        tried.add(type_)
        if value is not None:
            yield f"local {stop.text}:{type_}={value};"


def _lacking_field(stop: Stop, right: RightText) -> Iterator[str]:
    """Declarations of the field that is read or assigned to at *stop*."""
    texts = [lexeme.text for lexeme in right.follow(stop.offset)]
    if isinstance(stop.machine.stack and stop.machine.stack.task, Entries | EntryName):
        value = (parts_of(texts[2:]) or [[]])[0]
        types = dict.fromkeys(of_field(value, stop.machine.environment))
    else:
        types = dict.fromkeys((*types_wanted(stop, stop.machine, texts), *SIMPLE))
    modifiers = ("mutable ", "") if texts[1:2] == ["="] else ("", "mutable ")
    yield from (f"{modifier}{stop.text}:{type_};" for modifier in modifiers for type_ in types)


def types_wanted(stop: Stop, block: Machine, texts: list[str]) -> Iterator[Type]:
    """The types that the name at *stop*, the first of *texts*, may have."""
    environment = block.environment
    following, field = (*texts[1:3], "", "")[:2]
    wanted = _wanted(stop.machine)
    tables = sorted(environment.types.values(), key=lambda table: table.name)
    if following == "(":
        plain = plain_types(environment)
        if isinstance(stop.machine.stack and stop.machine.stack.task, Block):
            results: list[Type] = [VOID, *plain]
        else:
            results = [*([BOOLEAN] if isinstance(wanted, Truth) else [wanted] if wanted else []), *plain]
        yield from functions_called(arguments_of(texts), results, environment)
        return
    if following == ".":
        yield from (table for table in tables if field in table.fields)
        return
    if following in ARITHMETIC:
        yield NUMBER
    elif following == "..":
        yield STRING
    elif following in ORDERS:
        yield from (NUMBER, STRING)
    if isinstance(wanted, Truth):
        yield from (BOOLEAN, *SIMPLE, *tables)
    elif wanted is not None:
        yield wanted
    else:
        yield from (*SIMPLE, *tables)


def _wanted(machine: Machine) -> Type | Truth | None:
    """What is wanted at a place where a variable may stand; None where a statement begins."""
    task = machine.stack and machine.stack.task
    if isinstance(task, FieldName):
        return task.goal.wanted if isinstance(task.goal, ValueGoal) else None
    return task.wanted if isinstance(task, Operand) else None


def _tables(name: str, block: Machine, right: RightText) -> Iterator[str]:
    """Declarations of a type *name* with the fields that *right* gives its values, and reads from them."""
    values, everywhere = _fields(name, right)
    each = (of_field(value, block.environment) for value in values.values())
    for types in islice(product(*each), _MOST_TABLES):
        fields = []
        for field, type_ in zip(values, types, strict=True):
            modifiers = "" if holds_functions(type_) else "mutable "
            modifiers += "" if field in everywhere else "optional "
            fields.append(f"{modifiers}{field}:{type_};")
        yield f"interface {name}{{{''.join(fields)}}};"


def of_field(value: list[str], environment: Environment) -> list[Type]:
    """The types of a field with *value*."""
    if value[:1] != ["function"]:
        return of_value(value, environment)
    count = len(arguments_of(value))
    gives = "return" in value
    return [Function((NUMBER,) * count, result) for result in (plain_types(environment) if gives else [VOID])]


def _fields(name: str, right: RightText) -> tuple[dict[str, list[str]], set[str]]:
    """The fields of a type, each with a value if it is known, and those that no value lacks."""
    texts = [lexeme.text for start in right.offsets[:1] for lexeme in right.follow(start)]
    values: dict[str, list[str]] = {}
    everywhere: set[str] | None = None
    variables = set[str]()
    for number, text in enumerate(texts):
        if text == name and texts[number - 1 : number] == [":"]:
            variables.add(texts[number - 2])
            if texts[number + 1 : number + 3] == ["=", "{"]:
                entries = {part[0]: part[2:] for part in parts_of(texts[number + 3 :]) if part[1:2] == ["="]}
                values |= entries
                everywhere = set(entries) if everywhere is None else everywhere & set(entries)
        elif text in variables and texts[number + 1 : number + 2] == ["."]:
            values.setdefault(texts[number + 2], [])
    return values, set(values) if everywhere is None else everywhere
