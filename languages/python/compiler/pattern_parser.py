"""Parses the patterns of a `case`, with the values of their literals."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Sequence

from fimlsp.languages.python.compiler import nodes
from fimlsp.languages.python.compiler.expression_parser import ExpressionParser
from fimlsp.languages.python.compiler.nodes import Expression, Name, Pattern
from fimlsp.languages.python.compiler.tokens import Token

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
