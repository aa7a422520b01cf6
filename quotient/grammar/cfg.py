"""Context-free grammars as values.

Symbols are small integers, terminals first. There are no empty productions. Each repetition is a nonterminal
of its own and marked as such, because it has to be parsed from both ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from itertools import groupby

from fimlsp.errors import UserError
from fimlsp.lexing.values import value


class GrammarError(UserError, ValueError):
    """Raised for a grammar that cannot be used; the message says what to change."""


@value
class Production:
    """The production `lhs` -> `rhs`. The right-hand side has at least one symbol."""

    lhs: int
    rhs: tuple[int, ...]


@value
class Grammar:
    """A grammar without empty productions.

    `terminals` are the symbols 0 .. T-1, `nonterminals` the symbols T .. T+N-1, beginning with the start
    symbol. `productions` are grouped by left-hand side. `repetitions` maps a nonterminal L to its element E
    if the productions of L are L -> E and L -> L E. With `may_be_empty` the empty sequence is a sentence too.
    `copies` are the nonterminals that are copies for a place (see `places.py`); a line without any of the
    terminals `place_words` means the same to all copies.
    """

    terminals: tuple[str, ...]
    nonterminals: tuple[str, ...]
    productions: tuple[Production, ...]
    repetitions: Mapping[int, int] = field(hash=False)
    may_be_empty: bool = False
    copies: frozenset[int] = frozenset()
    place_words: frozenset[int] = frozenset()
    _symbols: Mapping[str, int] = field(init=False, repr=False, compare=False)
    _by_lhs: Mapping[int, tuple[Production, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = self.terminals + self.nonterminals
        by_lhs = {lhs: tuple(group) for lhs, group in groupby(self.productions, lambda p: p.lhs)}
        object.__setattr__(self, "_symbols", {name: symbol for symbol, name in enumerate(names)})
        object.__setattr__(self, "_by_lhs", by_lhs)

    @property
    def start(self) -> int:
        """The start symbol."""
        return len(self.terminals)

    def symbol(self, name: str) -> int:
        """The symbol called *name*.

        Raises:
            KeyError: There is none.
        """
        return self._symbols[name]

    def name(self, symbol: int) -> str:
        """The name of *symbol*."""
        count = len(self.terminals)
        return self.terminals[symbol] if symbol < count else self.nonterminals[symbol - count]

    def is_terminal(self, symbol: int) -> bool:
        """Whether *symbol* is a terminal."""
        return symbol < len(self.terminals)

    def productions_of(self, symbol: int) -> tuple[Production, ...]:
        """The productions with *symbol* as their left-hand side; none for a terminal."""
        return self._by_lhs.get(symbol, ())


Alternatives = Mapping[str, Iterable[tuple[str, ...]]]


def make_grammar(
    start: str, rules: Alternatives, repetitions: Mapping[str, str], *, may_be_empty: bool = False
) -> Grammar:
    """The grammar with these *rules*, which map the name of each nonterminal to its right-hand sides.

    Names that are no keys of *rules* are terminals.

    Raises:
        GrammarError: A right-hand side is empty, or a nonterminal is unreachable or derives no sentence.
    """
    sides = {name: tuple(dict.fromkeys(rights)) for name, rights in rules.items()}
    _check(start, sides)
    nonterminals = (start, *(name for name in sides if name != start))
    used = (name for rights in sides.values() for right in rights for name in right)
    terminals = tuple(dict.fromkeys(name for name in used if name not in sides))
    symbols = {name: symbol for symbol, name in enumerate(terminals + nonterminals)}
    productions = tuple(
        Production(symbols[name], tuple(symbols[part] for part in right))
        for name in nonterminals
        for right in sides[name]
    )
    elements = {symbols[name]: symbols[element] for name, element in repetitions.items()}
    return Grammar(terminals, nonterminals, productions, elements, may_be_empty)


SENTINELS = "⊢", "⊣"
"""The terminals that enclose a file in a language without a layout, where the whole file is one group."""


def between_sentinels(grammar: Grammar) -> Grammar:
    """A grammar for the sentences of *grammar*, each enclosed by the `SENTINELS`."""
    begin, end = SENTINELS
    start = grammar.name(grammar.start)
    files = [(begin, start, end), *([(begin, end)] if grammar.may_be_empty else [])]
    rules: dict[str, list[tuple[str, ...]]] = {f"{begin}{start}{end}": files}
    for production in grammar.productions:
        rules.setdefault(grammar.name(production.lhs), []).append(tuple(map(grammar.name, production.rhs)))
    repetitions = {grammar.name(a): grammar.name(b) for a, b in grammar.repetitions.items()}
    return make_grammar(next(iter(rules)), rules, repetitions)


def without_useless(start: str, rules: Alternatives) -> dict[str, list[tuple[str, ...]]]:
    """The *rules* that occur in some derivation of a sentence from *start*."""
    sides = {name: tuple(rights) for name, rights in rules.items()}
    useless = sides.keys() - _productive(sides)
    kept = {
        name: tuple(right for right in rights if useless.isdisjoint(right))
        for name, rights in sides.items()
        if name not in useless
    }
    reachable = _reachable(start, kept)
    return {name: list(rights) for name, rights in kept.items() if name in reachable}


def _check(start: str, sides: Mapping[str, tuple[tuple[str, ...], ...]]) -> None:
    empty = [name for name, rights in sides.items() if () in rights]
    reachable = _reachable(start, sides)
    productive = _productive(sides)
    for fault, names in (
        ("may be empty; make them optional where they are used", empty),
        ("are never used; remove them", [name for name in sides if name not in reachable]),
        ("derive no sentence; give them an end", [name for name in sides if name not in productive]),
    ):
        if names:
            raise GrammarError(f"These rules {fault}: {', '.join(names)}.")


def _reachable(start: str, sides: Mapping[str, tuple[tuple[str, ...], ...]]) -> set[str]:
    found = {start}
    waiting = [start]
    while waiting:
        fresh = {part for right in sides.get(waiting.pop(), ()) for part in right} - found
        found |= fresh
        waiting.extend(fresh)
    return found


def _productive(sides: Mapping[str, tuple[tuple[str, ...], ...]]) -> set[str]:
    found: set[str] = set()
    size = -1
    while len(found) > size:
        size = len(found)
        for name, rights in sides.items():
            if any(all(part in found or part not in sides for part in right) for right in rights):
                found.add(name)
    return found
