"""The ends of headers that are cut off above their blocks.

A block shows that its opener is missing by deeper lines, and a closer in the column of the header. The header
may have lost more than that, such as the arrow of a function.
"""

from __future__ import annotations

from collections.abc import Sequence

from fimlsp.quotient.recovery.line_charts import LineCharts, shortest_word
from fimlsp.quotient.recovery.lines_around import PhysicalLine


def fitting_opener(
    charts: LineCharts, lines: Sequence[PhysicalLine], number: int, cut_off: Sequence[str], closer: str
) -> tuple[str, ...]:
    """The end of a header in line *number* whose last lexeme *closer* can close; nothing if there is none.

    It follows *cut_off* in the first of *lines*, which has no line end. Preferably the second of them can
    follow it.
    """
    tables, (header, below) = charts.tables, lines
    language, found = tables.language, dict[tuple[str, ...], bool]()
    chart = charts.read(charts.after(charts.before(number), header), cut_off)
    for kinds in ((*end, opener) for end in ((), *language.header_ends) for opener in language.closers):
        after = charts.read(chart, kinds) if closer in language.closers[kinds[-1]] else None
        if after is not None and shortest_word(tables, kinds[-1]) is not None:
            found[kinds] = below.opaque or charts.after(after, below) is not None
    return max(found, key=lambda kinds: found[kinds], default=())
