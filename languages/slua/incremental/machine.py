"""The parser's state between two lexemes: the core's stack of tasks, with what scripts need to know.

A task knows by types which lexemes may come. A path such as `a.b(c).d` is followed through the types of its
parts. Its first part is only accepted if some continuation leads to the target type.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from fimlsp.languages.slua.incremental.environment import Environment
from fimlsp.languages.slua.lexemes import ExpectedTokens
from fimlsp.languages.slua.types import Type
from fimlsp.languages.typed import machine as core
from fimlsp.languages.typed.machine import Outline as Outline
from fimlsp.languages.typed.machine import Stack as Stack

MOST_LEVELS, MOST_HELD = 140, 200
"""Levels within each other, and values held at once, beyond which only required lexemes are accepted.

Lua has limits for both. The distance to those of the checker is room for what a text still needs.
"""


class Task(core.Task["Machine"]):
    """Something to read in a script; its size is the number of levels that Lua counts around it."""

    size: ClassVar[int] = 0


class Step(core.Step["Machine"], Task):
    """A task that reads nothing."""

    size: ClassVar[int] = 0


_OPENING = frozenset(("(", "{"))
_CLOSING = frozenset((")", "}", "then", "do", "end"))


@dataclass(frozen=True, slots=True)
class Sign(core.Sign["Machine"], Task):
    """A keyword or sign. After it the expression has *weight*, if that is given."""

    weight: int | None = None

    def outline(self, below: Outline) -> Outline:
        """As in `Task`; a closer whose opener is still to come does not count."""
        if self.text in _OPENING:
            return below[1:]
        return (self.text, *below) if self.text in _CLOSING else below

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        del token
        return machine if self.weight is None else machine.with_weight(self.weight)


@dataclass(frozen=True, slots=True)
class LeaveScope(Step):
    """The end of a scope: restores the environment around it, and its weight."""

    size: ClassVar[int] = 1
    environment: Environment
    weight: int

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        return machine.with_environment(self.environment).with_weight(self.weight)


@dataclass(frozen=True, slots=True)
class LeaveFunction(LeaveScope):
    """The end of a function, a level with the expression that it is."""

    size: ClassVar[int] = 0


@dataclass(frozen=True, slots=True)
class SetWeight(Step):
    """The end of an operand: restores the weight of the expression before it."""

    weight: int

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        return machine.with_weight(self.weight)


@dataclass(frozen=True, slots=True)
class Room(SetWeight):
    """The end of an operand for which the translation may need one more level."""

    size: ClassVar[int] = 1


@dataclass(frozen=True, slots=True)
class Value:
    """A value that was read, of *type*; it may be absent if it is *optional*."""

    type: Type
    optional: bool = False


@dataclass(frozen=True)
class Machine(core.Machine):
    """A place of a script, between two lexemes.

    Attributes:
        environment: the scope.
        body: makes the task of a function's body; its argument is True if the body has to return.
        value: the expression that was read last.
        returned: True if every way through the block that was closed last ends with `return`.
        weight: number of values that the surrounding expression holds: functions with their arguments,
            parts of a joined text, tables, and the left operands of operators.
    """

    expects: ClassVar[type[ExpectedTokens]] = ExpectedTokens
    most_height: ClassVar[int] = MOST_LEVELS

    environment: Environment
    body: Callable[[bool], Task]
    value: Value | None = None
    returned: bool = False
    weight: int = 0

    def on(self, stack: Stack | None) -> Machine:
        """As in the core."""
        return Machine(stack, self.environment, self.body, self.value, self.returned, self.weight)

    @property
    def taken_names(self) -> frozenset[str]:
        """As in the core."""
        return frozenset(self.environment.variables)

    def with_environment(self, environment: Environment) -> Machine:
        """With another environment."""
        return Machine(self.stack, environment, self.body, self.value, self.returned, self.weight)

    def with_weight(self, weight: int) -> Machine:
        """With another weight."""
        return Machine(self.stack, self.environment, self.body, self.value, self.returned, weight)

    def with_value(self, value: Value) -> Machine:
        """After the expression *value*."""
        return Machine(self.stack, self.environment, self.body, value, self.returned, self.weight)

    @property
    def is_full(self) -> bool:
        """As in the core; also if the function holds many values."""
        return self.height > self.most_height or self.weight + self.environment.slots > MOST_HELD
