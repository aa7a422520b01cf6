"""The lexemes of a script, and what of one may stand at the end of a text that goes on."""

from __future__ import annotations

import re
from dataclasses import dataclass

KEYWORDS = frozenset(
    (
        *("and", "break", "do", "else", "elseif", "end", "false", "for", "function", "global", "goto", "if"),
        *(
            "in",
            "interface",
            "local",
            "mutable",
            "nil",
            "not",
            "object",
            "optional",
            "or",
            "repeat",
            "return",
        ),
        *("then", "true", "until", "while"),
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
BLANKS = frozenset(b" \t\r\n")
ESCAPED = frozenset(b'nt"\\')


@dataclass(frozen=True, slots=True)
class Expected:
    """What may come next.

    Attributes:
        words: keywords, names and signs.
        but: a new name may come, none of these; None if no new name may.
        number: whether a number may.
        string: whether a text may.
        end: whether the script may end.
    """

    words: frozenset[str] = frozenset()
    but: frozenset[str] | None = None
    number: bool = False
    string: bool = False
    end: bool = False

    def __or__(self, other: Expected) -> Expected:
        but = self.but if other.but is None else other.but if self.but is None else self.but & other.but
        return Expected(
            self.words | other.words,
            but,
            self.number or other.number,
            self.string or other.string,
            self.end or other.end,
        )

    def takes(self, token: str) -> bool:
        """Whether the whole *token* may come."""
        if token in self.words:
            return True
        first = token[0]
        if first == '"':
            return self.string
        if first.isdigit():
            return self.number
        return self.but is not None and is_name(token) and token not in self.but

    def begins(self, text: str) -> bool:
        """Whether a token may come that begins with *text*, or is it."""
        if any(word.startswith(text) for word in self.words):
            return True
        if self.but is None or not text[0].isalpha() or len(text) > LONGEST_NAME:
            return False
        return len(text) < LONGEST_NAME or (text not in self.but and text not in KEYWORDS)


LEXEME = re.compile(
    rb'"(?:[^"\\\x00-\x1f\x7f]|\\[nt"\\])*"'
    rb"|[A-Za-z][A-Za-z0-9_]*"
    rb"|[0-9]+(?:\.[0-9]+)?(?![A-Za-z0-9_.])"
    rb"|[<>=~]=|->|\.\.|-(?!-)|[{}();:,.=<>+*/%^]"
)
"""A lexeme in bytes that may stand in a script; a text of it may yet be no UTF-8."""

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\x01\d+\x02|[A-Za-z]\w*|\d+(?:\.\d+)?|[<>=~]=|->|\.\.|\S')


def first_token(text: str) -> str:
    """The first lexeme of *text*, which is right; empty if there is none."""
    found = TOKEN.search(text)
    return found[0] if found else ""


def is_name(token: str) -> bool:
    """Whether *token*, a lexeme or nothing, may name something."""
    return token[:1].isalpha() and token not in KEYWORDS and len(token) <= LONGEST_NAME


def needs_blank(before: str, after: str) -> bool:
    """Whether two lexemes would be read as others if nothing were between them."""
    last, first = before[-1:], after[:1]
    if not last or not first:
        return False
    is_word = (last.isalnum() or last == "_") and (first.isalnum() or first == "_")
    is_number = before[0].isdigit() and first == "."
    return is_word or is_number or (last in "-.=<>~" and first in "-.=<>")
