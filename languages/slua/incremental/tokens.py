"""Lexemes of scripts, the set of tokens that may follow, and UTF-8 byte by byte (RFC 3629, section 4)."""

from __future__ import annotations

import re
from dataclasses import dataclass

KEYWORDS = frozenset(
    (
        *("and", "break", "do", "else", "elseif", "end", "false", "for", "function", "global", "goto"),
        *("if", "in", "interface", "local", "mutable", "nil", "not", "object", "optional", "or"),
        *("repeat", "return", "then", "true", "until", "while"),
    )
)
SIGNS = frozenset(
    (
        *("{", "}", "(", ")", ";", ":", ",", ".", "..", "=", "==", "~=", "<", "<=", ">", ">="),
        *("+", "-", "*", "/", "%", "^", "->"),
    )
)
LONGEST_NAME = 50

LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
DIGITS = frozenset(b"0123456789")
WORD = LETTERS | DIGITS | frozenset(b"_")
WHITESPACE = frozenset(b" \t\r\n")
ESCAPED = frozenset(b'nt"\\')


@dataclass(frozen=True, slots=True)
class ExpectedTokens:
    """The tokens that may come next.

    Attributes:
        words: keywords, names and signs.
        taken_names: names that a new name may not be; None if no new name may come.
        number: True if a number may come.
        string: True if a string may come.
        end: True if the script may end.
    """

    words: frozenset[str] = frozenset()
    taken_names: frozenset[str] | None = None
    number: bool = False
    string: bool = False
    end: bool = False

    def __or__(self, other: ExpectedTokens) -> ExpectedTokens:
        taken_names = (
            self.taken_names
            if other.taken_names is None
            else other.taken_names
            if self.taken_names is None
            else self.taken_names & other.taken_names
        )
        return ExpectedTokens(
            self.words | other.words,
            taken_names,
            self.number or other.number,
            self.string or other.string,
            self.end or other.end,
        )

    def accepts(self, token: str) -> bool:
        """True if the whole *token* may come."""
        if token in self.words:
            return True
        first = token[0]
        if first == '"':
            return self.string
        if first.isdigit():
            return self.number
        return self.taken_names is not None and is_name(token) and token not in self.taken_names

    def accepts_prefix(self, text: str) -> bool:
        """True if a token may come that starts with *text*, or equals it."""
        if any(word.startswith(text) for word in self.words):
            return True
        if self.taken_names is None or not text[0].isalpha() or len(text) > LONGEST_NAME:
            return False
        return len(text) < LONGEST_NAME or (text not in self.taken_names and text not in KEYWORDS)


LEXEME = re.compile(
    rb'"(?:[^"\\\x00-\x1f\x7f]|\\[nt"\\])*"'
    rb"|[A-Za-z][A-Za-z0-9_]*"
    rb"|[0-9]+(?:\.[0-9]+)?(?![A-Za-z0-9_.])"
    rb"|[<>=~]=|->|\.\.|-(?!-)|[{}();:,.=<>+*/%^]"
)
"""A lexeme of a script, in bytes. A string that matches may still be invalid UTF-8."""

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\x01\d+\x02|[A-Za-z]\w*|\d+(?:\.\d+)?|[<>=~]=|->|\.\.|\S')


def first_token(text: str) -> str:
    """The first lexeme of *text*, which is valid; empty if there is none."""
    match = TOKEN.search(text)
    return match[0] if match else ""


def is_name(token: str) -> bool:
    """True if *token*, a lexeme or the empty text, is a valid name."""
    return token[:1].isalpha() and token not in KEYWORDS and len(token) <= LONGEST_NAME


def needs_space(before: str, after: str) -> bool:
    """True if two lexemes would be read as other ones with no space between them."""
    last, first = before[-1:], after[:1]
    if not last or not first:
        return False
    is_word = (last.isalnum() or last == "_") and (first.isalnum() or first == "_")
    is_number = before[0].isdigit() and first == "."
    return is_word or is_number or (last in "-.=<>~" and first in "-.=<>")


UTF8_START = (0, 0x80, 0xBF)
"""The state between two characters: the number of missing bytes, and the bounds of the next byte."""

_FIRST = {0xE0: (2, 0xA0, 0xBF), 0xED: (2, 0x80, 0x9F), 0xF0: (3, 0x90, 0xBF), 0xF4: (3, 0x80, 0x8F)}


def utf8_after(state: tuple[int, int, int], byte: int) -> tuple[int, int, int] | None:
    """The state after *byte*; None if no character is encoded so."""
    missing, low, high = state
    if missing:
        return (missing - 1, 0x80, 0xBF) if low <= byte <= high else None
    if byte < 0x80:
        return UTF8_START
    if byte in _FIRST:
        return _FIRST[byte]
    for bounds, count in (((0xC2, 0xDF), 1), ((0xE1, 0xEF), 2), ((0xF1, 0xF3), 3)):
        if bounds[0] <= byte <= bounds[1]:
            return (count, 0x80, 0xBF)
    return None


def utf8_rest(state: tuple[int, int, int]) -> bytes:
    """Bytes that complete the character."""
    missing, low, _ = state
    return bytes((low,)) + b"\x80" * (missing - 1) if missing else b""
