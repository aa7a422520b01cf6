"""Parses the expressions of a valid logical line, without regard to which operator binds closer."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from fimlsp.languages.python.compiler.syntax import nodes
from fimlsp.languages.python.compiler.syntax.nodes import Expression, Span
from fimlsp.languages.python.compiler.syntax.tokens import Token, UnreadableError

_WORDS = frozenset({b"True", b"False", b"None"})
_BINARY = frozenset(b"+ - * / // % @ ** | ^ & << >> == != <> < <= > >= and or in is".split())
_OPENING, _CLOSING = (b"(", b"[", b"{"), (b")", b"]", b"}")
_UNARY = frozenset({b"+", b"-", b"~", b"not"})
_CLAUSE = frozenset({b"for", b"async"})
_ENDS_LIST = frozenset(b") ] } : = ; += -= *= /= //= %= @= &= |= ^= <<= >>= **= ! for async in from".split())


class Reader:
    """Reads expressions from *tokens*, the last of which is of the kind "end"."""

    def __init__(self, tokens: Sequence[Token], *, enclosed: bool = False) -> None:
        self.tokens = tokens
        self.at = 0
        self._brackets_open = int(enclosed)

    @property
    def text(self) -> bytes:
        """The text of the next token."""
        return self.tokens[self.at].text

    @property
    def following(self) -> bytes:
        """The text of the token behind the next one."""
        return self.tokens[self.at + 1].text if self.at + 1 < len(self.tokens) else b""

    @property
    def ended(self) -> bool:
        """Whether no token is left."""
        return self.tokens[self.at].kind == "end"

    @property
    def position(self) -> int:
        """Where the last token that was taken ends."""
        return self.tokens[self.at - 1].end if self.at else self.tokens[0].start

    @property
    def place(self) -> int:
        """Where the next token begins."""
        return self.tokens[self.at].start

    def take(self) -> Token:
        """The next token, which is passed."""
        token = self.tokens[self.at]
        if token.kind == "operator":
            self._brackets_open += (token.text in _OPENING) - (token.text in _CLOSING)
        if token.kind == "end":
            raise UnreadableError(f"nothing follows at {token.start}")
        self.at += 1
        return token

    def passes(self, text: bytes) -> bool:
        """Pass the next token if it is *text*; whether it was."""
        if self.text != text or self.ended:
            return False
        self.take()
        return True

    def name(self) -> nodes.Name:
        """The next token as a name."""
        return name_of(self.take())

    def listed(self) -> Expression:
        """One expression, or several with commas, each perhaps with a star."""
        first = self.element()
        if self.text != b",":
            return first
        found = [first]
        while self.passes(b",") and not (self.ended or self.text in _ENDS_LIST):
            found.append(self.element())
        return nodes.Display("tuple", tuple(found))

    def yielded(self) -> Expression:
        """A `yield`, or as `listed`."""
        return self._yield() if self.text == b"yield" else self.listed()

    def targets(self) -> Expression:
        """What a `for` assigns to."""
        found = [self.target()]
        if self.text != b",":
            return found[0]
        while self.passes(b",") and self.text != b"in":
            found.append(self.target())
        return nodes.Display("tuple", tuple(found))

    def target(self) -> Expression:
        """Something that is assigned to."""
        if self.text == b"*":
            start = self.take()
            return nodes.Starred(self._primary(), (start.start, start.end))
        return self._primary()

    def element(self) -> Expression:
        """An expression, perhaps with a star before it or an assignment in it."""
        if self.text == b"*":
            star = self.take()
            value = self.expression()
            return nodes.Starred(value, (star.start, self.position))
        return self.named()

    def named(self) -> Expression:
        """An expression, perhaps an assignment."""
        found = self.expression()
        if self.text != b":=":
            return found
        sign = self.take().start
        target = found
        while isinstance(target, nodes.Group):
            target = target.inner
        if not isinstance(target, nodes.Name):
            raise UnreadableError("only names are assigned to within expressions")
        return nodes.Walrus(target, self.expression(), sign)

    def expression(self, *, conditional: bool = True) -> Expression:
        """An expression; without *conditional* an `if` behind it belongs to a comprehension."""
        parts: list[Expression] = []
        operators = 0
        while True:
            while self.text in _UNARY:
                self.take()
                operators += 1
            if self.text == b"lambda":
                parts.append(self._lambda(conditional=conditional))
                break
            parts.append(self._primary())
            if self.text in _BINARY or (self.text == b"not" and self.following == b"in"):
                self._operator()
            elif conditional and self.text == b"if":
                self.take()
                parts.append(self.expression(conditional=False))
                self.take()
                parts.append(self.expression())
                break
            else:
                break
        return parts[0] if len(parts) == 1 and not operators else nodes.Parts(tuple(parts))

    def _operator(self) -> None:
        first = self.take().text
        if first == b"not" or (first == b"is" and self.text == b"not"):
            self.take()

    def _lambda(self, *, conditional: bool) -> Expression:
        self.take()
        found = self.parameters(b":", annotated=False)
        self.take()
        return nodes.Lambda(found, self.expression(conditional=conditional))

    def parameters(self, end: bytes, *, annotated: bool) -> tuple[nodes.Parameter, ...]:
        """The parameters up to the token *end*, which is not passed."""
        found: list[nodes.Parameter] = []
        while self.text != end:
            if self.text in (b"*", b"**", b"/", b","):
                self.take()
                continue
            name = self.name()
            annotation = self._annotation() if annotated and self.passes(b":") else None
            default = self.expression() if self.passes(b"=") else None
            found.append(nodes.Parameter(name, annotation, default))
        return tuple(found)

    def _annotation(self) -> Expression:
        """The annotation of a parameter: the brackets around it make no comprehension of it."""
        around, self._brackets_open = self._brackets_open, 0
        found = self.element()
        self._brackets_open += around
        return found

    def _yield(self) -> Expression:
        token = self.take()
        span = token.start, token.end
        if self.text == b"from" and not self.ended:
            word = self.take()
            return nodes.Yield(self.expression(), (word.start, word.end), span)
        if self.ended or self.text in _ENDS_LIST:
            return nodes.Yield(None, None, span)
        return nodes.Yield(self.listed(), None, span)

    def _primary(self) -> Expression:
        if self.text == b"await" and self.tokens[self.at].kind == "name":
            token = self.take()
            return nodes.Await(self._primary(), (token.start, token.end), self._brackets_open > 0)
        found = self.atom()
        while True:
            text = self.text
            if text == b".":
                self.take()
                found = nodes.Attribute(found, self.name())
            elif text == b"(":
                self.take()
                found = self.call(found)
            elif text == b"[":
                self.take()
                found = nodes.Subscript(found, self._subscript())
            else:
                return found

    def call(self, function: Expression) -> nodes.Call:
        """The call of *function* whose arguments come next; passes the closing bracket."""
        arguments: list[Expression] = []
        keywords: list[nodes.Keyword] = []
        while not self.passes(b")"):
            if self.passes(b"**"):
                keywords.append(nodes.Keyword(None, self.expression(), (0, 0)))
            elif self.following == b"=" and self.tokens[self.at].kind == "name":
                name = self.name()
                sign = self.take()
                keywords.append(nodes.Keyword(name, self.expression(), (sign.start, sign.end)))
            else:
                element = self.element()
                if self.text in _CLAUSE:
                    element = self._comprehension("generator", (element,))
                arguments.append(element)
            self.passes(b",")
        return nodes.Call(function, tuple(arguments), tuple(keywords))

    def _subscript(self) -> tuple[Expression, ...]:
        found: list[Expression] = []
        while not self.passes(b"]"):
            found.append(self._index())
            self.passes(b",")
        return tuple(found)

    def _index(self) -> Expression:
        """An index, or a slice."""
        bounds: list[Expression] = []
        is_slice = False
        while self.text not in (b",", b"]"):
            if self.passes(b":"):
                is_slice = True
            else:
                bounds.append(self.element())
        return nodes.Parts(tuple(bounds)) if is_slice else bounds[0]

    def atom(self) -> Expression:
        """A name, a literal, or what stands in brackets."""
        token = self.tokens[self.at]
        if token.kind in ("string", "bytes", "f-string"):
            return self._strings()
        self.take()
        span = token.start, token.end
        if token.kind == "name":
            return nodes.Constant("word", token.text, span) if token.text in _WORDS else name_of(token)
        if token.kind == "number" or token.text == b"...":
            return nodes.Constant("number", token.text, span)
        read = _BRACKETS.get(token.text)
        if read is None:
            raise UnreadableError(f"no expression at {token.start}")
        return read(self, span)

    def _strings(self) -> Expression:
        """Adjacent strings, as one."""
        found: list[Expression] = []
        fields: list[Expression] = []
        formatted = False
        while (token := self.tokens[self.at]).kind in ("string", "bytes", "f-string"):
            self.at += 1
            formatted |= token.kind == "f-string"
            fields += [_field(field) for field in token.fields]
            found.append(nodes.Constant(token.kind, token.text, (token.start, token.end)))
        if formatted:
            return nodes.Parts(tuple(fields))
        return found[0] if len(found) == 1 else _joined(found)

    def _parentheses(self, span: Span) -> Expression:
        if self.passes(b")"):
            return nodes.Display("tuple", (), self.place)
        if self.text == b"yield":
            found = self._yield()
        else:
            found = self.element()
            if self.text in _CLAUSE:
                found = self._comprehension("generator", (found,))
                self.take()
                return found
            if self.text == b",":
                return nodes.Display("tuple", (found, *self._others(b")")), self.place)
        closing = self.take()
        return nodes.Group(found, (span[0], closing.end), self.place)

    def _others(self, closing: bytes) -> list[Expression]:
        """The other elements up to the bracket *closing*, which is passed."""
        found: list[Expression] = []
        while not self.passes(closing):
            if not self.passes(b","):
                found.append(self.element())
        return found

    def _brackets(self, _span: Span) -> Expression:
        if self.passes(b"]"):
            return nodes.Display("list", (), self.place)
        first = self.element()
        if self.text in _CLAUSE:
            found = self._comprehension("list", (first,))
            self.take()
            return found
        return nodes.Display("list", (first, *self._others(b"]")), self.place)

    def _braces(self, _span: Span) -> Expression:
        parts: list[Expression] = []
        pairs = False
        while not self.passes(b"}"):
            if self.passes(b"**"):
                pairs = True
                parts.append(self.expression())
            elif not self.passes(b","):
                parts.append(self.element())
                if self.passes(b":"):
                    pairs = True
                    parts.append(self.expression())
            if self.text in _CLAUSE:
                found = self._comprehension("dict" if pairs else "set", tuple(parts))
                self.take()
                return found
        return nodes.Parts(tuple(parts)) if pairs or not parts else nodes.Display("set", tuple(parts))

    def _comprehension(self, kind: str, elements: tuple[Expression, ...]) -> Expression:
        clauses: list[nodes.Clause] = []
        while self.text in _CLAUSE:
            start = self.tokens[self.at].start
            asynchronous = self.passes(b"async")
            self.take()
            span = start, self.position
            target = self.targets()
            self.take()
            iterable = self.expression(conditional=False)
            conditions: list[Expression] = []
            while self.passes(b"if"):
                condition = self.expression(conditional=False)
                sign = self.place
                if isinstance(condition, nodes.Name) and self.passes(b":="):
                    condition = nodes.Walrus(condition, self.expression(conditional=False), sign)
                conditions.append(condition)
            clauses.append(nodes.Clause(asynchronous, target, iterable, tuple(conditions), span))
        return nodes.Comprehension(kind, elements, tuple(clauses), self.position, self._brackets_open > 1)

    def field(self) -> Expression:
        """The expression of a field of an f-string, up to the end."""
        found = self.yielded()
        if self.text in _CLAUSE:
            return self._comprehension("generator", (found,))
        return found


_BRACKETS: dict[bytes, Callable[[Reader, Span], Expression]] = {
    b"(": Reader._parentheses,
    b"[": Reader._brackets,
    b"{": Reader._braces,
}


def _field(tokens: tuple[Token, ...]) -> Expression:
    return Reader(tokens, enclosed=True).field()


def _joined(parts: list[Expression]) -> Expression:
    texts = [part.text for part in parts if isinstance(part, nodes.Constant)]
    first, last = parts[0], parts[-1]
    assert isinstance(first, nodes.Constant)
    assert isinstance(last, nodes.Constant)
    return nodes.Constant(first.kind, b" ".join(texts), (first.span[0], last.span[1]))


def name_of(token: Token) -> nodes.Name:
    """*token* as a name; letters that Python takes for the same are the same."""
    text = token.text.decode()
    return nodes.Name(
        text if text.isascii() else unicodedata.normalize("NFKC", text), (token.start, token.end)
    )
