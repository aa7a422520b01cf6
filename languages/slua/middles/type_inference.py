"""Infers types for undeclared names of the right text from the lexemes around them, the likeliest first.

A wrong guess is refused when the text is read; a type that is not guessed is not found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product

from fimlsp.languages.slua.incremental.expressions import Entries, EntryName, FieldName, Operand
from fimlsp.languages.slua.incremental.goals import ARITHMETIC, ORDERS, Condition, ValueGoal
from fimlsp.languages.slua.incremental.machine import Environment, Machine
from fimlsp.languages.slua.incremental.statements import Block
from fimlsp.languages.slua.incremental.type_expressions import FieldDeclarations
from fimlsp.languages.slua.lexemes import is_name
from fimlsp.languages.slua.middles.right_text import Mismatch, RightText
from fimlsp.languages.slua.types import BOOLEAN, NUMBER, STRING, VOID, Function, Table, Type, holds_functions

SIMPLE: tuple[Type, ...] = (NUMBER, STRING, BOOLEAN)
_MOST_FUNCTIONS = 60
_MOST_TABLES = 40
_MOST_KEPT = 64
_OPENING = frozenset(("(", "{", "function", "if", "do"))
_CLOSING = frozenset((")", "}", "end"))
_TESTS = frozenset(("and", "or", "not", "then", "if", "while"))


@lru_cache(_MOST_KEPT)
def plain_type_list(environment: Environment) -> tuple[Type, ...]:
    """The types that functions of scripts may take and return."""
    tables = (table for table in environment.types.values() if not holds_functions(table))
    return (*SIMPLE, *sorted(tables, key=lambda table: table.name))


def types_of_value(value: Sequence[str], environment: Environment) -> list[Type]:
    """The types that the expression *value* may have."""
    plain, known = plain_type_list(environment), type_of_path(value, environment)
    if known in plain:
        return list(dict.fromkeys((known, BOOLEAN)))
    first, signs = (*value[:1], "")[0], _outside(value)
    if signs & (ORDERS | _TESTS | {"==", "~="}) or first in ("true", "false"):
        return [BOOLEAN]
    if ".." in signs or first[:1] == '"':
        return [STRING, BOOLEAN]
    if signs & ARITHMETIC or first[:1].isdigit():
        return [NUMBER, BOOLEAN]
    if first == "{":
        given = {part[0] for part in parts_of(value[1:]) if part}
        return [t for t in plain if isinstance(t, Table) and not t.is_object and given <= t.fields.keys()]
    return list(plain)


def _outside(value: Sequence[str]) -> set[str]:
    """The lexemes of *value* that are in no bracket and in no function."""
    outside, depth = set[str](), 0
    for text in value:
        depth -= text in _CLOSING
        if not depth:
            outside.add(text)
        depth += text in _OPENING
    return outside


def type_of_path(value: Sequence[str], environment: Environment) -> Type | None:
    """The type of the path *value*, such as `a.b(c).d`; None for other values and unknown variables."""
    variable = environment.variables.get(value[0]) if value else None
    type_, number = None if variable is None else variable.type, 1
    while type_ is not None and number < len(value):
        text, following = value[number], (*value[number + 1 : number + 2], "")[0]
        if text == "." and isinstance(type_, Table):
            field = type_.fields.get(following)
            type_, number = None if field is None else field.type, number + 2
        elif text == "(" and isinstance(type_, Function):
            arguments = parts_of(value[number + 1 :])
            size = sum(map(len, arguments)) + len(arguments)
            type_, number = type_.result, number + 1 + size
        else:
            return None
    return type_


def types_of_uses(name: str, texts: Sequence[str], environment: Environment) -> list[Type]:
    """The types that the variable *name* may have where it is used in *texts*; a number if it is not used.

    A table without fields is possible too, as a field may still be declared for it.
    """
    plain, likely = plain_type_list(environment), list[Type]()
    for number, text in enumerate(texts):
        before = texts[number - 1] if number else ""
        if text != name or before == ".":
            continue
        following, field = (*texts[number + 1 : number + 3], "", "")[:2]
        if following == ".":
            return [t for t in plain if isinstance(t, Table) and (field in t.fields or not t.fields)]
        if before in ARITHMETIC or following in ARITHMETIC:
            return [NUMBER]
        if ".." in (before, following):
            return [STRING]
        if before in ORDERS or following in ORDERS:
            likely = [NUMBER, STRING]
        elif following == "=":
            likely = likely or types_of_value(texts[number + 2 : _end(texts, number)], environment)
        else:
            likely = likely or list(plain)
    return likely or [NUMBER]


def _end(texts: Sequence[str], start: int) -> int:
    """The end of the statement around *start*, provided that it holds no function."""
    return next((at for at in range(start, len(texts)) if texts[at] == ";"), len(texts))


def function_types_begun(
    right: RightText, environment: Environment, name: str, given: tuple[Type, ...] = ()
) -> Iterator[Function]:
    """The types of a function *name* that *right* starts with, or whose head it ends, likely ones first.

    The text may also start at `->`, at a result or at `=`. The first parameters have the types *given*.
    """
    called = _called(name, right, environment)
    for offset in right.offsets:
        head = _function_head([lexeme.text for lexeme in right.follow(offset)])
        if head is None:
            continue
        is_cut = not head.has_bracket and (offset > 0 or head.first == ",") and head.first != ")"
        uses = [list(plain_type_list(environment))] if is_cut else []
        uses += [types_of_uses(parameter, head.body, environment) for parameter in head.names]
        uses = [*([type_] for type_ in given), *uses[len(given) :]] if given else uses
        yield from _functions(uses, called, result_types(head.body, environment))


@dataclass(frozen=True, slots=True)
class _FunctionHead:
    """The end of the head of a function.

    Attributes:
        first: its first lexeme.
        names: the parameters in it.
        body: the lexemes of the function's body.
        has_bracket: True if its opening bracket is there.
    """

    first: str
    names: tuple[str, ...]
    body: tuple[str, ...]
    has_bracket: bool


def _function_head(texts: list[str]) -> _FunctionHead | None:
    """The head that *texts* start within; None if they do not."""
    texts = texts[1:] if texts[:1] == ["->"] else texts
    texts = texts[1:] if texts[1:3] == ["=", "function"] else texts
    texts = texts[1:] if texts[:1] == ["="] else texts
    if ")" not in texts:
        return None
    end = texts.index(")")
    keyword, bracket, within = "".join(texts[:end]).partition("(")
    if bracket and not "function".endswith(keyword):
        return None
    names = tuple(name for name in (within if bracket else keyword).split(",") if name)
    if not all(map(is_name, names)):
        return None
    return _FunctionHead(texts[0], names, _body(texts[end + 1 :]), bool(bracket))


def _functions(uses: list[list[Type]], called: list[list[Type]], results: list[Type]) -> Iterator[Function]:
    """The types of functions with parameters of *uses*; types with which it is *called* come first."""
    if len(called) == len(uses):
        both = [[t for t in given if t in used] for given, used in zip(called, uses, strict=True)]
        uses = [list(dict.fromkeys((*a, *b, *c))) for a, b, c in zip(both, called, uses, strict=True)]
    made = (Function(given, result) for given in product(*uses) for result in results)
    yield from islice(made, _MOST_FUNCTIONS)


def _called(name: str, right: RightText, environment: Environment) -> list[list[Type]]:
    """The types of the arguments of the first call of *name* in *right*; empty if there is none."""
    texts = right.texts
    for number, text in enumerate(texts):
        if text == name and texts[number + 1 : number + 2] == ("(",) and texts[number - 1 : number] != (".",):
            return [types_of_value(argument, environment) for argument in arguments_of(texts[number:])]
    return []


def _body(texts: Sequence[str]) -> tuple[str, ...]:
    """The start of *texts* up to the `end` that closes the construct around them."""
    depth = 0
    for number, text in enumerate(texts):
        depth += (text in ("function", "if", "do")) - (text == "end")
        if depth < 0:
            return tuple(texts[:number])
    return tuple(texts)


def result_types(body: Sequence[str], environment: Environment) -> list[Type]:
    """The types that a function with *body* may return."""
    starts = [number + 1 for number, text in enumerate(body) if text == "return"]
    return types_of_values([body[start : _end(body, start)] for start in starts], environment) or [VOID]


def types_of_values(values: Sequence[Sequence[str]], environment: Environment) -> list[Type]:
    """The result types of a function that returns one of *values*."""
    types = (type_ for value in values for type_ in (types_of_value(value, environment) if value else [VOID]))
    return list(dict.fromkeys(types))


def function_types_called(
    arguments: list[list[str]], results: list[Type], environment: Environment
) -> Iterator[Function]:
    """The types of functions that take *arguments* and return one of *results*."""
    known = (type_ for type_ in environment.inhabitants.paths if isinstance(type_, Function))
    yield from (f for f in known if len(f.parameters) == len(arguments) and f.result in results)
    likely = [types_of_value(argument, environment) for argument in arguments]
    made = (Function(parameters, result) for parameters in product(*likely) for result in results)
    yield from islice((f for f in made if not holds_functions(f.result)), _MOST_FUNCTIONS)


def arguments_of(texts: Sequence[str]) -> list[list[str]]:
    """The arguments of the call that *texts* start with, after the callee and its bracket."""
    parts = parts_of(texts[2:])
    return [] if parts == [[]] else parts


def parts_of(texts: Sequence[str]) -> list[list[str]]:
    """The parts between the commas of *texts*, up to the bracket that closes the construct around them."""
    parts: list[list[str]] = [[]]
    depth = 0
    for text in texts:
        depth += (text in _OPENING) - (text in _CLOSING)
        if depth < 0:
            break
        if text == "," and not depth:
            parts.append([])
        else:
            parts[-1].append(text)
    return parts


def declarations(mismatch: Mismatch, block: Machine, right: RightText) -> Iterator[str]:
    """Statements for *block* that may declare the name that *right* lacks at *mismatch*, likely ones first.

    Within a declaration of a table they are fields.
    """
    task = block.task
    if isinstance(task, FieldDeclarations):
        table = mismatch.lacks_field
        if table is not None and table.name == task.table.name and not task.modifiers:
            yield from _lacking_field(mismatch, right)
        return
    if mismatch.lacks_field is not None:
        return
    if mismatch.lacks_type:
        yield from _tables(mismatch.text, block, right)
        return
    scope, tried = block.environment.inhabitants, set[Type]()
    for type_ in variable_types(mismatch, block, [lexeme.text for lexeme in right.follow(mismatch.offset)]):
        value = scope.value(type_) if type_ not in tried else None
        tried.add(type_)
        if value is not None:
            yield f"local {mismatch.text}:{type_}={value};"


def _lacking_field(mismatch: Mismatch, right: RightText) -> Iterator[str]:
    """Declarations of the field that is read or assigned to at *mismatch*."""
    texts = [lexeme.text for lexeme in right.follow(mismatch.offset)]
    if isinstance(mismatch.machine.task, Entries | EntryName):
        value = (parts_of(texts[2:]) or [[]])[0]
        types = dict.fromkeys(types_of_field(value, mismatch.machine.environment))
    else:
        types = dict.fromkeys((*variable_types(mismatch, mismatch.machine, texts), *SIMPLE))
    modifiers = ("mutable ", "") if texts[1:2] == ["="] else ("", "mutable ")
    yield from (f"{modifier}{mismatch.text}:{type_};" for modifier in modifiers for type_ in types)


def variable_types(mismatch: Mismatch, block: Machine, texts: list[str]) -> Iterator[Type]:
    """The types that the name at *mismatch*, the first of *texts*, may have."""
    environment = block.environment
    following, field = (*texts[1:3], "", "")[:2]
    target = _target_at(mismatch.machine)
    tables = sorted(environment.types.values(), key=lambda table: table.name)
    if following == "(":
        plain = plain_type_list(environment)
        if isinstance(mismatch.machine.task, Block):
            results: list[Type] = [VOID, *plain]
        else:
            results = [*([BOOLEAN] if isinstance(target, Condition) else [target] if target else []), *plain]
        yield from function_types_called(arguments_of(texts), results, environment)
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
    if isinstance(target, Condition):
        yield from (BOOLEAN, *SIMPLE, *tables)
    elif target is not None:
        yield target
    else:
        yield from (*SIMPLE, *tables)


def _target_at(machine: Machine) -> Type | Condition | None:
    """The target type where a variable may stand; None at the start of a statement."""
    task = machine.task
    if isinstance(task, FieldName):
        return task.goal.target if isinstance(task.goal, ValueGoal) else None
    return task.target if isinstance(task, Operand) else None


def _tables(name: str, block: Machine, right: RightText) -> Iterator[str]:
    """Declarations of a type *name* with the fields that *right* gives its values, and reads from them."""
    values, everywhere = _fields_used(name, right)
    field_types = (types_of_field(value, block.environment) for value in values.values())
    for types in islice(product(*field_types), _MOST_TABLES):
        fields = []
        for field, type_ in zip(values, types, strict=True):
            modifiers = "" if holds_functions(type_) else "mutable "
            modifiers += "" if field in everywhere else "optional "
            fields.append(f"{modifiers}{field}:{type_};")
        yield f"interface {name}{{{''.join(fields)}}};"


def types_of_field(value: list[str], environment: Environment) -> list[Type]:
    """The types of a field with *value*."""
    if value[:1] != ["function"]:
        return types_of_value(value, environment)
    count = len(arguments_of(value))
    results = plain_type_list(environment) if "return" in value else [VOID]
    return [Function((NUMBER,) * count, result) for result in results]


def _fields_used(name: str, right: RightText) -> tuple[dict[str, list[str]], set[str]]:
    """The fields of a type, each with a value if one is known, and those that no value lacks."""
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
