"""Compiles the terminals of a language into one minimal DFA over bytes.

The DFA serves all modes of the lexer: each mode has its own start state, and the states behind are shared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import itemgetter

from fimlsp.lexing.automata.nfa import Nfa, Terminals, byte_classes, thompson

DEAD = 0
"""The state from which no accepting state can be reached."""

_APART = -2  # no kind
Rows = list[tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class CompactDfa:
    """A minimal DFA with one column per byte class: the form in which it is stored on disk."""

    classes: bytes
    """classes[byte] is the byte's column."""
    rows: tuple[tuple[int, ...], ...]
    """rows[state][column] is the next state."""
    accepts: tuple[int, ...]  # this and the following fields are those of `Dfa`
    live: tuple[int, ...]
    starts: Mapping[str, int] = field(hash=False)
    kinds: tuple[str, ...]

    def expand(self) -> Dfa:
        """The same DFA with one column per byte. Takes about 5 microseconds per state."""
        widen = itemgetter(*self.classes)
        return Dfa(tuple(map(widen, self.rows)), self.accepts, self.live, self.starts, self.kinds)


@dataclass(frozen=True, slots=True)
class Dfa:
    """A minimal deterministic finite automaton over bytes, shared by all modes of the lexer."""

    rows: tuple[tuple[int, ...], ...]
    """rows[state][byte] is the next state; state 0 is `DEAD`."""
    accepts: tuple[int, ...]
    """accepts[state] is the number of the lexeme kind accepted there, -1 if there is none."""
    live: tuple[int, ...]
    """live[state] is the bit set of the kinds accepted at the state or at any state reachable from it."""
    starts: Mapping[str, int] = field(hash=False)
    """The start state of each mode."""
    kinds: tuple[str, ...]
    """The name of each lexeme kind, by number."""

    def run(self, state: int, data: bytes) -> int:
        """The state that `data` leads to from `state`. O(len(data))."""
        for byte in data:
            state = self.rows[state][byte]
        return state


def compile_terminals(terminals: Terminals) -> CompactDfa:
    """The minimal DFA of the terminals. Takes seconds for a whole language; see `table_cache`."""
    nfa = thompson(terminals)
    classes = byte_classes(nfa)
    rows, accepts, starts = _subsets(nfa, classes)
    return minimised(classes, rows, accepts, starts, terminals.kinds)


def minimised(
    classes: bytes,
    rows: Rows,
    accepts: list[int],
    starts: Mapping[str, int],
    kinds: tuple[str, ...],
    *,
    apart: int | None = None,
) -> CompactDfa:
    """The minimal DFA that is equivalent to the one with these parts, whose state 0 is `DEAD`.

    The state *apart* is not merged with any other, even if nothing tells them apart.
    """
    labels = [_APART if state == apart else kind for state, kind in enumerate(accepts)]
    block = _equivalent(rows, labels)
    members = [block.index(number) for number in range(max(block) + 1)]
    merged = tuple(tuple(block[target] for target in rows[member]) for member in members)
    merged_accepts = tuple(accepts[member] for member in members)
    return CompactDfa(
        classes,
        merged,
        merged_accepts,
        _live(merged, merged_accepts),
        {mode: block[state] for mode, state in starts.items()},
        kinds,
    )


def _subsets(nfa: Nfa, classes: bytes) -> tuple[Rows, list[int], dict[str, int]]:
    """Subset construction (Rabin and Scott 1959).

    Returns rows by byte class, accepted kinds and start states.
    """
    moves = _moves(nfa, classes)
    numbers: dict[frozenset[int], int] = {frozenset(): DEAD}
    starts = {
        mode: numbers.setdefault(nfa.closure(states), len(numbers)) for mode, states in nfa.starts.items()
    }
    pending, rows = list(numbers), []
    for subset in pending:
        targets = _step(moves, subset, max(classes) + 1)
        pending.extend(target for target in dict.fromkeys(targets) if target not in numbers)
        rows.append(tuple(numbers.setdefault(target, len(numbers)) for target in targets))
    return rows, [_winner(nfa, subset) for subset in pending], starts


def _winner(nfa: Nfa, subset: frozenset[int]) -> int:
    """The kind that a set of NFA states accepts: of several the one declared first, -1 if there is none."""
    return min((nfa.accepts[state] for state in subset if state in nfa.accepts), default=-1)


def _moves(nfa: Nfa, classes: bytes) -> list[list[tuple[int, frozenset[int]]]]:
    """For each NFA state its outgoing byte classes, each with the closure of the states that it leads to."""
    closures = [nfa.closure([state]) for state in range(len(nfa.edges))]
    sets = {members for edges in nfa.edges for members, _ in edges}
    columns = {members: sorted({classes[byte] for byte in members}) for members in sets}
    return [
        [(column, closures[target]) for members, target in edges for column in columns[members]]
        for edges in nfa.edges
    ]


def _step(
    moves: list[list[tuple[int, frozenset[int]]]], subset: frozenset[int], width: int
) -> list[frozenset[int]]:
    """The set of NFA states that each byte class leads to from `subset`."""
    targets: list[set[int]] = [set() for _ in range(width)]
    for state in subset:
        for column, reached in moves[state]:
            targets[column] |= reached
    return list(map(frozenset, targets))


def _equivalent(rows: Rows, accepts: list[int]) -> list[int]:
    """The equivalence class of each state, by partition refinement (Moore 1956); `DEAD` is in class 0."""
    selectors = [itemgetter(*row) for row in rows]
    block, count = accepts, 0
    while True:
        numbers: dict[tuple[int, tuple[int, ...]], int] = {}
        block = [
            numbers.setdefault((own, select(block)), len(numbers))
            for own, select in zip(block, selectors, strict=True)
        ]
        if len(numbers) == count:
            return block
        count = len(numbers)


def _live(rows: tuple[tuple[int, ...], ...], accepts: tuple[int, ...]) -> tuple[int, ...]:
    """For each state the bit set of kinds that can still be accepted, by propagation backwards."""
    sources: list[set[int]] = [set() for _ in rows]
    for state, row in enumerate(rows):
        for target in set(row):
            sources[target].add(state)
    live = [1 << kind if kind >= 0 else 0 for kind in accepts]
    pending = list(range(len(rows)))
    while pending:
        state = pending.pop()
        grown = [source for source in sources[state] if live[source] | live[state] != live[source]]
        for source in grown:
            live[source] |= live[state]
        pending.extend(grown)
    return tuple(live)
