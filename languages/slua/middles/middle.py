"""The state of a middle between two parts of a script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from fimlsp.languages.slua.incremental.machine import Stack
from fimlsp.languages.slua.incremental.statements import ScriptState, begin
from fimlsp.languages.slua.interface import Interface
from fimlsp.languages.slua.lexemes import DIGITS, LETTERS, WORD, is_name
from fimlsp.languages.slua.middles.right_text import RightText, RightTextReader
from fimlsp.languages.slua.middles.search import Search

if TYPE_CHECKING:  # imported lazily: only masks need NumPy
    from fimlsp.quotient.masks.vocabulary import Bitmask, BoolMask, Vocabulary


def between(left: bytes, right: bytes, interface: Interface) -> MiddleState | None:
    """The state before a middle between *left* and *right*; None if no connection is found."""
    return middle_between(begin(interface).feed(left), right)


def middle_between(
    left: ScriptState | None, right: bytes, *, may_escape: bool = True, most_nodes: int | None = None
) -> MiddleState | None:
    """As `between`, after the state *left*.

    Unless it *may_escape*, a middle closes nothing that is open at its start. The search for the first
    completion visits at most *most_nodes* if that is given.
    """
    if left is None:
        return None
    kept = None if may_escape else (left.machine_at_end or left.machine).stack
    completion = MiddleState(left, RightSide(right, kept, most_nodes)).completion
    return None if completion is None else MiddleState(left, RightSide(right, kept), completion)


class RightSide:
    """The text right of the cursor, its reader, and the search for connections to it.

    *kept* are the tasks that must stay open; None if anything may be closed. *most_nodes* as in `Search`.
    """

    def __init__(self, data: bytes, kept: Stack | None, most_nodes: int | None = None) -> None:
        self._levels = 0 if kept is None else len(kept.outline)
        self._floor = None if kept is None else level_of(kept, self._levels).below
        self.text = RightText(data)
        self.reader = RightTextReader(self.text)
        self.search = Search(self.reader, self._levels, most_nodes)
        self.is_empty = not data.strip(b" \t\r\n")

    @property
    def has_floor(self) -> bool:
        """True if some construct has to stay open."""
        return self._levels > 0

    def keeps(self, script: ScriptState) -> bool:
        """True if every construct that has to stay open is open at the end of *script*."""
        stack = (script.machine_at_end or script.machine).stack
        if not self._levels:
            return True
        if stack is None or len(stack.outline) < self._levels:
            return False
        return level_of(stack, self._levels).below is self._floor


def level_of(stack: Stack, size: int) -> Stack:
    """The lowest part of *stack* with *size* open brackets and blocks."""
    while stack.below is not None and len(stack.below.outline) >= size:
        stack = stack.below
    return stack


class MiddleState:
    """The state after some bytes of a middle. Immutable; it is never a dead end.

    Attributes:
        script: the state of the script up to here.
        right: the text after the middle.
    """

    def __init__(self, script: ScriptState, right: RightSide, completion: bytes | None = None) -> None:
        self.script = script
        self.right = right
        self._known = completion

    def feed(self, data: bytes) -> MiddleState | None:
        """The state after *data*; None if no middle that starts so is found."""
        script = self.script.feed(data)
        if script is None or not self.right.keeps(script):
            return None
        completion = self.completion
        assert completion is not None
        if completion.startswith(data):
            rest: bytes | None = completion[len(data) :]
        else:
            rest = carry_over(completion, self.script, script, self.right.text)
        state = MiddleState(script, self.right, rest)
        return state if state.completion is not None else None

    @cached_property
    def complete(self) -> bool:
        """True if the middle may end here: the whole script is valid."""
        return self.right.reader.is_complete(self.script)

    @cached_property
    def completion(self) -> bytes | None:
        """A cheap text that completes the middle; None if none is found."""
        if self.right.is_empty and not self.right.has_floor:
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

    def mask(self, vocabulary: Vocabulary) -> Bitmask:
        """As in `fimlsp.quotient.states.protocol.State`."""
        return vocabulary.mask(self.allowed_texts(vocabulary), complete=self.complete)

    def allowed_texts(self, vocabulary: Vocabulary) -> BoolMask:
        """As in `fimlsp.quotient.states.protocol.State`, computed by feeding each text."""
        from fimlsp.quotient.masks.vocabulary import recheck

        numbers = [n for n, may_come in enumerate(self.script.allowed_texts(vocabulary).tolist()) if may_come]
        return recheck(vocabulary, None, numbers, lambda text: self.feed(text) is not None)

    def _searched(self) -> bytes | None:
        search, partial = self.right.search, self.script.partial
        if not partial:
            return search.connect(self.script.machine, "")
        completions = list(self._joining())
        for added in self._endings():
            token = (partial + added).decode("utf-8")
            machine = self.script.machine.take(token)
            text = None if machine is None else search.connect(machine, token)
            if text is not None:
                completions.append(added + text)
        return min(completions, key=len, default=None)

    def _endings(self) -> Iterator[bytes]:
        """Possible ends of the partial lexeme."""
        yield from self.script.endings()
        if self.script.partial[0] in LETTERS:
            partial = self.script.partial.decode("ascii")
            names = self.right.text.used_names
            yield from (name[len(partial) :].encode("ascii") for name in names if name.startswith(partial))

    def _joining(self) -> Iterator[bytes]:
        """Texts that join the partial lexeme to its rest on the right."""
        script, reader = self.script, self.right.reader
        partial, word = script.partial, self.right.text.word
        added: set[bytes] = set()
        if partial[0] in LETTERS and word:
            text = partial.decode("ascii")
            words = script.machine.expected().words | self.right.text.names
            fitting = (w for w in words if w.startswith(text) and w.endswith(word))
            whole = (w for w in fitting if len(w) > len(text) + len(word))
            added = {w[len(text) : -len(word)].encode("ascii") for w in whole} | {b"x"}
        elif partial[0] == ord('"'):
            added = {ending[:-1] for ending in script.endings()}
        for text_between in added:
            lexeme = self.right.text.joined(partial + text_between)
            machine = lexeme and script.machine.take(lexeme.text)
            if lexeme and machine and reader.mismatch(machine, lexeme.end) is None:
                yield text_between


def carry_over(completion: bytes, before: ScriptState, after: ScriptState, right: RightText) -> bytes | None:
    """A completion of *after*, the state that follows *before*; None if only a search can tell.

    *completion* completes *before*. A string, a number or a new name may grow, and space may come between
    lexemes. The same text still completes the script, since only types and scopes decide. A new name is
    renamed in it.
    """
    data, partial = after.partial, before.partial
    if not partial or after.machine is not before.machine or not data.startswith(partial):
        return completion if _is_space_between(completion, before, after) else None
    if not completion or completion[0] in WORD or completion[:1] == b"." or right.word:
        return None
    if partial[0] == ord('"'):
        is_whole = completion[:1] == b'"' and next(after.endings()) == b'"'
        return completion if is_whole else None
    if partial[0] in DIGITS:
        return completion if data[-1] in DIGITS else None
    return _renamed(completion, before, data.decode("ascii"), right) if partial[0] in LETTERS else None


def _is_space_between(completion: bytes, before: ScriptState, after: ScriptState) -> bool:
    """True if only white space was written, and *completion* does not continue the partial lexeme."""
    if after.partial:
        return False
    if not before.partial:
        return after.machine is before.machine
    return (
        after.machine is before.machine_at_end
        and bool(completion)
        and not before.continues_with(completion[0])
    )


def _renamed(completion: bytes, before: ScriptState, name: str, right: RightText) -> bytes | None:
    """*completion* with *name* for the partial name, if both are new and *right* has neither."""
    old, expected = before.partial.decode("ascii"), before.machine.expected()
    if expected.taken_names is None:
        return None
    is_new = {old, name}.isdisjoint({*expected.taken_names, *expected.words, *right.names})
    words = set(re.findall(rb"\w+", completion))
    if not (is_new and is_name(old) and is_name(name)) or name.encode() in words:
        return None
    return re.sub(rb"\b%s\b" % before.partial, name.encode(), completion)
