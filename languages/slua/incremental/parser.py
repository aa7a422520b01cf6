"""Reads a script byte by byte, and knows after each whether it can go on, may end, and how it could."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fimlsp.languages.slua.incremental.environment import Environment
from fimlsp.languages.slua.incremental.inhabitants import NAMELESS
from fimlsp.languages.slua.incremental.machine import Machine
from fimlsp.languages.slua.incremental.statements import Block, Script, Statements
from fimlsp.languages.slua.incremental.tokens import (
    BLANKS,
    DIGITS,
    ESCAPED,
    LETTERS,
    LEXEME,
    SIGNS,
    TOKEN,
    WORD,
    needs_blank,
)
from fimlsp.languages.slua.incremental.utf8 import START, after_byte, missing_bytes
from fimlsp.languages.slua.interface import Interface, UnknownRootError

if TYPE_CHECKING:  # NumPy is imported by who asks for masks
    from fimlsp.quotient.masks.plain_walk import Truths
    from fimlsp.quotient.masks.vocabulary import Vocabulary, Words

_MOST_TRIED = 24
_LEXEME = re.compile(rb"[ \t\r\n]*(" + LEXEME.pattern + rb")")
_SIGN_BEGINNINGS = frozenset(sign[:size].encode() for sign in SIGNS for size in range(1, len(sign) + 1))


def begin(interface: Interface, root: str | None = None) -> ScriptState:
    """The state before a script that is given *interface*.

    With *root* it has to be a script of that kind; otherwise it may be one of any kind, or of none.

    Raises:
        UnknownRootError: there is no such kind of scripts, or no script can be one.
    """
    endings, environment = interface.endings(root), Environment.of(interface)
    if root is not None and not environment.inhabitants.has(interface.roots[root].type):
        raise UnknownRootError(f"no script can end as `{root}` does: it has no {interface.roots[root].type}")
    statements = Statements(must_return=root is not None, endings=tuple(sorted(endings)))
    return ScriptState(Machine(None, environment, Block).push(statements, Script()))


@dataclass(frozen=True)
class ScriptState:
    """What is known after the first bytes of a script. Immutable; it is never a dead end.

    Attributes:
        machine: the place behind the last whole lexeme.
        begun: the bytes of the lexeme that may go on.
        character: how much of a character is missing in a text.
    """

    machine: Machine
    begun: bytes = b""
    character: tuple[int, int, int] = START

    def feed(self, data: bytes) -> ScriptState | None:
        """The state after *data*; None if no script begins so. O(len(data)), times the names in scope."""
        state, at = self, 0
        while at < len(data):
            end, following = state._after_lexeme(data, at)
            if following is None:
                end, following = at + 1, state._after(data[at])
            if following is None:
                return None
            state, at = following, end
        return state

    def _after_lexeme(self, data: bytes, at: int) -> tuple[int, ScriptState | None]:
        """The state after the lexeme at *at* and its end, if it has not begun before and ends in *data*.

        This only saves time: byte by byte the same state is come to.
        """
        found = None if self.begun or at + 1 == len(data) else _LEXEME.match(data, at)
        if found is None or found.end() == len(data):
            return at, None
        try:
            machine = self.machine.take(found[1].decode("utf-8"))
        except UnicodeDecodeError:
            return at, None
        return found.end(), None if machine is None else ScriptState(machine)

    @cached_property
    def whole(self) -> Machine | None:
        """The place behind all that was read, if the last lexeme may end here."""
        if not self.begun:
            return self.machine
        return self.machine.take(self.begun.decode("utf-8")) if self._may_end() else None

    @property
    def complete(self) -> bool:
        """Whether the script may end here."""
        return self.whole is not None and self.whole.expected().end

    @cached_property
    def shortest_completion(self) -> bytes:
        """A text, near the shortest, that completes the script; empty if it is complete."""
        if self.complete:
            return b""
        return min(self._completions(), key=len)

    def mask(self, vocabulary: Vocabulary) -> Words:
        """As in `fimlsp.quotient.states.protocol.State`."""
        return vocabulary.mask(self.allowed_texts(vocabulary), complete=self.complete)

    def allowed_texts(self, vocabulary: Vocabulary) -> Truths:
        """As in `fimlsp.quotient.states.protocol.State`, found by feeding every text."""
        from fimlsp.quotient.masks.plain_walk import allowed_by_feeding

        return allowed_by_feeding(vocabulary, self, ScriptState.feed)

    def _completions(self) -> Iterator[bytes]:
        if not self.begun:
            yield _finished(self.machine, "")
            return
        for added in self.endings():
            token = (self.begun + added).decode("utf-8")
            machine = self.machine.take(token)
            if machine is not None:
                yield added + _finished(machine, token)

    def endings(self) -> Iterator[bytes]:
        """What may complete the lexeme that has begun."""
        begun, first = self.begun, self.begun[0]
        if first == ord('"'):
            escape = b"n" if _is_escaping(begun) else missing_bytes(self.character)
            yield escape + b'"'
        elif first in DIGITS:
            yield b"0" if begun.endswith(b".") else b""
        else:
            text = begun.decode("ascii")
            words = sorted((w for w in self.machine.expected().words if w.startswith(text)), key=len)
            yield from (word[len(text) :].encode("ascii") for word in words[:_MOST_TRIED])
            yield from (b"" if not n else b"x" * n for n in range(3) if first in LETTERS)

    def _after(self, byte: int) -> ScriptState | None:
        begun = self.begun
        if not begun:
            return self._begin(byte)
        if begun[0] == ord('"'):
            return self._in_text(byte)
        if self.goes_on(byte):
            longer = ScriptState(self.machine, begun + bytes((byte,)))
            return longer if longer._is_viable() else None
        whole = self.whole
        return None if whole is None or self._is_stuck(byte) else ScriptState(whole)._begin(byte)

    def _begin(self, byte: int) -> ScriptState | None:
        if byte in BLANKS:
            return self
        begun = bytes((byte,))
        expected = self.machine.expected()
        if byte == ord('"'):
            return ScriptState(self.machine, begun) if expected.string else None
        if byte in DIGITS:
            return ScriptState(self.machine, begun) if expected.number else None
        state = ScriptState(self.machine, begun)
        return state if (byte in LETTERS or begun in _SIGN_BEGINNINGS) and state._is_viable() else None

    def _in_text(self, byte: int) -> ScriptState | None:
        begun = self.begun + bytes((byte,))
        if _is_escaping(self.begun):
            return ScriptState(self.machine, begun) if byte in ESCAPED else None
        character = after_byte(self.character, byte)
        if character is None or byte < 0x20 or byte == 0x7F:
            return None
        if byte == ord('"'):
            machine = self.machine.take(begun.decode("utf-8"))
            return None if machine is None else ScriptState(machine)
        return ScriptState(self.machine, begun, character)

    def goes_on(self, byte: int) -> bool:
        """Whether *byte* belongs to the lexeme that has begun."""
        begun = self.begun
        if begun[0] in DIGITS:
            return byte in DIGITS or (byte == ord(".") and b"." not in begun)
        if begun[0] in LETTERS:
            return byte in WORD
        return begun + bytes((byte,)) in _SIGN_BEGINNINGS

    def _is_stuck(self, byte: int) -> bool:
        """Whether *byte* may not stand right behind the lexeme that ends before it."""
        begun = self.begun
        if begun[0] in DIGITS:
            return byte in WORD or byte == ord(".")
        return begun == b"-" and byte == ord("-")

    def _may_end(self) -> bool:
        begun = self.begun
        if begun[0] in DIGITS:
            return not begun.endswith(b".")
        return begun[0] in LETTERS or (begun[0] != ord('"') and begun.decode("ascii") in SIGNS)

    def _is_viable(self) -> bool:
        """Whether a lexeme may come that begins as the one that has begun."""
        return self.begun[0] in DIGITS or self.machine.expected().begins(self.begun.decode("ascii"))


def _is_escaping(text: bytes) -> bool:
    """Whether *text*, from its quotation mark on, ends with a backslash that waits for what it escapes."""
    return (len(text) - len(text.rstrip(b"\\"))) % 2 == 1


def _finished(machine: Machine, before: str) -> bytes:
    """What ends the script behind *machine* and the lexeme *before*."""
    text = ""
    while chunk := machine.finish():
        reached, names = machine, dict[str, str]()
        for lexeme in TOKEN.findall(chunk):
            token = lexeme
            if lexeme[0] == NAMELESS[0]:
                token = names.setdefault(lexeme, "") or new_name(machine, names.values())
                names[lexeme] = token
            following = machine.take(token)
            if following is None:  # near the limits another way is the only one now
                break
            text += f" {token}" if needs_blank(before, token) else token
            before, machine = token, following
        assert machine is not reached, (chunk, text)
    return text.encode("utf-8")


def new_name(machine: Machine, others: Iterable[str]) -> str:
    """A name that no variable has."""
    taken = {*machine.environment.variables, *others}
    letters = "abcdefghijklmnopqrstuvwxyz"
    return next(
        letter + "x" * more for more in range(50) for letter in letters if letter + "x" * more not in taken
    )
