"""Tells where a symbol changes nothing, as the second minus of `--x`: long runs of it are read at once."""

from __future__ import annotations

from fimlsp.quotient.earley.automaton import State
from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.grammar.rules import DOT, DOT_BITS, Rules


def changes_nothing(before: EarleySet, after: EarleySet, rules: Rules, right: Rules | None) -> bool:
    """Whether the same may follow *after* a symbol as *before* it, in a language with these *rules*.

    So it is where the symbol has just begun the rule again that was begun before it, and where that rule is
    at its last symbol: once the inner one is complete, all that is complete is the outer one. Rules of the
    *right* context are never completed within a middle, so there the same states will do.
    """
    if after.predicted is not before.predicted or len(after.entries) != len(before.entries):
        return False
    if any(origin is not before for _, origin in after.entries):
        return False
    states = {state for state, _ in after.entries}
    if len(states) != len(after.entries) or states != {state for state, _ in before.entries}:
        return False
    own = [state for state in states if state.rules is not right]
    return len(own) == 1 and own[0].rules is rules and _only_completes(own[0], before)


def _only_completes(state: State, before: EarleySet) -> bool:
    """Whether the rule of *state* is at its last symbol, and its left side is that at *before*, no more."""
    if len(state.items) != 1:
        return False
    item = state.items[0]
    lhs, rhs = state.rules.lhs_of(item), state.rules.rhs[item >> DOT_BITS]
    if (item & DOT) + 1 != len(rhs):
        return False
    states, completed = before.predicted.chain(lhs)
    return rhs[-1] in completed and not any(reached.by_symbol for reached in states)
