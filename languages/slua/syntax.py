"""The syntax tree of a script, and its sizes in Lua, which has limits for some of them.

Every node has a line and a column, both counted from 1.

The limits are those of `llimits.h` and `lparser.c` of Lua 5.4. Lua counts a level for each statement within
another one, and for each expression within another one, except for the first operand of an operator. An
operand in brackets is one level more. The translation (`runtime.py`) writes brackets only where
`needs_brackets` has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

Position = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Node:
    """The base of all nodes: its position."""

    at: Position


# Type expressions.


@dataclass(frozen=True, slots=True)
class NamedType(Node):
    """`number`, `Actor`."""

    name: str


@dataclass(frozen=True, slots=True)
class FunctionType(Node):
    """`(number, Actor) -> boolean`."""

    parameters: tuple[TypeSyntax, ...]
    result: NamedType


TypeSyntax = NamedType | FunctionType


@dataclass(frozen=True, slots=True)
class FieldSyntax(Node):
    """`mutable energy: number;`."""

    name: str
    type: TypeSyntax
    modifiers: frozenset[str]
    documentation: str


@dataclass(frozen=True, slots=True)
class TableSyntax(Node):
    """`interface Name { ... };`; in an interface file also `object Name { ... };`, `open interface Name;`."""

    name: str
    fields: tuple[FieldSyntax, ...]
    is_object: bool
    documentation: str
    is_left_open: bool = False


@dataclass(frozen=True, slots=True)
class GlobalSyntax(Node):
    """`global g_math: Math;`."""

    name: str
    type: TypeSyntax
    documentation: str


@dataclass(frozen=True, slots=True)
class RootSyntax(Node):
    """`root effect: NewEffect(Effect) as EffectKind in Effects;`; the last part is optional."""

    name: str
    function: str
    type: TypeSyntax
    offered: tuple[TypeSyntax, TypeSyntax] | None
    documentation: str


# Expressions.


@dataclass(frozen=True, slots=True)
class Number(Node):
    """`12`, `1.5`."""

    text: str


@dataclass(frozen=True, slots=True)
class String(Node):
    r"""`"text"`, with the escapes `\n \t \" \\`; *text* is the source, quotes included."""

    text: str


@dataclass(frozen=True, slots=True)
class Boolean(Node):
    """`true`, `false`."""

    value: bool


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Member(Node):
    """`owner.field`."""

    owner: Path
    field: str


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`callee(arguments)`."""

    callee: Path
    arguments: tuple[Expression, ...]


Path = Name | Member | Call


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """`-a`, `not a`."""

    operator: str
    operand: Expression


class Operation(NamedTuple):
    """`+ b` of a chain, with the place of the operator."""

    at: Position
    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Chain(Node):
    """`a + b - c`, `a and b`, `a < b`, `a .. b`: operators of one level, from the left; *at* is the last one.

    A power has one operation, as it is read from the right.
    """

    first: Expression
    operations: tuple[Operation, ...]

    @property
    def operands(self) -> tuple[Expression, ...]:
        """All operands, in their order."""
        return (self.first, *(operation.operand for operation in self.operations))

    @property
    def operator(self) -> str:
        """The first operator."""
        return self.operations[0].operator


@dataclass(frozen=True, slots=True)
class Constructor(Node):
    """`{key = value, ...}`."""

    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Entry(Node):
    """`key = value`."""

    key: str
    value: Expression


@dataclass(frozen=True, slots=True)
class FunctionLiteral(Node):
    """`function(a, b) ... end`."""

    parameters: tuple[Name, ...]
    body: Block


Expression = Number | String | Boolean | Path | Unary | Chain | Constructor | FunctionLiteral


# Statements.


@dataclass(frozen=True, slots=True)
class Local(Node):
    """`local name: type = value;`."""

    name: str
    type: TypeSyntax
    value: Expression


@dataclass(frozen=True, slots=True)
class Assignment(Node):
    """`target = value;`."""

    target: Path
    value: Expression


@dataclass(frozen=True, slots=True)
class CallStatement(Node):
    """`f(a);`."""

    call: Path


@dataclass(frozen=True, slots=True)
class Do(Node):
    """`do ... end;`."""

    body: Block


@dataclass(frozen=True, slots=True)
class If(Node):
    """`if a then ... elseif b then ... else ... end;`."""

    branches: tuple[tuple[Expression, Block], ...]
    otherwise: Block | None


@dataclass(frozen=True, slots=True)
class For(Node):
    """`for name = first, last do ... end;`."""

    name: str
    first: Expression
    last: Expression
    body: Block


@dataclass(frozen=True, slots=True)
class While(Node):
    """`while condition do ... end;`."""

    condition: Expression
    body: Block


@dataclass(frozen=True, slots=True)
class Return(Node):
    """`return;`, `return value;`."""

    value: Expression | None


@dataclass(frozen=True, slots=True)
class Break(Node):
    """`break;`."""


Statement = TableSyntax | Local | Assignment | CallStatement | Do | If | For | While | Return | Break


@dataclass(frozen=True, slots=True)
class Block(Node):
    """A sequence of statements."""

    statements: tuple[Statement, ...]


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


def strength(expression: Expression) -> int:
    """How strongly the outermost operator of *expression* binds in Lua, where joined texts are a call."""
    match expression:
        case Unary():
            return UNARY
        case Chain():
            return ATOM if expression.operator == ".." else STRENGTHS[expression.operator]
        case _:
            return ATOM


def operands(chain: Chain) -> Iterator[tuple[Expression, int]]:
    """The operands of *chain*, not of `..`, each with the least strength that needs no brackets there."""
    binds = STRENGTHS[chain.operator]
    yield chain.first, ATOM if binds == POWER else binds
    for operation in chain.operations:
        yield operation.operand, UNARY if binds == POWER else binds + 1


def first_too_deep(script: Block) -> Position | None:
    """The first place of *script* with more than `MOST_LEVELS` levels; None if there is none."""
    pending: list[tuple[int, Node]] = [(0, script)]
    while pending:
        level, node = pending.pop()
        if level > MOST_LEVELS:
            return node.at
        pending.extend((level + more, part) for more, part in _parts(node))
    return None


def _parts(node: Node) -> Iterator[tuple[int, Node]]:
    """The parts of *node*, each with the levels between both."""
    match node:
        case Block():
            yield from ((1, statement) for statement in node.statements)
        case Local(value=value) | Return(value=value) if value is not None:
            yield 1, value
        case Assignment():
            yield from ((0, node.target), (1, node.value))
        case CallStatement():
            yield 0, node.call
        case Do() | FunctionLiteral():
            yield 0, node.body
        case While():
            yield from ((1, node.condition), (0, node.body))
        case For():
            yield from ((1, node.first), (1, node.last), (0, node.body))
        case If():
            for condition, body in node.branches:
                yield from ((1, condition), (0, body))
            if node.otherwise is not None:
                yield 0, node.otherwise
        case Member():
            yield 0, node.owner
        case Call():
            yield 0, node.callee
            yield from ((1, argument) for argument in node.arguments)
        case Unary():
            yield 2 if _needs_brackets_after(node) else 1, node.operand
        case Chain(operator=".."):
            yield from ((1, operand) for operand in node.operands)
        case Chain():
            yield from _parts_of_chain(node)
        case Constructor():
            yield from ((1, entry.value) for entry in node.entries)


def _needs_brackets_after(unary: Unary) -> bool:
    """True if the operand has brackets; a value under `not` may be compared with nil within some."""
    operand = unary.operand
    is_boolean = isinstance(operand, Boolean) or (isinstance(operand, Unary) and operand.operator == "not")
    return strength(operand) < UNARY or (unary.operator == "not" and not is_boolean)


def _parts_of_chain(chain: Chain) -> Iterator[tuple[int, Expression]]:
    operators = ("", *(operation.operator for operation in chain.operations))
    for operator, (operand, least) in zip(operators, operands(chain), strict=True):
        has_brackets = operator == "%" or strength(operand) < least
        yield int(operator != "") + has_brackets, operand


def values_at_once(expression: Expression) -> int:
    """Number of values that the evaluation of *expression* in Lua holds at once.

    A function is held with its arguments, and so are the parts of a joined text. An operator only holds the
    value on its left.
    """
    match expression:
        case Member() | Call():
            along = _arguments_along(expression)
            return max((number + values_at_once(argument) for number, argument in along), default=1)
        case Unary():
            return values_at_once(expression.operand)
        case Chain(operator=".."):
            return max(1 + number + values_at_once(part) for number, part in enumerate(expression.operands))
        case Chain():
            held = max(values_at_once(operation.operand) for operation in expression.operations)
            return max(values_at_once(expression.first), 1 + held)
        case Constructor():
            return 1 + max((values_at_once(entry.value) for entry in expression.entries), default=0)
        case _:
            return 1


def _arguments_along(path: Path) -> Iterator[tuple[int, Expression]]:
    """The arguments of all calls in *path*, each with its place after the function."""
    while not isinstance(path, Name):
        if isinstance(path, Call):
            yield from enumerate(path.arguments, 1)
            path = path.callee
        else:
            path = path.owner
