"""The compiler's rules for a file: blocks and their scopes, compound statements, patterns."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import NamedTuple

from fimlsp.languages.python.compiler import nodes
from fimlsp.languages.python.compiler.expression_rules import DEBUG, MOST_BLOCKS, ExpressionRules
from fimlsp.languages.python.compiler.nodes import Name, ParsedLine, Pattern, Span
from fimlsp.languages.python.compiler.scopes import Scope, ScopeKind, binding_of, may_be_hidden
from fimlsp.languages.python.compiler.simple_statement_rules import SimpleStatementRules, bound_around
from fimlsp.languages.python.versions import PythonVersion
from fimlsp.quotient.language.contract import Fault

_CONTINUING: dict[bytes, tuple[bytes, ...]] = {
    b"if": (b"elif", b"else"),
    b"while": (b"else",),
    b"for": (b"else",),
    b"async": (b"else",),
    b"try": (b"except", b"else", b"finally"),
}
"""The words that continue a compound statement, by its first word."""

CLASS = "__class__"
"""The name that a method may declare `nonlocal` without a binding."""


class LogicalLine(NamedTuple):
    """A logical line of a file: its offsets and its column."""

    start: int
    end: int
    column: int


class Source(NamedTuple):
    """The lines to check, and two functions with caches.

    `parsed` parses a line. `cached` returns the faults of the text between two offsets, with spans from the
    first on. They depend only on that text and a key; if they are not cached, the given function makes them.
    """

    data: bytes
    lines: Sequence[LogicalLine]
    parsed: Callable[[LogicalLine, bool], ParsedLine]
    cached: Callable[[int, int, object, Callable[[], list[Fault]]], list[Fault]]


class StatementRules(SimpleStatementRules):
    """Visits the statements of *source* in the scope *file*; *future*: annotations are never evaluated."""

    def __init__(self, version: PythonVersion, source: Source, file: Scope, *, future: bool) -> None:
        super().__init__(version, file, source.data, future=future)
        self.source = source
        self.unresolved: list[tuple[Scope, str, Span]] = []
        self.depth = self.deepest = 0

    @property
    def file_end(self) -> int:
        """The end of the file, or of the statement of its own block, up to which text can mend a fault."""
        return len(self.source.data)

    def visit_file(self) -> None:
        """Visit all lines."""
        number = 0
        while number < len(self.source.lines):
            number = self.statement(number)
        self.not_too_deep(waits=False)
        self._resolve_nonlocals()

    def _resolve_nonlocals(self) -> None:
        """Report the `nonlocal` names without a binding in the scopes around them."""
        bindings = [(*unresolved, binding_of(*unresolved[:2])) for unresolved in self.unresolved]
        lacking = [name for _, name, _, binding in bindings if binding == "none"]
        for scope, name, span, binding in bindings:
            if binding == "none":
                in_function = any(outer.kind is ScopeKind.FUNCTION for outer in scope.around())
                if not in_function:  # the only name is that of the class
                    span = span[0], span[0] + common_with_class(name)
                may_come = in_function and (name != DEBUG or self.version <= (3, 9))
                message = f"no binding for nonlocal '{name}' found"
                self._not_bound(message, name, span, may_come=may_come, lacking=lacking)
            elif binding == "type parameter":
                message = f"nonlocal binding not allowed for type parameter '{name}'"
                self._not_bound(message, name, span, may_come=may_be_hidden(scope, name))

    def _not_bound(
        self, message: str, name: str, span: Span, *, may_come: bool, lacking: Sequence[str] = ()
    ) -> None:
        """Report a `nonlocal` *name* without a binding. If one *may_come* later, it mends the fault.

        Functions around the statement that bind all names *lacking* do so as well.
        """
        self.report(
            message,
            span,
            local=False,
            repaired_until=self.file_end if may_come else 0,
            repaired_by=self.binding(name) if may_come else b"",
            goes_on=f"({name}:=0)".encode() if may_come and name != DEBUG else b"",
            repaired_before=bound_around(lacking, self.data, span[0]) if lacking else b"",
        )

    def binding(self, name: str) -> bytes:
        """The text of a line that binds *name*."""
        if name != DEBUG:
            return f"{name}=0".encode()
        return b"del __debug__" if self.version == (3, 9) else b"import __debug__.a"

    def enter(self, line: LogicalLine) -> None:
        """Make *line* the current one, to which spans refer."""
        self.base = line.start
        self.line_end = line.end
        self.column = line.column

    def statement(self, number: int) -> int:
        """Visit the statement that starts with line *number*. Returns the number of the line after it."""
        line = self.source.lines[number]
        parsed = self.source.parsed(line, False)
        if parsed.head is None:
            self.enter(line)
            self.simple_statements(parsed.statements)
            return number + 1
        if parsed.word in _CONTINUING:
            return self.clauses(number, parsed)
        end = self.end_of_body(number)
        self.enter(line)
        _COMPOUND[type(parsed.head)](self, parsed, number, end)
        return end

    def end_of_body(self, header: int) -> int:
        """The number of the line after the body of line *header*."""
        lines = self.source.lines
        column = lines[header].column
        end = header + 1
        while end < len(lines) and lines[end].column > column:
            end += 1
        return end

    def body(self, parsed: ParsedLine, header: int, end: int, blocks: int = 0) -> None:
        """Visit the body of *parsed*, line *header*: its simple statements, and the lines before *end*.

        For the compiler it is within *blocks* more blocks than the header.
        """
        self.depth += blocks
        self.deepest = max(self.deepest, self.depth)
        self.enter(self.source.lines[header])
        self.simple_statements(parsed.statements)
        number = header + 1
        while number < end:
            number = self.statement(number)
        self.depth -= blocks

    def not_too_deep(self, *, waits: bool) -> None:
        """Refuse too many blocks within each other; from 3.13 on a scope that *waits* is one itself."""
        most = MOST_BLOCKS if self.version <= (3, 12) else MOST_BLOCKS + 1 - waits
        if self.deepest > most:
            self.report("too many statically nested blocks", local=False, repaired_until=self.file_end)

    def clauses(self, number: int, first: ParsedLine) -> int:
        """Visit a statement that may have several headers. Returns the number of the line after it."""
        lines = self.source.lines
        column = lines[number].column
        clauses = [(first, number, end := self.end_of_body(number))]
        while end < len(lines) and lines[end].column == column:
            parsed = self.source.parsed(lines[end], False)
            if parsed.head is None or parsed.word not in _CONTINUING[first.word]:
                break
            clauses.append((parsed, end, end := self.end_of_body(end)))
        if first.word == b"try" and self.version <= (3, 12):
            # the compiler's symbol table has this order, which decides the uses before a declaration
            clauses.sort(key=lambda clause: (b"try", b"else", b"except", b"finally").index(clause[0].word))
        has_finally = any(parsed.word == b"finally" for parsed, _, _ in clauses)
        has_handler = any(parsed.word == b"except" for parsed, _, _ in clauses)
        for parsed, start, stop in clauses:
            self.enter(lines[start])
            blocks = (has_finally and parsed.word != b"finally") + (has_handler and parsed.word == b"try")
            self.depth += blocks
            _COMPOUND[type(parsed.head)](self, parsed, start, stop)
            self.depth -= blocks
        return end

    def _condition(self, parsed: ParsedLine, header: int, end: int) -> None:
        head = parsed.head
        assert isinstance(head, nodes.Condition)
        self.visit(head.test)
        if parsed.word == b"match":
            self.cases(header + 1, end)
        else:
            self.body(parsed, header, end, parsed.word == b"while")

    def cases(self, number: int, end: int) -> None:
        """Visit the cases of a `match`, the lines from *number* up to *end*."""
        lines = self.source.lines
        while number < end:
            parsed = self.source.parsed(lines[number], True)
            next_case = self.end_of_body(number)
            head = parsed.head
            assert isinstance(head, nodes.Case)
            self.enter(lines[number])
            following = None
            if head.guard is None and next_case < end:
                following = lines[next_case].start, lines[next_case].start + len(b"case ")
            visit_pattern(self, head.pattern, following)
            self.visit(head.guard)
            self.body(parsed, number, next_case)
            number = next_case

    def _loop(self, parsed: ParsedLine, header: int, end: int) -> None:
        assert isinstance(parsed.head, nodes.Loop)
        self.assign(parsed.head.target)
        self.visit(parsed.head.iterable)
        self.body(parsed, header, end, 1)

    def _with(self, parsed: ParsedLine, header: int, end: int) -> None:
        assert isinstance(parsed.head, nodes.With)
        for manager, target in parsed.head.items:
            self.visit(manager)
            if target is not None:
                self.assign(target)
        self.body(parsed, header, end, len(parsed.head.items))

    def _bare(self, parsed: ParsedLine, header: int, end: int) -> None:
        self.body(parsed, header, end, parsed.word == b"finally")

    def _handler(self, parsed: ParsedLine, header: int, end: int) -> None:
        assert isinstance(parsed.head, nodes.Handler)
        self.visit(parsed.head.of)
        if parsed.head.name is not None:
            self.bind(parsed.head.name)
        self.body(parsed, header, end, 1 if self.version == (3, 8) else 2)

    def _decorator(self, parsed: ParsedLine, _header: int, _end: int) -> None:
        assert isinstance(parsed.head, nodes.Decorator)
        self.visit(parsed.head.value)

    def _function(self, parsed: ParsedLine, header: int, end: int) -> None:
        head = parsed.head
        assert isinstance(head, nodes.Function)
        self.bind(head.name)
        self.defaults(head.parameters)
        if head.type_parameters:
            with self.inside(ScopeKind.GENERIC):
                self.type_parameters(head.type_parameters)
                self._function_with_annotations(head, parsed, header, end)
        else:
            self._function_with_annotations(head, parsed, header, end)

    def _function_with_annotations(
        self, head: nodes.Function, parsed: ParsedLine, header: int, end: int
    ) -> None:
        for annotation in (*(parameter.annotation for parameter in head.parameters), head.returns):
            if annotation is not None:
                self.annotation(annotation, evaluated=True)
        self.nested(header, end, lambda: self._function_body(head, parsed, header, end))

    def _function_body(self, head: nodes.Function, parsed: ParsedLine, header: int, end: int) -> None:
        with self.inside(ScopeKind.FUNCTION, asynchronous=head.asynchronous) as scope:
            self.enter(self.source.lines[header])
            self.parameters(head.parameters)
            self.body(parsed, header, end)
            self.leave(scope)

    def _class(self, parsed: ParsedLine, header: int, end: int) -> None:
        head = parsed.head
        assert isinstance(head, nodes.Class)
        self.bind(head.name)
        if head.type_parameters:
            with self.inside(ScopeKind.GENERIC) as scope:
                scope.private = head.name.name
                self.type_parameters(head.type_parameters)
                self._class_with_bases(head, parsed, header, end)
        else:
            self._class_with_bases(head, parsed, header, end)

    def _class_with_bases(self, head: nodes.Class, parsed: ParsedLine, header: int, end: int) -> None:
        if head.bases is not None:
            self.arguments(head.bases)
        self.nested(header, end, lambda: self._class_body(head, parsed, header, end))

    def _class_body(self, head: nodes.Class, parsed: ParsedLine, header: int, end: int) -> None:
        with self.inside(ScopeKind.CLASS) as scope:
            scope.private = head.name.name
            self.body(parsed, header, end)
            self.leave(scope)

    def leave(self, scope: Scope) -> None:
        """Check *scope*, all of which was visited."""
        self.not_too_deep(waits=scope.asynchronous or scope.yields is not None)
        self.unresolved += [(scope, name, span) for name, span in scope.nonlocals]

    def nested(self, header: int, end: int, visit: Callable[[], None]) -> None:
        """Call *visit* for the scope of the lines from *header* up to *end*, or use its cached faults.

        Its faults depend on the scopes around it only if it declares names of these.
        """
        lines = self.source.lines
        start, stop = lines[header].start, lines[end - 1].end
        depths = self.depth, self.deepest
        self.depth = self.deepest = 0
        data = self.source.data
        if data.find(b"nonlocal", start, stop) >= 0 or data.find(b"__future__", start, stop) >= 0:
            visit()
        else:
            self.faults += self._cached_faults(start, stop, visit)
        self.depth, self.deepest = depths

    def _cached_faults(self, start: int, stop: int, visit: Callable[[], None]) -> list[Fault]:
        """The faults of the scope between *start* and *stop*, which *visit* finds if they are not cached."""
        outer, self.faults = self.faults, []

        def make() -> list[Fault]:
            visit()
            return [fault.moved(-start) for fault in self.faults]

        faults = self.source.cached(start, stop, (self.scope.private, self.future), make)
        self.faults = outer
        return [fault.moved(start) for fault in faults]


_COMPOUND: dict[type, Callable[[StatementRules, ParsedLine, int, int], None]] = {
    nodes.Condition: StatementRules._condition,
    nodes.Bare: StatementRules._bare,
    nodes.Loop: StatementRules._loop,
    nodes.With: StatementRules._with,
    nodes.Handler: StatementRules._handler,
    nodes.Decorator: StatementRules._decorator,
    nodes.Function: StatementRules._function,
    nodes.Class: StatementRules._class,
}


Bound = dict[str, Span]
"""The spans of the names that a pattern binds."""


def visit_pattern(rules: ExpressionRules, pattern: Pattern, following: Span | None) -> None:
    """Visit the pattern of a `case`, which may not match any value if a case is *following* in the file."""
    _PatternRules(rules, following).visit(pattern, {}, may_match_all=following is None)


class _PatternRules:
    def __init__(self, rules: ExpressionRules, following: Span | None) -> None:
        self.rules = rules
        self.following = following

    def report(self, message: str, *spans: Span) -> None:
        self.rules.report(message, *map(self.rules.in_file, spans))

    def bind(self, name: Name, bound: Bound) -> None:
        if name.name in bound:
            self.report(f"multiple assignments to name '{name.name}' in pattern", bound[name.name], name.span)
        bound[name.name] = name.span
        self.rules.bind(name)

    def visit(self, pattern: Pattern, bound: Bound, *, may_match_all: bool = True) -> None:
        """Visit *pattern*, and add the names that it binds to *bound*."""
        if isinstance(pattern, nodes.Capture):
            if not may_match_all:
                kind = "wildcard" if pattern.name is None else f"name capture '{pattern.name.name}'"
                following = () if self.following is None else (self.following,)
                span = self.rules.in_file(pattern.span)
                self.rules.report(f"{kind} makes remaining patterns unreachable", span, *following)
            if pattern.name is not None:
                self.bind(pattern.name, bound)
        elif isinstance(pattern, nodes.Literal):
            self.rules.visit(pattern.parts)
        elif isinstance(pattern, nodes.Alias):
            self.visit(pattern.pattern, bound, may_match_all=may_match_all)
            self.bind(pattern.name, bound)
        elif isinstance(pattern, nodes.Alternatives):
            self.alternatives(pattern, bound, may_match_all=may_match_all)
        elif isinstance(pattern, nodes.Sequence):
            self.sequence(pattern, bound)
        elif isinstance(pattern, nodes.StarPattern):
            if pattern.name is not None:
                self.bind(pattern.name, bound)
        elif isinstance(pattern, nodes.Mapping):
            self.mapping(pattern, bound)
        else:
            self.of_class(pattern, bound)

    def alternatives(self, pattern: nodes.Alternatives, bound: Bound, *, may_match_all: bool) -> None:
        first: Bound | None = None
        last = len(pattern.patterns) - 1
        for number, alternative in enumerate(pattern.patterns):
            own: Bound = {}
            self.visit(alternative, own, may_match_all=may_match_all and number == last)
            if first is not None and own.keys() != first.keys():
                others = [own[name][1] for name in own.keys() - first.keys()]
                span = self.rules.in_file((pattern.start, min([*others, pattern.ends[number]])))
                self.rules.report(
                    "alternative patterns bind different names",
                    span,
                    goes_on=_binding(first.keys() - own.keys(), alternative, is_half=bool(others)),
                )
            first = own if first is None else first
        for name, span in (first or {}).items():
            if name in bound:
                self.report(f"multiple assignments to name '{name}' in pattern", bound[name], span)
            bound[name] = span

    def sequence(self, pattern: nodes.Sequence, bound: Bound) -> None:
        stars = [part.span for part in pattern.elements if isinstance(part, nodes.StarPattern)]
        if len(stars) > 1:
            self.report("multiple starred expressions in sequence pattern", stars[0], stars[1])
        for element in pattern.elements:
            self.visit(element, bound)

    def mapping(self, pattern: nodes.Mapping, bound: Bound) -> None:
        seen: dict[object, Span] = {}
        for key in pattern.keys:
            self.rules.visit(key.parts)
            if isinstance(key.parts, nodes.Constant):
                if key.value in seen:
                    self.report("mapping pattern checks duplicate key", seen[key.value], key.span)
                seen[key.value] = key.span
        for part in pattern.values:
            self.visit(part, bound)
        if pattern.rest is not None:
            self.bind(pattern.rest, bound)

    def of_class(self, pattern: nodes.ClassPattern, bound: Bound) -> None:
        self.rules.visit(pattern.of)
        seen: Bound = {}
        for name in pattern.names:
            if name.name in seen:
                self.report(
                    f"attribute name repeated in class pattern: {name.name}", seen[name.name], name.span
                )
            seen[name.name] = name.span
            self.rules.not_debug(name, self.rules.in_file(name.span))
        for part in (*pattern.positional, *pattern.named):
            self.visit(part, bound)


def _binding(names: Set[str], alternative: Pattern, *, is_half: bool) -> bytes:
    """A text after *alternative* with which it binds *names* as well; *is_half* is True if it binds others.

    A name that it binds can still become that of a class, with patterns of its own.
    """
    if not names:
        return b""
    patterns = ",".join(sorted(names)).encode()
    if isinstance(alternative, nodes.Capture) and alternative.name is None:
        return b"a(%s)" % patterns  # no class may be named `_`
    is_name = isinstance(alternative, nodes.Literal) and isinstance(alternative.parts, nodes.Attribute)
    return b"(%s)" % patterns if is_half or is_name else b"[%s]" % patterns


def common_with_class(name: str) -> int:
    """The number of bytes of *name* with which `__class__` starts."""
    return next(size for size in range(len(name), -1, -1) if CLASS.startswith(name[:size]))
