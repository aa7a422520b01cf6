"""Context escape within one lexeme: strings and comments.

Between `"one ` and ` two"` the text `" + "` connects, but takes both halves of the string apart; so does a
line end in the middle of a comment. Where escape is kept out (see `escape.py`), such a cursor has a state
`WithinLexeme`, which needs the DFA alone. And a middle that begins in code may not make a string or a comment
of the code that follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Literal

from fimlsp.lexing.reading import BAD, Lexicon, Reading
from fimlsp.lexing.values import value
from fimlsp.quotient.middle_state import MiddleState
from fimlsp.quotient.seam import Seam, way_to


@value
class WithinLexeme:
    """A state like `MiddleState`, of a middle that is all one lexeme with what stands around it.

    `goals` are the DFA's states from which the right context ends the lexeme as it should; inside the name of
    a character it must be one with `name`, which is what the right context has of it.
    """

    reading: Reading
    goals: frozenset[int]
    name: bytes | None = None

    def feed(self, data: bytes) -> WithinLexeme | None:
        """The state after *data*, None if that would end the lexeme. O(len(data))."""
        if not data.strip(self.reading.idle):
            return self
        reading = self.reading
        step = reading.feed(data) if reading.lexicon.dfa.run(reading.state, data) else None
        if step is None:
            return None
        state = replace(self, reading=step.reading)
        return None if state.way is None else state

    @property
    def complete(self) -> bool:
        """Whether the lexeme goes on in the right context as it should."""
        reading = self.reading
        if not reading.name:
            return reading.state in self.goals
        return self.name is not None and reading.name[1:] + self.name in reading.lexicon.names

    @property
    def shortest_completion(self) -> bytes:
        """The shortest text that completes this middle; empty if it is complete."""
        assert self.way is not None
        return self.way

    @property
    def way(self) -> bytes | None:
        """The shortest text that completes this middle, None if nothing does."""
        reading, rest = self.reading, b""
        if reading.name_must_follow:
            opened = self.feed(b"{")
            return None if opened is None or opened.way is None else b"{" + opened.way
        if reading.name:
            names = reading.lexicon.names
            if self.name is not None and (way := names.between(reading.name[1:], self.name)) is not None:
                return way
            spelt = names.between(reading.name[1:], b"")
            named = None if spelt is None else reading.feed(rest := spelt + b"}")
            if named is None:
                return None
            reading = named.reading
        way = way_to(reading.lexicon, reading.state, self.goals)
        return None if way is None else rest + way


Kind = Literal["string", "comment", "line end", "other"]
_KINDS: dict[Kind, set[str]] = {
    "string": {"STRING", "BYTES"},
    "comment": {"COMMENT"},
    "line end": {"NL", "CONTINUATION"},
}


def kind_of_lexeme(reading: Reading) -> Kind:
    """What the lexeme that is being read will be."""
    return _kind(reading.lexicon, reading.state)


@lru_cache(maxsize=4096)
def _kind(lexicon: Lexicon, state: int) -> Kind:
    kinds = {lexicon.kinds[kind] for kind in lexicon.kinds_in(lexicon.dfa.live[state])} - {BAD}
    return next((name for name, members in _KINDS.items() if kinds <= members), "other")


def within_lexeme(start: MiddleState) -> WithinLexeme | None:
    """The middles after *start* that stay in its string or comment, if it goes on right of the cursor."""
    reading = start.reading
    kind = kind_of_lexeme(reading)
    if kind == "comment" and not start.complete:
        return None
    goals = frozenset[int]()
    name: bytes | None = None
    for join in start.middle.joins:
        if join.seam.kind is not None and kind == "string" and start.chart.expects(join.marker):
            name = join.seam.name if name is None else name
            goals |= join.seam.states if join.seam.name is None else frozenset()
        if join.seam.kind is None and kind == "comment" and reading.state in join.seam.states:
            goals |= join.seam.states
    state = WithinLexeme(reading, goals, name)
    return None if state.way is None else state


def staying(lexicon: Lexicon, rest: bytes, begun: Kind, found: Iterable[Seam]) -> Iterator[Seam]:
    """Those of the seams *found* that leave the *rest* of the cursor's line as it is.

    No string or comment swallows it, neither a backslash nor half a line end takes its line end; but the
    lexeme that has *begun* at the cursor may go on.
    """
    swallowing = {"string", "line end", *(("comment",) if _has_code(rest) else ())} - {begun}
    for seam in found:
        states = frozenset(state for state in seam.states if _kind(lexicon, state) not in swallowing)
        if states:
            yield replace(seam, states=states)


def _has_code(rest: bytes) -> bool:
    return bool(rest.strip()) and not rest.lstrip().startswith(b"#")
