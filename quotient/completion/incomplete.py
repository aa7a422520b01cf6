"""The interface of an incomplete middle, as far as the search for a completion needs it."""

from __future__ import annotations

from typing import Protocol

from fimlsp.lexing.lexer_state import LexerState, Symbol
from fimlsp.quotient.bridge.connection import Connection
from fimlsp.quotient.earley.sets import EarleySet


class Incomplete(Protocol):
    """A state of a middle that the search can complete.

    `connection` is what the middle connects, `chart` the Earley set after its whole lexemes, `lexer` the
    state within the last lexeme.
    """

    connection: Connection
    chart: EarleySet
    lexer: LexerState

    def feed(self, data: bytes) -> Incomplete | None:
        """The state after *data*; None if nothing that begins like this connects."""

    def scanned(self, symbols: list[Symbol]) -> EarleySet | None:
        """The chart after *symbols*; None if they are not expected."""

    def after_fallback(self) -> Incomplete | None:
        """The state if the lexeme being read ended earlier and the bytes since then begin the next one."""

    @property
    def live(self) -> int:
        """The kinds that the lexeme being read may become, as a bit set."""

    @property
    def complete(self) -> bool:
        """Whether the middle may end here."""
