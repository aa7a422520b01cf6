"""The tasks of expressions: operands, columns, operators and tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from fimlsp.languages.sql.lexemes import ExpectedTokens
from fimlsp.languages.sql.machine import (
    AGGREGATES,
    BOOLEAN,
    CASTS,
    COMPARISON,
    FUNCTIONS,
    NAME,
    NOT,
    NUMBER,
    OPERATORS,
    OR,
    SUM,
    TEXT,
    UNARY,
    Choice,
    Function,
    Heavier,
    Machine,
    Purpose,
    Repeat,
    Sign,
    Step,
    Task,
    Value,
    becoming,
    cheapest,
    following,
)
from fimlsp.languages.sql.schema import ANY, Type, Types
from fimlsp.languages.sql.scopes import STAR, Columns, Reference

MOST_SHORT = 3
"""Characters of a name that a table gets before `FROM`. A longer one there would hide a wrong column."""


@dataclass(frozen=True, slots=True)
class Operand(Task):
    """An operand of an operator of *level*, with all that follows it and binds as strongly.

    *may_be_star*: True at the start of a column of the result, where `u.*` may come.
    """

    target: Types
    level: int = OR
    may_be_star: bool = False

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        types = becoming(self.target, self.level)
        words = {"(", "case", *(("cast",) if types - BOOLEAN else ())}
        if types & BOOLEAN:
            words |= {"true", "false"}
            words |= {"not"} if self.level <= NOT else set()
            words |= set() if machine.environment.frame.in_aggregate else {"exists"}
        if types & NUMBER:
            words.add("-")
        literals = ExpectedTokens(frozenset(words), number=bool(types & NUMBER), string=bool(types & TEXT))
        return literals | self.names(machine)

    def names(self, machine: Machine) -> ExpectedTokens:
        """The functions, columns and tables that may come."""
        environment, types = machine.environment, becoming(self.target, self.level)
        words = _leading(environment.columns, types)
        for name, columns in environment.qualifiers.items():
            if _leading(columns, types):
                words.add(name)
        if self.level < NAME:
            words.update(name for name in FUNCTIONS if _results(FUNCTIONS[name], types))
            if environment.may_aggregate:
                words.update(name for name in AGGREGATES if _results(AGGREGATES[name], types))
        known = ExpectedTokens(frozenset(words))
        return known | _new_qualifiers(machine) if _leading(environment.columns_of_new, types) else known

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        target, level = self.target, self.level
        types = becoming(target, level)
        match token:
            case "true" | "false":
                return machine.push(AfterOperand(Value(BOOLEAN), target, level))
            case "not":
                after = AfterOperand(Value(BOOLEAN), target, level, NOT)
                return machine.heavier().push(Operand(BOOLEAN, COMPARISON), after)
            case "-":
                after = AfterOperand(Value(NUMBER), target, level, UNARY)
                return machine.heavier().push(Operand(NUMBER, UNARY), after)
            case "(":
                return machine.heavier().push(Bracket(types), AfterBracket(target, level))
            case "exists":
                query = Subquery(Purpose(ANY, is_single=True, may_be_star=True))
                after = AfterOperand(Value(BOOLEAN), target, level)
                return machine.heavier().push(Sign("("), query, Sign(")"), after)
            case "case":
                branch = (Sign("when"), Operand(BOOLEAN), Sign("then"), Operand(types))
                return machine.heavier().push(*branch, AfterBranch(target, level))
            case "cast":
                cast = (Sign("("), Operand(ANY), Sign("as"), CastType(target, level), Sign(")"))
                return machine.heavier().push(*cast, AfterBracket(target, level))
        if token[0] == "'":
            return machine.push(AfterOperand(Value(TEXT), target, level))
        if token[0].isdigit():
            return machine.push(AfterOperand(Value(NUMBER), target, level))
        return machine.push(AfterName(token, target, level, self.may_be_star))

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        del machine
        return cheapest(self.target)


def _leading(columns: Columns, types: Types) -> set[str]:
    """Those of *columns* that may have one of *types*."""
    return {name for name, possible in columns.items() if possible & types}


def _results(function: Function, types: Types) -> Types:
    """The types among *types* that *function* may return."""
    return types & (function.parameters[0] if function.result is None else frozenset((function.result,)))


def _new_qualifiers(machine: Machine) -> ExpectedTokens:
    """The names that may be new names of tables before `FROM`."""
    columns = (name for table in machine.environment.schema.tables.values() for name in table.columns)
    taken = machine.environment.taken_names | frozenset((*columns, *FUNCTIONS, *AGGREGATES))
    return ExpectedTokens(taken_names=taken, longest=MOST_SHORT)


@dataclass(frozen=True, slots=True)
class AfterName(Task):
    """After a name at the start of an operand: a column, or a table or function, as the next token decides.

    *is_alias*: True if it is also the name of a column of the result, which may stand alone.
    """

    name: str
    target: Types
    level: int
    may_be_star: bool = False
    is_alias: bool = False

    def may_end(self, machine: Machine) -> bool:
        """As in `Task`."""
        column = self._column(machine)
        return self.is_alias if column is None else column.may_end(machine)

    def leave(self, machine: Machine) -> Machine:
        """As in `Task`."""
        column = self._column(machine)
        return machine if column is None else column.leave(self._referred(machine, column))

    def _column(self, machine: Machine) -> AfterOperand | None:
        """The task after the column of this name, if there is one."""
        reference = Reference("", self.name)
        types = machine.environment.columns.get(self.name, frozenset()) & becoming(self.target, self.level)
        return AfterOperand(Value(types, reference, self.name), self.target, self.level) if types else None

    def _referred(self, machine: Machine, column: AfterOperand) -> Machine:
        reference = Reference("", self.name)
        return machine.with_environment(machine.environment.referred(reference, column.value.types))

    def _may_qualify(self, machine: Machine) -> bool:
        """True if it may be the name of a table."""
        environment, types = machine.environment, becoming(self.target, self.level)
        if self.name in environment.qualifiers or _new_qualifiers(machine).accepts(self.name):
            return bool(_leading(environment.columns_of(self.name), types))
        return False

    def _function(self, machine: Machine) -> Function | None:
        """The function of this name, if it may come."""
        is_aggregate = self.name in AGGREGATES
        function = AGGREGATES.get(self.name) or FUNCTIONS.get(self.name)
        if function is None or self.level == NAME or (is_aggregate and not machine.environment.may_aggregate):
            return None
        return function if _results(function, becoming(self.target, self.level)) else None

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        column = self._column(machine)
        words = set[str]() if column is None else {*column.expected(machine).words}
        if self._may_qualify(machine):
            words.add(".")
        if self._function(machine) is not None:
            words.add("(")
        return ExpectedTokens(frozenset(words))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        if token == ".":
            return machine.push(ColumnName(self.name, self.target, self.level, self.may_be_star))
        if token == "(":
            return self._call(machine.heavier())
        column = self._column(machine)
        assert column is not None
        return column.take(self._referred(machine, column), token)

    def _call(self, machine: Machine) -> Machine:
        function = self._function(machine)
        assert function is not None
        types = _results(function, becoming(self.target, self.level))
        first = types if function.result is None else function.parameters[0]
        after = AfterArgument(function, 1, self.target, self.level)
        if self.name not in AGGREGATES:
            return machine.push(Operand(first), after)
        machine = machine.with_environment(machine.environment.in_arguments())
        return machine.push(AggregateStart(first, self.name == "count"), after)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        column = self._column(machine)
        if column is not None:
            return column.finish(machine)
        if self.is_alias:
            return ""
        return "." if "." in self.expected(machine).words else "("


@dataclass(frozen=True, slots=True)
class ColumnName(Task):
    """The name of a column, after that of a table and a dot."""

    qualifier: str
    target: Types
    level: int
    may_be_star: bool = False

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        columns = machine.environment.columns_of(self.qualifier)
        words = _leading(columns, becoming(self.target, self.level))
        star = Reference(self.qualifier, STAR)
        may_be_star = self.may_be_star and not machine.environment.frame.is_aggregate
        has_star = may_be_star and machine.environment.types(star)
        return ExpectedTokens(frozenset(words | ({STAR} if has_star else set())))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        environment, reference = machine.environment, Reference(self.qualifier, token)
        if token == STAR:
            starred = environment.referred(reference, ANY)
            frame = replace(starred.frame, has_star=True)
            return machine.with_environment(starred.with_frame(frame)).with_value(None)
        types = environment.types(reference) & becoming(self.target, self.level)
        after = AfterOperand(Value(types, reference, token), self.target, self.level)
        return machine.with_environment(environment.referred(reference, types)).push(after)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        columns = machine.environment.columns_of(self.qualifier)
        possible = _leading(columns, becoming(self.target, self.level))
        return min(possible, key=lambda name: (not columns[name] & self.target, len(name), name))


@dataclass(frozen=True, slots=True)
class AfterOperand(Task):
    """The operators from *level* to *most* that may follow an operand; those above belong to the operand."""

    size: ClassVar[int] = 2

    value: Value
    target: Types
    level: int
    most: int = UNARY

    def may_end(self, machine: Machine) -> bool:
        """As in `Task`."""
        del machine
        return bool(self.value.types & self.target)

    def leave(self, machine: Machine) -> Machine:
        """As in `Task`."""
        return machine.narrowed(self.value, self.value.types & self.target)

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        del machine
        return ExpectedTokens(following(self.value.types, self.target, self.level, self.most))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        type_ = next(
            type_
            for type_ in Type
            if type_ in self.value.types
            and token in OPERATORS.following(type_, self.target, self.level, self.most)
        )
        machine, row = machine.narrowed(self.value, frozenset((type_,))).heavier(), OPERATORS.rows[token]
        after = replace(self, value=Value(frozenset((row.result,))), most=row.level)
        if token == "is":
            return machine.push(NULL_TEST, after)
        if token == "not":
            negated = ("in", "between", "like") if type_ is Type.TEXT else ("in", "between")
            return machine.push(Choice({test: _test_tasks(test, type_) for test in negated}), after)
        if token in ("in", "between"):
            return machine.push(*_test_tasks(token, type_), after)
        return machine.push(Operand(row.right(type_), row.right_level), after)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        if self.may_end(machine):
            return ""
        possible = following(self.value.types, self.target, self.level, self.most)
        return "=" if "=" in possible else min(possible, key=lambda sign: (len(sign), sign))


def _test_tasks(token: str, type_: Type) -> tuple[Task, ...]:
    """The tasks after *token*, which tests a value of *type_*."""
    types = frozenset((type_,))
    if token == "in":
        return Sign("("), InStart(types)
    if token == "between":
        return Operand(types, SUM), Sign("and"), Operand(types, SUM)
    return (Operand(types, COMPARISON + 1),)


NULL_TEST = Choice({"null": (), "not": (Sign("null"),)})
"""The task after `IS`."""


@dataclass(frozen=True, slots=True)
class InStart(Task):
    """After `IN (`: a query or a list of values of *types*."""

    types: Types

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        return _or_query(machine, Operand(self.types))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        if token == "select":
            return Subquery(Purpose(self.types, is_single=True)).take(machine.push(Sign(")")), token)
        rest = Repeat(",", (Heavier(), Operand(self.types)))
        return Operand(self.types).take(machine.push(rest, Sign(")")), token)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        return Operand(self.types).finish(machine)


# Brackets, branches and calls.


def _or_query(machine: Machine, operand: Operand) -> ExpectedTokens:
    """The tokens of *operand*, or of a query in its place."""
    words = frozenset[str]() if machine.environment.frame.in_aggregate else frozenset(("select",))
    return operand.expected(machine) | ExpectedTokens(words)


@dataclass(frozen=True, slots=True)
class Bracket(Task):
    """After an opening bracket: an expression, or a query with one column, of *types*."""

    types: Types

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        return _or_query(machine, Operand(self.types))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        machine = machine.push(Sign(")"))
        if token == "select":
            return Subquery(Purpose(self.types, is_single=True)).take(machine, token)
        return Operand(self.types).take(machine, token)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        return Operand(self.types).finish(machine)


@dataclass(frozen=True, slots=True)
class AfterBracket(Step):
    """After brackets: the enclosed expression is an operand."""

    target: Types
    level: int

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        assert machine.value is not None
        value = replace(machine.value, name="")
        return machine.push(AfterOperand(value, self.target, self.level))


@dataclass(frozen=True, slots=True)
class Subquery(Task):
    """A query, of which the value is that of its column."""

    purpose: Purpose

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        del machine
        return ExpectedTokens(frozenset(("select",)))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        del token
        tasks = (*machine.query(self.purpose), LeaveQuery(machine.weight))
        return machine.with_environment(machine.environment.entered()).with_weight(0).push(*tasks)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        del machine
        return "select"


@dataclass(frozen=True, slots=True)
class LeaveQuery(Step):
    """The end of a query; *weight* is that around it."""

    size: ClassVar[int] = 8

    weight: int

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        outputs = machine.environment.frame.results
        value = Value(next(iter(outputs.values()))) if outputs else None
        around = machine.environment.left()
        return machine.with_environment(around).with_weight(self.weight).with_value(value)


def _single(machine: Machine) -> tuple[Machine, Value]:
    """The value that was read last, with one type of those that it may have."""
    assert machine.value is not None
    type_ = next(type_ for type_ in Type if type_ in machine.value.types)
    machine = machine.narrowed(machine.value, frozenset((type_,)))
    return machine, Value(frozenset((type_,)))


@dataclass(frozen=True, slots=True)
class AfterBranch(Task):
    """After a branch of `CASE`; *value* is that of the branches before."""

    size: ClassVar[int] = 6

    target: Types
    level: int
    value: Value | None = None
    is_last: bool = False

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        del machine
        return ExpectedTokens(frozenset({"end"} if self.is_last else {"when", "else", "end"}))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        machine, value = (machine, self.value) if self.value is not None else _single(machine)
        if token == "end":
            return machine.push(AfterOperand(value, self.target, self.level))
        condition = (Operand(BOOLEAN), Sign("then")) if token == "when" else ()
        following = replace(self, value=value, is_last=token == "else")
        return machine.heavier().push(*condition, Operand(value.types), following)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        del machine
        return "end"


@dataclass(frozen=True, slots=True)
class CastType(Task):
    """The type of `CAST`, from which *target* can be reached."""

    target: Types
    level: int

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        del machine
        types = becoming(self.target, self.level)
        return ExpectedTokens(frozenset(name for name, type_ in CASTS.items() if type_ in types))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        return machine.with_value(Value(frozenset((CASTS[token],))))

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        return min(self.expected(machine).words, key=lambda name: CASTS[name] not in self.target)


@dataclass(frozen=True, slots=True)
class AggregateStart(Task):
    """The argument of an aggregate, of *types*."""

    types: Types
    is_count: bool

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        words = frozenset(("distinct", *((STAR,) if self.is_count else ())))
        return Operand(self.types).expected(machine) | ExpectedTokens(words)

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        if token == STAR:
            return machine
        operand = Operand(self.types)
        return machine.push(operand) if token == "distinct" else operand.take(machine, token)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        return STAR if self.is_count else Operand(self.types).finish(machine)


@dataclass(frozen=True, slots=True)
class AfterArgument(Task):
    """After an argument of *function*, the last of so many; *value* is the first one, if that is past."""

    size: ClassVar[int] = 5

    function: Function
    count: int
    target: Types
    level: int
    value: Value | None = None

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        del machine
        most = len(self.function.parameters)
        words = {","} if self.count < most else set()
        return ExpectedTokens(
            frozenset(words | ({")"} if self.count >= most - self.function.optional else set()))
        )

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        function = self.function
        if token == ")":
            first, result = self.value or machine.value or Value(ANY), function.result
            value = replace(first, name="") if result is None else Value(frozenset((result,)))
            if function.is_aggregate:
                machine = machine.with_environment(machine.environment.after_arguments())
            return machine.push(AfterOperand(value, self.target, self.level))
        machine, value = (machine, self.value) if self.value is not None else _single(machine)
        types = function.parameters[self.count] or value.types
        return machine.heavier().push(Operand(types), replace(self, count=self.count + 1, value=value))

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        return ")" if ")" in self.expected(machine).words else ","
