"""Which tokens may come where a middle has to stay within one lexeme, a string or a comment."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fimlsp.lexing.lexer_state import LexerState
from fimlsp.quotient.masks.grouping.first_lexemes import automaton_of, first_lexemes
from fimlsp.quotient.masks.plain_walk import Truths, asked_again
from fimlsp.quotient.masks.vocabulary import Vocabulary


def allowed_within(
    vocabulary: Vocabulary,
    lexer: LexerState,
    ends: Callable[[LexerState], bool],
    feeds: Callable[[bytes], bool],
) -> Truths:
    """For each text of *vocabulary*, and one that no token has, whether it may come within the lexeme.

    *ends* tells whether the lexeme can be ended from a later state within it. *feeds* tells whether a text
    may come; it is asked only where more than the automaton decides.
    """
    if lexer.word or lexer.modes.restricted:
        return asked_again(vocabulary, None, range(len(vocabulary.texts)), feeds)
    found = first_lexemes(automaton_of(lexer.lexical), vocabulary.trie, lexer.state)
    states, inverse = np.unique(found.states, return_inverse=True)
    may_end = [state != 0 and ends(lexer._replace(state=state)) for state in states.tolist()]
    allowed = np.zeros(len(vocabulary.texts) + 1, np.bool_)
    allowed[:-1] = np.array(may_end, np.bool_)[inverse]
    return asked_again(vocabulary, allowed, np.flatnonzero(found.checked).tolist(), feeds)
