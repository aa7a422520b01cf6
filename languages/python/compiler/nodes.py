"""The parts of a syntax tree that matter to the compiler's checks; operators, for instance, do not.

Expressions come first, then patterns, simple statements, and the heads of compound statements. Spans are
offsets in bytes in the text of the logical line. Where only the next token decides the kind of a node, its
start is kept as `following`.
"""

from __future__ import annotations

from typing import NamedTuple

from fimlsp.languages.python.versions import PythonVersion

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
    """An expression in parentheses."""

    inner: Expression
    span: Span
    following: int


class Display(NamedTuple):
    """A tuple, list or set; `following` is 0 if it has no brackets."""

    kind: str
    elements: tuple[Expression, ...]
    following: int = 0


class Starred(NamedTuple):
    """An expression after a star."""

    value: Expression
    span: Span


class Attribute(NamedTuple):
    """An attribute of a value."""

    value: Expression
    member: Name


class Subscript(NamedTuple):
    """An element of a value."""

    value: Expression
    indices: tuple[Expression, ...]


class Keyword(NamedTuple):
    """An argument with its name, or None after two stars, and the span of its `=`."""

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
    """A `for` of a comprehension with its conditions; the span is that of its words."""

    asynchronous: bool
    target: Expression
    iterable: Expression
    conditions: tuple[Expression, ...]
    span: Span


class Comprehension(NamedTuple):
    """A comprehension: "list", "set", "dict" or "generator". Its last clause ends at `end`.

    If it is `enclosed` in further brackets, later text can put it into another comprehension.
    """

    kind: str
    elements: tuple[Expression, ...]
    clauses: tuple[Clause, ...]
    end: int
    enclosed: bool


class Walrus(NamedTuple):
    """An assignment within an expression; `sign` is the start of its `:=`."""

    target: Name
    value: Expression
    sign: int


class Yield(NamedTuple):
    """A `yield`; `word` is the span of `from`, if it has one."""

    value: Expression | None
    word: Span | None
    span: Span


class Await(NamedTuple):
    """An `await`. If it is `enclosed` in brackets, later text can put it into a comprehension."""

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
    """A pattern that matches any value: into a name, or as wildcard if that is None."""

    name: Name | None
    span: Span


class Literal(NamedTuple):
    """A pattern that is compared with a value; `value` is None unless that is a literal."""

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
    """Several patterns of which one has to match, from `start`; the tokens at `ends` decide each of them."""

    patterns: tuple[Pattern, ...]
    start: int
    ends: tuple[int, ...]


class Alias(NamedTuple):
    """A pattern with a name for its match."""

    pattern: Pattern
    name: Name


Pattern = Capture | Literal | Sequence | StarPattern | Mapping | ClassPattern | Alternatives | Alias


class Evaluation(NamedTuple):
    """A statement that only evaluates expressions; `following` is 0 if it starts with a word of its own."""

    parts: tuple[Expression, ...]
    following: int = 0

    @property
    def has_word(self) -> bool:
        """True if it starts with a word of its own, such as `raise`, and is not just an expression."""
        return not self.following


class Assignment(NamedTuple):
    """`a = b = value`, with the spans of the signs."""

    targets: tuple[Expression, ...]
    value: Expression
    signs: tuple[Span, ...]


class Augmentation(NamedTuple):
    """`a += value`, with the span of the sign."""

    target: Expression
    value: Expression
    sign: Span


class Annotation(NamedTuple):
    """`a: annotation = value`, with the start of the colon, and `following` after the annotation.

    Only the token there decides if there is a value.
    """

    target: Expression
    annotation: Expression
    value: Expression | None
    colon: int
    following: int


class Return(NamedTuple):
    """`return value`; its span extends to the start of the value, as text between could separate the two."""

    value: Expression | None
    span: Span


class Deletion(NamedTuple):
    """`del a, b`."""

    targets: Expression


class Import(NamedTuple):
    """Imports, with the names they bind, and the names in a module that they read.

    With `everything` it is a star import. The `span` ends with the name of the module. `packages` are those
    of `bound` after which members are named. `lazy` is the span of that word, if it has one.
    """

    bound: tuple[Name, ...]
    read: tuple[Name, ...]
    is_future: bool
    everything: bool
    span: Span
    relative: bool = False
    packages: tuple[Name, ...] = ()
    lazy: Span | None = None

    def is_of_features(self, version: PythonVersion) -> bool:
        """True if it imports features; up to 3.12 also with dots before the module."""
        return self.is_future and (not self.relative or version <= (3, 12))


class Declaration(NamedTuple):
    """`global a` or `nonlocal a`."""

    is_global: bool
    names: tuple[Name, ...]
    span: Span


class TypeParameter(NamedTuple):
    """A type parameter of a generic definition; the token at `following` decides if it has a default."""

    name: Name
    bound: Expression | None
    default: Expression | None
    following: int


class TypeAlias(NamedTuple):
    """`type A[T] = value`."""

    name: Name
    type_parameters: tuple[TypeParameter, ...]
    value: Expression


Simple = (
    Evaluation | Assignment | Augmentation | Annotation | Return | Deletion | Import | Declaration | TypeAlias
)


class Condition(NamedTuple):
    """The head of `if`, `elif`, `while`, `match`."""

    test: Expression


class Bare(NamedTuple):
    """A head of a word alone: `else`, `try`, `finally`."""


class Loop(NamedTuple):
    """The head of a `for`."""

    target: Expression
    iterable: Expression


class With(NamedTuple):
    """The head of a `with`: managers and targets."""

    items: tuple[tuple[Expression, Expression | None], ...]


class Handler(NamedTuple):
    """The head of an `except`."""

    of: Expression | None
    name: Name | None


class Case(NamedTuple):
    """The head of a `case`."""

    pattern: Pattern
    guard: Expression | None
    span: Span


class Function(NamedTuple):
    """The head of a function."""

    asynchronous: bool
    name: Name
    type_parameters: tuple[TypeParameter, ...]
    parameters: tuple[Parameter, ...]
    returns: Expression | None


class Class(NamedTuple):
    """The head of a class; its bases as the call they look like."""

    name: Name
    type_parameters: tuple[TypeParameter, ...]
    bases: Call | None


class Decorator(NamedTuple):
    """A decorator."""

    value: Expression


Head = Condition | Bare | Loop | With | Handler | Case | Function | Class | Decorator | None


class ParsedLine(NamedTuple):
    """A logical line: its first word, its head, and the simple statements on it.

    The head is None if there are only simple statements.
    """

    word: bytes
    head: Head
    statements: tuple[Simple, ...]
