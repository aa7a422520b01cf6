"""What a logical line may be: simple statements, and the heads of compound ones."""

from __future__ import annotations

from typing import NamedTuple

from fimlsp.languages.python.compiler.syntax import nodes
from fimlsp.languages.python.compiler.syntax.nodes import Expression, Name, Pattern, Span
from fimlsp.languages.python.versions import PythonVersion


class Evaluation(NamedTuple):
    """A statement that only evaluates expressions; one without a word of its own ends at `behind`."""

    parts: tuple[Expression, ...]
    behind: int = 0

    @property
    def has_word(self) -> bool:
        """Whether it has a word of its own; otherwise it is an expression itself."""
        return not self.behind


class Assignment(NamedTuple):
    """`a = b = value`, with where each sign is."""

    targets: tuple[Expression, ...]
    value: Expression
    signs: tuple[Span, ...]


class Augmentation(NamedTuple):
    """`a += value`, with where the sign is."""

    target: Expression
    value: Expression
    sign: Span


class Annotation(NamedTuple):
    """`a: annotation = value`, with where the colon is, and what comes `behind` the annotation.

    Only that tells whether there is a value.
    """

    target: Expression
    annotation: Expression
    value: Expression | None
    colon: int
    behind: int


class Return(NamedTuple):
    """`return value`; its span ends where the value begins, as what comes between may part the two."""

    value: Expression | None
    span: Span


class Deletion(NamedTuple):
    """`del a, b`."""

    targets: Expression


class Import(NamedTuple):
    """Imports, with the names they bind, and the names in a module that they read.

    With `everything` it imports all that a module has. The `span` ends with the name of the module.
    `packages` are those of `bound` that members follow. If it is `lazy`, that is where it says so.
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
        """Whether it imports features: up to 3.12 dots before the module make no difference."""
        return self.is_future and (not self.relative or version <= (3, 12))


class Declaration(NamedTuple):
    """`global a` or `nonlocal a`."""

    is_global: bool
    names: tuple[Name, ...]
    span: Span


class TypeParameter(NamedTuple):
    """A type parameter of a generic definition; what is at `behind` tells whether there is a default."""

    name: Name
    bound: Expression | None
    default: Expression | None
    behind: int


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
    """A head without anything: `else`, `try`, `finally`."""


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
    parameters: tuple[nodes.Parameter, ...]
    returns: Expression | None


class Class(NamedTuple):
    """The head of a class; its bases as the call they look like."""

    name: Name
    type_parameters: tuple[TypeParameter, ...]
    bases: nodes.Call | None


class Decorator(NamedTuple):
    """A decorator."""

    value: Expression


Head = Condition | Bare | Loop | With | Handler | Case | Function | Class | Decorator | None


class ParsedLine(NamedTuple):
    """A logical line: the word it begins with, its head, and the simple statements on it.

    The head is None if there are only simple statements. With `only_string` it is nothing but a string.
    """

    word: bytes
    head: Head
    statements: tuple[Simple, ...]
    only_string: bool = False
