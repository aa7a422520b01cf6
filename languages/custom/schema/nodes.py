"""The nodes of a JSON Schema, with references followed and the conditions of several schemas joined.

A schema is read as draft 2020-12. Keywords such as `oneOf` and `not` are written as others (`joining.py`), as
far as that is exact. A schema in which it is not is refused with its path.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import unquote

from fimlsp.languages.custom.schema.formats import FORMATS, fault_of
from fimlsp.languages.custom.schema.forms import BASES, PLAIN, Node, check, refused, restricting
from fimlsp.languages.custom.schema.joining import (
    ALL_TYPES,
    Conditions,
    common_values,
    escaped,
    few_values,
    joined,
    opposite,
    simplified,
    type_of,
    types_of,
)

DEPENDENCIES = ("dependentRequired", "dependentSchemas", "dependencies")
MOST_NODES = 20_000
_DEEPEST = 200


class Nodes:
    """The nodes of the schema *root*. *check* is called from time to time, and may raise."""

    def __init__(self, root: Node, check: Callable[[int], None]) -> None:
        self.root: Node = root
        if isinstance(root, dict):
            self.root = {name: of for name, of in root.items() if name not in BASES}
        self._limit = check
        self._paths: dict[int, str] = {}
        self._made: list[Node] = []
        self._conditions: dict[int, Conditions | bool] = {}
        self._pairs: dict[frozenset[int], Conditions] = {}
        self._opposites: dict[int, Node] = {}
        self._exclusive: dict[int, list[Node]] = {}
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
            waiting += [(of, f"{path}/{escaped(str(name))}", depth + 1) for name, of in inner]

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
        found = restricting(node) if isinstance(node, dict) else []
        if found == ["$ref"]:
            check(node, self.path(node))
            return self.target(node)
        if found == ["allOf"] and isinstance(node["allOf"], list) and len(node["allOf"]) == 1:
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
        if id(node) in self._conditions:
            return self._conditions[id(node)]
        path = self.path(node)
        if id(node) in within:
            raise refused(path, "refers to itself without a value in between", "Change it.")
        check(node, path)
        inside = within | {id(node)}
        result = simplified(self._own(node, path))
        for part in [*([self.target(node)] if "$ref" in node else []), *node.get("allOf", [])]:
            result = joined(result, self._joined_parts(part, inside), path, self.together)
        if "not" in node:
            opposed = self._opposed(self._joined_parts(node["not"], inside), path, inside)
            result = joined(result, opposed, path, self.together)
        return self.kept(result, path) if isinstance(result, dict) else result

    def _own(self, node: Conditions, path: str) -> Conditions:
        """The conditions of *node* itself, without references and `not`."""
        own: Conditions = {name: of for name, of in node.items() if name in PLAIN}
        if not own.get("uniqueItems", True):
            del own["uniqueItems"]
        for name in ("pattern", "multipleOf", "propertyNames", "oneOf"):
            if name in node:
                own[name] = [node[name]]
        if "format" in node and (node["format"] in FORMATS or fault_of(node["format"])):
            own["format"] = [node["format"]]
        if "const" in node:
            own["enum"] = common_values([node["const"]], node.get("enum", [node["const"]]))
        if "contains" in node and (least := node.get("minContains", 1)):
            if least > 1:
                raise refused(path, "has minContains above 1, which is not supported", "Leave it out.")
            own["contains"] = [(0, node["contains"])]
        if "dependencies" in node:
            own["dependencies"] = True
        if order := [*dict.fromkeys(self._named_in(node))]:
            own["order"] = order
        alternatives = [*([node["anyOf"]] if "anyOf" in node else []), *self._implied(node, path)]
        if alternatives:
            own["alternatives"] = alternatives
        return own

    def _named_in(self, node: Node) -> Iterator[str]:
        """The properties that *node* names itself, in their order in an object; possibly some twice.

        Those that others depend on, and those of a condition, have a place even where they are not listed.
        """
        if isinstance(node, dict):
            check(node, self.path(node))
            yield from node.get("properties", ())
            for keyword in DEPENDENCIES:
                for name, of in node.get(keyword, {}).items():
                    yield name
                    yield from of if isinstance(of, list) else self._named_in(of)
            for keyword in ("if", "then", "else"):
                yield from self._named_in(node.get(keyword))
            yield from node.get("required", ())

    def _implied(self, node: Conditions, path: str) -> Iterator[list[Node]]:
        """Lists of nodes of which one holds, for `if` and for what a property requires."""
        if "if" in node:
            condition = node["if"]
            if "then" in node:
                yield [self.opposite(condition), node["then"]]
            if "else" in node:
                yield [condition, node["else"]]
        for keyword in DEPENDENCIES:
            for name, of in node.get(keyword, {}).items():
                absent = self.kept({"properties": {name: False}}, path)
                yield [absent, self.kept({"required": of}, path) if isinstance(of, list) else of]

    def _opposed(self, conditions: Conditions | bool, path: str, within: frozenset[int]) -> Conditions | bool:
        """The conditions that hold exactly if *conditions* do not."""
        if isinstance(conditions, bool):
            return not conditions
        parts: list[Node] = []
        for part in opposite(conditions, path, self.opposite):
            if "allOf" in part:
                parts.append(self._registered(part, path))
            elif isinstance(simple := simplified(part), dict):
                parts.append(self.kept(simple, path))
        if len(parts) == 1:
            return self._joined_parts(parts[0], within)
        return {"alternatives": [parts]} if parts else False

    def opposite(self, node: Node) -> Node:
        """A node whose instances are the values that are none of *node*."""
        if isinstance(node, bool):
            return not node
        node = self._plain(node)
        if isinstance(node, bool):
            return not node
        if id(node) not in self._opposites:
            other = self._registered({"not": node}, self.path(node))
            self._opposites[id(node)], self._opposites[id(other)] = other, node
        return self._opposites[id(node)]

    def joined(self, one: Conditions | bool, other: Conditions | bool, path: str) -> Conditions | bool:
        """The conditions that hold if both do."""
        self._limit(0)
        return joined(one, other, path, self.together)

    def kept(self, made: Conditions, path: str) -> Conditions:
        """The conditions *made* as a node at *path*."""
        self._conditions[id(made)] = made
        return self._registered(made, path)

    def _registered(self, made: Conditions, path: str) -> Conditions:
        """*made*, which stays as long as this does, as the node at *path*."""
        self._limit(0)
        if len(self._made) > MOST_NODES:
            raise refused(path, "joins too many schemas", "Use fewer allOf, oneOf and not.")
        self._made.append(made)
        self._paths[id(made)] = path
        return made

    def together(self, nodes: Iterable[Node], path: str) -> Node:
        """A node whose instances are those of all *nodes*, as the one at *path*."""
        parts: dict[int, Node] = {}
        for node in nodes:
            if node is False:
                return False
            if node is not True:
                parts.update((id(part), part) for part in self._parts(node))
        if id(False) in parts or any(
            id(self._opposites.get(key)) in parts for key in parts if key in self._opposites
        ):
            return False
        if len(parts) < 2:
            return next(iter(parts.values()), True)
        key = frozenset(parts)
        if key not in self._pairs:
            self._pairs[key] = self._registered({"allOf": [*parts.values()]}, path)
        return self._pairs[key]

    def _parts(self, node: Conditions) -> list[Conditions]:
        """The nodes of the schema itself that *node* joins, or the one that it refers to.

        The same parts have the same node, so schemas that refer to themselves end.
        """
        node = self._plain(node)
        if isinstance(node, bool):
            return [] if node else [node]
        together: list[Conditions] = node.get("allOf", [])
        return together if self._pairs.get(frozenset(map(id, together))) is node else [node]

    def _plain(self, node: Node) -> Node:
        """The node that *node* only refers to, or itself."""
        seen: set[int] = set()
        while (target := self.plain_target(node)) is not None and id(node) not in seen:
            seen.add(id(node))
            node = target
        return node

    def ways(self, conditions: Conditions, path: str) -> list[Conditions] | None:
        """Conditions of which one holds exactly if *conditions* do; None if there are no alternatives.

        Of several lists of alternatives the shortest is taken, once those are left out that contradict the
        rest. The others are alternatives of each.
        """
        rest = {name: of for name, of in conditions.items() if name not in ("alternatives", "oneOf")}
        lists = [*conditions.get("alternatives", ())]
        lists += [self._apart_from_others(nodes, path) for nodes in conditions.get("oneOf", ())]
        if not lists:
            return None
        found: list[tuple[list[Conditions], list[Node]]] = []
        for nodes in lists:
            joint = [self.joined(rest, self.conditions(node), path) for node in nodes]
            if not any(_are_equal(rest, one) for one in joint):
                found.append(([one for one in joint if isinstance(one, dict)], nodes))
        if not found:
            return [self.kept(rest, path)]
        best, chosen = min(found, key=lambda one: len(one[0]))
        others = [nodes for _, nodes in found if nodes is not chosen]
        more = {"alternatives": others} if others else {}
        ways = (self.joined(one, more, path) for one in best)
        return [self.kept(one, path) for one in ways if isinstance(one, dict)]

    def _apart_from_others(self, nodes: list[Node], path: str) -> list[Node]:
        """The *nodes* of a `oneOf`, each without the instances of others."""
        if id(nodes) not in self._exclusive:
            self._exclusive[id(nodes)] = [self._alone(place, nodes, path) for place in range(len(nodes))]
        return self._exclusive[id(nodes)]

    def _alone(self, place: int, nodes: list[Node], path: str) -> Node:
        """The node at *place* of *nodes*, without the instances of the others."""
        others = (one for at, one in enumerate(nodes) if at != place)
        near = [one for one in others if not self.are_apart(nodes[place], one)]
        return self.together([nodes[place], *map(self.opposite, near)], path)

    def types(self, node: Node) -> frozenset[str]:
        """The types of the instances of *node*, possibly more; integers count as numbers."""
        key = node if isinstance(node, bool) else id(node)
        if key not in self._types:
            conditions = self.conditions(node)
            own = _own_types(conditions)
            if isinstance(conditions, dict):
                for nodes in (*conditions.get("alternatives", ()), *conditions.get("oneOf", ())):
                    own &= frozenset().union(*(_own_types(self.conditions(one)) for one in nodes))
            self._types[key] = own
        return self._types[key]

    def values(self, node: Node) -> list[Node] | None:
        """Values among which all instances of *node* are; None if it lists none."""
        conditions = self.conditions(node)
        if isinstance(conditions, bool):
            return None if conditions else []
        if "enum" in conditions:
            return [*conditions["enum"]]
        for nodes in (*conditions.get("alternatives", ()), *conditions.get("oneOf", ())):
            listed = [self.values(one) for one in nodes]
            if None not in listed:
                return [value for values in listed for value in values or ()]
        return few_values(conditions)

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
            return not common_values(mine["enum"], yours["enum"])
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


def _are_equal(one: Conditions, other: Conditions | bool) -> bool:
    """True if both have the same conditions; the order of properties is none."""
    names = one.keys() - {"order"}
    return (
        isinstance(other, dict)
        and names == other.keys() - {"order"}
        and all(one[name] == other[name] for name in names)
    )


def _own_types(conditions: Conditions | bool) -> frozenset[str]:
    if isinstance(conditions, bool):
        return ALL_TYPES if conditions else frozenset()
    if "enum" in conditions:
        return frozenset(map(type_of, conditions["enum"]))
    return frozenset("number" if name == "integer" else name for name in types_of(conditions))
