"""Columns of lines, and the stack of indentation levels.

Each indentation is measured twice, with tabs to multiples of 8 and with tabs of width 1, and both measures have
to agree about which of two lines is deeper.
"""

from __future__ import annotations

from typing import NamedTuple

_SPACE, _TAB, _FORM_FEED = b" \t\f"


class Column(NamedTuple):
    """The width of an indentation, with tabs to multiples of 8 and with tabs as one."""

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
        """Whether this column is right of *other* by both measures."""
        return self.tabs8 > other.tabs8 and self.tabs1 > other.tabs1


MARGIN = Column()


class BlockColumns(NamedTuple):
    """The columns of the open blocks, innermost last; the file's own is the first."""

    columns: tuple[Column, ...] = (MARGIN,)

    def enter(self, column: Column, most: int) -> tuple[BlockColumns, int] | None:
        """The stack at a line of *column*, and the number of blocks opened (1), or closed (negative).

        None if the column is inconsistent with the others, or if more than *most* blocks would be open.
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
