"""Names that a scope declares twice, and exports that are there twice or that nothing declares.

The kinds of declarations and their scopes are those of the standard: `let` in its block, `var` in all blocks
up to its function. TypeScript merges some declarations, and knows types; those are no fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

from tree_sitter import Node

from fimlsp.languages.syntax_trees import Path, Reading, place_of, text_of

PLAIN_FUNCTIONS = frozenset(
    ("function_declaration", "function_expression", "generator_function", "generator_function_declaration")
)
FUNCTIONS = PLAIN_FUNCTIONS | {"arrow_function", "method_definition"}
_MODULES = frozenset(("internal_module", "module"))
_HOISTS = FUNCTIONS | _MODULES | {"program", "class_static_block"}
"""Scopes to which a `var` in them belongs."""
_BLOCKS = _HOISTS | {"statement_block", "for_statement", "for_in_statement", "switch_body", "catch_clause"}
_HAVE_BODY = FUNCTIONS | _MODULES | {"class_static_block", "catch_clause"}
"""Scopes that are one with the block in them."""
_MODULE_ITEMS = frozenset(("import_statement", "export_statement"))


class Kind(Enum):
    """The kind of a declaration: how it gets along with another one of the same name."""

    LEXICAL = "let, const and classes"
    IMPORT = "imports"
    VAR = "var, and functions in functions"
    FUNCTION = "functions in blocks, in code that is not strict"
    PARAMETER = "parameters"
    CAUGHT = "the name in catch (name)"


_TOGETHER: Mapping[frozenset[Kind], bool] = {
    frozenset((Kind.VAR,)): True,
    frozenset((Kind.FUNCTION,)): True,
    frozenset((Kind.VAR, Kind.PARAMETER)): True,
    frozenset((Kind.VAR, Kind.CAUGHT)): True,
}
"""The kinds of which a scope may have two with one name. Parameters have a rule of their own."""

Place: TypeAlias = tuple[int, int, str]


class Declared(NamedTuple):
    """A declaration of a name: its leaf, kind and scopes, and the statement that exports it, if any."""

    leaf: Node
    kind: Kind
    scopes: tuple[Place, ...]
    export: Node | None


def is_strict(reading: Reading, path: Path) -> bool:
    """True if the code at *path* is certainly strict: that of a class, a module, or after `"use strict"`."""
    kinds = {node.type for node in path}
    if kinds & {"class_body", "class_heritage"} or is_module(reading):
        return True
    blocks = (node for node in path if node.type in ("program", "statement_block"))
    inner = (node.child_by_field_name("body") for node in path if node.type in FUNCTIONS)
    return any(_has_directive(node) for node in (*blocks, *inner) if node is not None)


def is_module(reading: Reading) -> bool:
    """True if the text has an import or an export."""
    has_word = b"import" in reading.data or b"export" in reading.data
    return has_word and any(node.type in _MODULE_ITEMS for node in reading.root.children)


def _has_directive(block: Node) -> bool:
    first = next((node for node in block.named_children if node.type not in _BEFORE_DIRECTIVE), None)
    return first is not None and text_of(first).rstrip(b"; \n")[1:-1] == b"use strict"


_BEFORE_DIRECTIVE = frozenset(("comment", "hash_bang_line"))


def declaration_at(reading: Reading, path: Path) -> Declared | None:
    """The declaration of a value whose name is the leaf of *path*; None if it is not known to be one."""
    at = len(path) - 1
    while at > 1 and _goes_on(path[at - 1], path[at]):
        at -= 1
    outer, inner = path[at - 1], path[at]
    kind = _kind(path[: at + 1], outer, inner)
    if kind is None or any(node.type == "ambient_declaration" for node in path):
        return None
    is_of_around = kind is Kind.LEXICAL and outer.type not in _OF_THEMSELVES
    of_function = outer.type in _DECLARED_FUNCTIONS
    start = at - 1 if is_of_around or of_function else at
    scopes = tuple(_scopes(path[:start]))
    export = next((node for node in path[max(0, at - 4) : at] if node.type == "export_statement"), None)
    kind = _in_scope(reading, path[:start], kind, outer) if of_function else kind
    scopes = scopes if kind is Kind.VAR and not of_function else scopes[:1]
    return Declared(path[-1], kind, scopes, export) if scopes else None


_OF_THEMSELVES = frozenset(("for_in_statement",))
_DECLARED_FUNCTIONS = frozenset(("function_declaration", "generator_function_declaration"))
_TARGETS: Mapping[str, str] = {
    "assignment_pattern": "left",
    "object_assignment_pattern": "left",
    "required_parameter": "pattern",
    "optional_parameter": "pattern",
    "pair_pattern": "value",
}
_WHOLE_PATTERNS = frozenset(("object_pattern", "array_pattern", "rest_pattern"))


def _goes_on(outer: Node, inner: Node) -> bool:
    """True if *inner* is a target in the pattern *outer*."""
    name = _TARGETS.get(outer.type)
    return outer.type in _WHOLE_PATTERNS or (name is not None and outer.child_by_field_name(name) == inner)


_NAMED: Mapping[str, Kind] = {
    "class_declaration": Kind.LEXICAL,
    "abstract_class_declaration": Kind.LEXICAL,
    "function_declaration": Kind.FUNCTION,
    "generator_function_declaration": Kind.FUNCTION,
}
_KINDS_OF_LIST: Mapping[str, Kind] = {"lexical_declaration": Kind.LEXICAL, "variable_declaration": Kind.VAR}
_WORDS: Mapping[bytes, Kind] = {b"let": Kind.LEXICAL, b"const": Kind.LEXICAL, b"var": Kind.VAR}


def _kind(path: Path, outer: Node, inner: Node) -> Kind | None:
    """The kind of the declaration *outer* of the name or pattern *inner*."""
    around = path[-3] if len(path) > 2 else outer
    if outer.type in _NAMED:
        is_name = outer.child_by_field_name("name") == inner and around.type in _STATEMENTS_IN
        return _NAMED[outer.type] if is_name else None
    if outer.type == "variable_declarator":
        return _KINDS_OF_LIST.get(around.type) if outer.child_by_field_name("name") == inner else None
    if outer.type == "for_in_statement" and outer.child_by_field_name("left") == inner:
        return _WORDS.get(text_of(outer.child_by_field_name("kind")))
    if outer.type == "formal_parameters":
        return Kind.PARAMETER if around.type in FUNCTIONS else None
    if outer.type == "arrow_function":
        return Kind.PARAMETER if outer.child_by_field_name("parameter") == inner else None
    if outer.type == "catch_clause" and outer.child_by_field_name("parameter") == inner:
        return Kind.CAUGHT if not inner.child_count else Kind.LEXICAL
    if outer.type in ("import_clause", "namespace_import", "import_specifier"):
        is_bound = outer.type != "import_specifier" or outer.named_children[-1] == inner
        return Kind.IMPORT if is_bound and inner.type == "identifier" else None
    return None


_STATEMENTS_IN = frozenset(
    ("program", "statement_block", "switch_case", "switch_default", "export_statement")
)


def _scopes(path: Path) -> Iterator[Place]:
    """The scopes around the end of *path*, the innermost first, up to that of a `var`."""
    for size in range(len(path), 0, -1):
        node = path[size - 1]
        is_body = node.type == "statement_block" and size > 1 and path[size - 2].type in _HAVE_BODY
        if node.type in _BLOCKS and not is_body:
            yield place_of(node)
            if node.type in _HOISTS:
                return


def _in_scope(reading: Reading, path: Path, kind: Kind, function: Node) -> Kind:
    """The kind of a declared *function* in the scope that ends *path*."""
    innermost = next(_scopes(path), None)
    if kind is not Kind.FUNCTION or innermost is None:
        return kind
    if innermost[2] == "program":
        return Kind.LEXICAL if is_module(reading) else Kind.VAR
    if innermost[2] in _HOISTS:
        return Kind.VAR
    is_plain = function.type == "function_declaration" and function.children[0].type != "async"
    return Kind.FUNCTION if is_plain and not is_strict(reading, path) else Kind.LEXICAL


@dataclass(frozen=True)
class DeclaredTwice:
    """Two declarations of one name in a scope. `typed` is TypeScript, where an import may be a type."""

    typed: bool

    def __call__(self, reading: Reading, path: Path) -> Sequence[Node] | None:
        """As in `Rule`, for a name."""
        one = declaration_at(reading, path)
        if one is None:
            return None
        for mention in reading.mentions(text_of(path[-1])):
            other = declaration_at(reading, mention)
            if other is None or mention[-1] == path[-1] or set(one.scopes).isdisjoint(other.scopes):
                continue
            if self._clash(reading, (path, mention), frozenset((one.kind, other.kind))):
                return _statement(path, one), _statement(mention, other)
        return None

    def _clash(self, reading: Reading, paths: Sequence[Path], kinds: frozenset[Kind]) -> bool:
        if kinds == {Kind.PARAMETER}:
            return self.typed or _has_unique_parameters(reading, paths[0])
        if self.typed and Kind.IMPORT in kinds:
            return kinds == {Kind.IMPORT} and not _has_types(*paths)
        return not _TOGETHER.get(kinds, False)


def _statement(path: Path, declared: Declared) -> Node:
    """The node that *declared* begins with: its statement, or a later name in that."""
    around = path[-2] if path[-2].type in _BEGIN_WITH_NAME else declared.leaf
    of_list = path[-3] if len(path) > 2 and path[-3].type in _KINDS_OF_LIST else None
    return of_list if of_list is not None and of_list.named_children[0] == around else around


_BEGIN_WITH_NAME = frozenset(_NAMED) | {"variable_declarator"}


def _has_types(*paths: Path) -> bool:
    """True if one of the imports at *paths* may be one of types."""
    return any(child.type == "type" for path in paths for node in path[1:] for child in node.children)


def _has_unique_parameters(reading: Reading, path: Path) -> bool:
    """True if the function with a parameter at *path* may not have two of one name."""
    at = max(number for number, node in enumerate(path) if node.type in FUNCTIONS)
    if path[at].type in ("arrow_function", "method_definition"):
        return True
    parameters = path[at].child_by_field_name("parameters")
    is_simple = parameters is not None and all(
        node.type in ("identifier", "comment") for node in parameters.named_children
    )
    return not is_simple or is_strict(reading, (*path[: at + 1], path[at]))


def exported_twice(reading: Reading, path: Path) -> Sequence[Node] | None:
    """As in `Rule`: a name under which a module exports two things."""
    name = _exported_name(reading, path)
    if name is None:
        return None
    for mention in reading.mentions(name):
        if mention[-1] != path[-1] and _exported_name(reading, mention) == name:
            return path[-1], mention[-1]
    return None


def _exported_name(reading: Reading, path: Path) -> bytes | None:
    """The name under which the leaf of *path* is exported by the module, as a value."""
    leaf, parent = path[-1], path[-2]
    outermost = next((node for node in reversed(path) if node.type == "export_statement"), None)
    if outermost is None or outermost != path[1] or "type" in _types_of(outermost):
        return None
    if parent.type == "export_specifier":
        name = parent.child_by_field_name("alias") or parent.child_by_field_name("name")
        is_name = name == leaf and "type" not in _types_of(parent)
        return text_of(leaf) if is_name else None
    if parent.type == "namespace_export":
        return text_of(leaf)
    is_default = "default" in _types_of(outermost)
    if leaf.type == "default" and parent == outermost:
        return b"default" if not _TYPES_ONLY & _types_of(outermost) else None
    declared = None if is_default else declaration_at(reading, path)
    if declared is None or declared.export != outermost or declared.scopes[-1] != place_of(path[0]):
        return None
    return text_of(leaf)


_TYPES_ONLY = frozenset(("interface_declaration", "function_signature", "interface"))


def _types_of(node: Node) -> set[str]:
    return {child.type for child in node.children}


@dataclass(frozen=True)
class ExportedUndeclared:
    """An export of a name that nothing declares. If `typed`, any other mention may declare it."""

    typed: bool

    def __call__(self, reading: Reading, path: Path) -> Sequence[Node] | None:
        """As in `Rule`, for a name in a list of exports."""
        specifier = path[-2]
        statement = path[1] if len(path) > 3 else None
        is_local = (
            specifier.type == "export_specifier"
            and specifier.child_by_field_name("name") == path[-1]
            and statement is not None
            and statement == path[-4]
            and statement.type == "export_statement"
            and statement.child_by_field_name("source") is None
            and reading.readable_to == len(reading.data)
        )
        if not is_local:
            return None
        others = [other for other in reading.mentions(text_of(path[-1])) if other[-1] != path[-1]]
        if self.typed:
            return None if others or not reading.mentions(text_of(path[-1])) else path[-1:]
        program = place_of(reading.root)
        declared = (declaration_at(reading, other) for other in others)
        is_declared = any(found is not None and program in found.scopes for found in declared)
        return None if is_declared or not reading.mentions(text_of(path[-1])) else path[-1:]
