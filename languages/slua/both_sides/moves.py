"""What may be written next at a place of a script in order to come to where the right text fits.

Of all ways to write a value only the cheapest to each type are tried, and brackets and blocks are only opened
if the right text closes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fimlsp.languages.slua.both_sides.closings import Target, outline_of
from fimlsp.languages.slua.both_sides.fitting import (
    Needed,
    may_be_function,
    may_be_table,
    may_close,
    to_open,
)
from fimlsp.languages.slua.both_sides.guesses import SIMPLE, functions_begun, of_uses, plain_types, results_of
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
from fimlsp.languages.slua.incremental.machine import Machine, Outline, Stack, Task
from fimlsp.languages.slua.incremental.statements import Block, Statements
from fimlsp.languages.slua.incremental.tokens import TOKEN, first_token, is_name
from fimlsp.languages.slua.incremental.written_types import Fields, WrittenType
from fimlsp.languages.slua.types import VOID, Function, Table, Type

_LITERALS = ("0", '""', "true")
_JOINING = ("+", "..", "==", "and")
"""One operator of each kind that can stand between values."""
_OPERATORS = frozenset(("and", "or", "not", "-"))


class Moves:
    """What may be written where *right* is to follow."""

    def __init__(self, right: RightText) -> None:
        self._right = right
        self._targets = right.targets
        self._names = right.used_names
        self._taken = frozenset(self._names)

    def finishing(self, machine: Machine) -> tuple[str, ...]:
        """The first lexeme of the cheapest way to end what is open; none if nothing is."""
        token = first_token(machine.finish())
        if token[:1] == NAMELESS[0]:
            token = self._lacking_name(machine) or self.new_name(machine)
        return (token,) if token else ()

    def _lacking_name(self, machine: Machine) -> str:
        """A name that the right text uses as such a thing, and nobody declares; empty if there is none."""
        task = machine.stack.task if machine.stack is not None else None
        expected = machine.expected()
        for name in self._right.free_names:
            if not expected.takes(name) or name in machine.environment.types:
                continue
            if not isinstance(task, ParameterName) or task.type in of_uses(
                name, self._right.texts, [task.type]
            ):
                return name
        return ""

    def others(self, machine: Machine) -> Iterator[tuple[str, ...]]:
        """Other beginnings, where something can still be opened or the right text might go on."""
        needed = self._needed(machine.stack)
        if needed is None or machine.stack is None or machine.is_full:
            return
        task = machine.stack.task
        if not needed and not self._may_hold(_table_around(machine.stack)):
            return
        if not needed and self._is_within_type_or_function(task):
            yield from ((word,) for word in machine.expected().words & {"local"})
        elif isinstance(task, Block | Operand):
            yield from self._beginnings(machine, task, needed)
        elif isinstance(task, Entries | EntryName):
            yield from self._entries(machine, task)
        elif isinstance(task, PathTail | Continue | FieldName):
            words = machine.expected().words
            yield from ((sign,) for sign in ("=", ".", *_JOINING) if sign in words)
            if "(" in words and isinstance(task, PathTail) and isinstance(task.value.type, Function):
                yield from self._brackets(machine, task.value.type, needed)
            if task.may_end(machine):
                yield from self.others(machine.without())
        else:
            yield from self._plain(machine)
            if isinstance(task, WrittenType) and task.purpose.allows_functions():
                is_begun = self._right.texts[:1] == ("->",)
                for type_ in functions_begun(self._right, machine.environment):
                    text = str(type_).partition("->")[0] if is_begun else str(type_)
                    yield self.tokens(machine, text)

    def _is_within_type_or_function(self, task: Task) -> bool:
        """Whether the right text is the rest of a function or its type, which *task* can only declare."""
        if not (self._right.begins_function or self._right.texts[:1] == ("->",)):
            return False
        return isinstance(task, Block | Operand | PathTail | Continue | FieldName)

    def levels_to_open(self, outline: Outline) -> int:
        """How many brackets and blocks are to be opened where *outline* is open; 0 if some must be closed."""
        return min(map(len, self._fitting(outline)), default=len(outline)) - len(outline)

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
        """The beginnings of calls of *function* that leave as many arguments as the right text gives."""
        is_last = self.levels_to_open(machine.outline) == 1
        for commas in {closing.commas for closing in to_open(needed, ")")}:
            parameters = function.parameters
            before = len(parameters) - 1 - commas
            if before < 0 and (commas or parameters):
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
        scope, expected = machine.environment.inhabitants, machine.expected()
        first, field = (*self._right.texts[:2], "", "")[:2]
        for type_, path in scope.paths.items():
            tokens = self.tokens(machine, path)
            if not needed and first == "." and not (isinstance(type_, Table) and field in type_.fields):
                continue
            if tokens[0] in expected.words:
                yield tokens
                if isinstance(type_, Function):
                    yield from ((*tokens, *call) for call in self._brackets(machine, type_, needed))
        if isinstance(task, Block):
            words = {"local", "return", "break", "interface"}
            endings = task.endings if isinstance(task, Statements) else ()
            yield from ((name, "(") for name in endings if name in expected.words)
            if to_open(needed, "end"):
                words |= {"do", "if", "while", "for"}
        else:
            words = set() if needed else {"not"}
            yield from ((t,) for t in _LITERALS if expected.takes(t) and (needed or first != "."))
            brackets = to_open(needed, ")")
            words |= {"("} if any(not closing.commas for closing in brackets) else set()
            words |= {"{"} if self._may_open(machine, task, needed) else set()
            words |= {"function"} if may_be_function(task.wanted, needed) else set()
        yield from ((word,) for word in sorted(words & expected.words))
        if "local" in words & expected.words:
            yield from self._declarations(machine, needed)

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

    def _declarations(self, machine: Machine, needed: Needed) -> Iterator[tuple[str, ...]]:
        """The beginnings of variables of all types, and of functions without parameters."""
        name, inhabitants = self.new_name(machine), machine.environment.inhabitants
        types = [type_ for type_ in (*SIMPLE, *inhabitants.tables) if inhabitants.has(type_)]
        yield from (("local", name, ":", str(type_), "=") for type_ in types)
        ends = [closing for closing in to_open(needed, "end") if closing.opener == "any"]
        returned = results_of(self._right.texts, plain_types(machine.environment)) if ends else []
        for result in dict.fromkeys((VOID, *returned)) if ends else ():
            yield self.tokens(machine, f"local {name}:()->{result}=function()")

    def _plain(self, machine: Machine) -> Iterator[tuple[str, ...]]:
        expected = machine.expected()
        yield from ((word,) for word in sorted(expected.words) if word not in _OPERATORS)
        if expected.but is not None:
            yield (self.new_name(machine),)
            yield from ((name,) for name in self._names if expected.takes(name))

    def tokens(self, machine: Machine, text: str) -> tuple[str, ...]:
        """The lexemes of *text*, with new names where it leaves them open."""
        names: dict[str, str] = {}
        for token in TOKEN.findall(text):
            if token[0] == NAMELESS[0] and token not in names:
                names[token] = self.new_name(machine, names.values())
        return tuple(names.get(token, token) for token in TOKEN.findall(text))


def _table_around(stack: Stack) -> Table | None:
    """The table that is being made at *stack*; None in a block."""
    while not isinstance(stack.task, Block | Fields):
        if isinstance(stack.task, Entries | EntryName):
            return stack.task.table
        if stack.below is None:
            return None
        stack = stack.below
    return None
