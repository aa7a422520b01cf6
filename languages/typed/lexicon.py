"""The lexemes and the operators of a language as data, the tokens that may follow, and UTF-8 byte by byte.

UTF-8 is that of RFC 3629. Operators have levels, operands and results, and types to which they may lead.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar, Generic, TypeVar

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


V = TypeVar("V")
T = TypeVar("T")
R = TypeVar("R", covariant=True)


MOST_KEPT = 4096


@dataclass(frozen=True, eq=False)
class Operator(Generic[V, R]):
    """An operator after its left operand.

    Attributes:
        level: its precedence; a higher one binds more strongly.
        takes: True for the values that may stand on its left.
        right: the target of its right operand, for the value on its left.
        result: its value.
        right_level: the least level of operators within its right operand.
    """

    level: int
    takes: Callable[[V], bool]
    right: Callable[[V], R]
    result: V
    right_level: int


class Operators(Generic[V, T]):
    """The operators of a language by their tokens; *suits* is True if a value suits a target as it is."""

    def __init__(self, rows: Mapping[str, Operator[V, T]], suits: Callable[[V, T], bool]) -> None:
        self.rows = rows
        self._suits = suits
        self.following = lru_cache(MOST_KEPT)(self._following)
        self.can_become = lru_cache(MOST_KEPT)(self._can_become)

    def _following(self, value: V, target: T, level: int, most: int) -> frozenset[str]:
        """The operators from *level* to *most* that may follow *value* on a way to *target*."""
        return frozenset(
            sign
            for sign, row in self.rows.items()
            if level <= row.level <= most
            and row.takes(value)
            and self.can_become(row.result, target, level, row.level)
        )

    def _can_become(self, value: V, target: T, level: int, most: int) -> bool:
        """True if *value* suits *target* as it is, or with operators from *level* to *most* after it."""
        return self.first_step(value, target, level, most) is not None

    def first_step(self, value: V, target: T, level: int, most: int) -> str | None:
        """The first of the fewest operators after *value* that lead to *target*.

        It is empty if *value* suits as it is, and None if nothing leads there.
        """
        seen, waiting = set[tuple[V, int]](), deque([(value, most, "")])
        while waiting:
            reached, highest, first = waiting.popleft()
            if self._suits(reached, target):
                return first
            if (reached, highest) not in seen:
                seen.add((reached, highest))
                waiting += (
                    (row.result, row.level, first or sign)
                    for sign, row in self.rows.items()
                    if level <= row.level <= highest and row.takes(reached)
                )
        return None
