"""Which types the right text may want of a name, judging by the lexemes around it, the likeliest first.

What is guessed wrongly is refused when the text is read; a type that is not guessed is not found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product

from fimlsp.languages.slua.both_sides.right_text import RightText
from fimlsp.languages.slua.incremental.environment import Environment
from fimlsp.languages.slua.incremental.tokens import is_name
from fimlsp.languages.slua.incremental.wanted import ARITHMETIC, ORDERS
from fimlsp.languages.slua.types import BOOLEAN, NUMBER, STRING, VOID, Function, Table, Type, holds_functions

SIMPLE: tuple[Type, ...] = (NUMBER, STRING, BOOLEAN)
_MOST_FUNCTIONS = 60
_TESTS = frozenset(("and", "or", "not", "then", "if", "while"))


def plain_types(environment: Environment) -> list[Type]:
    """The types that functions of scripts may take and give."""
    tables = (table for table in environment.types.values() if not holds_functions(table))
    return [*SIMPLE, *sorted(tables, key=lambda table: table.name)]


def of_value(value: Sequence[str], plain: list[Type]) -> list[Type]:
    """The types that the expression *value* may have."""
    first = value[0] if value else ""
    if set(value) & (ORDERS | _TESTS | {"==", "~="}) or first in ("true", "false"):
        return [BOOLEAN]
    if ".." in value or first[:1] == '"':
        return [STRING, BOOLEAN]
    if set(value) & ARITHMETIC or first[:1].isdigit():
        return [NUMBER, BOOLEAN]
    return plain


def of_uses(name: str, texts: Sequence[str], plain: list[Type]) -> list[Type]:
    """The types that the variable *name* may have where it is used in *texts*."""
    found: list[Type] | None = None
    for number, text in enumerate(texts):
        before = texts[number - 1] if number else ""
        if text != name or before == ".":
            continue
        following, field = (*texts[number + 1 : number + 3], "", "")[:2]
        if following == ".":
            return [table for table in plain if isinstance(table, Table) and field in table.fields]
        if before in ARITHMETIC or following in ARITHMETIC:
            return [NUMBER]
        if ".." in (before, following):
            return [STRING]
        if before in ORDERS or following in ORDERS:
            found = [NUMBER, STRING]
        elif found is None:
            found = plain
    return [NUMBER] if found is None else found


def functions_begun(right: RightText, environment: Environment) -> Iterator[Function]:
    """The types of a function that *right* begins with, perhaps behind `->` or `=`, or whose head it ends."""
    plain = plain_types(environment)
    for offset in right.offsets:
        texts = [lexeme.text for lexeme in right.follow(offset)]
        texts = texts[2:] if texts[:1] == ["->"] else texts
        texts = texts[1:] if texts[:1] == ["="] else texts
        head = texts[: texts.index(")")] if ")" in texts else None
        names = [text for text in head or () if is_name(text)]
        if head is None or set(head) - {"function", "(", ",", *names}:
            continue
        is_cut = "(" not in head and (offset > 0 or head[:1] == [","])
        body = _body(texts[len(head) + 1 :])
        parameters = [plain] if is_cut else []
        parameters += [of_uses(name, body, plain) for name in names]
        made = (Function(given, each) for each in results_of(body, plain) for given in product(*parameters))
        yield from islice(made, _MOST_FUNCTIONS)


def _body(texts: list[str]) -> list[str]:
    """The beginning of *texts* up to the `end` that closes what they begin within."""
    depth = 0
    for number, text in enumerate(texts):
        depth += (text in ("function", "if", "do")) - (text == "end")
        if depth < 0:
            return texts[:number]
    return texts


def results_of(body: Sequence[str], plain: list[Type]) -> list[Type]:
    """The types that a function with *body* may give."""
    found: dict[Type, None] = {}
    for number, text in enumerate(body):
        if text == "return":
            end = next((at for at in range(number, len(body)) if body[at] == ";"), len(body))
            found.update(dict.fromkeys(of_value(body[number + 1 : end], plain)))
    return [*found] or [VOID]


def functions_called(
    arguments: list[list[str]], results: list[Type], environment: Environment
) -> Iterator[Function]:
    """The types of functions that take *arguments* and give one of *results*."""
    known = (type_ for type_ in environment.inhabitants.paths if isinstance(type_, Function))
    yield from (each for each in known if len(each.parameters) == len(arguments) and each.result in results)
    plain = plain_types(environment)
    likely = [of_value(argument, plain) for argument in arguments]
    made = (Function(parameters, result) for parameters in product(*likely) for result in results)
    yield from islice((each for each in made if not holds_functions(each.result)), _MOST_FUNCTIONS)
