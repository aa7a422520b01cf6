"""The regular expression of the next lexeme as an automaton of bytes, the paper's `next_regex`.

A lexeme that could be longer, such as a name or `<`, is accepted with the byte after it that ends it. So
no match can be extended, and a scanner that follows the automaton knows where to stop (A1).
"""

from __future__ import annotations

from functools import lru_cache

from fimlsp.languages.slua.lexemes import (
    KEYWORDS,
    LETTERS,
    LONGEST_NAME,
    NUMBER,
    SIGNS,
    STRING,
    WORD,
    ExpectedTokens,
)
from fimlsp.lexing.automata.dfa import Dfa, Rule, Terminals, compile_terminals
from fimlsp.lexing.automata.regex import OneByte, Regex, choice, sequence
from fimlsp.lexing.nesting import CODE

KNOWN, REFUSED, NEW = "known", "refused", "new"
"""Lexemes that may come, names that no new name may be, and new names; of two kinds the first one counts."""

_MOST_KEPT = 256
_ALL = frozenset(range(256))
_NOT_WORD, _NOT_NUMBER = OneByte(_ALL - WORD), OneByte(_ALL - WORD - {ord(".")})


@lru_cache(_MOST_KEPT)
def automaton(expected: ExpectedTokens) -> Dfa:
    """Accepts each lexeme that is *expected*, with the byte that ends it if it needs one.

    Compiling takes some milliseconds for a hundred names.
    """
    words = [_whole(word) for word in sorted(expected.words)]
    refused = [sequence(word, _NOT_WORD) for word in sorted(KEYWORDS | (expected.taken_names or frozenset()))]
    others: list[Regex] = [sequence(NUMBER, _NOT_NUMBER)] * expected.number + [STRING] * expected.string
    names = () if expected.taken_names is None else (Rule(REFUSED, choice(*refused)), Rule(NEW, _new_name()))
    rules = (Rule(KNOWN, choice(*words, *others)), *names)
    return compile_terminals(Terminals({CODE: rules})).expand()


def _whole(word: str) -> Regex:
    """*word*, with the byte after it if that could belong to it."""
    if word[0].isalpha():
        return sequence(word, _NOT_WORD)
    longer = {sign[len(word)] for sign in SIGNS if sign.startswith(word) and sign != word}
    longer |= {"-"} if word == "-" else set()
    return sequence(word, OneByte(_ALL - frozenset("".join(longer).encode()))) if longer else sequence(word)


def _new_name() -> Regex:
    """A name of any letters, that is not too long."""
    rest: Regex = sequence(_NOT_WORD)
    for _ in range(LONGEST_NAME - 1):
        rest = choice(_NOT_WORD, sequence(OneByte(WORD), rest))
    return sequence(OneByte(LETTERS), rest)
