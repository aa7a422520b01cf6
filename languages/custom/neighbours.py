"""Checks that neighbours in a grammar can be told apart, so that what can begin can also be finished."""

from __future__ import annotations

from fimlsp.languages.custom.files import GrammarFiles
from fimlsp.lexing.automata.dfa import Dfa
from fimlsp.lexing.automata.separation import Separation
from fimlsp.lexing.modes import CODE
from fimlsp.quotient.grammar.cfg import Grammar, GrammarError
from fimlsp.quotient.language.tables import ends, neighbours


def check_neighbours(grammar: Grammar, dfa: Dfa, ignored: frozenset[str], files: GrammarFiles) -> None:
    """Refuse a grammar in which a terminal runs into the one that follows.

    Raises:
        GrammarError: it names both terminals.
    """
    hidden = {number for number, kind in enumerate(dfa.kinds) if kind in ignored}
    separation = Separation(dfa, CODE, hidden)
    kinds: dict[str, list[int]] = {}
    for number, kind in enumerate(dfa.kinds):
        if number not in hidden:
            kinds.setdefault(kind.removesuffix("'"), []).append(number)
    forced = _forced(grammar)
    for left, right in sorted(neighbours(grammar)):
        one, other = grammar.name(left), grammar.name(right)
        wanted = sum(1 << kind for kind in kinds[other])
        for own in kinds[one]:
            inside = [state for state, live in enumerate(dfa.live) if live >> own & 1]
            after = separation.after if hidden else separation.surely_after
            apart = [bool(after(state, own) & wanted) for state in inside]
            if all(apart) or (not any(apart) and (left, right) not in forced):
                continue  # what can never be adjacent is no way to begin anything
            raise GrammarError(
                f"{other} ({files.place(other)}) may follow {one} ({files.place(one)}), but would be read as "
                f"a part of it; %ignore white space, or let {one} end with a delimiter."
            )


def _forced(grammar: Grammar) -> frozenset[tuple[int, int]]:
    """The pairs of terminals of which one must follow the other somewhere."""
    first, last = ends(grammar, 0), ends(grammar, -1)
    pairs: set[tuple[int, int]] = set()
    for production in grammar.productions:
        for left, right in zip(production.rhs, production.rhs[1:], strict=False):
            if len(last[left]) == len(first[right]) == 1:
                pairs.add((next(iter(last[left])), next(iter(first[right]))))
    return frozenset(pairs)
