"""Columns of lines, and the stack of indentation levels of the offside rule.

Each indentation is measured twice: once with tab stops at multiples of 8, once with tabs of width 1. A line
is deeper than another only if both measures say so.
"""

from __future__ import annotations

from typing import NamedTuple

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
        """Whether this column is to the right of *other* by both measures."""
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
