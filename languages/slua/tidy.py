"""What models do that leads nowhere, though a script may go on so: it is refused, so they do something else.

Constrained models drift: a likely token is refused, an unlikely one comes, and soon the text repeats itself,
or an expression runs on over the lines. The paper names this as what remains of its failures, and proposes to
take no line end inside an expression.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fimlsp.languages.slua.both_sides.middle import MiddleState
from fimlsp.languages.slua.incremental.expressions import Entries, EntryName
from fimlsp.languages.slua.incremental.parser import ScriptState
from fimlsp.languages.slua.incremental.statements import Block, Branch
from fimlsp.languages.slua.incremental.tokens import BLANKS
from fimlsp.languages.slua.incremental.written_types import Fields

if TYPE_CHECKING:  # NumPy is imported by who asks for masks
    from fimlsp.quotient.masks.plain_walk import Truths
    from fimlsp.quotient.masks.vocabulary import Vocabulary, Words

MOST_BLANKS, MOST_LINE_ENDS = 40, 2
"""In a row, the former at the beginning of a line."""

SHORTEST_PIECE, LONGEST_PIECE = 8, 200
"""Bytes of a piece that counts as repeated."""

_LINE_ENDS = b"\r\n"
_BLANKS = bytes(sorted(BLANKS))
_KEPT = 2 * LONGEST_PIECE


@dataclass(frozen=True, slots=True)
class Tidy:
    """A state without line ends inside expressions, long runs of blanks, and repetition.

    A piece that came twice in a row does not come a third time: it is refused where only the cheapest
    completion would be left of it. What that consists of is always taken, so this is no dead end either.

    Attributes:
        state: the state of the script, or of a middle in it.
        written: its last bytes.
        pieces: what came twice before the last bytes, and may not come again.
        since: the bytes behind it.
    """

    state: ScriptState | MiddleState
    written: bytes = b""
    pieces: tuple[bytes, ...] = ()
    since: bytes = b""

    def feed(self, data: bytes) -> Tidy | None:
        """The state after *data*; None if no script begins so, or none that is tidy. O(len(data))."""
        state = self
        for number in range(len(data)):
            following = state._after(data[number : number + 1])
            if following is None:
                return None
            state = following
        return state

    def _after(self, byte: bytes) -> Tidy | None:
        following = self.state.feed(byte)
        if following is None or (not byte.strip(_BLANKS) and not self._may_have_blank(byte)):
            return None
        since = self.since + byte
        pieces = tuple(piece for piece in self.pieces if piece.startswith(since) and piece != since)
        if pieces and not self.shortest_completion.startswith(byte):
            rest = following.shortest_completion
            if any(piece == since + rest for piece in pieces):
                return None
        state = Tidy(following, (self.written + byte)[-_KEPT:], pieces, since if pieces else b"")
        return state._with_pieces() if byte == b";" else state

    def _may_have_blank(self, byte: bytes) -> bool:
        """Whether a blank may come: one between lexemes, some at the beginning of a line."""
        script = self.state if isinstance(self.state, ScriptState) else self.state.script
        if script.begun.startswith(b'"'):
            return True
        before = self.written.rstrip(_BLANKS)
        blanks = self.written[len(before) :]
        if byte in _LINE_ENDS:
            return blanks.count(b"\n") < MOST_LINE_ENDS and self._may_end_line
        is_margin = b"\n" in blanks or not before
        return len(blanks) < (MOST_BLANKS if is_margin else 1)

    @property
    def _may_end_line(self) -> bool:
        """Whether a line may end here: between statements, fields, and the entries of a table."""
        script = self.state if isinstance(self.state, ScriptState) else self.state.script
        machine = script.whole
        return machine is not None and (
            machine.stack is None
            or isinstance(machine.stack.task, Block | Branch | Fields | Entries | EntryName)
        )

    def _with_pieces(self) -> Tidy:
        """With what the text ends with twice."""
        written = self.written
        sizes = range(SHORTEST_PIECE, len(written) // 2 + 1)
        found = tuple(written[-size:] for size in sizes if written[-2 * size : -size] == written[-size:])
        return replace(self, pieces=found, since=b"") if found else self

    @property
    def complete(self) -> bool:
        """Whether the script may end here."""
        return self.state.complete

    @property
    def shortest_completion(self) -> bytes:
        """A text, near the shortest, that completes the script; empty if it is complete."""
        return self.state.shortest_completion

    def mask(self, vocabulary: Vocabulary) -> Words:
        """As in `fimlsp.quotient.states.protocol.State`."""
        return vocabulary.mask(self.allowed_texts(vocabulary), complete=self.complete)

    def allowed_texts(self, vocabulary: Vocabulary) -> Truths:
        """As in `fimlsp.quotient.states.protocol.State`, found by feeding every text."""
        from fimlsp.quotient.masks.plain_walk import allowed_by_feeding

        return allowed_by_feeding(vocabulary, self, Tidy.feed)
