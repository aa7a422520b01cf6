"""The values of literals, as far as they are compared: the keys of a mapping pattern."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Sequence

from fimlsp.languages.python.compiler.syntax.tokens import Token

_WORDS = {b"True": True, b"False": False, b"None": None}
_PARTS = re.compile(r"([a-zA-Z]*)('''|\"\"\"|'|\")(.*)\2", re.DOTALL)
_ESCAPE = re.compile(
    r"\\(?:(\r\n|\r|\n)|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})"
    r"|N\{([^}]*)\}|([\\'\"abfnrtv]))"
)
_SIMPLE = dict(zip("\\'\"abfnrtv", "\\'\"\a\b\f\n\r\t\v", strict=True))
_IN_TEXT_ONLY = ("u", "U", "N")


def value_of(tokens: Sequence[Token]) -> Hashable:
    """The value of the literal *tokens*: strings, a number with its sign, a complex number, or a word."""
    first = tokens[0]
    if first.kind in ("string", "bytes"):
        return first.kind, "".join([_text(token) for token in tokens])
    if first.text in _WORDS:
        return _WORDS[first.text]
    found: complex = 0
    sign = 1
    for token in tokens:
        if token.kind == "operator":
            sign = -1 if token.text == b"-" else 1
        else:
            found += sign * _number(token.text.decode().replace("_", "").lower())
    return found


def _number(text: str) -> complex:
    if text.startswith(("0x", "0o", "0b")):
        return int(text, 0)
    if text.endswith("j"):
        return complex(0, float(text[:-1]))
    return float(text) if set(".e") & set(text) else int(text)


def _text(token: Token) -> str:
    """The text of a string, the bytes of bytes as characters of the same number."""
    match = _PARTS.fullmatch(token.text.decode())
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
    return _SIMPLE[simple] if simple else chr(int(byte or short or long, 16))
