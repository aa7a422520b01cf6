"""Copies the rules of a grammar for the places they may occur in: inherited attributes, expanded.

A *place* is a set of permissions: the body of a loop permits `break`, that of a function `return`. Two kinds
of symbols in the rules deal with places, and derive nothing themselves. A *demand* restricts its alternative
to the places that permit something. A *change* puts the symbol that follows it into another place. A
nonterminal is copied once for each set of permissions that makes a difference to it, so most are not copied
at all. (Knuth, "Semantics of Context-Free Languages", Mathematical Systems Theory 2(2), 1968; over a finite
set of values inherited attributes are nonterminals.)
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
