"""The goals of expressions and paths: the types that operators can produce, and where `a.b(c).d` can lead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache, partial
from heapq import heappop, heappush

from fimlsp.languages.slua.incremental.machine import Environment, Inhabitants, Value
from fimlsp.languages.slua.scopes import Variable
from fimlsp.languages.slua.types import BOOLEAN, NUMBER, STRING, VOID, Field, Function, Table, Type
from fimlsp.languages.typed.lexicon import Operator, Operators

OR, AND, COMPARISON, CONCATENATION, SUM, PRODUCT, UNARY, POWER = range(1, 9)
ARITHMETIC = frozenset("+-*/%^")
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


def satisfies(value: Value, target: TargetType) -> bool:
    """True if *value* suits *target* as it is."""
    if value.type is VOID:
        return False
    if target is Condition.ANY:
        return True
    return not value.optional and value.type == (BOOLEAN if target is Condition.BOOLEAN else target)


def _same(value: Value) -> TargetType:
    return Condition.BOOLEAN if value.type is BOOLEAN else value.type


def _rows() -> dict[str, Operator[Value, TargetType]]:
    """The operators, each with the values before it, the target after it, and its result."""
    number, string, boolean = Value(NUMBER), Value(STRING), Value(BOOLEAN)
    logic = partial(Operator, takes=_is_value, right=lambda _: Condition.ANY, result=boolean)
    compares = partial(Operator, COMPARISON, right=_same, result=boolean, right_level=COMPARISON + 1)
    counts = partial(Operator, takes=lambda value: value == number, right=lambda _: NUMBER, result=number)
    return {
        "or": logic(OR, right_level=OR + 1),
        "and": logic(AND, right_level=AND + 1),
        **dict.fromkeys(ORDERS, compares(takes=lambda value: value in (number, string))),
        **dict.fromkeys(("==", "~="), compares(takes=_is_comparable)),
        "..": Operator(
            CONCATENATION, lambda value: value == string, lambda _: STRING, string, CONCATENATION + 1
        ),
        **dict.fromkeys("+-", counts(SUM, right_level=SUM + 1)),
        **dict.fromkeys("*/%", counts(PRODUCT, right_level=PRODUCT + 1)),
        "^": counts(POWER, right_level=UNARY),
    }


def _is_value(value: Value) -> bool:
    return value.type is not VOID


def _is_comparable(value: Value) -> bool:
    return _is_value(value) and not value.optional and not isinstance(value.type, Function)


OPERATORS = Operators(_rows(), satisfies)
LEVELS = {sign: row.level for sign, row in OPERATORS.rows.items()}


def can_become(value: Value, target: TargetType, level: int) -> bool:
    """True if *value* suits *target* as it is, or with operators after it."""
    return OPERATORS.can_become(value, target, level, POWER)


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
