"""Random Lark grammars: empty rules, recursion, ambiguity, overlapping terminals, priorities."""

from __future__ import annotations

import random
from dataclasses import dataclass

LETTERS = "abc"
_PATTERNS = (
    "/a/",
    "/a+/",
    "/[ab]/",
    "/[ab]+/",
    "/a*b/",
    "/a|ab/",
    "/a.?/",
    "/b+?c/",
    "/(a|b)+c?/",
    "/[^a ]/",
    "/a(?!b)/",
    "/c(?=a)?/",
    "/a+(?!b)/",
    "/a(?!a)/",
    "/ *b(?!b)/",
    "/b?a(?!aa).*?a/",
    "/a?b(?!bb)b*?c?/",
    "/(bb|c)(?!ab?c)a*/",
    '"a".."b"',
    '"a" "b"?',
    '("a"|"b")+',
    '"ab"i',
)
_LITERALS = ('"a"', '"b"', '"c"', '"ab"', '"ba"', '"aa"', '"abc"', '"ca"', '"A"i')


@dataclass(frozen=True)
class RandomGrammar:
    """The text of a grammar; *separated* if white space may stand between any two of its lexemes."""

    text: str
    separated: bool


def random_grammar(rng: random.Random) -> RandomGrammar:
    """A grammar over the letters a, b and c."""
    n_terminals, n_rules = rng.randint(1, 4), rng.randint(1, 4)
    terminals = [f"T{n}" for n in range(n_terminals)]
    rules = ["start", *(f"r{n}" for n in range(1, n_rules))]
    lines = [f"{name}: {_expansions(rng, rules, terminals, 3)}" for name in rules]
    for name in terminals:
        priority = rng.choice(("", "", "", ".2", ".-1"))
        lines.append(f"{name}{priority}: {rng.choice((*_PATTERNS, *_LITERALS))}")
    separated = rng.random() < 0.8
    if separated:
        lines.append("%ignore " + rng.choice(('" "', "/ +/", "/[ ]+/")))
    if rng.random() < 0.15:
        lines.append('%ignore "c"')
    return RandomGrammar("\n".join(lines) + "\n", separated)


def _expansions(rng: random.Random, rules: list[str], terminals: list[str], depth: int) -> str:
    ways = rng.choice((1, 1, 2, 2, 3))
    return " | ".join(_expansion(rng, rules, terminals, depth) for _ in range(ways))


def _expansion(rng: random.Random, rules: list[str], terminals: list[str], depth: int) -> str:
    length = rng.choice((0, 1, 1, 2, 2, 3))
    return " ".join(_part(rng, rules, terminals, depth) for _ in range(length))


def _part(rng: random.Random, rules: list[str], terminals: list[str], depth: int) -> str:
    kind = rng.random()
    if kind < 0.45 or not depth:
        return rng.choice(terminals) if rng.random() < 0.7 else rng.choice(_LITERALS)
    if kind < 0.75:
        return rng.choice(rules)
    if kind < 0.85:
        return f"{rng.choice((*rules, *terminals))}{rng.choice(('?', '*', '+', '~2', '~1..2'))}"
    inside = _expansions(rng, rules, terminals, depth - 1)
    return f"[{inside}]" if kind < 0.92 else f"({inside}){rng.choice(('', '?', '*', '+'))}"
