"""Reads the first lexeme of many texts at once, from one state of the automaton."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fimlsp.lexing.lexer_tables import LexerTables, remembered
from fimlsp.lexing.values import value
from fimlsp.quotient.masks.texts.text_trie import Ints, TextTrie


class Automaton:
    """The automaton of *lexical* as arrays: `rows[state * 256 + byte]`, `accepts` and `in_word` by state."""

    def __init__(self, lexical: LexerTables) -> None:
        self._lexical = lexical
        self.accepts = np.array(lexical.dfa.accepts, np.int32)
        self.in_word = np.zeros(len(self.accepts), np.bool_)
        self.in_word[list(lexical.word_states)] = True

    @cached_property
    def rows(self) -> Ints:
        """The next state by state and byte."""
        return np.array(self._lexical.dfa.rows, np.int32).ravel()


@remembered(1)
def automaton_of(lexical: LexerTables) -> Automaton:
    """The automaton of *lexical*."""
    return Automaton(lexical)


@value(eq=False)
class FirstLexemes:
    """The longest lexeme that each text begins with.

    `states` is the state after the whole text, 0 if the lexeme ends before. `kinds` is the kind of the
    longest beginning of the text that is a lexeme, `ends` its length; -1 and 0 if none is. `checked` are the
    texts that come into a checked word on the way.
    """

    states: Ints
    kinds: Ints
    ends: Ints
    checked: NDArray[np.bool_]


def first_lexemes(automaton: Automaton, trie: TextTrie, state: int) -> FirstLexemes:
    """The first lexeme of each text of *trie*, read from *state* on."""
    rows, accepts, in_word = automaton.rows, automaton.accepts, automaton.in_word
    states = np.zeros(trie.n_nodes, np.int32)
    kinds = np.full(trie.n_nodes, -1, np.int32)
    ends = np.zeros(trie.n_nodes, np.int32)
    checked = np.zeros(trie.n_nodes, np.bool_)
    states[0] = state
    any_alive, has_words = True, bool(in_word.any())
    for depth, (first, parents, data) in enumerate(trie.levels, 1):
        end = first + len(parents)
        kinds[first:end] = kinds[parents]
        ends[first:end] = ends[parents]
        if has_words:
            checked[first:end] = checked[parents]
        if not any_alive:
            continue
        states[first:end] = reached = rows[states[parents] * 256 + data]
        any_alive = bool(reached.any())
        accepted = accepts[reached]
        is_longer = accepted >= 0
        np.copyto(kinds[first:end], accepted, where=is_longer)
        np.copyto(ends[first:end], depth, where=is_longer)
        if has_words:
            checked[first:end] |= in_word[reached]
    at = trie.node_of
    return FirstLexemes(states[at], kinds[at], ends[at], checked[at])
