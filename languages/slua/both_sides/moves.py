"""What may be written next at a place of a script in order to come to where the right text fits.

Of all ways to write a value only the cheapest to each type are tried, and brackets and blocks are only opened
if the right text closes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise

from fimlsp.languages.slua.both_sides.closings import LONGEST_PART, Target, outline_of
from fimlsp.languages.slua.both_sides.fitting import (
    Needed,
    blocks_to_open,
    is_function_head,
    may_be_function,
    may_be_interface,
    may_be_statement,
    may_be_table,
    may_close,
    to_open,
    values_returned,
)
from fimlsp.languages.slua.both_sides.guesses import SIMPLE, functions_begun, of_path, of_uses, of_values
from fimlsp.languages.slua.both_sides.right_text import RightText
from fimlsp.languages.slua.incremental.expressions import (
    Continue,
    Entries,
    EntryName,
    FieldName,
    Operand,
    PathTail,
    possible_entries,
)
from fimlsp.languages.slua.incremental.functions import ParameterName
from fimlsp.languages.slua.incremental.inhabitants import NAMELESS
from fimlsp.languages.slua.incremental.machine import Machine, Outline, Stack, Task, Value
from fimlsp.languages.slua.incremental.statements import Block, LocalType, Statements
from fimlsp.languages.slua.incremental.tokens import TOKEN, first_token, is_name
from fimlsp.languages.slua.incremental.wanted import OR, is_enough, wanted_for
from fimlsp.languages.slua.incremental.written_types import (
    AfterParameter,
    Fields,
    ParameterTypes,
    WrittenType,
    named_types,
)
from fimlsp.languages.slua.types import Function, Table, Type

_LITERALS = ("0", '""', "true")
_JOINING = ("+", "..", "==", "and")
"""One operator of each kind that can stand between values."""
_OPERATORS = frozenset(("and", "or", "not", "-"))


class Moves:
    """What may be written where *right* is to follow."""

    def __init__(self, right: RightText) -> None:
        self._right = right
        self._targets = right.targets
        self._taken = frozenset(right.used_names)

    def finishing(self, machine: Machine, is_own: bool) -> tuple[str, ...]:
        """The beginning of the cheapest way to end what is open; none if nothing is.

        That is a lexeme. In what the middle itself has opened, if it *is_own*, it is a value as a whole, or
        none if the right text goes on there and not behind a value.
        """
        text = machine.finish()
        if is_own and machine.stack is not None and isinstance(machine.stack.task, Operand):
            is_argument = machine.outline[:1] == (")",) and self._needed(machine.stack) is not None
            is_enough = is_argument and not self._right.follows_value
            return () if is_enough else self.tokens(machine, text)
        token = first_token(text)
        if token[:1] == NAMELESS[0]:
            token = self._lacking_name(machine) or self.new_name(machine)
        return (token,) if token else ()

    def _lacking_name(self, machine: Machine) -> str:
        """A name that the right text uses as such a thing, and nobody declares; empty if there is none."""
        task = machine.stack.task if machine.stack is not None else None
        expected, environment = machine.expected(), machine.environment
        names = (n for n in self._right.free_names if expected.takes(n) and n not in environment.types)
        if not isinstance(task, ParameterName):
            return next(names, "")
        uses = {name: of_uses(name, self._right.texts, environment) for name in names}
        fitting = [name for name, types in uses.items() if task.type in types]
        return min(fitting, key=lambda name: len(uses[name]), default="")

    def others(self, machine: Machine, has_begun: bool) -> Iterator[tuple[str, ...]]:
        """Other beginnings, where something can still be opened or the right text might go on.

        If the middle *has_begun* something, it goes on with no operator: it could have begun otherwise.
        """
        needed = self._needed(machine.stack)
        if machine.stack is None or machine.is_full:
            return
        task = machine.stack.task
        if isinstance(task, ParameterTypes | AfterParameter):
            yield from self._function_types(machine, task)
        if needed is None:
            return
        if not needed and not self._may_hold(_table_around(machine.stack)):
            return
        if self._is_followed(needed) and _is_last_statement(machine.stack):
            return
        if not needed and self._is_within_type_or_function(task):
            yield from ((word,) for word in machine.expected().words & {"local"})
        elif isinstance(task, Block | Operand):
            yield from self._beginnings(machine, task, needed)
        elif isinstance(task, Entries | EntryName):
            yield from self._entries(machine, task)
        elif isinstance(task, PathTail | Continue | FieldName):
            words = machine.expected().words
            if not has_begun:
                yield from ((sign,) for sign in ("=", ".", *_JOINING) if sign in words)
            elif "." in words and isinstance(task, PathTail) and self._may_name_field(task.value.type):
                yield (".",)
            if "(" in words and isinstance(task, PathTail) and isinstance(task.value.type, Function):
                yield from self._brackets(machine, task.value.type, needed)
            if task.may_end(machine):
                yield from self.others(machine.without(), has_begun)
        else:
            yield from self._plain(machine)
            if isinstance(task, WrittenType) and task.purpose.allows_functions():
                yield from self._function_types(machine, task)

    def _function_types(
        self, machine: Machine, task: WrittenType | ParameterTypes | AfterParameter
    ) -> Iterator[tuple[str, ...]]:
        """What may still be written of the type of a function that the right text begins with."""
        given = () if isinstance(task, WrittenType) else _types_given(machine, task)
        written = "" if isinstance(task, WrittenType) else "(" + ", ".join(map(str, given))
        written += ", " if given and isinstance(task, ParameterTypes) else ""
        name = task.purpose.name if isinstance(task.purpose, LocalType) else ""
        texts = self._right.texts
        parts = 1 if texts[:1] == ("->",) else 2 if texts[1:3] == ("=", "function") else 3
        for type_ in functions_begun(self._right, machine.environment, name, given):
            text = "".join(str(type_).partition("->")[:parts])
            if text.startswith(written):
                yield self.tokens(machine, text[len(written) :])

    def _may_name_field(self, type_: Type) -> bool:
        """Whether the right text may begin with the end of the name of a field of *type_*."""
        word = self._right.word
        return isinstance(type_, Table) and bool(word) and any(name.endswith(word) for name in type_.fields)

    def _is_within_type_or_function(self, task: Task) -> bool:
        """Whether the right text is the rest of a function or its type, which *task* can only declare."""
        if not (self._right.begins_function or self._right.texts[:1] == ("->",)):
            return False
        return isinstance(task, Block | Operand | PathTail | Continue | FieldName)

    def levels_to_open(self, outline: Outline) -> int:
        """How many brackets and blocks are to be opened, once what does not fit in *outline* is closed."""
        wanted = (outline_of(target) for target in self._targets)
        return min((len(each) - _common(each, outline) for each in wanted), default=0)

    def new_name(self, machine: Machine, others: Iterable[str] = ()) -> str:
        """A name that no variable, none of *others* and nothing in the right text has."""
        letters = "abcdefghijklmnopqrstuvwxyz"
        taken = {*machine.environment.variables, *machine.environment.types, *self._taken, *others}
        names = (letter + "x" * more for more in range(40) for letter in letters)
        return next(name for name in names if name not in taken)

    def _needed(self, stack: Stack | None) -> Needed | None:
        """What may be opened, none if only the level is right; None if something else is open."""
        outline = () if stack is None else stack.outline
        splits = ((target, len(target) - len(outline)) for target in self._fitting(outline))
        split = [(t[:size], t[size:]) for t, size in splits if size == len(t) or may_close(t[size], stack)]
        return frozenset(opened for opened, _ in split if opened) if split else None

    def _fitting(self, outline: Outline) -> list[Target]:
        """The targets that something can be opened to from *outline*."""
        size = len(outline)
        longer = [target for target in self._targets if len(target) >= size]
        return [target for target in longer if outline_of(target[len(target) - size :]) == outline]

    def _brackets(self, machine: Machine, function: Function, needed: Needed) -> Iterator[tuple[str, ...]]:
        """The beginnings of calls of *function* that leave the arguments that the right text gives."""
        is_last = self.levels_to_open(machine.outline) == 1
        for parts in dict.fromkeys(closing.parts for closing in to_open(needed, ")")):
            parameters = function.parameters
            before = len(parameters) - 1 - len(parts)
            if before < 0 and (parts or parameters):
                continue
            if not all(map(partial(_may_be_given, machine), parameters[before + 1 :], parts)):
                continue
            if is_last and parameters and not self._may_be(parameters[before]):
                continue
            values = map(machine.environment.inhabitants.value, parameters[: max(0, before)])
            text = "".join(f"{value}," for value in values)
            yield ("(", *self.tokens(machine, text))

    def _may_be(self, type_: Type) -> bool:
        """Whether the right text may begin with a value of *type_*, or go on with one."""
        kinds = {"function": Function, "{": Table}
        first = self._right.texts[0] if self._right.texts else ""
        return first not in kinds or isinstance(type_, kinds[first])

    def _beginnings(
        self, machine: Machine, task: Block | Operand, needed: Needed
    ) -> Iterator[tuple[str, ...]]:
        if isinstance(task, Block) and is_function_head(needed):
            yield from self._functions(machine)
            return
        scope, expected = machine.environment.inhabitants, machine.expected()
        first, field = (*self._right.texts[:2], "", "")[:2]
        for type_, path in scope.paths.items():
            tokens = self.tokens(machine, path)
            if not needed and first == "." and not (isinstance(type_, Table) and field in type_.fields):
                continue
            if tokens[0] in expected.words:
                if self._right.follows_value or self._may_name_field(type_):
                    yield tokens
                if isinstance(type_, Function) and (isinstance(task, Operand) or may_be_statement(needed)):
                    yield from ((*tokens, *call) for call in self._brackets(machine, type_, needed))
        if isinstance(task, Block):
            is_in_value = not needed or bool(to_open(needed, ")") or to_open(needed, "}"))
            words = {"local", "return", "break"} if is_in_value else {"local"}
            words -= {"return", "break"} if self._is_followed(needed) else set()
            words |= {"interface"} if may_be_interface(needed) else set()
            endings = task.endings if isinstance(task, Statements) else ()
            yield from ((name, "(") for name in endings if name in expected.words)
            words |= blocks_to_open(needed, machine.environment.result)
        else:
            words = set() if needed else {"not"}
            literals = _LITERALS if self._right.follows_value else ()
            yield from ((t,) for t in literals if expected.takes(t) and (needed or first != "."))
            brackets = to_open(needed, ")")
            words |= {"("} if any(not closing.parts for closing in brackets) else set()
            words |= {"{"} if self._may_open(machine, task, needed) else set()
            words |= {"function"} if may_be_function(task.wanted, needed) else set()
        yield from ((word,) for word in sorted(words & expected.words))
        if "local" in words & expected.words:
            yield from self._declarations(machine, needed, is_in_value)

    def _is_followed(self, needed: Needed) -> bool:
        """Whether further statements stand on the right behind the one that the middle is in."""
        is_within_body = any(closing.sign == "end" for target in needed for closing in target)
        return not is_within_body and not self._right.ends_block

    def _may_open(self, machine: Machine, operand: Operand, needed: Needed) -> bool:
        """Whether the right text may go on in the table that is wanted."""
        if not isinstance(operand.wanted, Table) or not may_be_table(operand.wanted, needed):
            return False
        return self.levels_to_open(machine.outline) != 1 or self._may_hold(operand.wanted)

    def _may_hold(self, table: Table | None) -> bool:
        """Whether the right text may go on in *table*: not with a field that it lacks, or a declaration."""
        first, second = (*self._right.texts[:2], "", "")[:2]
        if table is None or not is_name(first):
            return table is None or first not in ("mutable", "optional")
        return second != ":" and (second != "=" or any(f.endswith(first) for f in table.fields))

    def _entries(self, machine: Machine, task: Entries | EntryName) -> Iterator[tuple[str, ...]]:
        """The fields of a table that it needs and the right text does not give; and one more, or its name."""
        fields, value = task.table.fields, machine.environment.inhabitants.value
        possible = possible_entries(task.table, task.given, machine)
        own = [name for name in fields if name in possible and name not in self._right.keys]
        comma = "," if isinstance(task, Entries) and task.given else ""

        def entries(names: list[str], last: str = "") -> tuple[str, ...]:
            texts = [*(f"{name}={value(fields[name].type)}" for name in names), *([last] if last else [])]
            return self.tokens(machine, comma + ",".join(texts))

        needed = [name for name in own if not fields[name].optional]
        if needed:
            yield entries(needed)
            yield (*entries(needed), ",")
        elif comma and possible:
            yield (",",)
        for name in fields:
            if name in possible:
                others = [each for each in needed if each != name]
                yield entries(others, f"{name}=")
                yield entries(others, name)
                if others and name.endswith(self._right.word):
                    yield (*entries(others), ",")

    def _declarations(self, machine: Machine, needed: Needed, is_in_value: bool) -> Iterator[tuple[str, ...]]:
        """The beginnings of variables of all types, and of functions without parameters."""
        name, inhabitants = self.new_name(machine), machine.environment.inhabitants
        types = [t for t in (*SIMPLE, *inhabitants.tables) if is_in_value and inhabitants.has(t)]
        yield from (("local", name, ":", str(type_), "=") for type_ in types)
        for result in of_values(values_returned(needed), machine.environment):
            yield self.tokens(machine, f"local {name}:()->{result}=function()")

    def _functions(self, machine: Machine) -> Iterator[tuple[str, ...]]:
        """The beginnings of functions whose heads the right text ends, with names that it calls first."""
        texts = self._right.texts
        called = {name for name, behind in pairwise(texts) if behind == "("}
        names = [name for name in self._right.free_names if name in called]
        for name in (*names, self.new_name(machine)):
            for type_ in functions_begun(self._right, machine.environment, name):
                yield self.tokens(machine, f"local {name}:{type_}=function(")

    def _plain(self, machine: Machine) -> Iterator[tuple[str, ...]]:
        expected = machine.expected()
        yield from ((word,) for word in sorted(expected.words) if word not in _OPERATORS)
        if expected.but is not None:
            yield (self.new_name(machine),)
            yield from ((name,) for name in self._names(machine) if expected.takes(name))

    def _names(self, machine: Machine) -> tuple[str, ...]:
        """The names in the right text that something new at *machine* may have."""
        task = machine.stack.task if machine.stack is not None else None
        if isinstance(task, Fields):
            return self._right.field_names
        is_of_type = isinstance(task, ParameterTypes | AfterParameter)
        return () if is_of_type else self._right.free_names

    def tokens(self, machine: Machine, text: str) -> tuple[str, ...]:
        """The lexemes of *text*, with new names where it leaves them open."""
        names: dict[str, str] = {}
        for token in TOKEN.findall(text):
            if token[0] == NAMELESS[0] and token not in names:
                names[token] = self.new_name(machine, names.values())
        return tuple(names.get(token, token) for token in TOKEN.findall(text))


def _may_be_given(machine: Machine, type_: Type, value: tuple[str, ...]) -> bool:
    """Whether what begins with *value* may be a value of *type_*, as far as its names are declared."""
    known = of_path(value, machine.environment) if len(value) < LONGEST_PART else None
    if known is not None:
        return is_enough(Value(known), wanted_for(type_))
    is_unknown = not value or (is_name(value[0]) and value[0] not in machine.environment.variables)
    return is_unknown or Operand(wanted_for(type_), OR).takes(machine, value[0])


def _types_given(machine: Machine, task: ParameterTypes | AfterParameter) -> tuple[Type, ...]:
    """The types of the parameters that are written where *task* is."""
    if isinstance(task, ParameterTypes):
        return task.types
    type_ = named_types(machine.environment).get(task.word)
    return task.before if type_ is None else (*task.before, type_)


def _common(first: Outline, second: Outline) -> int:
    """How many of the last signs of both are the same."""
    pairs = zip(reversed(first), reversed(second), strict=False)
    return next((number for number, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))


def _is_last_statement(stack: Stack) -> bool:
    """Whether *stack* is within a statement behind which its block has to end."""
    around: Stack | None = stack
    while around is not None and not isinstance(around.task, Block):
        around = around.below
    return around is not None and around is not stack and isinstance(around.task, Block) and around.task.over


def _table_around(stack: Stack) -> Table | None:
    """The table that is being made at *stack*; None in a block."""
    while not isinstance(stack.task, Block | Fields):
        if isinstance(stack.task, Entries | EntryName):
            return stack.task.table
        if stack.below is None:
            return None
        stack = stack.below
    return None
