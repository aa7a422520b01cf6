"""The tasks of functions that are made: their parameters and their bodies."""

from __future__ import annotations

from dataclasses import dataclass

from fimlsp.languages.slua.checking.scopes import Variable
from fimlsp.languages.slua.incremental.inhabitants import NAMELESS
from fimlsp.languages.slua.incremental.machine import Machine, Restore, Sign, Step, Task
from fimlsp.languages.slua.incremental.tokens import Expected
from fimlsp.languages.slua.types import VOID, Function, Type


@dataclass(frozen=True, slots=True)
class EnterFunction(Step):
    """The beginning of a function that has to give *result*."""

    result: Type

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        return machine.within(machine.environment.in_function(self.result)).weighing(0)


@dataclass(frozen=True, slots=True)
class ParameterName(Task):
    """The name of a parameter."""

    type: Type

    def expected(self, machine: Machine) -> Expected:
        """As in `Task`."""
        return Expected(but=frozenset(machine.environment.variables))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        return machine.within(machine.environment.declare(Variable(token, self.type)))

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        del machine
        return NAMELESS.format(0)


def function_tasks(machine: Machine, function: Function) -> list[Task]:
    """What comes behind `function`."""
    tasks: list[Task] = [EnterFunction(function.result), Sign("(")]
    for number, parameter in enumerate(function.parameters):
        tasks += [Sign(",")] if number else []
        tasks.append(ParameterName(parameter))
    body = machine.body(function.result is not VOID)
    return [*tasks, Sign(")"), body, Sign("end"), Restore(machine.environment, machine.weight)]
