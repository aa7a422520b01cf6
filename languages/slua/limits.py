"""The limits of Lua 5.4 that a script must keep to be loaded, with room to spare.

A function of Lua has at most 200 variables and 250 registers, and its syntax nests at most 200 deep
(`lparser.c`, `llimits.h` of Lua 5.4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from fimlsp.languages.slua import syntax

MOST_SLOTS = 120
"""Variables of one function that are in use at once."""

MOST_NAMES = 160
"""Variables of all functions around a place that are in use at once."""

MOST_NESTED = 120
"""Nodes of the syntax tree within each other."""

MOST_VALUES = 80
"""Values that an expression holds at once."""


def place_nested_too_deep(script: syntax.Block) -> syntax.Place | None:
    """Where *script* first nests deeper than `MOST_NESTED`; None if it does not."""
    waiting: list[tuple[int, syntax.Node]] = [(1, script)]
    while waiting:
        depth, node = waiting.pop()
        if depth > MOST_NESTED:
            return node.at
        waiting.extend((depth + 1, child) for child in _children(node))
    return None


def _children(node: syntax.Node) -> Iterator[syntax.Node]:
    waiting: list[object] = [getattr(node, each.name) for each in fields(node)]
    while waiting:
        part = waiting.pop()
        if isinstance(part, syntax.Node):
            yield part
        elif isinstance(part, tuple):
            waiting.extend(part)


def values_at_once(expression: syntax.Expression) -> int:
    """How many values the evaluation of *expression* holds at once."""
    match expression:
        case syntax.Member():
            return 1 + values_at_once(expression.owner)
        case syntax.Call():
            parts: list[syntax.Expression] = [expression.callee, *expression.arguments]
        case syntax.Unary():
            return 1 + values_at_once(expression.operand)
        case syntax.Binary():
            parts = [expression.left, expression.right]
        case syntax.Constructor():
            return 2 + max((values_at_once(entry.value) for entry in expression.entries), default=0)
        case _:
            return 1
    return 2 + max(number + values_at_once(part) for number, part in enumerate(parts))
