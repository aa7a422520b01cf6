"""The lexemes of a language as data, the set of tokens that may follow, and UTF-8 byte by byte (RFC 3629)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeVar

WHITESPACE = frozenset(b" \t\r\n")
DIGITS = frozenset(b"0123456789")
LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
WORD = LETTERS | DIGITS | frozenset(b"_")

LONGEST_INTEGER = 9

PLACEHOLDER = "\x01{}\x02"
"""Stands for a new name in a text, until the free names are known."""


@dataclass(frozen=True, eq=False)
class Lexicon:
    """The lexemes of a language.

    Numbers are digits with an optional fraction. Names consist of letters, digits and underscores.

    Attributes:
        keywords: words that are no names.
        signs: all signs.
        lexeme: matches one lexeme, in bytes, if the next byte cannot belong to it.
        token: finds the lexemes of a valid text, and placeholders.
        quote: the quotation mark of texts.
        escapes: the bytes that may follow a backslash in a text. If there are none, a doubled quotation mark
            stands for one.
        name_quote: the quotation mark of names that are quoted; empty if there are none.
        starts: the bytes that a name may start with.
        ignores_case: True if words are equal in upper and lower case; tokens are then in lower case.
        longest_name: most characters of a new name.
    """

    keywords: frozenset[str]
    signs: frozenset[str]
    lexeme: re.Pattern[bytes]
    token: re.Pattern[str]
    quote: str
    escapes: frozenset[int] = frozenset()
    name_quote: str = ""
    starts: frozenset[int] = LETTERS
    ignores_case: bool = False
    longest_name: int = 50

    def whole_at(self, data: bytes, at: int) -> re.Match[bytes] | None:
        """White space in *data* and a lexeme, the group 1, if the next byte cannot belong to that."""
        return self._after_space.match(data, at)

    @cached_property
    def _after_space(self) -> re.Pattern[bytes]:
        lexeme = self.lexeme.pattern
        return re.compile(rb"[ \t\r\n]*(" + lexeme + rb")")

    @cached_property
    def sign_beginnings(self) -> frozenset[bytes]:
        """All beginnings of signs."""
        return frozenset(sign[:size].encode() for sign in self.signs for size in range(1, len(sign) + 1))

    @cached_property
    def first_signs(self) -> frozenset[str]:
        """The first characters of signs, and of names in quotation marks."""
        return frozenset((*(sign[0] for sign in self.signs), *self.name_quote))

    def normal(self, lexeme: str) -> str:
        """The token of a *lexeme*, or of the beginning of one."""
        return lexeme.lower() if self.ignores_case and lexeme[0] != self.quote else lexeme

    def is_name(self, token: str) -> bool:
        """True if *token*, a lexeme or the empty text, is a valid new name."""
        is_word = token[:1].isalpha() or token[:1] == "_"
        return is_word and token not in self.keywords and len(token) <= self.longest_name

    def first_token(self, text: str) -> str:
        """The first lexeme of *text*, which is valid; empty if there is none."""
        match = self.token.search(text)
        return match[0] if match else ""


E = TypeVar("E", bound="ExpectedTokens")


@dataclass(frozen=True, slots=True)
class ExpectedTokens:
    """The tokens that may come next. Each language has a subclass with its `lexicon`.

    Attributes:
        words: keywords, names and signs.
        taken_names: names that a new name may not be; None if no new name may come.
        number: True if a number may come.
        string: True if a text may come.
        end: True if the whole may end.
        integer: True if a number without a fraction may come, of at most `LONGEST_INTEGER` digits.
        longest: most characters of a new name; 0 if the language has no shorter limit here.
    """

    lexicon: ClassVar[Lexicon]

    words: frozenset[str] = frozenset()
    taken_names: frozenset[str] | None = None
    number: bool = False
    string: bool = False
    end: bool = False
    integer: bool = False
    longest: int = 0

    def __or__(self: E, other: E) -> E:
        taken_names = (
            self.taken_names
            if other.taken_names is None
            else other.taken_names
            if self.taken_names is None
            else self.taken_names & other.taken_names
        )
        return type(self)(
            self.words | other.words,
            taken_names,
            self.number or other.number,
            self.string or other.string,
            self.end or other.end,
            self.integer or other.integer,
            self.longest if other.taken_names is None else other.longest,
        )

    def accepts(self, token: str) -> bool:
        """True if the whole *token* may come."""
        if token in self.words:
            return True
        first, lexicon = token[0], self.lexicon
        if first == lexicon.quote:
            return self.string
        if first.isdigit():
            return self.number or (self.integer and token.isdigit() and len(token) <= LONGEST_INTEGER)
        if self.taken_names is None or token in self.taken_names or not lexicon.is_name(token):
            return False
        return not self.longest or len(token) <= self.longest

    def accepts_prefix(self, text: str) -> bool:
        """True if a word or name may come that starts with *text*, or equals it."""
        if any(word.startswith(text) for word in self.words):
            return True
        lexicon, longest = self.lexicon, self.longest or self.lexicon.longest_name
        if self.taken_names is None or not (text[0].isalpha() or text[0] == "_") or len(text) > longest:
            return False
        return len(text) < longest or (text not in self.taken_names and text not in lexicon.keywords)


def needs_space(before: str, after: str) -> bool:
    """True if two lexemes would be read as other ones with no space between them."""
    last, first = before[-1:], after[:1]
    if not last or not first:
        return False
    is_word = (last.isalnum() or last == "_") and (first.isalnum() or first == "_")
    is_number = before[0].isdigit() and first == "."
    is_quoted = last == first and last in "'\""
    return is_word or is_number or is_quoted or (last in "-.=<>~" and first in "-.=<>")


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
