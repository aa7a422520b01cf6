"""What the compiler has against simple statements: declarations, imports, annotations, type parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fimlsp.languages.python.compiler.rules.expressions import ExpressionRules
from fimlsp.languages.python.compiler.rules.scopes import Kind, Scope, Use, declare
from fimlsp.languages.python.compiler.syntax import nodes
from fimlsp.languages.python.compiler.syntax import statements as syntax
from fimlsp.languages.python.compiler.syntax.nodes import Expression, Name, Span
from fimlsp.languages.python.compiler.syntax.statements import Simple
from fimlsp.languages.python.versions import PythonVersion


class SimpleStatementRules(ExpressionRules):
    """Visits simple statements; with *future* annotations are never evaluated.

    `declares` tells whether the file's own block declares names, `futures` where features are imported.
    """

    def __init__(self, version: PythonVersion, data: bytes, *, future: bool) -> None:
        super().__init__(version, Scope(Kind.MODULE), data)
        self.future = future
        self.declares = False
        self.futures: list[Span] = []

    def type_parameters(self, parameters: tuple[syntax.TypeParameter, ...]) -> None:
        """The type parameters of a generic definition, in its scope."""
        scope = self.scope
        defaulted: Span | None = None
        for parameter in parameters:
            name, span = parameter.name.name, self.at(parameter.name.span)
            if scope.use(name) & Use.TYPE_PARAMETER:
                self.report(f"duplicate type parameter '{name}'", scope.spans[scope.mangled(name)], span)
            if name == "__classdict__" and self.version >= (3, 13):
                self.report(f"reserved name '{name}' cannot be used for type parameter", span)
            scope.add(name, Use.TYPE_PARAMETER, span)
            self.not_debug(parameter.name, span)
            for part in (parameter.bound, parameter.default):
                if part is not None:
                    with self.inside(Kind.BOUND):
                        self.visit(part.value if isinstance(part, nodes.Starred) else part)
            if parameter.default is not None:
                defaulted = span
            elif defaulted is not None:
                self.report(
                    f"non-default type parameter '{name}' follows default type parameter",
                    defaulted,
                    self.place(parameter.behind),
                )

    def annotation(self, node: Expression, *, evaluated: bool, is_of_place: bool = False) -> None:
        """An annotation; code is made of it only if it is *evaluated*.

        Up to 3.9 one that *is_of_place*, and so is not kept, is evaluated in spite of the import. One that is
        never evaluated is a scope; from 3.14 on all are.
        """
        future = self.future and not (is_of_place and self.version <= (3, 9))
        node = node.value if isinstance(node, nodes.Starred) else node
        before = self.evaluated, self.folds, self.annotating
        self.annotating = True
        self.evaluated = evaluated and not future
        self.folds = not (self.future and self.version >= (3, 9))
        if self.version >= (3, 14) or (future and self.version >= (3, 10)):
            with self.inside(Kind.ANNOTATION):
                self.visit(node)
        else:
            self.visit(node)
        self.evaluated, self.folds, self.annotating = before

    def simple_statements(self, statements: Sequence[Simple]) -> None:
        """Visit *statements*, which are on one line."""
        for statement in statements:
            _SIMPLE[type(statement)](self, statement)

    def _evaluation(self, statement: syntax.Evaluation) -> None:
        if statement.behind and isinstance(statement.parts[0], nodes.Group):
            self._read_unless_annotated(statement.parts[0], statement.behind)
        self.visit_all(statement.parts)

    def _read_unless_annotated(self, node: nodes.Group, behind: int) -> None:
        """A name in parentheses is read, unless a colon *behind* makes the statement an annotation of it."""
        inner: Expression = node
        while isinstance(inner, nodes.Group):
            inner = inner.inner
        if isinstance(inner, Name):
            self.scope.add(inner.name, Use.READ, self.at((inner.span[0], behind)))

    def _assignment(self, statement: syntax.Assignment) -> None:
        for target, sign in zip(statement.targets, statement.signs, strict=True):
            self.assign(target, self.at(sign))
        self.visit(statement.value)

    def _augmentation(self, statement: syntax.Augmentation) -> None:
        target = statement.target
        while isinstance(target, nodes.Group):
            target = target.inner
        if isinstance(target, nodes.Attribute) and (3, 9) <= self.version <= (3, 13):
            self.visit(target.value)  # `__debug__` may be the member
        else:
            self.assign(target, self.at(statement.sign))
        self.visit(statement.value)

    def _annotation(self, statement: syntax.Annotation) -> None:
        target, scope = statement.target, self.scope
        if isinstance(target, Name):
            span = self.at((target.span[0], statement.colon))
            used = scope.use(target.name)
            if used & (Use.GLOBAL | Use.NONLOCAL) and scope.kind is not Kind.MODULE:
                word = "global" if used & Use.GLOBAL else "nonlocal"
                first = scope.spans[scope.mangled(target.name)]
                self.report(f"annotated name '{target.name}' can't be {word}", first, span, local=False)
            scope.add(target.name, Use.ANNOTATED | Use.BOUND, self.at(target.span))
            self.not_debug(target, span)
        else:
            inner: Expression = target
            while isinstance(inner, nodes.Group):
                inner = inner.inner
            sign = self.place(statement.colon)
            if isinstance(inner, nodes.Name) and statement.value is None:
                self.not_debug(inner, self.at(inner.span), sign)
            elif isinstance(inner, nodes.Subscript) and statement.value is None:
                self.visit(inner.value)
                self._indices_of_place(inner.indices, self.place(statement.behind))
            else:
                self.assign(inner, sign)
        self.annotation(
            statement.annotation,
            evaluated=scope.kind in (Kind.MODULE, Kind.CLASS),
            is_of_place=not isinstance(target, Name),
        )
        self.visit(statement.value)

    def _indices_of_place(self, indices: Sequence[Expression], behind: Span) -> None:
        """The *indices* of a place that is only annotated, as what comes *behind* tells, have no stars."""
        for index in indices:
            if isinstance(index, nodes.Group):
                self._indices_of_place((index.inner,), behind)
            elif isinstance(index, nodes.Display) and index.kind == "tuple":
                self._indices_of_place(index.elements, behind)
            else:
                if isinstance(index, nodes.Starred) and self.version >= (3, 9):
                    self.report("can't use starred expression here", self.at(index.span), behind)
                self.visit(index)

    def _return(self, statement: syntax.Return) -> None:
        scope, span = self.scope, self.at(statement.span)
        if statement.value is not None and scope.returns is None:
            scope.returns = span
            self.returns_no_value()
        self.visit(statement.value)

    def _deletion(self, statement: syntax.Deletion) -> None:
        self.delete(statement.targets)

    def _import(self, statement: syntax.Import) -> None:
        span = self.at(statement.span)
        if statement.is_of_features(self.version):
            if statement.lazy is not None:
                self.report("lazy from __future__ import is not allowed", self.at(statement.lazy), span)
            self.futures.append(span)
        if statement.everything and self.scope.kind is not Kind.MODULE:
            star = self.at(statement.read[0].span)
            self.report("import * only allowed at module level", star, local=False)
        for name in statement.bound:
            if name in statement.packages and self.version == (3, 8):
                self.note(name.name, Use.IMPORTED, self.at(name.span))
            else:
                self.bind(name, Use.IMPORTED)

    def _declaration(self, statement: syntax.Declaration) -> None:
        self.declares |= self.scope.kind is Kind.MODULE
        if not statement.is_global:
            self.may_be_bound_outside(statement)
        for name in statement.names:
            declare(
                self.scope,
                name,
                self.at(name.span),
                self.report,
                is_global=statement.is_global,
                together=not self.column,
            )

    def may_be_bound_outside(self, statement: syntax.Declaration) -> None:
        """`nonlocal` is for what a function around binds, or a class around a function for `__class__`."""
        around = [scope.kind for scope in self.scope.around()]
        if self.scope.kind is Kind.MODULE:
            message = "nonlocal declaration not allowed at module level"
        elif not any(kind in (Kind.FUNCTION, Kind.CLASS) for kind in around):
            message = "no binding for nonlocal found"
        else:
            return
        self.report(message, self.at(statement.span), local=False)

    def _type_alias(self, statement: syntax.TypeAlias) -> None:
        self.bind(statement.name)
        if statement.type_parameters:
            with self.inside(Kind.GENERIC):
                self.type_parameters(statement.type_parameters)
                with self.inside(Kind.ALIAS):
                    self.visit(statement.value)
        else:
            with self.inside(Kind.ALIAS):
                self.visit(statement.value)


_SIMPLE: dict[type, Callable[[SimpleStatementRules, Any], None]] = {
    syntax.Evaluation: SimpleStatementRules._evaluation,
    syntax.Assignment: SimpleStatementRules._assignment,
    syntax.Augmentation: SimpleStatementRules._augmentation,
    syntax.Annotation: SimpleStatementRules._annotation,
    syntax.Return: SimpleStatementRules._return,
    syntax.Deletion: SimpleStatementRules._deletion,
    syntax.Import: SimpleStatementRules._import,
    syntax.Declaration: SimpleStatementRules._declaration,
    syntax.TypeAlias: SimpleStatementRules._type_alias,
}
