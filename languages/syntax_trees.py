"""Trees of whole texts, and rules that hold back suggestions with certain faults.

tree-sitter reads a text and its faults quickly, but not as exactly as the engine does. So the trees decide
about no middle. Nothing is held back where a tree has errors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TypeAlias

from tree_sitter import Language, Node, Parser, Point, Tree

from fimlsp.languages.suggested_lines import LinesPolicy

_MOST_READ = 200_000
_MOST_MENTIONS = 200
_IN_WORD = re.compile(rb"[\w$\x80-\xff]")
Path: TypeAlias = tuple[Node, ...]
"""The nodes around a place, from the whole text to a leaf."""


@dataclass(frozen=True)
class Reading:
    """The tree of a text whose bytes from `begin` to `end` are suggested."""

    data: bytes
    begin: int
    end: int
    tree: Tree

    @cached_property
    def root(self) -> Node:
        """The whole text."""
        return self.tree.root_node

    @cached_property
    def readable_to(self) -> int:
        """The offset up to which the tree has no errors: that of the first statement with one."""
        if not self.root.has_error:
            return len(self.data)
        if self.root.is_error:
            return 0
        return next((child.start_byte for child in self.root.children if child.has_error), 0)

    def path(self, offset: int) -> Path:
        """The nodes around the byte at *offset*."""
        nodes, cursor = [self.root], self.root.walk()
        while cursor.goto_first_child_for_byte(offset) is not None:
            node = cursor.node
            if node is None or node.start_byte > offset:
                break
            nodes.append(node)
        return tuple(nodes)

    def suggested_leaves(self) -> Iterator[Node]:
        """The leaves with suggested bytes, in their order."""
        around = self.root.descendant_for_byte_range(self.begin, max(self.begin, self.end - 1))
        waiting = [around or self.root]
        while waiting:
            node = waiting.pop()
            if node.start_byte < self.end and node.end_byte > self.begin:
                if not node.child_count:
                    yield node
                waiting += reversed(node.children)

    def mentions(self, name: bytes) -> list[Path]:
        """The leaves with the text *name*; none if the word is there too often to look at all."""
        offsets, at = list[int](), self.data.find(name, 0, self.readable_to)
        while at >= 0 and name:
            around = self.data[max(0, at - 1) : at], self.data[at + len(name) : at + len(name) + 1]
            if not any(map(_IN_WORD.match, around)):
                offsets.append(at)
            at = self.data.find(name, at + len(name), self.readable_to)
        if len(offsets) > _MOST_MENTIONS:
            return []
        return [path for path in map(self.path, offsets) if text_of(path[-1]) == name]

    def offset_of(self, fault: Sequence[Node]) -> int | None:
        """The offset in the suggestion of the last part of *fault* with bytes in it, if one has any."""
        parts = (node for node in fault if node.start_byte < self.end and node.end_byte > self.begin)
        starts = [node.start_byte for node in parts]
        return max(0, max(starts) - self.begin) if starts else None


Rule: TypeAlias = Callable[[Reading, Path], "Sequence[Node] | None"]
"""From a leaf to the parts of a fault that starts there, or to None."""


def around(path: Path, kinds: Set[str], until: Set[str] = frozenset()) -> Iterator[Path]:
    """The paths of the nodes around *path* of some *kinds*, innermost first, up to one of a kind *until*.

    A function is not around its computed name, nor around its decorators.
    """
    for size in range(len(path) - 1, 0, -1):
        outer, inner = path[size - 1], path[size]
        if inner.type in _BEFORE_FUNCTION:
            continue
        if outer.type in kinds:
            yield path[:size]
        if outer.type in until:
            return


_BEFORE_FUNCTION = frozenset(("computed_property_name", "decorator"))


def text_of(node: Node | None) -> bytes:
    """The text of *node*; empty without one."""
    return b"" if node is None else node.text or b""


def place_of(node: Node) -> tuple[int, int, str]:
    """A value by which nodes of one tree are equal."""
    return node.start_byte, node.end_byte, node.type


class _Trees:
    """Reads texts of one grammar; one that differs from the last only in the suggestion is read in part."""

    def __init__(self, grammar: Language) -> None:
        self._parser = Parser(grammar)
        self._last: tuple[bytes, bytes, bytes, Tree] | None = None

    def read(self, left: bytes, text: bytes, right: bytes) -> Reading:
        """The tree of all three."""
        data, begin, end = left + text + right, len(left), len(left) + len(text)
        edited = None
        if self._last is not None and self._last[0] == left and self._last[2] == right:
            edited = self._last[3].copy()
            old_end = begin + len(self._last[1])
            ends = _point(self._last[0] + self._last[1]), _point(data[:end])
            edited.edit(begin, old_end, end, _point(left), *ends)
        tree = self._parser.parse(data) if edited is None else self._parser.parse(data, edited)
        self._last = left, text, right, tree
        return Reading(data, begin, end, tree)


def _point(text: bytes) -> Point:
    """The row and the column at the end of *text*."""
    return Point(text.count(b"\n"), len(text) - text.rfind(b"\n") - 1)


def _go() -> object:
    from tree_sitter_go import language

    return language()


def _javascript() -> object:
    from tree_sitter_javascript import language

    return language()


def _lua() -> object:
    from tree_sitter_lua import language

    return language()


def _tsx() -> object:
    from tree_sitter_typescript import language_tsx

    return language_tsx()


def _typescript() -> object:
    from tree_sitter_typescript import language_typescript

    return language_typescript()


_GRAMMARS = {"go": _go, "javascript": _javascript, "lua": _lua, "tsx": _tsx, "typescript": _typescript}


@cache
def _trees(grammar: str) -> _Trees:
    return _Trees(Language(_GRAMMARS[grammar]()))


def first_fault(
    grammar: str, rules: Mapping[str, Sequence[Rule]], left: bytes, text: bytes, right: bytes
) -> int | None:
    """The offset in *text* of the first fault by *rules*, which belong to kinds of leaves. O(text)."""
    if len(left) + len(text) + len(right) > _MOST_READ or not text.strip():
        return None
    reading = _trees(grammar).read(left, text, right)
    found = (
        reading.offset_of(fault)
        for leaf in reading.suggested_leaves()
        if leaf.type in rules and leaf.end_byte <= reading.readable_to
        for path in (reading.path(leaf.start_byte),)
        for rule in rules[leaf.type]
        for fault in (rule(reading, path),)
        if fault is not None
    )
    return min((offset for offset in found if offset is not None), default=None)


@dataclass(frozen=True)
class TreePolicy(LinesPolicy):
    """The policy of lines, which also holds back the faults that `rules` find in the tree of the text.

    `grammar` is one of tree-sitter. `rules` are by the kind of the leaf that they start from.
    """

    grammar: str = ""
    rules: Mapping[str, Sequence[Rule]] = field(default_factory=dict, hash=False)

    def first_unwanted(self, left: bytes, text: bytes, right: bytes) -> int | None:
        """As in `EditorPolicy`."""
        issues = (
            super().first_unwanted(left, text, right),
            first_fault(self.grammar, self.rules, left, text, right),
        )
        return min((issue for issue in issues if issue is not None), default=None)
