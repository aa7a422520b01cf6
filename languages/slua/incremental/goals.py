"""The goals of expressions and paths: the types that operators can produce, and where `a.b(c).d` can lead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from heapq import heappop, heappush

from fimlsp.languages.slua.incremental.environment import Environment, Inhabitants
from fimlsp.languages.slua.incremental.machine import Value
from fimlsp.languages.slua.scopes import Variable
from fimlsp.languages.slua.types import BOOLEAN, NUMBER, STRING, VOID, Field, Function, Table, Type

OR, AND, COMPARISON, CONCATENATION, SUM, PRODUCT, UNARY, POWER = range(1, 9)
LEVELS = {
    "or": OR,
    "and": AND,
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "~="), COMPARISON),
    "..": CONCATENATION,
    **dict.fromkeys("+-", SUM),
    **dict.fromkeys("*/%", PRODUCT),
    "^": POWER,
}
ARITHMETIC = frozenset("+-*/%^")
LOGIC = frozenset(("and", "or"))
EQUALITIES = frozenset(("==", "~="))
ORDERS = frozenset(("<", "<=", ">", ">="))


class Condition(Enum):
    """The target of a condition, which is no particular type."""

    ANY = auto()
    """Any value is accepted."""
    BOOLEAN = auto()
    """A boolean, whose first operand may have another type: `1 < 2`."""


TargetType = Type | Condition


def target_for(type_: Type) -> TargetType:
    """The target where a value of *type_* belongs: any value may stand for a boolean."""
    return Condition.ANY if type_ is BOOLEAN else type_


def operators(value: Value, target: TargetType, level: int, most: int = POWER) -> frozenset[str]:
    """The operators from *level* to *most* that may follow *value*, so that the result suits *target*."""
    if isinstance(target, Condition):
        signs = set(LOGIC)
        if not value.optional and not isinstance(value.type, Function):
            signs |= EQUALITIES
        if not value.optional and value.type in (NUMBER, STRING):
            signs |= ORDERS
    else:
        signs = set[str]()
    if not value.optional and value.type is NUMBER and (target is NUMBER or isinstance(target, Condition)):
        signs |= ARITHMETIC
    if not value.optional and value.type is STRING and (target is STRING or isinstance(target, Condition)):
        signs.add("..")
    return frozenset(sign for sign in signs if level <= LEVELS[sign] <= most)


def satisfies(value: Value, target: TargetType) -> bool:
    """True if *value* suits *target* as it is."""
    if value.type is VOID:
        return False
    if target is Condition.ANY:
        return True
    return not value.optional and value.type == (BOOLEAN if target is Condition.BOOLEAN else target)


def can_become(value: Value, target: TargetType, level: int) -> bool:
    """True if *value* suits *target* as it is, or with operators after it."""
    if value.type is VOID:
        return False
    return satisfies(value, target) or (
        isinstance(target, Condition) and bool(operators(value, target, level) & _CONDITIONS)
    )


_CONDITIONS = LOGIC | EQUALITIES | ORDERS


@dataclass(frozen=True)
class ValueGoal:
    """A path has to lead to *target*, or to an operand from which operators of *level* produce it."""

    target: TargetType
    level: int

    def is_met(self, value: Value, fixed: str, called: bool, scope: Inhabitants) -> bool:
        """True if a path may end with *value*."""
        del fixed, called, scope
        return can_become(value, self.target, self.level)

    def variables(self, environment: Environment) -> frozenset[str]:
        """The variables that such a path may start with."""
        return _starting_variables(self, environment)


@dataclass(frozen=True)
class StatementGoal:
    """A path has to end with a call, or with something assignable."""

    def is_met(self, value: Value, fixed: str, called: bool, scope: Inhabitants) -> bool:
        """True if a path may end with *value*."""
        return called or (not fixed and scope.has(value.type))

    def variables(self, environment: Environment) -> frozenset[str]:
        """The variables that such a path may start with."""
        return _starting_variables(self, environment)


Goal = ValueGoal | StatementGoal


@lru_cache(512)
def _starting_variables(goal: Goal, environment: Environment) -> frozenset[str]:
    scope = environment.inhabitants
    return frozenset(
        variable.name for variable in environment.variables.values() if leads_to(goal, variable, scope)
    )


def leads_to(goal: Goal, variable: Variable, scope: Inhabitants) -> bool:
    """True if a path to *goal* may start with *variable*."""
    return reaches(goal, Value(variable.type), variable.fixed, False, scope)


@lru_cache(512)
def signs_towards(goal: Goal, type_: Type, scope: Inhabitants) -> frozenset[str]:
    """Those of `.` and `(` that may follow a value of *type_* on a path to *goal*."""
    return frozenset(text[0] for text, *rest in path_steps(type_, scope) if reaches(goal, *rest, scope))


@lru_cache(4096)
def reaches(goal: Goal, value: Value, fixed: str, called: bool, scope: Inhabitants) -> bool:
    """True if a path that has arrived at *value* is at *goal*, or can continue to it."""
    return cheapest_path(goal, value, fixed, called, scope) is not None


@lru_cache(4096)
def cheapest_path(goal: Goal, start: Value, fixed: str, called: bool, scope: Inhabitants) -> str | None:
    """The shortest text that takes a path from *start* to *goal*; None if there is none."""
    queue: list[tuple[int, str, int, Value, str, bool]] = [(0, "", 0, start, fixed, called)]
    seen: set[tuple[Value, bool, bool]] = set()
    count = 0
    while queue:
        _, text, _, value, fixed, called = heappop(queue)
        if goal.is_met(value, fixed, called, scope):
            return text
        key = (value, bool(fixed), called)
        if key in seen or value.optional:
            continue
        seen.add(key)
        for added, following, is_fixed, is_call in path_steps(value.type, scope):
            count += 1
            heappush(queue, (len(text + added), text + added, count, following, is_fixed, is_call))
    return None


def path_steps(type_: Type, scope: Inhabitants) -> Iterator[tuple[str, Value, str, bool]]:
    """The possible next parts of a path after a value of *type_*, each with the value that it leads to."""
    if isinstance(type_, Table):
        for field in type_.fields.values():
            yield f".{field.name}", *field_value(field), False
    elif isinstance(type_, Function):
        arguments = scope.arguments(type_)
        if arguments is not None:
            yield f"({arguments})", Value(type_.result), "fixed", True


def field_value(field: Field) -> tuple[Value, str]:
    """The value of *field*, and the reason that forbids assignments to it; empty if they are allowed."""
    return Value(field.type, field.optional), "" if field.mutable else "fixed"
