"""For each node begun before and finished after the cursor, finds the symbols missing in between.

A node is open on both sides if the left context has begun a rule that the right context finishes. Either both
contexts are in the same child, which is then open on both sides too. Or the middle consists of the suffix of
a child that is open on the left, whole children, and the prefix of a child that is open on the right.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from fimlsp.lexing.interruption import checkpoint
from fimlsp.lexing.values import value
from fimlsp.quotient.earley.open_rules import Child, Open, OpenRules, OpenSuite, RulesByNumber
from fimlsp.quotient.grammar.rules import Rhs


@value
class CommonNodes:
    """What the nodes that are open on both sides lack, outermost node first.

    `between` holds for each such node, and each rule and position, the child that is open on the left, the
    symbols missing after it, and the child that is open on the right. `suites` are the symbols of the blocks
    that may be open on both sides.
    """

    between: tuple[tuple[Child, Rhs, Child], ...]
    suites: tuple[int, ...]

    @property
    def weight(self) -> int:
        """About how many bytes of memory they take."""
        return 300 + 150 * len(self.between)


def find_common_nodes(
    left: OpenRules, right: OpenRules, left_node: Open, right_node: Open, repetitions: Mapping[int, int]
) -> CommonNodes:
    """What the nodes open on both sides lack, for a given node and all nodes inside it.

    That node is *left_node* among the open rules of the *left* and *right_node* among those of the *right*.
    *repetitions* maps each repetition to its element, as in `Grammar`. O(open rules of both sides).
    """
    between: list[tuple[Child, Rhs, Child]] = []
    suites: dict[int, None] = {}
    both = {(left_node, right_node): None} if left_node in left else {}
    waiting = deque(both)
    while waiting:
        checkpoint()
        left_node, right_node = waiting.popleft()
        for before, inner, after in _gaps(left, right, left_node, right_node, repetitions):
            if inner is not None:
                between.append((before, inner, after))
            elif isinstance(before, OpenSuite):
                suites[before.suite] = None
            else:
                assert isinstance(before, tuple)
                assert isinstance(after, tuple)
                if (before, after) not in both:
                    both[before, after] = None
                    waiting.append((before, after))
    return CommonNodes(tuple(between), tuple(suites))


def _gaps(
    left: OpenRules, right: OpenRules, left_node: Open, right_node: Open, repetitions: Mapping[int, int]
) -> Iterator[tuple[Child, Rhs | None, Child]]:
    """Each way to match the two sides of a node: open child left, symbols missing, open child right.

    The missing symbols are None if both sides are in the same child.
    """
    if left_node[0] in repetitions:
        element = repetitions[left_node[0]]
        return _in_elements(
            left_node[0], _elements(left[left_node], element), _elements(right[right_node], element)
        )
    return _in_rules(left.finder.rules.rhs, left[left_node], right[right_node])


def _in_rules(
    rhs_of: Sequence[Rhs], lefts: RulesByNumber, rights: RulesByNumber
) -> Iterator[tuple[Child, Rhs | None, Child]]:
    for rule in [rule for rule in lefts if rule in rights]:
        rhs = rhs_of[rule]
        for dot, left in lefts[rule]:
            first = dot + (left is not None)
            for n_read, right in rights[rule]:
                end = len(rhs) - n_read
                last = end - (right is not None)
                if first <= last:
                    yield left, rhs[first:last], right
                elif left is not None and right is not None and dot + 1 == end:
                    yield left, None, right


def _in_elements(
    repetition: int, lefts: Sequence[Child], rights: Sequence[Child]
) -> Iterator[tuple[Child, Rhs | None, Child]]:
    """As `_gaps` for a repetition: each context is inside an element or between two elements."""
    for left in lefts:
        for right in rights:
            yield left, (), right
            yield left, (repetition,), right
            if left is not None and right is not None:
                yield left, None, right


def _elements(rules: RulesByNumber, element: int) -> list[Child]:
    """The elements of a repetition that may be open at the cursor; None if it may be between two of them."""
    children = dict.fromkeys([child for ways in rules.values() for _, child in ways])
    return [c for c in children if c is None or (not isinstance(c, OpenSuite) and c[0] == element)]
