"""Lexemes of broken lines, and the parts of the cursor's line that no middle changes.

Bytes that are no lexeme are passed over, and strings end with their line. A string that its line cuts off may
also have ended early, before a mark that mostly follows strings. The line must then end as code does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from fimlsp.lexing.lexer_state import Margin
from fimlsp.lexing.lexer_tables import LexerTables, longest_match, remembered
from fimlsp.lexing.line import unmatched_brackets
from fimlsp.lexing.nesting import Column, ModeStack

_MOST_CLOSED = 12
_MOST_TRIED = 12
_LONGEST_KNOWN, _MOST_KNOWN = 1_000, 1_000
_MOST_LINES = 16
_CLOSERS = re.compile(rb"(?<![,;:)\]}])[,;:)\]}]+(?=\s*\Z)")
_BEFORE_SPACE = re.compile(rb"\S.*?(?=[,;:][ \t])", re.DOTALL)
_MARKS = frozenset(b",;:)]}")
_AFTER_STRING = frozenset(b",:()[]{}0123456789'\"")
_BEFORE_MARK = re.compile(rb"\S[^,;:)\]}]+(?=[,;:)\]}](?:.*[,:()\[\]{}'\x22])?\s*\Z)", re.DOTALL)
_INDENTATION = re.compile(rb"[ \t\f]*")


class Lexeme(NamedTuple):
    """A lexeme from `start` to `end`; if it was cut off, the bytes `missing` complete it to its kind."""

    kind: int
    start: int
    end: int
    missing: bytes = b""


class Lexemes(NamedTuple):
    """The lexemes of a text, and the spans that are none; `joined` if the text ends with a line joiner.

    `modes` are those of the lexer after the text, if it has been read.
    """

    read: tuple[Lexeme, ...]
    unreadable: tuple[tuple[int, int], ...]
    joined: bool
    modes: ModeStack | None = None

    def shifted(self, offset: int) -> Lexemes:
        """The same for a text that starts at *offset*."""
        if not offset:
            return self
        read = [
            Lexeme(kind, start + offset, end + offset, missing) for kind, start, end, missing in self.read
        ]
        unreadable = tuple((start + offset, end + offset) for start, end in self.unreadable)
        return Lexemes(tuple(read), unreadable, self.joined, self.modes)


Fits = Callable[[Sequence[int]], bool]
"""True if lexemes of these kinds may follow each other."""


def lexemes(
    lexical: LexerTables,
    data: bytes,
    start: int,
    end: int,
    *,
    ended_early: Fits | None = None,
    modes: ModeStack | None = None,
) -> Lexemes:
    """The lexemes of `data[start:end]`, lines of code outside strings, or read in *modes*. O(end - start).

    With *ended_early* a string that the line end would cut off ends before a mark, or one before it does.
    Ends after which the lexemes fit together are preferred.
    """
    text = data[start:end]
    if ended_early is not None:
        readings = [
            _Reader(lexical, text, early).read().shifted(start) for early in _early_ends(lexical, text)
        ]
        likely = [
            reading
            for reading in readings
            if not reading.unreadable and sum(bool(lexeme.missing) for lexeme in reading.read) == 1
        ]
        if likely:
            fits = [ended_early([lexeme.kind for lexeme in reading.read]) for reading in likely]
            rated = [
                (_count_unmatched(lexical, reading), not fit)
                for reading, fit in zip(likely, fits, strict=True)
            ]
            return likely[rated.index(min(rated))]
    is_early = ended_early is not None
    if len(text) > _LONGEST_KNOWN:
        return _Reader(lexical, text, ended_early=is_early, modes=modes).read().shifted(start)
    return _known(lexical, text, modes, ended_early=is_early).shifted(start)


@remembered(_MOST_KNOWN)
def _known(lexical: LexerTables, text: bytes, modes: ModeStack | None, *, ended_early: bool) -> Lexemes:
    """The lexemes of a short *text*: the candidates for one cursor read the same line many times."""
    return _Reader(lexical, text, ended_early=ended_early, modes=modes).read()


def may_end_early(text: bytes) -> bool:
    """True if the string at the start of *text* may have ended before a mark in it."""
    return not _MARKS.isdisjoint(text[1:])


def _early_ends(lexical: LexerTables, text: bytes) -> Iterator[tuple[int, int]]:
    """The starts of strings in *text* with their possible early ends; the likelier first."""
    closers = _CLOSERS.search(text)
    shown = text.rstrip()
    in_code = len(shown) if not _AFTER_STRING.isdisjoint(shown[-1:]) else 0
    for lexeme in _known(lexical, text, None, ended_early=False).read[:_MOST_TRIED]:
        marks = [_BEFORE_SPACE.match(text, lexeme.start, in_code), _BEFORE_MARK.match(text, lexeme.start)]
        ends = [mark.end() for mark in marks if mark is not None]
        ends += range(closers.start(), closers.end()) if closers is not None else ()
        yield from ((lexeme.start, end) for end in ends if lexeme.start < end < lexeme.end)


def _count_unmatched(lexical: LexerTables, reading: Lexemes) -> int:
    """The number of brackets without a partner."""
    kinds = [lexical.kinds[lexeme.kind] for lexeme in reading.read]
    return sum(map(len, unmatched_brackets(lexical.brackets, kinds)))


def has_comment(data: bytes, read: Iterable[Lexeme]) -> bool:
    """True if *data*, whose lexemes are *read*, has a comment. One with a line end may be a lexeme."""
    texts = [data[lexeme.start : lexeme.end] for lexeme in read]
    code = sum(len(b"".join(text.split())) for text in texts)
    return code < len(b"".join(data.split())) or any(b"\n" in text and text.strip() for text in texts)


class _Reader:
    """Reads *text*; the lexeme at the first position of *early* ends at the second."""

    def __init__(
        self,
        lexical: LexerTables,
        text: bytes,
        early: tuple[int, int] | None = None,
        *,
        ended_early: bool = False,
        modes: ModeStack | None = None,
    ) -> None:
        self.lexical = lexical
        self.text = text
        self.early = early
        self.ended_early = ended_early
        self.content = len(text.rstrip(b"\r\n"))
        self.modes: ModeStack = lexical.unknown if modes is None else modes
        self.read_so_far: list[Lexeme] = []
        self.unreadable: list[tuple[int, int]] = []

    def read(self) -> Lexemes:
        position, last = 0, -1
        while position < len(self.text):
            is_early = self.early is not None and position == self.early[0]
            match = None if is_early else self._match(position)
            if match is None:
                position = self._after_unreadable(position)
                continue
            kind, end = match
            if end == len(self.text) and not self._ends_at(kind):
                break
            last = kind
            self._take(kind, position, end)
            position = end
        self._close_strings()
        joined = last == self.lexical.line_joiner
        return Lexemes(tuple(self.read_so_far), tuple(self.unreadable), joined, self.modes)

    def _ends_at(self, kind: int) -> bool:
        """True if a lexeme of *kind* ends where the text ends; text in a string may go on there."""
        lexical = self.lexical
        return self.modes.in_code or (bool(lexical.line_starts) and kind in lexical.mode_changers)

    def _match(self, position: int) -> tuple[int, int] | None:
        """The kind and the end of the lexeme at *position*; None if no grammar uses such a lexeme."""
        lexical = self.lexical
        match = longest_match(lexical, lexical.dfa.starts[self.modes.mode], self.text, position)
        if match is None or match[0] == lexical.bad or not self.modes.permits(self.text[position : match[1]]):
            return None
        if (
            match[0] in lexical.mode_changers
            and self.modes.after(lexical.kinds[match[0]]) is None
            and not self.modes.in_code
        ):
            return None
        return match

    def _take(self, kind: int, start: int, end: int, missing: bytes = b"") -> None:
        lexical = self.lexical
        if kind not in lexical.skipped:
            self.read_so_far.append(Lexeme(kind, start, end, missing))
        if kind in lexical.mode_changers:
            self.modes = self.modes.after(lexical.kinds[kind]) or self.modes

    def _after_unreadable(self, position: int) -> int:
        """The next position after an unreadable one; a lexeme that the line end cuts off is completed."""
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
        """The possible ends of a lexeme at *position* that is cut off; the likelier first."""
        if self.early is not None and position == self.early[0]:
            yield self.early[1]
        if self.ended_early and (before := _BEFORE_MARK.match(self.text, position, self.content)):
            yield before.end()
        yield self.content

    def _completion(self, state: int) -> tuple[int, bytes] | None:
        """The kind that a lexeme read up to *state* becomes with the fewest bytes, and these bytes."""
        lexical = self.lexical
        completions = [
            (len(suffix), kind, suffix)
            for kind in lexical.kinds_in(lexical.dfa.live[state])
            if kind != lexical.bad and kind not in lexical.skipped
            if (suffix := lexical.shortest_words.suffix(state, kind)) is not None
        ]
        return min(completions)[1:] if completions else None

    def _close_strings(self) -> None:
        """Add lexemes that close the strings open at the end."""
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


class CursorLine(NamedTuple):
    """The column of the cursor's line, and the kinds of closing brackets at its start.

    `column` is None if it is unknown, as on an empty line. `first` is the kind of its first lexeme, None if
    the cursor may change that. `opens` are the kinds of the brackets that the line leaves open, unless the
    middle closes them. `may_open` is True if it ends at the cursor, so that the middle may open more.
    """

    column: Column | None = None
    closes: tuple[int, ...] = ()
    first: int | None = None
    opens: tuple[int, ...] = ()
    may_open: bool = True


@remembered(_MOST_LINES)  # a line may be long
def cursor_line(lexical: LexerTables, before: bytes, after: bytes) -> CursorLine:
    """The line with *before* left of the cursor and *after* right of it, if a middle starts with code."""
    lead = _INDENTATION.match(before or after)
    assert lead is not None
    code = before[lead.end() :] or after.lstrip()
    blank = CursorLine(column_of(lead.group()) if lead.group() else None)
    if not code.strip():
        return blank
    closers = lexical.brackets.values()
    start, position = lexical.dfa.starts[lexical.unknown.mode], 0
    closes: list[int] = []
    first: int | None = None
    while (match := longest_match(lexical, start, code, position)) is not None:
        kind, position = match
        if kind in lexical.skipped and not closes:
            return CursorLine() if before.strip() else blank
        if lexical.kinds[kind] not in closers:
            first = kind if not closes and lead.end() + position < len(before) else None
            break
        closes.append(kind)
    opens = _left_open(lexical, before + b" " + after)
    return CursorLine(column_of(lead.group()), tuple(closes), first, opens, may_open=not after.strip())


def _left_open(lexical: LexerTables, text: bytes) -> tuple[int, ...]:
    """The kinds of the brackets that *text* leaves open."""
    opened: list[int] = []
    for lexeme in lexemes(lexical, text, 0, len(text)).read:
        kind = lexical.kinds[lexeme.kind]
        if kind in lexical.brackets:
            opened.append(lexeme.kind)
        elif opened and kind == lexical.brackets[lexical.kinds[opened[-1]]]:
            opened.pop()
    return tuple(opened)


def column_of(spaces: bytes) -> Column:
    """The column after the indentation *spaces*."""
    return Margin().after(spaces).counted


def indentation_at(data: bytes, start: int) -> bytes:
    """The indentation of the line at *start*."""
    lead = _INDENTATION.match(data, start)
    assert lead is not None
    return lead.group()
