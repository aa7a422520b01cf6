"""The compiler's rules for simple statements: declarations, imports, annotations, type parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fimlsp.languages.python.compiler import nodes
from fimlsp.languages.python.compiler.expression_rules import DEBUG, ExpressionRules
from fimlsp.languages.python.compiler.nodes import Expression, Name, Simple, Span
from fimlsp.languages.python.compiler.scopes import Scope, ScopeKind, Use, declare
from fimlsp.languages.python.versions import PythonVersion


class SimpleStatementRules(ExpressionRules):
    """Visits simple statements in the scope *file*; with *future* annotations are never evaluated.

    `declares` is True if the file's own block declares names. `futures` are the spans of imports of features.
    """

    def __init__(self, version: PythonVersion, file: Scope, data: bytes, *, future: bool) -> None:
        super().__init__(version, file, data)
        self.future = future
        self.declares = False
        self.futures: list[Span] = []

    def type_parameters(self, parameters: tuple[nodes.TypeParameter, ...]) -> None:
        """Bind the type parameters of a generic definition, in its scope."""
        scope = self.scope
        defaulted: Span | None = None
        for parameter in parameters:
            name, span = parameter.name.name, self.in_file(parameter.name.span)
            if scope.use(name) & Use.TYPE_PARAMETER:
                self.report(f"duplicate type parameter '{name}'", scope.spans[scope.mangled(name)], span)
            if name == "__classdict__" and self.version >= (3, 13):
                self.report(f"reserved name '{name}' cannot be used for type parameter", span)
            scope.add(name, Use.TYPE_PARAMETER, span)
            self.not_debug(parameter.name, span)
            for part in (parameter.bound, parameter.default):
                if part is not None:
                    with self.inside(ScopeKind.BOUND):
                        self.visit(part.value if isinstance(part, nodes.Starred) else part)
            if parameter.default is not None:
                defaulted = span
            elif defaulted is not None:
                self.report(
                    f"non-default type parameter '{name}' follows default type parameter",
                    defaulted,
                    self.point(parameter.following),
                )

    def annotation(self, node: Expression, *, evaluated: bool, is_of_member: bool = False) -> None:
        """Visit an annotation; it is compiled only if it is *evaluated*.

        Up to 3.9 the annotation of an attribute or element is evaluated in spite of the import, as it is not
        kept. An annotation that is never evaluated is a scope; from 3.14 on all are.
        """
        future = self.future and not (is_of_member and self.version <= (3, 9))
        node = node.value if isinstance(node, nodes.Starred) else node
        before = self.evaluated, self.folds, self.annotating
        self.annotating = True
        self.evaluated = evaluated and not future
        self.folds = not (self.future and self.version >= (3, 9))
        if self.version >= (3, 14) or (future and self.version >= (3, 10)):
            with self.inside(ScopeKind.ANNOTATION):
                self.visit(node)
        else:
            self.visit(node)
        self.evaluated, self.folds, self.annotating = before

    def simple_statements(self, statements: Sequence[Simple]) -> None:
        """Visit *statements*, which are on one line."""
        for statement in statements:
            _SIMPLE[type(statement)](self, statement)

    def _evaluation(self, statement: nodes.Evaluation) -> None:
        if statement.following and isinstance(statement.parts[0], nodes.Group):
            self._read_unless_annotated(statement.parts[0], statement.following)
        self.visit_all(statement.parts)

    def _read_unless_annotated(self, node: nodes.Group, following: int) -> None:
        """Record a name in parentheses as read. A colon at *following* would make it an annotated one."""
        inner = _ungrouped(node)
        if isinstance(inner, Name):
            self.scope.add(inner.name, Use.READ, self.in_file((inner.span[0], following)))

    def _assignment(self, statement: nodes.Assignment) -> None:
        for target, sign in zip(statement.targets, statement.signs, strict=True):
            self.assign(target, self.in_file(sign))
        self.visit(statement.value)

    def _augmentation(self, statement: nodes.Augmentation) -> None:
        target = _ungrouped(statement.target)
        if isinstance(target, nodes.Attribute) and (3, 9) <= self.version <= (3, 13):
            self.visit(target.value)  # `__debug__` may be the member
        else:
            self.assign(target, self.in_file(statement.sign))
        self.visit(statement.value)

    def _annotation(self, statement: nodes.Annotation) -> None:
        target = statement.target
        if isinstance(target, Name):
            self._annotated_name(target, self.in_file((target.span[0], statement.colon)))
        else:
            self._annotated_member(_ungrouped(target), statement)
        self.annotation(
            statement.annotation,
            evaluated=self.scope.kind in (ScopeKind.MODULE, ScopeKind.CLASS),
            is_of_member=not isinstance(target, Name),
        )
        self.visit(statement.value)

    def _annotated_name(self, target: Name, span: Span) -> None:
        """Bind *target*, which *span*, up to the colon, shows to be annotated."""
        scope = self.scope
        used = scope.use(target.name)
        if used & (Use.GLOBAL | Use.NONLOCAL) and scope.kind is not ScopeKind.MODULE:
            word = "global" if used & Use.GLOBAL else "nonlocal"
            first = scope.spans[scope.mangled(target.name)]
            self.report(f"annotated name '{target.name}' can't be {word}", first, span, local=False)
        scope.add(target.name, Use.ANNOTATED | Use.BOUND, self.in_file(target.span))
        self.not_debug(target, span)

    def _annotated_member(self, target: Expression, statement: nodes.Annotation) -> None:
        """Visit the annotated *target* of *statement*: an attribute, an element, or a name in parentheses."""
        sign = self.point(statement.colon)
        if isinstance(target, nodes.Name) and self.version >= (3, 14):
            if statement.value is not None:
                self.assign(target, sign, self.point(statement.following))
        elif isinstance(target, nodes.Name) and statement.value is None:
            self.not_debug(target, self.in_file(target.span), sign)
        elif isinstance(target, nodes.Subscript) and statement.value is None:
            self.visit(target.value)
            self._indices_of_element(target.indices, self.point(statement.following))
        else:
            self.assign(target, sign)

    def _indices_of_element(self, indices: Sequence[Expression], following: Span) -> None:
        """Refuse stars in *indices* of an element that is annotated without a value, as *following* shows."""
        for index in indices:
            if isinstance(index, nodes.Group):
                self._indices_of_element((index.inner,), following)
            elif isinstance(index, nodes.Display) and index.kind == "tuple":
                self._indices_of_element(index.elements, following)
            else:
                if isinstance(index, nodes.Starred) and self.version >= (3, 9):
                    self.report("can't use starred expression here", self.in_file(index.span), following)
                self.visit(index)

    def _return(self, statement: nodes.Return) -> None:
        scope, span = self.scope, self.in_file(statement.span)
        if statement.value is not None and scope.returns is None:
            scope.returns = span
            self.returns_no_value()
        self.visit(statement.value)

    def _deletion(self, statement: nodes.Deletion) -> None:
        self.delete(statement.targets)

    def _import(self, statement: nodes.Import) -> None:
        span = self.in_file(statement.span)
        if statement.is_of_features(self.version):
            if statement.lazy is not None:
                self.report("lazy from __future__ import is not allowed", self.in_file(statement.lazy), span)
            self.futures.append(span)
        if statement.everything and self.scope.kind is not ScopeKind.MODULE:
            star = self.in_file(statement.read[0].span)
            self.report("import * only allowed at module level", star, local=False)
        for name in statement.bound:
            if name in statement.packages and self.version == (3, 8):
                self.note(name.name, Use.IMPORTED, self.in_file(name.span))
            else:
                self.bind(name, Use.IMPORTED)

    def _declaration(self, statement: nodes.Declaration) -> None:
        self.declares |= self.scope.kind is ScopeKind.MODULE
        if not statement.is_global:
            self.may_be_bound_outside(statement)
        for name in statement.names:
            declare(
                self.scope,
                name,
                self.in_file(name.span),
                self.report,
                is_global=statement.is_global,
                together=not self.column,
            )

    def may_be_bound_outside(self, statement: nodes.Declaration) -> None:
        """Refuse `nonlocal` without an outer function, or class for `__class__`, that can bind the name."""
        around = [scope.kind for scope in self.scope.around()]
        span, names = self.in_file(statement.span), [name.name for name in statement.names]
        starts_line = False
        if self.scope.kind is ScopeKind.MODULE:
            message = "nonlocal declaration not allowed at module level"
            before = self.data[max(span[0] - 2, 0) : span[0]]
            starts_line = before in (b"", b"\n") or (before[1:] == b"\n" and before[:1] != b"\\")
        elif not any(kind in (ScopeKind.FUNCTION, ScopeKind.CLASS) for kind in around):
            message = "no binding for nonlocal found"
        else:
            return
        repaired_before = bound_around(names, self.data, span[0])
        self.report(message, span, local=False, repaired_before=repaired_before, starts_line=starts_line)

    def _type_alias(self, statement: nodes.TypeAlias) -> None:
        self.bind(statement.name)
        if statement.type_parameters:
            with self.inside(ScopeKind.GENERIC):
                self.type_parameters(statement.type_parameters)
                with self.inside(ScopeKind.ALIAS):
                    self.visit(statement.value)
        else:
            with self.inside(ScopeKind.ALIAS):
                self.visit(statement.value)


def bound_around(names: Sequence[str], data: bytes, start: int) -> bytes:
    """A statement, and functions of which the outer binds *names*, for `nonlocal` at *start* in *data*.

    The inner one ends so that the line of that statement is in its body. Nothing for `__debug__`.
    """
    margin = data[data.rfind(b"\n", 0, start) + 1 : start]
    if DEBUG in names:
        return b""
    header = f"0\ndef a():\n {'='.join(names)}=0\n def b():".encode()
    return header + (b"\n%s0" % margin if margin.strip(b" ") == b"" and len(margin) > 1 else b"\\")


def _ungrouped(node: Expression) -> Expression:
    """*node* without parentheses around it."""
    while isinstance(node, nodes.Group):
        node = node.inner
    return node


_SIMPLE: dict[type, Callable[[SimpleStatementRules, Any], None]] = {
    nodes.Evaluation: SimpleStatementRules._evaluation,
    nodes.Assignment: SimpleStatementRules._assignment,
    nodes.Augmentation: SimpleStatementRules._augmentation,
    nodes.Annotation: SimpleStatementRules._annotation,
    nodes.Return: SimpleStatementRules._return,
    nodes.Deletion: SimpleStatementRules._deletion,
    nodes.Import: SimpleStatementRules._import,
    nodes.Declaration: SimpleStatementRules._declaration,
    nodes.TypeAlias: SimpleStatementRules._type_alias,
}
