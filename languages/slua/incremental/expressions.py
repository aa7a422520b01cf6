"""The tasks of expressions: operands, operators, paths, tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from fimlsp.languages.slua.incremental.functions import function_tasks
from fimlsp.languages.slua.incremental.inhabitants import Inhabitants
from fimlsp.languages.slua.incremental.machine import Machine, Outline, Restore, Sign, Step, Task, Value
from fimlsp.languages.slua.incremental.tokens import Expected
from fimlsp.languages.slua.incremental.wanted import (
    ARITHMETIC,
    LEVELS,
    LOGIC,
    OR,
    POWER,
    UNARY,
    Truth,
    Wanted,
    is_enough,
    may_begin,
    operators,
    wanted_for,
)
from fimlsp.languages.slua.incremental.ways import (
    Goal,
    StatementGoal,
    ValueGoal,
    begins,
    cheapest_way,
    reaches,
    signs_towards,
    steps,
    value_of,
)
from fimlsp.languages.slua.types import BOOLEAN, NUMBER, STRING, Function, Table


@dataclass(frozen=True, slots=True)
class Whole(Step):
    """A whole expression, whose weight counts from here; behind it that of the one around it goes on."""

    wanted: Wanted

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        tasks = Operand(self.wanted, OR), Restore(machine.environment, machine.weight)
        return machine.push(*tasks).weighing(0)


@dataclass(frozen=True, slots=True)
class Operand(Task):
    """An operand of an operator of *level*, with what follows it that binds as strongly."""

    wanted: Wanted
    level: int

    def expected(self, machine: Machine) -> Expected:
        """As in `Task`."""
        made = made_values(self.wanted, self.level, machine.environment.inhabitants)
        return made | Expected(ValueGoal(self.wanted, self.level).variables(machine.environment))

    def takes(self, machine: Machine, token: str) -> bool:
        """As in `Task`."""
        scope, variable = machine.environment.inhabitants, machine.environment.variables.get(token)
        if variable is None:
            return made_values(self.wanted, self.level, scope).takes(token)
        return begins(ValueGoal(self.wanted, self.level), variable, scope)

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        wanted, level = self.wanted, self.level
        match token:
            case "true" | "false":
                return machine.push(Continue(Value(BOOLEAN), wanted, level))
            case "not":
                return machine.push(Operand(Truth.ANY, UNARY), Continue(Value(BOOLEAN), wanted, level, UNARY))
            case "-":
                return heavier(machine, 2).push(
                    Operand(NUMBER, UNARY), Continue(Value(NUMBER), wanted, level, UNARY)
                )
            case "(":
                return machine.push(Operand(wanted, OR), Sign(")"), AfterBracket(wanted, level))
            case "{":
                assert isinstance(wanted, Table)
                return machine.push(
                    Entries(wanted, frozenset(), machine.weight), Continue(Value(wanted), wanted, level)
                )
            case "function":
                assert isinstance(wanted, Function)
                return machine.push(*function_tasks(machine, wanted), Continue(Value(wanted), wanted, level))
        if token[0] == '"':
            return machine.push(Continue(Value(STRING), wanted, level))
        if token[0].isdigit():
            return machine.push(Continue(Value(NUMBER), wanted, level))
        variable = machine.environment.variables[token]
        return machine.push(PathTail(Value(variable.type), ValueGoal(wanted, level), variable.fixed))

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        type_ = BOOLEAN if isinstance(self.wanted, Truth) else self.wanted
        text = machine.environment.inhabitants.value(type_)
        assert text is not None, f"no value of {type_}"
        return text


@lru_cache(512)
def made_values(wanted: Wanted, level: int, scope: Inhabitants) -> Expected:
    """What a value may begin with that is not a variable's, where *wanted* is."""
    number, string, boolean = (may_begin(Value(t), wanted, level) for t in (NUMBER, STRING, BOOLEAN))
    words = {"("}
    if boolean:
        words |= {"true", "false", "not"}
    if number:
        words.add("-")
    if isinstance(wanted, Table) and not wanted.is_object and scope.has(wanted):
        words.add("{")
    if isinstance(wanted, Function) and scope.has(wanted):
        words.add("function")
    return Expected(frozenset(words), number=number, string=string)


@dataclass(frozen=True, slots=True)
class AfterBracket(Step):
    """Behind brackets: what they enclose is an operand."""

    wanted: Wanted
    level: int

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        assert machine.value is not None
        return machine.push(Continue(machine.value, self.wanted, self.level))


@dataclass(frozen=True, slots=True)
class Continue(Task):
    """What may follow an operand: operators from *level* to *most*; those above belong to the operand."""

    value: Value
    wanted: Wanted
    level: int
    most: int = POWER

    def may_end(self, machine: Machine) -> bool:
        """As in `Task`."""
        del machine
        return is_enough(self.value, self.wanted)

    def leave(self, machine: Machine) -> Machine:
        """As in `Task`."""
        return machine.after_value(self.value)

    def expected(self, machine: Machine) -> Expected:
        """As in `Task`."""
        del machine
        return Expected(operators(self.value, self.wanted, self.level, self.most))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        level, machine = LEVELS[token], heavier(machine, 2)
        most = level
        if token in ARITHMETIC:
            right: Wanted = NUMBER
            result = NUMBER
            level = UNARY if token == "^" else level + 1
        elif token == "..":
            right, result = STRING, STRING
        elif token in LOGIC:
            right, result, level = Truth.ANY, BOOLEAN, level + 1
        else:
            right = Truth.BOOLEAN if self.value.type is BOOLEAN else self.value.type
            result, level = BOOLEAN, level + 1
        return machine.push(Operand(right, level), Continue(Value(result), self.wanted, self.level, most))

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        return "" if self.may_end(machine) else self._needed()

    def _needed(self) -> str:
        """The operator that makes a boolean of it."""
        possible = operators(self.value, self.wanted, self.level, self.most)
        return "==" if "==" in possible else "and"


@dataclass(frozen=True, slots=True)
class PathTail(Task):
    """What may follow a path that has come to *value*."""

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
        return machine.after_value(self.value)

    def _following(self, goal: ValueGoal) -> Continue:
        return Continue(self.value, goal.wanted, goal.level)

    def expected(self, machine: Machine) -> Expected:
        """As in `Task`."""
        scope = machine.environment.inhabitants
        words = frozenset[str]() if self.value.optional else signs_towards(self.goal, self.value.type, scope)
        if isinstance(self.goal, ValueGoal):
            return Expected(words) | self._following(self.goal).expected(machine)
        assigned = {"="} if not self.fixed and scope.has(self.value.type) else set[str]()
        return Expected(words | assigned)

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        if token == ".":
            assert isinstance(self.value.type, Table)
            return heavier(machine, 2).push(FieldName(self.value.type, self.goal))
        if token == "(":
            assert isinstance(self.value.type, Function)
            return self._call(machine, self.value.type)
        if isinstance(self.goal, ValueGoal):
            return self._following(self.goal).take(machine, token)
        return machine.push(Whole(wanted_for(self.value.type)))

    def _call(self, machine: Machine, function: Function) -> Machine:
        arguments: list[Task] = []
        machine = heavier(machine, 2 + len(function.parameters))
        for number, parameter in enumerate(function.parameters):
            arguments += [Sign(",", machine.weight)] if number else []
            arguments.append(Operand(wanted_for(parameter), OR))
        tail = PathTail(Value(function.result), self.goal, "what a function gives", True)
        return machine.push(*arguments, Sign(")", machine.weight), tail)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        if self.may_end(machine):
            return ""
        scope = machine.environment.inhabitants
        way = cheapest_way(self.goal, self.value, self.fixed, self.called, scope)
        assert way is not None
        if way:
            return way
        return "=" if isinstance(self.goal, StatementGoal) else self._following(self.goal).finish(machine)


@dataclass(frozen=True, slots=True)
class FieldName(Task):
    """The name of a field, behind the point."""

    table: Table
    goal: Goal

    def expected(self, machine: Machine) -> Expected:
        """As in `Task`."""
        scope = machine.environment.inhabitants
        fields = steps(self.table, scope)
        return Expected(frozenset(text[1:] for text, *rest in fields if reaches(self.goal, *rest, scope)))

    def takes(self, machine: Machine, token: str) -> bool:
        """As in `Task`."""
        field, scope = self.table.fields.get(token), machine.environment.inhabitants
        return field is not None and reaches(self.goal, *value_of(field), False, scope)

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        value, fixed = value_of(self.table.fields[token])
        return machine.push(PathTail(value, self.goal, fixed))

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        scope = machine.environment.inhabitants
        ways = (
            (text[1:], cheapest_way(self.goal, *following, scope))
            for text, *following in steps(self.table, scope)
        )
        return min((text + way for text, way in ways if way is not None), key=lambda text: (len(text), text))


# Tables.


@dataclass(frozen=True, slots=True)
class Entries(Task):
    """The fields of a table that is being made; *given* are there, and it weighs *weight*."""

    table: Table
    given: frozenset[str]
    weight: int

    def outline(self, below: Outline) -> Outline:
        """As in `Task`."""
        return ("}", *below)

    def _missing(self) -> list[str]:
        return [f.name for f in self.table.fields.values() if not f.optional and f.name not in self.given]

    def expected(self, machine: Machine) -> Expected:
        """As in `Task`."""
        signs = set() if self._missing() else {"}"}
        possible = possible_entries(self.table, self.given, machine)
        if self.given:
            signs |= {","} if possible else set()
        else:
            signs |= possible
        return Expected(frozenset(signs))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        machine = machine.weighing(self.weight)
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
    """The name of a field, in a table that is being made."""

    table: Table
    given: frozenset[str]
    weight: int

    def outline(self, below: Outline) -> Outline:
        """As in `Task`."""
        return ("}", *below)

    def expected(self, machine: Machine) -> Expected:
        """As in `Task`."""
        return Expected(possible_entries(self.table, self.given, machine))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        value = Operand(wanted_for(self.table.fields[token].type), OR)
        return heavier(machine, 2).push(
            Sign("="), value, Entries(self.table, self.given | {token}, self.weight)
        )

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        possible = possible_entries(self.table, self.given, machine)
        needed = (field.name for field in self.table.fields.values() if not field.optional)
        return next((name for name in needed if name in possible), min(possible))


def possible_entries(table: Table, given: frozenset[str], machine: Machine) -> frozenset[str]:
    """The fields of *table* that are not *given*, and for which there is a value."""
    scope = machine.environment.inhabitants
    fields = (field for field in table.fields.values() if field.name not in given)
    return frozenset(field.name for field in fields if scope.has(field.type))


def heavier(machine: Machine, weight: int) -> Machine:
    """With more of an expression."""
    return machine.weighing(machine.weight + weight)
