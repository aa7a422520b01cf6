"""A place of a text between two lexemes: a stack of tasks, the innermost on top.

A task knows which tokens may come, and which tasks they leave. Reading is deterministic. A language defines
its tasks, and a `Machine` that has the names in scope and all else that they need.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

from fimlsp.languages.typed.lexicon import PLACEHOLDER, ExpectedTokens, needs_space

M = TypeVar("M", bound="Machine")

Outline = tuple[str, ...]
"""The closing signs and keywords that are still to come, the innermost first."""


class Task(ABC, Generic[M]):
    """Something to read."""

    size: ClassVar[int] = 1
    """Its part of the height of the stack."""

    def may_end(self, machine: M) -> bool:
        """True if it may be complete already, so that the task below it on the stack may continue."""
        del machine
        return False

    def leave(self, machine: M) -> M:
        """The state that *machine*, without this task, becomes as the task below it continues."""
        return machine

    def outline(self, below: Outline) -> Outline:
        """The outline with this task above *below*."""
        return below

    @abstractmethod
    def expected(self, machine: M) -> ExpectedTokens:
        """The tokens that may come for this task itself."""

    def accepts(self, machine: M, token: str) -> bool:
        """True if the whole *token* may come for this task itself: it is among the `expected` ones."""
        return self.expected(machine).accepts(token)

    @abstractmethod
    def take(self, machine: M, token: str) -> M:
        """The state that *machine*, without this task, becomes with *token*, which is an expected one."""

    @abstractmethod
    def finish(self, machine: M) -> str:
        """A cheap text that brings this task nearer to its end; empty if it may end."""


class Step(Task[M]):
    """A task that reads nothing."""

    @abstractmethod
    def instant(self, machine: M) -> M:
        """The state that *machine*, without this task, becomes."""

    def expected(self, machine: M) -> ExpectedTokens:
        """As in `Task`."""
        raise AssertionError(f"{self} was not done: {machine}")

    def take(self, machine: M, token: str) -> M:
        """As in `Task`."""
        raise AssertionError(f"{self} was not done before {token!r}: {machine}")

    def finish(self, machine: M) -> str:
        """As in `Task`."""
        raise AssertionError(f"{self} was not done: {machine}")


@dataclass(frozen=True, slots=True)
class Sign(Task[M]):
    """A keyword or sign."""

    text: str

    def expected(self, machine: M) -> ExpectedTokens:
        """As in `Task`."""
        return machine.expects(frozenset((self.text,)))

    def accepts(self, machine: M, token: str) -> bool:
        """As in `Task`."""
        del machine
        return token == self.text

    def take(self, machine: M, token: str) -> M:
        """As in `Task`."""
        del token
        return machine

    def finish(self, machine: M) -> str:
        """As in `Task`."""
        del machine
        return self.text


@dataclass(frozen=True)
class Choice(Task[M]):
    """The tasks after each token that may come, the cheapest first, or none if it *may_be_missing*."""

    ways: Mapping[str, Sequence[Task[M]]] = field(hash=False)
    may_be_missing: bool = False

    def may_end(self, machine: M) -> bool:
        """As in `Task`."""
        del machine
        return self.may_be_missing

    def expected(self, machine: M) -> ExpectedTokens:
        """As in `Task`."""
        return machine.expects(frozenset(self.ways))

    def take(self, machine: M, token: str) -> M:
        """As in `Task`."""
        return machine.push(*self.ways[token])

    def finish(self, machine: M) -> str:
        """As in `Task`."""
        del machine
        return "" if self.may_be_missing else next(iter(self.ways))


@dataclass(frozen=True)
class Repeat(Task[M]):
    """Any number of times *separator* and *tasks*."""

    separator: str
    tasks: Sequence[Task[M]] = field(hash=False)

    def may_end(self, machine: M) -> bool:
        """As in `Task`."""
        del machine
        return True

    def expected(self, machine: M) -> ExpectedTokens:
        """As in `Task`."""
        return machine.expects(frozenset((self.separator,)))

    def take(self, machine: M, token: str) -> M:
        """As in `Task`."""
        del token
        return machine.push(*self.tasks, self)

    def finish(self, machine: M) -> str:
        """As in `Task`."""
        del machine
        return ""


class TextEnd(Task[M]):
    """The end of the whole text."""

    def expected(self, machine: M) -> ExpectedTokens:
        """As in `Task`."""
        return machine.expects(end=True)

    def take(self, machine: M, token: str) -> M:
        """As in `Task`."""
        raise AssertionError(f"{token!r} after the end: {machine}")

    def may_end(self, machine: M) -> bool:
        """As in `Task`."""
        del machine
        return True

    def finish(self, machine: M) -> str:
        """As in `Task`."""
        del machine
        return ""


@dataclass(frozen=True)
class Stack:
    """A task, and those below it."""

    task: Task[Any]
    below: Stack | None
    height: int

    @property
    def outline(self) -> Outline:
        """The closers that are still to come. Each stack keeps its own, as it is above many others."""
        unknown = list[Stack]()
        stack: Stack | None = self
        while stack is not None and "_outline" not in stack.__dict__:
            unknown.append(stack)
            stack = stack.below
        outline: Outline = () if stack is None else stack.__dict__["_outline"]
        for above in reversed(unknown):
            outline = above.__dict__["_outline"] = above.task.outline(outline)
        return outline


@dataclass(frozen=True)
class Machine(ABC):
    """A place of a text, between two lexemes. A subclass has further fields.

    Attributes:
        stack: the open tasks; None if there are none.
    """

    most_height: ClassVar[int] = 60
    """Beyond this size of the open tasks only required lexemes are accepted."""

    stack: Stack | None

    @property
    @abstractmethod
    def expects(self) -> type[ExpectedTokens]:
        """The class of the language's tokens."""

    @abstractmethod
    def on(self: M, stack: Stack | None) -> M:
        """With other open tasks."""

    @property
    @abstractmethod
    def taken_names(self) -> frozenset[str]:
        """Names that a new name may not be."""

    def spelled(self, token: str) -> str:
        """*token* as it is written in a completion."""
        return token

    def has_space(self, before: str, token: str) -> bool:
        """True if a completion has a space between the tokens *before* and *token*."""
        return needs_space(before, token)

    @property
    def task(self) -> Task[Any] | None:
        """The innermost open task; None if there is none."""
        return None if self.stack is None else self.stack.task

    @property
    def height(self) -> int:
        """Size of all open tasks."""
        return 0 if self.stack is None else self.stack.height

    @property
    def outline(self) -> Outline:
        """The closers that are still to come."""
        return () if self.stack is None else self.stack.outline

    def push(self: M, *tasks: Task[M]) -> M:
        """With *tasks* to do first, in their order."""
        stack = self.stack
        for task in reversed(tasks):
            stack = Stack(task, stack, task.size + (0 if stack is None else stack.height))
        return self.on(stack)

    def settled(self: M) -> M:
        """After all tasks on top that read nothing."""
        machine = self
        while machine.stack is not None and isinstance(machine.stack.task, Step):
            machine = machine.stack.task.instant(machine.on(machine.stack.below))
        return machine

    def expected(self) -> ExpectedTokens:
        """The tokens that may come. Beyond the limits, only those that finish the text."""
        return self._expected

    @cached_property
    def _expected(self) -> ExpectedTokens:
        if self.is_full:
            return self._forced()
        tokens, machine = self.expects(), self
        while machine.stack is not None:
            task = machine.stack.task
            tokens |= task.expected(machine)
            if not task.may_end(machine):
                break
            machine = machine.without_task()
        return tokens

    def take(self: M, token: str) -> M | None:
        """The state after *token*; None if it may not come."""
        if self.is_full and not self._forced().accepts(token):
            return None
        machine = self
        while machine.stack is not None:
            task: Task[M] = machine.stack.task
            if task.accepts(machine, token):
                return task.take(machine.on(machine.stack.below), token).settled()
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

    def without_task(self: M) -> M:
        """Without the innermost task, which may end."""
        assert self.stack is not None
        task: Task[M] = self.stack.task
        return task.leave(self.on(self.stack.below)).settled()

    @property
    def is_full(self) -> bool:
        """True if more would come near the limits of those who read the text."""
        return self.height > self.most_height

    def _forced(self) -> ExpectedTokens:
        token = self.expects.lexicon.first_token(self.finish())
        if not token:
            return self.expects(end=True)
        if token[0] == PLACEHOLDER[0]:
            return self.expects(taken_names=self.taken_names)
        if token[0] == self.expects.lexicon.quote:
            return self.expects(string=True)
        if token[0].isdigit():
            expected = self._expected_with(token)
            return self.expects(number=expected.number, integer=expected.integer)
        return self.expects(frozenset((token,)))

    def _expected_with(self, token: str) -> ExpectedTokens:
        """The tokens that the task expects that accepts *token*."""
        machine = self
        while machine.stack is not None and not machine.stack.task.accepts(machine, token):
            machine = machine.without_task()
        assert machine.stack is not None, token
        return machine.stack.task.expected(machine)
