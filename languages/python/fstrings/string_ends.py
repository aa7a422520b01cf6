"""Finds where f-strings open at a cursor would end, and so which styles of f-strings are worth trying."""

from __future__ import annotations

import re

from fimlsp.languages.python.fstrings.mode_stack import F_STRING_STYLES, QUOTES, FieldRules
from fimlsp.lexing.interruption import checkpoint
from fimlsp.quotient.language.contract import TextAfterCursor

_ESCAPED = (b"'", b'"', b"\\", b"\r", b"\n")
"""The bytes that mean something else after a backslash, in the text of a string."""


def styles_at(text: TextAfterCursor, rules: FieldRules) -> tuple[str, ...]:
    """The styles of f-strings that the cursor may be in, and of those that may enclose them."""
    styles = tuple(s for s in F_STRING_STYLES if text.kept is None or f"text:{s}" in text.kept)
    if not styles or not rules.sealed:
        return styles
    ends = {quote: _ends(text.data, text.cursor, quote) for quote in QUOTES}
    found: list[str] = []
    for quote in sorted(QUOTES, key=lambda quote: -max(ends[quote], default=0)):
        in_other = any(max(ends[other]) > min(ends[quote], default=0) for other in found)
        if in_other or any(text.is_rest_of_line(end) for end in ends[quote]):
            found += [quote] * bool(ends[quote])
    return tuple(style for style in styles if style.removeprefix("r") in found)


def _ends(data: bytes, cursor: int, quote: str) -> list[int]:
    """Where a sealed string with *quote* that is open at *cursor* may end."""
    taken = [0]
    if data[cursor : cursor + 1] in _ESCAPED:  # a backslash before the cursor may escape this
        taken.append(2 if data.startswith(b"\r\n", cursor) else 1)
    ends = {closing_quote(data, cursor + each, quote) for each in taken} - {None}
    if len(quote) == 3:  # the closing quotes may straddle the cursor
        ends |= {cursor + k for k in (1, 2) if data.startswith(quote[:k].encode(), cursor)}
    return [end for end in ends if end is not None]


def closing_quote(data: bytes, cursor: int, quote: str) -> int | None:
    """Where an f-string with *quote* that is open at *cursor* would end; None if nowhere."""
    plain = quote.removeprefix("r").encode()
    if len(plain) == 1:
        found = _ON_ONE_LINE[plain].match(data, cursor)
        return found.end() if found else None
    start = data.find(plain, cursor)
    while start >= 0:
        checkpoint()
        if _n_backslashes(data, cursor, start) % 2 == 0:
            return start + len(plain)
        start = data.find(plain, start + 1)
    return None


def _n_backslashes(data: bytes, first: int, end: int) -> int:
    """How many backslashes `data[first:end]` ends with."""
    start = end
    while start > first and data.startswith(b"\\", start - 1):
        start -= 1
    return end - start


_ON_ONE_LINE = {
    quote: re.compile(rb"(?:[^\\\r\n%s]|\\(?:\r\n|.))*%s" % (quote, quote), re.DOTALL)
    for quote in (b"'", b'"')
}
