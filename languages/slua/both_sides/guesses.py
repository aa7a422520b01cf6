"""Which types the right text may want of a name, judging by the lexemes around it, the likeliest first.

What is guessed wrongly is refused when the text is read; a type that is not guessed is not found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice, product

from fimlsp.languages.slua.both_sides.right_text import RightText
from fimlsp.languages.slua.incremental.environment import Environment
from fimlsp.languages.slua.incremental.tokens import is_name
from fimlsp.languages.slua.incremental.wanted import ARITHMETIC, ORDERS
from fimlsp.languages.slua.types import BOOLEAN, NUMBER, STRING, VOID, Function, Table, Type, holds_functions

SIMPLE: tuple[Type, ...] = (NUMBER, STRING, BOOLEAN)
_MOST_FUNCTIONS = 60
_MOST_KEPT = 64
_OPENING = frozenset(("(", "{", "function", "if", "do"))
_CLOSING = frozenset((")", "}", "end"))
_TESTS = frozenset(("and", "or", "not", "then", "if", "while"))


@lru_cache(_MOST_KEPT)
def plain_types(environment: Environment) -> tuple[Type, ...]:
    """The types that functions of scripts may take and give."""
    tables = (table for table in environment.types.values() if not holds_functions(table))
    return (*SIMPLE, *sorted(tables, key=lambda table: table.name))


def of_value(value: Sequence[str], environment: Environment) -> list[Type]:
    """The types that the expression *value* may have."""
    plain, known = plain_types(environment), of_path(value, environment)
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
    found, depth = set[str](), 0
    for text in value:
        depth -= text in _CLOSING
        if not depth:
            found.add(text)
        depth += text in _OPENING
    return found


def of_path(value: Sequence[str], environment: Environment) -> Type | None:
    """The type of the path *value*, such as `a.b(c).d`; None if it is none, or its variable unknown."""
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


def of_uses(name: str, texts: Sequence[str], environment: Environment) -> list[Type]:
    """The types that the variable *name* may have where it is used in *texts*; a number if it is not used.

    A table without fields may still be given the one that is read.
    """
    plain, found = plain_types(environment), list[Type]()
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
            found = [NUMBER, STRING]
        elif following == "=":
            found = found or of_value(texts[number + 2 : _end(texts, number)], environment)
        else:
            found = found or list(plain)
    return found or [NUMBER]


def _end(texts: Sequence[str], start: int) -> int:
    """Where the statement ends that *start* is in, as far as it holds no function."""
    return next((at for at in range(start, len(texts)) if texts[at] == ";"), len(texts))


def functions_begun(
    right: RightText, environment: Environment, name: str, given: tuple[Type, ...] = ()
) -> Iterator[Function]:
    """The types of a function *name* that *right* begins with, or whose head it ends, likely ones first.

    What it begins with may stand behind `->`, a result or `=`. The first parameters have the types *given*.
    """
    called = _called(name, right, environment)
    for offset in right.offsets:
        texts = [lexeme.text for lexeme in right.follow(offset)]
        texts = texts[1:] if texts[:1] == ["->"] else texts
        texts = texts[1:] if texts[1:3] == ["=", "function"] else texts
        texts = texts[1:] if texts[:1] == ["="] else texts
        if ")" not in texts:
            continue
        end = texts.index(")")
        keyword, bracket, within = "".join(texts[:end]).partition("(")
        names = within.split(",") if bracket else keyword.split(",")
        is_head = all(is_name(each) for each in names if each) and (
            "function".endswith(keyword) or not bracket
        )
        if not is_head:
            continue
        body = _body(texts[end + 1 :])
        is_cut = not bracket and (offset > 0 or texts[0] == ",") and bool(end)
        uses = [list(plain_types(environment))] if is_cut else []
        uses += [of_uses(each, body, environment) for each in names if each]
        uses = [*([type_] for type_ in given), *uses[len(given) :]] if given else uses
        yield from _functions(uses, called, results_of(body, environment))


def _functions(uses: list[list[Type]], called: list[list[Type]], results: list[Type]) -> Iterator[Function]:
    """The types of functions with parameters of *uses*, rather those with which it is *called*."""
    if len(called) == len(uses):
        both = [[t for t in given if t in used] for given, used in zip(called, uses, strict=True)]
        uses = [list(dict.fromkeys((*a, *b, *c))) for a, b, c in zip(both, called, uses, strict=True)]
    made = (Function(given, result) for given in product(*uses) for result in results)
    yield from islice(made, _MOST_FUNCTIONS)


def _called(name: str, right: RightText, environment: Environment) -> list[list[Type]]:
    """The types of the arguments of the first call of *name* in *right*; none if there is none."""
    texts = right.texts
    for number, text in enumerate(texts):
        if text == name and texts[number + 1 : number + 2] == ("(",) and texts[number - 1 : number] != (".",):
            return [of_value(each, environment) for each in arguments_of(texts[number:])]
    return []


def _body(texts: list[str]) -> list[str]:
    """The beginning of *texts* up to the `end` that closes what they begin within."""
    depth = 0
    for number, text in enumerate(texts):
        depth += (text in ("function", "if", "do")) - (text == "end")
        if depth < 0:
            return texts[:number]
    return texts


def results_of(body: Sequence[str], environment: Environment) -> list[Type]:
    """The types that a function with *body* may give."""
    starts = [number + 1 for number, text in enumerate(body) if text == "return"]
    return of_values([body[start : _end(body, start)] for start in starts], environment) or [VOID]


def of_values(values: Sequence[Sequence[str]], environment: Environment) -> list[Type]:
    """The types that a function may give that returns one of *values*."""
    found = (type_ for value in values for type_ in (of_value(value, environment) if value else [VOID]))
    return list(dict.fromkeys(found))


def functions_called(
    arguments: list[list[str]], results: list[Type], environment: Environment
) -> Iterator[Function]:
    """The types of functions that take *arguments* and give one of *results*."""
    known = (type_ for type_ in environment.inhabitants.paths if isinstance(type_, Function))
    yield from (each for each in known if len(each.parameters) == len(arguments) and each.result in results)
    likely = [of_value(argument, environment) for argument in arguments]
    made = (Function(parameters, result) for parameters in product(*likely) for result in results)
    yield from islice((each for each in made if not holds_functions(each.result)), _MOST_FUNCTIONS)


def arguments_of(texts: Sequence[str]) -> list[list[str]]:
    """The arguments of the call that *texts* begin with, behind the callee and its bracket."""
    parts = parts_of(texts[2:])
    return [] if parts == [[]] else parts


def parts_of(texts: Sequence[str]) -> list[list[str]]:
    """The parts between the commas of *texts*, up to the bracket that closes what they begin within."""
    found: list[list[str]] = [[]]
    depth = 0
    for text in texts:
        depth += (text in _OPENING) - (text in _CLOSING)
        if depth < 0:
            break
        if text == "," and not depth:
            found.append([])
        else:
            found[-1].append(text)
    return found
