"""Reads the lexemes of broken lines: what cannot be read is passed over, and strings end with their line.

A string that its line cuts off may also have ended early, before a mark that mostly follows strings, if the
line ends as code does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from fimlsp.lexing.lexer_tables import LexerTables
from fimlsp.lexing.line import unmatched_brackets
from fimlsp.lexing.longest_match import longest_match
from fimlsp.lexing.modes import ModeStack

_MOST_CLOSED = 12
_MOST_TRIED = 12
_CLOSERS = re.compile(rb"[,;:)\]}]+(?=\s*\Z)")
_BEFORE_SPACE = re.compile(rb"\S.*?(?=[,;:][ \t].*[,:()\[\]{}\d'\x22]\s*\Z)", re.DOTALL)
_BEFORE_MARK = re.compile(rb"\S[^,;:)\]}]+(?=[,;:)\]}](?:.*[,:()\[\]{}'\x22])?\s*\Z)", re.DOTALL)


class Lexeme(NamedTuple):
    """A lexeme from `start` to `end`; where it was cut off, the bytes `missing` complete it to its kind."""

    kind: int
    start: int
    end: int
    missing: bytes = b""


class Lexemes(NamedTuple):
    """The lexemes of a text, and the spans that are none; `joined` if the text ends with a line joiner."""

    read: tuple[Lexeme, ...]
    unreadable: tuple[tuple[int, int], ...]
    joined: bool

    def shifted(self, offset: int) -> Lexemes:
        """The same where the text begins at *offset*."""
        read = [
            Lexeme(kind, start + offset, end + offset, missing) for kind, start, end, missing in self.read
        ]
        unreadable = tuple((start + offset, end + offset) for start, end in self.unreadable)
        return Lexemes(tuple(read), unreadable, self.joined)


Fits = Callable[[Sequence[int]], bool]
"""Whether lexemes of these kinds may follow each other."""


def lexemes(
    lexical: LexerTables, data: bytes, start: int, end: int, *, ended_early: Fits | None = None
) -> Lexemes:
    """The lexemes of `data[start:end]`, lines of code outside strings. O(end - start).

    With *ended_early* what the line end would cut off ends before a mark, or a string before it does so that
    nothing is cut off; rather where it tells that what is read then may stand side by side.
    """
    text = data[start:end]
    if ended_early is not None:
        readings = [_Reader(lexical, text, early).read(start) for early in _early_ends(lexical, text)]
        likely = [
            found
            for found in readings
            if not found.unreadable and sum(bool(lexeme.missing) for lexeme in found.read) == 1
        ]
        if likely:
            fits = [ended_early([lexeme.kind for lexeme in found.read]) for found in likely]
            rated = [(_unmatched(lexical, found), not fit) for found, fit in zip(likely, fits, strict=True)]
            return likely[rated.index(min(rated))]
    return _Reader(lexical, text, ended_early=ended_early is not None).read(start)


def _early_ends(lexical: LexerTables, text: bytes) -> Iterator[tuple[int, int]]:
    """Where strings of *text* begin and may end early; the likelier first."""
    closers = _CLOSERS.search(text)
    for lexeme in _Reader(lexical, text).read(0).read[:_MOST_TRIED]:
        marks = [pattern.match(text, lexeme.start) for pattern in (_BEFORE_SPACE, _BEFORE_MARK)]
        ends = [mark.end() for mark in marks if mark is not None]
        ends += range(closers.start(), closers.end()) if closers is not None else ()
        yield from ((lexeme.start, end) for end in ends if lexeme.start < end < lexeme.end)


def _unmatched(lexical: LexerTables, found: Lexemes) -> int:
    """How many brackets are closed or opened alone."""
    kinds = [lexical.kinds[lexeme.kind] for lexeme in found.read]
    return sum(map(len, unmatched_brackets(lexical.brackets, kinds)))


class _Reader:
    """Reads *text*; at the first place of *early* a lexeme ends at the second."""

    def __init__(
        self,
        lexical: LexerTables,
        text: bytes,
        early: tuple[int, int] | None = None,
        *,
        ended_early: bool = False,
    ) -> None:
        self.lexical = lexical
        self.text = text
        self.early = early
        self.ended_early = ended_early
        self.content = len(text.rstrip(b"\r\n"))
        self.modes: ModeStack = lexical.unknown
        self.read_so_far: list[Lexeme] = []
        self.unreadable: list[tuple[int, int]] = []

    def read(self, offset: int) -> Lexemes:
        position, last = 0, -1
        while position < len(self.text):
            is_early = self.early is not None and position == self.early[0]
            found = None if is_early else self._match(position)
            if found is None:
                position = self._after_unreadable(position)
                continue
            kind, end = found
            if end == len(self.text) and not self.modes.in_code:
                break
            last = kind
            self._take(kind, position, end)
            position = end
        self._close_strings()
        joined = last == self.lexical.line_joiner
        return Lexemes(tuple(self.read_so_far), tuple(self.unreadable), joined).shifted(offset)

    def _match(self, position: int) -> tuple[int, int] | None:
        """The lexeme at *position*, None if it is none that a grammar uses."""
        lexical = self.lexical
        found = longest_match(lexical, lexical.dfa.starts[self.modes.mode], self.text, position)
        if found is None or found[0] == lexical.bad or not self.modes.permits(self.text[position : found[1]]):
            return None
        if (
            found[0] in lexical.mode_changers
            and self.modes.after(lexical.kinds[found[0]]) is None
            and not self.modes.in_code
        ):
            return None
        return found

    def _take(self, kind: int, start: int, end: int, missing: bytes = b"") -> None:
        lexical = self.lexical
        if kind not in lexical.skipped:
            self.read_so_far.append(Lexeme(kind, start, end, missing))
        if kind in lexical.mode_changers:
            self.modes = self.modes.after(lexical.kinds[kind]) or self.modes

    def _after_unreadable(self, position: int) -> int:
        """Where to read on if no lexeme is at *position*: one that the line end cuts off is completed."""
        if position >= self.content:
            return len(self.text)
        for end in self._ends_of_line(position):
            state = self.lexical.dfa.run(self.lexical.dfa.starts[self.modes.mode], self.text[position:end])
            missing = self._completion(state) if state else None
            if missing is not None:
                self._take(missing[0], position, end, missing[1])
                return end
        end = position + 1
        while end < self.content and self.text[end] & 0xC0 == 0x80:
            end += 1
        self.unreadable.append((position, end))
        return end

    def _ends_of_line(self, position: int) -> Iterator[int]:
        """Where a lexeme that begins at *position* and is cut off may end; the likelier first."""
        if self.early is not None and position == self.early[0]:
            yield self.early[1]
        if self.ended_early and (before := _BEFORE_MARK.match(self.text, position, self.content)):
            yield before.end()
        yield self.content

    def _completion(self, state: int) -> tuple[int, bytes] | None:
        """The kind that a lexeme read up to *state* becomes with the fewest bytes, and these bytes."""
        lexical = self.lexical
        found = [
            (len(suffix), kind, suffix)
            for kind in lexical.kinds_in(lexical.dfa.live[state])
            if kind != lexical.bad and kind not in lexical.skipped
            if (suffix := lexical.shortest_words.suffix(state, kind)) is not None
        ]
        return min(found)[1:] if found else None

    def _close_strings(self) -> None:
        """Add what closes the strings that are open at the end."""
        end = self.content
        for _ in range(_MOST_CLOSED):
            if self.modes.in_code:
                return
            closing = min(self._closings(), default=None)
            if closing is None:
                return
            self._take(closing[1], end, end, closing[2])

    def _closings(self) -> Iterator[tuple[int, int, bytes]]:
        lexical = self.lexical
        state = lexical.dfa.starts[self.modes.mode]
        for kind in lexical.mode_changers:
            after = self.modes.after(lexical.kinds[kind])
            word = lexical.shortest_words.suffix(state, kind)
            if word is not None and after is not None and after.depth < self.modes.depth:
                yield len(word), kind, word
