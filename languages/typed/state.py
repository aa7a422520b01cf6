"""Reads a text byte by byte. Each state has a text that completes it.

`Spaced` refuses runs of white space, which a constrained model writes when its likely tokens are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic

from fimlsp.languages.typed.lexicon import (
    DIGITS,
    LONGEST_INTEGER,
    PLACEHOLDER,
    UTF8_START,
    WHITESPACE,
    WORD,
    Lexicon,
    utf8_after,
    utf8_rest,
)
from fimlsp.languages.typed.machine import M, Machine

if TYPE_CHECKING:
    from typing_extensions import Self

    from fimlsp.quotient.masks.vocabulary import Bitmask, BoolMask, Vocabulary  # only masks need NumPy

_MOST_TRIED = 24
_SHORT_NAMES, _NAMES_TRIED = 3, 1_000
"""Letters that may end a begun name: few as a rule, more where the shorter names are taken."""


@dataclass(frozen=True)
class TextState(Generic[M]):
    """The state after the first bytes of a text. Immutable; it is never a dead end.

    Attributes:
        machine: the place after the last whole lexeme.
        partial: the bytes of the lexeme that may continue.
        character: UTF-8 state within a text in quotation marks.
    """

    machine: M
    partial: bytes = b""
    character: tuple[int, int, int] = UTF8_START

    @property
    def lexicon(self) -> Lexicon:
        """The lexemes of the language."""
        return self.machine.expects.lexicon

    def feed(self, data: bytes) -> Self | None:
        """The state after *data*; None if no text starts so. O(len(data)), times the names in scope."""
        state, at = self, 0
        while at < len(data):
            end, following = state._after_lexeme(data, at)
            if following is None:
                end, following = at + 1, state._after(data[at])
            if following is None:
                return None
            state, at = following, end
        return state

    def _after_lexeme(self, data: bytes, at: int) -> tuple[int, Self | None]:
        """The state after the lexeme at *at* and its end, if it starts there and ends within *data*.

        Optimisation only: feeding byte by byte reaches the same state.
        """
        if self.partial or at + 1 == len(data):
            return at, None
        lexicon = self.lexicon
        lexeme = lexicon.whole_at(data, at)
        if lexeme is None or lexeme.end() == len(data):
            return at, None
        try:
            machine = self.machine.take(lexicon.normal(lexeme[1].decode("utf-8")))
        except UnicodeDecodeError:
            return at, None
        return lexeme.end(), None if machine is None else type(self)(machine)

    @cached_property
    def machine_at_end(self) -> M | None:
        """The place after everything read, if the last lexeme may end here."""
        if not self.partial:
            return self.machine
        return self._with_whole(self.partial) if self._may_end() else None

    def _with_whole(self, lexeme: bytes) -> M | None:
        return self.machine.take(self.lexicon.normal(lexeme.decode("utf-8")))

    @property
    def complete(self) -> bool:
        """True if the text may end here."""
        return self.machine_at_end is not None and self.machine_at_end.expected().end

    @cached_property
    def shortest_completion(self) -> bytes:
        """A text, near the shortest, that completes this one; empty if it is complete."""
        if self.complete:
            return b""
        return min(self._completions(), key=len)

    def mask(self, vocabulary: Vocabulary) -> Bitmask:
        """As in `fimlsp.quotient.states.protocol.State`."""
        return vocabulary.mask(self.allowed_texts(vocabulary), complete=self.complete)

    def allowed_texts(self, vocabulary: Vocabulary) -> BoolMask:
        """As in `fimlsp.quotient.states.protocol.State`, computed by feeding every text."""
        from fimlsp.quotient.masks.vocabulary import allowed_by_feeding

        return allowed_by_feeding(vocabulary, self, type(self).feed)

    def _completions(self) -> Iterator[bytes]:
        if not self.partial:
            yield _finished(self.machine, "")
            return
        found = [*self._completed(self.endings())]
        longer_names = (b"x" * n for n in range(_SHORT_NAMES, _NAMES_TRIED))
        yield from found or islice(self._completed(longer_names), 1)

    def _completed(self, endings: Iterable[bytes]) -> Iterator[bytes]:
        """The completions with those of *endings* that make the partial lexeme one that may stand here."""
        for added in endings:
            token = self.lexicon.normal((self.partial + added).decode("utf-8"))
            machine = self.machine.take(token)
            if machine is not None:
                yield added + _finished(machine, token)

    def endings(self) -> Iterator[bytes]:
        """Possible ends of the partial lexeme."""
        partial, first = self.partial, self.partial[0]
        if first == ord(self.lexicon.quote):
            escape = b"n" if self._is_escaping() else utf8_rest(self.character)
            yield b"" if self._is_closed() else escape + self.lexicon.quote.encode()
        elif first in DIGITS:
            yield b"0" if partial.endswith(b".") else b""
        else:
            text, expected = self.lexicon.normal(partial.decode("ascii")), self.machine.expected()
            if text in self.lexicon.keywords and text in expected.words:
                yield b""
                return
            words = sorted((w for w in expected.words if w.startswith(text)), key=len)
            is_as_spelled = text != partial.decode("ascii") or not partial.islower()
            for word in words[:_MOST_TRIED]:
                written = self.machine.spelled(word) if is_as_spelled else word
                yield written[len(text) :].encode("ascii")
            yield from (
                b"" if not n else b"x" * n for n in range(_SHORT_NAMES) if first in self.lexicon.starts
            )

    def _after(self, byte: int) -> Self | None:
        partial = self.partial
        if not partial:
            return self._begin(byte)
        if partial[0] == ord(self.lexicon.quote) and not self._is_closed():
            return self._in_text(byte)
        if self.continues_with(byte):
            longer = type(self)(self.machine, partial + bytes((byte,)))
            return longer if longer._is_viable() else None
        whole = self.machine_at_end
        return None if whole is None or self._cannot_follow(byte) else type(self)(whole)._begin(byte)

    def _begin(self, byte: int) -> Self | None:
        if byte in WHITESPACE:
            return self
        first, expected = chr(byte), self.machine.expected()
        lexicon = expected.lexicon
        if first == lexicon.quote:
            may_come = expected.string
        elif byte in DIGITS:
            may_come = expected.number or expected.integer
        else:
            is_start = byte in lexicon.starts or first in lexicon.first_signs
            may_come = is_start and expected.accepts_prefix(lexicon.normal(first))
        return type(self)(self.machine, bytes((byte,))) if may_come else None

    def _in_text(self, byte: int) -> Self | None:
        partial, lexicon = self.partial + bytes((byte,)), self.lexicon
        if self._is_escaping():
            return type(self)(self.machine, partial) if byte in lexicon.escapes else None
        character = utf8_after(self.character, byte)
        if character is None or byte < 0x20 or byte == 0x7F:
            return None
        if byte == ord(lexicon.quote) and lexicon.escapes:
            machine = self._with_whole(partial)
            return None if machine is None else type(self)(machine)
        return type(self)(self.machine, partial, character)

    def _is_escaping(self) -> bool:
        """True if the text so far, from its quotation mark on, ends with an open backslash."""
        partial = self.partial
        return bool(self.lexicon.escapes) and (len(partial) - len(partial.rstrip(b"\\"))) % 2 == 1

    def _is_closed(self) -> bool:
        """True if the text so far ends with its quotation mark, which may be doubled to go on."""
        return not self.lexicon.escapes and self.partial.count(self.lexicon.quote.encode()) % 2 == 0

    def continues_with(self, byte: int) -> bool:
        """True if *byte* belongs to the partial lexeme."""
        partial, lexicon = self.partial, self.lexicon
        if partial[0] in DIGITS:
            if self.machine.expected().number:
                return byte in DIGITS or (byte == ord(".") and b"." not in partial)
            return byte in DIGITS and len(partial) < LONGEST_INTEGER
        if partial[0] in lexicon.starts:
            return byte in WORD
        if partial[0] == ord(lexicon.quote):
            return byte == partial[0]
        if partial[:1] == lexicon.name_quote.encode():
            return len(partial) == 1 or partial[-1] != partial[0]
        return partial + bytes((byte,)) in lexicon.sign_beginnings

    def _cannot_follow(self, byte: int) -> bool:
        """True if *byte* may not stand directly after the lexeme that ends before it."""
        partial = self.partial
        if partial[0] in DIGITS:
            return byte in WORD or byte == ord(".")
        return partial == b"-" and byte == ord("-")

    def _may_end(self) -> bool:
        partial, lexicon = self.partial, self.lexicon
        if partial[0] in DIGITS:
            return not partial.endswith(b".")
        if partial[0] == ord(lexicon.quote):
            return self._is_closed()
        if partial[:1] == lexicon.name_quote.encode():
            return len(partial) > 1 and partial[-1] == partial[0]
        return partial[0] in lexicon.starts or partial.decode("ascii") in lexicon.signs

    def _is_viable(self) -> bool:
        """True if a lexeme may come that starts with the partial one."""
        expected = self.machine.expected()
        lexicon, first = expected.lexicon, self.partial[0]
        if first in DIGITS or first == ord(lexicon.quote):
            return True
        return self.partial.isascii() and expected.accepts_prefix(
            lexicon.normal(self.partial.decode("ascii"))
        )


def _finished(machine: Machine, before: str) -> bytes:
    """The text that ends the whole after *machine* and the lexeme *before*."""
    text, lexicon = "", machine.expects.lexicon
    while chunk := machine.finish():
        reached, names = machine, dict[str, str]()
        for lexeme in lexicon.token.findall(chunk):
            token = lexeme
            if lexeme[0] == PLACEHOLDER[0]:
                token = names.setdefault(lexeme, "") or fresh_name(machine, names.values())
                names[lexeme] = token
            following = machine.take(token)
            if following is None:  # near the limits only another text is accepted now
                break
            written = machine.spelled(token)
            text += f" {written}" if machine.has_space(before, token) else written
            before, machine = token, following
        assert machine is not reached, (chunk, text)
    return text.encode("utf-8")


def fresh_name(machine: Machine, others: Iterable[str]) -> str:
    """A new name."""
    taken = {*machine.taken_names, *others}
    letters = "abcdefghijklmnopqrstuvwxyz"
    return next(
        letter + "x" * more for more in range(50) for letter in letters if letter + "x" * more not in taken
    )


_ALLOWED = re.compile(rb" |\r?(?:\n {0,12})?")
"""White space between two lexemes: one space, or one line end and an indentation."""


@dataclass(frozen=True)
class Spaced:
    """A state in which lexemes are one space or one line end apart.

    Attributes:
        state: the state of the text.
        spaces: the white space at its end, as far as that is not within a lexeme.
    """

    state: TextState[Any]
    spaces: bytes = b""

    def feed(self, data: bytes) -> Spaced | None:
        """The state after *data*; None if no text starts so, or none without runs. O(len(data))."""
        state, spaces = self.state, self.spaces
        for number in range(len(data)):
            byte = data[number : number + 1]
            following = state.feed(byte)
            if following is None:
                return None
            is_between = byte[0] in WHITESPACE and not following.partial
            spaces = spaces + byte if is_between else b""
            if not _ALLOWED.fullmatch(spaces):
                return None
            state = following
        return Spaced(state, spaces)

    @property
    def complete(self) -> bool:
        """True if the text may end here."""
        return self.state.complete

    @property
    def shortest_completion(self) -> bytes:
        """A text, near the shortest, that completes this one; empty if it is complete."""
        return self.state.shortest_completion

    def mask(self, vocabulary: Vocabulary) -> Bitmask:
        """As in `fimlsp.quotient.states.protocol.State`."""
        return vocabulary.mask(self.allowed_texts(vocabulary), complete=self.complete)

    def allowed_texts(self, vocabulary: Vocabulary) -> BoolMask:
        """As in `fimlsp.quotient.states.protocol.State`, computed by feeding every text."""
        from fimlsp.quotient.masks.vocabulary import allowed_by_feeding

        return allowed_by_feeding(vocabulary, self, Spaced.feed)
