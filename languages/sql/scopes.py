"""The queries around a place, the tables that they need, and the columns that may be named there.

The names of columns come before the tables that have them. So each name wants a table. A qualified one, such
as `u.name`, wants a table called `u` with that column. A bare one wants exactly one table with it. A plan has
tables for all that is wanted. A name may only be written if there is a plan with it.

A column is looked for in the innermost query. After `FROM`, a qualified one may belong to a query around it.
With an aggregate or `GROUP BY`, only grouped columns may stand outside of aggregates. All values are
immutable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property, lru_cache

from fimlsp.languages.sql.schema import ANY, Schema, Table, Type, Types

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


Columns = Mapping[str, Types]
"""Names of columns, each with its possible types."""

_ORDER = tuple(Type)
_NEW = "?"
"""Stands for any new name of a table."""


class Clause(Enum):
    """The part of a query at a place."""

    ITEMS = "the columns before `FROM`"
    ON = "the tables, and the conditions of joins"
    WHERE = "the condition, or the end"
    GROUP = "the columns after `GROUP BY`"
    HAVING = "the condition of groups"
    ORDER = "the terms after `ORDER BY`"


@dataclass(frozen=True, slots=True)
class Output:
    """A column of the result; *reference* is the column that decides its type, if that is still open.

    *is_given* is True if the query gives it its name with `AS`.
    """

    name: str
    types: Types
    reference: Reference | None
    is_given: bool


@dataclass(frozen=True, slots=True)
class Frame:
    """One query.

    Attributes:
        clause: the part at the place.
        sources: the tables after `FROM` so far.
        wanted: the references that tables may still have to serve.
        plan: further tables that serve them.
        options: the plans for the types that the column which was read last may have.
        plain: the references before `FROM` that are outside of aggregates.
        is_aggregate: True if there is an aggregate.
        in_aggregate: True within the arguments of one.
        has_star: True if all columns are selected.
        group: the grouped columns, with the names of their tables; None without `GROUP BY`.
        outputs: the columns of the result so far.
        is_table: True if it becomes a table. Then it does not see the queries around it.
    """

    clause: Clause = Clause.ITEMS
    sources: Sources = ()
    wanted: Wanted = ()
    plan: Sources = ()
    options: tuple[tuple[Type, Sources], ...] = ()
    plain: frozenset[Reference] = frozenset()
    is_aggregate: bool = False
    in_aggregate: bool = False
    has_star: bool = False
    group: frozenset[Reference] | None = None
    outputs: tuple[Output, ...] = ()
    is_table: bool = False

    @property
    def is_open(self) -> bool:
        """True if tables may still come."""
        return self.clause in (Clause.ITEMS, Clause.ON)

    @property
    def bare(self) -> Columns:
        """The wanted columns without the name of a table."""
        return {reference.column: types for reference, types in self.wanted if not reference.qualifier}

    @property
    def names(self) -> frozenset[str]:
        """The names of its tables, so far as they are known."""
        return frozenset(
            {source.name for source in self.sources}
            | {reference.qualifier for reference, _ in self.wanted if reference.qualifier}
        )

    def resolved(self, reference: Reference) -> Reference:
        """*reference* with the name of its table."""
        return Reference(owners(self.sources, reference)[0].name, reference.column)

    @property
    def ungrouped(self) -> frozenset[Reference]:
        """The columns that have to be grouped and are not."""
        if not self.is_aggregate and self.group is None:
            return frozenset()
        return frozenset(map(self.resolved, self.plain)) - (self.group or frozenset())

    @property
    def result_names(self) -> frozenset[str]:
        """The names of the columns of the result so far."""
        return frozenset(output.name for output in self.outputs)

    @property
    def given_names(self) -> frozenset[str]:
        """The names that the query gives to columns of the result."""
        return frozenset(output.name for output in self.outputs if output.is_given)

    @property
    def results(self) -> Columns:
        """The columns of the result, once all tables are known."""
        return {output.name: self._type(output) for output in self.outputs}

    def _type(self, output: Output) -> Types:
        if output.reference is None or len(output.types) == 1:
            return output.types
        (owner,) = owners(self.sources, output.reference)
        return frozenset((owner.table.columns[output.reference.column],))

    def may_stand_ungrouped(self, reference: Reference) -> bool:
        """True if the grouping allows the column of one of its tables here."""
        if self.in_aggregate or self.clause not in (Clause.HAVING, Clause.ORDER):
            return True
        if not self.is_aggregate and self.group is None:
            return True
        return self.resolved(reference) in (self.group or frozenset())


@dataclass(frozen=True, eq=False)
class Environment:
    """The schema and the queries around a place, the innermost last."""

    schema: Schema
    frames: tuple[Frame, ...] = ()

    @property
    def frame(self) -> Frame:
        """The innermost query."""
        return self.frames[-1]

    def with_frame(self, frame: Frame, at: int = -1) -> Environment:
        """With another query in the place of the one *at* that position."""
        frames = list(self.frames)
        frames[at] = frame
        return Environment(self.schema, tuple(frames))

    def entered(self, *, is_table: bool = False) -> Environment:
        """In a new query; *is_table*: one that becomes a table."""
        return Environment(self.schema, (*self.frames, Frame(is_table=is_table)))

    def with_table(self, table: Table) -> Environment:
        """With another table that queries may use."""
        return Environment(self.schema.with_table(table), self.frames)

    def left(self) -> Environment:
        """After the innermost query."""
        return Environment(self.schema, self.frames[:-1])

    # Names of columns.

    @cached_property
    def columns(self) -> Columns:
        """The columns that may be named without a table."""
        frame, known = self.frame, dict[str, set[Type]]()
        if frame.clause is Clause.ITEMS:
            for sources in self._possible_sources():
                counts = Counter(column for source in sources for column in source.table.columns)
                for source in sources:
                    for column, type_ in source.table.columns.items():
                        if counts[column] == 1:
                            known.setdefault(column, set()).add(type_)
        tables = self.schema.tables.values() if frame.clause is Clause.ITEMS else self._tables()
        found = dict[str, Types]()
        for column, types in _columns(tables).items():
            rest = types - known.get(column, set())
            possible = (types - rest) | (self.types(Reference("", column), rest) if rest else frozenset())
            if possible:
                found[column] = possible
        return found

    def _possible_sources(self) -> Iterator[Sources]:
        """Some ways in which `FROM` may go on."""
        frame = self.frame
        yield frame.plan
        for table in self.schema.tables.values():
            first = (Source(table.name, table),)
            rest = plan(self.schema, first, frame.wanted)
            if rest is not None:
                yield (*first, *rest)

    def _tables(self) -> list[Table]:
        return [source.table for source in self.frame.sources]

    @cached_property
    def qualifiers(self) -> Mapping[str, Columns]:
        """The known names of tables that may stand before a column, with these columns."""
        names = dict.fromkeys(name for frame in self.frames for name in frame.names)
        if self.frame.clause is Clause.ITEMS:
            names = dict.fromkeys((*self.frame.names, *self.schema.tables))
        found = {name: self.columns_of(name) for name in names}
        return {name: columns for name, columns in found.items() if columns}

    @cached_property
    def columns_of_new(self) -> Columns:
        """The columns that may follow a new name of a table; none after `FROM`."""
        return self.columns_of(_NEW) if self.frame.clause is Clause.ITEMS else {}

    def columns_of(self, qualifier: str) -> Columns:
        """The columns that may follow *qualifier*."""
        at = self._home(qualifier)
        if at is None:
            return {}
        frame = self.frames[at]
        known = [source.table for source in frame.sources if source.name == qualifier]
        if not known and frame.clause is Clause.ITEMS:
            named = self.schema.tables.get(qualifier)
            tables = self.schema.tables.values() if named is None else (named,)
            return _columns(
                table
                for table in tables
                if plan(self.schema, (Source(qualifier, table),), frame.wanted) is not None
            )
        references = (Reference(qualifier, column) for table in known for column in table.columns)
        found = {reference.column: self.types(reference) for reference in references}
        return {column: types for column, types in found.items() if types}

    def _home(self, qualifier: str) -> int | None:
        """The position of the query that *qualifier*, or a bare name, belongs to."""
        top = len(self.frames) - 1
        if not qualifier or self.frame.clause is Clause.ITEMS:
            return top
        for at in range(top, -1, -1):
            frame = self.frames[at]
            if qualifier in frame.names:
                return at if at == top or self._sees_around else None
            if frame.is_open or frame.is_table:  # a table that is still to come could have that name
                return None
        return None

    @property
    def _sees_around(self) -> bool:
        """True if columns of the queries around may come."""
        return not self.frame.in_aggregate and self.frame.clause not in (Clause.GROUP, Clause.ORDER)

    def types(self, reference: Reference, among: Types = ANY) -> Types:
        """The types *among* those given that the column may have; none if it may not be named."""
        at = self._home(reference.qualifier)
        if at is None:
            return frozenset()
        frame = self.frames[at]
        found = owners(frame.sources, reference)
        if frame.clause is not Clause.ITEMS and (len(found) != 1 or not frame.may_stand_ungrouped(reference)):
            return frozenset()
        if frame.is_open and not (found and reference.qualifier):
            return frozenset(type_ for type_, _ in self._options(frame, reference, among))
        return among & {found[0].table.columns[reference.column]}

    def _options(self, frame: Frame, reference: Reference, types: Types) -> tuple[tuple[Type, Sources], ...]:
        """The plans in which the column of *frame* has one of *types*."""
        before = dict(frame.wanted)
        possible = before.get(reference, ANY) & types
        plans = (
            (type_, plan(self.schema, frame.sources, _wanted(before, reference, frozenset((type_,)))))
            for type_ in Type
            if type_ in possible
        )
        room = MOST_SOURCES - len(frame.sources)
        return tuple((type_, found) for type_, found in plans if found is not None and len(found) <= room)

    def referred(self, reference: Reference, types: Types) -> Environment:
        """With a column that has one of *types*, which are possible."""
        at = self._home(reference.qualifier)
        assert at is not None
        frame = self.frames[at]
        if frame.is_open and not (reference.qualifier and owners(frame.sources, reference)):
            options = self._options(frame, reference, types)
            frame = _with_options(frame, reference, options)
        if frame.clause is Clause.ITEMS and not frame.in_aggregate and reference.column != STAR:
            frame = replace(frame, plain=frame.plain | {reference})
        return self.with_frame(frame, at)

    def narrowed(self, reference: Reference, types: Types) -> Environment:
        """With one of *types* for the column that was read last, some of those that it may have."""
        at = self._home(reference.qualifier)
        assert at is not None
        options = tuple(option for option in self.frames[at].options if option[0] in types)
        return self.with_frame(_with_options(self.frames[at], reference, options), at)

    # Tables.

    def with_source(self, name: str, table: Table) -> Environment | None:
        """With *table* after `FROM`, called *name*; None if then something that is wanted has no meaning."""
        frame, source = self.frame, Source(name, table)
        if any(name == other.name for other in frame.sources):
            return None
        sources = (*frame.sources, source)
        found = plan(self.schema, sources, frame.wanted)
        if found is None and source in frame.plan:
            found = tuple(other for other in frame.plan if other != source)
        if found is None or len(sources) + len(found) > MOST_SOURCES:
            return None
        return self.with_frame(replace(frame, clause=Clause.ON, sources=sources, plan=found))

    def aliases(self, table: Table) -> frozenset[str]:
        """The names that are wanted of tables, and that *table* may have."""
        frame = self.frame
        names = lacking(frame.sources, frame.wanted) - self.schema.tables.keys()
        return frozenset(name for name in names if self.with_source(name, table) is not None)

    def may_be_renamed(self, table: Table) -> bool:
        """True if *table* may have a new name."""
        return self.with_source(_NEW, table) is not None

    def may_output(self, name: str, types: Types) -> bool:
        """True if a column *name* of *types* may come, in a query that becomes a table of the one around."""
        around = self.frames[-2]
        columns = {output.name: output.types for output in self.frame.outputs} | {name: types}
        if any(not types <= around.bare.get(column, ANY) for column, types in columns.items()):
            return False
        table = Table("", {column: min(types, key=_ORDER.index) for column, types in columns.items()})
        return self.left().may_be_renamed(table)

    @property
    def may_derive(self) -> bool:
        """True if a query may become one of the tables."""
        return self.may_be_renamed(Table("", {}))

    @cached_property
    def possible_tables(self) -> frozenset[str]:
        """The tables that may come after `FROM`."""
        return frozenset(
            name
            for name, table in self.schema.tables.items()
            if self.with_source(name, table) is not None or self.may_be_renamed(table) or self.aliases(table)
        )

    @property
    def taken_names(self) -> frozenset[str]:
        """Names that no table may get."""
        return frozenset(self.schema.tables.keys() | (self.frame.names if self.frames else frozenset()))

    # Aggregates.

    @property
    def may_aggregate(self) -> bool:
        """True if an aggregate may come."""
        frame = self.frame
        if frame.in_aggregate:
            return False
        if frame.clause is Clause.ITEMS:
            return not frame.has_star
        if frame.clause is Clause.ORDER:
            return frame.is_aggregate or frame.group is not None
        return frame.clause is Clause.HAVING

    def in_arguments(self) -> Environment:
        """Within the arguments of an aggregate."""
        return self.with_frame(replace(self.frame, in_aggregate=True, is_aggregate=True))

    def after_arguments(self) -> Environment:
        """After the arguments of an aggregate."""
        return self.with_frame(replace(self.frame, in_aggregate=False))


def _columns(tables: Iterable[Table]) -> Columns:
    """The columns of *tables*, with their types."""
    found = dict[str, Types]()
    for table in tables:
        for column, type_ in table.columns.items():
            found[column] = found.get(column, frozenset()) | {type_}
    return found


def _with_options(frame: Frame, reference: Reference, options: tuple[tuple[Type, Sources], ...]) -> Frame:
    """*frame* with the column that has one of the types of *options*, and the first of their plans."""
    wanted = _wanted(dict(frame.wanted), reference, frozenset(type_ for type_, _ in options))
    return replace(frame, wanted=wanted, plan=options[0][1], options=options)


def _wanted(before: Mapping[Reference, Types], reference: Reference, types: Types) -> Wanted:
    return tuple(sorted({**before, reference: types}.items(), key=lambda item: item[0]))
