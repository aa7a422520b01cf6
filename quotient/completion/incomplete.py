"""What a completion is looked for from: a state of a middle as far as the search has to know it."""

from __future__ import annotations

from typing import Protocol

from fimlsp.lexing.lexer_state import LexerState, Symbol
from fimlsp.quotient.bridge.connection import Connection
from fimlsp.quotient.earley.sets import EarleySet


class Incomplete(Protocol):
    """A state of a middle: its `connection`, the `chart` behind its whole lexemes, the `lexer` within the last."""

    connection: Connection
    chart: EarleySet
    lexer: LexerState

    def feed(self, data: bytes) -> Incomplete | None:
        """The state after *data* as well, None if nothing that begins so connects."""

    def scanned(self, symbols: list[Symbol]) -> EarleySet | None:
        """The chart after *symbols* as well."""

    def after_fallback(self) -> Incomplete | None:
        """The state if the lexeme being read ended earlier and what was read since is read again."""

    @property
    def live(self) -> int:
        """What the lexeme being read may become, as a bit set."""

    @property
    def complete(self) -> bool:
        """Whether the middle may end here."""
