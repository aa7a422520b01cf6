"""Reads a line from each of the modes that a line may start in (`LexicalSpec.line_starts`).

In most languages a line has the same lexemes in every context. In others its start may be within text, such
as that between two tags. Then the line has a reading for each *line start*, by its number. A reading ends at
a line start again. Where a lexeme closes something left of the line, it may lead to several modes, and the
readings part. The text decides about most of them at once. The grammar decides about the others.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from fimlsp.lexing.interruption import checkpoint
from fimlsp.lexing.lexer_tables import LexerTables, byte_that_leaves, remembered
from fimlsp.lexing.nesting import ModeStack
from fimlsp.lexing.values import value

MOST_READINGS = 64
"""The most readings of a line; one with more counts as broken."""


@value
class Reading:
    """A way to read a line from the line start `start` to the line start `end`, with the `kinds` between."""

    start: int
    kinds: tuple[int, ...]
    end: int

    @property
    def means_nothing(self) -> bool:
        """True if the line changes nothing in this reading."""
        return not self.kinds and self.start == self.end


class Readings(NamedTuple):
    """The readings of a line.

    `size` is that of the line, `reach` the number of bytes on which all this depends.
    """

    size: int
    readings: tuple[Reading, ...]
    reach: int


class _Branch(NamedTuple):
    """A reading up to the lexeme at `position`."""

    start: int
    modes: ModeStack
    kinds: tuple[int, ...]
    position: int


def read_everywhere(
    lexical: LexerTables,
    data: bytes,
    start: int,
    end_of_stretch: Callable[[bytes, int], int],
    may_follow: Callable[[Sequence[int]], bool] | None,
) -> Readings:
    """The readings of the line of *data* at *start*, which ends where all of them are at a line start.

    A reading of several stretches is dropped as soon as *may_follow* rejects neighbouring lexemes.
    """
    branches = [_Branch(number, modes, (), start) for number, modes in enumerate(lexical.line_starts)]
    reader = _Reader(lexical, data)
    end = end_of_stretch(data, start)
    first_end = end
    while True:
        checkpoint()
        checked = may_follow if end > first_end else None
        branches = [branch for one in branches for branch in reader.read_on(one, end, checked)]
        if len(branches) > MOST_READINGS:
            branches = []
        if all(branch.position == end and reader.line_start(branch) is not None for branch in branches):
            break
        end = end_of_stretch(data, end)
    readings = dict.fromkeys(
        Reading(branch.start, branch.kinds, number)
        for branch in branches
        if (number := reader.line_start(branch)) is not None
    )
    size = end - start if readings else first_end - start
    return Readings(size, tuple(readings), max(reader.seen - start, size))


class _Reader:
    """Reads lexemes of *data*; `seen` is the end of the text that they depend on."""

    def __init__(self, lexical: LexerTables, data: bytes) -> None:
        self.lexical = lexical
        self.data = data
        self.seen = 0

    def line_start(self, branch: _Branch) -> int | None:
        """The number of the line start that *branch* is at; at the end of the text, code may end anywhere."""
        number = branch.modes.starts_line
        if number is None and branch.position == len(self.data):
            code = branch.modes.at_line_start(0)
            return None if code is None else code.starts_line
        return number

    def read_on(
        self, branch: _Branch, end: int, may_follow: Callable[[Sequence[int]], bool] | None
    ) -> Iterator[_Branch]:
        """The branches that *branch* leads to, each at the first lexeme from *end* on."""
        lexical, data = self.lexical, self.data
        number, modes, kinds, position = branch
        read = list(kinds)
        while position < end:
            lexeme = self._lexeme(modes, position)
            if lexeme is None:
                return
            kind, position = lexeme
            if kind not in lexical.skipped:
                read.append(kind)
                if may_follow is not None and not may_follow(read[-2:]):
                    return
            if kind not in lexical.mode_changers:
                continue
            name = lexical.kinds[kind]
            following = modes.after(name)
            if following is None:
                for _, other in modes.beyond(name):
                    yield from self.read_on(_Branch(number, other, tuple(read), position), end, may_follow)
                return
            modes = following
        going = _Branch(number, modes, tuple(read), position)
        if position < len(data) or self.line_start(going) is not None:
            yield going

    def _lexeme(self, modes: ModeStack, position: int) -> tuple[int, int] | None:
        """The kind and the end of the longest lexeme at *position*; None if there is none."""
        lexical, data = self.lexical, self.data
        rows, accepts = lexical.dfa.rows, lexical.dfa.accepts
        state, size = lexical.dfa.starts[modes.mode], len(data)
        longest: tuple[int, int] | None = None
        while position < size:
            following = rows[state][data[position]]
            if not following:
                break
            position += 1
            if following == state:
                position = byte_that_leaves(lexical, state)(data, position)
            state = following
            if accepts[state] >= 0:
                longest = accepts[state], position
        else:
            position = size if longest is not None and longest[1] == size else sys.maxsize
        is_lexeme = longest is not None and longest[0] != lexical.bad
        if not is_lexeme or longest is None or position > longest[1]:
            self.seen = max(self.seen, position)
        return longest if is_lexeme else None


@remembered(1 << 14)
def modes_after_reading(lexical: LexerTables, reading: Reading, modes: ModeStack) -> ModeStack | None:
    """The modes after a line that is read as *reading* in *modes*; None if that is another reading's line."""
    following: ModeStack | None = modes.at_line_start(reading.start)
    for kind in reading.kinds:
        if following is None:
            return None
        following = following.after(lexical.kinds[kind])
    return following and following.at_line_start(reading.end)
