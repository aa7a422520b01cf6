"""The rules of a JSON Schema: one for each of its nodes.

An object has its properties in the order of the schema, then any others. So the number of rules grows with
the schema and not with the orders of its properties.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from decimal import Decimal

from fimlsp.languages.custom.rules import Rules, Side
from fimlsp.languages.custom.schema.bounds import MOST_DIGITS, Bound
from fimlsp.languages.custom.schema.formats import FORMATS, fault_of
from fimlsp.languages.custom.schema.nodes import Conditions, Node, Nodes, refused, type_of, types_of
from fimlsp.languages.custom.schema.texts import ANY, MOST_LENGTH, USUAL, Condition, SchemaTexts

MOST_ITEMS = 1_000
"""Values that `minItems` and `maxItems` may count. Longer arrays are no texts of a number of values."""

_NEVER: list[Side] = []


class SchemaRules:
    """Makes the rules of a schema, whose places are named by their paths."""

    def __init__(self, root: Node, check: Callable[[int], None]) -> None:
        self.texts = SchemaTexts(check)
        self._nodes = Nodes(root, check)
        self.rules: Rules = {}
        self._symbols: dict[int, str] = {}
        self._waiting: list[tuple[str, Node]] = []
        self.start = self._symbol(self._nodes.root)
        while self._waiting:
            symbol, node = self._waiting.pop()
            check(0)
            self.rules[symbol] = self._sides(symbol, node)

    def _symbol(self, node: Node) -> str:
        """The nonterminal of the values that are instances of *node*."""
        if isinstance(node, bool):
            return self._any() if node else self._rule("none", _NEVER)
        if id(node) not in self._symbols:
            symbol = self._symbols[id(node)] = f"value{len(self._symbols)}"
            self._waiting.append((symbol, node))
        return self._symbols[id(node)]

    def _rule(self, symbol: str, sides: Iterable[Side]) -> str:
        self.rules[symbol] = [*sides]
        return symbol

    def _any(self) -> str:
        """The nonterminal of all values."""
        if "any" not in self.rules:
            self.rules["any"] = []
            self.rules["any"] = [side for name in _OF_TYPE for side in _OF_TYPE[name](self, "any", {}, "#")]
        return "any"

    def _sides(self, symbol: str, node: Node) -> list[Side]:
        plain = self._nodes.plain_target(node)
        if plain is not None:
            return [(self._symbol(plain),)]
        conditions = self._nodes.conditions(node)
        if isinstance(conditions, bool):
            return [(self._symbol(conditions),)]
        path = self._nodes.path(node)
        for name in ("anyOf", "oneOf"):
            if name in conditions:
                return self._branches(name, conditions, path)
        if "enum" in conditions:
            return self._listed(symbol, conditions, path)
        return [
            side
            for name in sorted(types_of(conditions))
            for side in _OF_TYPE[name](self, symbol, conditions, path)
        ]

    def _branches(self, name: str, conditions: Conditions, path: str) -> list[Side]:
        """One of the schemas that `anyOf` or `oneOf` lists, with the other *conditions*."""
        branches: list[Node] = conditions[name]
        rest = {keyword: of for keyword, of in conditions.items() if keyword != name}
        if name == "oneOf":
            for place, one in enumerate(branches):
                for other in range(place):
                    if not self._nodes.are_apart(branches[other], one):
                        raise refused(
                            path,
                            f"has oneOf, and a value may be an instance of both {other} and {place}",
                            "Use anyOf, or give both a property with a const.",
                        )
        if rest:
            branches = [self._nodes.joined(self._nodes.conditions(one), rest, path) for one in branches]
        return [(self._symbol(one),) for one in branches]

    def _listed(self, symbol: str, conditions: Conditions, path: str) -> list[Side]:
        others = sorted(conditions.keys() - {"enum", "type"})
        if others:
            raise refused(
                path,
                f"has {others[0]} beside enum or const",
                "Leave it out, and the values that it excludes.",
            )
        types = types_of(conditions)
        values = (value for value in conditions["enum"] if _is_of(value, types))
        return [self._value(f"{symbol}.{number}", value, path) for number, value in enumerate(values)]

    def _value(self, symbol: str, value: Node, path: str) -> Side:
        """The symbols of the one *value*."""
        if value is None or isinstance(value, bool):
            return (json.dumps(value),)
        if isinstance(value, str):
            return (self._texts(path, ("literal", value)),)
        if isinstance(value, int | float):
            spellings = {json.dumps(value), *([str(int(value))] if int(value) == value else [])}
            sides = [(self._texts(path, ("written", one)),) for one in sorted(spellings)]
            return (self._rule(f"{symbol}.number", sides),)
        if isinstance(value, list):
            parts: list[Side] = [
                self._value(f"{symbol}.{number}", one, path) for number, one in enumerate(value)
            ]
            brackets = "[]"
        else:
            parts = [
                (self._texts(path, ("literal", name)), ":", *self._value(f"{symbol}.{number}", one, path))
                for number, (name, one) in enumerate(value.items())
            ]
            brackets = "{}"
        inside = tuple(symbol for part in parts for symbol in (",", *part))[1:]
        return (self._rule(f"{symbol}.whole", [(brackets[0], *inside, brackets[1])]),)

    def _texts(self, path: str, *conditions: Condition, but: Iterable[Condition] = ()) -> str:
        return self.texts.symbol(frozenset(conditions), path, but=frozenset(but))

    def strings(self, symbol: str, conditions: Conditions, path: str) -> list[Side]:
        """The strings with the length, the pattern and the format of *conditions*."""
        del symbol
        found: list[Condition] = [("pattern", pattern) for pattern in _several(conditions, "pattern")]
        for name in _several(conditions, "format"):
            if fault := fault_of(name):
                raise refused(path, fault, "Use a pattern in its place.")
            if name in FORMATS:
                found.append(("format", name))
        least, most = conditions.get("minLength", 0), conditions.get("maxLength")
        if least > MOST_LENGTH:
            raise refused(path, f"counts more than {MOST_LENGTH} characters", "Leave out this length.")
        if most is not None and most < least:
            return _NEVER
        most = None if most is None else min(most, MOST_LENGTH)
        if least or most is not None:
            found.append(("length", least, most))
        return [(self._texts(path, *(found or [ANY])),)]

    def numbers(self, symbol: str, conditions: Conditions, path: str) -> list[Side]:
        """The numbers within the bounds of *conditions*."""
        del symbol
        return self._bounded("number", conditions, path)

    def integers(self, symbol: str, conditions: Conditions, path: str) -> list[Side]:
        """The whole numbers within the bounds of *conditions*."""
        del symbol
        return self._bounded("integer", conditions, path)

    def _bounded(self, sort: str, conditions: Conditions, path: str) -> list[Side]:
        bounds = [
            Bound(Decimal(repr(conditions[name])), name.endswith("aximum"), name.startswith("exclusive"))
            for name in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
            if name in conditions
        ]
        if not all(bound.is_short for bound in bounds):
            raise refused(path, f"has a bound of more than {MOST_DIGITS} digits", "Leave it out.")
        return [(self._texts(path, ("number", sort), *(("bound", bound) for bound in bounds)),)]

    def objects(self, symbol: str, conditions: Conditions, path: str) -> list[Side]:
        """The objects with the properties of *conditions* in their order, and others after them."""
        required: list[str] = conditions.get("required", [])
        named, others = self._members(conditions, path)
        other = self._rule(f"{symbol}.other", [(key, ":", self._symbol(node)) for key, node in others])
        more = self._rule(f"{symbol}.others", [(), (f"{symbol}.others", ",", other)])
        first: list[Side] = [(), (other, more)]
        rest: list[Side] = [(more,)]
        for number, (name, node) in reversed([*enumerate(named.items())]):
            own = (self._texts(path, ("literal", name)), ":", self._symbol(node))
            after = self._rule(f"{symbol}.after.{number}", rest)
            without = self._rule(f"{symbol}.from.{number}", first)
            rest = [(",", *own, after)]
            first = [(*own, after)]
            if name not in required:
                rest.append((after,))
                first.append((without,))
        return [("{", self._rule(f"{symbol}.inside", first), "}")]

    def _members(self, conditions: Conditions, path: str) -> tuple[dict[str, Node], list[tuple[str, Node]]]:
        """The nodes of the named properties; and of all others, each with the symbol of its names."""
        properties: dict[str, Node] = conditions.get("properties", {})
        patterns: dict[str, Node] = conditions.get("patternProperties", {})
        rest: Node = conditions.get("additionalProperties", True)
        keys: dict[Condition, str] = {
            ("literal", name): name for name in (*properties, *conditions.get("required", []))
        }
        of_pattern: dict[Condition, Node] = {("pattern", one): node for one, node in patterns.items()}
        if not patterns:
            key = self._texts(path, *([USUAL] if keys else [ANY]), but=keys)
            return {name: properties.get(name, rest) for name in keys.values()}, [(key, rest)]
        named: dict[str, Node] = dict.fromkeys(keys.values())
        others: list[tuple[str, Node]] = []
        for met in sorted(self.texts.combinations((*keys, *of_pattern), path), key=sorted):
            place = f"{path}/patternProperties"
            nodes = [node for one, node in of_pattern.items() if one in met]
            names = [keys[one] for one in met if one in keys]
            nodes += [properties[name] for name in names if name in properties]
            node = self._nodes.together(nodes, place) if nodes else rest
            if names:
                named[names[0]] = node
            else:
                key = self._texts(path, USUAL, *met, but={*keys, *of_pattern} - met)
                others.append((key, node))
        return named, others

    def arrays(self, symbol: str, conditions: Conditions, path: str) -> list[Side]:
        """The arrays with the number and the kinds of values of *conditions*."""
        front: list[Node] = conditions.get("prefixItems", [])
        item: Node = conditions.get("items", True)
        least, most = conditions.get("minItems", 0), conditions.get("maxItems")
        if least > MOST_ITEMS:
            raise refused(path, f"counts more than {MOST_ITEMS} values", "Leave out this number.")
        if most is not None and most < least:
            return _NEVER
        most = None if most is None else min(most, MOST_ITEMS)
        last = max(len(front), least, 1) if most is None else most
        rest: list[Side] = [()]
        if most is None:
            more = f"{symbol}.more"
            rest = [(self._rule(more, [(), (more, ",", self._symbol(item))]),)]
        for count in range(last, 0, -1):
            value = self._symbol(front[count - 1] if count <= len(front) else item)
            before: Side = () if count == 1 else (",",)
            after = self._rule(f"{symbol}.rest.{count}", rest)
            rest = [(*before, value, after), *([()] if count > least else [])]
        return [("[", self._rule(f"{symbol}.values", rest), "]")]

    def booleans(self, symbol: str, conditions: Conditions, path: str) -> list[Side]:
        """True and false."""
        del symbol, conditions, path
        return [("true",), ("false",)]

    def nulls(self, symbol: str, conditions: Conditions, path: str) -> list[Side]:
        """Null."""
        del symbol, conditions, path
        return [("null",)]


_OF_TYPE = {
    "string": SchemaRules.strings,
    "number": SchemaRules.numbers,
    "integer": SchemaRules.integers,
    "boolean": SchemaRules.booleans,
    "null": SchemaRules.nulls,
    "object": SchemaRules.objects,
    "array": SchemaRules.arrays,
}


def _several(conditions: Conditions, name: str) -> list[str]:
    """The texts of the keyword *name*, of which joined schemas have several."""
    given = conditions.get(name, [])
    return [given] if isinstance(given, str) else given


def _is_of(value: Node, types: frozenset[str]) -> bool:
    """True if *value* is of one of *types*."""
    name = type_of(value)
    return name in types or (name == "number" and "integer" in types and value == int(value))
