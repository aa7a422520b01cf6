"""Compiles the terminals of a language into one minimal DFA over bytes, and caches it on disk.

The terminals are data: for each mode of the lexer a tuple of rules, each a kind of lexeme with a regular
expression. Thompson's construction ("Regular Expression Search Algorithm", CACM 11(6), 1968) makes an NFA of
them, which the subset construction and a minimisation turn into the DFA. It serves all modes of the lexer:
each mode has its own start state, and the modes share all other states.
"""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from operator import itemgetter

from fimlsp.lexing.automata.cached_files import cache_folder, read_cached, write_cached
from fimlsp.lexing.automata.regex import Choice, Many, OneByte, Regex, Sequence


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """States that what `pattern` matches is a lexeme of kind `kind`. Rules are compared by identity."""

    kind: str
    pattern: Regex


@dataclass(frozen=True, slots=True)
class Terminals:
    """All lexemes of a language, by mode of the lexer.

    If two kinds match the same bytes, the first one wins.
    """

    modes: Mapping[str, tuple[Rule, ...]] = field(hash=False)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The names of the kinds, in the order of their first rules; a kind's number is its index."""
        return tuple(dict.fromkeys(rule.kind for rules in self.modes.values() for rule in rules))


@dataclass(frozen=True, slots=True, eq=False)
class Nfa:
    """A nondeterministic finite automaton over bytes. Its states are the integers from 0."""

    edges: list[list[tuple[frozenset[int], int]]] = field(default_factory=list)
    """For each state its edges: a set of bytes and the state that they lead to."""
    epsilons: list[list[int]] = field(default_factory=list)
    """For each state the targets of its epsilon edges, which read nothing."""
    accepts: dict[int, int] = field(default_factory=dict)
    """The kind accepted by each accepting state."""
    starts: dict[str, list[int]] = field(default_factory=dict)
    """The start states of each mode."""

    def closure(self, states: list[int]) -> frozenset[int]:
        """The epsilon closure of the states, without those that neither have a byte edge nor accept."""
        reached, pending = set(states), list(states)
        while pending:
            fresh = [state for state in self.epsilons[pending.pop()] if state not in reached]
            reached.update(fresh)
            pending.extend(fresh)
        return frozenset(state for state in reached if self.edges[state] or state in self.accepts)


def thompson(terminals: Terminals) -> Nfa:
    """The NFA of all modes. A rule that occurs in several modes is built once, and they share its states."""
    nfa = Nfa()
    numbers = {kind: number for number, kind in enumerate(terminals.kinds)}
    entries: dict[Rule, int] = {}
    for mode, rules in terminals.modes.items():
        for rule in rules:
            if rule not in entries:
                entries[rule] = _state(nfa)
                nfa.accepts[_extend(nfa, entries[rule], rule.pattern)] = numbers[rule.kind]
        nfa.starts[mode] = [entries[rule] for rule in rules]
    return nfa


def byte_classes(nfa: Nfa) -> bytes:
    """The class of each of the 256 bytes. Bytes of one class label exactly the same edges."""
    sets = {members for edges in nfa.edges for members, _ in edges}
    classes: dict[tuple[bool, ...], int] = {}
    signatures = (tuple(byte in members for members in sets) for byte in range(256))
    return bytes(classes.setdefault(signature, len(classes)) for signature in signatures)


def _state(nfa: Nfa) -> int:
    """Add a state."""
    nfa.edges.append([])
    nfa.epsilons.append([])
    return len(nfa.edges) - 1


def _extend(nfa: Nfa, source: int, pattern: Regex) -> int:
    """Add states that read `pattern` from `source` on; returns the last one.

    No new edge leads back to `source`.
    """
    match pattern:
        case OneByte(members):
            target = _state(nfa)
            nfa.edges[source].append((members, target))
        case Sequence(parts):
            target = source
            for part in parts:
                target = _extend(nfa, target, part)
        case Choice(options):
            ends = [_extend(nfa, source, option) for option in options]
            target = _state(nfa)
            for end in ends:
                nfa.epsilons[end].append(target)
        case Many(body):
            target = _state(nfa)
            nfa.epsilons[source].append(target)
            nfa.epsilons[_extend(nfa, target, body)].append(target)
    return target


DEAD = 0
"""The state from which no accepting state can be reached."""

_APART = -2  # the label of a state that is never merged; not a kind
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


def side_by_side(parts: Mapping[str, Dfa]) -> Dfa:
    """One DFA of *parts*, the automata of modes, each of which has a single start; they share `DEAD` alone.

    Kinds of the same name become one.
    """
    rows: list[tuple[int, ...]] = [(DEAD,) * 256]
    accepts, live = [-1], [0]
    starts: dict[str, int] = {}
    number: dict[str, int] = {}
    for mode, part in parts.items():
        shift = len(rows) - 1
        kinds = [number.setdefault(kind, len(number)) for kind in part.kinds]
        (begin,) = part.starts.values()
        starts[mode] = begin + shift
        rows += [tuple([target and target + shift for target in row]) for row in part.rows[1:]]
        accepts += [kinds[kind] if kind >= 0 else -1 for kind in part.accepts[1:]]
        live += [sum(1 << kind for n, kind in enumerate(kinds) if bits >> n & 1) for bits in part.live[1:]]
    return Dfa(tuple(rows), tuple(accepts), tuple(live), starts, tuple(number))


def compile_terminals(terminals: Terminals) -> CompactDfa:
    """The minimal DFA of the terminals. Takes seconds for a whole language; see `cached`."""
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

    The state *apart* is never merged, even with an equivalent state.
    """
    labels = [_APART if state == apart else kind for state, kind in enumerate(accepts)]
    block = equivalent(rows, labels)
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


def trimmed(
    classes: bytes,
    rows: Rows,
    accepts: list[int],
    starts: Mapping[str, int],
    kinds: tuple[str, ...],
    *,
    apart: int,
) -> CompactDfa:
    """As `minimised`, but only the states that lead to no accepting one are merged, with `DEAD`."""
    live = _live(tuple(rows), tuple(accepts))
    kept = [0, *(state for state, bits in enumerate(live) if bits or state == apart)]
    number = dict.fromkeys(range(len(rows)), DEAD) | {state: new for new, state in enumerate(kept)}
    return CompactDfa(
        classes,
        tuple(tuple(number[target] for target in rows[state]) for state in kept),
        tuple(accepts[state] for state in kept),
        tuple(live[state] for state in kept),
        {mode: number[state] for mode, state in starts.items()},
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
    """The kind that a set of NFA states accepts: the first declared of several, -1 for none."""
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


def equivalent(rows: Rows, accepts: list[int]) -> list[int]:
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


LARGEST_FILE = 1 << 26
"""Size limit in bytes; the DFA of a whole language takes 0.6 MB."""

_DAMAGED = "Cannot read the stored automaton: it is damaged. Delete the file to rebuild it."


def cached(key: str, build: Callable[[], CompactDfa]) -> CompactDfa:
    """The DFA stored under `key`, a file name. If it cannot be read, it is built and stored.

    A missing, damaged or read-only cache costs time but is never an error.
    """
    with suppress(OSError, RuntimeError, ValueError):
        return _load(read_cached(cache_folder() / key, LARGEST_FILE))
    automaton = build()
    with suppress(OSError, RuntimeError):
        write_cached(cache_folder() / key, _dump(automaton))
    return automaton


def _dump(automaton: CompactDfa) -> bytes:
    """Serialise: size of header, JSON header, byte classes, rows of 16-bit numbers."""
    header = {
        "accepts": automaton.accepts,
        "live": automaton.live,
        "starts": automaton.starts,
        "kinds": automaton.kinds,
    }
    text = json.dumps(header).encode()
    rows = _little_endian(array("H", [target for row in automaton.rows for target in row]))
    return len(text).to_bytes(4, "little") + text + automaton.classes + rows.tobytes()


def _load(body: bytes) -> CompactDfa:
    """Deserialise the output of `_dump`.

    Raises:
        ValueError: The content is damaged.
    """
    text_end = 4 + int.from_bytes(body[:4], "little")
    classes_end = text_end + 256
    classes = body[text_end:classes_end]
    try:
        header = json.loads(body[4:text_end])
        accepts, live, kinds = (tuple(header[name]) for name in ("accepts", "live", "kinds"))
        starts = dict(header["starts"])
        width = max(classes) + 1
        cells = _little_endian(array("H", body[classes_end:])).tolist()
        rows = tuple(tuple(cells[start : start + width]) for start in range(0, len(cells), width))
        is_sound = (
            len(classes) == 256
            and len(rows) == len(accepts) == len(live)
            and len(cells) == len(rows) * width
            and max(cells, default=0) < len(rows)
            and _are_within(accepts, -1, len(kinds))
            and _are_within(live, 0, 1 << len(kinds))
            and _are_within(starts.values(), 0, len(rows))
            and all(isinstance(name, str) for name in kinds)
        )
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(_DAMAGED) from error
    if not is_sound:
        raise ValueError(_DAMAGED)
    return CompactDfa(classes, rows, accepts, live, starts, kinds)


def _are_within(numbers: Iterable[object], first: int, end: int) -> bool:
    """True if *numbers* are whole numbers from *first* to before *end*."""
    return all(type(number) is int and first <= number < end for number in numbers)


def _little_endian(numbers: array[int]) -> array[int]:
    """Convert the numbers to the byte order of the file, or back."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
