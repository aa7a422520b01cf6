"""Missing brackets by the columns of lines: closing ones, and opening ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fimlsp.lexing.nesting import Column
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.recovery.lexemes import Lexeme, Lexemes

_SEPARATOR = ","


class Unit(NamedTuple):
    """A line, or one physical line where a line cannot be read; `column` is None if it is blank."""

    start: int
    end: int
    column: Column | None
    lexemes: Lexemes

    @property
    def read(self) -> tuple[Lexeme, ...]:
        """Its lexemes."""
        return self.lexemes.read

    @property
    def code_start(self) -> int:
        """The start of its code."""
        starts = [
            *(lexeme.start for lexeme in self.lexemes.read[:1]),
            *(start for start, _ in self.lexemes.unreadable[:1]),
        ]
        return min(starts, default=self.end)

    @property
    def code_end(self) -> int:
        """The end of its code."""
        ends = [
            *(lexeme.end for lexeme in self.lexemes.read[-1:]),
            *(end for _, end in self.lexemes.unreadable[-1:]),
        ]
        return max(ends, default=self.end)

    def followed_by(self, kind: int, text: bytes) -> Unit:
        """This line as if the lexeme *text* stood at its end."""
        end = self.lexemes.read[-1].end
        lexeme = Lexeme(kind, end, end, b" " + text)
        return self._replace(lexemes=self.lexemes._replace(read=(*self.lexemes.read, lexeme)))

    def ending_with(self, kind: int, text: bytes, separators: frozenset[int]) -> Unit:
        """This line as if the lexeme *text* stood at its end, or before the separator there."""
        *before, last = self.lexemes.read
        if not before or last.kind not in separators:
            return self.followed_by(kind, text)
        closed = self._replace(lexemes=self.lexemes._replace(read=tuple(before))).followed_by(kind, text)
        return closed._replace(lexemes=closed.lexemes._replace(read=(*closed.lexemes.read, last)))


def is_deeper(unit: Unit, other: Unit) -> bool:
    """True if *unit* is deeper than *other*, and neither is blank."""
    return bool(unit.column and other.column and unit.column.deeper_than(other.column))


def passed_over(unit: Unit) -> Unit:
    """*unit* as a line without readable lexemes, so that its column means nothing."""
    return unit._replace(column=None, lexemes=Lexemes((), ((unit.code_start, unit.code_end),), joined=False))


class _Opened(NamedTuple):
    """An open bracket: the kind of its closer, and the column of the line that opened it.

    Its content starts `content` bytes after the start of that line, -1 if on another line. It is `loose` if
    lines in it are not deeper, so that columns mean nothing there.
    """

    closing: str
    column: Column
    content: int
    loose: bool = False


class BracketLayout:
    """Reads the brackets of lines by their columns."""

    def __init__(self, tables: LanguageTables) -> None:
        self._kinds = tables.lexical.kinds
        self._brackets = tables.lexical.brackets
        self._opening_of = tables.opening_of
        self._number_of = {kind: number for number, kind in enumerate(self._kinds)}
        self.separators = frozenset(n for kind, n in self._number_of.items() if kind == _SEPARATOR)
        self._words = tables.lexical.shortest_words
        self._start = tables.lexical.dfa.starts[tables.lexical.start.mode]

    def starts_with_closer(self, unit: Unit) -> bool:
        """True if *unit* starts with a closing bracket."""
        return bool(unit.read) and self._kinds[unit.read[0].kind] in self._opening_of

    def left_open(self, units: Iterable[Unit]) -> list[tuple[str, bool]]:
        """The closers of the brackets that are open after *units*, outermost first.

        Each comes with True if the bracket was the last lexeme of its line. A closer needs an open bracket of
        its kind. It does not count for an outer one in a line that is deeper than that of an inner one.
        """
        opened: list[tuple[str, bool, Column | None]] = []
        for unit in units:
            for lexeme in unit.read:
                kind = self._kinds[lexeme.kind]
                if kind in self._brackets:
                    opened.append((self._brackets[kind], lexeme is unit.read[-1], unit.column))
                elif kind in self._opening_of:
                    del opened[self._closed_by(kind, unit.column, opened) :]
        return [(closing, is_last) for closing, is_last, _ in opened]

    def _closed_by(
        self, kind: str, column: Column | None, opened: list[tuple[str, bool, Column | None]]
    ) -> int:
        """The number of brackets that stay open after a closer of *kind* in a line of *column*."""
        for number in reversed(range(len(opened))):
            closing, _, outer = opened[number]
            if closing == kind:
                return number
            if column is not None and outer is not None and column.deeper_than(outer):
                break
        return len(opened)

    def closed(self, units: Sequence[Unit], before: Sequence[Unit] = ()) -> tuple[list[Unit], int]:
        """*units* with every bracket closed where lines stop being deeper; and the number of closers added.

        A bracket ends before a line that is not deeper than its own, or aligned with the content of a bracket
        around it. A line that starts with a closing bracket does not end others. The lines *before* are of
        the same logical line.
        """
        closed_units: list[Unit] = []
        opened: list[_Opened] = []
        for unit in before:
            self._read_known(opened, unit)
        count = 0
        for unit in units:
            while self._is_left(opened, unit) and closed_units:
                last = next((n for n in reversed(range(len(closed_units))) if closed_units[n].read), None)
                if last is None:
                    break
                kind, text = self.closer(opened.pop().closing)
                closed_units[last] = closed_units[last].ending_with(kind, text, self.separators)
                count += 1
            closed_units.append(unit)
            self._read(opened, unit)
        return closed_units, count

    def left_before(self, units: Iterable[Unit], unit: Unit, *, outermost: bool = False) -> list[int]:
        """The kinds that close the brackets open after *units* that *unit* is outside of, innermost first.

        It is in the first of them, unless that may be left as well, the *outermost* too.
        """
        opened = self._opened_by(units)
        kinds: list[int] = []
        while self._is_left(opened, unit, least=1 if outermost else 2):
            kinds.append(self._number_of[opened.pop().closing])
        return kinds

    def deeper_than(self, units: Iterable[Unit], column: Column) -> list[int]:
        """The kinds that close brackets opened by *units* in lines deeper than *column*, innermost first.

        Brackets within others close also before a line that is as deep, unless they end theirs.
        """
        opened = self._opened_by(units)
        kinds: list[int] = []
        while opened and (opened[-1].column.deeper_than(column) or self._is_beside(opened, column)):
            kinds.append(self._number_of[opened.pop().closing])
        return kinds

    def as_deep_as(self, units: Iterable[Unit], column: Column) -> int:
        """The number of the innermost brackets open after *units* whose lines are not shallower."""
        opened = self._opened_by(units)
        shallower = (n for n, bracket in enumerate(reversed(opened)) if column.deeper_than(bracket.column))
        return next(shallower, len(opened))

    def _is_beside(self, opened: Sequence[_Opened], column: Column) -> bool:
        """True if the last of *opened* is within another, in a line of *column* that has its content."""
        return len(opened) > 1 and opened[-1].column == column and opened[-1].content >= 0

    def _opened_by(self, units: Iterable[Unit]) -> list[_Opened]:
        opened: list[_Opened] = []
        for unit in units:
            self._read_known(opened, unit)
        return opened

    def _read_known(self, opened: list[_Opened], unit: Unit) -> None:
        """As `_read`, if *unit* is known to be in the brackets *opened*, whatever its column."""
        if unit.column is not None and not self.starts_with_closer(unit):
            for number, bracket in enumerate(opened):
                if not unit.column.deeper_than(bracket.column):
                    opened[number] = bracket._replace(loose=True)
        self._read(opened, unit)

    def closer(self, closing: str) -> tuple[int, bytes]:
        """The number of the kind *closing*, and its text."""
        number = self._number_of[closing]
        return number, self._word(number)

    def text_of(self, kinds: Iterable[int]) -> bytes:
        """Brackets of *kinds* as text."""
        return b"".join(self._word(kind) for kind in kinds)

    def _is_left(self, opened: list[_Opened], unit: Unit, least: int = 2) -> bool:
        if len(opened) < least or unit.column is None or opened[-1].loose:
            return False
        if self.starts_with_closer(unit):
            return opened[-1].column.deeper_than(unit.column)
        contents = [bracket.content for bracket in opened]
        is_aligned_outside = unit.column.tabs1 in contents and unit.column.tabs1 != contents[-1]
        return is_aligned_outside or not unit.column.deeper_than(opened[-1].column)

    def _read(self, opened: list[_Opened], unit: Unit) -> None:
        """Read the brackets of *unit*; a closer also ends those opened in its line within its bracket."""
        before, read = len(opened), unit.read
        for number, lexeme in enumerate(read, 1):
            kind = self._kinds[lexeme.kind]
            if kind in self._brackets and unit.column is not None:
                content = read[number].start - unit.start if number < len(read) else -1
                opened.append(_Opened(self._brackets[kind], unit.column, content))
            elif kind in self._opening_of and opened and opened[-1].closing == kind:
                opened.pop()
                before = min(before, len(opened))
            elif kind in self._opening_of:
                own = [n for n in range(before, len(opened)) if opened[n].closing == kind]
                del opened[own[-1] if own else len(opened) :]

    def closes_over_another(self, unit: Unit) -> bool:
        """True if a closing bracket in *unit* does not match the innermost one that is open there."""
        opened: list[str] = []
        for lexeme in unit.read:
            kind = self._kinds[lexeme.kind]
            if kind in self._brackets:
                opened.append(self._brackets[kind])
            elif kind in self._opening_of and opened and opened.pop() != kind:
                return True
        return False

    def opened(self, units: Sequence[Unit]) -> list[Unit] | None:
        """*units* with an opener added for the first bracket that they only close; None if there is none.

        It is added at the end of the last line with the column of the closing one, or else of the first.
        """
        opened: list[str] = []
        for number, unit in enumerate(units):
            for lexeme in unit.read:
                kind = self._kinds[lexeme.kind]
                if kind in self._brackets:
                    opened.append(self._brackets[kind])
                elif opened and opened[-1] == kind:
                    opened.pop()
                elif kind in self._opening_of and number:
                    return self._with_opener(units, number, self._opening_of[kind])
        return None

    def opened_alike(self, units: Sequence[Unit]) -> list[Unit] | None:
        """*units* with openers at lines that leave none open, but have a closer in their column.

        None if there are no such lines.
        """
        changed = list(units)
        for number, unit in enumerate(units):
            if not self.starts_with_closer(unit):
                continue
            before = [n for n in range(number) if units[n].read and not is_deeper(units[n], unit)]
            opening = before[-1] if before else number
            is_deep = any(is_deeper(between, unit) for between in units[opening + 1 : number])
            if is_deep and units[opening].column == unit.column and not self.left_open((units[opening],)):
                changed[opening] = self._with(
                    units[opening], self._opening_of[self._kinds[unit.read[0].kind]]
                )
        return changed if changed != list(units) else None

    def _with_opener(self, units: Sequence[Unit], number: int, kind: str) -> list[Unit] | None:
        column = units[number].column
        alike = [n for n in range(number) if units[n].column == column and units[n].read]
        opening = alike[-1] if alike and self.starts_with_closer(units[number]) else 0
        if not units[opening].read:
            return list(units)
        if opening in alike and self.left_open((units[opening],)):
            return None  # a bracket is open there, so that it is closed twice
        return [*units[:opening], self._with(units[opening], kind), *units[opening + 1 :]]

    def followed_by(self, units: list[Unit], kinds: Iterable[int], *, inside: bool = False) -> list[Unit]:
        """*units* with brackets of *kinds* at the end of the last one with code.

        If more brackets are open, or all of them are *inside* others, they stand before a separator at the
        end.
        """
        changed, kinds = list(units), list(kinds)
        is_inside = inside or len(self.left_open(units)) > len(kinds)
        separators = self.separators if is_inside else frozenset[int]()
        last = max((number for number, unit in enumerate(units) if unit.read), default=None)
        for kind in kinds:
            if last is None:
                break
            changed[last] = changed[last].ending_with(kind, self._word(kind), separators)
        return changed

    def with_opener(self, units: Sequence[Unit], kind: str) -> list[Unit]:
        """*units* with the bracket *kind* opened at the end of the first."""
        return [self._with(units[0], kind), *units[1:]]

    def _with(self, unit: Unit, kind: str) -> Unit:
        number = self._number_of[kind]
        return unit.followed_by(number, self._word(number))

    def _word(self, number: int) -> bytes:
        text = self._words.suffix(self._start, number)
        assert text is not None
        return text
