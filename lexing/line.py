"""Reads known text as lines of lexemes, independent of each other.

A line here is one physical line, or several that a multi-line string or a line joiner connects. Brackets do
not connect lines, so a line has the same lexemes in every context that is ordinary code at its start. That
makes lines the unit of incremental work: a line is read again only when its own text changes.

In a language with separators a line may also end after one of them. So a line consists of *stretches*: text
up to the next line end or separator, even inside a lexeme. The end of a stretch depends on the text there
alone, not on the start of the reading. Most lines are one stretch; a string may connect several.

In some languages the start of a line may be within text, such as that between two tags
(`LexicalSpec.line_starts`). Then the line has a reading for each *line start*, by its number. A reading ends
at a line start again. Where a lexeme closes something left of the line, it may lead to several modes, and the
readings part. The text decides about most of them at once. The grammar decides about the others.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from fimlsp.lexing.bounded_dict import MEGABYTE, BoundedDict, WeighedDict
from fimlsp.lexing.interruption import checkpoint
from fimlsp.lexing.lexer_state import LexerState, Symbol, start_of_line
from fimlsp.lexing.lexer_tables import LexerTables, byte_that_leaves, closing_delimiter, remembered
from fimlsp.lexing.nesting import MARGIN, Column, ModeStack
from fimlsp.lexing.values import value

MOST_JOINED = 50
"""The most lines that brackets join into one."""

MayFollow = Callable[[Sequence[int]], bool]
"""Given a sequence of lexeme kinds, returns True if all neighbours in it may be adjacent."""

_CHUNK = 1024
_MOST_READINGS = 4_000
"""The different readings of lines that are shared by lines with other names and literals."""
_LINE_END = re.compile(rb"\r\n|\n|\r")
_LINE_ENDS = b"\r\n"


@value(eq=False)
class Line:
    """The lexemes of one line.

    Lines are compared by identity.

    Attributes:
        size: its length in bytes with the line end.
        kinds: the kinds of its lexemes that the grammar sees.
        column: its indentation; None if it is blank.
        closers: the brackets that it closes but does not open.
        openers: the brackets that it leaves open, as closing brackets, outermost first.
        broken: True if it is lexically invalid; then its other fields are empty.
        reach: the number of bytes from its start on that all this depends on. If it is 0, that is the first
            stretch alone.
        readings: in a language with several line starts, the ways to read it. Of these, `kinds` is then the
            first from code to code.
    """

    size: int
    kinds: tuple[int, ...] = ()
    column: Column | None = None
    closers: tuple[str, ...] = ()
    openers: tuple[str, ...] = ()
    broken: bool = False
    reach: int = 0
    readings: tuple[Reading, ...] = ()

    @property
    def blank(self) -> bool:
        """True if the line has no lexeme."""
        return self.column is None and not self.broken

    def from_line_start(self, number: int) -> Line:
        """The same line with the readings from one line start."""
        readings = tuple([one for one in self.readings if one.start == number])
        blank = all(one.means_nothing for one in readings)
        return Line(self.size, (), None if blank else MARGIN, reach=self.reach, readings=readings)

    @property
    def weight(self) -> int:
        """Its approximate size in memory, in bytes."""
        return 300 + 8 * len(self.kinds) + sum([100 + 8 * len(one.kinds) for one in self.readings])


def joined(lines: Sequence[Line]) -> Line:
    """*lines* as a single line; the last of them closes the brackets that the others open."""
    if len(lines) == 1:
        return lines[0]
    kinds = tuple([kind for line in lines for kind in line.kinds])
    size = sum([line.size for line in lines])
    return Line(size, kinds, lines[0].column, reach=size)


def n_joined(lines: Sequence[Line]) -> int:
    """The number of last *lines* that brackets join; 1 if not all are opened there, or there are too many."""
    unmatched = 0
    for count, line in enumerate(reversed(lines[-MOST_JOINED:]), 1):
        unmatched -= len(line.openers)
        if line.broken or unmatched < 0:
            break
        unmatched += len(line.closers)
        if not unmatched:
            return count
    return 1


class LineReader:
    """Reads lines, and caches them by their text; of long ones, the last with each first stretch."""

    __slots__ = (
        "_broken",
        "_ends",
        "_joined",
        "_last_bytes",
        "_lexical",
        "_lines",
        "_long_lines",
        "_readings",
        "_stretch",
    )

    _LONGEST = 50_000

    def __init__(self, lexical: LexerTables) -> None:
        self._lexical = lexical
        self._ends = _LINE_ENDS + lexical.separators
        self._last_bytes = bytes(end for end in self._ends if _may_end_line(lexical, end))
        self._stretch = _pattern_of_stretches(lexical.separators) if lexical.separators else None
        self._lines = WeighedDict[bytes, Line](8 * MEGABYTE, lambda text, line: len(text) + line.weight)
        self._long_lines = WeighedDict[bytes, tuple[bytes, Line]](
            2 * MEGABYTE, lambda text, found: len(text) + len(found[0]) + found[1].weight
        )
        self._broken = WeighedDict[tuple[bytes, MayFollow | None], tuple[bytes, Line]](
            2 * MEGABYTE, lambda key, found: len(key[0]) + len(found[0]) + found[1].weight
        )
        self._readings: BoundedDict[tuple[Reading, ...], tuple[Reading, ...]] = BoundedDict(_MOST_READINGS)
        self._joined = WeighedDict[tuple[Line, ...], Line](
            2 * MEGABYTE, lambda lines, line: line.weight + sum([line.weight for line in lines])
        )

    def lines(self, data: bytes, start: int, may_follow: MayFollow | None = None) -> Iterator[Line]:
        """The lines of *data* from *start* on, each read on demand, as in `read`."""
        known = self._lines.get
        while start < len(data):
            for text in self._stretches(data, start):
                line = known(text) or self.read(data, start, may_follow)
                start += line.size
                yield line
                if line.size != len(text):
                    break

    def joined(self, lines: Sequence[Line]) -> Line:
        """As `joined`; equal lines give the same object."""
        key = tuple(lines)
        line = self._joined.get(key)
        if line is None:
            line = self._joined[key] = joined(key)
        return line

    def end_of_stretch(self, data: bytes, start: int) -> int:
        """The first possible end of the line that starts at *start*."""
        if self._stretch is None:
            return physical_end(data, start)
        stretch = self._stretch.match(data, start)
        return stretch.end() if stretch else len(data)

    def start_of_stretch(self, data: bytes, position: int) -> int:
        """The start of the stretch with *position*. O(its length)."""
        start = max(data.rfind(bytes((end,)), 0, position) for end in self._ends) + 1
        if 0 < start == position:
            before = self.start_of_stretch(data, position - 1)
            return before if self.end_of_stretch(data, before) > position else start
        return start

    def may_end(self, data: bytes, position: int) -> bool:
        """True if a line may end at *position*, judging by the bytes before it."""
        return data[position - 1] in self._last_bytes

    def _stretches(self, data: bytes, start: int) -> list[bytes]:
        """Some stretches from *start* on, at least one."""
        checkpoint()
        chunk = data[start : start + _CHUNK]
        texts = chunk.splitlines(keepends=True) if self._stretch is None else self._stretch.findall(chunk)
        if start + len(chunk) < len(data):
            texts = texts[:-1]  # the last stretch may be longer
        return texts or [data[start : self.end_of_stretch(data, start)]]

    def read(self, data: bytes, start: int, may_follow: MayFollow | None = None) -> Line:
        """The line of *data* that starts at *start*. O(line).

        A line of several stretches counts as broken as soon as *may_follow* rejects neighbouring lexemes.
        Otherwise, after a quote that was meant to close a string, it would be read up to the end of the text.
        """
        end = self.end_of_stretch(data, start)
        text = data[start:end]
        line = self._lines.get(text)
        if line is not None:
            return line
        for long in (self._long_lines.get(text), self._broken.get((text, may_follow))):
            if long is not None and data.startswith(long[0], start):
                return long[1]
        if self._lexical.line_starts:
            line = self._read_everywhere(data, start, end, may_follow)
        else:
            lexer = start_of_line(self._lexical, self._lexical.unknown, None)
            line = self._read(data, start, end, lexer, may_follow)
        line_end = start + line.size
        # The end of the text may cut off a lexeme that continues after the same stretch elsewhere.
        is_cut_off = line_end == len(data) and line_end > 0 and data[line_end - 1] in self._ends
        looks_further = line.reach > line.size
        if not line.broken and not is_cut_off and not looks_further:
            self._remember(text, data[start:line_end], line)
        elif line.broken and 0 < line.reach <= self._LONGEST:
            self._remember_broken((text, may_follow), data[start : start + line.reach + 1], line)
        return line

    def _read_everywhere(self, data: bytes, start: int, end: int, may_follow: MayFollow | None) -> Line:
        """As `_read`, from each line start."""
        size, readings, reach = read_everywhere(self._lexical, data, start, self.end_of_stretch, may_follow)
        reach = 0 if reach <= end - start else reach
        if not readings:
            return Line(end - start, broken=True, reach=reach)
        shared = self._readings.get(readings)
        if shared is None:
            shared = self._readings[readings] = readings
        kinds = next((one.kinds for one in shared if not one.start and not one.end), ())
        means_nothing = {one.start for one in shared if one.means_nothing}
        blank = len(means_nothing) == len(shared) == len(self._lexical.line_starts)
        return Line(size, kinds, None if blank else MARGIN, reach=reach, readings=shared)

    def _remember(self, text: bytes, whole: bytes, line: Line) -> None:
        """Remember that a line whose first stretch is *text* is *line*, in all *whole*."""
        if len(text) == len(whole):
            self._lines[text] = line
        elif whole.endswith(b"\n") and len(whole) <= self._LONGEST:  # nothing that follows belongs to it
            self._long_lines[text] = whole, line

    def _remember_broken(self, key: tuple[bytes, MayFollow | None], text: bytes, line: Line) -> None:
        """Remember a broken line of several stretches, unless the end of *text* may belong to the last."""
        whole = text[: line.reach]
        if len(text) > len(whole) and not whole.endswith(b"\r"):
            self._broken[key] = whole, line

    def _read(
        self, data: bytes, start: int, end: int, lexer: LexerState, may_follow: MayFollow | None
    ) -> Line:
        lexical = self._lexical
        first_end, position, closing = end, start, start  # the string that is open closes before *closing*
        symbols: list[Symbol] = []
        while True:
            checkpoint()
            step = lexer.feed(data[position:end])
            reach = max(end, closing) - start if end > first_end else 0
            if step is None:
                return Line(first_end - start, broken=True, reach=reach)
            lexer = step.lexer
            symbols += step.symbols
            if (
                may_follow
                and end > first_end
                and not may_follow(_kinds(lexical, symbols[-len(step.symbols) - 1 :]))
            ):
                return Line(first_end - start, broken=True, reach=max(end, closing) - start)
            ended = lexer.accepted == lexical.line_end
            if lexer.modes.in_code and ended:
                return _line(lexical, end - start, symbols, end > first_end)
            if lexer.state in lexical.separated and lexer.modes.in_code:
                last = lexer.finish()
                if last is None:
                    return Line(first_end - start, broken=True, reach=reach)
                return _line(lexical, end - start, symbols + last.symbols, end > first_end)
            if closing <= end and (delimiter := closing_delimiter(lexical, lexer.state)) is not None:
                closing_at = data.find(delimiter, end)
                if closing_at < 0:
                    return Line(first_end - start, broken=True, reach=sys.maxsize)
                closing = closing_at + len(delimiter)
            if end == len(data):
                last = lexer.close()
                if last is None or not last.lexer.modes.in_code or lexer.accepted == lexical.line_joiner:
                    return Line(first_end - start, broken=True, reach=sys.maxsize)
                return _line(lexical, end - start, symbols + last.symbols, end > first_end)
            position, end = end, self.end_of_stretch(data, end)


def _may_end_line(lexical: LexerTables, byte: int) -> bool:
    """True if a line may end directly after *byte*; a carriage return may be white space instead."""
    following = {row[byte] for row in lexical.dfa.rows}
    return any(
        state in lexical.separated or lexical.dfa.accepts[state] == lexical.line_end for state in following
    )


def physical_end(data: bytes, start: int) -> int:
    """The end of the physical line that starts at *start*, its line end included."""
    line_end = _LINE_END.search(data, start)
    return line_end.end() if line_end else len(data)


def has_line_end(data: bytes, start: int, end: int) -> bool:
    """True if a line ends within `data[start:end]`."""
    return data.find(b"\n", start, end) >= 0 or data.find(b"\r", start, end) >= 0


def _pattern_of_stretches(separators: bytes) -> re.Pattern[bytes]:
    """A stretch; a line end directly after a separator belongs to it."""
    marks = re.escape(separators)
    other = rb"[^\r\n%s]" % marks
    return re.compile(rb"%s*(?:[%s](?:\r\n|\n|\r)?|\r\n|\n|\r)|%s+\Z" % (other, marks, other))


def _line(lexical: LexerTables, size: int, symbols: list[Symbol], is_long: bool) -> Line:
    kinds = _kinds(lexical, symbols)
    column = next((symbol for symbol in symbols if isinstance(symbol, Column)), MARGIN if kinds else None)
    closers, openers = unmatched_brackets(lexical.brackets, [lexical.kinds[kind] for kind in kinds])
    return Line(size, kinds, column, closers, openers, reach=size if is_long else 0)


def _kinds(lexical: LexerTables, symbols: Iterable[Symbol]) -> tuple[int, ...]:
    return tuple(s for s in symbols if not isinstance(s, Column) and s != lexical.newline)


def unmatched_brackets(
    brackets: Mapping[str, str], lexemes: Iterable[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The closing brackets of *lexemes* that nothing here opens, and those that nothing here closes.

    *brackets* maps opening brackets to closing ones.
    """
    closing = frozenset(brackets.values())
    closers: list[str] = []
    openers: list[str] = []
    for lexeme in lexemes:
        if lexeme in brackets:
            openers.append(brackets[lexeme])
        elif lexeme in closing:
            if openers:
                openers.pop()
            else:
                closers.append(lexeme)
    return tuple(closers), tuple(openers)


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
                    self.seen = max(self.seen, position + (position < end))
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
                seen = position + 1
                break
            position += 1
            if following == state:
                position = byte_that_leaves(lexical, state)(data, position)
            state = following
            if accepts[state] >= 0:
                longest = accepts[state], position
        else:
            seen = position = size if longest is not None and longest[1] == size else sys.maxsize
        is_lexeme = longest is not None and longest[0] != lexical.bad
        if not is_lexeme or longest is None or position > longest[1]:
            self.seen = max(self.seen, seen)
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
