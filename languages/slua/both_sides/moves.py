"""What may be written next at a place of a script in order to come to where the right text fits.

Of all ways to write a value only the cheapest to each type are tried, and brackets and blocks are only opened
if the right text closes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fimlsp.languages.slua.incremental.expressions import Continue, Entries, EntryName, FieldName, Operand, PathTail
from fimlsp.languages.slua.incremental.inhabitants import NAMELESS
from fimlsp.languages.slua.incremental.machine import Machine, Outline
from fimlsp.languages.slua.incremental.statements import Block
from fimlsp.languages.slua.incremental.tokens import TOKEN, first_token
from fimlsp.languages.slua.types import Function

_LITERALS = ("0", '""', "true")
_OPERATORS = frozenset(("and", "or", "not", "-"))


class Moves:
    """What may be written where the right text, which has *names*, is to close one of *targets*."""

    def __init__(self, targets: frozenset[Outline], names: Iterable[str]) -> None:
        self._targets = targets
        self._names = tuple(names)
        self._taken = frozenset(self._names)

    def finishing(self, machine: Machine) -> tuple[str, ...]:
        """The first lexeme of the cheapest way to end what is open; none if nothing is."""
        token = first_token(machine.finish())
        if token[:1] == NAMELESS[0]:
            token = self.new_name(machine)
        return (token,) if token else ()

    def others(self, machine: Machine) -> Iterator[tuple[str, ...]]:
        """Other beginnings, where something can still be opened or the right text might go on."""
        needed = self._needed(machine.outline)
        if needed is None or machine.stack is None or machine.is_full:
            return
        task = machine.stack.task
        if isinstance(task, Block | Operand):
            yield from self._beginnings(machine, task, needed)
        elif isinstance(task, Entries | EntryName):
            yield from self._entries(machine, task, needed)
        elif isinstance(task, PathTail | Continue | FieldName):
            words = machine.expected().words
            yield from ((sign,) for sign in ("=", ".") if sign in words)
            if ")" in needed and "(" in words:
                yield ("(",)
        else:
            yield from self._plain(machine)

    def new_name(self, machine: Machine, others: Iterable[str] = ()) -> str:
        """A name that no variable, none of *others* and nothing in the right text has."""
        letters = "abcdefghijklmnopqrstuvwxyz"
        taken = {*machine.environment.variables, *machine.environment.types, *self._taken, *others}
        names = (letter + "x" * more for more in range(40) for letter in letters)
        return next(name for name in names if name not in taken)

    def _needed(self, outline: Outline) -> frozenset[str] | None:
        """What may be opened next, none if only the level is right; None if more is open than may be."""
        size = len(outline)
        fitting = [target for target in self._targets if target[len(target) - size :] == outline]
        fitting = [target for target in fitting if len(target) >= size]
        if not fitting:
            return None
        return frozenset(target[-size - 1] for target in fitting if len(target) > size)

    def _beginnings(
        self, machine: Machine, task: Block | Operand, needed: frozenset[str]
    ) -> Iterator[tuple[str, ...]]:
        scope, expected = machine.environment.inhabitants, machine.expected()
        for type_, path in scope.paths.items():
            tokens = self.tokens(machine, path)
            if tokens[0] in expected.words:
                yield tokens
                if ")" in needed and isinstance(type_, Function):
                    yield (*tokens, "(")
        if isinstance(task, Block):
            words = {"local", "return", "break", "interface"}
            if "end" in needed:
                words |= {"do", "if", "while", "for"}
        else:
            words = {"not"} if not needed else set()
            yield from ((text,) for text in _LITERALS if expected.takes(text))
            if ")" in needed:
                words.add("(")
            if "}" in needed:
                words.add("{")
            if "end" in needed or ")" in needed:
                words.add("function")
        yield from ((word,) for word in sorted(words & expected.words))

    def _entries(
        self, machine: Machine, task: Entries | EntryName, needed: frozenset[str]
    ) -> Iterator[tuple[str, ...]]:
        """The next field of a table that the right text does not give, or one whose value it gives."""
        words = machine.expected().words
        if isinstance(task, Entries) and task.given:
            if "," in words:
                yield (",",)
            return
        fields = [name for name in task.table.fields if name in words]
        needed_first = [n for n in fields if not task.table.fields[n].optional and n not in self._taken]
        if needed_first and not needed:
            yield (needed_first[0],)
        yield from ((name,) for name in fields if needed or name not in needed_first[:1])

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
