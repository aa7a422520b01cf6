"""Tells whether the statement being written can be finished without opening a block.

Where as many blocks are open as the language allows, only such a middle can go on.
"""

from __future__ import annotations

from fimlsp.lexing.interruption import EVERY, checkpoint
from fimlsp.quotient.bridge.connection import Connection
from fimlsp.quotient.completion.dijkstra import beginnings, waiting
from fimlsp.quotient.earley.sets import EarleySet


def is_shallow(connection: Connection, chart: EarleySet) -> bool:
    """Whether some sentence goes on after *chart* without an INDENT before its first DEDENT or its end."""
    grammar, costs, dedent = connection.grammar, connection.without_blocks, connection.tables.dedent
    pending = list(beginnings(chart, grammar.start, grammar.root))
    done: set[tuple[int, EarleySet]] = set()
    while pending:
        symbol, origin, rest = pending.pop()
        ends = dedent in rest
        if costs.of(rest[: rest.index(dedent)] if ends else rest) is None:
            continue
        if ends or (origin is grammar.start and symbol == grammar.root):
            return True
        if (symbol, origin) not in done:
            done.add((symbol, origin))
            if not len(done) % EVERY:
                checkpoint()
            pending += waiting(symbol, origin)
    return False
