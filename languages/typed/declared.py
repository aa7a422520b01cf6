"""Languages declared as data: types, operators, functions, names in scope, and statements with typed slots.

A name is declared before it is used, and its type is that of its value. All that needs more, such as types
that follow from their place, needs tasks of its own. The tasks of declared languages follow the declarations,
and the state before a text of one comes last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import NamedTuple

from fimlsp.languages.typed import machine as core
from fimlsp.languages.typed.lexicon import PLACEHOLDER, ExpectedTokens, Lexicon, Operator, Operators
from fimlsp.languages.typed.machine import Stack
from fimlsp.languages.typed.state import TextState

Types = frozenset[str]

NUMBER, TEXT = "0", "''"
"""The literals that stand for all numbers, and for all texts."""


class Binary(NamedTuple):
    """An operator: its level, the types on its right by those on its left, and its result."""

    level: int
    operands: Mapping[str, str]
    result: str


def _right(row: Binary, left: str) -> Types:
    return frozenset((row.operands[left],))


class Prefix(NamedTuple):
    """An operator before a value; its operand has operators of this level and above."""

    level: int
    operand: str
    result: str


class Function(NamedTuple):
    """A function: the types of its arguments, and of its result."""

    parameters: tuple[str, ...]
    result: str


class NewName(NamedTuple):
    """A slot for a new name. After its statement it is in scope, with the type of the value there."""


class KnownName(NamedTuple):
    """A slot for a name that a statement declared."""


class Value(NamedTuple):
    """A slot for a value of *type*. Without one it has that of the known name before it, or any."""

    type: str = ""


Slot = str | NewName | KnownName | Value
"""A part of a statement; a string is a keyword or sign."""


class DeclarationError(ValueError):
    """A language cannot be declared so."""


@dataclass(frozen=True, eq=False)
class Declaration:
    """A language as data.

    Attributes:
        literals: words that are values, with their types; `NUMBER` and `TEXT` stand for numbers and texts.
        operators: those between two values, by their tokens.
        prefixes: those before a value, by their tokens.
        functions: by their names.
        names: the names that are always in scope, with their types.
        statements: the kinds of statements, each with a keyword first, or with a known name.

    Raises:
        DeclarationError: no value can be written where one may have to come.
    """

    literals: Mapping[str, str]
    operators: Mapping[str, Binary] = field(default_factory=dict)
    prefixes: Mapping[str, Prefix] = field(default_factory=dict)
    functions: Mapping[str, Function] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    statements: Sequence[tuple[Slot, ...]] = ()

    def __post_init__(self) -> None:
        needed = {right for operator in self.operators.values() for right in operator.operands.values()}
        needed |= {prefix.operand for prefix in self.prefixes.values()}
        needed |= {slot.type for slots in self.statements for slot in slots if isinstance(slot, Value)} - {""}
        missing = needed - self.cheapest(self.names).keys()
        if missing:
            raise DeclarationError(
                f"Cannot declare the language: there is no value of the type {min(missing)}. Add a literal."
            )

    @cached_property
    def types(self) -> Types:
        """All types."""
        tables = (self.functions, self.operators, self.prefixes)
        results = {row.result for table in tables for row in table.values()}
        return frozenset({*self.literals.values(), *self.names.values(), *results})

    @cached_property
    def table(self) -> Operators[str, Types]:
        """The operators for the core."""
        rows = {
            sign: Operator(
                row.level,
                row.operands.__contains__,
                partial(_right, row),
                row.result,
                row.level + 1,
            )
            for sign, row in self.operators.items()
        }
        return Operators(rows, lambda type_, target: type_ in target)

    @cached_property
    def highest(self) -> int:
        """The highest level of an operator."""
        return max((row.level for row in self.operators.values()), default=0)

    def becoming(self, target: Types, level: int) -> Types:
        """The types from which *target* can be reached with operators of *level* and above."""
        can_become = self.table.can_become
        return frozenset(type_ for type_ in self.types if can_become(type_, target, level, self.highest))

    def cheapest(self, names: Mapping[str, str]) -> Mapping[str, str]:
        """A short text for each type that has values beside *names*."""
        texts = dict[str, str]()
        before = None
        while before != texts:
            before = dict(texts)
            for text, type_ in self._values(names, before):
                if type_ not in texts or len(text) < len(texts[type_]):
                    texts[type_] = text
        return texts

    def _values(self, names: Mapping[str, str], known: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Values made of *known* ones, each with its type."""
        yield from self.literals.items()
        yield from names.items()
        for name, function in self.functions.items():
            if known.keys() >= set(function.parameters):
                yield f"{name}({','.join(map(known.__getitem__, function.parameters))})", function.result
        for sign, prefix in self.prefixes.items():
            if prefix.operand in known:
                yield f"({sign} {known[prefix.operand]})", prefix.result
        for sign, row in self.operators.items():
            for left, right in row.operands.items():
                if {left, right} <= known.keys():
                    yield f"({known[left]} {sign} {known[right]})", row.result

    @cached_property
    def tokens(self) -> type[ExpectedTokens]:
        """The class of this language's tokens."""
        return type("Tokens", (ExpectedTokens,), {"__slots__": (), "lexicon": self._lexicon()})

    def _lexicon(self) -> Lexicon:
        words = {*self.literals, *self.operators, *self.prefixes, "(", ")", ","} - {NUMBER, TEXT}
        words |= {slot for slots in self.statements for slot in slots if isinstance(slot, str)}
        keywords = frozenset(word for word in words if word[0].isalpha())
        signs = sorted(words - keywords, key=len, reverse=True)
        several = "|".join(map(re.escape, signs))
        name, number = "[A-Za-z][A-Za-z0-9_]*", r"[0-9]+(?:\.[0-9]+)?"
        lexeme = rf"'(?:[^'\x00-\x1f\x7f]|'')*'(?!')|{name}|{number}(?![A-Za-z0-9_.])|{several}"
        token = rf"'(?:[^']|'')*'|\x01\d+\x02|{name}|{number}|{several}"
        return Lexicon(keywords, frozenset(signs), re.compile(lexeme.encode()), re.compile(token), quote="'")


@dataclass(frozen=True, eq=False)
class Scope:
    """The names in scope, with their types; *declared* are those of statements."""

    declaration: Declaration
    names: Mapping[str, str]
    declared: frozenset[str] = frozenset()

    @cached_property
    def cheapest(self) -> Mapping[str, str]:
        """A short text for each type that has values here."""
        return self.declaration.cheapest(self.names)

    def can_call(self, function: Function) -> bool:
        """True if all arguments have values here."""
        return self.cheapest.keys() >= set(function.parameters)

    def with_name(self, name: str, type_: str) -> Scope:
        """With a name that a statement declared."""
        return Scope(self.declaration, {**self.names, name: type_}, self.declared | {name})

    @cached_property
    def statements(self) -> Mapping[str, tuple[Slot, ...]]:
        """The kinds of statements by the tokens that they may start with."""
        kinds = dict[str, tuple[Slot, ...]]()
        for slots in self.declaration.statements:
            if self.declared or not any(isinstance(slot, KnownName) for slot in slots):
                starts = (slots[0],) if isinstance(slots[0], str) else sorted(self.declared)
                kinds |= dict.fromkeys(starts, slots)
        return kinds


@dataclass(frozen=True)
class Machine(core.Machine):
    """A place of a text in a declared language.

    Attributes:
        scope: the names that may be used.
        subject: the name that the statement at the place is about.
        value: the type of the value that was read last.
    """

    scope: Scope
    subject: str = ""
    value: str = ""

    @property
    def declaration(self) -> Declaration:
        """The language."""
        return self.scope.declaration

    @property
    def expects(self) -> type[ExpectedTokens]:
        """As in the core."""
        return self.declaration.tokens

    def on(self, stack: Stack | None) -> Machine:
        """As in the core."""
        return Machine(stack, self.scope, self.subject, self.value)

    @property
    def taken_names(self) -> frozenset[str]:
        """As in the core."""
        return frozenset((*self.scope.names, *self.declaration.functions))


class Task(core.Task[Machine]):
    """Something to read in a declared language."""


class Sign(core.Sign[Machine], Task):
    """A keyword or sign."""


class End(core.TextEnd[Machine], Task):
    """The end of the text."""


@dataclass(frozen=True, slots=True)
class Operand(Task):
    """An operand of an operator of *level*, with all that follows it and binds as strongly."""

    target: Types
    level: int = 0

    def _types(self, machine: Machine) -> Types:
        """The types with values here that lead to the target."""
        return machine.declaration.becoming(self.target, self.level) & frozenset(machine.scope.cheapest)

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        language, types = machine.declaration, self._types(machine)
        words = {"(", *_of(language.literals, types), *_of(machine.scope.names, types)}
        for name, function in language.functions.items():
            if function.result in types and machine.scope.can_call(function):
                words.add(name)
        for sign, prefix in language.prefixes.items():
            if prefix.result in types and prefix.level >= self.level:
                words.add(sign)
        return machine.expects(
            frozenset(words - {NUMBER, TEXT}), number=NUMBER in words, string=TEXT in words
        )

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        language, target, level = machine.declaration, self.target, self.level
        if token == "(":
            return machine.push(Operand(self._types(machine)), Sign(")"), AfterBracket(target, level))
        if token in language.prefixes:
            prefix = language.prefixes[token]
            after = AfterOperand(prefix.result, target, level, prefix.level - 1)
            return machine.push(Operand(frozenset((prefix.operand,)), prefix.level), after)
        if token in language.functions:
            function = language.functions[token]
            arguments: list[Task] = []
            for parameter in function.parameters:
                arguments += [Sign(",")] if arguments else []
                arguments.append(Operand(frozenset((parameter,))))
            after = AfterOperand(function.result, target, level, language.highest)
            return machine.push(Sign("("), *arguments, Sign(")"), after)
        literal = TEXT if token[0] == TEXT[0] else NUMBER if token[0].isdigit() else token
        type_ = machine.scope.names.get(token) or language.literals[literal]
        return machine.push(AfterOperand(type_, target, level, language.highest))

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        return min(
            (machine.scope.cheapest[type_] for type_ in self.target if type_ in machine.scope.cheapest),
            key=len,
        )


def _of(values: Mapping[str, str], types: Types) -> Iterator[str]:
    """Those of *values* that have one of *types*."""
    return (word for word, type_ in values.items() if type_ in types)


@dataclass(frozen=True, slots=True)
class AfterBracket(core.Step[Machine], Task):
    """After brackets: the enclosed value is an operand."""

    target: Types
    level: int

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        after = AfterOperand(machine.value, self.target, self.level, machine.declaration.highest)
        return machine.push(after)


@dataclass(frozen=True, slots=True)
class AfterOperand(Task):
    """The operators from *level* to *most* that may follow a value of *type*."""

    type: str
    target: Types
    level: int
    most: int

    def may_end(self, machine: Machine) -> bool:
        """As in `Task`."""
        del machine
        return self.type in self.target

    def leave(self, machine: Machine) -> Machine:
        """As in `Task`."""
        return replace(machine, value=self.type)

    def _operators(self, machine: Machine) -> frozenset[str]:
        return machine.declaration.table.following(self.type, self.target, self.level, self.most)

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        return machine.expects(self._operators(machine))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        row = machine.declaration.table.rows[token]
        right = Operand(row.right(self.type), row.right_level)
        return machine.push(right, replace(self, type=row.result, most=row.level))

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        table = machine.declaration.table
        return table.first_step(self.type, self.target, self.level, self.most) or ""


# Statements.


@dataclass(frozen=True, slots=True)
class Statements(Task):
    """Any number of statements."""

    def may_end(self, machine: Machine) -> bool:
        """As in `Task`."""
        del machine
        return True

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        return machine.expects(frozenset(machine.scope.statements))

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        slots = machine.scope.statements[token]
        started = replace(machine, subject="" if isinstance(slots[0], str) else token)
        return started.push(*(_task(slot) for slot in slots[1:]), Declare(), self)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        del machine
        return ""


def _task(slot: Slot) -> Task:
    """The task of *slot*."""
    if isinstance(slot, str):
        return Sign(slot)
    return ValueSlot(slot.type) if isinstance(slot, Value) else NameSlot(isinstance(slot, NewName))


@dataclass(frozen=True, slots=True)
class NameSlot(Task):
    """A name, which *is_new* or was declared."""

    is_new: bool

    def expected(self, machine: Machine) -> ExpectedTokens:
        """As in `Task`."""
        if self.is_new:
            return machine.expects(taken_names=machine.taken_names)
        return machine.expects(machine.scope.declared)

    def take(self, machine: Machine, token: str) -> Machine:
        """As in `Task`."""
        return replace(machine, subject=token)

    def finish(self, machine: Machine) -> str:
        """As in `Task`."""
        return PLACEHOLDER.format(0) if self.is_new else min(machine.scope.declared, key=len)


@dataclass(frozen=True, slots=True)
class ValueSlot(core.Step[Machine], Task):
    """A value of *type*; without one, of the type of the name before it, or of any type."""

    type: str

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        type_ = self.type or machine.scope.names.get(machine.subject, "")
        return machine.push(Operand(frozenset((type_,)) if type_ else frozenset(machine.scope.cheapest)))


class Declare(core.Step[Machine], Task):
    """The end of a statement: its new name comes into scope."""

    def instant(self, machine: Machine) -> Machine:
        """As in `Task`."""
        name = machine.subject
        if not name or name in machine.scope.names:
            return machine
        return replace(machine, scope=machine.scope.with_name(name, machine.value), subject="")


def begin(declaration: Declaration, type_: str = "") -> TextState[Machine]:
    """The state before a text: a value of *type_*, or statements if it is empty.

    Raises:
        DeclarationError: no value of the type can be written.
    """
    machine = Machine(None, Scope(declaration, declaration.names))
    if type_ and type_ not in machine.scope.cheapest:
        raise DeclarationError(f"Cannot write a value of the type {type_}: there is none. Add a literal.")
    return TextState(machine.push(Operand(frozenset((type_,))) if type_ else Statements(), End()))
