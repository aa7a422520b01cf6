"""Groups the tokens of a vocabulary by what they mean in a state of the lexer.

A token ends the lexeme in progress, or does not. What is left of it behind that lexeme is a suffix of a
token, read from the start of a lexeme; and of such starts there are few (see `lexed_suffixes.py`).
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from fimlsp.lexing.lexer_state import LexerState, Symbol
from fimlsp.quotient.masks.first_lexemes import FirstLexemes
from fimlsp.quotient.masks.groups import DEAD_GROUP, Groups, after_lexeme
from fimlsp.quotient.masks.lexed_suffixes import LexedSuffixes
from fimlsp.quotient.masks.text_trie import Ints
from fimlsp.quotient.masks.vocabulary import Vocabulary


class Part(NamedTuple):
    """Groups of what is left of tokens behind *symbols*."""

    symbols: tuple[Symbol, ...]
    groups: Groups


class Lexed(Protocol):
    """What is remembered of reading the texts of a vocabulary."""

    vocabulary: Vocabulary

    def first(self, state: int) -> FirstLexemes:
        """The first lexemes of all texts, from a state of the automaton on."""

    def suffixes(self, lexer: LexerState) -> LexedSuffixes:
        """The suffixes, from the start of a lexeme on."""

    def tokens(self, lexer: LexerState) -> TokenGroups:
        """The texts, from any state on."""


class TokenGroups:
    """The texts of a vocabulary, read from a lexer state.

    Groups are numbered through all of `parts`; `of_text` is the group of each text, and that of one more,
    which no token is.
    """

    __slots__ = ("of_text", "parts")

    def __init__(self, parts: tuple[Part, ...], of_text: Ints) -> None:
        self.parts = parts
        self.of_text = of_text

    @property
    def n_bytes(self) -> int:
        """What it holds in memory."""
        return self.of_text.nbytes + self.parts[0].groups.n_bytes


class _Grouping:
    """Builds `TokenGroups`."""

    def __init__(self, lexed: Lexed, lexer: LexerState) -> None:
        self.lexed = lexed
        self.lexer = lexer
        self.vocabulary = lexed.vocabulary
        self.own = Groups()
        self.of_text = np.zeros(len(self.vocabulary.texts) + 1, np.int32)
        self.parts: list[tuple[tuple[Symbol, ...], Groups, Ints, Ints]] = []

    def result(self) -> TokenGroups:
        parts = [Part((), self.own)]
        first = self.own.n_groups
        for symbols, groups, texts, numbers in self.parts:
            self.of_text[texts] = np.where(numbers == DEAD_GROUP, DEAD_GROUP, numbers + first)
            parts.append(Part(symbols, groups))
            first += groups.n_groups
        return TokenGroups(tuple(parts), self.of_text)

    def at_start(self) -> TokenGroups:
        """The groups if the state is between two lexemes."""
        everything = np.arange(len(self.vocabulary.texts), dtype=np.int32)
        self._behind((), self.lexer, everything, self.vocabulary.suffixes.number_of)
        return self.result()

    def inside(self) -> TokenGroups:
        """The groups if the state is inside a lexeme."""
        lexer, lexical = self.lexer, self.lexer.lexical
        first = self.lexed.first(lexer.state)
        singly = first.checked.copy()
        if lexer.modes.restricted:
            for byte in lexer.modes.forbidden | lexer.modes.forbidden_thrice:
                singly |= self.vocabulary.suffixes.holding(byte)[self.vocabulary.suffixes.number_of]
        for text in np.flatnonzero(singly).tolist():
            self.of_text[text] = self.own.read(0, lexer, self.vocabulary.texts[text])
        inside = ~singly & (first.states != 0)
        self._end(first, np.flatnonzero(inside).astype(np.int32))
        ended = ~singly & ~inside
        for kind in np.unique(first.kinds[ended]).tolist():
            texts = np.flatnonzero(ended & (first.kinds == kind)).astype(np.int32)
            if kind < 0:
                self._fall_back(texts)
            elif (following := after_lexeme(lexer, kind)) is not None:
                suffixes = self.vocabulary.suffixes
                left = suffixes.after[suffixes.start[suffixes.number_of[texts]] + first.ends[texts]]
                self._behind(tuple(following[1]), following[0], texts, left)
        del lexical
        return self.result()

    def _behind(self, symbols: tuple[Symbol, ...], lexer: LexerState, texts: Ints, suffixes: Ints) -> None:
        """Add a part: *suffixes* are what is left of *texts* behind *symbols*."""
        found = self.lexed.suffixes(lexer)
        self.parts.append((symbols, found.groups, texts, found.of_suffix[suffixes]))

    def _fall_back(self, texts: Ints) -> None:
        """Read *texts*, which end the lexeme before their first byte."""
        step = self.lexer.fall_back()
        if step is None:
            return
        symbols = tuple(step.symbols)
        if step.lexer.at_lexeme_start:
            self._behind(symbols, step.lexer, texts, self.vocabulary.suffixes.number_of[texts])
            return
        others = self.lexed.tokens(step.lexer)
        first = 0
        numbers = others.of_text[texts]
        for part in others.parts:
            own = (numbers >= first) & (numbers < first + part.groups.n_groups) & (numbers != DEAD_GROUP)
            self.parts.append(((*symbols, *part.symbols), part.groups, texts[own], numbers[own] - first))
            first += part.groups.n_groups

    def _end(self, first: FirstLexemes, texts: Ints) -> None:
        """Group the texts that do not end the lexeme in progress."""
        if not len(texts):
            return
        lexer, vocabulary = self.lexer, self.vocabulary
        bad = lexer.lexical.bad
        kinds = first.kinds[texts]
        suffixes = vocabulary.suffixes
        numbers = suffixes.number_of[texts]
        extra = suffixes.after[suffixes.start[numbers] + first.ends[texts]]
        keeps = kinds < 0
        extra[keeps & (lexer.accepted in (-1, bad))] = 0
        extra[kinds == bad] = 0
        keys = first.states[texts].astype(np.int64) * (len(lexer.lexical.kinds) + 1) + (kinds + 1)
        keys = keys * len(suffixes.texts) + extra
        _, where, inverse = np.unique(keys, return_index=True, return_inverse=True)
        columns = (column[where].tolist() for column in (first.states[texts], kinds, extra))
        groups = [
            self.own.add(0, self._inside(state, kind, since))
            for state, kind, since in zip(*columns, strict=True)
        ]
        self.of_text[texts] = np.array(groups, np.int32)[inverse]

    def _inside(self, state: int, kind: int, since: int) -> LexerState:
        """A state later in the lexeme in progress; *since* numbers the bytes since its last end."""
        lexer, text = self.lexer, self.vocabulary.suffixes.texts[since]
        if kind >= 0:
            return lexer._replace(state=state, accepted=kind, leftover=text)
        return lexer._replace(state=state, leftover=lexer.leftover + text)


def token_groups(lexed: Lexed, lexer: LexerState) -> TokenGroups:
    """The texts of a vocabulary, grouped by what they mean in the state *lexer*."""
    building = _Grouping(lexed, lexer)
    return building.at_start() if lexer.at_lexeme_start else building.inside()
