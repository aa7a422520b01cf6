"""What nodes that are open on both sides of a cursor have between the two.

A node is open on both sides where the left has begun a rule that the right has ended. Then either both are in
the same child, which is open on both sides as well, or the middle has the rest of a child that is open on the
left, whole children, and the beginning of one that is open on the right.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from fimlsp.lexing.values import value
from fimlsp.quotient.earley.open_rules import Child, Open, OpenRules, OpenSuite, RulesByNumber
from fimlsp.quotient.grammar.rules import Rhs


@value
class CommonNodes:
    """The nodes of two spines that may be the same, the outermost first.

    `between` has for each way to read one of them the child that is begun left, what stands behind it, and
    the child that is ended right. `suites` are the symbols of the blocks that may be open on both sides.
    """

    between: tuple[tuple[Child, Rhs, Child], ...]
    suites: tuple[int, ...]


def find_common_nodes(
    left: OpenRules, right: OpenRules, begun: Open, ended: Open, repetitions: Mapping[int, int]
) -> CommonNodes:
    """All nodes in the one that has *begun* on the left and *ended* on the right, itself included.

    *repetitions* maps symbols to those they repeat. O(open rules of both).
    """
    between: list[tuple[Child, Rhs, Child]] = []
    suites: dict[int, None] = {}
    both = {(begun, ended): None} if begun in left else {}
    waiting = deque(both)
    while waiting:
        begun, ended = waiting.popleft()
        for before, inner, after in _ways(left, right, begun, ended, repetitions):
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


def _ways(
    left: OpenRules, right: OpenRules, begun: Open, ended: Open, repetitions: Mapping[int, int]
) -> Iterator[tuple[Child, Rhs | None, Child]]:
    """How a node is begun and ended: by which children, and what stands between these.

    That is None if both sides are in the same child.
    """
    if begun[0] in repetitions:
        element = repetitions[begun[0]]
        return _in_elements(begun[0], _elements(left[begun], element), _elements(right[ended], element))
    return _in_rules(left.finder.rules.rhs, left[begun], right[ended])


def _in_rules(
    sides: Sequence[Rhs], lefts: RulesByNumber, rights: RulesByNumber
) -> Iterator[tuple[Child, Rhs | None, Child]]:
    for rule in [rule for rule in lefts if rule in rights]:
        side = sides[rule]
        for begin, left in lefts[rule]:
            first = begin + (left is not None)
            for ended, right in rights[rule]:
                end = len(side) - ended
                last = end - (right is not None)
                if first <= last:
                    yield left, side[first:last], right
                elif left is not None and right is not None and begin + 1 == end:
                    yield left, None, right


def _in_elements(
    repetition: int, lefts: Sequence[Child], rights: Sequence[Child]
) -> Iterator[tuple[Child, Rhs | None, Child]]:
    """A repetition is begun and ended in elements, or between two of them."""
    for left in lefts:
        for right in rights:
            yield left, (), right
            yield left, (repetition,), right
            if left is not None and right is not None:
                yield left, None, right


def _elements(rules: RulesByNumber, element: int) -> list[Child]:
    """How the elements of a repetition stand at the cursor: between two (None), or in an open one."""
    children = dict.fromkeys([child for ways in rules.values() for _, child in ways])
    return [c for c in children if c is None or (not isinstance(c, OpenSuite) and c[0] == element)]
