"""The parser's state between two lexemes of a query: the core's stack of tasks, with scopes and values.

Values, the operators and SQLite's functions come first, all with types and as data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import ClassVar, NamedTuple

from fimlsp.languages.sql.lexemes import KEYWORDS, SIGNS, ExpectedTokens
from fimlsp.languages.sql.schema import ANY, Type, Types
from fimlsp.languages.sql.scopes import Clause, Environment, Reference
from fimlsp.languages.typed import machine as core
from fimlsp.languages.typed.lexicon import Operator, Operators, needs_space
from fimlsp.languages.typed.machine import Stack

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
