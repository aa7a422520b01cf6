"""The parser's state between two lexemes of a query: the core's stack of tasks, with scopes and values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from fimlsp.languages.sql.lexemes import KEYWORDS, SIGNS, ExpectedTokens
from fimlsp.languages.sql.schema import Types
from fimlsp.languages.sql.scopes import Clause, Environment
from fimlsp.languages.sql.values import Value
from fimlsp.languages.typed import machine as core
from fimlsp.languages.typed.lexicon import needs_space
from fimlsp.languages.typed.machine import Stack

_NO_CALL = (KEYWORDS | SIGNS) - {"cast"}

MOST_WEIGHT = 60
"""Beyond this weight only required lexemes are accepted, so that the limits of SQLite are kept."""


class Task(core.Task["Machine"]):
    """Something to read in a query."""


class Step(core.Step["Machine"], Task):
    """A task that reads nothing."""


class Sign(core.Sign["Machine"], Task):
    """A keyword or sign."""


class Choice(core.Choice["Machine"], Task):
    """Tasks by the token that comes."""


class Repeat(core.Repeat["Machine"], Task):
    """The rest of a list."""

    size: ClassVar[int] = 4


class Heavier(Step):
    """One more operator, function, branch or comma."""

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        return machine.heavier()


class QueryEnd(core.TextEnd["Machine"], Task):
    """The end of the text."""


@dataclass(frozen=True, slots=True)
class Purpose:
    """The use of a query.

    Attributes:
        types: of its columns.
        is_single: True if it has one column.
        is_named: True if each column has a name of its own, as the query becomes a table.
        may_be_star: True if `*` may stand for all columns.
        is_table: True if it stands in `FROM`.
    """

    types: Types
    is_single: bool = False
    is_named: bool = False
    may_be_star: bool = False
    is_table: bool = False


@dataclass(frozen=True)
class Machine(core.Machine):
    """A place of a query, between two lexemes.

    Attributes:
        environment: the schema, and the queries around the place.
        query: makes the tasks of a query after `SELECT`.
        value: the expression that was read last; None after `*`.
        weight: of the part of the query so far. Each operator, function, branch and comma weighs one.
    """

    expects: ClassVar[type[ExpectedTokens]] = ExpectedTokens

    environment: Environment
    query: Callable[[Purpose], tuple[Task, ...]]
    value: Value | None = None
    weight: int = 0

    def on(self, stack: Stack | None) -> Machine:
        """As in the core."""
        return Machine(stack, self.environment, self.query, self.value, self.weight)

    @property
    def taken_names(self) -> frozenset[str]:
        """As in the core."""
        environment = self.environment
        names = (frame.result_names | frame.bare.keys() for frame in environment.frames[-2:])
        return environment.taken_names.union(*names)

    def spelled(self, token: str) -> str:
        """As in the core: keywords in capitals, names as in the schema."""
        return token.upper() if token in KEYWORDS else self.environment.schema.spellings.get(token, token)

    def has_space(self, before: str, token: str) -> bool:
        """As in the core: where people write them."""
        is_call = token == "(" and before not in _NO_CALL
        if not before or before in ("(", ".") or token in (")", ",", ".", ";") or is_call:
            return needs_space(before, token)
        return True

    def with_environment(self, environment: Environment) -> Machine:
        """With another environment."""
        return Machine(self.stack, environment, self.query, self.value, self.weight)

    def with_value(self, value: Value | None) -> Machine:
        """After the expression *value*."""
        return Machine(self.stack, self.environment, self.query, value, self.weight)

    def with_weight(self, weight: int) -> Machine:
        """With another weight."""
        return Machine(self.stack, self.environment, self.query, self.value, weight)

    def heavier(self) -> Machine:
        """With one more operator, function, branch or comma."""
        return self.with_weight(self.weight + 1)

    def in_clause(self, clause: Clause) -> Machine:
        """At the start of a part of the innermost query."""
        frame = replace(self.environment.frame, clause=clause)
        return self.with_environment(self.environment.with_frame(frame)).with_weight(0)

    def narrowed(self, value: Value, types: Types) -> Machine:
        """After *value*, which has one of *types*, some of those that it may have."""
        machine = self.with_value(replace(value, types=types))
        if value.reference is None or types == value.types:
            return machine
        return machine.with_environment(self.environment.narrowed(value.reference, types))

    @property
    def is_full(self) -> bool:
        """As in the core; also if a part of the query is heavy."""
        return self.height > self.most_height or self.weight > MOST_WEIGHT
