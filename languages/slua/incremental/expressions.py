"""The tasks of expressions: operands, operators, paths, tables and functions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

from fimlsp.languages.slua.incremental.goals import (
    CONCATENATION,
    OPERATORS,
    OR,
    POWER,
    UNARY,
    Condition,
    Goal,
    StatementGoal,
    TargetType,
    ValueGoal,
    can_become,
    cheapest_path,
    field_value,
    leads_to,
    path_steps,
    reaches,
    satisfies,
    signs_towards,
    target_for,
)
from fimlsp.languages.slua.incremental.machine import (
    Inhabitants,
    LeaveFunction,
    LeaveScope,
    Machine,
    Outline,
    Room,
    SetWeight,
    Sign,
    Step,
    Task,
    Value,
)
from fimlsp.languages.slua.lexemes import ExpectedTokens
from fimlsp.languages.slua.scopes import Variable
from fimlsp.languages.slua.types import BOOLEAN, NUMBER, STRING, VOID, Function, Table, Type
from fimlsp.languages.typed.lexicon import PLACEHOLDER


@dataclass(frozen=True, slots=True)
class EnterFunction(Step):
    """The start of a function that returns *result*."""

    result: Type

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        return machine.with_environment(machine.environment.in_function(self.result)).with_weight(0)


@dataclass(frozen=True, slots=True)
class ParameterName(Task):
    """The name of a parameter."""

    type: Type

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        return ExpectedTokens(taken_names=frozenset(machine.environment.variables))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        return machine.with_environment(machine.environment.declare(Variable(token, self.type)))

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        del machine
        return PLACEHOLDER.format(0)


def function_tasks(machine: Machine, function: Function) -> list[Task]:
    """The tasks after the keyword `function`."""
    tasks: list[Task] = [EnterFunction(function.result), Sign("(")]
    for number, parameter in enumerate(function.parameters):
        tasks += [Sign(",")] if number else []
        tasks.append(ParameterName(parameter))
    body = machine.body(function.result is not VOID)
    return [*tasks, Sign(")"), body, Sign("end"), LeaveFunction(machine.environment, machine.weight)]


@dataclass(frozen=True, slots=True)
class WholeExpression(Step):
    """A whole expression, whose weight counts from here; after it the surrounding weight is restored."""

    target: TargetType

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        tasks = Operand(self.target, OR), LeaveScope(machine.environment, machine.weight)
        return machine.push(*tasks).with_weight(0)


@dataclass(frozen=True, slots=True)
class Operand(Task):
    """An operand of an operator of *level*, with all that follows it and binds as strongly."""

    target: TargetType
    level: int

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        made = made_values(self.target, self.level, machine.environment.inhabitants)
        return made | ExpectedTokens(ValueGoal(self.target, self.level).variables(machine.environment))

    def accepts(self, machine: Machine, token: str) -> bool:
        """As in `Task`."""
        scope, variable = machine.environment.inhabitants, machine.environment.variables.get(token)
        if variable is None:
            return made_values(self.target, self.level, scope).accepts(token)
        return leads_to(ValueGoal(self.target, self.level), variable, scope)

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        target, level = self.target, self.level
        if self._may_be_joined():
            machine = add_weight(machine.push(Room(machine.weight)), 1)
        match token:
            case "true" | "false":
                return machine.push(AfterOperand(Value(BOOLEAN), target, level))
            case "not":
                operator = AfterOperand(Value(BOOLEAN), target, level, UNARY)
                return machine.push(Operand(Condition.ANY, UNARY), Room(machine.weight), operator)
            case "-":
                return machine.push(Operand(NUMBER, UNARY), AfterOperand(Value(NUMBER), target, level, UNARY))
            case "(":
                return machine.push(Operand(target, OR), Sign(")"), AfterBracket(target, level))
            case "{":
                assert isinstance(target, Table)
                return machine.push(
                    Entries(target, frozenset(), machine.weight), AfterOperand(Value(target), target, level)
                )
            case "function":
                assert isinstance(target, Function)
                return machine.push(
                    *function_tasks(machine, target), AfterOperand(Value(target), target, level)
                )
        if token[0] == '"':
            return machine.push(AfterOperand(Value(STRING), target, level))
        if token[0].isdigit():
            return machine.push(AfterOperand(Value(NUMBER), target, level))
        variable = machine.environment.variables[token]
        return machine.push(PathTail(Value(variable.type), ValueGoal(target, level), variable.fixed))

    def _may_be_joined(self) -> bool:
        """True if texts may be joined in it, which the translation does by a call."""
        return self.level <= CONCATENATION and (isinstance(self.target, Condition) or self.target is STRING)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        type_ = BOOLEAN if isinstance(self.target, Condition) else self.target
        text = machine.environment.inhabitants.value(type_)
        assert text is not None, f"no value of {type_}"
        return text


@lru_cache(512)
def made_values(target: TargetType, level: int, scope: Inhabitants) -> ExpectedTokens:
    """The first tokens of values of *target* that do not start with a variable."""
    number, string, boolean = (can_become(Value(t), target, level) for t in (NUMBER, STRING, BOOLEAN))
    words = {"("}
    if boolean:
        words |= {"true", "false", "not"}
    if number:
        words.add("-")
    if isinstance(target, Table) and not target.is_object and scope.has(target):
        words.add("{")
    if isinstance(target, Function) and scope.has(target):
        words.add("function")
    return ExpectedTokens(frozenset(words), number=number, string=string)


@dataclass(frozen=True, slots=True)
class AfterBracket(Step):
    """After brackets: the enclosed expression is an operand."""

    size: ClassVar[int] = 1
    target: TargetType
    level: int

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        assert machine.value is not None
        return machine.push(AfterOperand(machine.value, self.target, self.level))


@dataclass(frozen=True, slots=True)
class AfterOperand(Task):
    """The operators from *level* to *most* that may follow an operand; those above belong to the operand."""

    size: ClassVar[int] = 1
    value: Value
    target: TargetType
    level: int
    most: int = POWER

    def may_end(self, machine: Machine) -> bool:
        """As in `Task`."""
        del machine
        return satisfies(self.value, self.target)

    def leave(self, machine: Machine) -> Machine:
        """As in `Task`."""
        return machine.with_value(self.value)

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        del machine
        return ExpectedTokens(OPERATORS.following(self.value, self.target, self.level, self.most))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        row = OPERATORS.rows[token]
        right = Operand(row.right(self.value), row.right_level)
        following = replace(self, value=row.result, most=row.level)
        heavier = add_weight(machine, 1)
        if token == "..":  # all parts of a text are held until it is joined
            return heavier.push(right, following)
        after = Room(machine.weight) if token == "%" else SetWeight(machine.weight)
        return heavier.push(right, after, following)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        return "" if self.may_end(machine) else self._needed()

    def _needed(self) -> str:
        """The operator that makes a boolean of it."""
        possible = OPERATORS.following(self.value, self.target, self.level, self.most)
        return "==" if "==" in possible else "and"


@dataclass(frozen=True, slots=True)
class PathTail(Task):
    """The continuation of a path that has arrived at *value*."""

    size: ClassVar[int] = 1
    value: Value
    goal: Goal
    fixed: str
    called: bool = False

    def may_end(self, machine: Machine) -> bool:
        """As in `Task`."""
        if isinstance(self.goal, StatementGoal):
            return self.called
        return self._following(self.goal).may_end(machine)

    def leave(self, machine: Machine) -> Machine:
        """As in `Task`."""
        return machine.with_value(self.value)

    def _following(self, goal: ValueGoal) -> AfterOperand:
        return AfterOperand(self.value, goal.target, goal.level)

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        scope = machine.environment.inhabitants
        words = frozenset[str]() if self.value.optional else signs_towards(self.goal, self.value.type, scope)
        if isinstance(self.goal, ValueGoal):
            return ExpectedTokens(words) | self._following(self.goal).expected(machine)
        assigned = {"="} if not self.fixed and scope.has(self.value.type) else set[str]()
        return ExpectedTokens(words | assigned)

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        if token == ".":
            assert isinstance(self.value.type, Table)
            return machine.push(FieldName(self.value.type, self.goal))
        if token == "(":
            assert isinstance(self.value.type, Function)
            return self._call(machine, self.value.type)
        if isinstance(self.goal, ValueGoal):
            return self._following(self.goal).take(machine, token)
        return machine.push(WholeExpression(target_for(self.value.type)))

    def _call(self, machine: Machine, function: Function) -> Machine:
        arguments: list[Task] = []
        for number, parameter in enumerate(function.parameters, 1):
            arguments += [Sign(",", machine.weight + number)] if number > 1 else []
            arguments.append(Operand(target_for(parameter), OR))
        tail = PathTail(Value(function.result), self.goal, "the result of a function", True)
        return add_weight(machine, 1).push(*arguments, Sign(")", machine.weight), tail)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        if self.may_end(machine):
            return ""
        scope = machine.environment.inhabitants
        path = cheapest_path(self.goal, self.value, self.fixed, self.called, scope)
        assert path is not None
        if path:
            return path
        return "=" if isinstance(self.goal, StatementGoal) else self._following(self.goal).finish(machine)


@dataclass(frozen=True, slots=True)
class FieldName(Task):
    """The name of a field, after the dot."""

    table: Table
    goal: Goal

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        scope = machine.environment.inhabitants
        fields = path_steps(self.table, scope)
        return ExpectedTokens(
            frozenset(text[1:] for text, *rest in fields if reaches(self.goal, *rest, scope))
        )

    def accepts(self, machine: Machine, token: str) -> bool:
        """As in `Task`."""
        field, scope = self.table.fields.get(token), machine.environment.inhabitants
        return field is not None and reaches(self.goal, *field_value(field), False, scope)

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        value, fixed = field_value(self.table.fields[token])
        return machine.push(PathTail(value, self.goal, fixed))

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        scope = machine.environment.inhabitants
        paths = (
            (text[1:], cheapest_path(self.goal, *following, scope))
            for text, *following in path_steps(self.table, scope)
        )
        return min(
            (text + path for text, path in paths if path is not None), key=lambda text: (len(text), text)
        )


# Tables.


@dataclass(frozen=True, slots=True)
class Entries(Task):
    """The fields of a table constructor. *given* are written already; *weight* is the weight so far."""

    table: Table
    given: frozenset[str]
    weight: int

    def outline(self, below: Outline) -> Outline:
        """As in `Task`."""
        return ("}", *below)

    def _missing(self) -> list[str]:
        return [f.name for f in self.table.fields.values() if not f.optional and f.name not in self.given]

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        signs = set() if self._missing() else {"}"}
        possible = possible_entries(self.table, self.given, machine)
        if self.given:
            signs |= {","} if possible else set()
        else:
            signs |= possible
        return ExpectedTokens(frozenset(signs))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        machine = machine.with_weight(self.weight)
        if token == "}":
            return machine
        entry = EntryName(self.table, self.given, self.weight)
        return machine.push(entry) if token == "," else entry.take(machine, token)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        del machine
        missing = self._missing()
        return "}" if not missing else "," if self.given else missing[0]


@dataclass(frozen=True, slots=True)
class EntryName(Task):
    """The name of a field in a table constructor."""

    table: Table
    given: frozenset[str]
    weight: int

    def outline(self, below: Outline) -> Outline:
        """As in `Task`."""
        return ("}", *below)

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        return ExpectedTokens(possible_entries(self.table, self.given, machine))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        value = Operand(target_for(self.table.fields[token].type), OR)
        return add_weight(machine, 1).push(
            Sign("="), value, Entries(self.table, self.given | {token}, self.weight)
        )

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        possible = possible_entries(self.table, self.given, machine)
        needed = (field.name for field in self.table.fields.values() if not field.optional)
        return next((name for name in needed if name in possible), min(possible))


def possible_entries(table: Table, given: frozenset[str], machine: Machine) -> frozenset[str]:
    """The fields of *table* that are not *given* and whose types have values."""
    scope = machine.environment.inhabitants
    fields = (field for field in table.fields.values() if field.name not in given)
    return frozenset(field.name for field in fields if scope.has(field.type))


def add_weight(machine: Machine, weight: int) -> Machine:
    """With a heavier expression."""
    return machine.with_weight(machine.weight + weight)
