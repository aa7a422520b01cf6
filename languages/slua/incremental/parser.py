"""Reads a script byte by byte. Each state has a text that completes the script."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fimlsp.languages.slua.incremental.environment import PLACEHOLDER, Environment
from fimlsp.languages.slua.incremental.machine import Machine
from fimlsp.languages.slua.incremental.statements import Block, ScriptEnd, ScriptStatements
from fimlsp.languages.slua.incremental.tokens import (
    DIGITS,
    ESCAPED,
    LETTERS,
    LEXEME,
    SIGNS,
    TOKEN,
    UTF8_START,
    WHITESPACE,
    WORD,
    needs_space,
    utf8_after,
    utf8_rest,
)
from fimlsp.languages.slua.interface import Interface, UnknownRootError

if TYPE_CHECKING:  # imported lazily: only masks need NumPy
    from fimlsp.quotient.masks.vocabulary import Bitmask, BoolMask, Vocabulary

_MOST_TRIED = 24
_LEXEME = re.compile(rb"[ \t\r\n]*(" + LEXEME.pattern + rb")")
_SIGN_BEGINNINGS = frozenset(sign[:size].encode() for sign in SIGNS for size in range(1, len(sign) + 1))


def begin(interface: Interface, root: str | None = None) -> ScriptState:
    """The state before a script that is given *interface*.

    With *root* it has to be a script of that kind; otherwise it may be of any kind, or of none.

    Raises:
        UnknownRootError: the kind is unknown, or no script can be of it.
    """
    endings, environment = interface.endings(root), Environment.of(interface)
    if root is not None and not environment.inhabitants.has(interface.roots[root].type):
        raise UnknownRootError(
            f"no script can be of the kind `{root}`: no value of {interface.roots[root].type} can be made"
        )
    statements = ScriptStatements(must_return=root is not None, endings=tuple(sorted(endings)))
    return ScriptState(Machine(None, environment, Block).push(statements, ScriptEnd()))


@dataclass(frozen=True)
class ScriptState:
    """The state after the first bytes of a script. Immutable; it is never a dead end.

    Attributes:
        machine: the place after the last whole lexeme.
        partial: the bytes of the lexeme that may continue.
        character: UTF-8 state within a string.
    """

    machine: Machine
    partial: bytes = b""
    character: tuple[int, int, int] = UTF8_START

    def feed(self, data: bytes) -> ScriptState | None:
        """The state after *data*; None if no script starts so. O(len(data)), times the names in scope."""
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
        """The state after the lexeme at *at* and its end, if it starts there and ends within *data*.

        Optimisation only: feeding byte by byte reaches the same state.
        """
        lexeme = None if self.partial or at + 1 == len(data) else _LEXEME.match(data, at)
        if lexeme is None or lexeme.end() == len(data):
            return at, None
        try:
            machine = self.machine.take(lexeme[1].decode("utf-8"))
        except UnicodeDecodeError:
            return at, None
        return lexeme.end(), None if machine is None else ScriptState(machine)

    @cached_property
    def machine_at_end(self) -> Machine | None:
        """The place after everything read, if the last lexeme may end here."""
        if not self.partial:
            return self.machine
        return self.machine.take(self.partial.decode("utf-8")) if self._may_end() else None

    @property
    def complete(self) -> bool:
        """True if the script may end here."""
        return self.machine_at_end is not None and self.machine_at_end.expected().end

    @cached_property
    def shortest_completion(self) -> bytes:
        """A text, near the shortest, that completes the script; empty if it is complete."""
        if self.complete:
            return b""
        return min(self._completions(), key=len)

    def mask(self, vocabulary: Vocabulary) -> Bitmask:
        """As in `fimlsp.quotient.states.protocol.State`."""
        return vocabulary.mask(self.allowed_texts(vocabulary), complete=self.complete)

    def allowed_texts(self, vocabulary: Vocabulary) -> BoolMask:
        """As in `fimlsp.quotient.states.protocol.State`, computed by feeding every text."""
        from fimlsp.quotient.masks.vocabulary import allowed_by_feeding

        return allowed_by_feeding(vocabulary, self, ScriptState.feed)

    def _completions(self) -> Iterator[bytes]:
        if not self.partial:
            yield _finished(self.machine, "")
            return
        for added in self.endings():
            token = (self.partial + added).decode("utf-8")
            machine = self.machine.take(token)
            if machine is not None:
                yield added + _finished(machine, token)

    def endings(self) -> Iterator[bytes]:
        """Possible ends of the partial lexeme."""
        partial, first = self.partial, self.partial[0]
        if first == ord('"'):
            escape = b"n" if _is_escaping(partial) else utf8_rest(self.character)
            yield escape + b'"'
        elif first in DIGITS:
            yield b"0" if partial.endswith(b".") else b""
        else:
            text = partial.decode("ascii")
            words = sorted((w for w in self.machine.expected().words if w.startswith(text)), key=len)
            yield from (word[len(text) :].encode("ascii") for word in words[:_MOST_TRIED])
            yield from (b"" if not n else b"x" * n for n in range(3) if first in LETTERS)

    def _after(self, byte: int) -> ScriptState | None:
        partial = self.partial
        if not partial:
            return self._begin(byte)
        if partial[0] == ord('"'):
            return self._in_text(byte)
        if self.continues_with(byte):
            longer = ScriptState(self.machine, partial + bytes((byte,)))
            return longer if longer._is_viable() else None
        whole = self.machine_at_end
        return None if whole is None or self._cannot_follow(byte) else ScriptState(whole)._begin(byte)

    def _begin(self, byte: int) -> ScriptState | None:
        if byte in WHITESPACE:
            return self
        partial = bytes((byte,))
        expected = self.machine.expected()
        if byte == ord('"'):
            return ScriptState(self.machine, partial) if expected.string else None
        if byte in DIGITS:
            return ScriptState(self.machine, partial) if expected.number else None
        state = ScriptState(self.machine, partial)
        return state if (byte in LETTERS or partial in _SIGN_BEGINNINGS) and state._is_viable() else None

    def _in_text(self, byte: int) -> ScriptState | None:
        partial = self.partial + bytes((byte,))
        if _is_escaping(self.partial):
            return ScriptState(self.machine, partial) if byte in ESCAPED else None
        character = utf8_after(self.character, byte)
        if character is None or byte < 0x20 or byte == 0x7F:
            return None
        if byte == ord('"'):
            machine = self.machine.take(partial.decode("utf-8"))
            return None if machine is None else ScriptState(machine)
        return ScriptState(self.machine, partial, character)

    def continues_with(self, byte: int) -> bool:
        """True if *byte* belongs to the partial lexeme."""
        partial = self.partial
        if partial[0] in DIGITS:
            return byte in DIGITS or (byte == ord(".") and b"." not in partial)
        if partial[0] in LETTERS:
            return byte in WORD
        return partial + bytes((byte,)) in _SIGN_BEGINNINGS

    def _cannot_follow(self, byte: int) -> bool:
        """True if *byte* may not stand directly after the lexeme that ends before it."""
        partial = self.partial
        if partial[0] in DIGITS:
            return byte in WORD or byte == ord(".")
        return partial == b"-" and byte == ord("-")

    def _may_end(self) -> bool:
        partial = self.partial
        if partial[0] in DIGITS:
            return not partial.endswith(b".")
        return partial[0] in LETTERS or (partial[0] != ord('"') and partial.decode("ascii") in SIGNS)

    def _is_viable(self) -> bool:
        """True if a lexeme may come that starts with the partial one."""
        return self.partial[0] in DIGITS or self.machine.expected().accepts_prefix(
            self.partial.decode("ascii")
        )


def _is_escaping(text: bytes) -> bool:
    """True if *text*, from its quotation mark on, ends with an open backslash."""
    return (len(text) - len(text.rstrip(b"\\"))) % 2 == 1


def _finished(machine: Machine, before: str) -> bytes:
    """The text that ends the script after *machine* and the lexeme *before*."""
    text = ""
    while chunk := machine.finish():
        reached, names = machine, dict[str, str]()
        for lexeme in TOKEN.findall(chunk):
            token = lexeme
            if lexeme[0] == PLACEHOLDER[0]:
                token = names.setdefault(lexeme, "") or fresh_name(machine, names.values())
                names[lexeme] = token
            following = machine.take(token)
            if following is None:  # near the limits only another text is accepted now
                break
            text += f" {token}" if needs_space(before, token) else token
            before, machine = token, following
        assert machine is not reached, (chunk, text)
    return text.encode("utf-8")


def fresh_name(machine: Machine, others: Iterable[str]) -> str:
    """A name that no variable has."""
    taken = {*machine.environment.variables, *others}
    letters = "abcdefghijklmnopqrstuvwxyz"
    return next(
        letter + "x" * more for more in range(50) for letter in letters if letter + "x" * more not in taken
    )
