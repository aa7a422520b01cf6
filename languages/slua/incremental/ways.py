"""Where paths such as `a.b(c).d` can lead, by the types of what they name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush

from fimlsp.languages.slua.checking.scopes import Variable
from fimlsp.languages.slua.incremental.environment import Environment
from fimlsp.languages.slua.incremental.inhabitants import Inhabitants
from fimlsp.languages.slua.incremental.machine import Value
from fimlsp.languages.slua.incremental.wanted import Wanted, may_begin
from fimlsp.languages.slua.types import Field, Function, Table, Type


@dataclass(frozen=True)
class ValueGoal:
    """A path is to lead to what is *wanted*, or what operators of *level* make that."""

    wanted: Wanted
    level: int

    def is_met(self, value: Value, fixed: str, called: bool, scope: Inhabitants) -> bool:
        """Whether a path may end with *value*."""
        del fixed, called, scope
        return may_begin(value, self.wanted, self.level)

    def variables(self, environment: Environment) -> frozenset[str]:
        """The variables that such a path may begin with."""
        return _first_variables(self, environment)


@dataclass(frozen=True)
class StatementGoal:
    """A path is to end with a call, or with what can be assigned to."""

    def is_met(self, value: Value, fixed: str, called: bool, scope: Inhabitants) -> bool:
        """Whether a path may end with *value*."""
        return called or (not fixed and scope.has(value.type))

    def variables(self, environment: Environment) -> frozenset[str]:
        """The variables that such a path may begin with."""
        return _first_variables(self, environment)


Goal = ValueGoal | StatementGoal


@lru_cache(512)
def _first_variables(goal: Goal, environment: Environment) -> frozenset[str]:
    scope = environment.inhabitants
    return frozenset(
        variable.name for variable in environment.variables.values() if begins(goal, variable, scope)
    )


def begins(goal: Goal, variable: Variable, scope: Inhabitants) -> bool:
    """Whether a path to *goal* may begin with *variable*."""
    return reaches(goal, Value(variable.type), variable.fixed, False, scope)


@lru_cache(512)
def signs_towards(goal: Goal, type_: Type, scope: Inhabitants) -> frozenset[str]:
    """Which of `.` and `(` may come behind a value of *type_* on a path to *goal*."""
    return frozenset(text[0] for text, *rest in steps(type_, scope) if reaches(goal, *rest, scope))


@lru_cache(4096)
def reaches(goal: Goal, value: Value, fixed: str, called: bool, scope: Inhabitants) -> bool:
    """Whether a path that has come to *value* can go on to *goal*, or is there."""
    return cheapest_way(goal, value, fixed, called, scope) is not None


@lru_cache(4096)
def cheapest_way(goal: Goal, start: Value, fixed: str, called: bool, scope: Inhabitants) -> str | None:
    """The shortest text with which a path at *start* comes to *goal*; None if it cannot."""
    waiting: list[tuple[int, str, int, Value, str, bool]] = [(0, "", 0, start, fixed, called)]
    seen: set[tuple[Value, bool, bool]] = set()
    count = 0
    while waiting:
        _, text, _, value, fixed, called = heappop(waiting)
        if goal.is_met(value, fixed, called, scope):
            return text
        key = (value, bool(fixed), called)
        if key in seen or value.optional:
            continue
        seen.add(key)
        for added, following, is_fixed, is_call in steps(value.type, scope):
            count += 1
            heappush(waiting, (len(text + added), text + added, count, following, is_fixed, is_call))
    return None


def steps(type_: Type, scope: Inhabitants) -> Iterator[tuple[str, Value, str, bool]]:
    """What a path may go on with behind a value of *type_*, and what it comes to."""
    if isinstance(type_, Table):
        for field in type_.fields.values():
            yield f".{field.name}", *value_of(field), False
    elif isinstance(type_, Function):
        arguments = scope.arguments(type_)
        if arguments is not None:
            yield f"({arguments})", Value(type_.result), "fixed", True


def value_of(field: Field) -> tuple[Value, str]:
    """The value that *field* has, and why it cannot be assigned to; empty if it can."""
    return Value(field.type, field.optional), "" if field.mutable else "fixed"
