"""The parts of a syntax tree that matter to the compiler's checks; operators, for instance, do not.

Spans are offsets of bytes in the text of the logical line.
"""

from __future__ import annotations

from typing import NamedTuple

Span = tuple[int, int]


class Name(NamedTuple):
    """A name, read or written."""

    name: str
    span: Span


class Constant(NamedTuple):
    """A literal: "number", "string", "bytes" or "word"."""

    kind: str
    text: bytes
    span: Span


class Parts(NamedTuple):
    """An expression of which only the parts matter."""

    parts: tuple[Expression, ...]


class Group(NamedTuple):
    """An expression in parentheses, before the token at `behind`."""

    inner: Expression
    span: Span
    behind: int


class Display(NamedTuple):
    """A tuple, list or set. The token behind its brackets is at `behind`, which is 0 if it has none."""

    kind: str
    elements: tuple[Expression, ...]
    behind: int = 0


class Starred(NamedTuple):
    """An expression with a star before it."""

    value: Expression
    span: Span


class Attribute(NamedTuple):
    """A member of a value."""

    value: Expression
    member: Name


class Subscript(NamedTuple):
    """An element of a value."""

    value: Expression
    indices: tuple[Expression, ...]


class Keyword(NamedTuple):
    """An argument with its name, None for two stars, and with where its sign is."""

    name: Name | None
    value: Expression
    sign: Span


class Call(NamedTuple):
    """A call."""

    function: Expression
    arguments: tuple[Expression, ...]
    keywords: tuple[Keyword, ...]


class Parameter(NamedTuple):
    """A parameter of a function."""

    name: Name
    annotation: Expression | None
    default: Expression | None


class Lambda(NamedTuple):
    """A function without a name."""

    parameters: tuple[Parameter, ...]
    body: Expression


class Clause(NamedTuple):
    """A `for` of a comprehension with its conditions."""

    asynchronous: bool
    target: Expression
    iterable: Expression
    conditions: tuple[Expression, ...]
    span: Span


class Comprehension(NamedTuple):
    """A comprehension: "list", "set", "dict" or "generator". Its last clause ends at `end`.

    One that is `enclosed` in further brackets may turn out to be in another one.
    """

    kind: str
    elements: tuple[Expression, ...]
    clauses: tuple[Clause, ...]
    end: int
    enclosed: bool


class Walrus(NamedTuple):
    """An assignment within an expression, whose sign is at `sign`."""

    target: Name
    value: Expression
    sign: int


class Yield(NamedTuple):
    """A `yield`, perhaps from an iterable: then `word` is where `from` stands."""

    value: Expression | None
    word: Span | None
    span: Span


class Await(NamedTuple):
    """An `await`. One that is `enclosed` in brackets may turn out to be in a comprehension."""

    value: Expression
    span: Span
    enclosed: bool


Expression = (
    Name
    | Constant
    | Parts
    | Group
    | Display
    | Starred
    | Attribute
    | Subscript
    | Call
    | Lambda
    | Comprehension
    | Walrus
    | Yield
    | Await
)


class Capture(NamedTuple):
    """A pattern that matches everything: into a name, or, if that is None, into nothing."""

    name: Name | None
    span: Span


class Literal(NamedTuple):
    """A pattern that is compared with a value: the value if it is a literal, else None."""

    value: object
    parts: Expression
    span: Span


class Sequence(NamedTuple):
    """A pattern of several elements; those with a star are captures in a `StarPattern`."""

    elements: tuple[Pattern, ...]


class StarPattern(NamedTuple):
    """A capture of the other elements of a sequence."""

    name: Name | None
    span: Span


class Mapping(NamedTuple):
    """A pattern of keys and values, and perhaps a name for the rest."""

    keys: tuple[Literal, ...]
    values: tuple[Pattern, ...]
    rest: Name | None


class ClassPattern(NamedTuple):
    """A pattern of a class with patterns for its attributes."""

    of: Expression
    positional: tuple[Pattern, ...]
    names: tuple[Name, ...]
    named: tuple[Pattern, ...]


class Alternatives(NamedTuple):
    """Several patterns of which one has to match: from `start`, each known by the token at one of `ends`."""

    patterns: tuple[Pattern, ...]
    start: int
    ends: tuple[int, ...]


class Alias(NamedTuple):
    """A pattern whose match gets a name."""

    pattern: Pattern
    name: Name


Pattern = Capture | Literal | Sequence | StarPattern | Mapping | ClassPattern | Alternatives | Alias
