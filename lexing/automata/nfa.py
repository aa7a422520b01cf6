"""Builds the NFA of a language's terminals with Thompson's construction.

Thompson, "Regular Expression Search Algorithm" (CACM 11(6), 1968). The terminals themselves are data: for
each mode of the lexer a tuple of rules, each a kind of lexeme with a regular expression.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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
