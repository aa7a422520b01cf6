"""Groups the tokens of a vocabulary by what they mean in a state of the lexer.

A token ends the lexeme in progress, or does not. What is left of it behind that lexeme is a suffix of a
token, read from the start of a lexeme; and of such starts there are few (see `lexed_suffixes.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Protocol

import numpy as np
from fimlsp.lexing.lexer_state import LexerState, Symbol
from fimlsp.quotient.masks.grouping.first_lexemes import FirstLexemes
from fimlsp.quotient.masks.grouping.groups import DEAD_GROUP, Ends, Groups, after_lexeme
from fimlsp.quotient.masks.grouping.lexed_suffixes import LexedSuffixes, first_in_line
from fimlsp.quotient.masks.texts.text_trie import Ints, smallest
from fimlsp.quotient.masks.vocabulary import Vocabulary
from numpy.typing import NDArray

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

    The texts *inside* do not end it: `ends` holds where these end, as a state of the automaton, the kind of
    the last lexeme on the way (-1: none) and the number of the suffix behind it; `end_of` says where each
    does. Those that end it are `ended`: the kind, the texts, and at which byte; or, with kind -1, the texts
    before which it ends. The rest is read `singly`.
    """

    inside: Ints
    ends: tuple[tuple[int, int, int], ...]
    end_of: Ints
    ended: tuple[tuple[int, Ints, Ints], ...]
    singly: Ints

    @property
    def n_bytes(self) -> int:
        """About what it holds in memory."""
        ended = sum(texts.nbytes + at.nbytes for _, texts, at in self.ended)
        return self.inside.nbytes + self.end_of.nbytes + self.singly.nbytes + 100 * len(self.ends) + ended


def split_texts(vocabulary: Vocabulary, lexer: LexerState, first: FirstLexemes) -> Split:
    """Split the texts by their *first* lexemes, read on in *lexer*."""
    suffixes, bad = vocabulary.suffixes, lexer.lexical.bad
    singly = first.checked
    for byte in lexer.modes.forbidden | lexer.modes.forbidden_thrice:
        singly = singly | suffixes.holding(byte)[suffixes.number_of]
    left = suffixes.after[suffixes.start[suffixes.number_of] + first.ends]
    number = smallest(len(vocabulary.texts))
    inside = np.flatnonzero(~singly & (first.states != 0))
    states, kinds, since = first.states[inside], first.kinds[inside], left[inside]
    if lexer.accepted in (-1, bad):
        since[kinds < 0] = 0
    since[kinds == bad] = 0
    keys = (states.astype(np.int64) * (len(lexer.lexical.kinds) + 1) + (kinds + 1)) * len(suffixes) + since
    _, where, end_of = np.unique(keys, return_index=True, return_inverse=True)
    ends = zip(states[where].tolist(), kinds[where].tolist(), since[where].tolist(), strict=True)
    out = ~singly & (first.states == 0)
    ended = []
    for kind in set(first.kinds[out].tolist()):
        texts = np.flatnonzero(out & (first.kinds == kind)).astype(number)
        ended.append((kind, texts, first.ends[texts].astype(smallest(vocabulary.longest + 1))))
    return Split(
        inside.astype(number),
        tuple(ends),
        end_of.astype(smallest(len(where))),
        tuple(ended),
        np.flatnonzero(singly).astype(number),
    )


class TokenGroups:
    """The texts of a vocabulary, read from a lexer state.

    Groups are numbered through all of `parts`; `of_text` is the group of each text, and that of one more,
    which no token is. `number` is theirs alone, `n_bytes` about what they hold in memory beside the groups of
    other tables.
    """

    __slots__ = ("n_bytes", "n_groups", "number", "of_text", "parts")

    def __init__(self, parts: tuple[Part, ...], of_text: Ints, n_bytes: int) -> None:
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
            for group, end in () if symbols else groups.ends_of(0):
                within[group] = holds(groups.ends.states[end])
            found.append(within)
        return np.concatenate(found)


class _Grouping:
    """Builds `TokenGroups`."""

    def __init__(self, lexed: Lexed, lexer: LexerState) -> None:
        self.lexed = lexed
        self.lexer = lexer
        self.vocabulary = lexed.vocabulary
        self.own = Groups(lexed.ends)
        self.of_text = np.zeros(len(self.vocabulary.texts) + 1, np.int32)
        self.parts: list[tuple[tuple[Symbol, ...], Groups, Ints, Ints]] = []

    def result(self) -> TokenGroups:
        self.own.finish()
        parts = [Part((), self.own)]
        first, n_bytes = self.own.n_groups, self.own.n_bytes
        for symbols, groups, texts, numbers in self.parts:
            numbers = numbers.astype(np.int32)
            self.of_text[texts] = np.where(numbers == DEAD_GROUP, DEAD_GROUP, numbers + first)
            parts.append(Part(symbols, groups))
            first += groups.n_groups
        of_text = self.of_text.astype(smallest(first))
        return TokenGroups(tuple(parts), of_text, of_text.nbytes + n_bytes)

    def at_start(self) -> TokenGroups:
        """The groups if the state is between two lexemes."""
        everything = np.arange(len(self.vocabulary.texts), dtype=np.int32)
        self._behind((), self.lexer, everything, self.vocabulary.suffixes.number_of)
        return self.result()

    def inside(self) -> TokenGroups:
        """The groups if the state is inside a lexeme."""
        lexer, texts = self.lexer, self.vocabulary.texts
        split = self.lexed.split(lexer)
        for text in split.singly.tolist():
            self.of_text[text] = self.own.read(0, lexer, texts[text])
        groups = [self.own.add(0, end) for end in self._numbers(split.ends)]
        self.of_text[split.inside] = np.array(groups, np.int32)[split.end_of]
        suffixes = self.vocabulary.suffixes
        for kind, ended, at in split.ended:
            if kind < 0:
                self._fall_back(ended)
            elif (following := after_lexeme(lexer, kind)) is not None:
                left = suffixes.after[suffixes.start[suffixes.number_of[ended]] + at]
                self._behind(tuple(following[1]), following[0], ended, left)
        return self.result()

    def _behind(self, symbols: tuple[Symbol, ...], lexer: LexerState, texts: Ints, suffixes: Ints) -> None:
        """Add parts: *suffixes* are what is left of *texts* behind *symbols*."""
        all_suffixes = self.vocabulary.suffixes
        is_left = np.ones(len(texts), np.bool_)
        for first in first_in_line(all_suffixes, lexer):
            rest_of = np.full(len(all_suffixes), _NONE, np.int32)
            rest_of[first.numbers] = first.rests
            rests = rest_of[suffixes]
            chosen = rests != _NONE
            is_left &= ~chosen
            self._add((*symbols, *first.symbols), first.lexer, texts[chosen], rests[chosen])
        self._add(symbols, lexer, texts[is_left], suffixes[is_left])

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
        numbers = others.of_text[texts]
        for part in others.parts:
            own = (numbers >= first) & (numbers < first + part.groups.n_groups) & (numbers != DEAD_GROUP)
            self.parts.append(((*symbols, *part.symbols), part.groups, texts[own], numbers[own] - first))
            first += part.groups.n_groups

    def _numbers(self, ends: Iterable[tuple[int, int, int]]) -> Iterator[int]:
        """The numbers of the states of *ends* (see `Split`), which most states of names have in common."""
        known = self.lexed.ends.within(self.lexer._replace(state=0, accepted=-1, leftover=b""))
        known_unended = self.lexed.ends.within(self.lexer._replace(state=0))
        text, number_of = self.vocabulary.suffixes.text, self.lexed.ends.number
        lexical, _, modes, indents, accepted, leftover, margin, run, word, counted = self.lexer
        for end in ends:
            state, kind, since = end
            of_all = known_unended if kind < 0 else known
            number = of_all.get(end)
            if number is None:
                last, rest = (accepted, leftover + text(since)) if kind < 0 else (kind, text(since))
                lexer = LexerState(lexical, state, modes, indents, last, rest, margin, run, word, counted)
                number = of_all[end] = number_of(lexer)
            yield number


def token_groups(lexed: Lexed, lexer: LexerState) -> TokenGroups:
    """The texts of a vocabulary, grouped by what they mean in the state *lexer*."""
    building = _Grouping(lexed, lexer)
    return building.at_start() if lexer.at_lexeme_start else building.inside()
