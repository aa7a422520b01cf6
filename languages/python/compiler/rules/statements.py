"""What the compiler has against files: the scopes of their blocks, and what stands in these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from fimlsp.languages.python.compiler.rules.patterns import visit_pattern
from fimlsp.languages.python.compiler.rules.scopes import Kind, Scope, binding_of, may_be_hidden
from fimlsp.languages.python.compiler.rules.simple_statements import SimpleStatementRules
from fimlsp.languages.python.compiler.rules.targets import DEBUG
from fimlsp.languages.python.compiler.spelling import common_with_class
from fimlsp.languages.python.compiler.syntax import statements as syntax
from fimlsp.languages.python.compiler.syntax.nodes import Span
from fimlsp.languages.python.compiler.syntax.statements import ParsedLine
from fimlsp.languages.python.versions import PythonVersion
from fimlsp.quotient.language.whole_text import Fault

_CONTINUING = {
    b"if": (b"elif", b"else"),
    b"while": (b"else",),
    b"for": (b"else",),
    b"async": (b"else",),
    b"try": (b"except", b"else", b"finally"),
}
_MOST_BLOCKS = 20


class LogicalLine(NamedTuple):
    """A logical line of a file: where it lies, and its column."""

    start: int
    end: int
    column: int


class Source(NamedTuple):
    """The lines that are checked, and ways to look at them; both remember what they found.

    `parsed` parses a line. `remembered` gives the faults of the text between two offsets, which depend on
    that text and on a key alone, and makes them if they are not known; their spans begin at the first offset.
    """

    data: bytes
    lines: Sequence[LogicalLine]
    parsed: Callable[[LogicalLine, bool], ParsedLine]
    remembered: Callable[[int, int, object, Callable[[], list[Fault]]], list[Fault]]


class StatementRules(SimpleStatementRules):
    """Visits the statements of *source*; with *future* annotations are never evaluated."""

    def __init__(self, version: PythonVersion, source: Source, *, future: bool) -> None:
        super().__init__(version, source.data, future=future)
        self.source = source
        self.unresolved: list[tuple[Scope, str, Span]] = []
        self.depth = self.deepest = 0

    @property
    def file_end(self) -> int:
        """The end of the file, or of the statement of its own block: up to where something can be mended."""
        return len(self.source.data)

    def visit_file(self) -> None:
        """Visit all lines."""
        at = 0
        while at < len(self.source.lines):
            at = self.statement(at)
        self.not_too_deep(waits=False)
        for scope, name, span in self.unresolved:
            found = binding_of(scope, name)
            if found == "none":
                in_function = any(outer.kind is Kind.FUNCTION for outer in scope.around())
                if not in_function:  # the only name is that of the class
                    span = span[0], span[0] + common_with_class(name)
                may_come = in_function and (name != DEBUG or self.version <= (3, 9))
                self._not_bound(f"no binding for nonlocal '{name}' found", name, span, may_come=may_come)
            elif found == "type parameter":
                message = f"nonlocal binding not allowed for type parameter '{name}'"
                self._not_bound(message, name, span, may_come=may_be_hidden(scope, name))

    def _not_bound(self, message: str, name: str, span: Span, *, may_come: bool) -> None:
        """Report that a `nonlocal` *name* has no binding, unless one *may_come* in a function around it."""
        self.report(
            message,
            span,
            local=False,
            mended_until=self.file_end if may_come else 0,
            mended_by=self.binding(name) if may_come else b"",
            goes_on=f"({name}:=0)".encode() if may_come and name != DEBUG else b"",
        )

    def binding(self, name: str) -> bytes:
        """A line that binds *name*."""
        if name != DEBUG:
            return f"{name}=0".encode()
        return b"del __debug__" if self.version == (3, 9) else b"import __debug__.a"

    def enter(self, line: LogicalLine) -> None:
        """From here on spans refer to *line*."""
        self.base = line.start
        self.line_end = line.end
        self.column = line.column

    def statement(self, at: int) -> int:
        """Visit the statement that begins with the line *at*; the line behind it."""
        line = self.source.lines[at]
        parsed = self.source.parsed(line, False)
        if parsed.head is None:
            self.enter(line)
            self.simple_statements(parsed.statements)
            return at + 1
        if parsed.word in _CONTINUING:
            return self.clauses(at, parsed)
        end = self.end_of_body(at)
        self.enter(line)
        _COMPOUND[type(parsed.head)](self, parsed, at, end)
        return end

    def end_of_body(self, at: int) -> int:
        """The line behind the body of the header *at*."""
        lines = self.source.lines
        column = lines[at].column
        at += 1
        while at < len(lines) and lines[at].column > column:
            at += 1
        return at

    def body(self, parsed: ParsedLine, at: int, end: int, blocks: int = 0) -> None:
        """Visit the body of the header *parsed*, the line *at*: on the line, or up to the line *end*.

        For the compiler it is within *blocks* more blocks than the header.
        """
        self.depth += blocks
        self.deepest = max(self.deepest, self.depth)
        self.enter(self.source.lines[at])
        self.simple_statements(parsed.statements)
        at += 1
        while at < end:
            at = self.statement(at)
        self.depth -= blocks

    def not_too_deep(self, *, waits: bool) -> None:
        """The compiler takes so many blocks in each other; from 3.13 on, what *waits* is in one itself."""
        most = _MOST_BLOCKS if self.version <= (3, 12) else _MOST_BLOCKS + 1 - waits
        if self.deepest > most:
            self.report("too many statically nested blocks", local=False, mended_until=self.file_end)

    def clauses(self, at: int, first: ParsedLine) -> int:
        """Visit a statement that may go on with other headers; the line behind it."""
        lines = self.source.lines
        column = lines[at].column
        found = [(first, at, end := self.end_of_body(at))]
        while end < len(lines) and lines[end].column == column:
            parsed = self.source.parsed(lines[end], False)
            if parsed.head is None or parsed.word not in _CONTINUING[first.word]:
                break
            found.append((parsed, end, end := self.end_of_body(end)))
        if first.word == b"try" and self.version <= (3, 12):
            # names are looked at in this order, which decides what is used before a declaration
            found.sort(key=lambda clause: (b"try", b"else", b"except", b"finally").index(clause[0].word))
        is_ended = any(parsed.word == b"finally" for parsed, _, _ in found)
        is_handled = any(parsed.word == b"except" for parsed, _, _ in found)
        for parsed, start, stop in found:
            self.enter(lines[start])
            own = (is_ended and parsed.word != b"finally") + (is_handled and parsed.word == b"try")
            self.depth += own
            _COMPOUND[type(parsed.head)](self, parsed, start, stop)
            self.depth -= own
        return end

    def _condition(self, parsed: ParsedLine, at: int, end: int) -> None:
        head = parsed.head
        assert isinstance(head, syntax.Condition)
        self.visit(head.test)
        if parsed.word == b"match":
            self.cases(at + 1, end)
        else:
            self.body(parsed, at, end, parsed.word == b"while")

    def cases(self, at: int, end: int) -> None:
        """Visit the cases of a `match`."""
        lines = self.source.lines
        while at < end:
            parsed = self.source.parsed(lines[at], True)
            behind = self.end_of_body(at)
            head = parsed.head
            assert isinstance(head, syntax.Case)
            self.enter(lines[at])
            following = None
            if head.guard is None and behind < end:
                following = lines[behind].start, lines[behind].start + len(b"case ")
            visit_pattern(self, head.pattern, following)
            self.visit(head.guard)
            self.body(parsed, at, behind)
            at = behind

    def _loop(self, parsed: ParsedLine, at: int, end: int) -> None:
        assert isinstance(parsed.head, syntax.Loop)
        self.assign(parsed.head.target)
        self.visit(parsed.head.iterable)
        self.body(parsed, at, end, 1)

    def _with(self, parsed: ParsedLine, at: int, end: int) -> None:
        assert isinstance(parsed.head, syntax.With)
        for manager, target in parsed.head.items:
            self.visit(manager)
            if target is not None:
                self.assign(target)
        self.body(parsed, at, end, len(parsed.head.items))

    def _bare(self, parsed: ParsedLine, at: int, end: int) -> None:
        self.body(parsed, at, end, parsed.word == b"finally")

    def _handler(self, parsed: ParsedLine, at: int, end: int) -> None:
        assert isinstance(parsed.head, syntax.Handler)
        self.visit(parsed.head.of)
        if parsed.head.name is not None:
            self.bind(parsed.head.name)
        self.body(parsed, at, end, 1 if self.version == (3, 8) else 2)

    def _decorator(self, parsed: ParsedLine, _at: int, _end: int) -> None:
        assert isinstance(parsed.head, syntax.Decorator)
        self.visit(parsed.head.value)

    def _function(self, parsed: ParsedLine, at: int, end: int) -> None:
        head = parsed.head
        assert isinstance(head, syntax.Function)
        self.bind(head.name)
        self.defaults(head.parameters)
        if head.type_parameters:
            with self.inside(Kind.GENERIC):
                self.type_parameters(head.type_parameters)
                self._function_with_annotations(head, parsed, at, end)
        else:
            self._function_with_annotations(head, parsed, at, end)

    def _function_with_annotations(
        self, head: syntax.Function, parsed: ParsedLine, at: int, end: int
    ) -> None:
        for annotation in (*(parameter.annotation for parameter in head.parameters), head.returns):
            if annotation is not None:
                self.annotation(annotation, evaluated=True)
        self.nested(at, end, lambda: self._function_body(head, parsed, at, end))

    def _function_body(self, head: syntax.Function, parsed: ParsedLine, at: int, end: int) -> None:
        with self.inside(Kind.FUNCTION, asynchronous=head.asynchronous) as scope:
            self.enter(self.source.lines[at])
            self.parameters(head.parameters)
            self.body(parsed, at, end)
            self.leave(scope)

    def _class(self, parsed: ParsedLine, at: int, end: int) -> None:
        head = parsed.head
        assert isinstance(head, syntax.Class)
        self.bind(head.name)
        if head.type_parameters:
            with self.inside(Kind.GENERIC) as scope:
                scope.private = head.name.name
                self.type_parameters(head.type_parameters)
                self._class_with_bases(head, parsed, at, end)
        else:
            self._class_with_bases(head, parsed, at, end)

    def _class_with_bases(self, head: syntax.Class, parsed: ParsedLine, at: int, end: int) -> None:
        if head.bases is not None:
            self.arguments(head.bases)
        self.nested(at, end, lambda: self._class_body(head, parsed, at, end))

    def _class_body(self, head: syntax.Class, parsed: ParsedLine, at: int, end: int) -> None:
        with self.inside(Kind.CLASS) as scope:
            scope.private = head.name.name
            self.body(parsed, at, end)
            self.leave(scope)

    def leave(self, scope: Scope) -> None:
        """All of *scope* was visited."""
        self.not_too_deep(waits=scope.asynchronous or scope.yields is not None)
        self.unresolved += [(scope, name, span) for name, span in scope.nonlocals]

    def nested(self, at: int, end: int, visit: Callable[[], None]) -> None:
        """Visit the scope of the lines from *at* to *end*, if it is not known what is wrong with it.

        What is wrong in it depends on the scopes around it only if it has names of these.
        """
        lines = self.source.lines
        start, stop = lines[at].start, lines[end - 1].end
        depths = self.depth, self.deepest
        self.depth = self.deepest = 0
        self._nested(start, stop, visit)
        self.depth, self.deepest = depths

    def _nested(self, start: int, stop: int, visit: Callable[[], None]) -> None:
        data = self.source.data
        if data.find(b"nonlocal", start, stop) >= 0 or data.find(b"__future__", start, stop) >= 0:
            visit()
            return
        own, self.found = self.found, []

        def make() -> list[Fault]:
            visit()
            return [fault.moved(-start) for fault in self.found]

        key = self.scope.private, self.future
        faults = self.source.remembered(start, stop, key, make)
        self.found = own
        self.found += [fault.moved(start) for fault in faults]


_COMPOUND: dict[type, Callable[[StatementRules, ParsedLine, int, int], None]] = {
    syntax.Condition: StatementRules._condition,
    syntax.Bare: StatementRules._bare,
    syntax.Loop: StatementRules._loop,
    syntax.With: StatementRules._with,
    syntax.Handler: StatementRules._handler,
    syntax.Decorator: StatementRules._decorator,
    syntax.Function: StatementRules._function,
    syntax.Class: StatementRules._class,
}
