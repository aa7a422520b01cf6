"""Converts the rules of any context-free grammar into the form of the engine.

Rules that may be empty are expanded where they are used. Recursion at an end of a rule becomes a
repetition, which both directions can read: `sum: sum "+" term | term` is a term, then any number of `"+"
term`. The sentences stay the same. Parse trees are not needed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import product

from fimlsp.quotient.grammar.cfg import Grammar, derived, make_grammar, without_useless

Side = tuple[str, ...]
Rules = dict[str, list[Side]]

MOST_PRODUCTIONS = 50_000
MOST_CORNERS = 2_000_000
"""Pairs of rules of which one may start, or end, with the other; the engine keeps them."""

_MOST_OPTIONAL = 4
_LONGEST = 40


class TooManyProductionsError(ValueError):
    """The grammar is too large."""


class NoSentenceError(ValueError):
    """The grammar derives nothing, or only the empty text."""


def to_grammar(start: str, rules: Mapping[str, Iterable[Side]]) -> Grammar:
    """The grammar of the sentences that *start* derives.

    Raises:
        NoSentenceError: there are none, or only the empty one.
        TooManyProductionsError: it has more than `MOST_PRODUCTIONS` productions, or chains of rules that are
            too long.
    """
    short = _shortened({name: list(dict.fromkeys(sides)) for name, sides in rules.items()})
    nullable = derived(short, lambda _: False)
    full = without_useless(start, _without_empty(short, nullable))
    if start not in full:
        raise NoSentenceError(start)
    builder = _Builder()
    for name, sides in full.items():
        builder.add(name, sides)
    kept = without_useless(start, builder.rules)
    if sum(map(len, kept.values())) > MOST_PRODUCTIONS:
        raise TooManyProductionsError(f"{sum(map(len, kept.values()))} productions")
    for side in (0, -1):
        _check_corners(kept, side)
    repetitions = {name: element for name, element in builder.repetitions.items() if name in kept}
    return make_grammar(start, kept, repetitions, may_be_empty=start in nullable)


def _check_corners(rules: Mapping[str, list[Side]], side: int) -> None:
    """Refuse rules of which too many pairs start with each other, or end with *side* -1."""
    corners = {name: {own[side] for own in sides if own[side] in rules} for name, sides in rules.items()}
    number = 0
    for name in rules:
        seen, waiting = {name}, [name]
        while waiting:
            fresh = corners[waiting.pop()] - seen
            seen |= fresh
            waiting += fresh
        number += len(seen)
        if number > MOST_CORNERS:
            raise TooManyProductionsError(f"more than {MOST_CORNERS:,} pairs of rules that start alike")


def _shortened(rules: Rules) -> Rules:
    """*rules* without long sides."""
    shortened: Rules = {}
    for name, sides in rules.items():
        shortened[name] = []
        for number, whole in enumerate(sides):
            lhs, side = name, whole
            while len(side) > _LONGEST:
                tail = f"{name}|{number}|{len(side)}"
                shortened[lhs].append((*side[: _LONGEST - 1], tail))
                lhs, side = tail, side[_LONGEST - 1 :]
                shortened[lhs] = []
            shortened[lhs].append(side)
    return shortened


def _without_empty(rules: Rules, nullable: Collection[str]) -> Rules:
    """Rules for the same sentences except the empty one: each nullable symbol is there or not."""
    expanded: Rules = {name: [] for name in rules}
    pending = [(name, side) for name, sides in rules.items() for side in sides]
    tails: dict[Side, str] = {}
    for name, side in pending:
        optional = [at for at, symbol in enumerate(side) if symbol in nullable]
        if len(optional) > _MOST_OPTIONAL:
            middle = optional[_MOST_OPTIONAL - 1]
            tail = side[middle:]
            if tail not in tails:
                tails[tail] = f"|{' '.join(tail)}"
                pending.append((tails[tail], tail))
            ends_empty = [()] if all(symbol in nullable for symbol in tail) else []
            sides = [(*side[:middle], tails[tail]), *(side[:middle] for _ in ends_empty)]
            pending.extend((name, shorter) for shorter in sides)
            continue
        ways = [((symbol,), ()) if symbol in nullable else ((symbol,),) for symbol in side]
        own = expanded.setdefault(name, [])
        for way in product(*ways):
            written = tuple(symbol for part in way for symbol in part)
            if written and written != (name,) and written not in own:
                own.append(written)
    return expanded


class _Builder:
    """Collects rules without recursion at their ends, except in marked repetitions."""

    def __init__(self) -> None:
        self.rules: Rules = {}
        self.repetitions: dict[str, str] = {}

    def add(self, name: str, sides: list[Side]) -> None:
        """Add the rule *name*."""
        infix = [side[1:-1] for side in sides if len(side) > 1 and side[0] == side[-1] == name]
        before = [side[:-1] for side in sides if side[-1] == name != side[0]]
        after = [side[1:] for side in sides if side[0] == name != side[-1]]
        others = [side for side in sides if name not in (side[0], side[-1])]
        if not (infix or before or after):
            self.rules[name] = sides
            return
        if sorted(before + after) == sorted(others) and not (infix or (before and after)):
            self._repeat(name, self._element(others))  # `list: item | list item`
            return
        operand = self._operand(before, others, after)
        if not infix:
            self.rules[name] = operand
            return
        one = self._element(operand)
        tail = self._repetition(self._element([(*between, one) for between in infix]))
        self.rules[name] = [(one,), (one, tail)]

    def _operand(self, before: list[Side], others: list[Side], after: list[Side]) -> list[Side]:
        """All ways to write one of *others* between any of *before* and any of *after*."""
        fronts: list[Side] = [(), *([(self._repetition(self._element(before)),)] if before else [])]
        ends: list[Side] = [(), *([(self._repetition(self._element(after)),)] if after else [])]
        core = (self._element(others),)
        return [(*front, *core, *end) for front in fronts for end in ends]

    def _element(self, sides: list[Side]) -> str:
        """A symbol for any of *sides*; equal ones are shared."""
        if len(sides) == 1 and len(sides[0]) == 1:
            return sides[0][0]
        name = f"({' | '.join(' '.join(side) for side in sides)})"
        self.rules.setdefault(name, sides)
        return name

    def _repetition(self, element: str) -> str:
        name = f"{element}+"
        self._repeat(name, element)
        return name

    def _repeat(self, name: str, element: str) -> None:
        self.rules[name] = [(element,), (name, element)]
        self.repetitions[name] = element
