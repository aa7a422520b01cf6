"""Terminals described as data, and their nondeterministic automaton (Thompson 1968)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fimlsp.lexing.automata.regex import Choice, Many, OneByte, Regex, Sequence


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """The lexemes of one kind: what `pattern` matches. Rules are told apart by identity."""

    kind: str
    pattern: Regex


@dataclass(frozen=True, slots=True)
class Terminals:
    """All lexemes of a language, by lexer mode. Of two kinds that match the same bytes the first one wins."""

    modes: Mapping[str, tuple[Rule, ...]] = field(hash=False)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The names of the kinds in the order of their first rules; the index is the kind's number."""
        return tuple(dict.fromkeys(rule.kind for rules in self.modes.values() for rule in rules))


@dataclass(frozen=True, slots=True, eq=False)
class Nfa:
    """A nondeterministic automaton that reads bytes; its states are numbers."""

    edges: list[list[tuple[frozenset[int], int]]] = field(default_factory=list)
    """Per state: the bytes of an edge and where it leads."""
    jumps: list[list[int]] = field(default_factory=list)
    """Per state: where one gets without reading."""
    accepts: dict[int, int] = field(default_factory=dict)
    """The kind that a final state accepts."""
    starts: dict[str, list[int]] = field(default_factory=dict)
    """The start states of each mode."""

    def closure(self, states: list[int]) -> frozenset[int]:
        """What is reached from the states without reading, but for states that neither read nor accept."""
        reached, pending = set(states), list(states)
        while pending:
            fresh = [state for state in self.jumps[pending.pop()] if state not in reached]
            reached.update(fresh)
            pending.extend(fresh)
        return frozenset(state for state in reached if self.edges[state] or state in self.accepts)


def thompson(terminals: Terminals) -> Nfa:
    """The automaton of all modes. A rule that several modes name is built once: they share its states."""
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
    """The class of each of the 256 bytes; two bytes of one class are on the same edges everywhere."""
    sets = {members for edges in nfa.edges for members, _ in edges}
    classes: dict[tuple[bool, ...], int] = {}
    signatures = (tuple(byte in members for members in sets) for byte in range(256))
    return bytes(classes.setdefault(signature, len(classes)) for signature in signatures)


def _state(nfa: Nfa) -> int:
    """A new state."""
    nfa.edges.append([])
    nfa.jumps.append([])
    return len(nfa.edges) - 1


def _extend(nfa: Nfa, source: int, pattern: Regex) -> int:
    """Lay paths for the pattern from `source` to the state returned; `source` itself gets no way back in."""
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
                nfa.jumps[end].append(target)
        case Many(body):
            target = _state(nfa)
            nfa.jumps[source].append(target)
            nfa.jumps[_extend(nfa, target, body)].append(target)
    return target
