"""What models do that leads nowhere, though a script may go on so: it is refused, so they do something else.

Constrained models drift: a likely token is refused, an unlikely one comes, and soon the text repeats itself,
or an expression runs on over the lines. The paper names this as what remains of its failures, and proposes to
take no line end inside an expression.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from fimlsp.languages.slua.both_sides.middle import MiddleState
from fimlsp.languages.slua.incremental.expressions import Entries, EntryName
from fimlsp.languages.slua.incremental.machine import Machine
from fimlsp.languages.slua.incremental.parser import ScriptState
from fimlsp.languages.slua.incremental.statements import Block, Branch, LocalName
from fimlsp.languages.slua.incremental.tokens import BLANKS, first_token
from fimlsp.languages.slua.incremental.written_types import Fields
from fimlsp.languages.slua.tidying.drift import is_at_end, is_drift
from fimlsp.languages.slua.tidying.spacing import spaced

if TYPE_CHECKING:  # NumPy is imported by who asks for masks
    from fimlsp.quotient.masks.plain_walk import Truths
    from fimlsp.quotient.masks.vocabulary import Vocabulary, Words

MOST_LINE_ENDS = 2
"""In a row."""

DEEPER = 4
"""So many blanks may a line begin with beyond those of the line before."""

SHORTEST_PIECE, LONGEST_PIECE = 8, 200
"""Bytes of a piece that counts as repeated."""

_LINE_ENDS = b"\r\n"
_WAITS_FOR_BLANK = re.compile(rb"(?:,|[ \t](?:[+*/%^<>=]|[<>=~]=|\.\.|and|or))\Z")
_DECLARED = re.compile(rb"\s*(?:local|interface) (\w+)")
_BLANKS = bytes(sorted(BLANKS))
_KEPT = 2 * LONGEST_PIECE


@dataclass(frozen=True)
class Tidy:
    """A state without line ends inside expressions, long runs of blanks, drift, and repetition.

    A piece that came twice in a row does not come a third time: it is refused where only the cheapest
    completion would be left of it. What that consists of is always taken, so this is no dead end either.

    Attributes:
        state: the state of the script, or of a middle in it.
        written: its last bytes.
        pieces: what came twice before the last bytes, and may not come again.
        since: the bytes behind it.
        is_first: whether nothing is written yet.
    """

    state: ScriptState | MiddleState
    written: bytes = b""
    pieces: tuple[bytes, ...] = ()
    since: bytes = b""
    is_first: bool = False

    @staticmethod
    def behind(state: ScriptState | MiddleState, text: bytes) -> Tidy:
        """*state*, which is behind *text*."""
        return Tidy(state, text[-_KEPT:], is_first=True)

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
        script = _script(self.state).feed(byte)
        if script is None:
            return None
        is_blank = not byte.strip(_BLANKS)
        is_refused = not self._may_have_blank(byte) if is_blank else self._is_untidy(byte, script)
        if is_refused and not self.shortest_completion.startswith(byte):
            return None
        following = script if isinstance(self.state, ScriptState) else self.state.feed(byte)
        if following is None:
            return None
        since = self.since + byte
        pieces = tuple(piece for piece in self.pieces if piece.startswith(since) and piece != since)
        if pieces and not self.shortest_completion.startswith(byte):
            rest = following.shortest_completion
            if any(piece == since + rest for piece in pieces):
                return None
        state = Tidy(following, (self.written + byte)[-_KEPT:], pieces, since if pieces else b"")
        return state._with_pieces() if byte == b";" else state

    def _is_untidy(self, byte: bytes, script: ScriptState) -> bool:
        """Whether *byte*, after which the script is in that state, is not what people write."""
        begun = script.begun
        if begun == byte and _WAITS_FOR_BLANK.search(self.written):
            return True
        if not begun or begun.startswith(b'"'):
            return False
        before = self.written[: len(self.written) + 1 - len(begun)].decode("utf-8", "replace")
        return is_drift(script.machine, begun.decode("ascii"), before) or self._defers(script)

    def _defers(self, script: ScriptState) -> bool:
        """Whether *script* goes on with something else where it could declare what the rest lacks."""
        task = script.machine.stack.task if script.machine.stack is not None else None
        if isinstance(self.state, ScriptState) or not isinstance(task, Block | LocalName):
            return False
        completion = self.state.shortest_completion
        if isinstance(task, LocalName):
            completion = b"local " + (script.begun[:-1] + completion).lstrip()
        declared = _DECLARED.match(completion)
        lacking = self.state.right.reader.right.used_names
        return declared is not None and declared[1].decode("ascii") in lacking

    def _may_have_blank(self, byte: bytes) -> bool:
        """Whether a blank may come: one between lexemes, some at the beginning of a line."""
        script = _script(self.state)
        if script.begun.startswith(b'"'):
            return True
        before = self.written.rstrip(_BLANKS)
        blanks = self.written[len(before) :]
        if self.is_first and not (before and len(before) == len(self.written)):
            return False
        if byte in _LINE_ENDS:
            return blanks.count(b"\n") < MOST_LINE_ENDS and _may_end_line(script.whole)
        if before and b"\n" not in blanks:
            return not blanks and not is_at_end(script.whole, before.decode("utf-8", "replace"))
        line = before[before.rfind(b"\n") + 1 :]
        return len(blanks[blanks.rfind(b"\n") + 1 :]) < len(line) - len(line.lstrip(b" \t")) + DEEPER

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

    @cached_property
    def shortest_completion(self) -> bytes:
        """A text, near the shortest, that completes the script, with blanks; empty if it is complete."""
        completion, begun = self.state.shortest_completion, _script(self.state).begun
        if not completion:
            return completion
        first = first_token((begun + completion).decode("utf-8")).encode()
        rest = len(first) - len(begun) if begun else 0
        return completion[:rest] + spaced(completion[rest:], self.written + completion[:rest])

    def mask(self, vocabulary: Vocabulary) -> Words:
        """As in `fimlsp.quotient.states.protocol.State`."""
        return vocabulary.mask(self.allowed_texts(vocabulary), complete=self.complete)

    def allowed_texts(self, vocabulary: Vocabulary) -> Truths:
        """As in `fimlsp.quotient.states.protocol.State`, found by feeding every text."""
        from fimlsp.quotient.masks.plain_walk import allowed_by_feeding

        return allowed_by_feeding(vocabulary, self, Tidy.feed)


def _script(state: ScriptState | MiddleState) -> ScriptState:
    return state if isinstance(state, ScriptState) else state.script


def _may_end_line(machine: Machine | None) -> bool:
    """Whether a line may end at *machine*: between statements, fields, and the entries of a table."""
    return machine is not None and (
        machine.stack is None or isinstance(machine.stack.task, Block | Branch | Fields | Entries | EntryName)
    )
