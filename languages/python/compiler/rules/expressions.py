"""What the compiler has against expressions: names, arguments, `yield`, `await`, stars, comprehensions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fimlsp.languages.python.compiler.rules.scopes import Kind, Scope, Use
from fimlsp.languages.python.compiler.rules.targets import DEBUG, TargetRules
from fimlsp.languages.python.compiler.syntax import nodes
from fimlsp.languages.python.compiler.syntax.nodes import Expression, Name, Span

_MOST_BLOCKS = 20


class ExpressionRules(TargetRules):
    """Visits expressions, in the current scope."""

    def visit(self, node: Expression | None) -> None:
        """*node* is evaluated."""
        if node is not None:
            _VISITS[type(node)](self, node)

    def visit_all(self, parts: Iterable[Expression]) -> None:
        """All *parts* are evaluated."""
        for node in parts:
            _VISITS[type(node)](self, node)

    def _name(self, node: Name) -> None:
        if node.name == DEBUG and self.folds:
            return
        self.note(node.name, Use.READ, self.at(node.span))
        if node.name == "super" and self.scope.is_function:
            self.scope.add("__class__", Use.READ, self.at(node.span))

    def _constant(self, _node: nodes.Constant) -> None:
        pass

    def _parts(self, node: nodes.Parts) -> None:
        self.visit_all(node.parts)

    def _group(self, node: nodes.Group) -> None:
        self.visit(node.inner)

    def _display(self, node: nodes.Display) -> None:
        self.visit_all(node.elements)

    def _starred(self, node: nodes.Starred) -> None:
        self.visit(node.value)

    def _attribute(self, node: nodes.Attribute) -> None:
        self.visit(node.value)

    def _subscript(self, node: nodes.Subscript) -> None:
        self.visit(node.value)
        self.visit_all(node.indices)

    def _call(self, node: nodes.Call) -> None:
        self.visit(node.function)
        self.arguments(node)

    def arguments(self, node: nodes.Call) -> None:
        """The arguments of a call, or the bases of a class."""
        self.visit_all(node.arguments)
        seen: dict[str, Span] = {}
        for keyword in node.keywords:
            if keyword.name is not None:
                name, span = keyword.name.name, self.at(keyword.name.span)
                if name in seen and (self.evaluated or self.version == (3, 8)):
                    self.report(f"keyword argument repeated: {name}", seen[name], span)
                # behind a keyword argument every name is one
                self.not_debug(keyword.name, span, *([] if seen else [self.at(keyword.sign)]))
                seen.setdefault(name, span)
            self.visit(keyword.value)

    def _lambda(self, node: nodes.Lambda) -> None:
        self.defaults(node.parameters)
        self._not_in_class_types("lambda")
        with self.inside(Kind.LAMBDA):
            self.parameters(node.parameters)
            self.visit(node.body)

    def _not_in_class_types(self, what: str) -> None:
        """3.12 alone has no functions in the types of a class."""
        scope = self.scope
        if self.version == (3, 12) and scope.of_types and scope.kind is not Kind.ANNOTATION:
            around = next((outer for outer in scope.around() if not outer.of_types), None)
            if around is not None and around.kind is Kind.CLASS:
                self.report(
                    f"Cannot use {what} in annotation scope within class scope", (0, self.base), local=False
                )

    def defaults(self, parameters: tuple[nodes.Parameter, ...]) -> None:
        """The defaults of *parameters*, which the scope around the function evaluates."""
        for parameter in parameters:
            self.visit(parameter.default)

    def parameters(self, parameters: tuple[nodes.Parameter, ...]) -> None:
        """The names of *parameters*, in the scope of the function."""
        scope = self.scope
        for parameter in parameters:
            name, span = parameter.name.name, self.at(parameter.name.span)
            if scope.use(name) & Use.PARAMETER:
                self.report(
                    f"duplicate argument '{name}' in function definition",
                    scope.spans[scope.mangled(name)],
                    span,
                )
            scope.add(name, Use.PARAMETER, span)
            self.not_debug(parameter.name, span)

    def _comprehension(self, node: nodes.Comprehension) -> None:
        first = node.clauses[0]
        self._not_too_asynchronous(node)
        self.scope.in_iterable += 1
        self.visit(first.iterable)
        self.scope.in_iterable -= 1
        self._not_in_class_types("comprehension")
        outer = self.scope
        with self.inside(Kind.COMPREHENSION) as scope:
            for number, clause in enumerate(node.clauses):
                scope.coroutine |= clause.asynchronous
                scope.iterating = True
                self.assign(clause.target)
                scope.iterating = False
                if number:
                    scope.in_iterable += 1
                    self.visit(clause.iterable)
                    scope.in_iterable -= 1
                self.visit_all(clause.conditions)
            self.visit_all(node.elements)
        for span in scope.waiting:
            if not scope.coroutine:
                self._outside_coroutine(span, self.base + node.end, b" async for _ in _")
        if scope.yields is not None:
            self.report("'yield' inside a comprehension", scope.yields, self.at(first.span))
        self._coroutine(node, scope, outer)

    def _not_too_asynchronous(self, node: nodes.Comprehension) -> None:
        """Each asynchronous clause is a block to the compiler, and from 3.13 on so is what waits itself."""
        most = _MOST_BLOCKS + (self.version >= (3, 13) and node.kind == "generator")
        spans = [self.at(clause.span) for clause in node.clauses if clause.asynchronous]
        if self.version >= (3, 10) and len(spans) > most:
            self.report("too many statically nested blocks", *spans[: most + 1])

    def _coroutine(self, node: nodes.Comprehension, scope: Scope, outer: Scope) -> None:
        """A comprehension that waits has to be within something that may wait, unless it is a generator."""
        if not scope.coroutine or node.kind == "generator":
            return
        span = self.at(node.clauses[0].span)
        nested = outer.kind is Kind.COMPREHENSION
        if self.is_checked and not nested and not (outer.kind is Kind.FUNCTION and outer.asynchronous):
            self._outside_coroutine(span, self.line_end if node.enclosed else 0)
        if self.version >= (3, 11):
            self.waits(outer, span)
        elif self.evaluated and nested:
            outer.waiting.append(span)

    def _outside_coroutine(self, span: Span, mended_until: int, goes_on: bytes = b"") -> None:
        """A comprehension at *span* waits where nothing may."""
        message = "asynchronous comprehension outside of an asynchronous function"
        rather = (b"for", b"async for")
        self.report(message, span, local=False, mended_until=mended_until, rather=rather, goes_on=goes_on)

    def _walrus(self, node: nodes.Walrus) -> None:
        scope = self.scope
        span = self.at((node.target.span[0], node.sign))
        if scope.of_types:
            around = next(scope.around()).kind
            in_comprehension = scope.kind is Kind.ANNOTATION and around in (Kind.MODULE, Kind.FUNCTION)
            end = self.line_end if in_comprehension else 0  # there it would be fine
            message = f"named expression cannot be used within {scope.kind.value}"
            self.report(message, span, local=False, mended_until=end, goes_on=b" for _ in _" if end else b"")
        if scope.in_iterable:
            self.report("assignment expression cannot be used in a comprehension iterable expression", span)
        if scope.kind is Kind.COMPREHENSION:
            self._bind_outside(node.target.name, span)
        folds = self.folds
        self.folds = folds and self.version >= (3, 10)
        self.visit(node.value)
        self.folds = folds
        if scope.kind is not Kind.COMPREHENSION:
            self.note(node.target.name, Use.BOUND, self.at(node.target.span))
        self.not_debug(node.target, span)

    def _bind_outside(self, name: str, span: Span) -> None:
        """An assignment within a comprehension is one in the function around it."""
        for scope in (self.scope, *self.scope.around()):
            used = scope.use(name)
            if scope.kind is Kind.COMPREHENSION:
                if used & Use.ITERATED and (self.version < (3, 12) or used & (Use.BOUND | Use.GLOBAL)):
                    self.report(
                        f"assignment expression cannot rebind comprehension iteration variable '{name}'",
                        scope.spans[scope.mangled(name)],
                        span,
                    )
            elif scope.kind is Kind.CLASS:
                self.report(
                    "assignment expression within a comprehension cannot be used in a class body",
                    span,
                    local=False,
                )
                return
            elif scope.of_types and scope.kind is not Kind.ANNOTATION:
                self.report(
                    f"assignment expression within a comprehension cannot be used in {scope.kind.value}",
                    span,
                    local=False,
                )
                return
            elif scope.kind is Kind.ANNOTATION:
                continue
            elif scope.kind is Kind.MODULE:
                scope.add(name, Use.GLOBAL, span)
                self.note(name, Use.GLOBAL, span)
                return
            else:
                self.note(name, Use.GLOBAL if used & Use.GLOBAL else Use.NONLOCAL, span)
                scope.add(name, Use.BOUND, span)
                return

    def _yield(self, node: nodes.Yield) -> None:
        scope, span = self.scope, self.at(node.span)
        if scope.of_types:
            self.report(f"yield expression cannot be used within {scope.kind.value}", span, local=False)
        self.visit(node.value)
        if not scope.is_function and not scope.of_types and self.is_checked:
            self.report("'yield' outside function", span, local=False)
        if node.word is not None and scope.asynchronous and self.is_checked:
            self.report("'yield from' inside async function", span, self.at(node.word), local=False)
        if scope.yields is None:
            scope.yields = span
            self.returns_no_value()

    def waits(self, scope: Scope, span: Span) -> None:
        """Something at *span* waits in *scope*, or has to."""
        scope.coroutine = True
        if scope.waits is None:
            scope.waits = span
            self.returns_no_value()

    def returns_no_value(self) -> None:
        """To the compiler a function is an asynchronous generator as well if only annotations make it one."""
        scope = self.scope
        if scope.coroutine and scope.yields is not None and scope.returns is not None:
            spans = [scope.yields, scope.returns]
            if not scope.asynchronous and scope.waits is not None:
                spans.append(scope.waits)
            self.report("'return' with value in async generator", *sorted(spans), local=False)

    def _await(self, node: nodes.Await) -> None:
        scope, span = self.scope, self.at(node.span)
        if scope.of_types:
            self.report(f"await expression cannot be used within {scope.kind.value}", span, local=False)
        self.visit(node.value)
        if self.is_checked and not scope.of_types:
            end = self.line_end if node.enclosed else 0  # behind it may come what makes it a generator's
            if not scope.is_function:
                self.report("'await' outside function", span, local=False, mended_until=end)
            elif not scope.asynchronous and scope.kind is not Kind.COMPREHENSION:
                self.report("'await' outside async function", span, local=False, mended_until=end)
        self.waits(scope, span)


_VISITS: dict[type, Callable[[ExpressionRules, Any], None]] = {
    nodes.Name: ExpressionRules._name,
    nodes.Constant: ExpressionRules._constant,
    nodes.Parts: ExpressionRules._parts,
    nodes.Group: ExpressionRules._group,
    nodes.Display: ExpressionRules._display,
    nodes.Starred: ExpressionRules._starred,
    nodes.Attribute: ExpressionRules._attribute,
    nodes.Subscript: ExpressionRules._subscript,
    nodes.Call: ExpressionRules._call,
    nodes.Lambda: ExpressionRules._lambda,
    nodes.Comprehension: ExpressionRules._comprehension,
    nodes.Walrus: ExpressionRules._walrus,
    nodes.Yield: ExpressionRules._yield,
    nodes.Await: ExpressionRules._await,
}
