"""The conditions of a JSON Schema on one value: several of them at once, and their opposites.

Conditions have the keywords of `PLAIN`, and these for those that are written as others:

| keyword | meaning |
|---|---|
| `pattern`, `format`, `multipleOf`, `propertyNames` | lists, of which all hold |
| `notPattern`, `notMultipleOf` | lists, of which none holds |
| `different` | values that it is not |
| `contains` | pairs of a place and a node: some item from this place on is an instance |
| `some` | pairs of names and a node: some property that has none of these names is an instance |
| `alternatives` | lists of nodes, of each of which some node holds |
| `oneOf` | lists of nodes, of each of which exactly one holds |
| `order` | names of properties, in the order in which an object has them; no condition |
| `dependencies` | true: some alternatives are of a keyword that this draft ignores, so there is no opposite |

Names of a schema that look like these are remarks of it, and never get here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from math import floor
from typing import Any

from fimlsp.languages.custom.schema.forms import TYPES, Node, refused

Conditions = dict[str, Any]
"""The conditions on a value, without references to other schemas."""

Together = Callable[[Iterable[Node], str], Node]
"""A node whose instances are those of all the given ones, as the one at a path."""

_FEW = 100
ALL_TYPES = frozenset(TYPES) - {"integer"}
_OF_CLASS: dict[type, str] = {
    str: "string",
    bool: "boolean",
    type(None): "null",
    dict: "object",
    list: "array",
    int: "number",
    float: "number",
}
_LIMITS = {
    "string": (("minLength", "maxLength"),),
    "number": (("minimum", "maximum"), ("exclusiveMinimum", "exclusiveMaximum")),
    "array": (("minItems", "maxItems"),),
    "object": (("minProperties", "maxProperties"),),
}
KEYWORDS_OF: Mapping[str, tuple[str, ...]] = {
    "string": ("minLength", "maxLength", "pattern", "notPattern", "format"),
    "number": (
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "notMultipleOf"),
    ),
    "array": ("minItems", "maxItems", "uniqueItems", "items", "prefixItems", "contains"),
    "object": (
        *("minProperties", "maxProperties", "required", "propertyNames", "some", "order"),
        *("properties", "patternProperties", "additionalProperties"),
    ),
}
"""Conditions on values of one type; all others have them without effect."""

_TYPE_OF = {name: kind for kind, names in KEYWORDS_OF.items() for name in names}


def key_of(value: object) -> str:
    """A text that is equal for equal values of JSON."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, dict):
        return "{" + ",".join(sorted(f"{json.dumps(one)}:{key_of(of)}" for one, of in value.items())) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(key_of, value)) + "]"
    return json.dumps(value)


def type_of(value: object) -> str:
    """The type of *value*; whole numbers count as numbers."""
    return _OF_CLASS[type(value)]


def types_of(conditions: Conditions) -> frozenset[str]:
    """The types that the keyword `type` allows; a number may be an integer."""
    given = conditions.get("type")
    types = ALL_TYPES if given is None else frozenset([given] if isinstance(given, str) else given)
    return types - {"integer"} if "number" in types else types


def is_of(value: Node, types: frozenset[str]) -> bool:
    """True if *value* is of one of *types*."""
    name = type_of(value)
    return name in types or (name == "number" and "integer" in types and value == int(value))


def few_values(conditions: Conditions) -> list[Node] | None:
    """The instances of *conditions* if all are true, false, null or few whole numbers, possibly more."""
    types = types_of(conditions)
    if types <= {"boolean", "null"}:
        return [value for value in (True, False, None) if type_of(value) in types]
    low = [conditions[name] for name in ("minimum", "exclusiveMinimum") if name in conditions]
    high = [conditions[name] for name in ("maximum", "exclusiveMaximum") if name in conditions]
    if types != {"integer"} or not low or not high or max(low) + _FEW < min(high):
        return None
    return [*range(floor(max(low)), floor(min(high)) + 1)]


def common_values(one: list[Node], other: list[Node]) -> list[Node]:
    """The values of *one* that are in *other*."""
    kept = {*map(key_of, other)}
    return [value for value in one if key_of(value) in kept]


def joined(one: Conditions | bool, other: Conditions | bool, path: str, both: Together) -> Conditions | bool:
    """The conditions that hold if both do; *both* makes nodes for the values within."""
    if isinstance(one, bool):
        return other if one else False
    if isinstance(other, bool):
        return one if other else False
    result = {**one, **other}
    for name in one.keys() & other.keys() & _JOINED.keys():
        result[name] = _JOINED[name](one[name], other[name])
    _join_properties(result, one, other, path, both)
    _join_items(result, one, other, path, both)
    return simplified(result)


def _common_types(one: str | list[str], other: str | list[str]) -> list[str]:
    mine, yours = ({given} if isinstance(given, str) else {*given} for given in (one, other))
    return [name for name in TYPES if _allows(mine, name) and _allows(yours, name)]


def _allows(types: Iterable[str], name: str) -> bool:
    return name in types or (name == "integer" and "number" in types)


def _all_nodes(one: list[Any], other: list[Any]) -> list[Any]:
    """Both lists. Equal nodes may differ in meaning, as 1 and true are equal in Python."""
    return [*one, *(given for given in other if not any(given is own for own in one))]


def _all_values(one: list[Node], other: list[Node]) -> list[Node]:
    known = {*map(key_of, one)}
    return [*one, *(value for value in other if key_of(value) not in known)]


_JOINED: Mapping[str, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(("minItems", "minLength", "minProperties", "minimum", "exclusiveMinimum"), max),
    **dict.fromkeys(("maxItems", "maxLength", "maxProperties", "maximum", "exclusiveMaximum"), min),
    **dict.fromkeys(("pattern", "format", "multipleOf", "notPattern", "notMultipleOf"), _all_values),
    **dict.fromkeys(("propertyNames", "contains", "some", "alternatives", "oneOf"), _all_nodes),
    "uniqueItems": lambda one, other: one or other,
    **dict.fromkeys(("required", "order"), _all_values),
    "type": _common_types,
    "enum": common_values,
    "different": _all_values,
}
"""For each keyword the value that means the same as two values of it."""


def _join_properties(
    result: Conditions, one: Conditions, other: Conditions, path: str, both: Together
) -> None:
    """Give *result* the properties of both. A name of one is an additional property of the other."""
    for mine, yours in ((one, other), (other, one)):
        if mine.get("additionalProperties", True) is True:
            continue
        own, patterns = mine.get("properties", {}), mine.get("patternProperties", {})
        names = yours.get("properties", {}).keys() - own.keys()
        if patterns and names:
            fault = f"joins patternProperties and additionalProperties with {min(names)} of another schema"
            raise refused(path, fault, "Write one schema.")
        if (own or patterns) and yours.get("patternProperties", {}).keys() - patterns.keys():
            fault = "joins additionalProperties with patternProperties of another schema"
            raise refused(path, fault, "Write one schema.")
    for keyword in ("properties", "patternProperties"):
        names = {**one.get(keyword, {}), **other.get(keyword, {})}
        if names:
            result[keyword] = {
                name: both(
                    (
                        of.get(keyword, {}).get(name, of.get("additionalProperties", True))
                        for of in (one, other)
                    ),
                    f"{path}/{keyword}/{escaped(name)}",
                )
                for name in names
            }
    if "additionalProperties" in result:
        given = (of.get("additionalProperties", True) for of in (one, other))
        result["additionalProperties"] = both(given, f"{path}/additionalProperties")


def _join_items(result: Conditions, one: Conditions, other: Conditions, path: str, both: Together) -> None:
    """Give *result* the items of both."""
    fronts = [of.get("prefixItems", []) for of in (one, other)]
    rests = [of.get("items", True) for of in (one, other)]
    length = max(map(len, fronts))
    if length:
        result["prefixItems"] = [
            both(
                (front[at] if at < len(front) else rest for front, rest in zip(fronts, rests, strict=True)),
                f"{path}/prefixItems/{at}",
            )
            for at in range(length)
        ]
    if "items" in result:
        result["items"] = both(rests, f"{path}/items")


def simplified(conditions: Conditions) -> Conditions | bool:
    """*conditions* without those that have no effect; False if it is easy to see that no value has them."""
    types = types_of(conditions)
    if "enum" in conditions:
        return _listed(conditions, types)
    kept = frozenset(name for name in types if not _is_empty(name, conditions))
    if not kept:
        return False
    result = {
        name: of
        for name, of in conditions.items()
        if name not in _TYPE_OF
        or _TYPE_OF[name] in kept
        or (_TYPE_OF[name] == "number" and "integer" in kept)
    }
    if kept != ALL_TYPES:
        result["type"] = [name for name in TYPES if name in kept]
    return result


def _listed(conditions: Conditions, types: frozenset[str]) -> Conditions | bool:
    """Conditions with `enum`: its values are of one of *types*."""
    others = {*map(key_of, conditions.get("different", []))}
    values = [value for value in conditions["enum"] if is_of(value, types) and key_of(value) not in others]
    found = {type_of(value) for value in values}
    rest = {
        name: of
        for name, of in conditions.items()
        if name not in ("type", "enum", "different") and (name not in _TYPE_OF or _TYPE_OF[name] in found)
    }
    return {"enum": values, **rest} if values else False


def _is_empty(name: str, conditions: Conditions) -> bool:
    """True if it is easy to see that no value of the type *name* has the *conditions*."""
    name = "number" if name == "integer" else name
    for least, most in _LIMITS.get(name, ()):
        if least in conditions and most in conditions and conditions[least] > conditions[most]:
            return True
    if name != "object" or "required" not in conditions:
        return False
    named = conditions.get("properties", {})
    rest = conditions.get("additionalProperties", True) or "patternProperties" in conditions
    return any(named.get(one, rest) is False for one in conditions["required"])


def opposite(conditions: Conditions, path: str, opposite_of: Callable[[Node], Node]) -> list[Conditions]:
    """Conditions of which some hold exactly if *conditions* do not; *opposite_of* is that of a node.

    Raises:
        GrammarError: it cannot be written.
    """
    found: list[Conditions] = []
    for name, of in conditions.items():
        if name in _NEVER_OPPOSED and of:
            fault = f"has {name} in a not, or in a oneOf of which two schemas may hold"
            raise refused(path, fault, "Leave it out, or use anyOf.")
        kind = _TYPE_OF.get(name)
        found += [
            {"type": [kind], **one} if kind and "type" not in one else one
            for one in _OPPOSITES[name](of, conditions, opposite_of)
        ]
    return found


_Opposite = Callable[[Any, Conditions, Callable[[Node], Node]], Iterable[Conditions]]


def _bound(keyword: str, step: int = 0) -> _Opposite:
    """The opposite of a bound is the bound *keyword*, *step* away."""
    return lambda of, _conditions, _opposite: [{keyword: of + step}] if of + step >= 0 or not step else []


def _each(make: Callable[[Any], Conditions]) -> _Opposite:
    """One condition for each of a list."""
    return lambda of, _conditions, _opposite: map(make, of)


def _of_types(of: str | list[str], _conditions: Conditions, _opposite: object) -> Iterable[Conditions]:
    types = {of} if isinstance(of, str) else {*of}
    others = [name for name in TYPES if name in ALL_TYPES and name not in types]
    if "integer" in types and "number" not in types:
        return [{"type": others, "notMultipleOf": [1]}]
    return [{"type": others}] if others else []


def structure(value: Node) -> Conditions:
    """The conditions that only the array or the object *value* has."""
    if isinstance(value, list):
        items = [{"enum": [one]} for one in value]
        return {"type": ["array"], "prefixItems": items, "minItems": len(value), "maxItems": len(value)}
    properties = {name: {"enum": [one]} for name, one in value.items()}
    return {
        "type": ["object"],
        "properties": properties,
        "required": [*value],
        "order": [*value],
        "additionalProperties": False,
    }


def _of_values(
    of: list[Node], _conditions: Conditions, opposite_of: Callable[[Node], Node]
) -> Iterable[Conditions]:
    plain = [value for value in of if not isinstance(value, list | dict)]
    others = [[opposite_of(structure(value))] for value in of if isinstance(value, list | dict)]
    return [{"different": plain, **({"alternatives": others} if others else {})}]


def _of_properties(
    of: dict[str, Node], _conditions: Conditions, opposite_of: Callable[[Node], Node]
) -> Iterable[Conditions]:
    return [
        {"required": [name], "properties": {name: opposite_of(node)}}
        for name, node in of.items()
        if node is not True
    ]


def _of_items(
    of: list[Node], _conditions: Conditions, opposite_of: Callable[[Node], Node]
) -> Iterable[Conditions]:
    return [
        {"minItems": at + 1, "prefixItems": [*[True] * at, opposite_of(node)]}
        for at, node in enumerate(of)
        if node is not True
    ]


def _of_alternatives(
    of: list[list[Node]], _conditions: Conditions, opposite_of: Callable[[Node], Node]
) -> Iterable[Conditions]:
    return [{"allOf": [*map(opposite_of, nodes)]} for nodes in of]


def _of_exclusive(
    of: list[list[Node]], _conditions: Conditions, opposite_of: Callable[[Node], Node]
) -> Iterable[Conditions]:
    for nodes in of:
        yield {"allOf": [*map(opposite_of, nodes)]}
        for place, one in enumerate(nodes):
            yield from ({"allOf": [other, one]} for other in nodes[:place])


_NEVER_OPPOSED = frozenset(("patternProperties", "format", "propertyNames", "dependencies", "uniqueItems"))
_OPPOSITES: Mapping[str, _Opposite] = {
    "type": _of_types,
    "enum": _of_values,
    "different": lambda of, _conditions, _opposite: [{"enum": of}],
    "minLength": _bound("maxLength", -1),
    "maxLength": _bound("minLength", 1),
    "minItems": _bound("maxItems", -1),
    "maxItems": _bound("minItems", 1),
    "minProperties": _bound("maxProperties", -1),
    "maxProperties": _bound("minProperties", 1),
    "minimum": _bound("exclusiveMaximum"),
    "exclusiveMinimum": _bound("maximum"),
    "maximum": _bound("exclusiveMinimum"),
    "exclusiveMaximum": _bound("minimum"),
    "pattern": _each(lambda one: {"notPattern": [one]}),
    "notPattern": _each(lambda one: {"pattern": [one]}),
    "multipleOf": _each(lambda one: {"notMultipleOf": [one]}),
    "notMultipleOf": _each(lambda one: {"multipleOf": [one]}),
    "required": _each(lambda name: {"properties": {name: False}}),
    "properties": _of_properties,
    "additionalProperties": lambda of, conditions, opposite_of: (
        [{"some": [(tuple(conditions.get("properties", ())), opposite_of(of))]}] if of is not True else []
    ),
    "some": lambda of, _conditions, opposite_of: (
        {"properties": dict.fromkeys(names, True), "additionalProperties": opposite_of(node)}
        for names, node in of
    ),
    "prefixItems": _of_items,
    "items": lambda of, conditions, opposite_of: (
        [{"contains": [(len(conditions.get("prefixItems", ())), opposite_of(of))]}] if of is not True else []
    ),
    "contains": lambda of, _conditions, opposite_of: (
        {"prefixItems": [True] * place, "items": opposite_of(node)} for place, node in of
    ),
    **dict.fromkeys(("patternProperties", "uniqueItems", "order"), lambda _of, _conditions, _opposite: []),
    "alternatives": _of_alternatives,
    "oneOf": _of_exclusive,
}
"""For each keyword the conditions of which some hold if it does not, besides its type."""


def escaped(name: str) -> str:
    """*name* as a part of a path."""
    return name.replace("~", "~0").replace("/", "~1")
