"""The tasks of statements."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fimlsp.languages.slua.checking.scopes import Variable
from fimlsp.languages.slua.incremental.environment import Environment
from fimlsp.languages.slua.incremental.expressions import PathTail, Whole
from fimlsp.languages.slua.incremental.inhabitants import NAMELESS
from fimlsp.languages.slua.incremental.machine import Machine, Outline, Restore, Sign, Step, Task, Value
from fimlsp.languages.slua.incremental.tokens import Expected
from fimlsp.languages.slua.incremental.wanted import Truth, wanted_for
from fimlsp.languages.slua.incremental.ways import StatementGoal, begins
from fimlsp.languages.slua.incremental.written_types import TableName, WrittenType
from fimlsp.languages.slua.types import NUMBER, VOID, Table, Type, holds_functions

MOST_SLOTS, MOST_NAMES = 100, 130
"""No more variables are declared beyond these, with room for those of functions that have to be written."""


@dataclass(frozen=True, slots=True)
class Script(Task):
    """The end of the script."""

    def expected(self, machine: Machine) -> Expected:
        """As in `Task`."""
        del machine
        return Expected(end=True)

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        raise AssertionError(f"{token!r} behind the end: {machine}")

    def may_end(self, machine: Machine) -> bool:
        """As in `Task`."""
        del machine
        return True

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        del machine
        return ""


@dataclass(frozen=True, slots=True)
class Block(Task):
    """The statements of a block.

    Attributes:
        must_return: whether every way through it has to end with `return`.
        returned: whether every way through the statements so far does.
        over: whether the last was `return` itself, behind which nothing comes.
    """

    must_return: bool = False
    returned: bool = False
    over: bool = False

    def may_end(self, machine: Machine) -> bool:
        """As in `Task`."""
        del machine
        return self.returned or not self.must_return

    def leave(self, machine: Machine) -> Machine:
        """As in `Task`."""
        return replace(machine, returned=self.returned)

    def expected(self, machine: Machine) -> Expected:
        """As in `Task`."""
        if self.over:
            return Expected()
        words = self._keywords(machine.environment) | StatementGoal().variables(machine.environment)
        return Expected(frozenset(words))

    def takes(self, machine: Machine, token: str) -> bool:
        """As in `Task`."""
        scope, variable = machine.environment.inhabitants, machine.environment.variables.get(token)
        if self.over or variable is None:
            return not self.over and token in self._keywords(machine.environment)
        return begins(StatementGoal(), variable, scope)

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
        closing = Restore(machine.environment, machine.weight)
        match token:
            case "local":
                return machine.push(LocalName(), rest)
            case "do":
                return machine.push(Block(), Sign("end"), closing, Sign(";"), Resume(rest))
            case "if":
                return machine.push(
                    Whole(Truth.ANY), Sign("then"), Block(), Branch(closing), Sign(";"), Resume(rest)
                )
            case "for":
                return machine.push(LoopName(closing), rest)
            case "while":
                body = (EnterLoop(), Block(), Sign("end"), closing, Sign(";"))
                return machine.push(Whole(Truth.ANY), Sign("do"), *body, rest)
            case "return":
                given = () if machine.environment.result is VOID else (Whole(self._result(machine)),)
                return machine.push(*given, Sign(";"), replace(self, returned=True, over=True))
            case "break":
                return machine.push(Sign(";"), rest)
            case "interface":
                return machine.push(TableName(), Sign(";"), rest)
        variable = machine.environment.variables[token]
        path = PathTail(Value(variable.type), StatementGoal(), variable.fixed)
        return machine.weighing(0).push(path, Sign(";"), closing, rest)

    def _result(self, machine: Machine) -> Type | Truth:
        assert machine.environment.result is not None
        return wanted_for(machine.environment.result)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        if self.may_end(machine):
            return ""
        assert machine.environment.result is not None
        return f"return {machine.environment.inhabitants.value(machine.environment.result)};"


@dataclass(frozen=True, slots=True)
class Statements(Block):
    """The statements of the script itself.

    Attributes:
        endings: the functions of which one may be called last, or has to be, if it *must_return*.
        begun: whether there are statements other than declarations of types.
    """

    endings: tuple[str, ...] = ()
    begun: bool = False

    def expected(self, machine: Machine) -> Expected:
        """As in `Task`."""
        if self.over:
            return Expected()
        return Block.expected(self, machine) | Expected(frozenset(self._possible(machine)))

    def takes(self, machine: Machine, token: str) -> bool:
        """As in `Task`."""
        if token in self.endings:
            return not self.over and token in self._possible(machine)
        return Block.takes(self, machine, token)

    def _possible(self, machine: Machine) -> list[str]:
        """The endings for which there is a value."""
        scope = machine.environment.inhabitants
        return [name for name in self.endings if scope.has(self._type(machine, name))]

    def _type(self, machine: Machine, ending: str) -> Table:
        return machine.environment.interface.endings(None)[ending].type

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        if token == "interface":
            unfilled = frozenset[str]() if self.begun else machine.environment.unfilled
            return machine.push(TableName(unfilled), Sign(";"), self)
        if token not in self.endings:
            return Block.take(replace(self, begun=True), machine, token)
        argument = Whole(self._type(machine, token))
        return machine.push(
            Sign("("), argument, Sign(")"), Sign(";"), replace(self, returned=True, over=True)
        )

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        if self.may_end(machine):
            return ""
        name = self._possible(machine)[0]
        return f"{name}({machine.environment.inhabitants.value(self._type(machine, name))});"


@dataclass(frozen=True, slots=True)
class Resume(Step):
    """Behind a block: whether it returned is whether the statements around it did."""

    rest: Block

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        return machine.push(replace(self.rest, returned=machine.returned))


@dataclass(frozen=True, slots=True)
class Branch(Task):
    """Behind a branch of `if`: another, or its end. *returned*: whether all branches before this one did."""

    closing: Restore
    returned: bool = True
    is_last: bool = False

    def outline(self, below: Outline) -> Outline:
        """As in `Task`."""
        return ("end", *below)

    def expected(self, machine: Machine) -> Expected:
        """As in `Task`."""
        del machine
        return Expected(frozenset({"end"} if self.is_last else {"end", "else", "elseif"}))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        returned = self.returned and machine.returned
        machine = self.closing.instant(machine)
        if token == "end":
            return replace(machine, returned=returned and self.is_last)
        following = replace(self, returned=returned, is_last=token == "else")
        if token == "else":
            return machine.push(Block(), following)
        return machine.push(Whole(Truth.ANY), Sign("then"), Block(), following)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        del machine
        return "end"


@dataclass(frozen=True, slots=True)
class LocalName(Task):
    """The name of a new variable."""

    def expected(self, machine: Machine) -> Expected:
        """As in `Task`."""
        return Expected(but=frozenset(machine.environment.variables))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        return machine.push(Sign(":"), WrittenType(LocalType(token)))

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        del machine
        return NAMELESS.format(0)


@dataclass(frozen=True, slots=True)
class LocalType:
    """The type of a new variable: one that has values here."""

    name: str

    def outline(self, below: Outline) -> Outline:
        """As in `Purpose`."""
        return below

    def allows(self, machine: Machine, type_: Type) -> bool:
        """Whether it may be *type_*."""
        return machine.environment.inhabitants.has(type_)

    def allows_functions(self) -> bool:
        """Whether it may be a function."""
        return True

    def then(self, machine: Machine, type_: Type) -> Machine:
        """What comes when it is *type_*."""
        fixed = "it holds functions" if holds_functions(type_) else ""
        variable = Variable(self.name, type_, fixed)
        return machine.push(Sign("="), Whole(wanted_for(type_)), Sign(";"), Declare(variable))


@dataclass(frozen=True, slots=True)
class Declare(Step):
    """The variable is in scope."""

    variable: Variable

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        return machine.within(machine.environment.declare(self.variable))


@dataclass(frozen=True, slots=True)
class LoopName(Task):
    """The name of the variable that counts a loop."""

    closing: Restore

    def outline(self, below: Outline) -> Outline:
        """As in `Task`."""
        return ("do", "end", *below)

    def expected(self, machine: Machine) -> Expected:
        """As in `Task`."""
        return Expected(but=frozenset(machine.environment.variables))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        bounds = (Sign("="), Whole(NUMBER), Sign(","), Whole(NUMBER), Sign("do"))
        declared = Declare(Variable(token, NUMBER, "it counts the loop"))
        return machine.push(*bounds, EnterLoop(), declared, Block(), Sign("end"), self.closing, Sign(";"))

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        del machine
        return NAMELESS.format(0)


@dataclass(frozen=True, slots=True)
class EnterLoop(Step):
    """The body of a loop begins."""

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        return machine.within(machine.environment.in_loop())
