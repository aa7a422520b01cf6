"""Finds the shortest byte string that completes a lexeme, from any state of the DFA.

Among equally short strings it prefers letters a person would type, so that completions are readable.
"""

from __future__ import annotations

from collections.abc import Collection

from fimlsp.lexing.automata.dfa import Dfa


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
        self._anywhere = None if ends is None else ShortestWords(dfa)
        self._sources: list[list[tuple[int, int]]] = [[] for _ in dfa.rows]
        for state, row in enumerate(dfa.rows):
            best_byte = {row[byte]: byte for byte in _ORDER}
            for target, byte in best_byte.items():
                self._sources[target].append((state, byte))

    def suffix(self, state: int, kind: int) -> bytes | None:
        """A shortest byte string from `state` to a state that accepts `kind`; None if there is none.

        Among equally short ones each byte is a lower-case letter if possible, else one of 0 to 9, else
        printable ASCII. Costs a look-up; the first question about a kind searches all states that lead to it.
        """
        if kind not in self._suffixes:
            self._suffixes[kind] = self._search(kind)
        found = self._suffixes[kind].get(state)
        if found is None and self._anywhere is not None:
            return self._anywhere.suffix(state, kind)
        return found

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
    """Whether `byte` is a better first byte than that of the string known so far."""
    return known is None or _RANK[byte] < _RANK[known[0]]
