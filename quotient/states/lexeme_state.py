"""The state of a middle that must stay within one lexeme, a string or a comment.

Between `"one ` and ` two"` the text `" + "` connects, but separates the two halves of the string. So does a
line end in the middle of a comment. Where escape is forbidden (see `escape.py`), such a cursor has a
`LexemeState`, which needs the DFA alone. A middle that starts in code must not turn the code after the cursor
into a string or comment either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from fimlsp.lexing.automata.bit_sets import bit_set, members
from fimlsp.lexing.lexer_state import LexerState
from fimlsp.lexing.lexer_tables import LexerTables, remembered
from fimlsp.lexing.lexical_spec import Family
from fimlsp.lexing.values import value
from fimlsp.quotient.bridge.boundary_lexemes import BoundaryLexeme, way_to
from fimlsp.quotient.states.grammar_state import GrammarState

if TYPE_CHECKING:
    from fimlsp.quotient.masks.vocabulary import Bitmask, BoolMask, Vocabulary
    from fimlsp.quotient.states.protocol import State

_CLOSING = (b")", b"]", b"}")
_BLANK = re.compile(rb"[ \t\v\f]*")


@value
class LexemeState:
    """A state of a middle that forms a single lexeme together with the text on both sides.

    `goals` is the bit set of the states of the DFA from which the right context ends the lexeme properly. If
    the lexeme ends inside a checked word, `word` is the part of that word in the right context.
    """

    lexer: LexerState
    goals: int
    word: bytes | None = None

    def feed(self, data: bytes) -> LexemeState | None:
        """The state after *data*; None if it would end the lexeme. O(len(data))."""
        if not data.strip(self.lexer.idle):
            return self
        lexer = self.lexer
        step = lexer.feed(data) if lexer.lexical.dfa.run(lexer.state, data) else None
        if step is None:
            return None
        state = replace(self, lexer=step.lexer)
        return None if state.way is None else state

    @property
    def complete(self) -> bool:
        """True if the right context continues and ends the lexeme properly."""
        lexer = self.lexer
        if not lexer.word:
            return self.goals >> lexer.state & 1 == 1
        return self.word is not None and lexer.word[1:] + self.word in lexer.lexical.words

    @property
    def shortest_completion(self) -> bytes:
        """The shortest text that completes this middle; empty if it is complete."""
        assert self.way is not None
        return self.way

    def mask(self, vocabulary: Vocabulary) -> Bitmask:
        """As in `State`."""
        return vocabulary.mask(self.allowed_texts(vocabulary), complete=self.complete)

    def allowed_texts(self, vocabulary: Vocabulary) -> BoolMask:
        """As in `State`."""
        from fimlsp.quotient.masks.mask import allowed_within

        return allowed_within(
            vocabulary,
            self.lexer,
            lambda lexer: replace(self, lexer=lexer).way is not None,
            lambda text: self.feed(text) is not None,
        )

    @property
    def way(self) -> bytes | None:
        """The shortest text that completes this middle; None if nothing does."""
        lexer, rest = self.lexer, b""
        part = lexer.lexical.word_part
        if lexer.word_must_follow:
            opened = self.feed(opening := bytes((part.opening,)))
            return None if opened is None or opened.way is None else opening + opened.way
        if lexer.word:
            words = part.words
            if self.word is not None and (way := words.between(lexer.word[1:], self.word)) is not None:
                return way
            rest_of_word = words.between(lexer.word[1:], b"")
            closed = (
                None if rest_of_word is None else lexer.feed(rest := rest_of_word + bytes((part.closing,)))
            )
            if closed is None:
                return None
            lexer = closed.lexer
        way = way_to(lexer.lexical, lexer.state, self.goals)
        return None if way is None else rest + way


def family_of_lexeme(lexer: LexerState) -> Family | None:
    """The family of the lexeme being read; None if it may be of several families, or belongs to none."""
    return _family(lexer.lexical, lexer.state)


@remembered(4096)
def _family(lexical: LexerTables, state: int) -> Family | None:
    kinds = [kind for kind in lexical.kinds_in(lexical.dfa.live[state]) if kind != lexical.bad]
    families = {lexical.spec.families.get(lexical.kinds[kind]) for kind in kinds}
    return families.pop() if len(families) == 1 else None


def within_lexeme(start: GrammarState) -> LexemeState | None:
    """The state of middles that stay in the string or comment at the cursor; None if there are none."""
    lexer = start.lexer
    family = family_of_lexeme(lexer)
    if family == "comment" and not start.complete:
        return None
    goals = 0
    word: bytes | None = None
    for entry in start.connection.right_entries:
        if (
            entry.boundary.kind is not None
            and family in ("string", "comment")
            and start.chart.expects(entry.marker)
        ):
            word = entry.boundary.word if word is None else word
            goals |= entry.boundary.states if entry.boundary.word is None else 0
        if entry.boundary.kind is None and family == "comment" and entry.boundary.states >> lexer.state & 1:
            goals |= entry.boundary.states
    state = LexemeState(lexer, goals, word)
    return None if state.way is None else state


def is_within_lexeme(start: State | None) -> bool:
    """True if the middles from *start* on stay in the string or comment at the cursor."""
    return isinstance(start, LexemeState)


def not_swallowing(
    lexical: LexerTables,
    data: bytes,
    cursor: int,
    family: Family | None,
    boundaries: Iterable[BoundaryLexeme],
) -> Iterator[BoundaryLexeme]:
    """The boundary lexemes of *boundaries* that leave the rest of the cursor's line intact.

    No string or comment swallows the rest, and neither a line joiner nor half a line end swallows its line
    end. No name swallows a bracket that an editor has closed, as an escape in braces would in JavaScript. But
    a lexeme of the *family*, which the cursor is in, may continue.
    """
    comment = ("comment",) if _has_code(lexical, data, cursor) else ()
    swallowing = frozenset({"string", "line end", *comment} - {family})
    is_before_bracket = family is None and data.startswith(_CLOSING, cursor)
    for boundary in boundaries:
        if is_before_bracket and boundary.modes.in_code and _is_of_code(lexical, boundary.kind):
            continue
        states = _without(lexical, boundary.states, swallowing)
        if states:
            yield replace(boundary, states=states)


def _is_of_code(lexical: LexerTables, kind: int | None) -> bool:
    """True if *kind* is that of a lexeme which is no string, comment or line end."""
    return kind is not None and lexical.kinds[kind] not in lexical.spec.families


@remembered(4096)
def _without(lexical: LexerTables, states: int, families: frozenset[str]) -> int:
    """Those of *states* in which no lexeme of these *families* is being read."""
    return bit_set(state for state in members(states) if _family(lexical, state) not in families)


def _has_code(lexical: LexerTables, data: bytes, cursor: int) -> bool:
    """True if more than white space and a comment follows *cursor* in its line."""
    blank = _BLANK.match(data, cursor)
    assert blank is not None
    first, mark = blank.end(), lexical.spec.comment_mark
    return data[first : first + 1].strip() != b"" and (mark is None or not data.startswith(mark, first))
