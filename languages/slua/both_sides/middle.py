"""The state of a middle between two parts of a script."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from fimlsp.languages.slua.both_sides.carried import carried
from fimlsp.languages.slua.both_sides.reading import Reader
from fimlsp.languages.slua.both_sides.right_text import RightText
from fimlsp.languages.slua.both_sides.search import Search
from fimlsp.languages.slua.incremental.machine import Stack
from fimlsp.languages.slua.incremental.parser import ScriptState, begin
from fimlsp.languages.slua.incremental.tokens import LETTERS
from fimlsp.languages.slua.interface import Interface

if TYPE_CHECKING:  # NumPy is imported by who asks for masks
    from fimlsp.quotient.masks.plain_walk import Truths
    from fimlsp.quotient.masks.vocabulary import Vocabulary, Words


def between(left: bytes, right: bytes, interface: Interface) -> MiddleState | None:
    """The state before a middle between *left* and *right*; None if none is found that connects them."""
    return middle_between(begin(interface).feed(left), right)


def middle_between(
    left: ScriptState | None, right: bytes, *, may_escape: bool = True, places: int | None = None
) -> MiddleState | None:
    """As `between`, where the script has come to the state *left*.

    Unless it *may_escape*, a middle closes nothing that is open at its beginning. The search for the first
    completion gives up after so many *places* if they are given.
    """
    if left is None:
        return None
    kept = None if may_escape else (left.whole or left.machine).stack
    found = MiddleState(left, RightSide(right, kept, places)).completion
    return None if found is None else MiddleState(left, RightSide(right, kept), found)


class RightSide:
    """The text right of the cursor, with what is known of reading it; what is open at *kept* stays so."""

    def __init__(self, data: bytes, kept: Stack | None, places: int | None = None) -> None:
        self._levels = 0 if kept is None else len(kept.outline)
        self._floor = None if kept is None else level_of(kept, self._levels).below
        self.reader = Reader(RightText(data))
        self.search = Search(self.reader, self._levels, places)
        self.is_blank = not data.strip(b" \t\r\n")

    @property
    def has_floor(self) -> bool:
        """Whether anything has to stay open."""
        return self._levels > 0

    def keeps(self, script: ScriptState) -> bool:
        """Whether nothing of what has to stay open was closed before *script*."""
        stack = (script.whole or script.machine).stack
        if not self._levels:
            return True
        if stack is None or len(stack.outline) < self._levels:
            return False
        return level_of(stack, self._levels).below is self._floor


def level_of(stack: Stack, size: int) -> Stack:
    """The lowest part of *stack* with which so many brackets and blocks are open."""
    while stack.below is not None and len(stack.below.outline) >= size:
        stack = stack.below
    return stack


class MiddleState:
    """What is known after some bytes of a middle. Immutable; it is never a dead end.

    Attributes:
        script: what is known of the script up to here.
        right: what follows the middle.
    """

    def __init__(self, script: ScriptState, right: RightSide, completion: bytes | None = None) -> None:
        self.script = script
        self.right = right
        self._known = completion

    def feed(self, data: bytes) -> MiddleState | None:
        """The state after *data*; None if no middle that begins so is found."""
        script = self.script.feed(data)
        if script is None or not self.right.keeps(script):
            return None
        known = self.completion
        assert known is not None
        if known.startswith(data):
            rest: bytes | None = known[len(data) :]
        else:
            rest = carried(known, self.script, script, self.right.reader.right)
        state = MiddleState(script, self.right, rest)
        return state if state.completion is not None else None

    @cached_property
    def complete(self) -> bool:
        """Whether the middle may end here: the whole script is right."""
        return self.right.reader.is_complete(self.script)

    @cached_property
    def completion(self) -> bytes | None:
        """A cheap text that completes the middle; None if none is found."""
        if self.right.is_blank and not self.right.has_floor:
            return self.script.shortest_completion
        if self.complete:
            return b""
        if self._known is not None:
            return self._known
        return self._searched()

    @property
    def shortest_completion(self) -> bytes:
        """A text, near the shortest, that completes the middle; empty if it is complete."""
        assert self.completion is not None
        return self.completion

    def mask(self, vocabulary: Vocabulary) -> Words:
        """As in `fimlsp.quotient.states.protocol.State`."""
        return vocabulary.mask(self.allowed_texts(vocabulary), complete=self.complete)

    def allowed_texts(self, vocabulary: Vocabulary) -> Truths:
        """As in `fimlsp.quotient.states.protocol.State`, found by feeding each text that scripts may have."""
        from fimlsp.quotient.masks.plain_walk import asked_again

        numbers = [n for n, may_come in enumerate(self.script.allowed_texts(vocabulary).tolist()) if may_come]
        return asked_again(vocabulary, None, numbers, lambda text: self.feed(text) is not None)

    def _searched(self) -> bytes | None:
        search, begun = self.right.search, self.script.begun
        if not begun:
            return search.connecting(self.script.machine, "")
        found = list(self._joining())
        for added in self._endings():
            token = (begun + added).decode("utf-8")
            machine = self.script.machine.take(token)
            text = None if machine is None else search.connecting(machine, token)
            if text is not None:
                found.append(added + text)
        return min(found, key=len, default=None)

    def _endings(self) -> Iterator[bytes]:
        """What may complete the lexeme that has begun."""
        yield from self.script.endings()
        if self.script.begun[0] in LETTERS:
            begun = self.script.begun.decode("ascii")
            names = self.right.reader.right.used_names
            yield from (name[len(begun) :].encode("ascii") for name in names if name.startswith(begun))

    def _joining(self) -> Iterator[bytes]:
        """What may stand between the lexeme that has begun and the rest of it on the right."""
        script, reader = self.script, self.right.reader
        begun, word = script.begun, reader.right.word
        added: set[bytes] = set()
        if begun[0] in LETTERS and word:
            text = begun.decode("ascii")
            words = script.machine.expected().words | reader.right.names
            fitting = (w for w in words if w.startswith(text) and w.endswith(word))
            whole = (w for w in fitting if len(w) > len(text) + len(word))
            added = {w[len(text) : -len(word)].encode("ascii") for w in whole} | {b"x"}
        elif begun[0] == ord('"'):
            added = {ending[:-1] for ending in script.endings()}
        for each in added:
            lexeme = reader.right.joined(begun + each)
            machine = lexeme and script.machine.take(lexeme.text)
            if lexeme and machine and reader.stop(machine, lexeme.end) is None:
                yield each
