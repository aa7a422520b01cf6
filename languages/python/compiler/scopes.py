"""The scopes of names, with the use of each name so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum, IntFlag
from itertools import takewhile
from typing import Literal

from fimlsp.languages.python.compiler.nodes import Name, Span

Report = Callable[..., None]
"""Takes a message, the spans that are its evidence, and the other fields of a `Fault` by keyword."""


class ScopeKind(Enum):
    """The construct that makes a scope."""

    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    LAMBDA = "lambda"
    COMPREHENSION = "comprehension"
    ANNOTATION = "an annotation"
    BOUND = "a TypeVar bound"
    ALIAS = "a type alias"
    GENERIC = "the definition of a generic"


class Use(IntFlag):
    """The uses of a name in a scope."""

    GLOBAL = 1
    NONLOCAL = 2
    BOUND = 4
    PARAMETER = 8
    READ = 16
    ANNOTATED = 32
    ITERATED = 64
    TYPE_PARAMETER = 128
    IMPORTED = 256


_FUNCTIONS = (ScopeKind.FUNCTION, ScopeKind.LAMBDA, ScopeKind.COMPREHENSION)
_OF_TYPES = (ScopeKind.ANNOTATION, ScopeKind.BOUND, ScopeKind.ALIAS, ScopeKind.GENERIC)
_LOCAL = Use.BOUND | Use.IMPORTED | Use.PARAMETER | Use.TYPE_PARAMETER
_NO_USE = Use(0)


@dataclass(slots=True)
class Scope:
    """A scope with the uses of its names so far.

    `asynchronous` is True if it may wait, as an `async` function or the cell of a notebook. `private` is the
    class that mangles its private names. `coroutine` is True if it may or has to be one, and
    `waits` is the span of its first `await`. `in_iterable` counts the iterables of comprehensions around the
    current node. `clause` is the start of the first `for` of a comprehension. `waiting` are the spans of
    asynchronous comprehensions that need this one to be asynchronous.
    """

    kind: ScopeKind
    parent: Scope | None = None
    asynchronous: bool = False
    private: str = ""
    in_iterable: int = 0
    clause: int = 0
    coroutine: bool = False
    waits: Span | None = None
    yields: Span | None = None
    returns: Span | None = None
    iterating: bool = False
    uses: dict[str, Use] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)
    nonlocals: list[tuple[str, Span]] = field(default_factory=list)
    waiting: list[Span] = field(default_factory=list)

    @property
    def is_function(self) -> bool:
        """True if it is a function to CPython."""
        return self.kind in _FUNCTIONS

    @property
    def of_types(self) -> bool:
        """True if it is the scope of an annotation or of a generic definition."""
        return self.kind in _OF_TYPES

    def mangled(self, name: str) -> str:
        """The name under which *name* is stored: a private one is mangled with its class."""
        if not self.private or not name.startswith("__") or name.endswith("__") or "." in name:
            return name
        owner = self.private.lstrip("_")
        return f"_{owner}{name}" if owner else name

    def use(self, name: str) -> Use:
        """The uses of *name* so far."""
        return self.uses.get(self.mangled(name), _NO_USE)

    def add(self, name: str, use: Use, span: Span) -> None:
        """Record a use of *name* at *span*."""
        stored = self.mangled(name)
        self.uses[stored] = self.uses.get(stored, _NO_USE) | use
        self.spans.setdefault(stored, span)

    def around(self) -> Iterator[Scope]:
        """The scopes around this one, innermost first."""
        scope = self.parent
        while scope is not None:
            yield scope
            scope = scope.parent


def declare(scope: Scope, name: Name, span: Span, report: Report, *, is_global: bool, together: bool) -> None:
    """Declare *name* `global` or `nonlocal` in *scope*.

    With *together* the statement is in the file's block, so no header can separate it from the uses above it.
    """
    used = scope.use(name.name)
    first = scope.spans.get(scope.mangled(name.name), span)
    word = "global" if is_global else "nonlocal"
    if used & Use.PARAMETER:
        report(f"name '{name.name}' is parameter and {word}", first, span, local=False)
    elif used & (Use.BOUND | Use.READ | Use.ANNOTATED):
        message = f"name '{name.name}' is used prior to {word} declaration"
        header = b"" if together else b"def _():"
        report(message, first, span, local=False, repaired_by=header, together=together)
    elif used & (Use.NONLOCAL if is_global else Use.GLOBAL):
        report(f"name '{name.name}' is nonlocal and global", first, span, local=False)
    scope.add(name.name, Use.GLOBAL if is_global else Use.NONLOCAL, span)
    if not is_global:
        scope.nonlocals.append((name.name, span))


Binding = Literal["bound", "type parameter", "none"]


def binding_of(scope: Scope, name: str) -> Binding:
    """The binding of a `nonlocal` *name* in *scope*, once all outer scopes are read.

    A class that binds the name hides a type parameter, although it does not bind the `nonlocal`.
    """
    stored = scope.mangled(name)
    is_hidden = False
    for outer in scope.around():
        used = outer.uses.get(stored, _NO_USE)
        if outer.kind is ScopeKind.CLASS:
            if stored == "__class__":
                return "bound"
            is_hidden = is_hidden or bool(used & (_LOCAL | Use.ANNOTATED))
        elif outer.kind is not ScopeKind.MODULE:
            if used & Use.GLOBAL:
                return "none"
            if used & Use.TYPE_PARAMETER:
                return "bound" if is_hidden else "type parameter"
            if used & (_LOCAL | Use.NONLOCAL | Use.ANNOTATED):
                return "bound"
    return "none"


def may_be_hidden(scope: Scope, name: str) -> bool:
    """True if a function or class around *scope* is inside the definition with the type parameter *name*."""
    stored = scope.mangled(name)
    within = takewhile(lambda outer: not outer.uses.get(stored, _NO_USE) & Use.TYPE_PARAMETER, scope.around())
    return any(outer.kind in (ScopeKind.FUNCTION, ScopeKind.CLASS) for outer in within)
