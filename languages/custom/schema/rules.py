"""The rules of a JSON Schema: one for each of its nodes.

An object has its properties in the order of the schema, then any others. So the number of rules grows with
the schema and not with the orders of its properties.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal

from fimlsp.languages.custom.rules import Rules, Side
from fimlsp.languages.custom.schema.arrays import MOST_ITEMS, Arrays
from fimlsp.languages.custom.schema.bounds import MOST_DIGITS, MOST_REMAINDERS, Bound, is_countable, is_short
from fimlsp.languages.custom.schema.formats import fault_of
from fimlsp.languages.custom.schema.forms import Node, refused
from fimlsp.languages.custom.schema.joining import Conditions, structure, types_of
from fimlsp.languages.custom.schema.nodes import Nodes
from fimlsp.languages.custom.schema.texts import ANY, MOST_LENGTH, USUAL, Condition, SchemaTexts

_MOST_COUNTED = 50_000
_NEVER: list[Side] = []
_COMMA = (",",)
Other = tuple[str, Node]
"""The symbol of names, and the node of their values."""


class SchemaRules:
    """Makes the rules of a schema, whose places are named by their paths."""

    def __init__(self, root: Node, check: Callable[[int], None]) -> None:
        self.texts = SchemaTexts(check)
        self._nodes = Nodes(root, check)
        self._arrays = Arrays(self._nodes, self)
        self.rules: Rules = {}
        self._symbols: dict[int, str] = {}
        self._waiting: list[tuple[str, Node]] = []
        self.start = self.of(self._nodes.root)
        while self._waiting:
            symbol, node = self._waiting.pop()
            check(0)
            self.rules[symbol] = self._sides(symbol, node)

    def of(self, node: Node) -> str:
        """The nonterminal of the values that are instances of *node*."""
        if isinstance(node, bool):
            return self._any() if node else self.rule("none", _NEVER)
        if id(node) not in self._symbols:
            symbol = self._symbols[id(node)] = f"value{len(self._symbols)}"
            self._waiting.append((symbol, node))
        return self._symbols[id(node)]

    def rule(self, symbol: str, sides: Iterable[Side]) -> str:
        """The nonterminal *symbol*, which from now on has these *sides*."""
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
            return [(self.of(plain),)]
        conditions = self._nodes.conditions(node)
        if isinstance(conditions, bool):
            return [(self.of(conditions),)]
        path = self._nodes.path(node)
        ways = self._nodes.ways(conditions, path)
        if ways is not None:
            return [(self.of(one),) for one in ways]
        if "enum" in conditions:
            return self._listed(symbol, conditions, path)
        return [
            side
            for name in sorted(types_of(conditions))
            for side in _OF_TYPE[name](self, symbol, conditions, path)
        ]

    def _listed(self, symbol: str, conditions: Conditions, path: str) -> list[Side]:
        """The values that the *conditions* list, if they meet the others."""
        rest = {name: of for name, of in conditions.items() if name != "enum"}
        sides: list[Side] = []
        for number, value in enumerate(conditions["enum"]):
            if not rest or value is None or isinstance(value, bool):
                sides.append(self._value(f"{symbol}.{number}", value, path))
            elif isinstance(value, str):
                sides += self.strings(symbol, rest, path, ("literal", value))
            elif isinstance(value, int | float):
                for one in _spellings(value):
                    sides += self._bounded("number", rest, path, ("written", one))
            else:
                node = self._nodes.joined(structure(value), rest, path)
                kept = self._nodes.kept(node, path) if isinstance(node, dict) else node
                sides.append((self.of(kept),))
        return sides

    def _value(self, symbol: str, value: Node, path: str) -> Side:
        """The symbols of the one *value*."""
        if value is None or isinstance(value, bool):
            return (json.dumps(value),)
        if isinstance(value, str):
            return (self._texts(path, ("literal", value)),)
        if isinstance(value, int | float):
            sides = [(self._texts(path, ("written", one)),) for one in _spellings(value)]
            return (self.rule(f"{symbol}.number", sides),)
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
        return (self.rule(f"{symbol}.whole", [(brackets[0], *inside, brackets[1])]),)

    def _texts(self, path: str, *conditions: Condition, but: Iterable[Condition] = ()) -> str:
        return self.texts.symbol(frozenset(conditions), path, but=frozenset(but))

    def strings(self, symbol: str, conditions: Conditions, path: str, *own: Condition) -> list[Side]:
        """The strings with the length, the patterns and the formats of *conditions*, and with *own* ones."""
        del symbol
        found, but = self._of_string(conditions, path)
        if but:
            return [(self._texts(path, USUAL, *own, *found, but=but),)]
        return [(self._texts(path, *([*own, *found] or [ANY])),)]

    def _of_string(self, conditions: Conditions, path: str) -> tuple[list[Condition], list[Condition]]:
        """The conditions that a string meets, and those of which it meets none."""
        found: list[Condition] = [("pattern", one) for one in conditions.get("pattern", ())]
        for name in conditions.get("format", ()):
            if fault := fault_of(name):
                raise refused(path, fault, "Use a pattern in its place.")
            found.append(("format", name))
        least, most = conditions.get("minLength", 0), conditions.get("maxLength")
        if least > MOST_LENGTH:
            raise refused(path, f"counts more than {MOST_LENGTH} characters", "Leave out this length.")
        most = None if most is None else min(most, MOST_LENGTH)
        if least or most is not None:
            found.append(("length", least, most))
        but: list[Condition] = [("pattern", one) for one in conditions.get("notPattern", ())]
        but += [("literal", one) for one in conditions.get("different", ()) if isinstance(one, str)]
        return found, but

    def numbers(self, symbol: str, conditions: Conditions, path: str) -> list[Side]:
        """The numbers within the bounds of *conditions*."""
        del symbol
        return self._bounded("number", conditions, path)

    def integers(self, symbol: str, conditions: Conditions, path: str) -> list[Side]:
        """The whole numbers within the bounds of *conditions*."""
        del symbol
        return self._bounded("integer", conditions, path)

    def _bounded(self, sort: str, conditions: Conditions, path: str, *own: Condition) -> list[Side]:
        bounds = [
            Bound(_decimal(conditions[name]), name.endswith("aximum"), name.startswith("exclusive"))
            for name in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
            if name in conditions
        ]
        others = [_decimal(one) for one in conditions.get("different", ()) if _is_number(one)]
        if not all(map(is_short, (*(bound.value for bound in bounds), *others))):
            raise refused(path, f"has a number of more than {MOST_DIGITS} digits", "Leave it out.")
        found: list[Condition] = [("number", sort), *own, *(("bound", bound) for bound in bounds)]
        found += [self._multiple(one, path) for one in conditions.get("multipleOf", ())]
        but: list[Condition] = [("equal", one) for one in others]
        but += [self._multiple(one, path) for one in conditions.get("notMultipleOf", ())]
        return [(self._texts(path, *found, *([("decimal",)] if but else []), but=but),)]

    def _multiple(self, step: float, path: str) -> Condition:
        exact = _decimal(step)
        if not is_countable(exact):
            remedy = f"Use one of at most {MOST_REMAINDERS} parts or digits, or leave it out."
            raise refused(path, f"has a multipleOf of {step}", remedy)
        return ("multiple", exact)

    def objects(self, symbol: str, conditions: Conditions, path: str) -> list[Side]:
        """The objects with the properties of *conditions* in their order, and others after them.

        There is a rule for each property and each number of properties before it, as far as numbers matter.
        """
        if "some" in conditions:
            return [(self.of(node),) for node in self._with_some(conditions, path)]
        keys, named, others = self._members(conditions, path)
        least, most = self._counts(conditions, named, others, path)
        top = max(least, 1) if most is None else most
        required = conditions.get("required", ())
        for count in range(min(len(named), top) + 1):
            sides = self._others(f"{symbol}.others", others, conditions, count, most)
            is_enough = count >= least and "last" not in conditions
            self.rule(f"{symbol}.member.{len(named)}.{count}", [*([()] if is_enough else []), *sides])
        for place, (name, node) in enumerate(named.items()):
            own = (keys[name], ":", self.of(node))
            for count in range(min(place, top) + 1):
                more = (*_COMMA[:count], *own, f"{symbol}.member.{place + 1}.{min(count + 1, top)}")
                without = (f"{symbol}.member.{place + 1}.{count}",)
                is_full = most is not None and count >= most
                sides = [*([] if is_full else [more]), *([] if name in required else [without])]
                self.rule(f"{symbol}.member.{place}.{count}", sides)
        return [("{", f"{symbol}.member.0.0", "}")]

    def _counts(
        self, conditions: Conditions, named: dict[str, Node], others: list[Other], path: str
    ) -> tuple[int, int | None]:
        """The least and the most properties of an object. The most is None if it is without effect."""
        least, most = conditions.get("minProperties", 0), conditions.get("maxProperties")
        possible = sum(node is not False for node in named.values()) + bool(others)
        if others and least > possible:
            fault = f"has minProperties {least}, but of properties that it does not name only one counts"
            raise refused(path, fault, f"Use at most {possible}, or name more.")
        if not others:
            least = min(least, possible + 1)
            most = None if most is None or most >= possible else most
        most = None if most is None else min(most, MOST_ITEMS)
        if len(named) * max(least, most or 1) > _MOST_COUNTED:
            raise refused(path, "counts too many properties", "Use a lower number.")
        return least, most

    def _others(
        self, symbol: str, others: list[Other], conditions: Conditions, count: int, most: int | None
    ) -> list[Side]:
        """Some properties that are not named, after *count* that are. One name may occur twice."""
        room = None if most is None else most - count
        if not others or room == 0 or count + 1 < conditions.get("minProperties", 0):
            return []
        other = self.rule(symbol, [(key, ":", self.of(node)) for key, node in others])
        last = other
        if "last" in conditions:
            nodes = ((key, self._nodes.together((node, conditions["last"]), "#")) for key, node in others)
            last = self.rule(f"{symbol}.last", [(key, ":", self.of(node)) for key, node in nodes])
        if room is None:
            before = self.rule(f"{symbol}.before", [(), (f"{symbol}.before", other, ",")])
            return [(*_COMMA[:count], before, last)]
        for number in range(1, room + 1):
            more = [(other, ",", f"{symbol}.{number - 1}")] if number > 1 else []
            self.rule(f"{symbol}.{number}", [(last,), *more])
        return [(*_COMMA[:count], f"{symbol}.{room}")]

    def _with_some(self, conditions: Conditions, path: str) -> Iterator[Node]:
        """Nodes for objects of which some property, with none of some names, is an instance of a node.

        It is one that the schema names, or the last of all: of properties with one name only the last counts.
        """
        (names, node), *others = conditions["some"]
        rest = {name: of for name, of in conditions.items() if name != "some"}
        rest |= {"type": ["object"], **({"some": others} if others else {})}
        additional = rest.get("additionalProperties", True)
        if "patternProperties" in rest:
            fault = "joins patternProperties with the opposite of additionalProperties"
            raise refused(path, fault, "Use anyOf in place of oneOf and not.")
        named = [one for given, _ in conditions["some"] for one in given]
        named += [*rest.get("order", ()), *rest.get("required", ())]
        properties = {**rest.get("properties", {}), **dict.fromkeys(named, additional)}
        rest["properties"] = properties | rest.get("properties", {})
        for name in (one for one in properties if one not in names):
            one = {"type": ["object"], "required": [name], "properties": {name: node}}
            if isinstance(way := self._nodes.joined(rest, one, path), dict):
                yield self._nodes.kept(way, path)
        if additional is not False:
            last = self._nodes.together((rest.get("last", True), node), path)
            if last is not node and last is not rest.get("last"):
                fault = "has two opposites of additionalProperties that hold for one object"
                raise refused(path, fault, "Use anyOf in place of oneOf and not.")
            yield self._nodes.kept({**rest, "last": last}, path)

    def _members(
        self, conditions: Conditions, path: str
    ) -> tuple[dict[str, str], dict[str, Node], list[Other]]:
        """The symbols of the names that a schema has, and their nodes; and of all others, both."""
        properties: dict[str, Node] = conditions.get("properties", {})
        patterns: dict[str, Node] = conditions.get("patternProperties", {})
        rest: Node = conditions.get("additionalProperties", True)
        listed, found, but = self._names(conditions, path)
        required = conditions.get("required", ())
        order = conditions.get("order", ())
        names: dict[str, Node] = dict.fromkeys((*order, *properties, *required, *(listed or ())))
        literal: dict[Condition, str] = {("literal", name): name for name in names}
        keys = {name: self._texts(path, one, *found, but=but) for one, name in literal.items()}
        of_pattern: dict[Condition, Node] = {("pattern", one): node for one, node in patterns.items()}
        others: list[Other] = []
        if patterns:
            kinds = sorted(self.texts.combinations((*literal, *of_pattern), path), key=sorted)
        else:
            kinds = [frozenset(), *(frozenset([one]) for one in literal)]
        for met in kinds:
            nodes = [node for one, node in of_pattern.items() if one in met]
            own = [literal[one] for one in met if one in literal]
            nodes += [properties[name] for name in own if name in properties]
            node = self._nodes.together(nodes, f"{path}/patternProperties") if nodes else rest
            if own:
                names[own[0]] = node if listed is None or own[0] in listed else False
            elif node is not False and listed is None:
                excluded = {*literal, *of_pattern, *but} - met
                usual = [USUAL] if excluded or met or found else [ANY]
                others.append((self._texts(path, *usual, *met, *found, but=excluded), node))
        return keys, names, others

    def _names(
        self, conditions: Conditions, path: str
    ) -> tuple[list[str] | None, list[Condition], list[Condition]]:
        """The names of properties if they are listed; conditions that all meet, and that none does."""
        nodes = conditions.get("propertyNames", ())
        of_name = self._nodes.conditions(self._nodes.together(nodes, f"{path}/propertyNames"))
        if isinstance(of_name, bool):
            return None if of_name else [], [], []
        if "alternatives" in of_name or "oneOf" in of_name:
            raise refused(path, "has propertyNames with alternatives", "Use patternProperties.")
        listed = [one for one in of_name["enum"] if isinstance(one, str)] if "enum" in of_name else None
        is_text = "string" in types_of(of_name)
        return listed if is_text else [], *self._of_string(of_name, path)

    def arrays(self, symbol: str, conditions: Conditions, path: str) -> list[Side]:
        """The arrays with the number and the kinds of values of *conditions*."""
        return self._arrays.sides(symbol, conditions, path)

    def booleans(self, symbol: str, conditions: Conditions, path: str) -> list[Side]:
        """True and false, without those that *conditions* exclude."""
        del symbol, path
        return [(json.dumps(one),) for one in (True, False) if not _is_among(one, conditions)]

    def nulls(self, symbol: str, conditions: Conditions, path: str) -> list[Side]:
        """Null, unless *conditions* exclude it."""
        del symbol, path
        return _NEVER if _is_among(None, conditions) else [("null",)]


_OF_TYPE: Mapping[str, Callable[[SchemaRules, str, Conditions, str], list[Side]]] = {
    "string": SchemaRules.strings,
    "number": SchemaRules.numbers,
    "integer": SchemaRules.integers,
    "boolean": SchemaRules.booleans,
    "null": SchemaRules.nulls,
    "object": SchemaRules.objects,
    "array": SchemaRules.arrays,
}


def _decimal(value: float) -> Decimal:
    return Decimal(repr(value))


def _is_number(value: object) -> bool:
    return type(value) in (int, float)


def _is_among(value: bool | None, conditions: Conditions) -> bool:
    return any(one is value for one in conditions.get("different", ()))


def _spellings(value: float) -> list[str]:
    return sorted({json.dumps(value), *([str(int(value))] if int(value) == value else [])})
