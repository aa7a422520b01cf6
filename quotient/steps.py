"""What lines make of contexts, remembered.

Equal contexts are the same object, and of lines that no context tells apart one stands for all. So both are
few: they are the states and the letters of an automaton, one for each direction, which is built on demand.
"""

from __future__ import annotations

from fimlsp.lexing.indentation import Column
from fimlsp.lexing.line import Line, LineReader
from fimlsp.lexing.memo import Memo
from fimlsp.quotient.language import Language
from fimlsp.quotient.left_context import LeftContext
from fimlsp.quotient.right_context import RightContext

_MOST_LINES = 30_000
_MOST_LETTERS = 3_000
_MOST_STEPS = 10_000


class Steps:
    """The contexts before and after lines; shared by all documents of a language."""

    __slots__ = ("_after", "_before", "_letter_of", "_letters", "_may_stand", "language", "lines")

    def __init__(self, language: Language) -> None:
        self.language = language
        self.lines = LineReader(language.lexicon)
        self._after: Memo[tuple[LeftContext, Line], LeftContext] = Memo(_MOST_STEPS)
        self._before: Memo[tuple[RightContext, Line], RightContext] = Memo(_MOST_STEPS)
        self._letters: Memo[tuple[Column, tuple[int, ...]], Line] = Memo(_MOST_LETTERS)
        self._letter_of: Memo[tuple[Line, bool], Line | None] = Memo(_MOST_LINES)
        self._may_stand: Memo[Line, bool] = Memo(_MOST_LINES)

    def after(self, context: LeftContext, line: Line) -> LeftContext:
        """As `LeftContext.after_line`."""
        letter = self._letter(line, context.nesting.depth > 0)
        if letter is None:
            return context.after_line(line)
        key = context, letter
        found = self._after.get(key)
        if found is None:
            found = self._after[key] = context.after_line(line)
        return found

    def before(self, context: RightContext, line: Line) -> RightContext:
        """As `RightContext.before_line`."""
        letter = self._letter(line, context.unmatched > 0)
        if letter is None:
            return context.before_line(line)
        key = context, letter
        found = self._before.get(key)
        if found is None:
            found = self._before[key] = context.before_line(line)
        return found

    def may_stand(self, line: Line) -> bool:
        """Whether each two neighbouring lexemes of *line* may stand beside each other."""
        found = self._may_stand.get(line)
        if found is None:
            found = self._may_stand[line] = self.language.may_follow(line.kinds)
        return found

    def _letter(self, line: Line, inside: bool) -> Line | None:
        """The line that stands for *line* wherever brackets are open (*inside*), or none; None for itself."""
        try:
            return self._letter_of[line, inside]
        except KeyError:
            found = self._letter_of[line, inside] = self._find_letter(line, inside)
            return found

    def _find_letter(self, line: Line, inside: bool) -> Line | None:
        if line.column is None or self.language.too_deep(line.kinds, 0):
            return None
        symbols = self.language.terminals(line.kinds)
        if not (inside or line.openers or line.closers):
            symbols = self.language.line_classes.representative(symbols)
        key = line.column, symbols
        letter = self._letters.get(key)
        if letter is None:
            letter = self._letters[key] = line
        return letter
