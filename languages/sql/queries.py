"""The state before a query, and its tasks: columns, tables and joins, condition, groups, order and limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from fimlsp.languages.sql.expressions import AfterName, Operand
from fimlsp.languages.sql.lexemes import ExpectedTokens
from fimlsp.languages.sql.machine import (
    BOOLEAN,
    NAME,
    Choice,
    Heavier,
    Machine,
    Purpose,
    QueryEnd,
    Repeat,
    Sign,
    Step,
    Task,
)
from fimlsp.languages.sql.schema import ANY, Schema, SchemaError, Table
from fimlsp.languages.sql.scopes import STAR, Clause, Environment, Output, Reference
from fimlsp.languages.typed.lexicon import PLACEHOLDER
from fimlsp.languages.typed.state import TextState


@dataclass(frozen=True, slots=True)
class Enter(Step):
    """The start of a *clause*."""

    clause: Clause

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        return machine.in_clause(self.clause)


def _condition(word: str, clause: Clause) -> Choice:
    return Choice({word: (Enter(clause), Operand(BOOLEAN))}, may_be_missing=True)


WHERE, HAVING = _condition("where", Clause.WHERE), _condition("having", Clause.HAVING)


# Groups.


@dataclass(frozen=True, slots=True)
class Group(Task):
    """`GROUP BY`, which has to come if there are aggregates beside other columns."""

    def may_end(self, machine: Machine) -> bool:
        """As in `Task`."""
        return not machine.environment.frame.ungrouped

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        return ExpectedTokens(frozenset(() if machine.environment.frame.has_star else ("group",)))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        del token
        machine = machine.in_clause(Clause.GROUP)
        frame = replace(machine.environment.frame, group=frozenset())
        machine = machine.with_environment(machine.environment.with_frame(frame))
        return machine.push(Sign("by"), GroupItem(), NoteGroup(), AfterGroupItem(), HAVING)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        return "" if self.may_end(machine) else "group"


@dataclass(frozen=True, slots=True)
class GroupItem(Task):
    """A column to group by."""

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        return Operand(ANY, NAME).names(machine)

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        return machine.push(AfterName(token, ANY, NAME))

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        environment, sources = machine.environment, machine.environment.frame.sources
        columns = [Reference(source.name, column) for source in sources for column in source.table.columns]
        needed = environment.frame.ungrouped or columns
        texts = (
            reference.column
            if reference.column in environment.columns
            else f"{reference.qualifier}.{reference.column}"
            for reference in needed
        )
        return min(texts, key=lambda text: (len(text), text))


@dataclass(frozen=True, slots=True)
class NoteGroup(Step):
    """After a column to group by."""

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        frame, value = machine.environment.frame, machine.value
        assert value is not None
        assert value.reference is not None
        grouped = (frame.group or frozenset()) | {frame.resolved(value.reference)}
        return machine.with_environment(machine.environment.with_frame(replace(frame, group=grouped)))


@dataclass(frozen=True, slots=True)
class AfterGroupItem(Task):
    """After a column to group by."""

    def may_end(self, machine: Machine) -> bool:
        """As in `Task`."""
        return not machine.environment.frame.ungrouped

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        del machine
        return ExpectedTokens(frozenset((",",)))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        del token
        return machine.heavier().push(GroupItem(), NoteGroup(), self)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        return "" if self.may_end(machine) else ","


# Order and limits.


@dataclass(frozen=True, slots=True)
class OrderTerm(Task):
    """An expression to order by. It starts with a name, as a lone number would be the place of a column."""

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        return Operand(ANY).names(machine) | ExpectedTokens(_outputs(machine))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        return machine.push(AfterName(token, ANY, Operand(ANY).level, is_alias=token in _outputs(machine)))

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        names = {*_outputs(machine), *machine.environment.columns}
        return min(names, key=lambda name: (len(name), name), default="lower('')")


def _outputs(machine: Machine) -> frozenset[str]:
    """The names that `ORDER BY` knows besides columns."""
    return machine.environment.frame.given_names


@dataclass(frozen=True, slots=True)
class Integer(Task):
    """A number of rows."""

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        del machine
        return ExpectedTokens(integer=True)

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        del token
        return machine

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        del machine
        return "1"


_TERM = (OrderTerm(), Choice({"asc": (), "desc": ()}, may_be_missing=True))

ORDER = Choice(
    {"order": (Enter(Clause.ORDER), Sign("by"), *_TERM, Repeat(",", (Heavier(), *_TERM)))},
    may_be_missing=True,
)
LIMIT = Choice(
    {"limit": (Integer(), Choice({"offset": (Integer(),)}, may_be_missing=True))}, may_be_missing=True
)
SEMICOLON = Choice({";": ()}, may_be_missing=True)


MOST_DEFINED = 8
"""Queries with names before the main one."""


def query_tasks(purpose: Purpose) -> tuple[Task, ...]:
    """The tasks of a query after `SELECT`."""
    return Item(purpose, is_first=True), WHERE, Group(), ORDER, LIMIT


# Queries with names.


@dataclass(frozen=True, slots=True)
class Start(Task):
    """The start of the text: the query, or `WITH` and others before it."""

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        del machine
        return ExpectedTokens(frozenset(("select", "with")))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        if token == "with":
            return machine.push(TableToDefine(1))
        tasks = machine.query(Purpose(ANY, may_be_star=True))
        return machine.with_environment(machine.environment.entered()).push(*tasks)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        del machine
        return "select"


@dataclass(frozen=True, slots=True)
class TableToDefine(Task):
    """The name of a query that becomes a table, the last of *count*."""

    count: int

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        return ExpectedTokens(taken_names=machine.environment.taken_names)

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        query = (Sign("select"), EnterQuery(), *machine.query(Purpose(ANY, is_named=True)))
        return machine.push(
            Sign("as"), Sign("("), *query, DefineTable(token), Sign(")"), AfterDefinition(self.count)
        )

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        del machine
        return PLACEHOLDER.format(0)


@dataclass(frozen=True, slots=True)
class EnterQuery(Step):
    """The start of a query that becomes a table."""

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        return machine.with_environment(machine.environment.entered(is_table=True)).with_weight(0)


@dataclass(frozen=True, slots=True)
class DefineTable(Step):
    """The end of a query that becomes a table with this *name*."""

    name: str

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        around, table = _as_table(machine, self.name)
        return machine.with_environment(around.with_table(table))


def _as_table(machine: Machine, name: str) -> tuple[Environment, Table]:
    """The scope around the query at its end, and the query as a table called *name*."""
    results = machine.environment.frame.results.items()
    return machine.environment.left(), Table(name, {column: next(iter(types)) for column, types in results})


@dataclass(frozen=True, slots=True)
class AfterDefinition(Task):
    """After a query that became a table, the last of *count*."""

    count: int

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        del machine
        return ExpectedTokens(frozenset(("select", *((",",) if self.count < MOST_DEFINED else ()))))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        if token == ",":
            return machine.push(TableToDefine(self.count + 1))
        return Start().take(machine, token)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        del machine
        return "select"


# The columns of the result.


@dataclass(frozen=True, slots=True)
class Item(Task):
    """A column of the result."""

    purpose: Purpose
    count: int = 1
    is_first: bool = False

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        words = {"distinct"} if self.is_first else set[str]()
        if self.purpose.may_be_star and not machine.environment.frame.is_aggregate:
            words.add(STAR)
        return self._operand().expected(machine) | ExpectedTokens(frozenset(words))

    def _operand(self) -> Operand:
        return Operand(self.purpose.types, may_be_star=self.purpose.may_be_star)

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        if token == "distinct":
            return machine.push(replace(self, is_first=False))
        machine = machine.push(AfterItem(self.purpose, self.count))
        if token != STAR:
            return self._operand().take(machine, token)
        frame = replace(machine.environment.frame, has_star=True)
        return machine.with_environment(machine.environment.with_frame(frame)).with_value(None)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        words = self.expected(machine).words
        return STAR if STAR in words else self._operand().finish(machine)


@dataclass(frozen=True, slots=True)
class AfterItem(Task):
    """After a column of the result, the last of *count*; *is_noted*: True if its name was given."""

    purpose: Purpose
    count: int
    is_noted: bool = False

    def _has_name(self, machine: Machine) -> bool:
        """True if the column has all the name that it needs."""
        if self.is_noted or not self.purpose.is_named or machine.value is None:
            return True
        environment, name = machine.environment, machine.value.name
        if not name or name in environment.frame.result_names:
            return False
        return not self.purpose.is_table or environment.may_output(name, machine.value.types)

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        words = set() if self.is_noted or machine.value is None else {"as"}
        if self._has_name(machine):
            words |= {"from"} if self.purpose.is_single else {"from", ","}
        return ExpectedTokens(frozenset(words))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        if token == "as":
            return machine.push(OutputName(self.purpose, self.count))
        if not self.is_noted and machine.value is not None:
            machine = _with_output(machine, machine.value.name, is_given=False)
        if token == ",":
            return machine.with_weight(self.count).push(Item(self.purpose, self.count + 1))
        return machine.with_weight(0).push(TableName(), AfterSource())

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        return "from" if self._has_name(machine) else "as"


def _with_output(machine: Machine, name: str, *, is_given: bool) -> Machine:
    """With the value that was read last as a column of the result called *name*."""
    value, frame = machine.value, machine.environment.frame
    assert value is not None
    output = Output(name, value.types, value.reference, is_given)
    frame = replace(frame, outputs=(*frame.outputs, output))
    return machine.with_environment(machine.environment.with_frame(frame))


@dataclass(frozen=True, slots=True)
class OutputName(Task):
    """The name of a column of the result."""

    purpose: Purpose
    count: int

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        environment = machine.environment
        if not self.purpose.is_named:
            return ExpectedTokens(taken_names=frozenset())
        names = {*environment.frame.result_names}
        if self.purpose.is_table and machine.value is not None:
            wanted, types = environment.frames[-2].bare, machine.value.types
            names.update(name for name in wanted if not environment.may_output(name, types))
        return ExpectedTokens(taken_names=frozenset(names))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        return _with_output(machine, token, is_given=True).push(
            AfterItem(self.purpose, self.count, is_noted=True)
        )

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        del machine
        return PLACEHOLDER.format(0)


# Tables.


@dataclass(frozen=True, slots=True)
class TableName(Task):
    """The name of a table after `FROM` or `JOIN`."""

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        environment = machine.environment
        return ExpectedTokens(
            environment.possible_tables | ({"("} if environment.may_derive else frozenset())
        )

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        if token == "(":
            tasks = machine.query(Purpose(ANY, is_named=True, is_table=True))
            return machine.push(Sign("select"), EnterQuery(), *tasks, LeaveTable())
        return machine.push(AfterTable(machine.environment.schema.tables[token]))

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        plan = machine.environment.frame.plan
        if plan:
            return f"{plan[0].table.name} {plan[0].name}".removesuffix(f" {plan[0].table.name}")
        tables = machine.environment.possible_tables
        return min(tables, key=lambda name: (len(name), name), default="(")


class LeaveTable(Step):
    """The end of a query in `FROM`."""

    size: ClassVar[int] = 8

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        around, table = _as_table(machine, "")
        return machine.with_environment(around).with_weight(0).push(Sign(")"), AfterTable(table))


@dataclass(frozen=True, slots=True)
class AfterTable(Task):
    """After a table: its name in this query, if it gets one; *has_as*: True after `AS`."""

    table: Table
    has_as: bool = False

    def may_end(self, machine: Machine) -> bool:
        """As in `Task`."""
        return bool(self.table.name) and not self.has_as and self._added(machine, self.table.name) is not None

    def leave(self, machine: Machine) -> Machine:
        """As in `Task`."""
        added = self._added(machine, self.table.name)
        assert added is not None
        return added

    def _added(self, machine: Machine, name: str) -> Machine | None:
        """With the table, called *name*."""
        environment = machine.environment.with_source(name, self.table)
        return None if environment is None else machine.with_environment(environment)

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        environment = machine.environment
        aliases, may_be_new = environment.aliases(self.table), environment.may_be_renamed(self.table)
        words = aliases | ({"as"} if not self.has_as and (aliases or may_be_new) else set())
        return ExpectedTokens(words, taken_names=environment.taken_names if may_be_new else None)

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        if token == "as":
            return machine.push(replace(self, has_as=True))
        added = self._added(machine, token)
        assert added is not None, token
        return added

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        if self.may_end(machine):
            return ""
        planned = [source.name for source in machine.environment.frame.plan if source.table is self.table]
        aliases = machine.environment.aliases(self.table)
        known = [*(name for name in planned if name in aliases), *sorted(aliases)]
        return known[0] if known else PLACEHOLDER.format(0)


_JOINS: Mapping[str, tuple[Task, ...]] = {
    **dict.fromkeys(("inner", "cross"), (Sign("join"),)),
    "left": (Choice({"join": (), "outer": (Sign("join"),)}),),
}
"""The tasks after the first word of a join, if it is not `JOIN` itself."""


@dataclass(frozen=True, slots=True)
class AfterSource(Task):
    """After a table and the condition of its join: another table, or the end of `FROM`."""

    def may_end(self, machine: Machine) -> bool:
        """As in `Task`."""
        return not machine.environment.frame.plan

    def leave(self, machine: Machine) -> Machine:
        """As in `Task`."""
        return machine.in_clause(Clause.WHERE)

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        has_more = bool(TableName().expected(machine).words)
        return ExpectedTokens(frozenset((",", "join", "inner", "left", "cross") if has_more else ()))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        condition = () if token in (",", "cross") else (Sign("on"), Operand(BOOLEAN))
        return machine.with_weight(0).push(*_JOINS.get(token, ()), TableName(), *condition, self)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        return "" if self.may_end(machine) else ","


class QueryState(TextState[Machine]):
    """The state after the first bytes of a query."""


def begin(schema: Schema) -> QueryState:
    """The state before a query over *schema*.

    Raises:
        SchemaError: it has no tables.
    """
    if not schema.tables:
        raise SchemaError("Cannot write queries: the schema has no tables. Give it CREATE TABLE statements.")
    return QueryState(Machine(None, Environment(schema), query_tasks).push(Start(), SEMICOLON, QueryEnd()))
