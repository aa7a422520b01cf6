"""The tasks of a query's clauses after its tables: the condition, groups, order and limits."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fimlsp.languages.sql.expressions import AfterName, Operand
from fimlsp.languages.sql.lexemes import ExpectedTokens
from fimlsp.languages.sql.machine import Choice, Heavier, Machine, Repeat, Sign, Step, Task
from fimlsp.languages.sql.schema import ANY
from fimlsp.languages.sql.scopes import Clause
from fimlsp.languages.sql.sources import Reference
from fimlsp.languages.sql.values import BOOLEAN, NAME


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
