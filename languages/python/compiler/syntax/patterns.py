"""Parses the patterns of a `case`."""

from __future__ import annotations

from fimlsp.languages.python.compiler.syntax import nodes
from fimlsp.languages.python.compiler.syntax.expressions import Reader
from fimlsp.languages.python.compiler.syntax.literals import value_of
from fimlsp.languages.python.compiler.syntax.nodes import Expression, Pattern

_WORDS = (b"True", b"False", b"None")


def case_pattern(reader: Reader) -> Pattern:
    """The pattern of a `case`, up to its `if` or colon."""
    first = _element(reader)
    if reader.text != b",":
        return first
    found = [first]
    while reader.passes(b",") and reader.text not in (b":", b"if"):
        found.append(_element(reader))
    return nodes.Sequence(tuple(found))


def _element(reader: Reader) -> Pattern:
    if reader.text != b"*":
        return _pattern(reader)
    star = reader.take()
    name = reader.name()
    return nodes.StarPattern(None if name.name == "_" else name, (star.start, name.span[1]))


def _pattern(reader: Reader) -> Pattern:
    start = reader.place
    found = [_closed(reader)]
    ends = [_known_at(reader)]
    while reader.passes(b"|"):
        found.append(_closed(reader))
        ends.append(_known_at(reader))
    whole = found[0] if len(found) == 1 else nodes.Alternatives(tuple(found), start, tuple(ends))
    return nodes.Alias(whole, reader.name()) if reader.passes(b"as") else whole


def _known_at(reader: Reader) -> int:
    """Where the token is with which the pattern just read can become no other: its bracket, or the next."""
    last = reader.tokens[reader.at - 1]
    return last.start if last.text in (b")", b"]", b"}") else reader.place


def _closed(reader: Reader) -> Pattern:
    token = reader.tokens[reader.at]
    if token.text in (b"(", b"["):
        reader.take()
        return _bracketed(reader, b")" if token.text == b"(" else b"]")
    if token.text == b"{":
        reader.take()
        return _mapping(reader)
    if token.kind != "name" or token.text in _WORDS:
        return _literal(reader)
    name = reader.name()
    if reader.text not in (b".", b"("):
        name = name._replace(span=_until_known(reader, name.span[0]))
        return nodes.Capture(None if name.name == "_" else name, name.span)
    found: Expression = name
    while reader.passes(b"."):
        found = nodes.Attribute(found, reader.name())
    if reader.passes(b"("):
        return _class_pattern(reader, found)
    return nodes.Literal(None, found, (token.start, reader.position))


def _until_known(reader: Reader, start: int) -> nodes.Span:
    """From *start* up to the token that tells that a name is a capture."""
    return start, reader.place


def _bracketed(reader: Reader, closing: bytes) -> Pattern:
    found: list[Pattern] = []
    commas = 0
    while not reader.passes(closing):
        if reader.passes(b","):
            commas += 1
        else:
            found.append(_element(reader))
    if closing == b")" and len(found) == 1 and not commas:
        return found[0]
    return nodes.Sequence(tuple(found))


def _literal(reader: Reader) -> nodes.Literal:
    start = reader.place
    tokens = reader.at
    if reader.text in (b"+", b"-"):
        reader.take()
    parts = reader.atom()
    if reader.text in (b"+", b"-"):
        reader.take()
        reader.take()
    value = None if isinstance(parts, nodes.Parts) else value_of(reader.tokens[tokens : reader.at])
    return nodes.Literal(value, parts, (start, reader.position))


def _mapping(reader: Reader) -> Pattern:
    keys: list[nodes.Literal] = []
    values: list[Pattern] = []
    rest: nodes.Name | None = None
    while not reader.passes(b"}"):
        if reader.passes(b","):
            continue
        if reader.passes(b"**"):
            rest = reader.name()
            continue
        keys.append(_key(reader))
        reader.take()
        values.append(_pattern(reader))
    return nodes.Mapping(tuple(keys), tuple(values), rest)


def _key(reader: Reader) -> nodes.Literal:
    token = reader.tokens[reader.at]
    if token.kind != "name" or token.text in _WORDS:
        return _literal(reader)
    found: Expression = reader.name()
    while reader.passes(b"."):
        found = nodes.Attribute(found, reader.name())
    return nodes.Literal(None, found, (token.start, reader.position))


def _class_pattern(reader: Reader, of: Expression) -> Pattern:
    positional: list[Pattern] = []
    names: list[nodes.Name] = []
    named: list[Pattern] = []
    while not reader.passes(b")"):
        if reader.passes(b","):
            continue
        if reader.following == b"=":
            names.append(reader.name())
            reader.take()
            named.append(_pattern(reader))
        else:
            positional.append(_pattern(reader))
    return nodes.ClassPattern(of, tuple(positional), tuple(names), tuple(named))
