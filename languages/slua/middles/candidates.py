"""Candidate tokens at a place of a script that lead towards a place where the right text fits.

For each type only the cheapest value is tried. Brackets and blocks are opened only if the right text
closes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise

from fimlsp.languages.slua.incremental.expressions import (
    AfterOperand,
    Entries,
    EntryName,
    FieldName,
    Operand,
    ParameterName,
    PathTail,
    possible_entries,
)
from fimlsp.languages.slua.incremental.goals import OR, satisfies, target_for
from fimlsp.languages.slua.incremental.machine import Machine, Outline, Stack, Value
from fimlsp.languages.slua.incremental.statements import Block, LocalType, ScriptStatements
from fimlsp.languages.slua.incremental.type_expressions import (
    AfterParameter,
    FieldDeclarations,
    ParameterTypes,
    WrittenType,
    named_types,
)
from fimlsp.languages.slua.lexemes import TOKEN, first_token, is_name
from fimlsp.languages.slua.middles.closers import (
    LONGEST_PART,
    Closers,
    OpenersNeeded,
    block_keywords,
    closers_to_open,
    is_function_head,
    may_be_function,
    may_be_interface,
    may_be_statement,
    may_be_table,
    may_close,
    outline_of,
    values_returned,
)
from fimlsp.languages.slua.middles.right_text import RightText
from fimlsp.languages.slua.middles.type_inference import (
    SIMPLE,
    function_types_begun,
    type_of_path,
    types_of_uses,
    types_of_values,
)
from fimlsp.languages.slua.types import Function, Table, Type
from fimlsp.languages.typed.lexicon import PLACEHOLDER
from fimlsp.languages.typed.machine import Task

_LITERALS = ("0", '""', "true")
_JOINING = ("+", "..", "==", "and")
"""One operator of each kind that can stand between values."""
_OPERATORS = frozenset(("and", "or", "not", "-"))


class CandidateTokens:
    """The candidates where *right* is to follow."""

    def __init__(self, right: RightText) -> None:
        self._right = right
        self._closers = right.unmatched_closers
        self._taken = frozenset(right.used_names)

    def completing(self, machine: Machine, is_own: bool) -> tuple[str, ...]:
        """The start of the cheapest completion of the open construct; empty if nothing is open.

        That is one lexeme. In a construct that the middle itself has opened (*is_own*) it is a whole
        value. It is empty if the right text continues there and not after a value.
        """
        text = machine.finish()
        if is_own and machine.stack is not None and isinstance(machine.stack.task, Operand):
            is_argument = machine.outline[:1] == (")",) and self._needed(machine.stack) is not None
            is_enough = is_argument and not self._right.follows_value
            return () if is_enough else self.tokens(machine, text)
        token = first_token(text)
        if token[:1] == PLACEHOLDER[0]:
            token = self._lacking_name(machine) or self.fresh_name(machine)
        return (token,) if token else ()

    def _lacking_name(self, machine: Machine) -> str:
        """An undeclared name of the right text that suits the place; empty if there is none."""
        task = machine.task
        expected, environment = machine.expected(), machine.environment
        names = (n for n in self._right.free_names if expected.accepts(n) and n not in environment.types)
        if not isinstance(task, ParameterName):
            return next(names, "")
        uses = {name: types_of_uses(name, self._right.texts, environment) for name in names}
        fitting = [name for name, types in uses.items() if task.type in types]
        return min(fitting, key=lambda name: len(uses[name]), default="")

    def alternatives(self, machine: Machine, has_begun: bool) -> Iterator[tuple[str, ...]]:
        """Other tokens, where something can still be opened or the right text might continue.

        If the middle *has_begun* something, no operator comes: the middle could have started otherwise.
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
        elif isinstance(task, Block):
            yield from self._statements(machine, task, needed)
        elif isinstance(task, Operand):
            yield from self._operands(machine, task, needed)
        elif isinstance(task, Entries | EntryName):
            yield from self._entries(machine, task)
        elif isinstance(task, PathTail | AfterOperand | FieldName):
            yield from self._continuations(machine, task, needed, has_begun)
        else:
            yield from self._plain(machine)
            if isinstance(task, WrittenType) and task.purpose.allows_functions():
                yield from self._function_types(machine, task)

    def _continuations(
        self,
        machine: Machine,
        task: PathTail | AfterOperand | FieldName,
        needed: OpenersNeeded,
        has_begun: bool,
    ) -> Iterator[tuple[str, ...]]:
        """The continuations of an operand or a path, and those of the constructs around it if it may end."""
        words = machine.expected().words
        path = task if isinstance(task, PathTail) else None
        if not has_begun:
            yield from ((sign,) for sign in ("=", ".", *_JOINING) if sign in words)
        elif "." in words and path is not None and self._may_name_field(path.value.type):
            yield (".",)
        if "(" in words and path is not None and isinstance(path.value.type, Function):
            yield from self._brackets(machine, path.value.type, needed)
        if task.may_end(machine):
            yield from self.alternatives(machine.without_task(), has_begun)

    def _function_types(
        self, machine: Machine, task: WrittenType | ParameterTypes | AfterParameter
    ) -> Iterator[tuple[str, ...]]:
        """The possible rests of the type of a function with which the right text starts."""
        given = () if isinstance(task, WrittenType) else _types_given(machine, task)
        written = "" if isinstance(task, WrittenType) else "(" + ", ".join(map(str, given))
        written += ", " if given and isinstance(task, ParameterTypes) else ""
        name = task.purpose.name if isinstance(task.purpose, LocalType) else ""
        texts = self._right.texts
        parts = 1 if texts[:1] == ("->",) else 2 if texts[1:3] == ("=", "function") else 3
        for type_ in function_types_begun(self._right, machine.environment, name, given):
            text = "".join(str(type_).partition("->")[:parts])
            if text.startswith(written):
                yield self.tokens(machine, text[len(written) :])

    def _may_name_field(self, type_: Type) -> bool:
        """True if the right text may start with the end of a field name of *type_*."""
        word = self._right.word
        return isinstance(type_, Table) and bool(word) and any(name.endswith(word) for name in type_.fields)

    def _is_within_type_or_function(self, task: Task[Machine]) -> bool:
        """True if the right text is the rest of a function or its type, so that *task* has to declare it."""
        if not (self._right.starts_function or self._right.texts[:1] == ("->",)):
            return False
        return isinstance(task, Block | Operand | PathTail | AfterOperand | FieldName)

    def levels_to_open(self, outline: Outline) -> int:
        """Number of brackets and blocks to open once the levels of *outline* that do not fit are closed."""
        required = (outline_of(closers) for closers in self._closers)
        return min((len(signs) - _common(signs, outline) for signs in required), default=0)

    def fresh_name(self, machine: Machine, others: Iterable[str] = ()) -> str:
        """A name that no variable has, none of *others*, and nothing in the right text."""
        letters = "abcdefghijklmnopqrstuvwxyz"
        taken = {*machine.environment.variables, *machine.environment.types, *self._taken, *others}
        names = (letter + "x" * more for more in range(40) for letter in letters)
        return next(name for name in names if name not in taken)

    def _needed(self, stack: Stack | None) -> OpenersNeeded | None:
        """The closers whose openers are needed; empty if the level itself fits.

        None if another construct is open at *stack* than those that the right text closes.
        """
        outline = () if stack is None else stack.outline
        fits, needed = False, set[Closers]()
        for closers in self._fitting(outline):
            missing = closers[: len(closers) - len(outline)]
            if not outline or may_close(closers[len(missing)], stack):
                fits = True
                needed |= {missing} if missing else set()
        return frozenset(needed) if fits else None

    def _fitting(self, outline: Outline) -> list[Closers]:
        """The unmatched closers that *outline* is a suffix of."""
        size = len(outline)
        longer = [closers for closers in self._closers if len(closers) >= size]
        return [closers for closers in longer if outline_of(closers[len(closers) - size :]) == outline]

    def _brackets(
        self, machine: Machine, function: Function, needed: OpenersNeeded
    ) -> Iterator[tuple[str, ...]]:
        """The starts of calls of *function* that leave the arguments of the right text to it."""
        is_last = self.levels_to_open(machine.outline) == 1
        for parts in dict.fromkeys(closer.parts for closer in closers_to_open(needed, ")")):
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
        """True if the right text may start with a value of *type_*, or continue one."""
        kinds = {"function": Function, "{": Table}
        first = self._right.texts[0] if self._right.texts else ""
        return first not in kinds or isinstance(type_, kinds[first])

    def _statements(self, machine: Machine, block: Block, needed: OpenersNeeded) -> Iterator[tuple[str, ...]]:
        """The starts of statements."""
        if is_function_head(needed):
            yield from self._functions(machine)
            return
        expected = machine.expected().words
        yield from self._paths(machine, needed, is_call=may_be_statement(needed))
        is_in_value = not needed or bool(closers_to_open(needed, ")") or closers_to_open(needed, "}"))
        words = {"local", "return", "break"} if is_in_value else {"local"}
        words -= {"return", "break"} if self._is_followed(needed) else set()
        words |= {"interface"} if may_be_interface(needed) else set()
        endings = block.endings if isinstance(block, ScriptStatements) else ()
        yield from ((name, "(") for name in endings if name in expected)
        words |= block_keywords(needed, machine.environment.result)
        yield from ((word,) for word in sorted(words & expected))
        if "local" in words & expected:
            yield from self._declarations(machine, needed, is_in_value)

    def _operands(
        self, machine: Machine, operand: Operand, needed: OpenersNeeded
    ) -> Iterator[tuple[str, ...]]:
        """The starts of operands."""
        expected = machine.expected()
        yield from self._paths(machine, needed, is_call=True)
        words = set() if needed else {"not"}
        is_member = not needed and self._right.texts[:1] == (".",)
        literals = _LITERALS if self._right.follows_value and not is_member else ()
        yield from ((literal,) for literal in literals if expected.accepts(literal))
        brackets = closers_to_open(needed, ")")
        words |= {"("} if any(not closer.parts for closer in brackets) else set()
        words |= {"{"} if self._may_open(machine, operand, needed) else set()
        words |= {"function"} if may_be_function(operand.target, needed) else set()
        yield from ((word,) for word in sorted(words & expected.words))

    def _paths(self, machine: Machine, needed: OpenersNeeded, *, is_call: bool) -> Iterator[tuple[str, ...]]:
        """The cheapest path to each type, and the starts of calls if *is_call* allows them."""
        expected = machine.expected().words
        first, field = (*self._right.texts[:2], "", "")[:2]
        for type_, path in machine.environment.inhabitants.paths.items():
            tokens = self.tokens(machine, path)
            if not needed and first == "." and not (isinstance(type_, Table) and field in type_.fields):
                continue
            if tokens[0] in expected:
                if self._right.follows_value or self._may_name_field(type_):
                    yield tokens
                if isinstance(type_, Function) and is_call:
                    yield from ((*tokens, *call) for call in self._brackets(machine, type_, needed))

    def _is_followed(self, needed: OpenersNeeded) -> bool:
        """True if further statements follow on the right after the statement of the middle."""
        is_within_body = any(closer.sign == "end" for closers in needed for closer in closers)
        return not is_within_body and not self._right.ends_block

    def _may_open(self, machine: Machine, operand: Operand, needed: OpenersNeeded) -> bool:
        """True if the right text may continue in a table constructor for *operand*."""
        if not isinstance(operand.target, Table) or not may_be_table(operand.target, needed):
            return False
        return self.levels_to_open(machine.outline) != 1 or self._may_hold(operand.target)

    def _may_hold(self, table: Table | None) -> bool:
        """True if the right text may continue in *table*: not with an unknown field or a declaration."""
        first, second = (*self._right.texts[:2], "", "")[:2]
        if table is None or not is_name(first):
            return table is None or first not in ("mutable", "optional")
        return second != ":" and (second != "=" or any(f.endswith(first) for f in table.fields))

    def _entries(self, machine: Machine, task: Entries | EntryName) -> Iterator[tuple[str, ...]]:
        """The required fields that the right text lacks, alone or with one more entry, or with its name."""
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
                others = [other for other in needed if other != name]
                yield entries(others, f"{name}=")
                yield entries(others, name)
                if others and name.endswith(self._right.word):
                    yield (*entries(others), ",")

    def _declarations(
        self, machine: Machine, needed: OpenersNeeded, is_in_value: bool
    ) -> Iterator[tuple[str, ...]]:
        """The starts of variables of all types, and of functions without parameters."""
        name, inhabitants = self.fresh_name(machine), machine.environment.inhabitants
        types = [t for t in (*SIMPLE, *inhabitants.tables) if is_in_value and inhabitants.has(t)]
        yield from (("local", name, ":", str(type_), "=") for type_ in types)
        for result in types_of_values(values_returned(needed), machine.environment):
            yield self.tokens(machine, f"local {name}:()->{result}=function()")

    def _functions(self, machine: Machine) -> Iterator[tuple[str, ...]]:
        """The starts of functions whose heads the right text ends; names that it calls come first."""
        texts = self._right.texts
        called = {name for name, after in pairwise(texts) if after == "("}
        names = [name for name in self._right.free_names if name in called]
        for name in (*names, self.fresh_name(machine)):
            for type_ in function_types_begun(self._right, machine.environment, name):
                yield self.tokens(machine, f"local {name}:{type_}=function(")

    def _plain(self, machine: Machine) -> Iterator[tuple[str, ...]]:
        expected = machine.expected()
        yield from ((word,) for word in sorted(expected.words) if word not in _OPERATORS)
        if expected.taken_names is not None:
            yield (self.fresh_name(machine),)
            yield from ((name,) for name in self._names(machine) if expected.accepts(name))

    def _names(self, machine: Machine) -> tuple[str, ...]:
        """The names in the right text that a new declaration at *machine* may have."""
        task = machine.task
        if isinstance(task, FieldDeclarations):
            return self._right.field_names
        is_of_type = isinstance(task, ParameterTypes | AfterParameter)
        return () if is_of_type else self._right.free_names

    def tokens(self, machine: Machine, text: str) -> tuple[str, ...]:
        """The lexemes of *text*, with fresh names for its placeholders."""
        names: dict[str, str] = {}
        for token in TOKEN.findall(text):
            if token[0] == PLACEHOLDER[0] and token not in names:
                names[token] = self.fresh_name(machine, names.values())
        return tuple(names.get(token, token) for token in TOKEN.findall(text))


def _may_be_given(machine: Machine, type_: Type, value: tuple[str, ...]) -> bool:
    """True if a text that starts with *value* may be a value of *type_*, as far as its names are declared."""
    known = type_of_path(value, machine.environment) if len(value) < LONGEST_PART else None
    if known is not None:
        return satisfies(Value(known), target_for(type_))
    is_unknown = not value or (is_name(value[0]) and value[0] not in machine.environment.variables)
    return is_unknown or Operand(target_for(type_), OR).accepts(machine, value[0])


def _types_given(machine: Machine, task: ParameterTypes | AfterParameter) -> tuple[Type, ...]:
    """The types of the parameters that are written where *task* is."""
    if isinstance(task, ParameterTypes):
        return task.types
    type_ = named_types(machine.environment).get(task.word)
    return task.before if type_ is None else (*task.before, type_)


def _common(first: Outline, second: Outline) -> int:
    """The number of equal signs at the ends of both."""
    pairs = zip(reversed(first), reversed(second), strict=False)
    return next((number for number, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))


def _is_last_statement(stack: Stack) -> bool:
    """True if *stack* is within a statement that has to be the last of its block."""
    around: Stack | None = stack
    while around is not None and not isinstance(around.task, Block):
        around = around.below
    return (
        around is not None
        and around is not stack
        and isinstance(around.task, Block)
        and around.task.is_closed
    )


def _table_around(stack: Stack) -> Table | None:
    """The table under construction at *stack*; None in a block."""
    while not isinstance(stack.task, Block | FieldDeclarations):
        if isinstance(stack.task, Entries | EntryName):
            return stack.task.table
        if stack.below is None:
            return None
        stack = stack.below
    return None
