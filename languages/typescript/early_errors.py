"""Faults of JavaScript and TypeScript beyond the grammar, by which a suggestion is held back.

They are the early errors of the standard that acorn reports, as far as a tree shows them for certain. Each
rule belongs to the kinds of leaves that it starts from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tree_sitter import Node

from fimlsp.languages.jumps import EnclosingLabels, OnlyIn
from fimlsp.languages.syntax_trees import Path, Reading, Rule, around, text_of
from fimlsp.languages.typescript.declared_names import (
    FUNCTIONS,
    DeclaredTwice,
    ExportedUndeclared,
    exported_twice,
    is_module,
    is_strict,
)
from fimlsp.languages.typescript.regular_expressions import is_regular_expression

_FIELDS = frozenset(("field_definition", "public_field_definition"))
_STATIC = frozenset(("class_static_block",))
_OWN = FUNCTIONS | _FIELDS | _STATIC
"""Nodes with a `this` of their own, and arrow functions."""
_METHODS = frozenset(("method_definition",)) | _FIELDS | _STATIC
_LOOPS = frozenset(("for_statement", "for_in_statement", "while_statement", "do_statement"))
_LABELS = EnclosingLabels(_LOOPS, FUNCTIONS | _STATIC)
_OPERAND = re.compile(rb"[\w$\"'\x80-\xff]")


def _suspends_elsewhere(reading: Reading, path: Path) -> Sequence[Node] | None:
    """`yield` outside of generators, and `await` in a function that is not asynchronous."""
    del reading
    word, node = path[-1], path[-2]
    is_operator = node.type == f"{word.type}_expression" and node.child_count > 1
    after = text_of(node.children[-1]) if is_operator else b""
    if not is_operator or _OPERAND.match(after) is None:
        return None
    function = next((outer[-1] for outer in around(path, _OWN)), None)
    if function is None:
        return path[-1:] if word.type == "yield" else None
    kinds = {child.type for child in function.children}
    can_suspend = "async" in kinds if word.type == "await" else "*" in kinds or "generator" in function.type
    return None if can_suspend and function.type not in _FIELDS | _STATIC else path[-1:]


def _this_of(path: Path) -> Path | None:
    """The path of the function, field or block with the `this` at *path*."""
    return next((outer for outer in around(path, _OWN) if outer[-1].type != "arrow_function"), None)


def _super_elsewhere(reading: Reading, path: Path) -> Sequence[Node] | None:
    """`super` outside of methods, and its call outside of the constructor of a derived class."""
    del reading
    method = _this_of(path)
    if method is None or method[-1].type not in _METHODS:
        return path[-1:]
    if path[-2].type != "call_expression":
        return None
    heirs = {"class_heritage", "extends_clause"}
    is_derived = len(method) > 2 and any(child.type in heirs for child in method[-3].children)
    return None if is_derived and _is_constructor(method) else path[-1:]


def _is_constructor(method: Path) -> bool:
    """True if *method* ends with the constructor of a class."""
    node = method[-1]
    is_plain = node.type == "method_definition" and method[-2].type == "class_body"
    has_word = any(child.type in ("static", "get", "set", "*", "async") for child in node.children)
    name = text_of(node.child_by_field_name("name")).strip(b"\"'")
    return is_plain and not has_word and name == b"constructor"


def _new_target_elsewhere(reading: Reading, path: Path) -> Sequence[Node] | None:
    """`new.target` outside of functions."""
    is_wrong = path[-2].type == "meta_property" and _this_of(path) is None
    return path[-1:] if is_wrong and not _is_common(reading) else None


def _return_elsewhere(reading: Reading, path: Path) -> Sequence[Node] | None:
    """`return` outside of functions."""
    is_outside = next(around(path, FUNCTIONS | _STATIC), None) is None
    return None if is_outside and _is_common(reading) else _IN_FUNCTION(reading, path)


def _is_common(reading: Reading) -> bool:
    """True if the text looks like a CommonJS module, which Node.js reads as the body of a function."""
    return _OF_NODE.search(reading.data) is not None and not is_module(reading)


_IN_FUNCTION = OnlyIn(FUNCTIONS, _STATIC)
_OF_NODE = re.compile(rb"(?<!\.)\brequire\(|\bmodule\.exports\b|\bexports\.")


def _second_constructor(reading: Reading, path: Path) -> Sequence[Node] | None:
    """Two constructors of a class."""
    del reading
    name = path[-1]
    if text_of(name) != b"constructor" or not _is_constructor(path[:-1]):
        return None
    others = (child for child in path[-3].children if _is_constructor((*path[:-2], child)))
    names = [other.child_by_field_name("name") or other for other in others]
    return names if len(names) > 1 else None


def _private_name(reading: Reading, path: Path) -> Sequence[Node] | None:
    """A private name that no class around it declares, or that its class declares twice."""
    del reading
    name, parent = path[-1], path[-2]
    text = text_of(name)
    if _name_of(parent) == name and path[-3].type == "class_body":
        same = [child for child in path[-3].children if text_of(_name_of(child)) == text]
        members = [member for member in same if member.type in _METHODS]
        is_pair = len(members) == _PAIR and {*map(_accessor, members)} in _PAIRS
        return None if len(members) <= 1 or is_pair else [_name_of(member) or member for member in members]
    bodies = (outer[-1] for outer in around(path, {"class_body"}))
    is_declared = any(text_of(_name_of(child)) == text for body in bodies for child in body.children)
    return None if is_declared else (name,)


_PAIR = 2
_PAIRS = tuple({("get", is_static), ("set", is_static)} for is_static in (False, True))


def _name_of(member: Node) -> Node | None:
    return member.child_by_field_name("name") or member.child_by_field_name("property")


def _accessor(member: Node) -> tuple[str, bool]:
    """The word `get` or `set` of *member*, and True if it is static."""
    kinds = {child.type for child in member.children}
    return next((word for word in ("get", "set") if word in kinds), ""), "static" in kinds


def _second_prototype(reading: Reading, path: Path) -> Sequence[Node] | None:
    """Two properties `__proto__` of an object."""
    del reading
    if text_of(path[-1]) != b"__proto__" or path[-2].type != "pair" or path[-3].type != "object":
        return None
    keys = [child.child_by_field_name("key") for child in path[-3].children if child.type == "pair"]
    same = [key for key in keys if key is not None and text_of(key).strip(b"\"'") == b"__proto__"]
    return same if len(same) > 1 else None


def _deleted_name(reading: Reading, path: Path) -> Sequence[Node] | None:
    """`delete name` in strict code, and `delete` of a private name."""
    target = path[-2].child_by_field_name("argument")
    while target is not None and target.type == "parenthesized_expression":
        target = target.named_child(0)
    if target is None:
        return None
    is_name = target.type == "identifier" and is_strict(reading, path)
    is_private = target.children[-1:] and target.children[-1].type == "private_property_identifier"
    return path[-1:] if is_name or is_private else None


def _invalid_expression(reading: Reading, path: Path) -> Sequence[Node] | None:
    """A regular expression that the standard refuses."""
    del reading
    node = path[-2]
    parts = (text_of(node.child_by_field_name(name)) for name in ("pattern", "flags"))
    pattern, flags = (part.decode("utf-8", "replace") for part in parts)
    return None if is_regular_expression(pattern, flags) else (node,)


def _rules(*, typed: bool) -> Mapping[str, Sequence[Rule]]:
    declared, undeclared = DeclaredTwice(typed), ExportedUndeclared(typed)
    return {
        "break": (OnlyIn(_LOOPS | {"switch_statement"}, FUNCTIONS | _STATIC),),
        "continue": (OnlyIn(_LOOPS, FUNCTIONS | _STATIC),),
        "return": (_IN_FUNCTION if typed else _return_elsewhere,),
        "yield": (_suspends_elsewhere,),
        "await": (_suspends_elsewhere,),
        "super": (_super_elsewhere,),
        "new": (_new_target_elsewhere,),
        "delete": (_deleted_name,),
        "default": (exported_twice,),
        "statement_identifier": (_LABELS,),
        "private_property_identifier": (_private_name,),
        "property_identifier": (_second_constructor, _second_prototype),
        "identifier": (declared, exported_twice, undeclared),
        "type_identifier": (declared, exported_twice),
        "shorthand_property_identifier_pattern": (declared, exported_twice),
        "regex_pattern": (_invalid_expression,),
        "regex_flags": (_invalid_expression,),
    }


JAVASCRIPT_RULES, TYPESCRIPT_RULES = _rules(typed=False), _rules(typed=True)
