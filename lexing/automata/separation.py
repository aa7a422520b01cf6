"""What may come after a lexeme without being read as a part of it.

In an arbitrary language nothing is sure to keep two lexemes apart. So the automaton is searched: for each
accepting state, which kinds of lexemes may come next, directly or after ignored ones such as white space.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property, reduce
from operator import or_

from fimlsp.lexing.automata.dfa import DEAD, Dfa
from fimlsp.lexing.automata.shortest_words import ShortestWords


def _union(sets: Iterable[int]) -> int:
    return reduce(or_, sets, 0)


class Separation:
    """The kinds that may follow each accepting state of *dfa* in *mode*.

    Lexemes of the kinds *ignored* mean nothing and may stand anywhere.
    """

    def __init__(self, dfa: Dfa, mode: str, ignored: Collection[int]) -> None:
        self._dfa = dfa
        self._start = dfa.starts[mode]
        self._ignored = frozenset(ignored)
        self._reached = self._reachable_ends()
        self._inside = self._states()
        self._fallbacks: dict[tuple[int, int], int] = {}

    @cached_property
    def followers(self) -> dict[int, int]:
        """For each accepting state, the kinds that may come next, ignored ones skipped, as a bit set."""
        seen = ~sum(1 << kind for kind in self._ignored)
        direct = {state: self._direct(state) for state in self._reached[self._start]}
        found = {state: kinds & seen for state, kinds in direct.items()}
        changed = True
        while changed:
            changed = False
            for state in found:
                more = found[state]
                for end in self._skipped_ends(state):
                    more |= found[end]
                changed |= more != found[state]
                found[state] = more
        return found

    @cached_property
    def ends(self) -> frozenset[int]:
        """For each kind, the accepting states that the most kinds may follow: where a lexeme best ends."""
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
        """The kinds that a lexeme read in *rest* may have, if one read in *whole* comes to nothing.

        Both read the same bytes. That in *whole* began earlier, and counts as soon as it is accepted.
        """
        found = self._fallbacks.get((whole, rest))
        if found is None:
            found = self._fallbacks[whole, rest] = self._search_fallback(whole, rest)
        return found

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
        row, first = self._dfa.rows[state], self._dfa.rows[self._start]
        found = [
            bytes((byte,)) + rest
            for byte in range(256)
            if not row[byte] and first[byte] and (rest := words.suffix(first[byte], kind)) is not None
        ]
        return min(found, key=len, default=None)

    def may_end_before(self, state: int, kind: int, byte: int | None) -> bool:
        """Whether a lexeme of *kind* that is being read in *state* may end before *byte*; None: the end."""
        rows, accepts = self._dfa.rows, self._dfa.accepts
        return any(
            accepts[end] == kind and (byte is None or not rows[end][byte]) for end in self._reached[state]
        )

    def surely_after(self, state: int, kind: int) -> int:
        """As `after`, but only kinds no lexeme of which can be taken for a part of the one before."""
        row_of, first = self._dfa.rows, self._dfa.rows[self._start]
        kinds = 0
        for end in self._reached[state]:
            if self._dfa.accepts[end] == kind:
                begun = {first[byte] for byte in range(256) if row_of[end][byte]}
                kinds |= self.followers[end] & ~_union(self._dfa.live[state] for state in begun)
        return kinds

    @cached_property
    def free(self) -> frozenset[int]:
        """The ignored kinds that every kind may follow which follows some lexeme."""
        everything = 0
        for kinds in self.followers.values():
            everything |= kinds
        live = self._dfa.live
        return frozenset(
            kind
            for kind in self._ignored
            if all(self.after(state, kind) == everything for state in self._inside if live[state] >> kind & 1)
        )

    @cached_property
    def bytes_to_try(self) -> bytes:
        """One byte of each class of bytes that no state tells apart, a letter where there is one."""
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
            for first in range(256):
                state = self._dfa.rows[self._start][first]
                rest = words.suffix(state, kind) if state else None
                if rest is not None:
                    text = bytes((first,)) + rest
                    candidates[text] = self._dfa.run(self._start, text)
        ranked = sorted(
            candidates, key=lambda text: (len(text), text.strip() != b"", not text.startswith(b" "), text)
        )
        chosen = {b"": None}
        for state in self._reached[self._start]:
            best = max(
                (text for text in ranked if not self._dfa.rows[state][text[0]]),
                key=lambda text: (self.followers[candidates[text]].bit_count(), -ranked.index(text)),
                default=b"",
            )
            chosen[best] = None
        return tuple(chosen)

    def _direct(self, state: int) -> int:
        """The kinds of which a lexeme may begin directly behind *state*, where another one has ended."""
        row, first = self._dfa.rows[state], self._dfa.rows[self._start]
        kinds = 0
        for following in {first[byte] for byte in range(256) if not row[byte]}:
            kinds |= self._dfa.live[following]
        return kinds

    def _skipped_ends(self, state: int) -> set[int]:
        """Where lexemes that mean nothing may end that begin directly behind *state*."""
        row, first = self._dfa.rows[state], self._dfa.rows[self._start]
        begun = {first[byte] for byte in range(256) if not row[byte]}
        return {
            end for state in begun for end in self._reached[state] if self._dfa.accepts[end] in self._ignored
        }

    def _states(self) -> frozenset[int]:
        """The states inside lexemes."""
        seen, waiting = set[int](), [self._start]
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
        found: list[set[int]] = [set() for _ in rows]
        for end, kind in enumerate(accepts):
            if kind < 0:
                continue
            waiting = [end]
            while waiting:
                state = waiting.pop()
                if end not in found[state]:
                    found[state].add(end)
                    waiting.extend(sources[state])
        return dict(enumerate(map(frozenset, found)))
