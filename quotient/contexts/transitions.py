"""The transitions between contexts: which context follows or precedes another across a line; cached.

Equal contexts are the same object, and lines that no context can tell apart share one representative.
So both are few: they are the states and the letters of two automata, one per direction, which are built on
demand.
"""

from __future__ import annotations

from collections.abc import Hashable

from fimlsp.lexing.bounded_dict import MEGABYTE, BoundedDict, WeighedDict
from fimlsp.lexing.line import Line, LineReader
from fimlsp.quotient.contexts.left import LeftContext
from fimlsp.quotient.contexts.right import RightContext
from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.language.tables import LanguageTables

_MOST_TRANSITIONS = 10_000


class ContextTransitions:
    """The transition functions of left and right contexts, shared by all documents of an engine."""

    __slots__ = ("_after", "_before", "_finer", "_letter_of", "_letters", "_may_stand", "lines", "tables")

    def __init__(self, tables: LanguageTables) -> None:
        self.tables = tables
        self.lines = LineReader(tables.lexical)
        self._after: BoundedDict[tuple[LeftContext, Line], LeftContext] = BoundedDict(_MOST_TRANSITIONS)
        self._before: BoundedDict[tuple[RightContext, Line], RightContext] = BoundedDict(_MOST_TRANSITIONS)
        self._letters = WeighedDict[tuple[Hashable, ...], Line](2 * MEGABYTE, lambda _, line: 2 * line.weight)
        self._letter_of = WeighedDict[tuple[Line, bool], Line | None](
            8 * MEGABYTE, lambda key, _: key[0].weight
        )
        self._may_stand = WeighedDict[Line, bool](4 * MEGABYTE, lambda line, _: line.weight)
        self._finer: dict[Language, ContextTransitions] = {}

    def finer(self, language: Language) -> ContextTransitions:
        """Those of *language*, which is one of `Language.finer`."""
        transitions = self._finer.get(language)
        if transitions is None:
            transitions = self._finer[language] = ContextTransitions(self.tables.finer(language))
        return transitions

    def after(self, context: LeftContext, line: Line) -> LeftContext:
        """As `LeftContext.after_line`, cached."""
        letter = self._letter(line, context.modes.depth > 0 or not self.tables.offside)
        if letter is None:
            return context.after_line(line)
        key = context, letter
        following = self._after.get(key)
        if following is None:
            following = self._after[key] = context.after_line(line)
        return following

    def before(self, context: RightContext, line: Line) -> RightContext:
        """As `RightContext.before_line`, cached."""
        letter = self._letter(line, context.within_group)
        if letter is None:
            return context.before_line(line)
        key = context, letter
        preceding = self._before.get(key)
        if preceding is None:
            preceding = self._before[key] = context.before_line(line)
        return preceding

    def may_stand(self, line: Line) -> bool:
        """True if neighbouring lexemes of *line* may be adjacent; cached."""
        may_stand = self._may_stand.get(line)
        if may_stand is None:
            ways = [one.kinds for one in line.readings] or [line.kinds]
            may_stand = self._may_stand[line] = any(map(self.tables.may_follow, ways))
        return may_stand

    def _letter(self, line: Line, inside: bool) -> Line | None:
        """The representative of *line*, either *inside* brackets or outside; None if it has none."""
        if line.column is None:
            return None
        try:
            return self._letter_of[line, inside]
        except KeyError:
            letter = self._letter_of[line, inside] = self._find_letter(line, inside)
            return letter

    def _find_letter(self, line: Line, inside: bool) -> Line | None:
        if self.tables.too_deep(line.kinds, 0):
            return None
        assert line.column is not None
        symbols = self.tables.terminals(line.kinds)
        if not (inside or line.openers or line.closers):
            symbols = self.tables.line_classes.representative(symbols)
        readings = [(one.start, self.tables.terminals(one.kinds), one.end) for one in line.readings]
        key = line.column, symbols, *readings
        letter = self._letters.get(key)
        if letter is None:
            letter = self._letters[key] = line
        return letter
