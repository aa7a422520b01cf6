"""Parses the expressions of a valid logical line, without regard to the precedence of operators.

The text is known to be lexically valid, so of each token only the end has to be found. An f-string has the
tokens of its fields.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

from fimlsp.languages.python.compiler import nodes
from fimlsp.languages.python.compiler.nodes import Expression, Span


class UnreadableError(ValueError):
    """Raised for a text that is not valid Python."""


class Token(NamedTuple):
    """A token with its kind, its text and its offsets in the data.

    The kinds are "name" (keywords too), "number", "string", "bytes", "f-string", "operator" and "end". An
    f-string has the tokens of each of its fields, including those in format specifications. A template string
    counts as an f-string.
    """

    kind: str
    text: bytes
    start: int
    end: int
    fields: tuple[tuple[Token, ...], ...] = ()

    @property
    def span(self) -> tuple[int, int]:
        """Its offsets in the data."""
        return self.start, self.end


_BLANK = re.compile(rb"(?:[ \t\f]|\\(?:\r\n?|\n)|#[^\r\n]*)*")
_BLANK_INSIDE = re.compile(rb"(?:[ \t\f\r\n]|\\(?:\r\n?|\n)|#[^\r\n]*)*")
_TOKEN = re.compile(
    rb"(?P<string>[rRbBuUfFtT]{0,2}(?:'''|\"\"\"|'|\"))"
    rb"|(?P<name>[A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*)"
    rb"|(?P<number>0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+"
    rb"|(?:\d(?:_?\d)*\.?(?:\d(?:_?\d)*)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?[jJ]?)"
    rb"|(?P<operator>\*\*=?|//=?|>>=?|<<=?|\.\.\.|->|:=|[=!<>+\-*/%&|^@]=|<>|[^\s\w])"
)
_STRING_END = {
    quote: re.compile(rb"(?:[^\\%s]|\\.)*%s" % (quote[:1], quote), re.DOTALL)
    if len(quote) == 1
    else re.compile(rb"(?:[^\\]|\\.)*?%s" % quote, re.DOTALL)
    for quote in (b"'", b'"', b"'''", b'"""')
}
_NAMED_ESCAPE = re.compile(rb"\\N\{[^{}\\]*\}")
_LITERAL = re.compile(rb"[^\\{}'\"]+")
_OPENING, _CLOSING = (b"(", b"[", b"{"), (b")", b"]", b"}")


def tokens_of_line(data: bytes, start: int = 0) -> tuple[list[Token], int]:
    """The tokens of the logical line at *start*, the last of the kind "end", and the start of the next line.

    Raises:
        UnreadableError: *data* is not valid, or ends within the line.
    """
    try:
        return _tokens(data, start, in_field=False)
    except IndexError:
        raise UnreadableError(f"the line at {start} does not end") from None


def _tokens(data: bytes, position: int, *, in_field: bool) -> tuple[list[Token], int]:
    """The tokens up to a line end outside brackets, or in a field up to the end of its expression."""
    tokens: list[Token] = []
    depth = 0
    while True:
        match = (_BLANK_INSIDE if depth or in_field else _BLANK).match(data, position)
        assert match is not None
        position = match.end()
        token = _token(data, position)
        if token is None and depth:
            raise UnreadableError(f"a bracket is open at {position}")
        if token is None or (in_field and not depth and _ends_field(token)):
            if not in_field:
                tokens.append(Token("end", b"", position, position))
                position += 2 if data.startswith(b"\r\n", position) else position < len(data)
            return tokens, position
        if token.kind == "operator":
            depth += (token.text in _OPENING) - (token.text in _CLOSING)
        tokens.append(token)
        position = token.end


def _token(data: bytes, position: int) -> Token | None:
    """The token at *position*; None at a line end and at the end of *data*."""
    match = _TOKEN.match(data, position)
    if match is None:
        if data[position : position + 1] in (b"", b"\r", b"\n"):
            return None
        raise UnreadableError(f"no token at {position}")
    kind, text = match.lastgroup or "", match.group()
    if kind != "string":
        return Token(kind, text, position, match.end())
    prefix = text.rstrip(b"'\"").lower()
    quote = text[len(prefix) :]
    if b"f" in prefix or b"t" in prefix:
        fields, end = _f_string(data, match.end(), quote, raw=b"r" in prefix)
        return Token("f-string", data[position:end], position, end, tuple(fields))
    string_end = _STRING_END[quote].match(data, match.end())
    if string_end is None:
        raise UnreadableError(f"no end of the string at {position}")
    kind, end = "bytes" if b"b" in prefix else "string", string_end.end()
    return Token(kind, data[position:end], position, end)


def _ends_field(token: Token) -> bool:
    """True if *token*, outside brackets, ends the expression of a field."""
    return token.text in (b":", b":=", b"}", b"=", b"!")


def _f_string(data: bytes, position: int, quote: bytes, *, raw: bool) -> tuple[list[tuple[Token, ...]], int]:
    """The tokens of the fields of the f-string whose text starts at *position*, and its end."""
    fields: list[tuple[Token, ...]] = []
    while not data.startswith(quote, position):
        if (literal := _LITERAL.match(data, position)) is not None:
            position = literal.end()
        elif data[position] == ord("\\"):
            position = _end_of_escape(data, position, raw=raw)
        elif data.startswith((b"{{", b"}}"), position):
            position += 2
        elif data[position] == ord("{"):
            position = _field_tokens(data, position + 1, fields, quote, raw=raw)
        else:
            position += 1
    return fields, position + len(quote)


def _end_of_escape(data: bytes, position: int, *, raw: bool) -> int:
    r"""The end of the escape at *position*. A backslash before a brace stands alone, except in `\N{...}`."""
    named = None if raw else _NAMED_ESCAPE.match(data, position)
    return named.end() if named else position + (1 if data[position + 1] in b"{}" else 2)


def _field_tokens(
    data: bytes, position: int, fields: list[tuple[Token, ...]], quote: bytes, *, raw: bool
) -> int:
    """Add the tokens of the field whose expression starts at *position* to *fields*. Returns its end."""
    tokens, position = _tokens(data, position, in_field=True)
    fields.append((*tokens, Token("end", b"", position, position)))
    while data[position] != ord("}"):
        if data[position] == ord(":"):
            return _specification(data, position + 1, fields, quote, raw=raw)
        position += 1
    return position + 1


def _specification(
    data: bytes, position: int, fields: list[tuple[Token, ...]], quote: bytes, *, raw: bool
) -> int:
    """As `_field_tokens` for the format specification at *position*. Returns the end of the field."""
    while data[position] != ord("}"):
        if data[position] == ord("\\"):
            position = _end_of_escape(data, position, raw=raw)
        elif data[position] == ord("{"):
            position = _field_tokens(data, position + 1, fields, quote, raw=raw)
        else:
            position += 1
    return position + 1


_CONSTANTS = frozenset({b"True", b"False", b"None"})
_UNARY = frozenset({b"+", b"-", b"~", b"not"})
_BINARY = frozenset(b"+ - * / // % @ ** | ^ & << >> == != <> < <= > >= and or in is".split())
_STRING_KINDS = ("string", "bytes", "f-string")
_CLAUSE = frozenset({b"for", b"async"})
"""The words that start a clause of a comprehension."""

_ENDS_LIST = frozenset(b") ] } : = ; += -= *= /= //= %= @= &= |= ^= <<= >>= **= ! for async in from".split())
"""The tokens that may follow a comma at the end of a list."""


class TokenReader:
    """The tokens of a line, and how far they have been taken.

    `next` is the token that `take` returns, and `index` its number. The last token is of the kind "end"; it
    is never taken. `open_brackets` counts the brackets taken and not closed.
    """

    def __init__(self, tokens: Sequence[Token], *, open_brackets: int = 0) -> None:
        self._tokens = tokens
        self.index = 0
        self.next = tokens[0]
        self.open_brackets = open_brackets

    @property
    def is_at_end(self) -> bool:
        """True if no token is left."""
        return self.next.kind == "end"

    @property
    def second(self) -> Token:
        """The token after `next`, or the last one."""
        return self._tokens[min(self.index + 1, len(self._tokens) - 1)]

    @property
    def last_end(self) -> int:
        """The end of the last token that was taken; at first the start of the line."""
        return self._tokens[self.index - 1].end if self.index else self._tokens[0].start

    @property
    def last(self) -> Token:
        """The last token that was taken."""
        return self._tokens[self.index - 1]

    def remaining(self) -> Sequence[Token]:
        """The tokens from `next` on."""
        return self._tokens[self.index :]

    def taken_from(self, index: int) -> Sequence[Token]:
        """The tokens from number *index* up to `next`, which is not included."""
        return self._tokens[index : self.index]

    def take(self) -> Token:
        """Take the next token.

        Raises:
            UnreadableError: No token is left.
        """
        token = self.next
        if token.kind == "operator":
            self.open_brackets += (token.text in _OPENING) - (token.text in _CLOSING)
        if token.kind == "end":
            raise UnreadableError(f"nothing follows at {token.start}")
        self.index += 1
        self.next = self._tokens[self.index]
        return token

    def accept(self, text: bytes) -> bool:
        """Take the next token if it is *text*. Returns True if it was."""
        if self.next.text != text:
            return False
        self.take()
        return True


class ExpressionParser(TokenReader):
    """Parses expressions from the tokens of a line."""

    def name(self) -> nodes.Name:
        """The next token as a name."""
        return name_of(self.take())

    def value(self) -> Expression:
        """A `yield`, or an expression list."""
        return self._yield() if self.next.text == b"yield" else self.expression_list()

    def expression_list(self) -> Expression:
        """One element, or a tuple of several with commas."""
        first = self.element()
        if self.next.text != b",":
            return first
        elements = [first]
        while self.accept(b",") and not (self.is_at_end or self.next.text in _ENDS_LIST):
            elements.append(self.element())
        return nodes.Display("tuple", tuple(elements))

    def targets(self) -> Expression:
        """The targets of a `for`."""
        targets = [self.target()]
        if self.next.text != b",":
            return targets[0]
        while self.accept(b",") and self.next.text != b"in":
            targets.append(self.target())
        return nodes.Display("tuple", tuple(targets))

    def target(self) -> Expression:
        """A target of an assignment, perhaps with a star."""
        if self.next.text == b"*":
            star = self.take()
            value = self._primary()
            return nodes.Starred(value, (star.start, self.last_end))
        return self._primary()

    def element(self) -> Expression:
        """An expression, perhaps with a star or an assignment."""
        if self.next.text == b"*":
            star = self.take()
            value = self.expression()
            return nodes.Starred(value, (star.start, self.last_end))
        return self.named_expression()

    def named_expression(self) -> Expression:
        """An expression, perhaps an assignment."""
        target = self.expression()
        if self.next.text != b":=":
            return target
        sign = self.take().start
        while isinstance(target, nodes.Group):
            target = target.inner
        if not isinstance(target, nodes.Name):
            raise UnreadableError("only names are assigned to within expressions")
        return nodes.Walrus(target, self.expression(), sign)

    def expression(self, *, conditional: bool = True) -> Expression:
        """An expression; without *conditional* an `if` after it belongs to a comprehension."""
        parts: list[Expression] = []
        has_operator = False
        while True:
            while self.next.text in _UNARY:
                self.take()
                has_operator = True
            if self.next.text == b"lambda":
                parts.append(self._lambda(conditional=conditional))
                break
            parts.append(self._primary())
            if not self._skip_binary_operator():
                if conditional and self.next.text == b"if":
                    parts += self._condition()
                break
        return parts[0] if len(parts) == 1 and not has_operator else nodes.Parts(tuple(parts))

    def _skip_binary_operator(self) -> bool:
        """Take the next operator, which may have two words. Returns False if there is none."""
        text = self.next.text
        if text not in _BINARY and not (text == b"not" and self.second.text == b"in"):
            return False
        self.take()
        if text == b"not" or (text == b"is" and self.next.text == b"not"):
            self.take()
        return True

    def _condition(self) -> tuple[Expression, Expression]:
        """The condition and the alternative of a conditional expression, from its `if` on."""
        self.take()
        condition = self.expression(conditional=False)
        self.take()
        return condition, self.expression()

    def _lambda(self, *, conditional: bool) -> Expression:
        self.take()
        parameters = self.parameters(b":", annotated=False)
        self.take()
        return nodes.Lambda(parameters, self.expression(conditional=conditional))

    def parameters(self, end: bytes, *, annotated: bool) -> tuple[nodes.Parameter, ...]:
        """The parameters up to the token *end*, which is not taken."""
        parameters: list[nodes.Parameter] = []
        while self.next.text != end:
            if self.next.text in (b"*", b"**", b"/", b","):
                self.take()
                continue
            name = self.name()
            annotation = self._annotation() if annotated and self.accept(b":") else None
            default = self.expression() if self.accept(b"=") else None
            parameters.append(nodes.Parameter(name, annotation, default))
        return tuple(parameters)

    def _annotation(self) -> Expression:
        """The annotation of a parameter. The brackets around it are not those of a comprehension."""
        outer, self.open_brackets = self.open_brackets, 0
        annotation = self.element()
        self.open_brackets += outer
        return annotation

    def _yield(self) -> Expression:
        span = self.take().span
        if self.next.text == b"from":
            word = self.take()
            return nodes.Yield(self.expression(), word.span, span)
        if self.is_at_end or self.next.text in _ENDS_LIST:
            return nodes.Yield(None, None, span)
        return nodes.Yield(self.expression_list(), None, span)

    def _primary(self) -> Expression:
        """An atom with its attributes, calls and subscripts, perhaps after `await`."""
        if self.next.text == b"await":
            token = self.take()
            return nodes.Await(self._primary(), token.span, self.open_brackets > 0)
        primary = self.atom()
        while True:
            if self.accept(b"."):
                primary = nodes.Attribute(primary, self.name())
            elif self.accept(b"("):
                primary = self.call_of(primary)
            elif self.accept(b"["):
                primary = nodes.Subscript(primary, self._indices())
            else:
                return primary

    def call_of(self, function: Expression) -> nodes.Call:
        """The call of *function* whose arguments come next; takes the closing bracket."""
        arguments: list[Expression] = []
        keywords: list[nodes.Keyword] = []
        while not self.accept(b")"):
            if self.accept(b"**"):
                keywords.append(nodes.Keyword(None, self.expression(), (0, 0)))
            elif self.second.text == b"=" and self.next.kind == "name":
                name = self.name()
                sign = self.take()
                keywords.append(nodes.Keyword(name, self.expression(), sign.span))
            else:
                element = self.element()
                if self.next.text in _CLAUSE:
                    element = self._comprehension("generator", (element,))
                arguments.append(element)
            self.accept(b",")
        return nodes.Call(function, tuple(arguments), tuple(keywords))

    def _indices(self) -> tuple[Expression, ...]:
        """The indices of a subscript; takes the closing bracket."""
        indices: list[Expression] = []
        while not self.accept(b"]"):
            index = self._index()
            is_listed = self.accept(b",") or bool(indices)
            indices.append(as_element(index) if is_listed else index)
        return tuple(indices)

    def _index(self) -> Expression:
        """An index, or a slice."""
        bounds: list[Expression] = []
        is_slice = False
        while self.next.text not in (b",", b"]"):
            if self.accept(b":"):
                is_slice = True
            else:
                bounds.append(self.element())
        return nodes.Parts(tuple(bounds)) if is_slice else bounds[0]

    def atom(self) -> Expression:
        """A name, a literal, or an expression in brackets."""
        if self.next.kind in _STRING_KINDS:
            return self._strings()
        token = self.take()
        if token.kind == "name":
            is_constant = token.text in _CONSTANTS
            return nodes.Constant("word", token.text, token.span) if is_constant else name_of(token)
        if token.kind == "number" or token.text == b"...":
            return nodes.Constant("number", token.text, token.span)
        parse = _BRACKETS.get(token.text)
        if parse is None:
            raise UnreadableError(f"no expression at {token.start}")
        return parse(self)

    def _strings(self) -> Expression:
        """Adjacent strings, as one."""
        strings: list[nodes.Constant] = []
        fields: list[Expression] = []
        has_fields = False
        while self.next.kind in _STRING_KINDS:
            token = self.take()
            has_fields |= token.kind == "f-string"
            fields += [_field(tokens) for tokens in token.fields]
            strings.append(nodes.Constant(token.kind, token.text, token.span))
        if has_fields:
            return nodes.Parts(tuple(fields))
        return strings[0] if len(strings) == 1 else _joined(strings)

    def _parentheses(self) -> Expression:
        """An expression in parentheses, a tuple or a generator, after the opening bracket."""
        start = self.last.start
        if self.accept(b")"):
            return nodes.Display("tuple", (), self.next.start)
        if self.next.text == b"yield":
            inner = self._yield()
        else:
            inner = self.element()
            if self.next.text in _CLAUSE:
                return self._enclosed_comprehension("generator", (inner,))
            if self.next.text == b",":
                return nodes.Display("tuple", (inner, *self._other_elements(b")")), self.next.start)
        closing = self.take()
        return nodes.Group(inner, (start, closing.end), self.next.start)

    def _other_elements(self, closing: bytes) -> list[Expression]:
        """The other elements up to the bracket *closing*, which is taken."""
        elements: list[Expression] = []
        while not self.accept(closing):
            if not self.accept(b","):
                elements.append(self.element())
        return elements

    def _square_brackets(self) -> Expression:
        """A list or a comprehension, after the opening bracket."""
        if self.accept(b"]"):
            return nodes.Display("list", (), self.next.start)
        first = self.element()
        if self.next.text in _CLAUSE:
            return self._enclosed_comprehension("list", (first,))
        return nodes.Display("list", (first, *self._other_elements(b"]")), self.next.start)

    def _braces(self) -> Expression:
        """A dict, a set or a comprehension, after the opening bracket."""
        parts: list[Expression] = []
        has_pairs = False
        while not self.accept(b"}"):
            if self.accept(b"**"):
                has_pairs = True
                parts.append(self.expression())
            elif not self.accept(b","):
                parts.append(self.element())
                if self.accept(b":"):
                    has_pairs = True
                    parts.append(self.expression())
            if self.next.text in _CLAUSE:
                return self._enclosed_comprehension("dict" if has_pairs else "set", tuple(parts))
        return nodes.Parts(tuple(parts)) if has_pairs or not parts else nodes.Display("set", tuple(parts))

    def _enclosed_comprehension(self, kind: str, elements: tuple[Expression, ...]) -> Expression:
        """As `_comprehension`; takes the closing bracket as well."""
        comprehension = self._comprehension(kind, elements)
        self.take()
        return comprehension

    def _comprehension(self, kind: str, elements: tuple[Expression, ...]) -> Expression:
        """The comprehension of *elements* whose clauses come next."""
        clauses: list[nodes.Clause] = []
        while self.next.text in _CLAUSE:
            start = self.next.start
            asynchronous = self.accept(b"async")
            self.take()
            span = start, self.last_end
            target = self.targets()
            self.take()
            iterable = self.expression(conditional=False)
            clauses.append(nodes.Clause(asynchronous, target, iterable, self._clause_conditions(), span))
        return nodes.Comprehension(kind, elements, tuple(clauses), self.last_end, self.open_brackets > 1)

    def _clause_conditions(self) -> tuple[Expression, ...]:
        conditions: list[Expression] = []
        while self.accept(b"if"):
            condition = self.expression(conditional=False)
            sign = self.next.start
            if isinstance(condition, nodes.Name) and self.accept(b":="):
                condition = nodes.Walrus(condition, self.expression(conditional=False), sign)
            conditions.append(condition)
        return tuple(conditions)

    def field(self) -> Expression:
        """The expression of a field of an f-string, up to the end; a starred one as in parentheses."""
        value = self.value()
        if isinstance(value, nodes.Starred):
            return nodes.Group(value, value.span, self.next.start)
        if self.next.text in _CLAUSE:
            return self._comprehension("generator", (value,))
        return value


_BRACKETS: dict[bytes, Callable[[ExpressionParser], Expression]] = {
    b"(": ExpressionParser._parentheses,
    b"[": ExpressionParser._square_brackets,
    b"{": ExpressionParser._braces,
}


def _field(tokens: tuple[Token, ...]) -> Expression:
    return ExpressionParser(tokens, open_brackets=1).field()


def _joined(strings: list[nodes.Constant]) -> Expression:
    first, last = strings[0], strings[-1]
    span: Span = first.span[0], last.span[1]
    return nodes.Constant(first.kind, b" ".join(string.text for string in strings), span)


def as_element(node: Expression) -> Expression:
    """*node* as an element of a list; 3.8 ignores parentheses around a starred one."""
    inner = node
    while isinstance(inner, nodes.Group):
        inner = inner.inner
    return inner if isinstance(inner, nodes.Starred) else node


def name_of(token: Token) -> nodes.Name:
    """*token* as a name, normalised to NFKC as Python does."""
    text = token.text.decode()
    return nodes.Name(text if text.isascii() else unicodedata.normalize("NFKC", text), token.span)
