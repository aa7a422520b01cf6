"""The keywords of JSON Schema: which restrict, which are remarks, and the form of their values.

A keyword that restricts and is not supported is refused: without it, a grammar would accept too much.
Keywords that no draft defines are remarks, as the specification says, unless they look like slips of the pen.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, TypeAlias

from fimlsp.quotient.grammar.cfg import GrammarError

Node: TypeAlias = Any
"""A schema as JSON: an object, true or false."""

TYPES = ("string", "number", "integer", "boolean", "null", "object", "array")
_LONGEST_SHOWN = 100
_ALIKE = 0.85

PLAIN = frozenset(
    (
        *("type", "enum", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "required", "items", "prefixItems"),
        *("properties", "patternProperties", "additionalProperties", "uniqueItems"),
    )
)
"""Keywords whose conditions stay as they are written."""

LOGICAL = frozenset(
    (
        *("$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "const", "pattern", "format"),
        *("multipleOf", "propertyNames", "contains", "minContains"),
        *("dependentRequired", "dependentSchemas", "dependencies"),
    )
)
"""Keywords that are written as others; the last is of earlier drafts."""

_OTHERS = frozenset(
    (
        *("maxContains", "unevaluatedItems", "unevaluatedProperties", "$dynamicRef"),
        *("$recursiveRef", "extends", "disallow", "divisibleBy"),
    )
)
"""Keywords that restrict and are not supported; those of the last line are of earlier drafts."""

_CONDITIONS = PLAIN | LOGICAL | _OTHERS
BASES = ("$id", "id")
"""Keywords that change the meaning of references within their schema."""

_REMARKS = frozenset(
    (
        *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"),
        *("contentMediaType", "contentEncoding", "contentSchema", "definitions", "discriminator"),
        "additionalItems",
    )
)
"""Keywords of the specification that restrict nothing by themselves in this draft."""


def refused(path: str, fault: str, remedy: str) -> GrammarError:
    """The error for the schema at *path*; *fault* is a predicate."""
    shown = path if len(path) <= _LONGEST_SHOWN else f"{path[:_LONGEST_SHOWN]}…"
    return GrammarError(f"Cannot use the schema at {shown}: it {fault}. {remedy}")


def restricting(node: Mapping[str, Node]) -> list[str]:
    """The keywords of *node* that are no remarks."""
    return [name for name in node if name in _CONDITIONS]


def check(node: Mapping[str, Node], path: str) -> None:
    """Refuse keywords of *node* that are not supported, or have values of another form.

    Raises:
        GrammarError: there is one.
    """
    for name, value in node.items():
        if name in PLAIN or name in LOGICAL:
            right, form = _FORMS.get(name, (lambda _: True, ""))
            if not right(value):
                raise refused(path, f"has a {name} that is not {form}", "Change it.")
        elif name in _OTHERS:
            raise refused(path, f"has {name}, which is not supported", "Leave it out.")
        elif name in BASES and '"$ref"' in json.dumps(node):
            fault = f"has {name}, which changes the references in it"
            raise refused(path, fault, "Refer to paths from the root, and leave it out.")
        elif name[:1].isalpha() and (meant := _meant(name)):
            fault = f"has {name}, which is no keyword and looks like {meant}"
            raise refused(path, fault, "Correct it, or write x- before it.")


@cache
def _meant(name: str) -> str | None:
    """The keyword that *name* looks like, if it restricts and *name* is none."""
    if name in _CONDITIONS or name in _REMARKS:
        return None
    alike = get_close_matches(name, _CONDITIONS, 1, _ALIKE)
    return alike[0] if alike else None


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


def _is_object_of_texts(value: object) -> bool:
    return isinstance(value, dict) and all(map(_are_texts, value.values()))


def _are_dependencies(value: object) -> bool:
    return isinstance(value, dict) and all(_is_schema(one) or _are_texts(one) for one in value.values())


_COUNTS = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties", "minContains")
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_OF_SCHEMAS = ("properties", "patternProperties", "dependentSchemas")
_SCHEMAS = ("items", "additionalProperties", "not", "if", "then", "else", "propertyNames", "contains")
_FORMS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    **dict.fromkeys(_COUNTS, (_is_count, "a number from 0 on")),
    **dict.fromkeys(_BOUNDS, (_is_number, "a number")),
    **dict.fromkeys(("pattern", "format", "$ref"), (lambda value: isinstance(value, str), "a text")),
    **dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems"), (_are_schemas, "a list of schemas")),
    **dict.fromkeys(_SCHEMAS, (_is_schema, "a schema")),
    **dict.fromkeys(_OF_SCHEMAS, (_is_object_of_schemas, "an object of schemas")),
    "multipleOf": (
        lambda value: _is_number(value) and isinstance(value, int | float) and value > 0,
        "a number above 0",
    ),
    "required": (_are_texts, "a list of texts"),
    "uniqueItems": (lambda value: isinstance(value, bool), "true or false"),
    "dependentRequired": (_is_object_of_texts, "an object of lists of texts"),
    "dependencies": (_are_dependencies, "an object of schemas or lists of texts"),
    "type": (_is_type, f"one of {', '.join(TYPES)}, or a list of them"),
    "enum": (lambda value: isinstance(value, list), "a list"),
}


_ORDERED = ("properties", "dependentSchemas", "dependencies")
_OF_NODES = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED = (*_OF_SCHEMAS, "$defs", "definitions", "dependencies")


def canonical(node: Node) -> Node:
    """*node* with keywords, types and values of `enum` in one order.

    Properties keep theirs, as they have it in texts. So do lists of schemas, into which references lead.
    """
    if not isinstance(node, dict):
        return node
    return {name: _canonical(name, node[name]) for name in sorted(node)}


def _canonical(name: str, value: Node) -> Node:
    """*value* of the keyword *name* in one order."""
    if name in _NAMED and isinstance(value, dict):
        names = value if name in _ORDERED else sorted(value)
        return {one: canonical(value[one]) for one in names}
    if name in _OF_NODES and isinstance(value, list):
        return [*map(canonical, value)]
    if name in ("type", "enum") and isinstance(value, list):
        return sorted(value, key=json.dumps)
    return canonical(value) if name in _SCHEMAS else value
