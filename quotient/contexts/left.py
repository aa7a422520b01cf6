"""The left context: the blocks and brackets that the text before the cursor leaves open.

It consists of the open blocks, with the unfinished group of the innermost one as an Earley set, and the open
brackets.
"""

from __future__ import annotations

from collections.abc import Iterable

from fimlsp.lexing.interruption import EVERY, checkpoint
from fimlsp.lexing.lexer_state import LexerState, Symbol, start_of_line
from fimlsp.lexing.line import Line, Reading, modes_after_reading
from fimlsp.lexing.nesting import MARGIN, BlockColumns, Column, ModeStack
from fimlsp.lexing.values import value
from fimlsp.quotient.grammar.cfg import SENTINELS
from fimlsp.quotient.grammar.earley import EarleySet
from fimlsp.quotient.language.escape import NOTHING, Inside
from fimlsp.quotient.language.tables import Interned, LanguageTables


@value(eq=False)
class Frame(Interned):
    """An open block: its column, the bodies that its groups may have, and the block around it.

    `holder` is the Earley set in the block around it that waits for its suite; it and `parent` are None for
    the file's own block.
    """

    column: Column
    bodies: frozenset[int]
    parent: Frame | None = None
    holder: EarleySet | None = None


@value(eq=False)
class LeftContext(Interned):
    """The state of the parser at a line start or the cursor. Equal contexts are the same object.

    `frame` is the innermost open block, and `group` the Earley set at the end of its last group. That set is
    `start` if the block has no group yet. `modes` holds the open brackets. `broken` means that some earlier
    text could not be parsed and was ignored.
    """

    tables: LanguageTables
    frame: Frame
    group: EarleySet
    modes: ModeStack
    broken: bool

    @property
    def start(self) -> EarleySet:
        """The set before any group of the innermost block."""
        return self.tables.forward.start(self.frame.bodies)

    @property
    def completed(self) -> frozenset[int]:
        """The bodies that the group is, if it ends here."""
        return self._completed(self.group)

    def _completed(self, group: EarleySet) -> frozenset[int]:
        return group.completed_from(self.start) & self.frame.bodies

    @property
    def indents(self) -> BlockColumns:
        """The columns of the open blocks."""
        columns: list[Column] = []
        frame: Frame | None = self.frame
        while frame is not None:
            columns.append(frame.column)
            frame = frame.parent
        return BlockColumns(tuple(reversed(columns)))

    def lexer(self) -> LexerState:
        """The lexer state at the line start where this context is."""
        return start_of_line(self.tables.lexical, self.modes, self.indents)

    def after_line(self, line: Line) -> LeftContext:
        """The context after *line*; a line that cannot be parsed is ignored. Amortised O(line)."""
        if line.blank:
            return self
        context = None if line.broken else self._after_line(line)
        return self.passing_over() if context is None else context

    def passing_over(self) -> LeftContext:
        """This context with unparsable text after it.

        With an offside layout the next group of the block follows; without a layout the only group continues.
        """
        if not self.tables.offside:
            return _context(self.tables, self.frame, self.group, self.modes, broken=True)
        return _context(self.tables, self.frame, self.start, self.tables.lexical.start, broken=True)

    def at(self, frame: Frame, group: EarleySet) -> LeftContext:
        """This context with another innermost block or group."""
        return _context(self.tables, frame, group, self.modes, self.broken)

    def can_read(self, line: Line) -> bool:
        """True if *line* consists of lexemes here, valid or not."""
        return not (line.broken or (line.readings and self._reading_of(line) is None))

    def _reading_of(self, line: Line) -> tuple[Reading, ModeStack] | None:
        """The reading of *line* here, with the modes after it, in a language with several line starts."""
        for reading in line.readings:
            modes = modes_after_reading(self.tables.lexical, reading, self.modes)
            if modes is not None:
                return reading, modes
        return None

    def _after_reading(self, line: Line) -> LeftContext | None:
        """As `_after_line`, in a language with several line starts."""
        found = self._reading_of(line)
        if found is None:
            return None
        reading, modes = found
        context = self.after_symbols(self.tables.terminals(reading.kinds))
        if context is None:
            return None
        group = self.tables.forward.canonical(context.group)
        return _context(self.tables, self.frame, group, modes, self.broken)

    def _after_line(self, line: Line) -> LeftContext | None:
        if line.readings:
            return self._after_reading(line)
        modes = self._after_brackets(line)
        if modes is None:
            return None
        context: LeftContext | None = self
        offside = self.tables.offside
        if offside and not self.modes.depth and line.column != self.frame.column:
            assert line.column is not None
            entered = self.indents.enter(line.column, self.tables.lexical.most_blocks)
            if entered is None:
                return None
            change = entered[1]
            context = self.opened(line.column) if change > 0 else self.closed(-change)
        symbols = self.tables.terminals(line.kinds)
        if modes.depth or not offside:
            context = context and context.after_symbols(symbols)
        elif self.modes.depth:
            context = context and context.after_symbols((*symbols, self.tables.newline))
        else:
            context = context and context._after_logical_line(symbols)
        if context is None:
            return None
        group = self.tables.forward.canonical(context.group)
        return _context(self.tables, context.frame, group, modes, self.broken)

    def _after_logical_line(self, symbols: tuple[int, ...]) -> LeftContext | None:
        """The context after a whole logical line, outside brackets."""
        newline = self.tables.newline
        start = self._before(self.group, symbols[0] if symbols else newline)
        symbols = self.tables.line_classes.representative(symbols)
        group = start and self.tables.forward.read(start, (*symbols, newline))
        return None if group is None else self.at(self.frame, group)

    def _after_brackets(self, line: Line) -> ModeStack | None:
        modes: ModeStack | None = self.modes
        for lexeme in (*line.closers, *map(self.tables.opening_of.__getitem__, line.openers)):
            modes = modes and modes.after(lexeme)
        return modes

    def after_symbols(self, symbols: tuple[int, ...]) -> LeftContext | None:
        """The context after terminals of one line; the first one may start a new group. None if invalid."""
        if not symbols:
            return self
        start = self._before(self.group, symbols[0])
        group = start and self.tables.forward.read(start, symbols)
        return None if group is None else self.at(self.frame, group)

    def _before(self, group: EarleySet, symbol: int) -> EarleySet | None:
        """The set before *symbol*: *group* if it expects the symbol, `start` if *group* may end; or None."""
        if group.expects(symbol):
            return group
        return self.start if self._completed(group) else None

    def opened(self, column: Column) -> LeftContext | None:
        """The context after an INDENT to *column*; None if no block may start here."""
        suites = [suite for suite in self.tables.suites if self.group.expects(suite)]
        if not suites:
            return None
        bodies = frozenset(self.tables.suites[suite] for suite in suites)
        frame = self.tables.intern(Frame, column, bodies, self.frame, self.group)
        return self.at(frame, self.tables.forward.start(bodies))

    def closed(self, count: int) -> LeftContext | None:
        """The context after *count* DEDENTs; None if an open block may not end here."""
        context = self
        for _ in range(count):
            frame = context.frame
            suites = self.tables.suites_of(context.completed)
            if not suites or frame.parent is None or frame.holder is None:
                return None
            group = self.tables.forward.read_any(frame.holder, suites)
            assert group is not None
            context = context.at(frame.parent, group)
        return context

    def after(self, symbols: Iterable[Symbol]) -> LeftContext | None:
        """The context after *symbols* of a `LexerState`; None if they are invalid. O(symbols)."""
        lexical, terminal_of = self.tables.lexical, self.tables.terminal_of
        context, group = self, self.group
        for count, symbol in enumerate(symbols, 1):
            if not count % EVERY:
                checkpoint()
                group = self.tables.forward.canonical(group)  # frees the sets in between
            if isinstance(symbol, Column) or symbol == lexical.dedent:
                following = context.at(context.frame, group)._after_layout(symbol)
                if following is None:
                    return None
                context, group = following, following.group
                continue
            before = context._before(group, terminal_of[symbol])
            read = before and self.tables.forward.read(before, (terminal_of[symbol],))
            if read is None:
                return None
            group = read
        return context.at(context.frame, group)

    def _after_layout(self, symbol: Symbol) -> LeftContext | None:
        return self.opened(symbol) if isinstance(symbol, Column) else self.closed(1)


def _context(
    tables: LanguageTables, frame: Frame, group: EarleySet, modes: ModeStack, broken: bool
) -> LeftContext:
    return tables.intern(LeftContext, tables, frame, group, modes, broken)


def start_of_file(tables: LanguageTables) -> LeftContext:
    """The context at the beginning of a file."""
    bodies = frozenset((tables.file_body,))
    group = tables.forward.start(bodies)
    if not tables.offside:
        after_sentinel = tables.forward.read(group, (tables.grammar.symbol(SENTINELS[0]),))
        assert after_sentinel is not None
        group = after_sentinel
    frame = tables.intern(Frame, MARGIN, bodies)
    return _context(tables, frame, group, tables.lexical.start, broken=False)


class LeftBlock:
    """An open block, with the rules that are open in its last group.

    `empty` means that it has no group yet. `complete_bodies` are the possible bodies of its groups if the
    last one is complete at the cursor. *inner* is the open block within its last group.
    """

    def __init__(
        self, tables: LanguageTables, frame: Frame, group: EarleySet, inner: LeftBlock | None = None
    ) -> None:
        self.tables = tables
        self.frame = frame
        self.start = tables.forward.start(frame.bodies)
        suites = (
            None if inner is None else tables.suites_of(frozenset(filter(inner.may_be, inner.frame.bodies)))
        )
        self.open_rules = tables.forward.open_rules(((group, frozenset()),), suites)
        self.empty = group is self.start
        done = group.completed_from(self.start) & frame.bodies if inner is None else frozenset[int]()
        self.complete_bodies = frame.bodies if self.empty else done

    def may_be(self, body: int) -> bool:
        """True if its groups so far may be of kind *body*."""
        return body in self.complete_bodies or (body, self.start) in self.open_rules

    @property
    def inside(self) -> Inside:
        """The enclosures open within its last group."""
        insides = self.tables.forward.insides(self.open_rules)
        return insides.get(self.start, NOTHING)


def left_blocks(left: LeftContext) -> list[LeftBlock]:
    """The open blocks of *left*, outermost first: the file's own block."""
    blocks = [LeftBlock(left.tables, left.frame, left.group)]
    frame = left.frame
    while frame.parent is not None and frame.holder is not None:
        blocks.append(LeftBlock(left.tables, frame.parent, frame.holder, blocks[-1]))
        frame = frame.parent
    return blocks[::-1]
