"""Context escape within one lexeme: strings and comments.

Between `"one ` and ` two"` the text `" + "` connects, but takes both halves of the string apart; so does a
line end in the middle of a comment. Where escape is kept out (see `escape.py`), such a cursor has a state
`LexemeState`, which needs the DFA alone. And a middle that begins in code may not make a string or a comment
of the code that follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Literal

from fimlsp.lexing.lexer_state import BAD, LexerState, LexerTables
from fimlsp.lexing.values import value
from fimlsp.quotient.bridge.boundary_lexemes import BoundaryLexeme, way_to
from fimlsp.quotient.states.grammar_state import GrammarState


@value
class LexemeState:
    """A state like `GrammarState`, of a middle that is all one lexeme with what stands around it.

    `goals` are the DFA's states from which the right context ends the lexeme as it should; inside the name of
    a character it must be one with `name`, which is what the right context has of it.
    """

    lexer: LexerState
    goals: frozenset[int]
    name: bytes | None = None

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
        if not lexer.name:
            return lexer.state in self.goals
        return self.name is not None and lexer.name[1:] + self.name in lexer.lexical.names

    @property
    def shortest_completion(self) -> bytes:
        """The shortest text that completes this middle; empty if it is complete."""
        assert self.way is not None
        return self.way

    @property
    def way(self) -> bytes | None:
        """The shortest text that completes this middle, None if nothing does."""
        lexer, rest = self.lexer, b""
        if lexer.name_must_follow:
            opened = self.feed(b"{")
            return None if opened is None or opened.way is None else b"{" + opened.way
        if lexer.name:
            names = lexer.lexical.names
            if self.name is not None and (way := names.between(lexer.name[1:], self.name)) is not None:
                return way
            spelt = names.between(lexer.name[1:], b"")
            named = None if spelt is None else lexer.feed(rest := spelt + b"}")
            if named is None:
                return None
            lexer = named.lexer
        way = way_to(lexer.lexical, lexer.state, self.goals)
        return None if way is None else rest + way


Kind = Literal["string", "comment", "line end", "other"]
_KINDS: dict[Kind, set[str]] = {
    "string": {"STRING", "BYTES"},
    "comment": {"COMMENT"},
    "line end": {"NL", "CONTINUATION"},
}


def kind_of_lexeme(lexer: LexerState) -> Kind:
    """What the lexeme that is being read will be."""
    return _kind(lexer.lexical, lexer.state)


@lru_cache(maxsize=4096)
def _kind(lexical: LexerTables, state: int) -> Kind:
    kinds = {lexical.kinds[kind] for kind in lexical.kinds_in(lexical.dfa.live[state])} - {BAD}
    return next((name for name, members in _KINDS.items() if kinds <= members), "other")


def within_lexeme(start: GrammarState) -> LexemeState | None:
    """The middles after *start* that stay in its string or comment, if it goes on right of the cursor."""
    lexer = start.lexer
    kind = kind_of_lexeme(lexer)
    if kind == "comment" and not start.complete:
        return None
    goals = frozenset[int]()
    name: bytes | None = None
    for entry in start.connection.right_entries:
        if entry.boundary.kind is not None and kind == "string" and start.chart.expects(entry.marker):
            name = entry.boundary.name if name is None else name
            goals |= entry.boundary.states if entry.boundary.name is None else frozenset()
        if entry.boundary.kind is None and kind == "comment" and lexer.state in entry.boundary.states:
            goals |= entry.boundary.states
    state = LexemeState(lexer, goals, name)
    return None if state.way is None else state


def staying(
    lexical: LexerTables, rest: bytes, begun: Kind, found: Iterable[BoundaryLexeme]
) -> Iterator[BoundaryLexeme]:
    """Those of the seams *found* that leave the *rest* of the cursor's line as it is.

    No string or comment swallows it, neither a backslash nor half a line end takes its line end; but the
    lexeme that has *begun* at the cursor may go on.
    """
    swallowing = {"string", "line end", *(("comment",) if _has_code(rest) else ())} - {begun}
    for boundary in found:
        states = frozenset(state for state in boundary.states if _kind(lexical, state) not in swallowing)
        if states:
            yield replace(boundary, states=states)


def _has_code(rest: bytes) -> bool:
    return bool(rest.strip()) and not rest.lstrip().startswith(b"#")
