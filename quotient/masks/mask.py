"""The mask of a state in the grammar: the tokens after which it may go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from fimlsp.lexing.lexer_state import LexerState
from fimlsp.quotient.bridge.connection import Connection
from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.masks.asking import Asked, Place, Questions
from fimlsp.quotient.masks.grouping.groups import truths_of
from fimlsp.quotient.masks.plain_walk import Truths, allowed_by_feeding, asked_again
from fimlsp.quotient.masks.store import MaskStore, store_of
from fimlsp.quotient.masks.vocabulary import Vocabulary, Words


class ParserState(Protocol):
    """What is asked of a state in the grammar."""

    connection: Connection
    lexer: LexerState
    chart: EarleySet

    @property
    def viable(self) -> bool:
        """Whether some continuation is complete."""

    def feed(self, data: bytes) -> ParserState | None:
        """As in `State`."""

    def at(self, lexer: LexerState, chart: EarleySet) -> ParserState:
        """The state of the same middle with another lexer state and chart."""


def mask(state: ParserState, vocabulary: Vocabulary) -> Words:
    """The words of the mask of *state*, without stop tokens; nobody may change them.

    Answers are remembered: about the language with the vocabulary, about this connection with it.
    """
    store = store_of(state.connection.tables, vocabulary)
    key = store.key(state.lexer)
    if key is None:
        return vocabulary.words(allowed_by_feeding(vocabulary, state, lambda at, data: at.feed(data)))
    asked = _asked(state, store)
    place = Place(state.chart, state.lexer.indents)
    found = asked.masks.get((key, place))
    if found is None:
        found = asked.masks[key, place] = _words(state, store, key, place)
    return found


def allowed_texts(state: ParserState, vocabulary: Vocabulary) -> Truths:
    """For each text of *vocabulary*, and one that no token has, whether it may come after *state*."""
    store = store_of(state.connection.tables, vocabulary)
    key = store.key(state.lexer)
    if key is None:
        return allowed_by_feeding(vocabulary, state, lambda at, data: at.feed(data))
    return _allowed(state, store, key, Place(state.chart, state.lexer.indents))


def allowed_again(
    state: ParserState,
    vocabulary: Vocabulary,
    is_open: Callable[[ParserState], bool],
    feeds: Callable[[bytes], bool],
) -> Truths:
    """As `allowed_texts`, of those that *feeds* admits as well.

    It is not asked about texts that finish no symbol and end in a state that is not *is_open*: most of all.
    """
    allowed = allowed_texts(state, vocabulary)
    store = store_of(state.connection.tables, vocabulary)
    key = store.key(state.lexer)
    settled = np.zeros_like(allowed)
    if key is not None:
        groups = store.tokens(key)

        def is_settled(lexer: LexerState) -> bool:
            return not is_open(state.at(lexer._replace(indents=state.lexer.indents), state.chart))

        settled = groups.of_text.looked_up(groups.within_symbol(is_settled))
    numbers = np.flatnonzero(allowed & ~settled).tolist()
    return asked_again(vocabulary, allowed & settled, numbers, feeds)


def _asked(state: ParserState, store: MaskStore) -> Asked:
    found = state.connection.asked.get(store)
    if found is None:
        found = state.connection.asked[store] = Asked(state.connection, store.expected)
    assert isinstance(found, Asked)
    return found


def _allowed(state: ParserState, store: MaskStore, key: LexerState, place: Place) -> Truths:
    groups = store.tokens(key)
    bits = _questions(state, store).of_tokens(groups, place)
    return groups.of_text.looked_up(truths_of(bits, groups.n_groups))


def _words(state: ParserState, store: MaskStore, key: LexerState, place: Place) -> Words:
    groups = store.tokens(key)
    bits = _questions(state, store).of_tokens(groups, place)
    found = store.words.get((groups.number, bits))
    if found is None:
        allowed = groups.of_text.looked_up(truths_of(bits, groups.n_groups))
        found = store.words[groups.number, bits] = store.vocabulary.words(allowed)
    return found


def _questions(state: ParserState, store: MaskStore) -> Questions:
    return Questions(
        state.connection,
        _asked(state, store),
        store.ahead,
        lambda lexer, chart: state.at(lexer, chart).viable,
    )
