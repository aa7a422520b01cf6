"""The tables that a query needs after `FROM`, so that all names before it have a meaning.

The names of columns come before the tables that have them. So each name wants a table. A
qualified one, such as `u.name`, wants a table called `u` with that column. A bare one wants exactly one table
with it.
A plan has tables for all that is wanted. A name may only be written if there is a plan with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from fimlsp.languages.sql.schema import Schema, Table, Types

STAR = "*"
"""Stands for all columns of a table."""

MOST_SOURCES = 16
"""Tables in one `FROM`."""

_MOST_TRIED = 2_000
_MOST_KEPT = 16_384


@dataclass(frozen=True, order=True, slots=True)
class Reference:
    """The name of a column; *qualifier* is the name of a table, or empty."""

    qualifier: str
    column: str


@dataclass(frozen=True, slots=True)
class Source:
    """A table in `FROM` under a name."""

    name: str
    table: Table


Sources = tuple[Source, ...]
Wanted = tuple[tuple[Reference, Types], ...]
"""References and their possible types, sorted."""


def owners(sources: Sources, reference: Reference) -> list[Source]:
    """The tables among *sources* that have the column."""
    qualifier, column = reference.qualifier, reference.column
    return [
        source
        for source in sources
        if (not qualifier or qualifier == source.name) and (column == STAR or column in source.table.columns)
    ]


def fits(sources: Sources, wanted: Wanted) -> bool:
    """True if nothing that is *wanted* is ambiguous, of another type, or missing in a table of its name."""
    names = {source.name for source in sources}
    for reference, types in wanted:
        found = owners(sources, reference)
        if len(found) > 1 or (not found and reference.qualifier in names):
            return False
        if found and reference.column != STAR and found[0].table.columns[reference.column] not in types:
            return False
    return True


def lacking(sources: Sources, wanted: Wanted) -> frozenset[str]:
    """The names of tables that are wanted and not among *sources*."""
    names = {source.name for source in sources}
    return frozenset(reference.qualifier for reference, _ in wanted) - names - {""}


@lru_cache(_MOST_KEPT)
def plan(schema: Schema, sources: Sources, wanted: Wanted) -> Sources | None:
    """Further tables, with which *sources* have all that is *wanted*; None if none are found.

    This is the search for an exact cover: each bare column needs one table, and may not be in two.
    """
    if not fits(sources, wanted):
        return None
    bare = tuple(pair for pair in wanted if not pair[0].qualifier)
    covered = sum(_cover(source.table, bare) or 0 for source in sources)
    groups = [
        _options(schema, name, tuple(pair for pair in wanted if pair[0].qualifier == name), bare)
        for name in sorted(lacking(sources, wanted))
    ]
    return _Search(groups, _options(schema, "", (), bare), (1 << len(bare)) - 1).found(0, covered)


def _cover(table: Table, bare: Wanted) -> int | None:
    """A bit for each *bare* column that *table* has; None if one is of another type."""
    cover = 0
    for number, (reference, types) in enumerate(bare):
        type_ = table.columns.get(reference.column)
        if type_ is not None:
            if type_ not in types:
                return None
            cover |= 1 << number
    return cover


@lru_cache(_MOST_KEPT)
def _options(schema: Schema, name: str, own: Wanted, bare: Wanted) -> list[tuple[int, Source]]:
    """The tables that may be called *name*, or keep theirs, each with the *bare* columns that it has.

    They have all columns that are wanted of that name, which are *own*. The best ones come first. Of those
    with the same columns there is one.
    """
    tables = [schema.tables[name]] if name in schema.tables else schema.tables.values()
    found = dict[int, Source]()
    for table in sorted(tables, key=lambda table: (len(table.name), table.name)):
        source, cover = Source(name or table.name, table), _cover(table, bare)
        if cover is not None and (cover or name) and fits((source,), own):
            found.setdefault(cover, source)
    return sorted(found.items(), key=lambda option: -option[0].bit_count())


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """The search for tables.

    Attributes:
        groups: for each table that is wanted by its name, those that it may be.
        others: tables with columns that are wanted.
        all_columns: the bits of all columns that are wanted.
        failed: places without a way on.
    """

    groups: list[list[tuple[int, Source]]]
    others: list[tuple[int, Source]]
    all_columns: int
    failed: set[tuple[int, int]] = field(default_factory=set)

    def found(self, number: int, covered: int) -> Sources | None:
        """Tables for the groups from *number* on, and for the columns that are not yet *covered*."""
        is_named = number < len(self.groups)
        if not is_named and covered == self.all_columns:
            return ()
        if (number, covered) in self.failed or len(self.failed) > _MOST_TRIED:
            return None
        missing = ~covered & (covered + 1)  # the lowest bit
        for cover, source in self.groups[number] if is_named else self.others:
            if not cover & covered and (is_named or cover & missing):
                rest = self.found(number + is_named, covered | cover)
                if rest is not None:
                    return (source, *rest)
        self.failed.add((number, covered))
        return None
