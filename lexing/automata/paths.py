"""Which states of the automaton lead to which others, and by what text."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from fimlsp.lexing.automata.dfa import DEAD, Dfa

_DESCENDING = range(255, -1, -1)


class Paths:
    """The paths through an automaton.

    `behind[state]` is the bit set of the states that *state* leads to, itself included.
    """

    __slots__ = ("_exits", "_lengths", "_rows", "_successors", "behind")

    def __init__(self, dfa: Dfa) -> None:
        self._rows = dfa.rows
        self._exits: dict[int, tuple[tuple[int, bytes], ...]] = {}
        self._lengths: dict[int, dict[int, int]] = {}
        self._successors = [[state for state in dict.fromkeys(row) if state != DEAD] for row in dfa.rows]
        self.behind = _behind(self._successors)

    def _exits_of(self, state: int) -> tuple[tuple[int, bytes], ...]:
        """The successors of *state*, each with the smallest byte that leads there, ordered by that byte."""
        found = self._exits.get(state)
        if found is None:
            row = self._rows[state]
            firsts = {row[byte]: byte for byte in _DESCENDING}
            exits = ((following, bytes((firsts[following],))) for following in self._successors[state])
            found = self._exits[state] = tuple(exits)
        return found

    def prepare(self, starts: Iterable[int]) -> None:
        """Find now where each of *starts* leads to."""
        for start in starts:
            self.lengths_from(start)

    def lengths_from(self, start: int) -> dict[int, int]:
        """The states that *start* leads to, itself included, and the fewest bytes that do; these ascend."""
        found = self._lengths.get(start)
        if found is None:
            found = self._lengths[start] = {start: 0}
            layer, length = [start], 0
            while layer:
                length += 1
                after = {each: None for state in layer for each in self._successors[state]}
                layer = [state for state in after if state not in found]
                found.update(dict.fromkeys(layer, length))
        return found

    def way_to(self, state: int, goals: Iterable[int]) -> bytes | None:
        """A shortest byte string that leads from *state* to one of *goals*; None if there is none."""
        goals = self._among(state, goals)
        found: dict[int, bytes] = {state: b""}
        waiting = deque(found if goals else ())
        while waiting:
            current = waiting.popleft()
            if current in goals:
                return found[current]
            for following, byte in self._exits_of(current):
                if following not in found:
                    found[following] = found[current] + byte
                    waiting.append(following)
        return None

    def _among(self, state: int, goals: Iterable[int]) -> frozenset[int]:
        """Those of *goals* that *state* leads to."""
        behind = self.behind[state]
        return frozenset(goal for goal in goals if behind >> goal & 1)


def _behind(successors: list[list[int]]) -> list[int]:
    """For each state the bit set of those that it leads to, itself included."""
    found = [1 << state for state in range(len(successors))]
    order = _successors_first(successors)
    changed = True
    while changed:  # as often as loops lie behind one another
        changed = False
        for state in order:
            bits = before = found[state]
            for following in successors[state]:
                bits |= found[following]
            if bits != before:
                found[state] = bits
                changed = True
    return found


def _successors_first(successors: list[list[int]]) -> list[int]:
    """All states, each behind those that it leads to, but for loops: depth first."""
    found: list[int] = []
    seen: set[int] = set()
    for root in range(len(successors)):
        if root in seen:
            continue
        seen.add(root)
        path = [(root, iter(successors[root]))]
        while path:
            state, rest = path[-1]
            following = next((each for each in rest if each not in seen), None)
            if following is None:
                found.append(state)
                path.pop()
            else:
                seen.add(following)
                path.append((following, iter(successors[following])))
    return found
