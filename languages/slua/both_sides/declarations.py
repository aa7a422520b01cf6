"""What may be declared where the right text uses a name that nobody declares."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product

from fimlsp.languages.slua.both_sides.reading import Stop
from fimlsp.languages.slua.both_sides.right_text import Lexeme, RightText
from fimlsp.languages.slua.incremental.expressions import Operand
from fimlsp.languages.slua.incremental.inhabitants import Inhabitants
from fimlsp.languages.slua.incremental.machine import Machine
from fimlsp.languages.slua.incremental.statements import Block
from fimlsp.languages.slua.incremental.wanted import ARITHMETIC, ORDERS, Truth
from fimlsp.languages.slua.types import (
    BOOLEAN,
    NUMBER,
    STRING,
    VOID,
    Function,
    Table,
    Type,
    holds_functions,
)

_SIMPLE: tuple[Type, ...] = (NUMBER, STRING, BOOLEAN)
_MOST_FUNCTIONS = 60


def declarations(stop: Stop, block: Machine, right: RightText) -> Iterator[str]:
    """Statements for *block*, each of which may mend what *right* lacks at *stop*, likely ones first."""
    if not stop.lacks_variable:
        return
    scope = block.environment.inhabitants
    tried = set[Type]()
    for type_ in _types(stop, block, right.follow(stop.offset)):
        value = scope.value(type_) if type_ not in tried else None
        tried.add(type_)
        if value is not None:
            yield f"local {stop.text}:{type_}={value};"


def _types(stop: Stop, block: Machine, lexemes: list[Lexeme]) -> Iterator[Type]:
    """The types that the name at *stop*, the first of *lexemes*, may have."""
    environment = block.environment
    following = lexemes[1].text if len(lexemes) > 1 else ""
    wanted = _wanted(stop.machine)
    tables = sorted(environment.types.values(), key=lambda table: table.name)
    if following == "(":
        yield from _functions(stop, lexemes, environment.inhabitants, tables)
        return
    if following == ".":
        field = lexemes[2].text if len(lexemes) > 2 else ""
        yield from (table for table in tables if field in table.fields)
        return
    if following in ARITHMETIC:
        yield NUMBER
    elif following == "..":
        yield STRING
    elif following in ORDERS:
        yield from (NUMBER, STRING)
    if isinstance(wanted, Truth):
        yield from (BOOLEAN, *_SIMPLE, *tables)
    elif wanted is not None:
        yield wanted
    else:
        yield from (*_SIMPLE, *tables)


def _wanted(machine: Machine) -> Type | Truth | None:
    """What is wanted at a place where a variable may stand; None where a statement begins."""
    task = machine.stack and machine.stack.task
    return task.wanted if isinstance(task, Operand) else None


def _functions(
    stop: Stop, lexemes: list[Lexeme], scope: Inhabitants, tables: list[Table]
) -> Iterator[Function]:
    """The types of functions that are called as the name at *stop* is."""
    arguments = _arguments(lexemes)
    wanted = _wanted(stop.machine)
    plain = [*_SIMPLE, *(table for table in tables if not holds_functions(table))]
    results: list[Type]
    if isinstance(stop.machine.stack and stop.machine.stack.task, Block):
        results = [VOID, *plain]
    elif isinstance(wanted, Truth):
        results = [BOOLEAN, *plain]
    else:
        results = [*([] if wanted is None else [wanted]), *plain]
    known = (type_ for type_ in scope.paths if isinstance(type_, Function))
    yield from (each for each in known if len(each.parameters) == len(arguments) and each.result in results)
    likely = [_likely(argument, plain) for argument in arguments]
    made = (Function(parameters, result) for parameters in product(*likely) for result in results)
    yield from islice((each for each in made if not holds_functions(each.result)), _MOST_FUNCTIONS)


def _likely(argument: list[str], plain: list[Type]) -> list[Type]:
    """The types that *argument* may have, the likeliest first."""
    first = argument[0] if argument else ""
    if first[:1].isdigit() or set(argument) & ARITHMETIC:
        return [NUMBER, BOOLEAN]
    if first[:1] == '"' or ".." in argument:
        return [STRING, BOOLEAN]
    if first in ("true", "false", "not"):
        return [BOOLEAN]
    return plain


def _arguments(lexemes: list[Lexeme]) -> list[list[str]]:
    """The arguments of the call that *lexemes* begin with, behind the callee and its bracket."""
    found: list[list[str]] = [[]]
    depth = 0
    for lexeme in lexemes[2:]:
        text = lexeme.text
        if text in (")", "}", "end"):
            depth -= 1
            if depth < 0:
                break
        elif text in ("(", "{", "function", "if", "do"):
            depth += 1
        if text == "," and not depth:
            found.append([])
        else:
            found[-1].append(text)
    return [] if found == [[]] else found
