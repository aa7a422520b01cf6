"""The sizes of a script in Lua, which has limits for some of them (`llimits.h`, `lparser.c` of Lua 5.4).

Lua counts a level for each statement within another one, and for each expression within another one, except
for the first operand of an operator. An operand in brackets is one level more. The translation (`runtime.py`)
writes brackets only where `needs_brackets` has them.
"""

from __future__ import annotations

from collections.abc import Iterator

from fimlsp.languages.slua import syntax

MOST_SLOTS = 190
"""Variables of one function that are in use at once; Lua has at most 200."""

MOST_NAMES = 240
"""Variables in use at once, of all functions around a place; a function of Lua captures at most 255."""

MOST_HELD = 240
"""Variables of a function and values of an expression at once; a function of Lua has 255 registers."""

MOST_LEVELS = 180
"""Levels of statements and expressions within each other; Lua has at most 200, less those of its caller."""

OR, AND, COMPARISON, JOIN, SUM, PRODUCT, UNARY, POWER, ATOM = range(1, 10)
STRENGTHS = {
    "or": OR,
    "and": AND,
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "~="), COMPARISON),
    "..": JOIN,
    **dict.fromkeys("+-", SUM),
    **dict.fromkeys("*/%", PRODUCT),
    "^": POWER,
}
"""How strongly the operators bind, in Lua and in scripts."""


def strength(expression: syntax.Expression) -> int:
    """How strongly the outermost operator of *expression* binds in Lua, where joined texts are a call."""
    match expression:
        case syntax.Unary():
            return UNARY
        case syntax.Chain():
            return ATOM if expression.operator == ".." else STRENGTHS[expression.operator]
        case _:
            return ATOM


def operands(chain: syntax.Chain) -> Iterator[tuple[syntax.Expression, int]]:
    """The operands of *chain*, not of `..`, each with the least strength that needs no brackets there."""
    binds = STRENGTHS[chain.operator]
    yield chain.first, ATOM if binds == POWER else binds
    for operation in chain.operations:
        yield operation.operand, UNARY if binds == POWER else binds + 1


def first_too_deep(script: syntax.Block) -> syntax.Position | None:
    """The first place of *script* with more than `MOST_LEVELS` levels; None if there is none."""
    pending: list[tuple[int, syntax.Node]] = [(0, script)]
    while pending:
        level, node = pending.pop()
        if level > MOST_LEVELS:
            return node.at
        pending.extend((level + more, part) for more, part in _parts(node))
    return None


def _parts(node: syntax.Node) -> Iterator[tuple[int, syntax.Node]]:
    """The parts of *node*, each with the levels between both."""
    match node:
        case syntax.Block():
            yield from ((1, statement) for statement in node.statements)
        case syntax.Local(value=value) | syntax.Return(value=value) if value is not None:
            yield 1, value
        case syntax.Assignment():
            yield from ((0, node.target), (1, node.value))
        case syntax.CallStatement():
            yield 0, node.call
        case syntax.Do() | syntax.FunctionLiteral():
            yield 0, node.body
        case syntax.While():
            yield from ((1, node.condition), (0, node.body))
        case syntax.For():
            yield from ((1, node.first), (1, node.last), (0, node.body))
        case syntax.If():
            for condition, body in node.branches:
                yield from ((1, condition), (0, body))
            if node.otherwise is not None:
                yield 0, node.otherwise
        case syntax.Member():
            yield 0, node.owner
        case syntax.Call():
            yield 0, node.callee
            yield from ((1, argument) for argument in node.arguments)
        case syntax.Unary():
            yield 2 if _needs_brackets_after(node) else 1, node.operand
        case syntax.Chain(operator=".."):
            yield from ((1, operand) for operand in node.operands)
        case syntax.Chain():
            yield from _parts_of_chain(node)
        case syntax.Constructor():
            yield from ((1, entry.value) for entry in node.entries)


def _needs_brackets_after(unary: syntax.Unary) -> bool:
    """True if the operand has brackets; a value under `not` may be compared with nil within some."""
    operand = unary.operand
    is_boolean = isinstance(operand, syntax.Boolean) or (
        isinstance(operand, syntax.Unary) and operand.operator == "not"
    )
    return strength(operand) < UNARY or (unary.operator == "not" and not is_boolean)


def _parts_of_chain(chain: syntax.Chain) -> Iterator[tuple[int, syntax.Expression]]:
    operators = ("", *(operation.operator for operation in chain.operations))
    for operator, (operand, least) in zip(operators, operands(chain), strict=True):
        has_brackets = operator == "%" or strength(operand) < least
        yield int(operator != "") + has_brackets, operand


def values_at_once(expression: syntax.Expression) -> int:
    """Number of values that the evaluation of *expression* in Lua holds at once.

    A function is held with its arguments, and so are the parts of a joined text. An operator only holds the
    value on its left.
    """
    match expression:
        case syntax.Member() | syntax.Call():
            along = _arguments_along(expression)
            return max((number + values_at_once(argument) for number, argument in along), default=1)
        case syntax.Unary():
            return values_at_once(expression.operand)
        case syntax.Chain(operator=".."):
            return max(1 + number + values_at_once(part) for number, part in enumerate(expression.operands))
        case syntax.Chain():
            held = max(values_at_once(operation.operand) for operation in expression.operations)
            return max(values_at_once(expression.first), 1 + held)
        case syntax.Constructor():
            return 1 + max((values_at_once(entry.value) for entry in expression.entries), default=0)
        case _:
            return 1


def _arguments_along(path: syntax.Path) -> Iterator[tuple[int, syntax.Expression]]:
    """The arguments of all calls in *path*, each with its place after the function."""
    while not isinstance(path, syntax.Name):
        if isinstance(path, syntax.Call):
            yield from enumerate(path.arguments, 1)
            path = path.callee
        else:
            path = path.owner
