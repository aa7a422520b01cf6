"""Groups the tokens of a vocabulary by what they mean in a state of the lexer.

A token ends the lexeme in progress, or does not. What is left of it behind that lexeme is a suffix of a
token, read from the start of a lexeme; and of such starts there are few (see `lexed_suffixes.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fimlsp.lexing.lexer_state import LexerState, Symbol
from fimlsp.quotient.masks.grouping.ends import Ends, Within
from fimlsp.quotient.masks.grouping.first_lexemes import FirstLexemes
from fimlsp.quotient.masks.grouping.group_builder import GroupBuilder
from fimlsp.quotient.masks.grouping.groups import DEAD_GROUP, Groups, after_lexeme
from fimlsp.quotient.masks.grouping.lexed_suffixes import LexedSuffixes, first_in_line
from fimlsp.quotient.masks.texts.runs import Runs
from fimlsp.quotient.masks.texts.text_trie import Ints, smallest
from fimlsp.quotient.masks.vocabulary import Vocabulary

_NONE = -1


class Part(NamedTuple):
    """Groups of what is left of tokens behind *symbols*."""

    symbols: tuple[Symbol, ...]
    groups: Groups


class Lexed(Protocol):
    """What is remembered of reading the texts of a vocabulary."""

    vocabulary: Vocabulary
    ends: Ends

    def split(self, lexer: LexerState) -> Split:
        """What the texts do to the lexeme in progress."""

    def suffixes(self, lexer: LexerState) -> LexedSuffixes:
        """The suffixes, from the start of a lexeme on."""

    def tokens(self, lexer: LexerState) -> TokenGroups:
        """The texts, from any state on."""


class Split(NamedTuple):
    """What the texts of a vocabulary do to the lexeme in progress, as far as the automaton tells.

    `what` is a number for each text. 0: it is read by itself. From 1 on: it does not end the lexeme; `ends`
    holds where these end, as a state of the automaton, the kind of the last lexeme on the way (-1: none) and
    the number of the suffix behind it. From the first number of one of `ended` on, of which it says how many
    there are: it ends the lexeme as one of this kind, and the number tells at which byte; or, with kind -1,
    the lexeme ends before the text.
    """

    what: Runs
    ends: tuple[tuple[int, int, int], ...]
    ended: tuple[tuple[int, int, int], ...]

    @property
    def n_bytes(self) -> int:
        """About what it holds in memory."""
        return self.what.n_bytes + 100 * len(self.ends)

    @property
    def n_numbers(self) -> int:
        """How many numbers there are."""
        return 1 + len(self.ends) + sum(count for _, _, count in self.ended)


def split_texts(vocabulary: Vocabulary, lexer: LexerState, first: FirstLexemes) -> Split:
    """Split the texts by their *first* lexemes, read on in *lexer*."""
    suffixes, bad = vocabulary.suffixes, lexer.lexical.bad
    singly = first.checked
    for byte in lexer.modes.forbidden | lexer.modes.forbidden_thrice:
        singly = singly | suffixes.holding(byte)[suffixes.number_of]
    left = suffixes.after[suffixes.start[suffixes.number_of] + first.ends]
    inside = np.flatnonzero(~singly & (first.states != 0))
    states, kinds, since = first.states[inside], first.kinds[inside], left[inside]
    if lexer.accepted in (-1, bad):
        since[kinds < 0] = 0
    since[kinds == bad] = 0
    keys = (states.astype(np.int64) * (len(lexer.lexical.kinds) + 1) + (kinds + 1)) * len(suffixes) + since
    _, where, end_of = np.unique(keys, return_index=True, return_inverse=True)
    ends = zip(states[where].tolist(), kinds[where].tolist(), since[where].tolist(), strict=True)
    what = np.zeros(len(vocabulary.texts), np.int32)
    what[inside] = 1 + end_of
    out = ~singly & (first.states == 0)
    following, ended = 1 + len(where), []
    for kind in sorted(set(first.kinds[out].tolist())):
        texts = np.flatnonzero(out & (first.kinds == kind))
        what[texts] = following + first.ends[texts]
        count = 1 + int(first.ends[texts].max())
        ended.append((kind, following, count))
        following += count
    return Split(Runs.of(what.astype(smallest(following))), tuple(ends), tuple(ended))


class TokenGroups:
    """The texts of a vocabulary, read from a lexer state.

    Groups are numbered through all of `parts`; `of_text` are the groups of all texts, and of one more, which
    no token is. `number` is theirs alone, `n_bytes` about what they hold in memory beside the groups of other
    tables.
    """

    __slots__ = ("n_bytes", "n_groups", "number", "of_text", "parts")

    def __init__(self, parts: tuple[Part, ...], of_text: Runs, n_bytes: int) -> None:
        self.parts = parts
        self.number = parts[0].groups.number
        self.n_groups = sum(part.groups.n_groups for part in parts)
        self.of_text = of_text
        self.n_bytes = n_bytes

    def within_symbol(self, holds: Callable[[LexerState], bool]) -> NDArray[np.bool_]:
        """Which groups finish no symbol and end in a state for which *holds* does."""
        found: list[NDArray[np.bool_]] = []
        for symbols, groups in self.parts:
            within = np.zeros(groups.n_groups, np.bool_)
            for group in () if symbols else groups.numbers(0):
                within[group] = holds(groups.ends.state(groups.end_of[group]))
            found.append(within)
        return np.concatenate(found)


class _Grouping:
    """Builds `TokenGroups`."""

    def __init__(self, lexed: Lexed, lexer: LexerState) -> None:
        self.lexed = lexed
        self.lexer = lexer
        self.vocabulary = lexed.vocabulary
        self.own = GroupBuilder(lexed.ends)
        self.of_text = np.zeros(len(self.vocabulary.texts) + 1, np.int32)
        self.parts: list[tuple[tuple[Symbol, ...], Groups, Ints, Ints]] = []

    def result(self, within: Within | None = None) -> TokenGroups:
        own, numbers_of_own = self.own.finish(within)
        self.of_text = numbers_of_own[self.of_text]
        parts, first = [Part((), own)], own.n_groups
        for symbols, groups, texts, numbers in self.parts:
            here = np.arange(first, first + groups.n_groups, dtype=np.int32)
            here[DEAD_GROUP] = DEAD_GROUP
            self.of_text[texts] = here[numbers]
            parts.append(Part(symbols, groups))
            first += groups.n_groups
        of_text = Runs.of(self.of_text.astype(smallest(first)))
        return TokenGroups(tuple(parts), of_text, of_text.n_bytes + own.n_bytes)

    def at_start(self) -> TokenGroups:
        """The groups if the state is between two lexemes."""
        everything = np.arange(len(self.vocabulary.texts), dtype=np.int32)
        self._behind((), self.lexer, everything, self.vocabulary.suffixes.number_of)
        return self.result()

    def inside(self) -> TokenGroups:
        """The groups if the state is inside a lexeme."""
        lexer, split = self.lexer, self.lexed.split(self.lexer)
        groups = np.zeros(split.n_numbers, np.int32)
        what, suffixes = split.what.expanded(), self.vocabulary.suffixes
        within = Within(lexer, split.ends, suffixes.text)
        groups[1 : 1 + len(split.ends)] = self.own.add_all(0, self.lexed.ends.add_all(within))
        self.of_text[:-1] = split.what.looked_up(groups)
        singly = np.flatnonzero(what == 0).tolist()
        for text in singly:
            self.of_text[text] = self.own.read(0, lexer, self.vocabulary.texts[text])
        for kind, first, count in split.ended:
            texts = np.flatnonzero((what >= first) & (what < first + count)).astype(np.int32)
            if kind < 0:
                self._fall_back(texts)
            elif (following := after_lexeme(lexer, kind)) is not None:
                left = suffixes.after[suffixes.start[suffixes.number_of[texts]] + (what[texts] - first)]
                self._behind(tuple(following[1]), following[0], texts, left)
        return self.result(None if singly else within)

    def _behind(self, symbols: tuple[Symbol, ...], lexer: LexerState, texts: Ints, suffixes: Ints) -> None:
        """Add parts: *suffixes* are what is left of *texts* behind *symbols*."""
        all_suffixes = self.vocabulary.suffixes
        for first in first_in_line(all_suffixes, lexer):
            rest_of = np.full(len(all_suffixes), _NONE, np.int32)
            rest_of[first.numbers] = first.rests
            rests = rest_of[suffixes]
            chosen = rests != _NONE
            self._add((*symbols, *first.symbols), first.lexer, texts[chosen], rests[chosen])
            texts, suffixes = texts[~chosen], suffixes[~chosen]
        self._add(symbols, lexer, texts, suffixes)

    def _add(self, symbols: tuple[Symbol, ...], lexer: LexerState, texts: Ints, suffixes: Ints) -> None:
        if len(texts):
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
        numbers = others.of_text.expanded()[texts]
        for part in others.parts:
            own = (numbers >= first) & (numbers < first + part.groups.n_groups) & (numbers != DEAD_GROUP)
            self.parts.append(((*symbols, *part.symbols), part.groups, texts[own], numbers[own] - first))
            first += part.groups.n_groups


def token_groups(lexed: Lexed, lexer: LexerState) -> TokenGroups:
    """The texts of a vocabulary, grouped by what they mean in the state *lexer*."""
    building = _Grouping(lexed, lexer)
    return building.at_start() if lexer.at_lexeme_start else building.inside()
