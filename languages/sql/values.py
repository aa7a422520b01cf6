"""Values of expressions, the operators, and SQLite's functions, all with types and as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple

from fimlsp.languages.sql.schema import ANY, Type, Types
from fimlsp.languages.sql.sources import Reference
from fimlsp.languages.typed.operators import Operator, Operators

OR, AND, NOT, COMPARISON, SUM, PRODUCT, JOINED, UNARY, NAME = range(1, 10)
"""The levels of operators. A place of the level `NAME` has room for a column alone."""

NUMBER, TEXT, BOOLEAN, BLOB = (frozenset((type_,)) for type_ in Type)
ORDERED: Types = NUMBER | TEXT


@dataclass(frozen=True, slots=True)
class Value:
    """A value that was read: its possible types, and the column that decides between them.

    *name* is the column's, if it stands alone.
    """

    types: Types
    reference: Reference | None = None
    name: str = ""


def _comparable(type_: Type) -> Types:
    """The types that compare with *type_*; 0 and 1 stand for booleans, too."""
    return BOOLEAN | NUMBER if type_ is Type.BOOLEAN else frozenset((type_,))


def _rows() -> dict[str, Operator[Type, Types]]:
    tests = partial(Operator, COMPARISON, right=_comparable, result=Type.BOOLEAN, right_level=COMPARISON + 1)
    logic = partial(Operator, takes=BOOLEAN.__contains__, right=lambda _: BOOLEAN, result=Type.BOOLEAN)
    counts = partial(Operator, takes=NUMBER.__contains__, right=lambda _: NUMBER, result=Type.NUMBER)
    return {
        "or": logic(OR, right_level=OR + 1),
        "and": logic(AND, right_level=AND + 1),
        **dict.fromkeys(("=", "<>", "!=", "is"), tests(takes=ANY.__contains__)),
        **dict.fromkeys(("<", "<=", ">", ">=", "in", "between", "not"), tests(takes=ORDERED.__contains__)),
        "like": tests(takes=TEXT.__contains__),
        **dict.fromkeys("+-", counts(SUM, right_level=SUM + 1)),
        **dict.fromkeys("*/%", counts(PRODUCT, right_level=PRODUCT + 1)),
        "||": Operator(JOINED, TEXT.__contains__, lambda _: TEXT, Type.TEXT, JOINED + 1),
    }


OPERATORS: Operators[Type, Types] = Operators(_rows(), lambda type_, target: type_ in target)


@lru_cache(512)
def becoming(target: Types, level: int) -> Types:
    """The types from which *target* can be reached with operators of *level* and above."""
    return frozenset(type_ for type_ in Type if OPERATORS.can_become(type_, target, level, UNARY))


@lru_cache(512)
def following(types: Types, target: Types, level: int, most: int) -> frozenset[str]:
    """The operators from *level* to *most* that may follow a value of one of *types*."""
    return frozenset().union(*(OPERATORS.following(type_, target, level, most) for type_ in types))


class Function(NamedTuple):
    """A function.

    Attributes:
        parameters: the types of its arguments. Those after the first one have its type if they are empty.
        result: its type; None for that of the first argument.
        optional: number of arguments that may be missing at the end.
        is_aggregate: True if it has one value for many rows.
    """

    parameters: tuple[Types, ...]
    result: Type | None
    optional: int = 0
    is_aggregate: bool = False


_SAME: Types = frozenset()

FUNCTIONS: Mapping[str, Function] = {
    **dict.fromkeys(("lower", "upper", "trim", "ltrim", "rtrim"), Function((TEXT,), Type.TEXT)),
    "length": Function((TEXT,), Type.NUMBER),
    "substr": Function((TEXT, NUMBER, NUMBER), Type.TEXT, 1),
    "replace": Function((TEXT, TEXT, TEXT), Type.TEXT),
    "instr": Function((TEXT, TEXT), Type.NUMBER),
    "abs": Function((NUMBER,), Type.NUMBER),
    "round": Function((NUMBER, NUMBER), Type.NUMBER, 1),
    **dict.fromkeys(("coalesce", "ifnull", "nullif"), Function((ANY, _SAME), None)),
    **dict.fromkeys(("date", "time", "datetime"), Function((TEXT, TEXT), Type.TEXT, 1)),
    "julianday": Function((TEXT,), Type.NUMBER),
    "strftime": Function((TEXT, TEXT), Type.TEXT),
}

AGGREGATES: Mapping[str, Function] = {
    name: function._replace(is_aggregate=True)
    for name, function in {
        "count": Function((ANY,), Type.NUMBER),
        **dict.fromkeys(("sum", "avg", "total"), Function((NUMBER,), Type.NUMBER)),
        **dict.fromkeys(("min", "max"), Function((ORDERED,), None)),
        "group_concat": Function((TEXT,), Type.TEXT),
    }.items()
}

CASTS: Mapping[str, Type] = {
    "integer": Type.NUMBER,
    "real": Type.NUMBER,
    "text": Type.TEXT,
    "blob": Type.BLOB,
}

CHEAPEST: Mapping[Type, str] = {
    Type.NUMBER: "0",
    Type.TEXT: "''",
    Type.BOOLEAN: "true",
    Type.BLOB: "cast('' as blob)",
}


def cheapest(types: Types) -> str:
    """A short text of a value of one of *types*."""
    return next(CHEAPEST[type_] for type_ in Type if type_ in types)
