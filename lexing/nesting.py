"""The nesting around a byte: open blocks, by their columns, and open brackets and strings, as lexer modes.

Blocks follow the offside rule. Each indentation is measured twice: once with tab stops at multiples of 8,
once with tabs of width 1. A line is deeper than another only if both measures say so.

A stack of modes determines how the next lexeme is read, and which bytes are forbidden inside open brackets
and strings. Stacks are immutable.

In the layout of terminators a line end either ends a statement or means nothing, depending on the lexeme
before it. (Go calls this the automatic insertion of semicolons.) After some kinds of lexemes, such as names,
a line end is a lexeme of the grammar; elsewhere it is white space. So there are two modes, and each lexeme
that the grammar sees determines the next one. Lines always start in the first mode, hence a line has the same
lexemes in every context.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, NamedTuple

_SPACE, _TAB, _FORM_FEED = b" \t\f"


class Column(NamedTuple):
    """The width of an indentation: `tabs8` with tab stops at multiples of 8, `tabs1` with tabs of width 1."""

    tabs8: int = 0
    tabs1: int = 0

    def after(self, byte: int) -> Column:
        """The column after one more byte of white space."""
        if byte == _SPACE:
            return Column(self.tabs8 + 1, self.tabs1 + 1)
        if byte == _TAB:
            return Column((self.tabs8 // 8 + 1) * 8, self.tabs1 + 1)
        assert byte == _FORM_FEED
        return MARGIN

    def deeper_than(self, other: Column) -> bool:
        """True if this column is to the right of *other* by both measures."""
        return self.tabs8 > other.tabs8 and self.tabs1 > other.tabs1


MARGIN = Column()


class BlockColumns(NamedTuple):
    """The columns of the open blocks, outermost first; the first is that of the file itself."""

    columns: tuple[Column, ...] = (MARGIN,)

    def enter(self, column: Column, most: int) -> tuple[BlockColumns, int] | None:
        """The stack in a line at *column*, and 1 if it opens a block or minus the number of blocks it closes.

        None if the column is inconsistent with the stack, or if more than *most* blocks would be open.
        """
        columns = self.columns
        if column.tabs8 > columns[-1].tabs8:
            if len(columns) > most or not column.deeper_than(columns[-1]):
                return None
            return BlockColumns((*columns, column)), 1
        depth = len(columns)
        while columns[depth - 1].tabs8 > column.tabs8:
            depth -= 1
        if columns[depth - 1] != column:
            return None
        return BlockColumns(columns[:depth]), depth - len(columns)


_NO_BYTES: frozenset[int] = frozenset()

CODE = "code"
"""The mode of ordinary code, at the bottom of the stack."""


class ModeStack:
    """A stack of modes: `shape` is the innermost one, `parent` the stack outside it, `depth` the height.

    Equal stacks built on the same bottom are the same object. The bottom is `known` if all text before it has
    been read; above an unknown bottom a closing lexeme may match something further left. This class serves
    languages in which no lexeme changes the mode; others derive from it.
    """

    __slots__ = ("depth", "known", "parent", "shape")

    terminated: ClassVar[bool] = False
    """True in a layout of terminators, in which the modes decide about each line end."""

    def __init__(self, shape: str = CODE, parent: ModeStack | None = None, *, known: bool = True) -> None:
        self.shape = shape
        self.parent = parent
        self.known: bool = known if parent is None else parent.known
        self.depth: int = parent.depth + 1 if parent else 0

    def __repr__(self) -> str:
        """Differs for stacks that differ; it names them in files too."""
        bottom = f"{type(self).__name__}({self.shape}, known={self.known})"
        return f"{self.parent!r} {self.shape}" if self.parent else bottom

    def after(self, lexeme: str) -> ModeStack | None:
        """The stack after a lexeme of kind *lexeme*; None if it closes nothing open or nests too deeply."""
        del lexeme
        return self

    def beyond(self, lexeme: str) -> Iterable[tuple[tuple[str, ...], ModeStack]]:
        """The possible stacks after a lexeme of kind *lexeme* that closes code below an unknown bottom.

        Each is given with the modes closed there, innermost first, as in `opened`.
        """
        del lexeme
        return ()

    @property
    def mode(self) -> str:
        """The mode in which the next lexeme is read, a key of `Dfa.starts`."""
        return CODE

    @property
    def in_code(self) -> bool:
        """True if the text here is ordinary code, so that a logical line may end."""
        return True

    @property
    def starts_line(self) -> int | None:
        """The number of the line start that text here is read from, if any.

        See `LexicalSpec.line_starts`.
        """
        return None if self.opened else 0

    def at_line_start(self, number: int) -> ModeStack | None:
        """The modes after a line end here, if they are those of line start *number*; else None."""
        return self if number == self.starts_line else None

    @property
    def line_end(self) -> str | None:
        """The kind of a line end here if the grammar sees it, which only a layout of terminators has."""
        return None

    def may_follow(self, lexeme: str) -> bool:
        """True if this stack may come directly after a lexeme of kind *lexeme*."""
        del lexeme
        return True

    @property
    def opened(self) -> tuple[str, ...]:
        """The open modes between here and ordinary code, innermost first.

        Stacks with equal values close alike.
        """
        return ()

    def closes_as(self, opened: tuple[str, ...]) -> bool:
        """True if text that closes *opened* without having opened it may come here."""
        return self.opened == opened

    @property
    def forbidden(self) -> frozenset[int]:
        """Bytes that may not occur here because of open modes."""
        return _NO_BYTES

    @property
    def forbidden_thrice(self) -> frozenset[int]:
        """Bytes that may not occur three times in a row here, as that would close an open mode."""
        return _NO_BYTES

    @property
    def restricted(self) -> bool:
        """True if any byte is forbidden here."""
        return bool(self.forbidden or self.forbidden_thrice)

    def permits(self, text: bytes) -> bool:
        """True if *text* may occur here."""
        return not self.restricted or has_none(text, self.forbidden, self.forbidden_thrice)


def has_none(text: bytes, forbidden: frozenset[int], thrice: frozenset[int]) -> bool:
    """True if *text* contains no *forbidden* byte, and no byte of *thrice* three times in a row."""
    return forbidden.isdisjoint(text) and not any(bytes((byte,)) * 3 in text for byte in thrice)


MAY_END = "code whose line may end"
"""The mode in which a line end ends a statement."""


class TerminatorModes(ModeStack):
    """Code in which a line end has the kind `line_end`, or None if it means nothing.

    A line may end after lexemes of the kinds *enders*. Lexemes of the kinds *unseen* change nothing, and
    after all other lexemes a line may not end.
    """

    __slots__ = ("_enders", "_line_end", "_other", "_unseen")

    terminated = True

    def __init__(
        self, line_end: str, enders: Iterable[str], unseen: Iterable[str] = (), *, known: bool = True
    ) -> None:
        super().__init__(CODE, known=known)
        self._line_end: str | None = None
        self._enders, self._unseen = frozenset(enders), frozenset(unseen)
        ended = self._other = object.__new__(type(self))
        ModeStack.__init__(ended, MAY_END, known=known)
        ended._line_end, ended._other = line_end, self
        ended._enders, ended._unseen = self._enders, self._unseen

    @property
    def may_end(self) -> TerminatorModes:
        """The modes in which a line may end."""
        return self._other if self._line_end is None else self

    def after(self, lexeme: str) -> TerminatorModes:
        """As in `ModeStack`."""
        if lexeme in self._unseen or (lexeme in self._enders) == (self._line_end is not None):
            return self
        return self._other

    @property
    def mode(self) -> str:
        """As in `ModeStack`."""
        return self.shape

    @property
    def line_end(self) -> str | None:
        """As in `ModeStack`."""
        return self._line_end

    def may_follow(self, lexeme: str) -> bool:
        """As in `ModeStack`."""
        return (lexeme in self._enders) == (self._line_end is not None)

    @property
    def opened(self) -> tuple[str, ...]:
        """As in `ModeStack`: text that starts where a line may end is read in another way."""
        return () if self._line_end is None else (self.shape,)
