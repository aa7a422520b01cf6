"""The Earley sets before the physical lines around a cursor, with additions after them.

Up to the first line that cannot be read these are the left contexts of the document. From there on lines are
read one after the other, and one that does not fit is passed over, as is the cursor's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fimlsp.quotient.contexts.document import ContextDocument
from fimlsp.quotient.grammar.earley import EarleySet
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.recovery.lines_around import PhysicalLine


class Word(NamedTuple):
    """A text to add, and its kinds."""

    kinds: tuple[str, ...]
    text: bytes


def shortest_word(tables: LanguageTables, name: str) -> bytes | None:
    """The shortest lexeme of the kind *name* at the start of a line of code; None if there is none."""
    lexical = tables.lexical
    return lexical.shortest_words.suffix(lexical.dfa.starts[lexical.start.mode], lexical.kinds.index(name))


class LineCharts:
    """The sets before *lines*, with the words *added* after each.

    Both may change; then `forget` is called.
    """

    def __init__(
        self, document: ContextDocument, lines: Sequence[PhysicalLine], added: Mapping[int, Sequence[Word]]
    ) -> None:
        self._document = document
        self.tables = document.tables
        self._kinds = document.tables.lexical.kinds
        self._lines = lines
        self._added = added
        self._n_readable = self._count_readable()
        self._charts = [self._context_before(self._n_readable)]  # before that line, and those after it

    def is_readable(self, number: int) -> bool:
        """True if line *number* can be read as it is, as can all before it."""
        return number < self._n_readable

    def before(self, number: int) -> EarleySet | None:
        """The Earley set before line *number*, after all additions; None if it is unknown."""
        if number < self._n_readable:
            return self._context_before(number)
        while self._n_readable + len(self._charts) <= number:
            self._charts.append(self._chart_after(self._n_readable + len(self._charts) - 1))
        return self._charts[number - self._n_readable]

    def after(self, chart: EarleySet | None, line: PhysicalLine) -> EarleySet | None:
        """The set after *line*, which comes after *chart*; None if it cannot be read there."""
        kinds = [lexeme.kind for lexeme in line.read]
        return chart and self.tables.forward.read(chart, self.tables.terminals(kinds))

    def with_added(self, chart: EarleySet | None, names: Sequence[str]) -> EarleySet | None:
        """The set after *names*, added at the end of a line, and after the line end if that is a lexeme."""
        after = self.read(chart, names)
        if after is None or not names or (terminator := self._terminator(names[-1])) is None:
            return after
        return self.tables.forward.read(after, self.tables.terminals([terminator])) or after

    def read(self, chart: EarleySet | None, names: Sequence[str]) -> EarleySet | None:
        """The set after lexemes of the kinds *names*; None if they cannot be read after *chart*."""
        kinds = [self._kinds.index(name) for name in names]
        return chart and self.tables.forward.read(chart, self.tables.terminals(kinds))

    def fitting_opener(
        self, lines: tuple[PhysicalLine, PhysicalLine], number: int, cut_off: Sequence[str], closer: str
    ) -> tuple[str, ...]:
        """The end of a cut-off header, line *number*, with a last lexeme that *closer* can close.

        It may be more than that, such as the arrow of a function; nothing if there is none. It follows
        *cut_off* in the first of *lines*, the header without its line end. Preferably the second, the line
        below, can follow it.
        """
        header, below = lines
        language, found = self.tables.language, dict[tuple[str, ...], bool]()
        chart = self.read(self.after(self.before(number), header), cut_off)
        for kinds in ((*end, opener) for end in ((), *language.header_ends) for opener in language.closers):
            after = self.read(chart, kinds) if closer in language.closers[kinds[-1]] else None
            if after is not None and shortest_word(self.tables, kinds[-1]) is not None:
                found[kinds] = below.opaque or self.after(after, below) is not None
        return max(found, key=lambda kinds: found[kinds], default=())

    def forget(self, number: int) -> None:
        """Forget the charts after line *number*, which was changed."""
        if number < self._n_readable:
            self._n_readable, self._charts = number, [self._context_before(number)]
        del self._charts[number - self._n_readable + 1 :]

    def _count_readable(self) -> int:
        """The number of the first line that cannot be read, or of the cursor's."""
        opaque = next(number for number, line in enumerate(self._lines) if line.opaque)
        broken = self._document.broken_above(self._lines[opaque].start)
        before = (
            number for number in range(opaque) if broken is not None and self._lines[number].end > broken
        )
        return next(before, opaque)

    def _context_before(self, number: int) -> EarleySet | None:
        """The Earley set before line *number*, which can be read, as can those before it."""
        start, context = self._document.left_at(self._lines[number].start)
        return None if context.broken or start < self._lines[number].start else context.group

    def _chart_after(self, number: int) -> EarleySet | None:
        """The set after line *number* and the words added there; a line that does not fit is passed over."""
        line, chart = self._lines[number], self._charts[number - self._n_readable]
        added = [kind for word in self._added.get(number, []) for kind in word.kinds]
        after = chart if line.opaque else self.after(chart, line)
        return self.with_added(after, added) or chart

    def _terminator(self, name: str) -> int | None:
        """The kind of a line end after *name* if it ends a statement; None elsewhere."""
        modes = self.tables.lexical.start.after(name)
        line_end = None if modes is None else modes.line_end
        return None if line_end is None else self._kinds.index(line_end)
