"""Rules of jumps and labels: `break` outside of loops, labels that are not there, and labels used twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from tree_sitter import Node

from fimlsp.languages.syntax_trees import Path, Reading, Rule, around, place_of, text_of


@dataclass(frozen=True)
class OnlyIn:
    """A word that stands only in some `places`, and not in a function `until` which is in one.

    A jump with a label is no fault of this rule.
    """

    places: Set[str]
    until: Set[str]

    def __call__(self, reading: Reading, path: Path) -> Sequence[Node] | None:
        """As in `Rule`."""
        del reading
        statement = path[-2] if path[-1].type in path[-2].type else path[-1]
        has_label = any(child.type in _LABELS for child in statement.children)
        if has_label or any(True for _ in around(path, self.places, self.until)):
            return None
        return path[-1:]


_LABELS = frozenset(("statement_identifier", "label_name"))


@dataclass(frozen=True)
class EnclosingLabels:
    """Labels of statements around a jump, as in JavaScript. `loops` are those that `continue` may name.

    Such labels are in use from their statement up to its end, and not in a function of the kinds `functions`.
    """

    loops: Set[str]
    functions: Set[str]

    def __call__(self, reading: Reading, path: Path) -> Sequence[Node] | None:
        """As in `Rule`, for a label at its statement or in a jump."""
        del reading
        leaf, parent = path[-1], path[-2]
        is_label = parent.type == "labeled_statement"
        labelled = around(path[:-1] if is_label else path, {"labeled_statement"}, self.functions)
        same = [outer[-1] for outer in labelled if _label_of(outer[-1]) == text_of(leaf)]
        if is_label:
            return (*(_label_node(other) for other in same), leaf) if same else None
        if not same:
            return (leaf,)
        is_wrong = parent.type == "continue_statement" and _labelled(same[0]).type not in self.loops
        return (leaf,) if is_wrong else None


@dataclass(frozen=True)
class LabelsOfGo:
    """Labels of a function in Go: each is used and declared once, and no jump goes into a block."""

    functions: Set[str]
    left_by_break: Set[str]
    loops: Set[str]

    def __call__(self, reading: Reading, path: Path) -> Sequence[Node] | None:
        """As in `Rule`, for a label at its statement or in a jump."""
        leaf, parent = path[-1], path[-2]
        mentions = [
            other
            for other in reading.mentions(text_of(leaf))
            if other[-1].type == "label_name" and self._function(other) == self._function(path)
        ]
        declared = [other for other in mentions if other[-2].type == "labeled_statement"]
        if not mentions or self._function(path) is None:
            return None
        if parent.type == "labeled_statement":
            return [other[-1] for other in declared] if len(declared) > 1 or declared == mentions else None
        if parent.type == "goto_statement":
            return None if any(_is_reached(path, other) for other in declared) else (leaf,)
        kinds = self.loops if parent.type == "continue_statement" else self.left_by_break
        labelled = [outer[-1] for outer in around(path, {"labeled_statement"}, self.functions)]
        same = [outer for outer in labelled if _label_of(outer) == text_of(leaf)]
        return None if any(_labelled(outer).type in kinds for outer in same) else (leaf,)

    def _function(self, path: Path) -> tuple[int, int, str] | None:
        return next((place_of(outer[-1]) for outer in around(path, self.functions)), None)


def _is_reached(jump: Path, label: Path) -> bool:
    """True if *jump* may go to *label* in Go: into no block, and over no declaration of a variable."""
    lists = [outer[-1] for outer in around(label, {"statement_list"})]
    block = next((node for node in jump if place_of(node) == place_of(lists[0])), None)
    if block is None:
        return False
    between = _between(block, jump[-1].start_byte, label[-1].start_byte)
    return not any(node.type in ("short_var_declaration", "var_declaration") for node in between)


def _between(block: Node, begin: int, end: int) -> Iterator[Node]:
    """The statements of *block* between two offsets."""
    return (node for node in block.children if begin < node.start_byte < end)


def _label_node(statement: Node) -> Node:
    return statement.child_by_field_name("label") or statement


def _label_of(statement: Node) -> bytes:
    return text_of(_label_node(statement))


def _labelled(statement: Node) -> Node:
    """The statement under all its labels."""
    while statement.type == "labeled_statement" and statement.named_child_count > 1:
        statement = statement.named_child(statement.named_child_count - 1)
    return statement


FUNCTIONS_OF_LUA = frozenset(("function_declaration", "function_definition"))


def labels_of_lua(reading: Reading, path: Path) -> Sequence[Node] | None:
    """A `goto` whose label no block around it has, or two labels of one name, as `load` refuses them."""
    leaf, parent = path[-1], path[-2]
    if parent.type not in ("goto_statement", "label_statement"):
        return None
    function = _function_of_lua(path)
    labels = [
        other
        for other in reading.mentions(text_of(leaf))
        if other[-2].type == "label_statement" and _function_of_lua(other) == function
    ]
    visible = [label for label in labels if _is_in(path, label[-3])]
    if parent.type == "goto_statement":
        return None if any(not _enters_local(path, label) for label in visible) else (leaf,)
    others = [label[-1] for label in visible if label[-1] != leaf]
    before = [other for other in others if other.start_byte < leaf.start_byte]
    return (*before, leaf) if before else None


def _function_of_lua(path: Path) -> tuple[int, int, str] | None:
    return next((place_of(outer[-1]) for outer in around(path, FUNCTIONS_OF_LUA)), None)


def _is_in(path: Path, block: Node) -> bool:
    return any(place_of(node) == place_of(block) for node in path)


def _enters_local(jump: Path, label: Path) -> bool:
    """True if *jump* goes forward over a `local` whose scope has not ended at *label*."""
    block, end = label[-3], label[-1].start_byte
    declared = any(
        node.child_count and node.children[0].type == "local"
        for node in _between(block, jump[-1].start_byte, end)
    )
    after = [node for node in block.named_children if node.start_byte > end and node.type not in _VOID]
    is_last = not after and label[-4].type != "repeat_statement" if len(label) > 3 else not after
    return declared and not is_last


_VOID = frozenset(("label_statement", "comment", "empty_statement"))


_FUNCTIONS_OF_GO = frozenset(("function_declaration", "method_declaration", "func_literal"))
_LOOPS_OF_GO = frozenset(("for_statement",))
_LEFT_BY_BREAK = _LOOPS_OF_GO | {"expression_switch_statement", "type_switch_statement", "select_statement"}

GO_RULES: Mapping[str, Sequence[Rule]] = {
    "break": (OnlyIn(_LEFT_BY_BREAK, _FUNCTIONS_OF_GO),),
    "continue": (OnlyIn(_LOOPS_OF_GO, _FUNCTIONS_OF_GO),),
    "label_name": (LabelsOfGo(_FUNCTIONS_OF_GO, _LEFT_BY_BREAK, _LOOPS_OF_GO),),
}
"""Jumps and labels of Go, as its compiler checks them ("Labeled statements" to "Goto statements")."""

LUA_RULES: Mapping[str, Sequence[Rule]] = {"identifier": (labels_of_lua,)}
"""Jumps and labels of Lua 5.4 (reference manual, section 3.3.4)."""
