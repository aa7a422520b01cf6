"""Expands the rules of a grammar: copies for the places they may occur in, and optional line ends.

*Places* are inherited attributes. A place is a set of permissions: the body of a loop permits `break`, that
of a function `return`. Two kinds of symbols in the rules deal with places, and derive nothing themselves. A
*demand* restricts its alternative to the places that permit something. A *change* puts the symbol that
follows it into another place. A nonterminal is copied once for each set of permissions that makes a
difference to it, so most are not copied at all. (Knuth, "Semantics of Context-Free Languages", Mathematical
Systems Theory 2(2), 1968; over a finite set of values inherited attributes are nonterminals.)

*Line ends.* Where a line end may terminate a statement it is a terminal of the grammar. In most other places
it means nothing, so it may come before every terminal, without a mention in each rule. A mark in the rules
takes that back. The terminal after the mark, or the first one of the nonterminal after it, must be on the
same line. ECMAScript writes the mark as [no LineTerminator here].

    jump: "return" SAME_LINE value | "return"
    list: jump (LINE_END jump)*
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace

from fimlsp.lexing.values import value
from fimlsp.quotient.grammar.cfg import Grammar

Names = tuple[str, ...]
Permissions = frozenset[str]
Sides = dict[str, list[Names]]


@value
class PlaceChange:
    """A change from one place to another: it `grants` permissions, and `keeps` some of the old ones.

    `keeps` maps each permission of the new place to that of the old place on which it depends. With None all
    permissions stay.
    """

    grants: Permissions = frozenset()
    keeps: Mapping[str, str] | None = field(default=None, hash=False)

    def of(self, place: Permissions) -> Permissions:
        """The place that follows the change if *place* precedes it."""
        if self.keeps is None:
            return self.grants | place
        return self.grants.union(new for new, old in self.keeps.items() if old in place)

    def before(self, permissions: Permissions) -> Permissions:
        """The permissions of the old place on which *permissions* of the new one depend."""
        left = permissions - self.grants
        if self.keeps is None:
            return left
        return frozenset(self.keeps[permission] for permission in left if permission in self.keeps)


@value(eq=False)
class Places:
    """The demands and changes of a grammar, and the place of its start symbol.

    `demands` maps the name of a demand to the permission that it needs, and `changes` the name of a change to
    its effect. `words` are terminals: a line without any of them has no demands, so it means the same in
    every place.
    """

    first: Permissions
    demands: Mapping[str, str]
    changes: Mapping[str, PlaceChange]
    words: frozenset[str]


_NO_CHANGE = PlaceChange()
_FOR = "@"


def in_places(
    places: Places, start: str, rules: Mapping[str, Iterable[Names]], repetitions: Mapping[str, str]
) -> tuple[Sides, dict[str, str]]:
    """The *rules* copied for each place, and the *repetitions* among the copies.

    The start symbol keeps its name. Only rules reachable from it are copied.
    """
    read = {name: [_read(places, side) for side in sides] for name, sides in rules.items()}
    deciding = _deciding(read)

    def copy_of(symbol: str, place: Permissions) -> str:
        marks = sorted(place & deciding.get(symbol, frozenset()))
        return symbol if symbol == start or not marks else f"{symbol}{_FOR}{'+'.join(marks)}"

    sides_of: Sides = {}
    copied: dict[str, str] = {}
    waiting = [(start, places.first)]
    while waiting:
        name, place = waiting.pop()
        copy = copy_of(name, place)
        if copy in sides_of or name not in read:
            continue
        permitted = [parts for needed, parts in read[name] if needed <= place]
        sides_of[copy] = [tuple([copy_of(part, change.of(place)) for part, change in p]) for p in permitted]
        waiting += [(part, change.of(place)) for parts in permitted for part, change in parts]
        if name in repetitions:
            copied[copy] = copy_of(repetitions[name], place)
    return sides_of, copied


def marked(grammar: Grammar, places: Places) -> Grammar:
    """*grammar*, whose rules were copied for *places*, with its `copies` and `place_words` set."""
    copies = [symbol for symbol in map(grammar.symbol, grammar.nonterminals) if _FOR in grammar.name(symbol)]
    words = [grammar.symbol(name) for name in places.words if name in grammar.terminals]
    return replace(grammar, copies=frozenset(copies), place_words=frozenset(words))


_Part = tuple[str, PlaceChange]
_Side = tuple[Permissions, tuple[_Part, ...]]
"""The demands of an alternative, and its other symbols, each with the change before it."""


def _read(places: Places, side: Names) -> _Side:
    needed = frozenset(places.demands[name] for name in side if name in places.demands)
    parts: list[_Part] = []
    change = _NO_CHANGE
    for name in side:
        if name in places.changes:
            change = places.changes[name]
        elif name not in places.demands:
            parts.append((name, change))
            change = _NO_CHANGE
    return needed, tuple(parts)


def _deciding(read: Mapping[str, list[_Side]]) -> dict[str, Permissions]:
    """For each nonterminal the permissions that make a difference to its derivations."""
    deciding = dict.fromkeys(read, frozenset[str]())
    changed = True
    while changed:
        changed = False
        for name, sides in read.items():
            own = deciding[name].union(
                *(needed for needed, _ in sides),
                *(
                    change.before(deciding[part])
                    for _, parts in sides
                    for part, change in parts
                    if part in deciding
                ),
            )
            changed |= own != deciding[name]
            deciding[name] = own
    return deciding


@value
class OptionalLineEnds:
    """The terminal `line_end`, which may stand before all terminals but those `never` on a new line.

    `same_line` is the mark, which derives nothing.
    """

    line_end: str
    same_line: str
    never: frozenset[str]


def with_line_ends(
    layout: OptionalLineEnds, start: str, rules: Mapping[str, list[Names]], repetitions: Mapping[str, str]
) -> tuple[Sides, dict[str, str]]:
    """The *rules* with optional line ends; their *repetitions*.

    A nonterminal after a mark is copied, without a line end before its first terminal.
    """
    spread = _Spread(layout, rules)
    spread.add_all(start)
    elements = {name: spread.symbol(element) for name, element in repetitions.items() if name in spread.rules}
    return spread.rules, elements


class _Spread:
    """Makes the rules that are reachable, from the start symbol on."""

    def __init__(self, layout: OptionalLineEnds, given: Mapping[str, list[Names]]) -> None:
        self.layout = layout
        self.given = given
        self.rules: Sides = {}
        self._waiting: list[tuple[str, str, bool]] = []

    def add_all(self, start: str) -> None:
        """Make the rules of *start* and of all symbols that they mention."""
        self._name(start, same_line=False)
        while self._waiting:
            name, original, same_line = self._waiting.pop()
            self.rules[name] = [self._side(side, same_line=same_line) for side in self.given[original]]

    def symbol(self, name: str) -> str:
        """The symbol for *name* where a line end may precede it."""
        return self._name(name, same_line=False)

    def _side(self, side: Names, *, same_line: bool) -> Names:
        symbols: list[str] = []
        for name in side:
            if name == self.layout.same_line:
                same_line = True
            else:
                symbols.append(self._name(name, same_line=same_line))
                same_line = False
        if side and side[-1] == self.layout.same_line:
            raise ValueError(f"Cannot read the grammar: a rule ends with {side[-1]}. Put a symbol after it.")
        return tuple(symbols)

    def _name(self, name: str, *, same_line: bool) -> str:
        """The symbol for *name*; its rules are made later."""
        if name not in self.given:
            if same_line or name in self.layout.never:
                return name
            made = f"{name} on any line"
            self.rules.setdefault(made, [(name,), (self.layout.line_end, name)])
            return made
        made = f"{name} on the same line" if same_line else name
        if made not in self.rules:
            self.rules[made] = []
            self._waiting.append((made, name, same_line))
        return made
