"""Languages declared as data: types, operators, functions, names in scope, and statements with typed slots.

A name is declared before it is used, and its type is that of its value. All that needs more, such as types
that follow from their place, needs tasks of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple

from fimlsp.languages.typed.lexicon import ExpectedTokens, Lexicon
from fimlsp.languages.typed.operators import Operator, Operators

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
