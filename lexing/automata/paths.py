"""Paths through the automaton: reachable states, shortest texts, and texts that keep lexemes apart.

`Paths` leads from a state to others, `ShortestWords` to the end of a lexeme. Among equally short texts the
latter prefers letters that a person would type, so completions are readable.

In an arbitrary language no text is sure to keep two lexemes apart. So `Separation` searches the automaton:
for each accepting state, it finds the kinds of lexemes that may come next, directly or after ignored ones
such as white space.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from functools import cached_property, reduce
from operator import or_

from fimlsp.lexing.automata.dfa import DEAD, Dfa

_DESCENDING = range(255, -1, -1)


class Paths:
    """The paths through an automaton.

    `reachable[state]` is the bit set of the states that *state* leads to, itself included.
    """

    __slots__ = ("_exits", "_lengths", "_rows", "_successors", "reachable")

    def __init__(self, dfa: Dfa) -> None:
        self._rows = dfa.rows
        self._exits: dict[int, tuple[tuple[int, bytes], ...]] = {}
        self._lengths: dict[int, dict[int, int]] = {}
        self._successors = [[state for state in dict.fromkeys(row) if state != DEAD] for row in dfa.rows]
        self.reachable = _reachable(self._successors)

    def _exits_of(self, state: int) -> tuple[tuple[int, bytes], ...]:
        """The successors of *state*, each with the smallest byte that leads there, ordered by that byte."""
        known = self._exits.get(state)
        if known is None:
            row = self._rows[state]
            firsts = {row[byte]: byte for byte in _DESCENDING}
            exits = ((following, bytes((firsts[following],))) for following in self._successors[state])
            known = self._exits[state] = tuple(exits)
        return known

    def prepare(self, starts: Iterable[int]) -> None:
        """Compute `lengths_from` each of *starts* now."""
        for start in starts:
            self.lengths_from(start)

    def lengths_from(self, start: int) -> dict[int, int]:
        """The states reachable from *start*, itself included, each with the fewest bytes to it, ascending."""
        lengths = self._lengths.get(start)
        if lengths is None:
            lengths = self._lengths[start] = {start: 0}
            layer, length = [start], 0
            while layer:
                length += 1
                after = {following: None for state in layer for following in self._successors[state]}
                layer = [state for state in after if state not in lengths]
                lengths.update(dict.fromkeys(layer, length))
        return lengths

    def way_to(self, state: int, goals: int) -> bytes | None:
        """A shortest byte string that leads from *state* to one of the bit set *goals*; None without one."""
        goals &= self.reachable[state]
        ways: dict[int, bytes] = {state: b""}
        waiting = deque(ways if goals else ())
        while waiting:
            current = waiting.popleft()
            if goals >> current & 1:
                return ways[current]
            for following, byte in self._exits_of(current):
                if following not in ways:
                    ways[following] = ways[current] + byte
                    waiting.append(following)
        return None


def _reachable(successors: list[list[int]]) -> list[int]:
    """For each state the bit set of those that it leads to, itself included."""
    reachable = [1 << state for state in range(len(successors))]
    order = _successors_first(successors)
    changed = True
    while changed:  # once more for each loop that follows another
        changed = False
        for state in order:
            bits = before = reachable[state]
            for following in successors[state]:
                bits |= reachable[following]
            if bits != before:
                reachable[state] = bits
                changed = True
    return reachable


def _successors_first(successors: list[list[int]]) -> list[int]:
    """All states, each after its successors, except in loops: depth first."""
    ordered: list[int] = []
    seen: set[int] = set()
    for root in range(len(successors)):
        if root in seen:
            continue
        seen.add(root)
        path = [(root, iter(successors[root]))]
        while path:
            state, targets = path[-1]
            following = next((target for target in targets if target not in seen), None)
            if following is None:
                ordered.append(state)
                path.pop()
            else:
                seen.add(following)
                path.append((following, iter(successors[following])))
    return ordered


def _least_welcome_first() -> tuple[int, ...]:
    """All bytes, worst first: not ASCII, controls, capitals and punctuation, 0 to 9, lower-case letters."""
    letters, numerals = range(ord("a"), ord("z") + 1), range(ord("0"), ord("9") + 1)
    groups = (range(0x80, 0x100), range(0x20), (0x7F,), range(0x20, 0x7F), numerals, letters)
    order = [byte for group in groups for byte in reversed(group)]
    return tuple(reversed(dict.fromkeys(reversed(order))))


_ORDER = _least_welcome_first()
_RANK = {byte: rank for rank, byte in enumerate(reversed(_ORDER))}


class ShortestWords:
    """The shortest completions of lexemes, found by one backward search per kind, on first use.

    With *ends*, lexemes end in these states where they can.
    """

    def __init__(self, dfa: Dfa, ends: Collection[int] | None = None) -> None:
        self._ending: dict[int, list[int]] = {}
        for state, kind in enumerate(dfa.accepts):
            if ends is None or state in ends:
                self._ending.setdefault(kind, []).append(state)
        self._suffixes: dict[int, dict[int, bytes]] = {}
        self.anywhere: ShortestWords = self if ends is None else ShortestWords(dfa)
        """The same if lexemes end in any state that accepts them."""
        self._sources: list[list[tuple[int, int]]] = [[] for _ in dfa.rows]
        for state, row in enumerate(dfa.rows):
            best_byte = {row[byte]: byte for byte in _ORDER}
            for target, byte in best_byte.items():
                self._sources[target].append((state, byte))

    def suffix(self, state: int, kind: int) -> bytes | None:
        """A shortest byte string from `state` to a state that accepts `kind`; None if there is none.

        Among equally short ones each byte is a lower-case letter if possible, else one of 0 to 9, else
        printable ASCII. Costs a look-up; the first call for a kind searches all states that lead to it.
        """
        if kind not in self._suffixes:
            self._suffixes[kind] = self._search(kind)
        suffix = self._suffixes[kind].get(state)
        if suffix is None and self.anywhere is not self:
            return self.anywhere.suffix(state, kind)
        return suffix

    def _search(self, kind: int) -> dict[int, bytes]:
        """The suffix of each state that has one, by breadth-first search backwards from the last ones."""
        layer = dict.fromkeys(self._ending.get(kind, ()), b"")
        suffixes = layer.copy()
        while layer:
            longer: dict[int, bytes] = {}
            for target, rest in layer.items():
                for state, byte in self._sources[target]:
                    if state not in suffixes and _better(byte, longer.get(state)):
                        longer[state] = bytes((byte,)) + rest
            suffixes.update(longer)
            layer = longer
        return suffixes


def _better(byte: int, known: bytes | None) -> bool:
    """True if `byte` is a better first byte than that of the string known so far."""
    return known is None or _RANK[byte] < _RANK[known[0]]


def _union(sets: Iterable[int]) -> int:
    return reduce(or_, sets, 0)


class Separation:
    """The kinds that may follow each accepting state of *dfa*.

    Lexemes of the kinds *ignored* mean nothing and may occur anywhere. If there are several modes, no two of
    them share a state or a kind. The next lexeme after an ignored one is read in the same mode, and after
    another one in any.
    """

    def __init__(self, dfa: Dfa, ignored: Collection[int]) -> None:
        self._dfa = dfa
        self._starts = tuple(dict.fromkeys(dfa.starts.values()))
        self._ignored = frozenset(ignored)
        self._reached = self._reachable_ends()
        self._inside = self._states()
        self._fallbacks: dict[tuple[int, int], int] = {}

    @cached_property
    def followers(self) -> dict[int, int]:
        """For each accepting state, the kinds that may come next, ignored ones skipped, as a bit set."""
        seen = ~sum(1 << kind for kind in self._ignored)
        direct = {state: self._direct(state) for start in self._starts for state in self._reached[start]}
        kinds_after = {state: kinds & seen for state, kinds in direct.items()}
        changed = True
        while changed:
            changed = False
            for state in kinds_after:
                more = kinds_after[state]
                for end in self._skipped_ends(state):
                    more |= kinds_after[end]
                changed |= more != kinds_after[state]
                kinds_after[state] = more
        return kinds_after

    @cached_property
    def ends(self) -> frozenset[int]:
        """For each kind, the accepting states that the most kinds may follow: the best ends of a lexeme."""
        best: dict[int, int] = {}
        for state, kinds in self.followers.items():
            kind = self._dfa.accepts[state]
            best[kind] = best.get(kind, 0) | kinds
        fully = {state for state, kinds in self.followers.items() if kinds == best[self._dfa.accepts[state]]}
        whole = {self._dfa.accepts[state] for state in fully}
        others = {state for state in self.followers if self._dfa.accepts[state] not in whole}
        return frozenset(fully | others)

    def after(self, state: int, kind: int) -> int:
        """The kinds that may come after a lexeme of *kind* that is being read in *state*, as a bit set."""
        ends = [end for end in self._reached[state] if self._dfa.accepts[end] == kind]
        kinds = 0
        for end in [end for end in ends if end in self.ends] or ends:
            kinds |= self.followers[end]
        return kinds

    def after_fallback(self, whole: int, rest: int) -> int:
        """The kinds that a lexeme read in *rest* may have, if one read in *whole* is never accepted.

        Both read the same bytes. The lexeme in *whole* started earlier, and wins as soon as it is accepted.
        """
        kinds = self._fallbacks.get((whole, rest))
        if kinds is None:
            kinds = self._fallbacks[whole, rest] = self._search_fallback(whole, rest)
        return kinds

    def _search_fallback(self, whole: int, rest: int) -> int:
        rows, accepts, live = self._dfa.rows, self._dfa.accepts, self._dfa.live
        kinds = 0
        seen, waiting = {(whole, rest)}, [(whole, rest)]
        while waiting:
            one, other = waiting.pop()
            for first, second in set(zip(rows[one], rows[other], strict=True)):
                if not first:
                    kinds |= live[second] if second else 1 << accepts[other] if accepts[other] >= 0 else 0
                elif second and accepts[first] < 0 and (first, second) not in seen:
                    seen.add((first, second))
                    waiting.append((first, second))
        return kinds

    def word_after(self, state: int, kind: int, words: ShortestWords) -> bytes | None:
        """A lexeme of *kind* whose first byte cannot extend the lexeme being read in *state*."""
        row, first = self._dfa.rows[state], self._dfa.rows[self._start_of(kind)]
        words_apart = [
            bytes((byte,)) + rest
            for byte in range(256)
            if not row[byte] and first[byte] and (rest := words.suffix(first[byte], kind)) is not None
        ]
        return min(words_apart, key=len, default=None)

    def may_end_before(self, state: int, kind: int, byte: int | None) -> bool:
        """True if a lexeme of *kind* that is being read in *state* may end before *byte*; None: the end."""
        rows, accepts = self._dfa.rows, self._dfa.accepts
        return any(
            accepts[end] == kind and (byte is None or not rows[end][byte]) for end in self._reached[state]
        )

    def surely_after(self, state: int, kind: int) -> int:
        """As `after`, but only kinds no lexeme of which can be taken for a part of the one before."""
        row_of = self._dfa.rows
        kinds = 0
        for end in self._reached[state]:
            if self._dfa.accepts[end] == kind:
                begun = {
                    row_of[start][byte]
                    for start in self._following(end)
                    for byte in range(256)
                    if row_of[end][byte]
                }
                kinds |= self.followers[end] & ~_union(self._dfa.live[state] for state in begun)
        return kinds

    def _start_of(self, kind: int) -> int:
        """The start of the mode in which lexemes of *kind* are read; any one if there are none."""
        live = self._dfa.live
        return next((start for start in self._starts if live[start] >> kind & 1), self._starts[0])

    def _following(self, end: int) -> tuple[int, ...]:
        """The starts of the modes in which the lexeme after one that ends in the state *end* may be read."""
        kind = self._dfa.accepts[end]
        return (self._start_of(kind),) if kind in self._ignored else self._starts

    @cached_property
    def free(self) -> frozenset[int]:
        """The ignored kinds that restrict nothing: each kind that may follow some lexeme may follow them."""
        everything = _union(self.followers.values())
        live = self._dfa.live
        return frozenset(
            kind
            for kind in self._ignored
            if all(
                self.after(state, kind) == everything & live[self._start_of(kind)]
                for state in self._inside
                if live[state] >> kind & 1
            )
        )

    @cached_property
    def bytes_to_try(self) -> bytes:
        """One byte of each class of bytes that no state distinguishes, a letter if possible."""
        columns: dict[tuple[int, ...], int] = {}
        for byte in sorted(range(256), key=lambda byte: (not 0x61 <= byte <= 0x7A, byte)):
            columns.setdefault(tuple(row[byte] for row in self._dfa.rows), byte)
        return bytes(columns.values())

    @cached_property
    def separators(self) -> tuple[bytes, ...]:
        """Ignored texts, the empty one first, among which is the best separator for every accepting state."""
        candidates: dict[bytes, int] = {}
        words = ShortestWords(self._dfa, self.ends)
        for kind in sorted(self._ignored):
            start = self._start_of(kind)
            for first in range(256):
                state = self._dfa.rows[start][first]
                rest = words.suffix(state, kind) if state else None
                if rest is not None:
                    text = bytes((first,)) + rest
                    candidates[text] = candidates.get(text, 0) | self.followers[self._dfa.run(start, text)]
        ranked = sorted(
            candidates, key=lambda text: (len(text), text.strip() != b"", not text.startswith(b" "), text)
        )
        chosen = {b"": None}
        for state in self.followers:
            best = max(
                (text for text in ranked if not self._dfa.rows[state][text[0]]),
                key=lambda text: (candidates[text].bit_count(), -ranked.index(text)),
                default=b"",
            )
            chosen[best] = None
        return tuple(chosen)

    def _direct(self, state: int) -> int:
        """The kinds whose lexemes may start directly after *state*, in which another lexeme has ended."""
        return _union(self._dfa.live[begun] for begun in self._begun_after(state))

    def _skipped_ends(self, state: int) -> set[int]:
        """The states in which ignored lexemes may end that start directly after *state*."""
        begun = self._begun_after(state)
        return {
            end for state in begun for end in self._reached[state] if self._dfa.accepts[end] in self._ignored
        }

    def _begun_after(self, state: int) -> set[int]:
        """The states after the first byte of a lexeme that starts directly after *state*."""
        rows = self._dfa.rows
        return {
            rows[start][byte]
            for start in self._following(state)
            for byte in range(256)
            if not rows[state][byte]
        }

    def _states(self) -> frozenset[int]:
        """The states inside lexemes."""
        seen, waiting = set[int](), [*self._starts]
        while waiting:
            fresh = set(self._dfa.rows[waiting.pop()]) - seen - {DEAD}
            seen |= fresh
            waiting.extend(fresh)
        return frozenset(seen)

    def _reachable_ends(self) -> dict[int, frozenset[int]]:
        """For each state the accepting states that can be reached from it, itself included."""
        rows, accepts = self._dfa.rows, self._dfa.accepts
        sources: list[set[int]] = [set() for _ in rows]
        for state, row in enumerate(rows):
            for target in set(row):
                sources[target].add(state)
        ends: list[set[int]] = [set() for _ in rows]
        for end, kind in enumerate(accepts):
            if kind < 0:
                continue
            waiting = [end]
            while waiting:
                state = waiting.pop()
                if end not in ends[state]:
                    ends[state].add(end)
                    waiting.extend(sources[state])
        return dict(enumerate(map(frozenset, ends)))
