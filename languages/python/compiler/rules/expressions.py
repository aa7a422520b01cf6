"""What the compiler has against expressions: names, arguments, `yield`, `await`, stars, comprehensions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from fimlsp.languages.python.compiler.rules.scopes import Kind, Scope, Use
from fimlsp.languages.python.compiler.syntax import nodes
from fimlsp.languages.python.compiler.syntax.nodes import Expression, Name, Span
from fimlsp.languages.python.versions import PythonVersion
from fimlsp.quotient.language.whole_text import Fault

_DEBUG = "__debug__"
_MOST_BEFORE_STAR = 256
_MOST_BLOCKS = 20


class ExpressionRules:
    """Visits expressions in a scope, and collects what the compiler of *version* refuses.

    `scope` is the current one. `evaluated` is False in annotations that are never compiled. `base` is where
    the text of the current line begins, to which spans refer, and `line_end` where the line ends.
    """

    def __init__(self, version: PythonVersion, scope: Scope) -> None:
        self.version = version
        self.scope = scope
        self.evaluated = True
        self.base = 0
        self.line_end = 0
        self.found: list[Fault] = []

    def report(
        self,
        message: str,
        *spans: Span,
        local: bool = True,
        mended_until: int = 0,
        mended_by: bytes = b"",
        rather: tuple[bytes, bytes] | None = None,
    ) -> None:
        """Note a fault, of which *spans* in the text of the file are the evidence (see `Fault`)."""
        self.found.append(Fault(message, spans, local, mended_until, mended_by, rather))

    def at(self, span: Span) -> Span:
        """*span* in the text of the file."""
        return self.base + span[0], self.base + span[1]

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
        self.not_debug(name, "cannot assign to __debug__")

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

    def not_debug(self, name: Name, message: str) -> None:
        """`__debug__` may not be changed."""
        if name.name == _DEBUG and (self.evaluated or self.version == (3, 8)):
            self.report(message, self.at(name.span))

    def visit(self, node: Expression | None) -> None:
        """*node* is evaluated."""
        if node is not None:
            _VISITS[type(node)](self, node)

    def visit_all(self, parts: Iterable[Expression]) -> None:
        """All *parts* are evaluated."""
        for node in parts:
            _VISITS[type(node)](self, node)

    def _name(self, node: Name) -> None:
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
        for element in node.elements:
            while isinstance(element, nodes.Group) and isinstance(element.inner, nodes.Starred):
                element = element.inner
            self.visit(element.value if isinstance(element, nodes.Starred) else element)

    def _starred(self, node: nodes.Starred) -> None:
        self.report("can't use starred expression here", self.at(node.span))
        self.visit(node.value)

    def _attribute(self, node: nodes.Attribute) -> None:
        self.visit(node.value)

    def _subscript(self, node: nodes.Subscript) -> None:
        self.visit(node.value)
        self._elements(node.indices)

    def _elements(self, parts: Iterable[Expression]) -> None:
        for element in parts:
            while isinstance(element, nodes.Group) and isinstance(element.inner, nodes.Starred):
                element = element.inner
            self.visit(element.value if isinstance(element, nodes.Starred) else element)

    def _call(self, node: nodes.Call) -> None:
        self.visit(node.function)
        self.arguments(node)

    def arguments(self, node: nodes.Call) -> None:
        """The arguments of a call, or the bases of a class."""
        self._elements(node.arguments)
        seen: dict[str, Span] = {}
        for keyword in node.keywords:
            if keyword.name is not None and (self.evaluated or self.version == (3, 8)):
                span = self.at(keyword.name.span)
                if keyword.name.name in seen:
                    self.report(
                        f"keyword argument repeated: {keyword.name.name}", seen[keyword.name.name], span
                    )
                seen.setdefault(keyword.name.name, span)
                self.not_debug(keyword.name, "cannot assign to __debug__")
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
            self.not_debug(parameter.name, "cannot assign to __debug__")

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
                self._outside_coroutine(span, self.base + node.end)
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
        if self.evaluated and not nested and not (outer.kind is Kind.FUNCTION and outer.asynchronous):
            self._outside_coroutine(span, self.line_end)
        if self.version >= (3, 11):
            outer.coroutine = True
        elif self.evaluated and nested:
            outer.waiting.append(span)

    def _outside_coroutine(self, span: Span, mended_until: int) -> None:
        """A comprehension at *span* waits where nothing may."""
        message = "asynchronous comprehension outside of an asynchronous function"
        rather = (b"for", b"async for")
        self.report(message, span, local=False, mended_until=mended_until, rather=rather)

    def _walrus(self, node: nodes.Walrus) -> None:
        scope = self.scope
        span = self.at(node.target.span)
        if scope.of_types:
            end = self.line_end if scope.kind is Kind.ANNOTATION else 0  # in a comprehension it is fine
            message = f"named expression cannot be used within {scope.kind.value}"
            self.report(message, span, local=False, mended_until=end)
        if scope.in_iterable:
            self.report("assignment expression cannot be used in a comprehension iterable expression", span)
        if scope.kind is Kind.COMPREHENSION:
            self._bind_outside(node.target)
        self.visit(node.value)
        if scope.kind is not Kind.COMPREHENSION:
            self.bind(node.target)
        else:
            self.not_debug(node.target, "cannot assign to __debug__")

    def _bind_outside(self, target: Name) -> None:
        """An assignment within a comprehension is one in the function around it."""
        name, span = target.name, self.at(target.span)
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
        if not scope.is_function and not scope.of_types and self.evaluated:
            self.report("'yield' outside function", span, local=False)
        if node.delegates and scope.asynchronous and self.evaluated:
            self.report("'yield from' inside async function", span, local=False)
        if scope.yields is None:
            scope.yields = span
        if scope.asynchronous and scope.returns is not None:
            self.report("'return' with value in async generator", scope.returns, span, local=False)

    def _await(self, node: nodes.Await) -> None:
        scope, span = self.scope, self.at(node.span)
        if scope.of_types:
            self.report(f"await expression cannot be used within {scope.kind.value}", span, local=False)
        self.visit(node.value)
        if self.evaluated and not scope.of_types:
            end = self.line_end if node.enclosed else 0  # behind it may come what makes it a generator's
            if not scope.is_function:
                self.report("'await' outside function", span, local=False, mended_until=end)
            elif not scope.asynchronous and scope.kind is not Kind.COMPREHENSION:
                self.report("'await' outside async function", span, local=False, mended_until=end)
        scope.coroutine = True

    def assign(self, node: Expression, *, deletes: bool = False) -> None:
        """*node* is assigned to, or deleted."""
        if isinstance(node, Name):
            if deletes:
                self.scope.add(node.name, Use.BOUND, self.at(node.span))
                if self.version >= (3, 10):
                    self.not_debug(node, "cannot delete __debug__")
            else:
                self.bind(node)
        elif isinstance(node, nodes.Group):
            self.assign(node.inner, deletes=deletes)
        elif isinstance(node, nodes.Display):
            self._assign_to_all(node.elements, deletes=deletes)
        elif isinstance(node, nodes.Starred):
            if deletes:
                self.report("can't use starred expression here", self.at(node.span))
            self.assign(node.value, deletes=deletes)
        elif isinstance(node, nodes.Attribute):
            self.visit(node.value)
            if not deletes:
                self.not_debug(node.member, "cannot assign to __debug__")
        else:
            self.visit(node)

    def _assign_to_all(self, elements: tuple[Expression, ...], *, deletes: bool) -> None:
        stars: list[Span] = []
        for number, element in enumerate(elements):
            inner = element
            while isinstance(inner, nodes.Group) and self.version == (3, 8):
                inner = inner.inner
            if isinstance(inner, nodes.Starred):
                star = self.at(inner.span)[0]
                stars.append((star, star + 1))
                if number >= _MOST_BEFORE_STAR:
                    self.report("too many expressions in star-unpacking assignment", stars[-1])
            self.assign(inner, deletes=deletes)
        if len(stars) > 1 and not deletes:
            self.report("multiple starred expressions in assignment", stars[0], stars[1])


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
