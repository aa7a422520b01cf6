"""Parses the logical lines of a valid file: simple statements, headers of compound ones, and patterns."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Hashable, Sequence

from fimlsp.languages.python.compiler import nodes
from fimlsp.languages.python.compiler.expression_parser import ExpressionParser, Token
from fimlsp.languages.python.compiler.nodes import (
    Annotation,
    Assignment,
    Augmentation,
    Bare,
    Case,
    Class,
    Condition,
    Declaration,
    Decorator,
    Deletion,
    Evaluation,
    Expression,
    Function,
    Handler,
    Head,
    Import,
    Loop,
    Name,
    ParsedLine,
    Pattern,
    Return,
    Simple,
    Span,
    TypeAlias,
    TypeParameter,
    With,
)

_AUGMENTED = frozenset(b"+= -= *= /= //= %= @= &= |= ^= <<= >>= **=".split())
_CONTINUES_TYPE = (b"in", b"is", b"not", b"and", b"or", b"if")
"""The words after which `type` is a name."""


def parse_line(tokens: list[Token], *, may_be_case: bool) -> ParsedLine:
    """The logical line of *tokens*. With *may_be_case* it can be a `case` of a `match`."""
    parser = ExpressionParser(tokens)
    word = parser.next.text
    if word in _HEADS:
        return ParsedLine(word, _head(parser), _statements(parser))
    if word == b"match" and _is_match(tokens):
        return ParsedLine(word, _match_head(parser), _statements(parser))
    if word == b"case" and may_be_case:
        return ParsedLine(word, _case_head(parser), _statements(parser))
    return ParsedLine(word, None, _statements(parser))


def _is_match(tokens: list[Token]) -> bool:
    """True if a line that starts with `match` is the head of a statement."""
    return len(tokens) > 3 and tokens[-2].text == b":"


def _match_head(parser: ExpressionParser) -> Condition:
    parser.take()
    subject = parser.expression_list()
    parser.take()
    return Condition(subject)


def _case_head(parser: ExpressionParser) -> Case:
    word = parser.take()
    pattern = case_pattern(parser)
    guard = parser.named_expression() if parser.accept(b"if") else None
    parser.take()
    return Case(pattern, guard, word.span)


def _statements(parser: ExpressionParser) -> tuple[Simple, ...]:
    """The simple statements that come next on the line."""
    statements: list[Simple] = []
    while not parser.is_at_end:
        statements.append(_simple_statement(parser))
        parser.accept(b";")
    return tuple(statements)


def _simple_statement(parser: ExpressionParser) -> Simple:
    word = parser.next
    parse = _SIMPLE.get(word.text)
    if parse is not None:
        parser.take()
        return parse(parser, word.span)
    if word.text == b"lazy" and parser.second.text in _IMPORTS:
        parser.take()
        importing = parser.take()
        statement = _IMPORTS[importing.text](parser, importing.span)
        return statement._replace(lazy=word.span)
    if word.text == b"type" and parser.second.kind == "name" and parser.second.text not in _CONTINUES_TYPE:
        return _type_alias(parser)
    return _expression_statement(parser)


def _type_alias(parser: ExpressionParser) -> TypeAlias:
    parser.take()
    name = parser.name()
    parameters = _type_parameters(parser)
    parser.take()
    return TypeAlias(name, parameters, parser.expression())


def _expression_statement(parser: ExpressionParser) -> Simple:
    """An assignment, an annotation, or an expression alone."""
    first = parser.value()
    if parser.next.text == b"=":
        return _assignment(parser, first)
    if parser.next.text in _AUGMENTED:
        sign = parser.take()
        return Augmentation(first, parser.value(), sign.span)
    if parser.next.text == b":":
        colon = parser.take().start
        annotation = parser.expression()
        following = parser.next.start
        value = parser.value() if parser.accept(b"=") else None
        return Annotation(first, annotation, value, colon, following)
    return Evaluation((first,), parser.next.start)


def _assignment(parser: ExpressionParser, first: Expression) -> Assignment:
    values, signs = [first], []
    while parser.next.text == b"=":
        signs.append(parser.take().span)
        values.append(parser.value())
    return Assignment(tuple(values[:-1]), values[-1], tuple(signs))


def _return(parser: ExpressionParser, span: Span) -> Simple:
    if _is_ended(parser):
        return Return(None, span)
    value_start = parser.next.start
    return Return(parser.expression_list(), (span[0], value_start))


def _is_ended(parser: ExpressionParser) -> bool:
    """True at the end of a simple statement."""
    return parser.is_at_end or parser.next.text == b";"


def _evaluation(parser: ExpressionParser, _span: Span) -> Simple:
    """`raise`, `assert`, and words that stand alone."""
    parts: list[Expression] = []
    while not _is_ended(parser):
        if not (parser.accept(b",") or parser.accept(b"from")):
            parts.append(parser.expression())
    return Evaluation(tuple(parts))


def _deletion(parser: ExpressionParser, _span: Span) -> Simple:
    return Deletion(parser.expression_list())


def _import(parser: ExpressionParser, span: Span) -> Import:
    bound: list[Name] = []
    packages: list[Name] = []
    while not _is_ended(parser):
        name = parser.name()
        has_members = parser.next.text == b"."
        while parser.accept(b"."):
            parser.take()
        if parser.accept(b"as"):
            bound.append(parser.name())
        else:
            bound.append(_up_to_next(parser, name))
            packages += bound[-1:] if has_members else []
        parser.accept(b",")
    return Import(tuple(bound), (), False, False, span, packages=tuple(packages))


def _up_to_next(parser: ExpressionParser, name: Name) -> Name:
    """*name* with the spaces after it, as only the next token shows that no `as` follows."""
    return name._replace(span=(name.span[0], parser.next.start))


def _from_import(parser: ExpressionParser, span: Span) -> Import:
    module: list[bytes] = []
    while parser.next.text != b"import":
        token = parser.take()
        module.append(token.text)
        span = span[0], token.end
    parser.take()
    relative = module[0] in (b".", b"...")
    is_future = [part for part in module if part not in (b".", b"...")] == [b"__future__"]
    if parser.next.text == b"*":
        star = Name("*", parser.take().span)
        return Import((), (star,), is_future, True, span, relative)
    names: list[Name] = []
    bound: list[Name] = []
    while not _is_ended(parser):
        if parser.next.text in b"(),":
            parser.take()
            continue
        names.append(parser.name())
        bound.append(parser.name() if parser.accept(b"as") else _up_to_next(parser, names[-1]))
    return Import(tuple(bound), tuple(names), is_future, False, span, relative)


def _declaration(parser: ExpressionParser, span: Span) -> Simple:
    is_global = span[1] - span[0] == len(b"global")
    names = [parser.name()]
    while parser.accept(b","):
        names.append(parser.name())
    return Declaration(is_global, tuple(names), span)


_IMPORTS = {b"import": _import, b"from": _from_import}
_SIMPLE: dict[bytes, Callable[[ExpressionParser, Span], Simple]] = {
    b"return": _return,
    b"raise": _evaluation,
    b"assert": _evaluation,
    b"pass": _evaluation,
    b"break": _evaluation,
    b"continue": _evaluation,
    b"del": _deletion,
    **_IMPORTS,
    b"global": _declaration,
    b"nonlocal": _declaration,
}
"""The simple statements by their first word, which is taken before the rest is parsed."""


def _head(parser: ExpressionParser) -> Head:
    """The head of a compound statement, with its colon; a decorator has none."""
    asynchronous = parser.accept(b"async")
    word = parser.take().text
    head = _HEADS.get(word, _bare)(parser)
    if asynchronous and isinstance(head, Function):
        head = head._replace(asynchronous=True)
    if not isinstance(head, Decorator):
        parser.take()
    return head


def _condition(parser: ExpressionParser) -> Condition:
    return Condition(parser.named_expression())


def _decorator(parser: ExpressionParser) -> Decorator:
    return Decorator(parser.named_expression())


def _bare(_parser: ExpressionParser) -> Bare:
    return Bare()


def _loop(parser: ExpressionParser) -> Loop:
    target = parser.targets()
    parser.take()
    return Loop(target, parser.expression_list())


def _handler(parser: ExpressionParser) -> Handler:
    parser.accept(b"*")
    of = None if parser.next.text == b":" else parser.expression_list()
    return Handler(of, parser.name() if parser.accept(b"as") else None)


def _with(parser: ExpressionParser) -> With:
    if not _has_bracketed_items(parser):
        return With(_with_items(parser, b":"))
    parser.take()
    items = _with_items(parser, b")")
    parser.take()
    return With(items)


def _has_bracketed_items(parser: ExpressionParser) -> bool:
    """True if parentheses come next that hold all items of a `with`, and are not part of an expression."""
    if parser.next.text != b"(":
        return False
    tokens = parser.remaining()
    depth = 0
    has_alias = False
    for index, token in enumerate(tokens):
        depth += (token.text in (b"(", b"[", b"{")) - (token.text in (b")", b"]", b"}"))
        has_alias |= depth == 1 and token.text == b"as"
        if not depth:
            return has_alias and tokens[index + 1].text == b":"
    return False


def _with_items(parser: ExpressionParser, end: bytes) -> tuple[tuple[Expression, Expression | None], ...]:
    """The items of a `with` up to the token *end*, which is not taken."""
    items: list[tuple[Expression, Expression | None]] = []
    while parser.next.text != end:
        manager = parser.expression()
        items.append((manager, parser.target() if parser.accept(b"as") else None))
        parser.accept(b",")
    return tuple(items)


def _type_parameters(parser: ExpressionParser) -> tuple[TypeParameter, ...]:
    parameters: list[TypeParameter] = []
    if not parser.accept(b"["):
        return ()
    while not parser.accept(b"]"):
        if parser.next.text in (b",", b"*", b"**"):
            parser.take()
            continue
        name = parser.name()
        bound = parser.expression() if parser.accept(b":") else None
        following = parser.next.start
        default = parser.element() if parser.accept(b"=") else None
        parameters.append(TypeParameter(name, bound, default, following))
    return tuple(parameters)


def _function(parser: ExpressionParser) -> Function:
    name = parser.name()
    type_parameters = _type_parameters(parser)
    parser.take()
    parameters = parser.parameters(b")", annotated=True)
    parser.take()
    returns = parser.expression() if parser.accept(b"->") else None
    return Function(False, name, type_parameters, parameters, returns)


def _class(parser: ExpressionParser) -> Class:
    name = parser.name()
    type_parameters = _type_parameters(parser)
    bases = parser.call_of(name) if parser.accept(b"(") else None
    return Class(name, type_parameters, bases)


_HEADS: dict[bytes, Callable[[ExpressionParser], Head]] = {
    b"if": _condition,
    b"elif": _condition,
    b"while": _condition,
    b"else": _bare,
    b"try": _bare,
    b"finally": _bare,
    b"for": _loop,
    b"with": _with,
    b"except": _handler,
    b"def": _function,
    b"class": _class,
    b"@": _decorator,
    b"async": _bare,  # replaced by the word after it
}
"""The heads of compound statements by their word, which is taken before the rest is parsed."""


_CONSTANTS = {b"True": True, b"False": False, b"None": None}
_STRING = re.compile(r"([a-zA-Z]*)('''|\"\"\"|'|\")(.*)\2", re.DOTALL)
_ESCAPE = re.compile(
    r"\\(?:(\r\n|\r|\n)|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})"
    r"|N\{([^{}\\]*)\}|([\\'\"abfnrtv]))"
)
_SIMPLE_ESCAPES = dict(zip("\\'\"abfnrtv", "\\'\"\a\b\f\n\r\t\v", strict=True))
_IN_TEXT_ONLY = ("u", "U", "N")


def case_pattern(parser: ExpressionParser) -> Pattern:
    """The pattern of a `case`, up to its `if` or colon."""
    first = _element(parser)
    if parser.next.text != b",":
        return first
    elements = [first]
    while parser.accept(b",") and parser.next.text not in (b":", b"if"):
        elements.append(_element(parser))
    return nodes.Sequence(tuple(elements))


def _element(parser: ExpressionParser) -> Pattern:
    """A pattern, or a capture with a star."""
    if parser.next.text != b"*":
        return _pattern(parser)
    star = parser.take()
    name = parser.name()
    return nodes.StarPattern(_unless_wildcard(name), (star.start, name.span[1]))


def _unless_wildcard(name: Name) -> Name | None:
    return None if name.name == "_" else name


def _pattern(parser: ExpressionParser) -> Pattern:
    """One or more alternatives, perhaps with an alias."""
    start = parser.next.start
    alternatives = [_closed_pattern(parser)]
    ends = [_decided_at(parser)]
    while parser.accept(b"|"):
        alternatives.append(_closed_pattern(parser))
        ends.append(_decided_at(parser))
    pattern = alternatives[0]
    if len(alternatives) > 1:
        pattern = nodes.Alternatives(tuple(alternatives), start, tuple(ends))
    return nodes.Alias(pattern, parser.name()) if parser.accept(b"as") else pattern


def _decided_at(parser: ExpressionParser) -> int:
    """The start of the token that decides the last pattern: its closing bracket, or the next token."""
    last = parser.last
    return last.start if last.text in (b")", b"]", b"}") else parser.next.start


def _closed_pattern(parser: ExpressionParser) -> Pattern:
    """A pattern without alternatives: in brackets, a literal, a capture, a value, or that of a class."""
    token = parser.next
    if parser.accept(b"("):
        return _bracketed(parser, b")")
    if parser.accept(b"["):
        return _bracketed(parser, b"]")
    if parser.accept(b"{"):
        return _mapping(parser)
    if token.kind != "name" or token.text in _CONSTANTS:
        return _literal(parser)
    name = parser.name()
    if parser.next.text not in (b".", b"("):
        name = name._replace(span=(name.span[0], parser.next.start))  # the next token makes it a capture
        return nodes.Capture(_unless_wildcard(name), name.span)
    value = _members_of(parser, name)
    if parser.accept(b"("):
        return _class_pattern(parser, value)
    return nodes.Literal(None, value, (token.start, parser.last_end))


def _members_of(parser: ExpressionParser, value: Expression) -> Expression:
    """*value* with the attributes that come next."""
    while parser.accept(b"."):
        value = nodes.Attribute(value, parser.name())
    return value


def _bracketed(parser: ExpressionParser, closing: bytes) -> Pattern:
    """A sequence, or a pattern in parentheses, after the opening bracket."""
    elements: list[Pattern] = []
    has_comma = False
    while not parser.accept(closing):
        if parser.accept(b","):
            has_comma = True
        else:
            elements.append(_element(parser))
    if closing == b")" and len(elements) == 1 and not has_comma:
        return elements[0]
    return nodes.Sequence(tuple(elements))


def _literal(parser: ExpressionParser) -> nodes.Literal:
    """A literal, perhaps with a sign or an imaginary part."""
    start, index = parser.next.start, parser.index
    if parser.next.text in (b"+", b"-"):
        parser.take()
    parts = parser.atom()
    if parser.next.text in (b"+", b"-"):
        parser.take()
        parser.take()
    value = None if isinstance(parts, nodes.Parts) else _value_of(parser.taken_from(index))
    return nodes.Literal(value, parts, (start, parser.last_end))


def _mapping(parser: ExpressionParser) -> Pattern:
    """The pattern of a mapping, after the opening brace."""
    keys: list[nodes.Literal] = []
    values: list[Pattern] = []
    rest: Name | None = None
    while not parser.accept(b"}"):
        if parser.accept(b","):
            continue
        if parser.accept(b"**"):
            rest = parser.name()
            continue
        keys.append(_key(parser))
        parser.take()
        values.append(_pattern(parser))
    return nodes.Mapping(tuple(keys), tuple(values), rest)


def _key(parser: ExpressionParser) -> nodes.Literal:
    token = parser.next
    if token.kind != "name" or token.text in _CONSTANTS:
        return _literal(parser)
    value = _members_of(parser, parser.name())
    return nodes.Literal(None, value, (token.start, parser.last_end))


def _class_pattern(parser: ExpressionParser, of: Expression) -> Pattern:
    """The pattern of the class *of*, after the opening parenthesis."""
    positional: list[Pattern] = []
    names: list[Name] = []
    named: list[Pattern] = []
    while not parser.accept(b")"):
        if parser.accept(b","):
            continue
        if parser.second.text == b"=":
            names.append(parser.name())
            parser.take()
            named.append(_pattern(parser))
        else:
            positional.append(_pattern(parser))
    return nodes.ClassPattern(of, tuple(positional), tuple(names), tuple(named))


def _value_of(tokens: Sequence[Token]) -> Hashable:
    """The value of the literal *tokens*: strings, a number with its sign, a complex number, or a constant.

    Values are only compared with each other, as keys of a mapping pattern.
    """
    first = tokens[0]
    if first.kind in ("string", "bytes"):
        return first.kind, "".join([_text(token) for token in tokens])
    if first.text in _CONSTANTS:
        return _CONSTANTS[first.text]
    total: complex = 0
    sign = 1
    for token in tokens:
        if token.kind == "operator":
            sign = -1 if token.text == b"-" else 1
        else:
            total += sign * _number(token.text.decode().replace("_", "").lower())
    return total


def _number(text: str) -> complex:
    if text.startswith(("0x", "0o", "0b")):
        return int(text, 0)
    if text.endswith("j"):
        return complex(0, float(text[:-1]))
    return float(text) if set(".e") & set(text) else int(text)


def _text(token: Token) -> str:
    """The text of a string; of bytes, one character for each byte."""
    match = _STRING.fullmatch(token.text.decode())
    assert match is not None
    prefix, _, inner = match.groups()
    inner = inner.replace("\r\n", "\n").replace("\r", "\n")
    if "r" in prefix.lower():
        return inner
    return _ESCAPE.sub(lambda escape: _character(escape, is_text=token.kind == "string"), inner)


def _character(escape: re.Match[str], *, is_text: bool) -> str:
    line_end, byte, short, long, octal, name, simple = escape.groups()
    if line_end:
        return ""
    if not is_text and escape.group()[1] in _IN_TEXT_ONLY:
        return escape.group()
    if octal:
        return chr(int(octal, 8) & (0x1FF if is_text else 0xFF))
    if name:
        return unicodedata.lookup(name)
    return _SIMPLE_ESCAPES[simple] if simple else chr(int(byte or short or long, 16))
