"""What is wanted of an expression, and which operators can make it of what was read."""

from __future__ import annotations

from enum import Enum, auto

from fimlsp.languages.slua.incremental.machine import Value
from fimlsp.languages.slua.types import BOOLEAN, NUMBER, STRING, VOID, Function, Type

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


class Truth(Enum):
    """What is wanted where no type is but whether something holds."""

    ANY = auto()
    """Any value will do."""
    BOOLEAN = auto()
    """A boolean, of which this may be the beginning: `1 < 2`."""


Wanted = Type | Truth


def wanted_for(type_: Type) -> Wanted:
    """What is wanted where a value of *type_* is: any value may stand for a truth value."""
    return Truth.ANY if type_ is BOOLEAN else type_


def operators(value: Value, wanted: Wanted, level: int, most: int = POWER) -> frozenset[str]:
    """The operators from *level* to *most* that may follow *value* where *wanted* is."""
    if isinstance(wanted, Truth):
        found = set(LOGIC)
        if not value.optional and not isinstance(value.type, Function):
            found |= EQUALITIES
        if not value.optional and value.type in (NUMBER, STRING):
            found |= ORDERS
    else:
        found = set()
    if not value.optional and value.type is NUMBER and (wanted is NUMBER or isinstance(wanted, Truth)):
        found |= ARITHMETIC
    if not value.optional and value.type is STRING and (wanted is STRING or isinstance(wanted, Truth)):
        found.add("..")
    return frozenset(sign for sign in found if level <= LEVELS[sign] <= most)


def is_enough(value: Value, wanted: Wanted) -> bool:
    """Whether *value* is what is *wanted*, as it is."""
    if value.type is VOID:
        return False
    if wanted is Truth.ANY:
        return True
    return not value.optional and value.type == (BOOLEAN if wanted is Truth.BOOLEAN else wanted)


def may_begin(value: Value, wanted: Wanted, level: int) -> bool:
    """Whether *value* is what is *wanted*, or operators can make it that."""
    if value.type is VOID:
        return False
    return is_enough(value, wanted) or (
        isinstance(wanted, Truth) and bool(operators(value, wanted, level) & _TRUTHS)
    )


_TRUTHS = LOGIC | EQUALITIES | ORDERS
