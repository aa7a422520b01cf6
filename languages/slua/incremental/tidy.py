"""Scripts as people lay them out: else a model that is unsure writes blanks until its tokens are used up.

A line ends only where a statement or a field of a table may begin, or what is open may end, so never within
an expression (the remedy that the paper on constrained decoding of such scripts proposes for models that get
stuck), and nothing is repeated without end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fimlsp.languages.slua.incremental.expressions import Entries, EntryName
from fimlsp.languages.slua.incremental.parser import ScriptState
from fimlsp.languages.slua.incremental.statements import Block
from fimlsp.languages.slua.incremental.tokens import BLANKS
from fimlsp.languages.slua.incremental.written_types import Fields

if TYPE_CHECKING:  # NumPy is imported by who asks for masks
    from fimlsp.quotient.masks.plain_walk import Truths
    from fimlsp.quotient.masks.vocabulary import Vocabulary, Words

MOST_EQUAL = 16
"""Blanks in a row, or equal bytes in a row within a text."""

MOST_LINE_ENDS = 2
LINE_END, QUOTE = ord("\n"), ord('"')
_ENDS = frozenset(("end", "}"))


@dataclass(frozen=True)
class TidyState:
    """As the state of a parser that it is made of, without what nobody would write.

    Attributes:
        state: what the script is so far.
        last: the byte that was read last.
        equal: how many of it there were; blanks count as equal.
        line_ends: how many line ends stand before the place, with only blanks between.
    """

    state: ScriptState
    last: int = 0
    equal: int = 0
    line_ends: int = 0

    def feed(self, data: bytes) -> TidyState | None:
        """As in `fimlsp.quotient.states.protocol.State`."""
        tidy: TidyState | None = self
        for byte in data:
            tidy = None if tidy is None else tidy._after(byte)
        return tidy

    def _after(self, byte: int) -> TidyState | None:
        in_text = self.state.begun[:1] == b'"'
        is_blank = byte in BLANKS and not in_text
        is_equal = byte == self.last or (is_blank and self.last in BLANKS)
        equal = self.equal + 1 if is_equal else 1
        if equal > MOST_EQUAL and (is_blank or in_text) and byte != QUOTE:
            return None
        line_ends = self.line_ends + (byte == LINE_END) if is_blank else 0
        if byte == LINE_END and (line_ends > MOST_LINE_ENDS or not self._may_end_line()):
            return None
        state = self.state.feed(bytes((byte,)))
        return None if state is None else TidyState(state, byte, equal, line_ends)

    def _may_end_line(self) -> bool:
        machine = self.state.whole
        if machine is None or machine.stack is None:
            return False
        begins = isinstance(machine.stack.task, (Block, Entries, EntryName, Fields))
        return begins or not machine.expected().words.isdisjoint(_ENDS)

    @property
    def complete(self) -> bool:
        """As in `fimlsp.quotient.states.protocol.State`."""
        return self.state.complete

    @property
    def shortest_completion(self) -> bytes:
        """As in `fimlsp.quotient.states.protocol.State`."""
        return self.state.shortest_completion

    def mask(self, vocabulary: Vocabulary) -> Words:
        """As in `fimlsp.quotient.states.protocol.State`."""
        return vocabulary.mask(self.allowed_texts(vocabulary), complete=self.complete)

    def allowed_texts(self, vocabulary: Vocabulary) -> Truths:
        """As in `fimlsp.quotient.states.protocol.State`, found by feeding every text."""
        from fimlsp.quotient.masks.plain_walk import allowed_by_feeding

        return allowed_by_feeding(vocabulary, self, TidyState.feed)
