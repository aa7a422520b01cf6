"""Judges given middles, in a form that other programs can compare, and finds the first fault of a text."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import NamedTuple

from fimlsp.quotient.engine import Document, Engine
from fimlsp.quotient.states.grammar_state import GrammarState
from fimlsp.quotient.states.protocol import State, by_grammar


def verify_case(engine: Engine, case: Mapping[str, object]) -> dict[str, object]:
    """The verdict on *case*, which has the texts `left`, `middle` and `right`.

    Fields of the verdict:

    - `connectable`, `complete`, `viable_bytes`.
    - `shortest`: a text that completes the viable bytes up to their last whole character; None if not
      connectable.
    - `relaxed`: the repairs that would connect the texts, each with `start` and `end` in bytes of both texts,
      and the replacing `text`; None if connectable.
    - `ignored`: the faults of one side alone, which completions ignore, each with `start`, `end` and
      `message`; None if connectable.
    - `setup_ms`: milliseconds for both contexts and their connection.
    - `feed_ms`: milliseconds for the middle alone.

    Raises:
        ValueError: A field is missing, is not text, or cannot be encoded; the message names it. Or the texts
            are refused, and exceed a limit of the engine (see `Language.exceeded_limit`).
    """
    left, middle, right = (_field(case, name) for name in ("left", "middle", "right"))
    started = perf_counter()
    document = engine.document(left + right)
    start = document.middle(len(left), len(left), relax=False).start
    ready = perf_counter()
    whole = start and start.feed(middle)
    viable = len(middle) if whole else longest_viable(start, middle) if start else 0
    fed = perf_counter()
    if (whole is None or not whole.complete) and (
        beyond := engine.language.exceeded_limit(left + middle + right)
    ):
        raise ValueError(beyond)
    return {
        "connectable": start is not None,
        "complete": whole is not None and whole.complete,
        "viable_bytes": viable,
        "shortest": start and shortest_text(start, middle[:viable]),
        "relaxed": _assumed(document, len(left)) if start is None else None,
        "ignored": _ignored(document, len(left)) if start is None else None,
        "setup_ms": 1000 * (ready - started),
        "feed_ms": 1000 * (fed - ready),
    }


def _assumed(document: Document, cursor: int) -> list[dict[str, object]]:
    """The repairs of the broken *document* that a middle at *cursor* needs."""
    return [
        {"start": repair.start, "end": repair.end, "text": repair.replacement.decode("utf-8", "replace")}
        for repair in document.middle(cursor, cursor, relax=True).relaxed
    ]


def _ignored(document: Document, cursor: int) -> list[dict[str, object]]:
    """The faults of one side of the *document* alone, ignored for a middle at *cursor*."""
    constraint = document.middle(cursor, cursor, relax=True)
    if constraint.start is not None:
        _ = constraint.start.shortest_completion  # this encounters the faults
    return [
        {"start": fault.spans[0][0], "end": fault.spans[-1][1], "message": fault.message}
        for fault in constraint.ignored
    ]


def longest_viable(start: State, middle: bytes) -> int:
    """The number of viable bytes of the dead *middle*, by bisection. Feeds at most twice its length."""
    state, low, high = start, 0, len(middle)
    while high - low > 1:
        half = (low + high) // 2
        following = state.feed(middle[low:half])
        if following is None:
            high = half
        else:
            state, low = following, half
    return low


def shortest_text(start: State, viable: bytes) -> str:
    """The shortest completion of *viable*, without an unfinished character at its end."""
    whole = viable.decode("utf-8", "ignore").encode()
    state = start.feed(whole)
    assert state is not None, "a prefix of a viable middle is viable"
    return state.shortest_completion.decode()


class Refusal(NamedTuple):
    """The first byte of a text with which no valid text starts.

    `offset` counts bytes. `line` and `column` count from 1, the column in characters. At the end of the text
    more is missing. `refused` is the rest of the line from that byte on. `expected` are the terminals that
    may come instead, in the order of the grammar.
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
    whole = start and start.feed(text)
    if whole is not None and whole.complete:
        return None
    offset = len(text) if whole is not None else longest_viable(start, text) if start else 0
    reached = start and start.feed(text[:offset])
    before = text[:offset].decode("utf-8", "ignore")
    refused = text[len(before.encode()) :].partition(b"\n")[0].strip().decode("utf-8", "replace")
    column = len(before) - before.rfind("\n")
    expected = () if reached is None else _expected(engine, reached)
    return Refusal(offset, before.count("\n") + 1, column, refused, expected)


def _expected(engine: Engine, state: State) -> tuple[str, ...]:
    """The terminals that may follow in *state*, or continue or replace a lexeme that is not whole there."""
    state = by_grammar(state)
    if not isinstance(state, GrammarState):
        return ()
    step = None if state.lexer.leftover else state.lexer.finish()
    chart = (step and state.scanned(step.symbols)) or state.chart
    grammar = engine.tables.grammar
    return tuple(map(grammar.name, filter(chart.expects, sorted(engine.tables.kinds_of))))


def _field(case: Mapping[str, object], name: str) -> bytes:
    value = case.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a string")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} holds a lone surrogate, which is not text") from None
