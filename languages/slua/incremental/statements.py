"""The tasks of statements and blocks, and the state before a script."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from fimlsp.languages.slua.incremental.expressions import PathTail, WholeExpression
from fimlsp.languages.slua.incremental.goals import Condition, StatementGoal, leads_to, target_for
from fimlsp.languages.slua.incremental.machine import (
    Environment,
    LeaveScope,
    Machine,
    Outline,
    Sign,
    Step,
    Task,
    Value,
)
from fimlsp.languages.slua.incremental.type_expressions import TableName, WrittenType
from fimlsp.languages.slua.interface import Interface, UnknownRootError
from fimlsp.languages.slua.lexemes import ExpectedTokens
from fimlsp.languages.slua.scopes import LOOP_SLOTS, Variable
from fimlsp.languages.slua.types import NUMBER, VOID, Table, Type, holds_functions
from fimlsp.languages.typed import machine as core
from fimlsp.languages.typed.lexicon import PLACEHOLDER
from fimlsp.languages.typed.state import TextState

MOST_SLOTS, MOST_NAMES = 160, 200
"""Beyond these no variable may be declared. They leave room for the variables of required functions."""


class ScriptEnd(core.TextEnd["Machine"], Task):
    """The end of the script."""


@dataclass(frozen=True, slots=True)
class Block(Task):
    """The statements of a block.

    Attributes:
        must_return: True if every way through it has to end with `return`.
        returned: True if every way through the statements so far does.
        is_closed: True if the last statement was `return` itself, after which nothing may come.
    """

    must_return: bool = False
    returned: bool = False
    is_closed: bool = False

    def may_end(self, machine: Machine) -> bool:
        """As in `Task`."""
        del machine
        return self.returned or not self.must_return

    def leave(self, machine: Machine) -> Machine:
        """As in `Task`."""
        return replace(machine, returned=self.returned)

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        if self.is_closed:
            return ExpectedTokens()
        words = self._keywords(machine.environment) | StatementGoal().variables(machine.environment)
        return ExpectedTokens(frozenset(words))

    def accepts(self, machine: Machine, token: str) -> bool:
        """As in `Task`."""
        scope, variable = machine.environment.inhabitants, machine.environment.variables.get(token)
        if self.is_closed or variable is None:
            return not self.is_closed and token in self._keywords(machine.environment)
        return leads_to(StatementGoal(), variable, scope)

    def _keywords(self, environment: Environment) -> set[str]:
        words = {"interface", "do", "if", "while"}
        if environment.slots < MOST_SLOTS and environment.slots + environment.outer_slots < MOST_NAMES:
            words |= {"local", "for"}
        if environment.result is not None:
            words.add("return")
        if environment.loops:
            words.add("break")
        return words

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        rest = replace(self, returned=False)
        closing = LeaveScope(machine.environment, machine.weight)
        match token:
            case "local":
                return machine.push(LocalName(), rest)
            case "do":
                return machine.push(Block(), Sign("end"), closing, Sign(";"), AfterBlock(rest))
            case "if":
                return machine.push(
                    WholeExpression(Condition.ANY),
                    Sign("then"),
                    Block(),
                    Branch(closing),
                    Sign(";"),
                    AfterBlock(rest),
                )
            case "for":
                return machine.push(LoopName(closing), rest)
            case "while":
                body = (EnterLoop(), Block(), Sign("end"), closing, Sign(";"))
                return machine.push(WholeExpression(Condition.ANY), Sign("do"), *body, rest)
            case "return":
                given = (
                    () if machine.environment.result is VOID else (WholeExpression(self._result(machine)),)
                )
                return machine.push(*given, Sign(";"), replace(self, returned=True, is_closed=True))
            case "break":
                return machine.push(Sign(";"), rest)
            case "interface":
                return machine.push(TableName(), Sign(";"), rest)
        variable = machine.environment.variables[token]
        path = PathTail(Value(variable.type), StatementGoal(), variable.fixed)
        return machine.with_weight(0).push(path, Sign(";"), closing, rest)

    def _result(self, machine: Machine) -> Type | Condition:
        assert machine.environment.result is not None
        return target_for(machine.environment.result)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        if self.may_end(machine):
            return ""
        assert machine.environment.result is not None
        return f"return {machine.environment.inhabitants.value(machine.environment.result)};"


@dataclass(frozen=True, slots=True)
class ScriptStatements(Block):
    """The statements of the script itself.

    Attributes:
        endings: the functions of which one may be called last; with *must_return* one has to be.
        has_statements: True if there are statements other than declarations of types.
    """

    endings: tuple[str, ...] = ()
    has_statements: bool = False

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        if self.is_closed:
            return ExpectedTokens()
        return Block.expected(self, machine) | ExpectedTokens(frozenset(self._possible(machine)))

    def accepts(self, machine: Machine, token: str) -> bool:
        """As in `Task`."""
        if token in self.endings:
            return not self.is_closed and token in self._possible(machine)
        return Block.accepts(self, machine, token)

    def _possible(self, machine: Machine) -> list[str]:
        """The endings whose argument type has a value."""
        scope = machine.environment.inhabitants
        return [name for name in self.endings if scope.has(self._type(machine, name))]

    def _type(self, machine: Machine, ending: str) -> Table:
        return machine.environment.interface.endings(None)[ending].type

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        if token == "interface":
            unfilled = frozenset[str]() if self.has_statements else machine.environment.unfilled
            return machine.push(TableName(unfilled), Sign(";"), self)
        if token not in self.endings:
            return Block.take(replace(self, has_statements=True), machine, token)
        argument = WholeExpression(self._type(machine, token))
        return machine.push(
            Sign("("), argument, Sign(")"), Sign(";"), replace(self, returned=True, is_closed=True)
        )

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        if self.may_end(machine):
            return ""
        name = self._possible(machine)[0]
        return f"{name}({machine.environment.inhabitants.value(self._type(machine, name))});"


@dataclass(frozen=True, slots=True)
class AfterBlock(Step):
    """After a block: if it returned, so did the statements around it."""

    rest: Block

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        return machine.push(replace(self.rest, returned=machine.returned))


@dataclass(frozen=True, slots=True)
class Branch(Task):
    """After a branch of `if`; *returned*: True if all branches before this one return."""

    size: ClassVar[int] = 1
    closing: LeaveScope
    returned: bool = True
    is_last: bool = False

    def outline(self, below: Outline) -> Outline:
        """As in `Task`."""
        return ("end", *below)

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        del machine
        return ExpectedTokens(frozenset({"end"} if self.is_last else {"end", "else", "elseif"}))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        returned = self.returned and machine.returned
        machine = self.closing.instant(machine)
        if token == "end":
            return replace(machine, returned=returned and self.is_last)
        following = replace(self, returned=returned, is_last=token == "else")
        if token == "else":
            return machine.push(Block(), following)
        return machine.push(WholeExpression(Condition.ANY), Sign("then"), Block(), following)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        del machine
        return "end"


@dataclass(frozen=True, slots=True)
class LocalName(Task):
    """The name of a new variable."""

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        return ExpectedTokens(taken_names=frozenset(machine.environment.variables))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        return machine.push(Sign(":"), WrittenType(LocalType(token)))

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        del machine
        return PLACEHOLDER.format(0)


@dataclass(frozen=True, slots=True)
class LocalType:
    """The type of a new variable, which must have values here."""

    name: str

    def outline(self, below: Outline) -> Outline:
        """As in `Purpose`."""
        return below

    def allows(self, machine: Machine, type_: Type) -> bool:
        """True if *type_* is allowed."""
        return machine.environment.inhabitants.has(type_)

    def allows_functions(self) -> bool:
        """True if a function type is allowed."""
        return True

    def then(self, machine: Machine, type_: Type) -> Machine:
        """The state after the type, which is *type_*."""
        fixed = "it holds functions" if holds_functions(type_) else ""
        variable = Variable(self.name, type_, fixed)
        return machine.push(Sign("="), WholeExpression(target_for(type_)), Sign(";"), Declare(variable))


@dataclass(frozen=True, slots=True)
class Declare(Step):
    """The variable comes into scope."""

    variable: Variable

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        return machine.with_environment(machine.environment.declare(self.variable))


@dataclass(frozen=True, slots=True)
class LoopName(Task):
    """The name of the variable that counts a loop."""

    closing: LeaveScope

    def outline(self, below: Outline) -> Outline:
        """As in `Task`."""
        return ("do", "end", *below)

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        return ExpectedTokens(taken_names=frozenset(machine.environment.variables))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        bounds = (Sign("="), WholeExpression(NUMBER), Sign(","), WholeExpression(NUMBER), Sign("do"))
        declared = Declare(Variable(token, NUMBER, "it counts the loop"))
        return machine.push(
            *bounds, EnterLoop(LOOP_SLOTS), declared, Block(), Sign("end"), self.closing, Sign(";")
        )

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        del machine
        return PLACEHOLDER.format(0)


@dataclass(frozen=True, slots=True)
class EnterLoop(Step):
    """The start of the body of a loop, which takes so many *slots* of Lua's variables for itself."""

    slots: int = 0

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        return machine.with_environment(machine.environment.in_loop(self.slots))


class ScriptState(TextState[Machine]):
    """The state after the first bytes of a script."""


def begin(interface: Interface, root: str | None = None) -> ScriptState:
    """The state before a script that is given *interface*.

    With *root* it has to be a script of that kind; otherwise it may be of any kind, or of none.

    Raises:
        UnknownRootError: the kind is unknown, or no script can be of it.
    """
    endings, environment = interface.endings(root), Environment.of(interface)
    if root is not None and not environment.inhabitants.has(interface.roots[root].type):
        raise UnknownRootError(
            f"no script can be of the kind `{root}`: no value of {interface.roots[root].type} can be made"
        )
    statements = ScriptStatements(must_return=root is not None, endings=tuple(sorted(endings)))
    return ScriptState(Machine(None, environment, Block).push(statements, ScriptEnd()))
