"""The text right of a cursor: its lexemes, its unmatched closers, and reading it from a state."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from fimlsp.languages.slua.incremental.expressions import Entries, EntryName, FieldName, Operand, PathTail
from fimlsp.languages.slua.incremental.machine import Environment, Machine, Outline, Stack
from fimlsp.languages.slua.incremental.statements import Block, ScriptState
from fimlsp.languages.slua.incremental.type_expressions import ParameterTypes, ResultType, WrittenType
from fimlsp.languages.slua.lexemes import LEXEME, SIGNS, is_name, needs_space
from fimlsp.languages.slua.middles.closers import Closer, Closers, opener_kind, outline_of, unmatched_closers
from fimlsp.languages.slua.types import Table, Type
from fimlsp.lexing.interruption import checkpoint

_SPACE = re.compile(rb"[ \t\r\n]*")
_WORD = re.compile(rb"[A-Za-z0-9_]+")
_STRING_TAIL = re.compile(rb'(?:[^"\\\x00-\x1f\x7f]|\\[nt"\\])*"')
_AFTER_VALUE = ("and", "do", "or", "then")
_BEFORE_VALUE = ("false", "function", "not", "true")
_MOST_BLOCKS_KEPT = 20_000
_LEAD = {1: b"\xc3", 2: b"\xe1", 3: b"\xf1"}
"""First bytes of characters with any continuation bytes, by the number of these."""


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A lexeme, and where it ends; the empty one is the end of the text."""

    text: str
    end: int


class RightText:
    """The text *data* right of a cursor."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._lexemes: dict[int, Lexeme | None] = {}
        self._known_closers: dict[int, frozenset[Closers]] = {}

    def lexeme(self, offset: int) -> Lexeme | None:
        """The lexeme at *offset*, or after white space there; None if the bytes there are not a lexeme."""
        if offset not in self._lexemes:
            self._lexemes[offset] = self._read(offset)
        return self._lexemes[offset]

    def _read(self, offset: int) -> Lexeme | None:
        space = _SPACE.match(self.data, offset)
        start = space.end() if space else offset
        if start == len(self.data):
            return Lexeme("", start)
        lexeme = LEXEME.match(self.data, start)
        return None if lexeme is None else _decoded(lexeme[0], lexeme.end())

    def joined(self, partial: bytes) -> Lexeme | None:
        """The lexeme that *partial* and the start of the text form together, with its end in the text.

        None if they form none, or one that ends before the text starts and is not *partial* itself.
        """
        joined = LEXEME.match(partial + self.data)
        if joined is None or joined.end() < len(partial):
            return None
        return _decoded(joined[0], joined.end() - len(partial))

    def follow(self, offset: int) -> list[Lexeme]:
        """The lexemes from *offset* on, up to the first that cannot be read."""
        lexemes = []
        lexeme = self.lexeme(offset)
        while lexeme is not None and lexeme.text:
            lexemes.append(lexeme)
            lexeme = self.lexeme(lexeme.end)
        return lexemes

    @cached_property
    def word(self) -> str:
        """The letters and digits at the start of the text."""
        word = _WORD.match(self.data)
        return word[0].decode("ascii") if word else ""

    @cached_property
    def sign(self) -> str:
        """The sign at the start of the text; empty if there is none."""
        lexeme = LEXEME.match(self.data)
        if lexeme is None or self.word or lexeme[0][:1] == b'"':
            return ""
        return lexeme[0].decode("ascii")

    @cached_property
    def follows_value(self) -> bool:
        """True if the text may start with something that can follow a value."""
        first = self.texts[0] if self.texts else ""
        if self.word:
            return any(word.endswith(self.word) for word in _AFTER_VALUE)
        return first in _AFTER_VALUE if first[:1].isalnum() else first[:1] != '"' and first not in (":", "->")

    @cached_property
    def string_tail(self) -> tuple[bytes, Lexeme] | None:
        """The opening of a string that ends in this text, and the whole string; None if there is none."""
        inner = len(self.data) - len(self.data.lstrip(bytes(range(0x80, 0xC0))))
        opening = b'"' + _LEAD.get(inner, b"")
        tail = _STRING_TAIL.match(self.data)
        lexeme = tail and _decoded(opening + tail[0], tail.end())
        return None if lexeme is None else (opening, lexeme)

    @cached_property
    def number_tail(self) -> Lexeme | None:
        """The number that a zero before the text forms with its start, if that is not a number by itself."""
        return self.joined(b"0") if self.data[:1] == b"." and self.data[1:2].isdigit() else None

    @cached_property
    def names(self) -> frozenset[str]:
        """All names in the text, read from its start or from within a string."""
        starts = [0, *([self.string_tail[1].end] if self.string_tail else [])]
        texts = {lexeme.text for start in starts for lexeme in self.follow(start)}
        return frozenset(text for text in texts if is_name(text))

    @cached_property
    def used_names(self) -> tuple[str, ...]:
        """The names that may be variables, in the order of their use."""
        starts = [0, *([self.string_tail[1].end] if self.string_tail else [])]
        used: dict[str, None] = {}
        for start in starts:
            before = ""
            for lexeme in self.follow(start):
                if is_name(lexeme.text) and before != ".":
                    used[lexeme.text] = None
                before = lexeme.text
        return tuple(used)

    @cached_property
    def free_names(self) -> tuple[str, ...]:
        """The used names that are not declared before their first use; a possibly cut one comes last."""
        first: dict[str, bool] = {}
        texts = list(self.texts)
        if [*map(is_name, texts[:2])] == [True, True] and texts[2:3] in ([":"], ["="], ["{"]):
            texts[0] = "local"  # a declaring keyword whose start is in the middle
        in_head = in_type = False
        for number, text in enumerate(texts):
            before = texts[number - 1] if number else ""
            in_head = text == "function" or (in_head and before != ")")
            in_type = (before, text) == (":", "(") or (in_type and before != ")")
            is_key = before in (",", "{") and texts[number + 1 : number + 2] == ["="]
            if is_name(text) and before != "." and not is_key:
                first.setdefault(
                    text, not (in_head or in_type or before in ("local", "for", "interface", ":", "->"))
                )
        names = (name for name in self.used_names if first.get(name, name not in self.keys))
        return tuple(sorted(names, key=lambda name: name == self.word))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The lexemes from the start on."""
        return tuple(lexeme.text for lexeme in self.follow(0))

    @cached_property
    def ends_block(self) -> bool:
        """True if the statement in which the text starts is the last of its block."""
        depth = 0
        for text, after in pairwise((*self.texts, "")):
            depth += (text in ("function", "if", "do")) - (text == "end")
            if text == ";" and depth <= 0:
                return after in ("end", "else", "elseif", "")
        return True

    @cached_property
    def starts_function(self) -> bool:
        """True if the text starts with a function, or within its keyword."""
        head = self.texts[: self.texts.index(")")] if ")" in self.texts else ()
        is_cut = bool(self.word) and "function".endswith(self.word)
        after = (*self.texts[len(head) + 1 : len(head) + 2], "")[0]
        return is_cut and head[1:2] == ("(",) and opener_kind(")", after) == "function"

    @cached_property
    def keys(self) -> frozenset[str]:
        """The names that may be fields in table constructors."""
        texts = [lexeme.text for offset in self.offsets for lexeme in self.follow(offset)]
        triples = zip(["{", *texts], texts, [*texts[1:], ""], strict=False)
        return frozenset(text for before, text, after in triples if before in ("{", ",") and after == "=")

    @cached_property
    def field_names(self) -> tuple[str, ...]:
        """The names that are fields, in the order of their use."""
        read = (after for before, after in pairwise(self.texts) if before == "." and is_name(after))
        return tuple(dict.fromkeys((*read, *sorted(self.keys))))

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Possible offsets of the first lexeme that lies wholly in the text."""
        offsets = {0, len(self.word)}
        if any(sign.endswith(self.sign) and sign != self.sign for sign in SIGNS):
            offsets.add(len(self.sign))
        if self.string_tail is not None:
            offsets.add(self.string_tail[1].end)
        if self.number_tail is not None:
            offsets.add(self.number_tail.end)
        return tuple(sorted(offsets))

    @cached_property
    def unmatched_closers(self) -> frozenset[Closers]:
        """The closers whose openers have to come before the text, or before its second lexeme."""
        possible = {closers for offset in self.offsets for closers in self._closers(offset)}
        cut = [word for word in ("then", "do", "end") if word.endswith(self.word) and word != self.word]
        after_word = self._closers(len(self.word)) if self.word else ()
        if self.starts_function:
            possible |= set(unmatched_closers(["function", *self.texts[1:]]))
        return frozenset(possible | {(Closer(word), *closers) for closers in after_word for word in cut})

    def outlines(self, offset: int) -> frozenset[Outline]:
        """The unmatched closers from *offset* on; several results if a `do` is ambiguous."""
        return frozenset(map(outline_of, self._closers(offset)))

    def _is_return_cut(self, texts: list[str]) -> bool:
        """True if the first of *texts* is the end of `return`, as its successor can follow no name."""
        second = (*texts[1:2], "")[0]
        is_value = is_name(second) or second[:1].isdigit() or second[:1] == '"' or second in _BEFORE_VALUE
        return bool(self.word) and "return".endswith(self.word) and is_value

    def _closers(self, offset: int) -> frozenset[Closers]:
        if offset not in self._known_closers:
            lexemes = self.follow(offset)
            is_whole = self.lexeme(lexemes[-1].end if lexemes else offset) is not None
            texts = [lexeme.text for lexeme in lexemes]
            if not offset and self._is_return_cut(texts):
                texts[0] = "return"
            self._known_closers[offset] = frozenset(unmatched_closers(texts) if is_whole else ())
        return self._known_closers[offset]


def _decoded(data: bytes, end: int) -> Lexeme | None:
    try:
        return Lexeme(data.decode("utf-8"), end)
    except UnicodeDecodeError:
        return None


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The point where reading fails: the place, and the lexeme at *offset* that may not come.

    If a path there reads a field that its table lacks, *text* is that field and *lacks_field* is the
    table.
    """

    machine: Machine
    offset: int
    text: str
    lacks_field: Table | None = None

    @property
    def lacks_variable(self) -> bool:
        """True if the lexeme is an undeclared name where a variable may stand."""
        task = self.machine.task
        unknown = is_name(self.text) and self.text not in self.machine.environment.variables
        return unknown and isinstance(task, Block | Operand)

    @property
    def lacks_type(self) -> bool:
        """True if the lexeme is an undeclared name where a type may stand."""
        task = self.machine.task
        unknown = is_name(self.text) and self.text not in self.machine.environment.types
        return unknown and isinstance(task, WrittenType | ParameterTypes | ResultType)


@dataclass(frozen=True, slots=True)
class Junction:
    """A join of the middle and the right text, at a lexeme that belongs to one of them or to both.

    Attributes:
        written: the end of the middle, before the right text.
        machine: the place after the joining lexeme.
        offset: the end of that lexeme in the right text.
    """

    written: bytes
    machine: Machine
    offset: int


class RightTextReader:
    """Reads *right* from states of a script. Results at the starts of statements are kept."""

    def __init__(self, right: RightText) -> None:
        self.right = right
        self._known: dict[object, tuple[Mismatch | None, tuple[Stack | None, Environment]]] = {}

    def mismatch(self, machine: Machine, offset: int) -> Mismatch | None:
        """The point where reading from *offset* fails; None if the script ends well. O(rest of the block)."""
        passed: list[tuple[object, tuple[Stack | None, Environment]]] = []
        mismatch: Mismatch | None = None
        while True:
            stack = machine.stack
            if stack is not None and isinstance(stack.task, Block):
                kept = (stack.below, machine.environment)
                key = (offset, stack.task, id(kept[0]), id(kept[1]))
                if key in self._known:
                    mismatch = self._known[key][0]
                    break
                passed.append((key, kept))
            lexeme = self.right.lexeme(offset)
            if lexeme is None:
                mismatch = Mismatch(machine, offset, "")
                break
            if not lexeme.text:
                mismatch = None if machine.expected().end else Mismatch(machine, offset, "")
                break
            following = machine.take(lexeme.text)
            if following is None:
                mismatch = self._missing_field(machine, offset) or Mismatch(machine, offset, lexeme.text)
                break
            machine, offset = following, lexeme.end
        checkpoint()
        if len(self._known) > _MOST_BLOCKS_KEPT:
            self._known.clear()
        self._known.update((key, (mismatch, kept)) for key, kept in passed)
        return mismatch

    def _missing_field(self, machine: Machine, offset: int) -> Mismatch | None:
        """The mismatch if the path that continues at *offset* reads a missing field; None otherwise."""
        task = machine.task
        lexemes = self.right.follow(offset)
        texts, names = [lexeme.text for lexeme in lexemes], 0
        type_: Type | None = None
        if isinstance(task, FieldName | Entries | EntryName):
            type_ = task.table
        elif isinstance(task, PathTail) and texts[0] == ".":
            type_, names = task.value.type, 1
        elif isinstance(task, Block | Operand) and texts[0] in machine.environment.variables:
            type_, names = machine.environment.variables[texts[0]].type, 2
        while isinstance(type_, Table) and names < len(texts) and is_name(texts[names]):
            if texts[names] not in type_.fields:
                return Mismatch(machine, lexemes[names - 1].end if names else offset, texts[names], type_)
            type_, names = type_.fields[texts[names]].type, names + 2
            if texts[names - 1 : names] != ["."]:
                return None
        return None

    def is_complete(self, state: ScriptState) -> bool:
        """True if the script is valid with a middle that ends at *state*."""
        junction = self.junction_at(state)
        return junction is not None and self.mismatch(junction.machine, junction.offset) is None

    def junction_at(self, state: ScriptState) -> Junction | None:
        """The junction if the middle ends at *state*; None if the next lexeme may not come there."""
        if not state.partial:
            return Junction(b"", state.machine, 0)
        lexeme = self.right.joined(state.partial)
        if lexeme is None:
            return None
        machine = state.machine.take(lexeme.text)
        return None if machine is None else Junction(b"", machine, lexeme.end)

    def junctions(self, machine: Machine, before: str) -> Iterator[Junction]:
        """All junctions at *machine*, after the lexeme *before*, with at most one lexeme completed."""
        right = self.right
        start = right.data[:1].decode("latin-1")
        yield Junction(b" " if needs_space(before, start) else b"", machine, 0)
        expected = machine.expected()
        tokens: list[tuple[str, bytes, int]] = []
        if right.word:
            words = {word for word in expected.words if word[0].isalpha()} | right.names
            tokens += self._longer(words, right.word)
            if expected.taken_names is not None and not expected.accepts(right.word):
                tokens.append((f"a{right.word}", b"a", len(right.word)))
        if right.sign:
            tokens += self._longer(expected.words, right.sign)
        if right.number_tail is not None:
            tokens.append((right.number_tail.text, b"0", right.number_tail.end))
        if right.string_tail is not None and expected.string:
            opening, lexeme = right.string_tail
            tokens.append((lexeme.text, opening, lexeme.end))
        for token, written, offset in tokens:
            following = machine.take(token) if expected.accepts(token) else None
            if following is not None:
                space = b" " if needs_space(before, token) else b""
                yield Junction(space + written, following, offset)

    def _longer(self, words: frozenset[str] | set[str], ending: str) -> list[tuple[str, bytes, int]]:
        """The proper extensions of *ending*, the start of the right text, among *words*."""
        longer = sorted(word for word in words if word.endswith(ending) and len(word) > len(ending))
        return [(word, word[: -len(ending)].encode("ascii"), len(ending)) for word in longer]
