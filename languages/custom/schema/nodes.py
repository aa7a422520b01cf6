"""The nodes of a JSON Schema, with references followed and the conditions of several schemas joined.

A schema is read as draft 2020-12. A keyword that restricts and is not supported is refused with its path:
without it, a grammar would accept too much. Keywords that no draft defines are remarks, as the specification
says, unless they look like slips of the pen.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, TypeAlias
from urllib.parse import unquote

from fimlsp.quotient.grammar.cfg import GrammarError

Node: TypeAlias = Any
"""A schema as JSON: an object, true or false."""

Conditions = dict[str, Any]
"""The keywords of an object that restrict its instances, without references to other schemas."""

TYPES = ("string", "number", "integer", "boolean", "null", "object", "array")
ALL_TYPES = frozenset(TYPES) - {"integer"}
MOST_NODES = 20_000
_DEEPEST = 200
_LONGEST_SHOWN = 100


def refused(path: str, fault: str, remedy: str) -> GrammarError:
    """The error for the schema at *path*; *fault* is a predicate."""
    shown = path if len(path) <= _LONGEST_SHOWN else f"{path[:_LONGEST_SHOWN]}…"
    return GrammarError(f"Cannot use the schema at {shown}: it {fault}. {remedy}")


def key_of(value: object) -> str:
    """A text that is equal for equal values of JSON."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, dict):
        return "{" + ",".join(sorted(f"{json.dumps(one)}:{key_of(of)}" for one, of in value.items())) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(key_of, value)) + "]"
    return json.dumps(value)


def _common_types(one: str | list[str], other: str | list[str]) -> list[str]:
    mine, yours = ({given} if isinstance(given, str) else {*given} for given in (one, other))
    return [name for name in TYPES if _allows(mine, name) and _allows(yours, name)]


def _allows(types: Iterable[str], name: str) -> bool:
    return name in types or (name == "integer" and "number" in types)


def _common_values(one: list[Node], other: list[Node]) -> list[Node]:
    kept = {*map(key_of, other)}
    return [value for value in one if key_of(value) in kept]


def _without_doubles(one: list[str], other: list[str]) -> list[str]:
    return [*dict.fromkeys([*one, *other])]


def _together(one: str | list[str], other: str | list[str]) -> list[str]:
    return [text for given in (one, other) for text in ([given] if isinstance(given, str) else given)]


_JOINED: Mapping[str, Callable[[Node, Node], Node]] = {
    **dict.fromkeys(("minItems", "minLength", "minimum", "exclusiveMinimum"), max),
    **dict.fromkeys(("maxItems", "maxLength", "maximum", "exclusiveMaximum"), min),
    **dict.fromkeys(("pattern", "format"), _together),
    "type": _common_types,
    "enum": _common_values,
    "required": _without_doubles,
}
"""For each keyword the value that means the same as two values of it."""

_KNOWN = frozenset(
    (
        *_JOINED,
        "properties",
        "patternProperties",
        "additionalProperties",
        "items",
        "prefixItems",
        "const",
        "anyOf",
        "oneOf",
    )
)
_REFERRING = ("$ref", "allOf")
_OTHERS = frozenset(
    (
        *("not", "if", "then", "else", "contains", "minContains", "maxContains", "uniqueItems", "multipleOf"),
        *("minProperties", "maxProperties", "propertyNames", "dependentRequired", "dependentSchemas"),
        *("unevaluatedItems", "unevaluatedProperties", "$dynamicRef"),
        *("dependencies", "$recursiveRef", "extends", "disallow", "divisibleBy"),
    )
)
"""Keywords that restrict and are not supported; those of the last line are of earlier drafts."""

_CONDITIONS = _KNOWN.union(_REFERRING, _OTHERS)
_BASES = ("$id", "id")
"""Keywords that change the meaning of references within their schema."""

_REMARKS = frozenset(
    (
        *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"),
        *(
            "contentMediaType",
            "contentEncoding",
            "contentSchema",
            "definitions",
            "discriminator",
            "additionalItems",
        ),
    )
)
"""Keywords of the specification that restrict nothing by themselves in this draft."""

_ALIKE = 0.85


class Nodes:
    """The nodes of the schema *root*. *check* is called from time to time, and may raise."""

    def __init__(self, root: Node, check: Callable[[int], None]) -> None:
        self.root: Node = root
        if isinstance(root, dict):
            self.root = {name: of for name, of in root.items() if name not in _BASES}
        self._limit = check
        self._paths: dict[int, str] = {}
        self._made: list[Conditions] = []
        self._conditions: dict[int, Conditions | bool] = {}
        self._pairs: dict[frozenset[int], Conditions] = {}
        self._types: dict[int, frozenset[str]] = {}
        self._apart: dict[tuple[int, int], bool] = {}
        self._walk()

    def _walk(self) -> None:
        waiting: list[tuple[Node, str, int]] = [(self.root, "#", 0)]
        while waiting:
            node, path, depth = waiting.pop()
            if depth > _DEEPEST or len(self._paths) > MOST_NODES:
                raise refused(path, "is too large or nests too deeply", "Use a smaller one.")
            if isinstance(node, dict):
                self._paths[id(node)] = path
            inner = (
                node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
            )
            waiting += [(of, f"{path}/{_escaped(str(name))}", depth + 1) for name, of in inner]

    def path(self, node: Node) -> str:
        """The path of *node* in the schema."""
        return self._paths.get(id(node), "#")

    def target(self, node: Conditions) -> Node:
        """The node that the reference of *node* leads to."""
        reference, path = str(node["$ref"]), self.path(node)
        beginning, *parts = reference.split("/")
        if beginning != "#":
            remedy = "Refer to a path in it, as #/$defs/a."
            raise refused(path, f"refers to {reference!r}, which is no path in it", remedy)
        found: Node = self.root
        for part in parts:
            name = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict) and name in found:
                found = found[name]
            elif isinstance(found, list) and name.isdigit() and int(name) < len(found):
                found = found[int(name)]
            else:
                raise refused(path, f"refers to {reference}, which does not exist", "Define it.")
        return found

    def plain_target(self, node: Node) -> Node | None:
        """The node whose instances are those of *node*, if that only refers to one."""
        restricting = _restricting(node) if isinstance(node, dict) else []
        if restricting == ["$ref"]:
            self._check(node)
            return self.target(node)
        if restricting == ["allOf"] and isinstance(node["allOf"], list) and len(node["allOf"]) == 1:
            return node["allOf"][0]
        return None

    def conditions(self, node: Node) -> Conditions | bool:
        """The conditions of *node* in one object; True or False if all or no values are instances."""
        if isinstance(node, bool):
            return node
        if not isinstance(node, dict):
            shown = json.dumps(node)[:40]
            raise refused("#", f"has {shown} in place of a schema", "Use an object, true or false.")
        if id(node) not in self._conditions:
            self._conditions[id(node)] = self._joined_parts(node, frozenset())
        return self._conditions[id(node)]

    def _joined_parts(self, node: Node, within: frozenset[int]) -> Conditions | bool:
        if isinstance(node, bool):
            return node
        path = self.path(node)
        if id(node) in within:
            raise refused(path, "refers to itself without a value in between", "Change it.")
        self._check(node)
        inside = within | {id(node)}
        own: Conditions = {name: of for name, of in node.items() if name in _KNOWN and name != "const"}
        if "const" in node:
            own["enum"] = _common_values([node["const"]], node.get("enum", [node["const"]]))
        parts = [self.target(node)] if "$ref" in node else []
        parts += node.get("allOf", [])
        joined: Conditions | bool = own
        for part in parts:
            other = self._joined_parts(part, inside)
            joined = self.joined(joined, other, path) if isinstance(joined, dict) else joined and other
        return self._kept(joined, path) if isinstance(joined, dict) else joined

    def _check(self, node: Conditions) -> None:
        path = self.path(node)
        for name, of in node.items():
            if name in _KNOWN or name in _REFERRING:
                _check_form(name, of, path)
            elif name in _OTHERS and (name, of) != ("uniqueItems", False):
                raise refused(path, f"has {name}, which is not supported", "Leave it out.")
            elif name in _BASES and '"$ref"' in json.dumps(node):
                fault = f"has {name}, which changes the references in it"
                raise refused(path, fault, "Refer to paths from the root, and leave it out.")
            elif name[:1].isalpha() and (meant := _meant(name)):
                fault = f"has {name}, which is no keyword and looks like {meant}"
                raise refused(path, fault, "Correct it, or write x- before it.")

    def joined(self, one: Conditions | bool, other: Conditions | bool, path: str) -> Conditions | bool:
        """The conditions that hold if both do."""
        if isinstance(one, bool):
            return other if one else False
        if isinstance(other, bool):
            return one if other else False
        result = dict(one)
        for name, of in other.items():
            result[name] = self._both(name, result[name], of, path) if name in result else of
        for mine, yours in ((one, other), (other, one)):
            beyond = _names(yours) - _names(mine)
            if beyond and mine.get("additionalProperties", True) is not True:
                fault = f"joins additionalProperties with {min(beyond)} of another schema"
                raise refused(path, fault, "Write one schema.")
            if "items" in mine and "prefixItems" in yours and "prefixItems" not in mine:
                raise refused(path, "joins items with prefixItems of another schema", "Write one schema.")
        return self._kept(result, path)

    def _kept(self, made: Conditions, path: str) -> Conditions:
        """*made*, which stays as long as this does, as the node at *path*."""
        self._limit(0)
        if len(self._made) > MOST_NODES:
            raise refused(path, "joins too many schemas", "Use fewer allOf.")
        self._made.append(made)
        self._paths[id(made)] = path
        return made

    def _both(self, name: str, one: Node, other: Node, path: str) -> Node:
        """The value of the keyword *name* if it has two."""
        if key_of(one) == key_of(other):
            return one
        if name in _JOINED:
            return _JOINED[name](one, other)
        if name in ("properties", "patternProperties"):
            return self._properties(name, one, other, path)
        raise refused(path, f"joins two schemas that both have {name}", "Write them in one schema.")

    def _properties(self, keyword: str, one: Conditions, other: Conditions, path: str) -> Conditions:
        result = dict(one)
        for name, node in other.items():
            both = [result.get(name, True), node]
            result[name] = self.together(both, f"{path}/{keyword}/{_escaped(name)}")
        return result

    def together(self, nodes: Iterable[Node], path: str) -> Node:
        """A node whose instances are those of all *nodes*, as the one at *path*."""
        result: Node = True
        for node in nodes:
            if isinstance(result, bool) or isinstance(node, bool):
                result = node if result is True else result if node is True else False
            else:
                result = self._pair(result, node, path)
        return result

    def _pair(self, one: Conditions, other: Conditions, path: str) -> Conditions:
        """A node for both. The same parts have the same one, so schemas that refer to themselves end."""
        parts = {id(part): part for node in (one, other) for part in self._parts(node)}
        key = frozenset(parts)
        if key not in self._pairs:
            self._pairs[key] = self._kept({"allOf": [*parts.values()]}, path)
        return self._pairs[key]

    def _parts(self, node: Conditions) -> list[Conditions]:
        """The nodes of the schema itself that *node* joins, or the one that it refers to."""
        seen: set[int] = set()
        while isinstance(target := self.plain_target(node), dict) and id(target) not in seen:
            seen.add(id(target))
            node = target
        together = node.get("allOf", [])
        return together if self._pairs.get(frozenset(map(id, together))) is node else [node]

    def types(self, node: Node) -> frozenset[str]:
        """The types of the instances of *node*, possibly more; integers count as numbers."""
        key = node if isinstance(node, bool) else id(node)
        if key not in self._types:
            conditions = self.conditions(node)
            own = _own_types(conditions)
            for name in ("anyOf", "oneOf"):
                if isinstance(conditions, dict) and name in conditions:
                    own &= frozenset().union(*(_own_types(self.conditions(one)) for one in conditions[name]))
            self._types[key] = own
        return self._types[key]

    def are_apart(self, one: Node, other: Node) -> bool:
        """True if no value is an instance of both *one* and *other*, as far as is easy to see."""
        key = id(one), id(other)
        if key not in self._apart:
            self._limit(0)
            self._apart[key] = False  # within itself
            self._apart[key] = self._differ(one, other)
        return self._apart[key]

    def _differ(self, one: Node, other: Node) -> bool:
        common = self.types(one) & self.types(other)
        if not common:
            return True
        mine, yours = self.conditions(one), self.conditions(other)
        if isinstance(mine, bool) or isinstance(yours, bool):
            return False
        if "enum" in mine and "enum" in yours:
            return not _common_values(mine["enum"], yours["enum"])
        if common != {"object"}:
            return False
        return self._objects_differ(mine, yours) or self._objects_differ(yours, mine)

    def _objects_differ(self, one: Conditions, other: Conditions) -> bool:
        mine, yours = one.get("properties", {}), other.get("properties", {})
        for name in one.get("required", []):
            if name in yours:
                both = name in mine and name in other.get("required", [])
                differ = both and self.are_apart(mine[name], yours[name])
            else:
                differ = other.get("additionalProperties") is False and "patternProperties" not in other
            if differ:
                return True
        return False


def types_of(conditions: Conditions) -> frozenset[str]:
    """The types that the keyword `type` allows; a number may be an integer."""
    given = conditions.get("type")
    types = ALL_TYPES if given is None else frozenset([given] if isinstance(given, str) else given)
    return types - {"integer"} if "number" in types else types


_OF_CLASS: dict[type, str] = {
    str: "string",
    bool: "boolean",
    type(None): "null",
    dict: "object",
    list: "array",
    int: "number",
    float: "number",
}


def type_of(value: object) -> str:
    """The type of *value*; whole numbers count as numbers."""
    return _OF_CLASS[type(value)]


def _own_types(conditions: Conditions | bool) -> frozenset[str]:
    if isinstance(conditions, bool):
        return ALL_TYPES if conditions else frozenset()
    if "enum" in conditions:
        return frozenset(map(type_of, conditions["enum"]))
    return frozenset("number" if name == "integer" else name for name in types_of(conditions))


def _restricting(node: Conditions) -> list[str]:
    """The keywords of *node* that are no remarks."""
    return [name for name in node if name in _CONDITIONS]


@cache
def _meant(name: str) -> str | None:
    """The keyword that *name* looks like, if it restricts and *name* is none."""
    if name in _CONDITIONS or name in _REMARKS:
        return None
    alike = get_close_matches(name, _CONDITIONS, 1, _ALIKE)
    return alike[0] if alike else None


def _names(conditions: Conditions) -> set[str]:
    """The properties that *conditions* name, and the patterns of others."""
    return {*conditions.get("properties", {}), *conditions.get("patternProperties", {})}


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_number(value: object) -> bool:
    return type(value) in (int, float)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_type(value: object) -> bool:
    named = [value] if isinstance(value, str) else value
    return isinstance(named, list) and bool(named) and all(one in TYPES for one in named)


def _is_schema(value: object) -> bool:
    return isinstance(value, dict | bool)


def _are_schemas(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_schema, value))


def _is_object_of_schemas(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_schema, value.values()))


_FORMS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    **dict.fromkeys(("minItems", "maxItems", "minLength", "maxLength"), (_is_count, "a number from 0 on")),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), (_is_number, "a number")),
    **dict.fromkeys(("pattern", "format", "$ref"), (lambda value: isinstance(value, str), "a text")),
    **dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems"), (_are_schemas, "a list of schemas")),
    **dict.fromkeys(("items", "additionalProperties"), (_is_schema, "a schema")),
    **dict.fromkeys(("properties", "patternProperties"), (_is_object_of_schemas, "an object of schemas")),
    "required": (_are_texts, "a list of texts"),
    "type": (_is_type, f"one of {', '.join(TYPES)}, or a list of them"),
    "enum": (lambda value: isinstance(value, list), "a list"),
}


def _check_form(name: str, value: object, path: str) -> None:
    right, form = _FORMS.get(name, (lambda _: True, ""))
    if not right(value):
        raise refused(path, f"has a {name} that is not {form}", "Change it.")
