"""The compiler's rules for targets and expressions: names, arguments, `yield`, `await`, comprehensions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from fimlsp.languages.python.compiler import nodes
from fimlsp.languages.python.compiler.expression_parser import as_element, tokens_of_line
from fimlsp.languages.python.compiler.nodes import Expression, Name, Span
from fimlsp.languages.python.compiler.scopes import Scope, ScopeKind, Use
from fimlsp.languages.python.versions import PythonVersion
from fimlsp.quotient.language.contract import Fault

DEBUG = "__debug__"
_MOST_BEFORE_STAR = 256
"""The most targets before a starred one."""

MOST_BLOCKS = 20
"""The most blocks of the compiler within each other: CO_MAXBLOCKS of CPython."""


class ExpressionRules:
    """Visits targets and expressions of the text *data*, and collects the faults for a *version* of Python.

    `scope` is the current one. `evaluated` is False in annotations that are never compiled. `folds` is False
    where `__debug__` is read as a name; elsewhere it is a constant. `annotating` is True in annotations,
    where an import of a feature can change the verdict. `base` and `line_end` are the offsets of the current
    line, to which spans refer; `column` is its column.
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
        self.faults: list[Fault] = []

    def report(
        self,
        message: str,
        *spans: Span,
        local: bool = True,
        repaired_until: int = 0,
        repaired_by: bytes = b"",
        rather: tuple[bytes, bytes] | None = None,
        goes_on: bytes = b"",
        together: bool = False,
        repaired_before: bytes = b"",
        starts_line: bool = False,
    ) -> None:
        """Add a fault; *spans* in the text of the file are its evidence (see `Fault`)."""
        local = local and not self.annotating
        self.faults.append(
            Fault(
                message,
                spans,
                local,
                repaired_until,
                repaired_by,
                rather,
                goes_on,
                together,
                repaired_before=repaired_before,
                starts_line=starts_line,
            )
        )

    def in_file(self, span: Span) -> Span:
        """*span* in the text of the file."""
        return self.base + span[0], self.base + span[1]

    def point(self, offset: int) -> Span:
        """The empty span of the token at *offset*, in the text of the file."""
        return self.base + offset, self.base + offset

    def _until_known(self, span: Span) -> Span:
        """*span* in the text of the file, extended to the next token, which alone decides its role."""
        start, end = self.in_file(span)
        tokens, _ = tokens_of_line(self.data, self.base)
        return start, next((token.start for token in tokens if token.start >= end), end)

    @contextmanager
    def inside(self, kind: ScopeKind, *, asynchronous: bool = False) -> Iterator[Scope]:
        """Make a scope within the current one the current scope."""
        outer = self.scope
        self.scope = Scope(kind, outer, asynchronous, outer.private, outer.in_iterable)
        self.scope.coroutine = asynchronous
        try:
            yield self.scope
        finally:
            self.scope = outer

    def bind(self, name: Name, use: Use = Use.BOUND) -> None:
        """Bind *name* in the current scope."""
        self.note(name.name, use, self.in_file(name.span))
        self.not_debug(name, self.in_file(name.span))

    @property
    def is_checked(self) -> bool:
        """True if names, `yield` and `await` are checked: from 3.14 on also where nothing is evaluated."""
        return self.evaluated or self.version >= (3, 14)

    def note(self, name: str, use: Use, span: Span) -> None:
        """Record a use of *name* in the current scope. In the target of a comprehension it is iterated."""
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
        """Refuse to change `__debug__`. Without *spans* the name, up to the next token, is the evidence."""
        if name.name == DEBUG and (self.is_checked or self.version == (3, 8)):
            self.report(message, *(spans or [self._until_known(name.span)]))

    def assign(self, node: Expression, *sign: Span) -> None:
        """Visit *node*, which is assigned to. The *sign* after it shows that, if no word before it does."""
        if isinstance(node, Name):
            self.note(node.name, Use.BOUND, self.in_file(node.span))
            self._target_is_not_debug(node, sign)
        elif isinstance(node, nodes.Group):
            self.assign(node.inner, *(sign or [self.point(node.following)]))
        elif isinstance(node, nodes.Display):
            self._assign_to_all(
                node.elements, sign or ((self.point(node.following),) if node.following else ())
            )
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
        """Visit *node*, which is deleted."""
        if isinstance(node, Name):
            if node.name != DEBUG or self.version >= (3, 9):
                self.scope.add(node.name, Use.BOUND, self.in_file(node.span))
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
                star = self.in_file(inner.span)[0]
                stars.append((star, star + 1))
                if number >= _MOST_BEFORE_STAR and self.evaluated:
                    self.report("too many expressions in star-unpacking assignment", stars[-1], *sign)
            self.assign(inner, *sign)
        if len(stars) > 1 and self.evaluated:
            self.report("multiple starred expressions in assignment", stars[0], stars[1], *sign)

    def visit(self, node: Expression | None) -> None:
        """Visit *node*, which is evaluated."""
        if node is not None:
            _VISITS[type(node)](self, node)

    def visit_all(self, parts: Iterable[Expression]) -> None:
        """Visit all *parts*, which are evaluated."""
        for node in parts:
            _VISITS[type(node)](self, node)

    def _name(self, node: Name) -> None:
        if node.name == DEBUG and self.folds:
            return
        self.note(node.name, Use.READ, self.in_file(node.span))
        if node.name == "super" and self.scope.is_function:
            self.scope.add("__class__", Use.READ, self.in_file(node.span))

    def _constant(self, _node: nodes.Constant) -> None:
        pass

    def _parts(self, node: nodes.Parts) -> None:
        self.visit_all(node.parts)

    def _group(self, node: nodes.Group) -> None:
        if isinstance(node.inner, nodes.Starred):
            self._not_alone(node.inner)
        self.visit(node.inner)

    def _not_alone(self, node: nodes.Starred, message: str = "can't use starred expression here") -> None:
        """Refuse the starred *node*, which is no element of anything; the token after it shows that."""
        if self.evaluated:
            self.report(message, self._until_known(node.span), local=False)

    def _display(self, node: nodes.Display) -> None:
        self.visit_all(map(as_element, node.elements))

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
        """Visit the arguments of a call, or the bases of a class."""
        self.visit_all(map(as_element, node.arguments))
        seen: dict[str, Span] = {}
        for keyword in node.keywords:
            if keyword.name is not None:
                name, span = keyword.name.name, self.in_file(keyword.name.span)
                if name in seen and (self.evaluated or self.version == (3, 8)):
                    self.report(f"keyword argument repeated: {name}", seen[name], span)
                # after a keyword argument every name is one
                self.not_debug(keyword.name, span, *([] if seen else [self.in_file(keyword.sign)]))
                seen.setdefault(name, span)
            self.visit(keyword.value)

    def _lambda(self, node: nodes.Lambda) -> None:
        self.defaults(node.parameters)
        self._not_in_class_types("lambda")
        with self.inside(ScopeKind.LAMBDA):
            self.parameters(node.parameters)
            self.visit(node.body)

    def _not_in_class_types(self, construct: str) -> None:
        """Refuse functions in the types of a class, in 3.12 alone."""
        scope = self.scope
        if self.version == (3, 12) and scope.of_types and scope.kind is not ScopeKind.ANNOTATION:
            around = next((outer for outer in scope.around() if not outer.of_types), None)
            if around is not None and around.kind is ScopeKind.CLASS:
                message = f"Cannot use {construct} in annotation scope within class scope"
                self.report(message, (0, self.base), local=False)

    def defaults(self, parameters: tuple[nodes.Parameter, ...]) -> None:
        """Visit the defaults of *parameters*, which the scope around the function evaluates."""
        for parameter in parameters:
            self.visit(parameter.default)

    def parameters(self, parameters: tuple[nodes.Parameter, ...]) -> None:
        """Bind the names of *parameters*, in the scope of the function."""
        scope = self.scope
        for parameter in parameters:
            name, span = parameter.name.name, self.in_file(parameter.name.span)
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
        with self.inside(ScopeKind.COMPREHENSION) as scope:
            scope.clause = self.base + first.span[0]
            for number, clause in enumerate(node.clauses):
                scope.coroutine |= clause.asynchronous
                target = as_element(clause.target)
                if isinstance(target, nodes.Starred):
                    self._not_alone(target, "starred assignment target must be in a list or tuple")
                scope.iterating = True
                self.assign(target)
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
            self.report("'yield' inside a comprehension", scope.yields, self.in_file(first.span))
        self._coroutine(node, scope, outer)

    def _not_too_asynchronous(self, node: nodes.Comprehension) -> None:
        """Limit asynchronous clauses: each is a block to the compiler, and from 3.13 on a coroutine, too."""
        most = MOST_BLOCKS + (self.version >= (3, 13) and node.kind == "generator")
        spans = [self.in_file(clause.span) for clause in node.clauses if clause.asynchronous]
        if self.version >= (3, 10) and len(spans) > most and self.evaluated:
            self.report("too many statically nested blocks", *spans[: most + 1])

    def _coroutine(self, node: nodes.Comprehension, scope: Scope, outer: Scope) -> None:
        """Refuse an asynchronous comprehension outside a coroutine, unless it is a generator."""
        if not scope.coroutine or node.kind == "generator":
            return
        span = self.in_file(node.clauses[0].span)
        nested = outer.kind is ScopeKind.COMPREHENSION
        if self.is_checked and not nested and not outer.asynchronous:
            self._outside_coroutine(span, self.line_end if node.enclosed else 0)
        if self.version >= (3, 11):
            self.waits(outer, span)
        elif self.evaluated and nested:
            outer.waiting.append(span)

    def _outside_coroutine(self, span: Span, repaired_until: int, goes_on: bytes = b"") -> None:
        """Report the asynchronous comprehension at *span*, outside a coroutine."""
        message = "asynchronous comprehension outside of an asynchronous function"
        rather = (b"for", b"async for")
        self.report(message, span, local=False, repaired_until=repaired_until, rather=rather, goes_on=goes_on)

    def _walrus(self, node: nodes.Walrus) -> None:
        scope = self.scope
        span = self.in_file((node.target.span[0], node.sign))
        if scope.of_types:
            is_annotation = scope.kind is ScopeKind.ANNOTATION
            in_block = next(scope.around()).kind in (ScopeKind.MODULE, ScopeKind.FUNCTION)
            end = self.line_end if is_annotation and in_block else 0  # a comprehension would allow it
            message = f"named expression cannot be used within {scope.kind.value}"
            self.report(
                message, span, local=False, repaired_until=end, goes_on=b" for _ in _" if end else b""
            )
        if scope.in_iterable:
            message = "assignment expression cannot be used in a comprehension iterable expression"
            self.report(message, span, rather=(b"in", b"in 0 if"))  # in a condition it can
        if scope.kind is ScopeKind.COMPREHENSION:
            self._bind_outside(node.target.name, span)
        folds = self.folds
        self.folds = folds and self.version >= (3, 10)
        self.visit(node.value)
        self.folds = folds
        if scope.kind is not ScopeKind.COMPREHENSION:
            self.note(node.target.name, Use.BOUND, self.in_file(node.target.span))
        self.not_debug(node.target, span)

    def _bind_outside(self, name: str, span: Span) -> None:
        """Bind *name*, assigned within a comprehension, in the function around it."""
        for scope in (self.scope, *self.scope.around()):
            used = scope.use(name)
            if scope.kind is ScopeKind.COMPREHENSION:
                if used & Use.ITERATED and (self.version < (3, 12) or used & (Use.BOUND | Use.GLOBAL)):
                    self.report(
                        f"assignment expression cannot rebind comprehension iteration variable '{name}'",
                        scope.spans[scope.mangled(name)],
                        span,
                    )
            elif scope.kind is ScopeKind.CLASS:
                self.report(
                    "assignment expression within a comprehension cannot be used in a class body",
                    span,
                    (self.scope.clause,) * 2,
                    local=False,
                )
                return
            elif scope.of_types and scope.kind is not ScopeKind.ANNOTATION:
                self.report(
                    f"assignment expression within a comprehension cannot be used in {scope.kind.value}",
                    span,
                    (self.scope.clause,) * 2,
                    local=False,
                )
                return
            elif scope.kind is ScopeKind.ANNOTATION:
                continue
            elif scope.kind is ScopeKind.MODULE:
                scope.add(name, Use.GLOBAL, span)
                self.note(name, Use.GLOBAL, span)
                return
            else:
                self.note(name, Use.GLOBAL if used & Use.GLOBAL else Use.NONLOCAL, span)
                scope.add(name, Use.BOUND, span)
                return

    def _yield(self, node: nodes.Yield) -> None:
        scope, span = self.scope, self.in_file(node.span)
        if scope.of_types:
            self.report(f"yield expression cannot be used within {scope.kind.value}", span, local=False)
        if isinstance(node.value, nodes.Starred):
            self._not_alone(node.value)
        self.visit(node.value)
        if not scope.is_function and not scope.of_types and self.is_checked:
            self.report("'yield' outside function", span, local=False)
        if node.word is not None and scope.asynchronous and self.is_checked:
            self.report("'yield from' inside async function", span, self.in_file(node.word), local=False)
        if scope.yields is None:
            scope.yields = span
            self.returns_no_value()

    def waits(self, scope: Scope, span: Span) -> None:
        """Record that *scope* waits at *span*, or has to."""
        scope.coroutine = True
        if scope.waits is None:
            scope.waits = span
            self.returns_no_value()

    def returns_no_value(self) -> None:
        """Refuse `return` with a value in an asynchronous generator.

        To the compiler a function is one even if only its annotations make it so.
        """
        scope = self.scope
        if scope.coroutine and scope.yields is not None and scope.returns is not None:
            spans = [scope.yields, scope.returns]
            if not scope.asynchronous and scope.waits is not None:
                spans.append(scope.waits)
            self.report("'return' with value in async generator", *sorted(spans), local=False)

    def _await(self, node: nodes.Await) -> None:
        scope, span = self.scope, self.in_file(node.span)
        if scope.of_types:
            self.report(f"await expression cannot be used within {scope.kind.value}", span, local=False)
        self.visit(node.value)
        if self.is_checked and not scope.of_types:
            end = self.line_end if node.enclosed else 0  # later text may make it part of a generator
            if not (scope.is_function or scope.asynchronous):
                self.report("'await' outside function", span, local=False, repaired_until=end)
            elif not scope.asynchronous and scope.kind is not ScopeKind.COMPREHENSION:
                self.report("'await' outside async function", span, local=False, repaired_until=end)
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
