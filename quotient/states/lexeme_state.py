"""Context escape within one lexeme: strings and comments.

Between `"one ` and ` two"` the text `" + "` connects, but takes both halves of the string apart; so does a
line end in the middle of a comment. Where escape is kept out (see `escape.py`), such a cursor has a state
`LexemeState`, which needs the DFA alone. And a middle that begins in code may not make a string or a comment
of the code that follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from fimlsp.lexing.lexer_state import LexerState
from fimlsp.lexing.lexer_tables import LexerTables, remembered
from fimlsp.lexing.lexis import Family
from fimlsp.lexing.values import value
from fimlsp.quotient.bridge.boundary_lexemes import BoundaryLexeme, way_to
from fimlsp.quotient.states.grammar_state import GrammarState


@value
class LexemeState:
    """A state like `GrammarState`, of a middle that is all one lexeme with what stands around it.

    `goals` are the DFA's states from which the right context ends the lexeme as it should; inside a word that is
    checked it must be one with `word`, which is what the right context has of it.
    """

    lexer: LexerState
    goals: frozenset[int]
    word: bytes | None = None

    def feed(self, data: bytes) -> LexemeState | None:
        """The state after *data*, None if that would end the lexeme. O(len(data))."""
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
        """Whether the lexeme goes on in the right context as it should."""
        lexer = self.lexer
        if not lexer.word:
            return lexer.state in self.goals
        return self.word is not None and lexer.word[1:] + self.word in lexer.lexical.words

    @property
    def shortest_completion(self) -> bytes:
        """The shortest text that completes this middle; empty if it is complete."""
        assert self.way is not None
        return self.way

    @property
    def way(self) -> bytes | None:
        """The shortest text that completes this middle, None if nothing does."""
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
    """What the lexeme that is being read will be; None if it may be of several families, or of none."""
    return _family(lexer.lexical, lexer.state)


@remembered(4096)
def _family(lexical: LexerTables, state: int) -> Family | None:
    kinds = [kind for kind in lexical.kinds_in(lexical.dfa.live[state]) if kind != lexical.bad]
    families = {lexical.lexis.families.get(lexical.kinds[kind]) for kind in kinds}
    return families.pop() if len(families) == 1 else None


def within_lexeme(start: GrammarState) -> LexemeState | None:
    """The middles after *start* that stay in its string or comment, if it goes on right of the cursor."""
    lexer = start.lexer
    family = family_of_lexeme(lexer)
    if family == "comment" and not start.complete:
        return None
    goals = frozenset[int]()
    word: bytes | None = None
    for entry in start.connection.right_entries:
        if entry.boundary.kind is not None and family == "string" and start.chart.expects(entry.marker):
            word = entry.boundary.word if word is None else word
            goals |= entry.boundary.states if entry.boundary.word is None else frozenset()
        if entry.boundary.kind is None and family == "comment" and lexer.state in entry.boundary.states:
            goals |= entry.boundary.states
    state = LexemeState(lexer, goals, word)
    return None if state.way is None else state


def staying(
    lexical: LexerTables, rest: bytes, begun: Family | None, found: Iterable[BoundaryLexeme]
) -> Iterator[BoundaryLexeme]:
    """Those of the seams *found* that leave the *rest* of the cursor's line as it is.

    No string or comment swallows it, neither a backslash nor half a line end takes its line end; but the
    lexeme that has *begun* at the cursor may go on.
    """
    swallowing = {"string", "line end", *(("comment",) if _has_code(lexical, rest) else ())} - {begun}
    for boundary in found:
        states = frozenset(state for state in boundary.states if _family(lexical, state) not in swallowing)
        if states:
            yield replace(boundary, states=states)


def _has_code(lexical: LexerTables, rest: bytes) -> bool:
    mark = lexical.lexis.comment_mark
    return bool(rest.strip()) and (mark is None or not rest.lstrip().startswith(mark))
