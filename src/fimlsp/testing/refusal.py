"""The place where a text stops to be the beginning of a valid one, with the terminals expected there."""

from __future__ import annotations

from typing import NamedTuple

from fimlsp.quotient.engine import Engine
from fimlsp.quotient.states.grammar_state import GrammarState
from fimlsp.quotient.states.protocol import State, by_grammar
from fimlsp.quotient.verification import longest_viable


class Refusal(NamedTuple):
    """The first byte of a text with which no valid text starts.

    `offset` counts bytes, `line` and `column` count from 1, the column in bytes. At the end of the text more
    is missing. `refused` is the rest of the line from that byte on. `expected` are the terminals that may
    come instead, in the order of the grammar.
    """

    offset: int
    line: int
    column: int
    refused: str
    expected: tuple[str, ...]

    def __str__(self) -> str:
        here = f"`{self.refused}`" if self.refused else "the end"
        return f"line {self.line}, column {self.column}: {here} instead of {' '.join(self.expected)}"


def first_refusal(engine: Engine, text: bytes) -> Refusal | None:
    """The first refusal in *text*, a whole file; None if it is valid. Feeds about twice its length."""
    start = engine.document(b"").middle_at_bytes(0, 0, relax=False).start
    assert start is not None, "no text is valid"
    state = start.feed(text)
    if state is not None and state.complete:
        return None
    offset = len(text) if state is not None else longest_viable(start, text)
    reached = start.feed(text[:offset])
    assert reached is not None, "a prefix of a viable text is viable"
    before = text[:offset]
    line_start = before.rfind(b"\n") + 1
    refused = text[offset:].partition(b"\n")[0].strip().decode("utf-8", "replace")
    place = before.count(b"\n") + 1, offset - line_start + 1
    return Refusal(offset, *place, refused, _expected(engine, reached))


def _expected(engine: Engine, state: State) -> tuple[str, ...]:
    """The terminals that may follow in *state*, or continue or replace a lexeme that is not whole there."""
    state = by_grammar(state)
    if not isinstance(state, GrammarState):
        return ()
    step = None if state.lexer.leftover else state.lexer.finish()
    chart = (step and state.scanned(step.symbols)) or state.chart
    grammar = engine.tables.grammar
    return tuple(map(grammar.name, filter(chart.expects, sorted(engine.tables.kinds_of))))
