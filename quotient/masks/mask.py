"""The mask of a state in the grammar: the tokens after which it may go on."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from fimlsp.lexing.lexer_state import LexerState
from fimlsp.quotient.bridge.connection import Connection
from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.masks.asking import Asked, Place, Questions
from fimlsp.quotient.masks.plain_walk import Truths, allowed_by_feeding
from fimlsp.quotient.masks.store import store_of
from fimlsp.quotient.masks.vocabulary import Vocabulary


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


def allowed_texts(state: ParserState, vocabulary: Vocabulary) -> Truths:
    """For each text of *vocabulary*, and one that no token has, whether it may come after *state*.

    Answers are remembered: about the language with the vocabulary, about this connection with it.
    """
    store = store_of(state.connection.tables, vocabulary)
    key = store.key(state.lexer)
    if key is None:
        return allowed_by_feeding(vocabulary, state, lambda at, data: at.feed(data))
    asked = state.connection.asked.get(store)
    if asked is None:
        asked = state.connection.asked[store] = Asked()
    place = Place(state.chart, state.lexer.indents)
    found = asked.allowed.get((key, place))
    if found is None:
        groups = store.tokens(key)
        questions = Questions(
            state.connection, asked, store.ahead, lambda lexer, chart: state.at(lexer, chart).viable
        )
        found = asked.allowed[key, place] = np.take(questions.of_tokens(groups, place), groups.of_text)
    return found
