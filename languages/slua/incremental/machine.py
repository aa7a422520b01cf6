"""The parser's state between two lexemes: a stack of tasks, the innermost on top.

A task knows by types which lexemes may come, and which tasks they leave. Reading is deterministic. A path
such as `a.b(c).d` is followed through the types of its parts. Its first part is only accepted if some
continuation leads to the target type.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from fimlsp.languages.slua.incremental.environment import PLACEHOLDER, Environment
from fimlsp.languages.slua.incremental.tokens import ExpectedTokens, first_token
from fimlsp.languages.slua.types import Type

MOST_HEIGHT = 60
MOST_WEIGHT = 60
"""Beyond these only required lexemes are accepted, so that the limits of Lua are kept."""

Outline = tuple[str, ...]
"""The closing signs and keywords that are still to come, the innermost first."""


class Task(ABC):
    """Something to read."""

    def may_end(self, machine: Machine) -> bool:
        """True if it may be complete already, so that the task below it on the stack may continue."""
        del machine
        return False

    def leave(self, machine: Machine) -> Machine:
        """The state that *machine*, without this task, becomes as the task below it continues."""
        return machine

    def outline(self, below: Outline) -> Outline:
        """The outline with this task above *below*."""
        return below

    @abstractmethod
    def expected(self, machine: Machine) -> ExpectedTokens:
        """The tokens that may come for this task itself."""

    def accepts(self, machine: Machine, token: str) -> bool:
        """True if the whole *token* may come for this task itself: it is among the `expected` ones."""
        return self.expected(machine).accepts(token)

    @abstractmethod
    def take(self, machine: Machine, token: str) -> Machine:
        """The state that *machine*, without this task, becomes with *token*, which is an expected one."""

    @abstractmethod
    def finish(self, machine: Machine) -> str:
        """A cheap text that brings this task nearer to its end; empty if it may end."""


class Step(Task):
    """A task that reads nothing."""

    @abstractmethod
    def instant(self, machine: Machine) -> Machine:
        """The state that *machine*, without this task, becomes."""

    def expected(self, machine: Machine) -> ExpectedTokens:
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
    """A keyword or sign. After it the expression has *weight*, if that is given."""

    text: str
    weight: int | None = None

    def outline(self, below: Outline) -> Outline:
        """As in `Task`; a closer whose opener is still to come does not count."""
        if self.text in _OPENING:
            return below[1:]
        return (self.text, *below) if self.text in _CLOSING else below

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        del machine
        return ExpectedTokens(frozenset((self.text,)))

    def accepts(self, machine: Machine, token: str) -> bool:
        """As in `Task`."""
        del machine
        return token == self.text

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        del token
        return machine if self.weight is None else machine.with_weight(self.weight)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        del machine
        return self.text


@dataclass(frozen=True, slots=True)
class LeaveScope(Step):
    """The end of a scope: restores the environment around it, and its weight."""

    environment: Environment
    weight: int

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        return machine.with_environment(self.environment).with_weight(self.weight)


@dataclass(frozen=True, slots=True)
class Value:
    """A value that was read, of *type*; it may be absent if it is *optional*."""

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
        """The closers that are still to come."""
        return self.task.outline(() if self.below is None else self.below.outline)


@dataclass(frozen=True)
class Machine:
    """A place of a script, between two lexemes.

    Attributes:
        stack: the open tasks; None if there are none.
        environment: the scope.
        body: makes the task of a function's body; its argument is True if the body has to return.
        value: the expression that was read last.
        returned: True if every way through the block that was closed last ends with `return`.
        weight: of the surrounding expression so far. Each operator, field, call and table entry weighs two,
            each argument one.
    """

    stack: Stack | None
    environment: Environment
    body: Callable[[bool], Task]
    value: Value | None = None
    returned: bool = False
    weight: int = 0

    @property
    def task(self) -> Task | None:
        """The innermost open task; None if there is none."""
        return None if self.stack is None else self.stack.task

    @property
    def height(self) -> int:
        """Number of open tasks."""
        return 0 if self.stack is None else self.stack.height

    @property
    def outline(self) -> Outline:
        """The closers that are still to come."""
        return () if self.stack is None else self.stack.outline

    def push(self, *tasks: Task) -> Machine:
        """With *tasks* to do first, in their order."""
        stack = self.stack
        for task in reversed(tasks):
            stack = Stack(task, stack, 1 if stack is None else stack.height + 1)
        return self._on(stack)

    def _on(self, stack: Stack | None) -> Machine:
        return Machine(stack, self.environment, self.body, self.value, self.returned, self.weight)

    def with_environment(self, environment: Environment) -> Machine:
        """With another environment."""
        return Machine(self.stack, environment, self.body, self.value, self.returned, self.weight)

    def with_weight(self, weight: int) -> Machine:
        """With another weight."""
        return Machine(self.stack, self.environment, self.body, self.value, self.returned, weight)

    def with_value(self, value: Value) -> Machine:
        """After the expression *value*."""
        return Machine(self.stack, self.environment, self.body, value, self.returned, self.weight)

    def settled(self) -> Machine:
        """After all tasks on top that read nothing."""
        machine = self
        while machine.stack is not None and isinstance(machine.stack.task, Step):
            machine = machine.stack.task.instant(machine._on(machine.stack.below))
        return machine

    def expected(self) -> ExpectedTokens:
        """The tokens that may come. Beyond the limits, only those that finish the script."""
        return self._expected

    @cached_property
    def _expected(self) -> ExpectedTokens:
        if self.is_full:
            return self._forced()
        tokens, machine = ExpectedTokens(), self
        while machine.stack is not None:
            task = machine.stack.task
            tokens |= task.expected(machine)
            if not task.may_end(machine):
                break
            machine = machine.without_task()
        return tokens

    def take(self, token: str) -> Machine | None:
        """The state after *token*; None if it may not come."""
        if self.is_full and not self._forced().accepts(token):
            return None
        machine = self
        while machine.stack is not None:
            task = machine.stack.task
            if task.accepts(machine, token):
                return task.take(machine._on(machine.stack.below), token).settled()
            if not task.may_end(machine):
                break
            machine = machine.without_task()
        return None

    def finish(self) -> str:
        """A cheap text for the innermost unfinished task; empty if all are finished."""
        machine = self
        while machine.stack is not None:
            text = machine.stack.task.finish(machine)
            if text:
                return text
            machine = machine.without_task()
        return ""

    def without_task(self) -> Machine:
        """Without the innermost task, which may end."""
        assert self.stack is not None
        return self.stack.task.leave(self._on(self.stack.below)).settled()

    @property
    def is_full(self) -> bool:
        """True if more would come near the limits of Lua."""
        return self.height > MOST_HEIGHT or self.weight > MOST_WEIGHT

    def _forced(self) -> ExpectedTokens:
        token = first_token(self.finish())
        if not token:
            return ExpectedTokens(end=True)
        if token[0] == PLACEHOLDER[0]:
            return ExpectedTokens(taken_names=frozenset(self.environment.variables))
        if token[0] == '"' or token[0].isdigit():
            return ExpectedTokens(string=token[0] == '"', number=token[0] != '"')
        return ExpectedTokens(frozenset((token,)))
