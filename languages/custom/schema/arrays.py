"""The rules of the arrays of a JSON Schema.

There is a rule for each place and each set of the values for `contains` that came before it. With
`uniqueItems` there is one for each set of values that are no longer allowed. So these may only be few.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from fimlsp.languages.custom.rules import Side
from fimlsp.languages.custom.schema.forms import Node, refused
from fimlsp.languages.custom.schema.joining import Conditions, key_of
from fimlsp.languages.custom.schema.nodes import Nodes

MOST_ITEMS = 1_000
"""Values that `minItems` and `maxItems` may count. Longer arrays are no texts of a number of values."""

_MOST_SOUGHT = 3
_MOST_DIFFERENT = 2_500
"""Rules of an array whose values differ; those of eleven values are 2,048."""

_COMMA = (",",)


class Symbols(Protocol):
    """The symbols of a grammar in the making."""

    def of(self, node: Node) -> str:
        """The nonterminal of the values that are instances of *node*."""

    def rule(self, symbol: str, sides: Iterable[Side]) -> str:
        """The nonterminal *symbol*, which from now on has these *sides*."""


@dataclass(frozen=True)
class _Shape:
    """The first values of an array, all others, the values that it contains, and their numbers.

    Places from *last* on are alike.
    """

    front: tuple[Node, ...]
    item: Node
    sought: tuple[tuple[int, Node], ...]
    least: int
    most: int | None
    last: int

    def at(self, count: int) -> Node:
        """The node of the value after *count* others."""
        return self.front[count] if count < len(self.front) else self.item

    def has_room(self, count: int) -> bool:
        """True if there may be a value after *count* others."""
        return self.most is None or count < self.most


@dataclass(frozen=True)
class _Place:
    """A place after *count* values, the numbers of the sought ones among them, and the keys of all."""

    count: int
    found: frozenset[int]
    used: frozenset[str]

    def symbol(self, array: str) -> str:
        """The nonterminal of the rest of *array* from here on."""
        found = ".".join(map(str, sorted(self.found)))
        return f"{array}.item.{self.count}.{found}" + "".join(f".{one!r}" for one in sorted(self.used))


class Arrays:
    """Makes the rules of arrays whose values are *nodes* of a schema."""

    def __init__(self, nodes: Nodes, symbols: Symbols) -> None:
        self._nodes = nodes
        self._symbols = symbols

    def sides(self, symbol: str, conditions: Conditions, path: str) -> list[Side]:
        """The arrays with the number and the kinds of values of *conditions*."""
        shape = _shape(conditions, path)
        differ = bool(conditions.get("uniqueItems")) and (shape.most is None or shape.most > 1)
        listed = self._listed(shape, path) if differ else {}
        first = _Place(0, frozenset(), frozenset())
        seen, waiting = {first}, [first]
        while waiting:
            place = waiting.pop()
            is_whole = place.count >= shape.least and len(place.found) == len(shape.sought)
            sides: list[Side] = [()] if is_whole else []
            for node, following in self._steps(shape, listed, place, path):
                value = self._symbols.of(node)
                sides.append((*_COMMA[: place.count], value, following.symbol(symbol)))
                if following not in seen:
                    seen.add(following)
                    waiting.append(following)
            if differ and len(seen) > _MOST_DIFFERENT:
                remedy = "List fewer, use a smaller maxItems, or leave it out."
                raise refused(path, "has uniqueItems for too many values", remedy)
            self._symbols.rule(place.symbol(symbol), sides)
        return [("[", first.symbol(symbol), "]")]

    def _steps(
        self, shape: _Shape, listed: dict[int, dict[str, Node]], place: _Place, path: str
    ) -> Iterator[tuple[Node, _Place]]:
        """The nodes of values at *place*, each with the place after it."""
        if not shape.has_room(place.count):
            return
        node = shape.at(place.count)
        values = listed.get(_number(shape, place.count))
        kinds: list[tuple[str, Node]] = [("", True)] if values is None else [*values.items()]
        sought = [number for number, (start, _) in enumerate(shape.sought) if start <= place.count]
        count = min(place.count + 1, shape.last)
        for fresh in _subsets(one for one in sought if one not in place.found):
            for key, value in kinds:
                if key not in place.used:
                    nodes = (node, value, *(shape.sought[one][1] for one in fresh))
                    used = place.used | {key} if key else place.used
                    yield self._nodes.together(nodes, path), _Place(count, place.found | fresh, used)

    def _listed(self, shape: _Shape, path: str) -> dict[int, dict[str, Node]]:
        """By the number of a node in *shape*, the nodes of its values by their keys, as all have to differ.

        A node without a list is left out if it has one place, and no instances in common with any other.
        """
        made: dict[str, Node] = {}
        listed: dict[int, dict[str, Node]] = {}
        numbers = [number for number in range(len(shape.front) + 1) if shape.has_room(number)]
        for number in numbers:
            values = self._nodes.values(shape.at(number))
            if values is not None:
                listed[number] = {
                    key_of(one): made.setdefault(key_of(one), self._nodes.kept({"enum": [one]}, path))
                    for one in values
                }
            elif self._may_repeat(shape, number, numbers):
                remedy = "List these in an enum, or leave it out."
                raise refused(path, "has uniqueItems for values that are not listed", remedy)
        return listed

    def _may_repeat(self, shape: _Shape, number: int, numbers: list[int]) -> bool:
        """True if an instance of the node with this *number* may be a second one in an array."""
        if number == len(shape.front) and shape.has_room(number + 1):
            return True
        others = (shape.at(one) for one in numbers if one != number)
        return not all(self._nodes.are_apart(shape.at(number), one) for one in others)


def _number(shape: _Shape, count: int) -> int:
    """The number of the node of the value after *count* others."""
    return min(count, len(shape.front))


def _shape(conditions: Conditions, path: str) -> _Shape:
    front: list[Node] = conditions.get("prefixItems", [])
    sought: list[tuple[int, Node]] = conditions.get("contains", [])
    least, most = conditions.get("minItems", 0), conditions.get("maxItems")
    if len(sought) > _MOST_SOUGHT:
        raise refused(path, "seeks too many values by contains", "Use fewer of them.")
    if least > MOST_ITEMS:
        raise refused(path, f"counts more than {MOST_ITEMS} values", "Leave out this number.")
    most = None if most is None else min(most, MOST_ITEMS)
    last = max(len(front), least, 1, *(place for place, _ in sought)) if most is None else most
    return _Shape((*front,), conditions.get("items", True), (*sought,), least, most, last)


def _subsets(numbers: Iterable[int]) -> list[frozenset[int]]:
    found: list[frozenset[int]] = [frozenset()]
    for number in numbers:
        found += [one | {number} for one in found]
    return found
