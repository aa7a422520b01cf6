"""The syntax tree of a script. Every node has a line and a column, both counted from 1."""

from __future__ import annotations

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
