"""What is still open at a place of a script: a stack of tasks, the innermost on top.

Each task knows which lexemes may come and what they leave to be done, by the types that are wanted. Reading
is deterministic: a path such as `a.b(c).d` is followed through the types of what it names, and its beginning
is only taken if some continuation of it leads to what is wanted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from fimlsp.languages.slua.incremental.environment import Environment
from fimlsp.languages.slua.incremental.inhabitants import NAMELESS
from fimlsp.languages.slua.incremental.tokens import Expected, first_token
from fimlsp.languages.slua.types import Type

MOST_HEIGHT = 60
MOST_WEIGHT = 60
"""Beyond these only what has to be written is read, so that the limits of Lua are kept."""

Outline = tuple[str, ...]
"""The closing signs and keywords that are still to come, the innermost first."""


class Task(ABC):
    """Something that is to be read."""

    def may_end(self, machine: Machine) -> bool:
        """Whether it may be done already, so that what is below it on the stack may come."""
        del machine
        return False

    def leave(self, machine: Machine) -> Machine:
        """What *machine*, from which this task is taken, becomes where what is below it comes."""
        return machine

    def outline(self, below: Outline) -> Outline:
        """What is still to be closed with this task above *below*."""
        return below

    @abstractmethod
    def expected(self, machine: Machine) -> Expected:
        """What may come for this task itself."""

    def takes(self, machine: Machine, token: str) -> bool:
        """Whether the whole *token* may come for this task itself: it is among what is `expected`."""
        return self.expected(machine).takes(token)

    @abstractmethod
    def take(self, machine: Machine, token: str) -> Machine:
        """What *machine*, from which this task is taken, becomes with *token*, which is expected."""

    @abstractmethod
    def finish(self, machine: Machine) -> str:
        """A cheap text with which this task comes nearer to its end; empty if it may end."""


class Step(Task):
    """A task for which nothing is read."""

    @abstractmethod
    def instant(self, machine: Machine) -> Machine:
        """What *machine*, from which this task is taken, becomes."""

    def expected(self, machine: Machine) -> Expected:
        """As in `Task`."""
        raise AssertionError(f"{self} was not done: {machine}")

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        raise AssertionError(f"{self} was not done before {token!r}: {machine}")

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        raise AssertionError(f"{self} was not done: {machine}")


_OPENING = frozenset(("(", "{"))
_CLOSING = frozenset((")", "}", "then", "do", "end"))


@dataclass(frozen=True, slots=True)
class Sign(Task):
    """A keyword or sign; behind it the expression weighs *weight*, if that is given."""

    text: str
    weight: int | None = None

    def outline(self, below: Outline) -> Outline:
        """As in `Task`; what is yet to be opened is not yet to be closed."""
        if self.text in _OPENING:
            return below[1:]
        return (self.text, *below) if self.text in _CLOSING else below

    def expected(self, machine: Machine) -> Expected:
        """As in `Task`."""
        del machine
        return Expected(frozenset((self.text,)))

    def takes(self, machine: Machine, token: str) -> bool:
        """As in `Task`."""
        del machine
        return token == self.text

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        del token
        return machine if self.weight is None else machine.weighing(self.weight)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        del machine
        return self.text


@dataclass(frozen=True, slots=True)
class Restore(Step):
    """The end of a scope: what was in scope around it, and its weight."""

    environment: Environment
    weight: int

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        return machine.within(self.environment).weighing(self.weight)


@dataclass(frozen=True, slots=True)
class Value:
    """What was read: a value of *type*, which may be absent if it is *optional*."""

    type: Type
    optional: bool = False


@dataclass(frozen=True)
class Stack:
    """A task, and those below it."""

    task: Task
    below: Stack | None
    height: int

    @cached_property
    def outline(self) -> Outline:
        """What is still to be closed."""
        return self.task.outline(() if self.below is None else self.below.outline)


@dataclass(frozen=True)
class Machine:
    """A place of a script, between two lexemes.

    Attributes:
        stack: what is open; None if nothing is.
        environment: what is in scope.
        body: makes the task of a function's body, of which it is told whether it has to return.
        value: what the expression was that was read last.
        returned: whether every way through the block that was closed last ends with `return`.
        weight: of the expression around the place, so far: two for each operator, field, call and entry of a
            table, one for each argument.
    """

    stack: Stack | None
    environment: Environment
    body: Callable[[bool], Task]
    value: Value | None = None
    returned: bool = False
    weight: int = 0

    @property
    def height(self) -> int:
        """How many tasks are open."""
        return 0 if self.stack is None else self.stack.height

    @property
    def outline(self) -> Outline:
        """What is still to be closed."""
        return () if self.stack is None else self.stack.outline

    def push(self, *tasks: Task) -> Machine:
        """With *tasks* to do first, in their order."""
        stack = self.stack
        for task in reversed(tasks):
            stack = Stack(task, stack, 1 if stack is None else stack.height + 1)
        return self._on(stack)

    def _on(self, stack: Stack | None) -> Machine:
        return Machine(stack, self.environment, self.body, self.value, self.returned, self.weight)

    def within(self, environment: Environment) -> Machine:
        """With another environment."""
        return Machine(self.stack, environment, self.body, self.value, self.returned, self.weight)

    def weighing(self, weight: int) -> Machine:
        """With another weight."""
        return Machine(self.stack, self.environment, self.body, self.value, self.returned, weight)

    def after_value(self, value: Value) -> Machine:
        """Behind the expression *value*."""
        return Machine(self.stack, self.environment, self.body, value, self.returned, self.weight)

    def settled(self) -> Machine:
        """After all tasks for which nothing has to be read."""
        machine = self
        while machine.stack is not None and isinstance(machine.stack.task, Step):
            machine = machine.stack.task.instant(machine._on(machine.stack.below))
        return machine

    def expected(self) -> Expected:
        """What may come. Beyond the limits that is only what brings the script nearer to its end."""
        return self._expected

    @cached_property
    def _expected(self) -> Expected:
        if self.is_full:
            return self._forced()
        found, machine = Expected(), self
        while machine.stack is not None:
            task = machine.stack.task
            found |= task.expected(machine)
            if not task.may_end(machine):
                break
            machine = machine.without()
        return found

    def take(self, token: str) -> Machine | None:
        """After *token*; None if it may not come."""
        if self.is_full and not self._forced().takes(token):
            return None
        machine = self
        while machine.stack is not None:
            task = machine.stack.task
            if task.takes(machine, token):
                return task.take(machine._on(machine.stack.below), token).settled()
            if not task.may_end(machine):
                break
            machine = machine.without()
        return None

    def finish(self) -> str:
        """A cheap text for the innermost task that is not done; empty if all are."""
        machine = self
        while machine.stack is not None:
            text = machine.stack.task.finish(machine)
            if text:
                return text
            machine = machine.without()
        return ""

    def without(self) -> Machine:
        """Where what is below the innermost task comes, which may end."""
        assert self.stack is not None
        return self.stack.task.leave(self._on(self.stack.below)).settled()

    @property
    def is_full(self) -> bool:
        """Whether more would come near the limits of Lua."""
        return self.height > MOST_HEIGHT or self.weight > MOST_WEIGHT

    def _forced(self) -> Expected:
        token = first_token(self.finish())
        if not token:
            return Expected(end=True)
        if token[0] == NAMELESS[0]:
            return Expected(but=frozenset(self.environment.variables))
        if token[0] == '"' or token[0].isdigit():
            return Expected(string=token[0] == '"', number=token[0] != '"')
        return Expected(frozenset((token,)))
