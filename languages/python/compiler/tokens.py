"""Splits a logical line of valid Python into tokens; an f-string has the tokens of its fields.

The text is known to be lexically valid, so only the end of each token has to be found.
"""

from __future__ import annotations

import re
from typing import NamedTuple


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
_OPENING, _CLOSING = b"([{", b")]}"


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
            position = _field(data, position + 1, fields, quote, raw=raw)
        else:
            position += 1
    return fields, position + len(quote)


def _end_of_escape(data: bytes, position: int, *, raw: bool) -> int:
    r"""The end of the escape at *position*. A backslash before a brace stands alone, except in `\N{...}`."""
    named = None if raw else _NAMED_ESCAPE.match(data, position)
    return named.end() if named else position + (1 if data[position + 1] in b"{}" else 2)


def _field(data: bytes, position: int, fields: list[tuple[Token, ...]], quote: bytes, *, raw: bool) -> int:
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
    """As `_field` for the format specification that starts at *position*. Returns the end of the field."""
    while data[position] != ord("}"):
        if data[position] == ord("\\"):
            position = _end_of_escape(data, position, raw=raw)
        elif data[position] == ord("{"):
            position = _field(data, position + 1, fields, quote, raw=raw)
        else:
            position += 1
    return position + 1
