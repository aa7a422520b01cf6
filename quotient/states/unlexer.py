"""Writes symbols as text: the inverse of the lexer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, count

from fimlsp.lexing.lexer_state import LexerState, Margin, Symbol
from fimlsp.lexing.nesting import MARGIN, Column
from fimlsp.quotient.bridge.closed_blocks import ClosedBlock
from fimlsp.quotient.language.tables import LanguageTables

STEPS = (4, 1)
"""The widths of an indentation to try, if the right context leaves that open.

If 4 columns leave no room for nested blocks, each block is indented by as little as possible.
"""


class Unlexer:
    """Writes symbols as text after a lexer state, with the white space needed; indents by *step*.

    *unit* gives the column of blocks in the file's own one, if that is known.

    With *uncommon* all words differ, and are likely to be new in the text. With *brief* lexemes end as soon
    as they can, although fewer may follow them there.
    """

    def __init__(
        self,
        tables: LanguageTables,
        lexer: LexerState,
        step: int,
        unit: Callable[[], Column | None],
        *,
        uncommon: bool = False,
        brief: bool = False,
    ) -> None:
        assert lexer.indents is not None
        self.tables = tables
        self.lexer = lexer
        self.step = step
        self.unit = unit
        self.words = count(1) if uncommon else None
        self.shortest_words = tables.shortest_words.anywhere if brief else tables.shortest_words
        self.columns = list(lexer.indents.columns)
        self.text = b""

    def put(self, data: bytes) -> bool:
        """Write *data* unchanged; False if it is lexically invalid here."""
        step = self.lexer.feed(data)
        if step is None:
            return False
        self.text += data
        self.lexer = step.lexer
        return True

    def write(
        self, symbols: Sequence[int], blocks: dict[int, ClosedBlock], opened: tuple[str, ...] = ()
    ) -> bool:
        """Write terminals, with INDENTs of closed blocks as *blocks* allows; False if that is impossible.

        The strings that remain open afterwards are those in *opened* (see `ModeStack.opened`).
        """
        kinds = self._kinds_of_opening(symbols, opened)
        return all(self._write(symbol, blocks, kinds.get(index)) for index, symbol in enumerate(symbols))

    def _kinds_of_opening(self, symbols: Sequence[int], opened: tuple[str, ...]) -> dict[int, int]:
        """The exact kinds of symbols that open a string which stays open, by index in *symbols*."""
        if not opened:
            return {}
        grammar = self.tables.grammar
        names = [grammar.name(symbol) if grammar.is_terminal(symbol) else "" for symbol in symbols]
        kinds = self.tables.language.kinds_of_opening(names, opened)
        return {index: self.tables.lexical.kinds.index(kind) for index, kind in kinds.items()}

    def _write(self, symbol: int, blocks: dict[int, ClosedBlock], kind: int | None) -> bool:
        tables = self.tables
        if symbol == tables.newline:
            return self.put(b"\n")
        if symbol == tables.dedent:
            self.columns.pop()
            return bool(self.columns)
        if symbol == tables.indent or symbol in blocks:
            column = self._inner_column(blocks.get(symbol))
            if column is not None:
                self.columns.append(column)
            return column is not None
        kinds = self.tables.kinds_of[symbol] if kind is None else (kind,)
        return self._indent() and self._write_lexeme(kinds)

    def _inner_column(self, block: ClosedBlock | None) -> Column | None:
        outer = self.columns[-1]
        if block is not None and block.exactly is not None:
            return block.exactly if block.exactly.deeper_than(outer) else None
        below = None if block is None else block.below
        widest = self.step if below is None else below.tabs8 - outer.tabs8
        least = (
            0 if block is None else max(block.least, block.above.tabs8 if block.above else 0) - outer.tabs8
        )
        widths = (self.step, *range(1, max(widest, least + 1) + 1))
        # a line joiner can put the line after the cursor left of its white space
        ordered = (*(width for width in widths if width >= least), *range(1, least))
        columns = (Column(outer.tabs8 + width, outer.tabs1 + width) for width in ordered)
        like_outer = (column for column in self._column_like_outer() if column.tabs8 - outer.tabs8 >= least)
        for column in chain(self._column_so_far(outer), like_outer, columns):
            if block is None or block.fits(column, len(self.columns), self.tables.lexical.most_blocks):
                return column
        return None

    def _column_like_outer(self) -> Iterator[Column]:
        """The column of a block that is indented as the innermost open one, if there is room for that.

        In the file's own block it is indented as another block there.
        """
        if self.step != STEPS[0]:
            return
        if len(self.columns) == 1:
            unit = self.unit()
            if unit is not None and self.columns[0] == MARGIN:
                yield unit
            return
        above, outer = self.columns[-2:]
        column = Column(2 * outer.tabs8 - above.tabs8, 2 * outer.tabs1 - above.tabs1)
        if _white_space(column) is not None:
            yield column

    def _column_so_far(self, outer: Column) -> Iterator[Column]:
        """The column of a line that is blank so far, if that is deeper than *outer*."""
        margin = self.margin
        here = MARGIN if margin is None else margin.counted if margin.frozen else margin.column
        if here.deeper_than(outer):
            yield here

    @property
    def lexer_after_lexeme(self) -> LexerState | None:
        """The lexer state once the lexeme being read has ended; None if it cannot end."""
        if self.lexer.at_lexeme_start:
            return self.lexer
        step = self.lexer.close()
        return step.lexer if step is not None else None

    @property
    def margin(self) -> Margin | None:
        """The margin of a line that is blank so far; None in a line with lexemes."""
        lexer = self.lexer_after_lexeme
        if lexer is None or lexer.margin is None or lexer.modes.depth:
            return None
        return lexer.margin

    def _indent(self) -> bool:
        margin = self.margin
        return margin is None or self.put(indentation(margin, self.columns[-1]))

    def _write_lexeme(self, kinds: Iterable[int]) -> bool:
        step = None if self.lexer.at_lexeme_start else self.lexer.close()
        lexer = self.lexer if step is None else step.lexer
        for kind in kinds:
            text = self._uncommon(kind) or self._shortest(kind, lexer)
            for candidate in self._candidates(text, kind) if text else ():
                if self._reads_as(candidate, kind, [] if step is None else step.symbols):
                    return self.put(candidate)
        return False

    def _shortest(self, kind: int, lexer: LexerState) -> bytes | None:
        """The shortest lexeme of *kind* in the mode of *lexer*, else in that after white space."""
        starts = self.tables.lexical.dfa.starts
        text = self.shortest_words.suffix(starts[lexer.modes.mode], kind)
        if (
            text is None
            and (blank := lexer.feed(b" ")) is not None
            and (apart := blank.lexer.finish()) is not None
        ):
            text = self.shortest_words.suffix(starts[apart.lexer.modes.mode], kind)
        return text

    def _uncommon(self, kind: int) -> bytes | None:
        """With *uncommon*, a lexeme of *kind* that is likely to be new in the text; else None."""
        if self.words is None:
            return None
        return self.tables.language.another_word(self.tables.lexical.kinds[kind], next(self.words))

    def _candidates(self, text: bytes, kind: int) -> Iterator[bytes]:
        """*text*, a lexeme of *kind*, kept apart from the lexeme before; or another such lexeme."""
        for between in self.tables.lexical.between:
            yield between + text
        separation = self.tables.lexical.separation
        if separation is not None and not self.lexer.at_lexeme_start:
            other = separation.word_after(self.lexer.state, kind, self.shortest_words)
            if other is not None:
                yield other

    def _reads_as(self, data: bytes, kind: int, ended: list[Symbol]) -> bool:
        """True if *data* is read as one lexeme of *kind*, after exactly the symbols *ended*."""
        step = self.lexer.feed(data)
        if step is None or step.lexer.accepted != kind or step.lexer.leftover:
            return False
        return [s for s in step.symbols if s in ended] == ended


def indentation(margin: Margin, column: Column) -> bytes:
    """White space that moves a blank line from *margin* to *column*, on a new line if necessary."""
    if margin.frozen:
        return b"" if column == margin.counted else b"\n" + white_space(column)
    here = margin.column
    if here != MARGIN and _spaces_reach(here, column):
        return b" " * (column.tabs8 - here.tabs8)
    return (b"" if here == MARGIN else b"\n") + white_space(column)


def white_space(column: Column) -> bytes:
    """White space as wide as *column* by both measures: spaces, with as few tabs as possible."""
    text = _white_space(column)
    assert text is not None, f"no white space has the width {column}"
    return text


def _white_space(column: Column) -> bytes | None:
    for tabs in range(column.tabs8 // 8 + 1):
        spaces = column.tabs8 - 8 * tabs
        swallowed = column.tabs1 - tabs - spaces  # spaces swallowed by the tab stop after them
        if 0 <= swallowed <= 7 * tabs:
            full, rest = divmod(swallowed, 7)
            return (
                (b" " * 7 + b"\t") * full
                + (b" " * rest + b"\t") * (tabs > full)
                + b"\t" * (tabs - full - 1)
                + b" " * spaces
            )
    return None


def columns_before(column: Column, lead: bytes) -> Iterator[Column]:
    """The columns from which *lead* (white space, line joiners) moves a line to *column*, narrowest first."""
    for width in range(column.tabs8 + 1):
        for before in dict.fromkeys((Column(width, width), Column(width, column.tabs1 - len(lead)))):
            if Margin(before).after(lead).counted == column and _white_space(before) is not None:
                yield before


def _spaces_reach(margin: Column, column: Column) -> bool:
    return column.tabs8 - margin.tabs8 == column.tabs1 - margin.tabs1 >= 0
