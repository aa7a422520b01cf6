"""What the compiler has against names that are bound, assigned to, or deleted; the faults found so far."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

from fimlsp.languages.python.compiler.rules.scopes import Kind, Scope, Use
from fimlsp.languages.python.compiler.syntax import nodes
from fimlsp.languages.python.compiler.syntax.nodes import Expression, Name, Span
from fimlsp.languages.python.compiler.syntax.tokens import tokens_of_line
from fimlsp.languages.python.versions import PythonVersion
from fimlsp.quotient.language.whole_text import Fault

DEBUG = "__debug__"
_MOST_BEFORE_STAR = 256


class TargetRules(ABC):
    """Names of the text *data* in a scope, and what the compiler of *version* refuses.

    `scope` is the current one. `evaluated` is False in annotations that are never compiled. `folds` is False
    where `__debug__` is read as a name; elsewhere it is a constant before names are looked at. In what is
    `annotating` an import of a feature may change what is refused. `base` is
    where the text of the current line begins, to which spans refer, and `line_end` where the line ends; its
    column is `column`.
    """

    def __init__(self, version: PythonVersion, scope: Scope, data: bytes) -> None:
        self.version = version
        self.scope = scope
        self.data = data
        self.evaluated = True
        self.folds = True
        self.annotating = False
        self.base = 0
        self.line_end = 0
        self.column = 0
        self.found: list[Fault] = []

    def report(
        self,
        message: str,
        *spans: Span,
        local: bool = True,
        mended_until: int = 0,
        mended_by: bytes = b"",
        rather: tuple[bytes, bytes] | None = None,
        goes_on: bytes = b"",
        together: bool = False,
    ) -> None:
        """Note a fault, of which *spans* in the text of the file are the evidence (see `Fault`)."""
        local = local and not self.annotating
        self.found.append(Fault(message, spans, local, mended_until, mended_by, rather, goes_on, together))

    def at(self, span: Span) -> Span:
        """*span* in the text of the file."""
        return self.base + span[0], self.base + span[1]

    def place(self, at: int) -> Span:
        """The place of the token at *at*, in the text of the file."""
        return self.base + at, self.base + at

    def _until_known(self, span: Span) -> Span:
        """*span* in the text of the file, up to the token behind it: only that tells what it is."""
        start, end = self.at(span)
        tokens, _ = tokens_of_line(self.data, self.base)
        return start, next((token.start for token in tokens if token.start >= end), end)

    @contextmanager
    def inside(self, kind: Kind, *, asynchronous: bool = False) -> Iterator[Scope]:
        """A scope within the current one."""
        outer = self.scope
        self.scope = Scope(kind, outer, asynchronous, outer.private, outer.in_iterable)
        self.scope.coroutine = asynchronous
        try:
            yield self.scope
        finally:
            self.scope = outer

    def bind(self, name: Name, use: Use = Use.BOUND) -> None:
        """The current scope gives *name* a value."""
        self.note(name.name, use, self.at(name.span))
        self.not_debug(name, self.at(name.span))

    @property
    def is_checked(self) -> bool:
        """Whether names, `yield` and `await` are checked: from 3.14 on also in what is never evaluated."""
        return self.evaluated or self.version >= (3, 14)

    def note(self, name: str, use: Use, span: Span) -> None:
        """The current scope uses *name*. What is used in the target of a comprehension is iterated."""
        scope = self.scope
        if scope.iterating:
            if (scope.use(name) | use) & (Use.GLOBAL | Use.NONLOCAL):
                self.report(
                    f"comprehension inner loop cannot rebind assignment expression target '{name}'",
                    scope.spans.get(scope.mangled(name), span),
                    span,
                )
            use |= Use.ITERATED
        scope.add(name, use, span)

    def not_debug(self, name: Name, *spans: Span, message: str = "cannot assign to __debug__") -> None:
        """`__debug__` may not be changed; without *spans* the name, up to the next token, is the evidence."""
        if name.name == DEBUG and (self.is_checked or self.version == (3, 8)):
            self.report(message, *(spans or [self._until_known(name.span)]))

    @abstractmethod
    def visit(self, node: Expression | None) -> None:
        """*node* is evaluated."""

    def assign(self, node: Expression, *sign: Span) -> None:
        """*node* is assigned to, as the *sign* behind it tells unless a word before it does."""
        if isinstance(node, Name):
            self.note(node.name, Use.BOUND, self.at(node.span))
            self._target_is_not_debug(node, sign)
        elif isinstance(node, nodes.Group):
            self.assign(node.inner, *(sign or [self.place(node.behind)]))
        elif isinstance(node, nodes.Display):
            self._assign_to_all(node.elements, sign or ((self.place(node.behind),) if node.behind else ()))
        elif isinstance(node, nodes.Starred):
            self.assign(node.value, *sign)
        elif isinstance(node, nodes.Attribute):
            self.visit(node.value)
            self._target_is_not_debug(node.member, sign)
        else:
            self.visit(node)

    def _target_is_not_debug(self, name: Name, sign: tuple[Span, ...]) -> None:
        if name.name == DEBUG:
            self.not_debug(name, self._until_known(name.span), *sign)

    def delete(self, node: Expression) -> None:
        """*node* is deleted."""
        if isinstance(node, Name):
            if node.name != DEBUG or self.version >= (3, 9):
                self.scope.add(node.name, Use.BOUND, self.at(node.span))
            if self.version >= (3, 10):
                self.not_debug(node, message="cannot delete __debug__")
        elif isinstance(node, nodes.Group):
            self.delete(node.inner)
        elif isinstance(node, nodes.Display):
            for element in node.elements:
                self.delete(element)
        elif isinstance(node, nodes.Attribute):
            self.visit(node.value)
            if self.version >= (3, 14):
                self.not_debug(node.member, message="cannot delete __debug__")
        else:
            self.visit(node)

    def _assign_to_all(self, elements: tuple[Expression, ...], sign: tuple[Span, ...]) -> None:
        stars: list[Span] = []
        for number, element in enumerate(elements):
            inner = element
            while isinstance(inner, nodes.Group) and self.version == (3, 8):
                inner = inner.inner
            if isinstance(inner, nodes.Starred):
                star = self.at(inner.span)[0]
                stars.append((star, star + 1))
                if number >= _MOST_BEFORE_STAR and self.evaluated:
                    self.report("too many expressions in star-unpacking assignment", stars[-1], *sign)
            self.assign(inner, *sign)
        if len(stars) > 1 and self.evaluated:
            self.report("multiple starred expressions in assignment", stars[0], stars[1], *sign)
