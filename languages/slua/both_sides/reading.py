"""Whether the text right of the cursor can be read from a place of a script, and where that fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fimlsp.languages.slua.both_sides.right_text import RightText
from fimlsp.languages.slua.incremental.environment import Environment
from fimlsp.languages.slua.incremental.expressions import Entries, EntryName, FieldName, Operand, PathTail
from fimlsp.languages.slua.incremental.machine import Machine, Stack
from fimlsp.languages.slua.incremental.parser import ScriptState
from fimlsp.languages.slua.incremental.statements import Block
from fimlsp.languages.slua.incremental.tokens import is_name, needs_blank
from fimlsp.languages.slua.incremental.written_types import ParameterTypes, ResultType, WrittenType
from fimlsp.languages.slua.types import Table, Type
from fimlsp.lexing.interruption import checkpoint

_MOST_KEPT = 20_000


@dataclass(frozen=True, slots=True)
class Stop:
    """Where reading fails: the place, and the lexeme that may not come, at *offset*.

    If a table lacks the field that is read there, it is that field, and *lacks_field* is the table.
    """

    machine: Machine
    offset: int
    text: str
    lacks_field: Table | None = None

    @property
    def lacks_variable(self) -> bool:
        """Whether the lexeme is a name where a variable may stand, and there is none of this name."""
        task = self.machine.stack and self.machine.stack.task
        unknown = is_name(self.text) and self.text not in self.machine.environment.variables
        return unknown and isinstance(task, Block | Operand)

    @property
    def lacks_type(self) -> bool:
        """Whether the lexeme is a name where a type may stand, and there is none of this name."""
        task = self.machine.stack and self.machine.stack.task
        unknown = is_name(self.text) and self.text not in self.machine.environment.types
        return unknown and isinstance(task, WrittenType | ParameterTypes | ResultType)


@dataclass(frozen=True, slots=True)
class Entrance:
    """A way to go on with the text on the right: what is written before it, and the place behind the lexeme.

    That lexeme is the last of the middle, the first of the right text, or made of both.
    """

    written: bytes
    machine: Machine
    offset: int


class Reader:
    """Reads *right* from places of a script. What is known of a block is kept."""

    def __init__(self, right: RightText) -> None:
        self.right = right
        self._known: dict[object, tuple[Stop | None, tuple[Stack | None, Environment]]] = {}

    def stop(self, machine: Machine, offset: int) -> Stop | None:
        """Where reading from *offset* on fails; None if the script ends well. O(the rest of the block)."""
        passed: list[tuple[object, tuple[Stack | None, Environment]]] = []
        found: Stop | None = None
        while True:
            stack = machine.stack
            if stack is not None and isinstance(stack.task, Block):
                kept = (stack.below, machine.environment)
                key = (offset, stack.task, id(kept[0]), id(kept[1]))
                if key in self._known:
                    found = self._known[key][0]
                    break
                passed.append((key, kept))
            lexeme = self.right.lexeme(offset)
            if lexeme is None:
                found = Stop(machine, offset, "")
                break
            if not lexeme.text:
                found = None if machine.expected().end else Stop(machine, offset, "")
                break
            following = machine.take(lexeme.text)
            if following is None:
                found = self._missing_field(machine, offset) or Stop(machine, offset, lexeme.text)
                break
            machine, offset = following, lexeme.end
        checkpoint()
        if len(self._known) > _MOST_KEPT:
            self._known.clear()
        self._known.update((key, (found, kept)) for key, kept in passed)
        return found

    def _missing_field(self, machine: Machine, offset: int) -> Stop | None:
        """Where the path that goes on at *offset* reads a field that its table lacks; None if it does not."""
        task = machine.stack and machine.stack.task
        lexemes = self.right.follow(offset)
        texts, names = [each.text for each in lexemes], 0
        type_: Type | None = None
        if isinstance(task, FieldName | Entries | EntryName):
            type_ = task.table
        elif isinstance(task, PathTail) and texts[0] == ".":
            type_, names = task.value.type, 1
        elif isinstance(task, Block | Operand) and texts[0] in machine.environment.variables:
            type_, names = machine.environment.variables[texts[0]].type, 2
        while isinstance(type_, Table) and names < len(texts) and is_name(texts[names]):
            if texts[names] not in type_.fields:
                return Stop(machine, lexemes[names - 1].end if names else offset, texts[names], type_)
            type_, names = type_.fields[texts[names]].type, names + 2
            if texts[names - 1 : names] != ["."]:
                return None
        return None

    def is_complete(self, state: ScriptState) -> bool:
        """Whether the script is right if the middle ends at *state*."""
        entrance = self.entrance_behind(state)
        return entrance is not None and self.stop(entrance.machine, entrance.offset) is None

    def entrance_behind(self, state: ScriptState) -> Entrance | None:
        """The way on if the middle ends at *state*; None if the next lexeme may not come there."""
        if not state.begun:
            return Entrance(b"", state.machine, 0)
        lexeme = self.right.joined(state.begun)
        if lexeme is None:
            return None
        machine = state.machine.take(lexeme.text)
        return None if machine is None else Entrance(b"", machine, lexeme.end)

    def entrances(self, machine: Machine, before: str) -> Iterator[Entrance]:
        """All ways to go on at *machine*, which is behind the lexeme *before*, with little written."""
        right = self.right
        start = right.data[:1].decode("latin-1")
        yield Entrance(b" " if needs_blank(before, start) else b"", machine, 0)
        expected = machine.expected()
        tokens: list[tuple[str, bytes, int]] = []
        if right.word:
            words = {word for word in expected.words if word[0].isalpha()} | right.names
            tokens += self._longer(words, right.word)
            if expected.but is not None and not expected.takes(right.word):
                tokens.append((f"a{right.word}", b"a", len(right.word)))
        if right.sign:
            tokens += self._longer(expected.words, right.sign)
        if right.number_tail is not None:
            tokens.append((right.number_tail.text, b"0", right.number_tail.end))
        if right.string_tail is not None and expected.string:
            opening, lexeme = right.string_tail
            tokens.append((lexeme.text, opening, lexeme.end))
        for token, written, offset in tokens:
            following = machine.take(token) if expected.takes(token) else None
            if following is not None:
                blank = b" " if needs_blank(before, token) else b""
                yield Entrance(blank + written, following, offset)

    def _longer(self, words: frozenset[str] | set[str], ending: str) -> list[tuple[str, bytes, int]]:
        """Those of *words* that end with *ending*, the beginning of the right text, and are longer."""
        found = sorted(word for word in words if word.endswith(ending) and len(word) > len(ending))
        return [(word, word[: -len(ending)].encode("ascii"), len(ending)) for word in found]
