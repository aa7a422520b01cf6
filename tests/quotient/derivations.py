"""Random sentences of a grammar, and Python text for those of the Python grammar."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator

from fimlsp.quotient.grammar.cfg import Grammar, Production

EXAMPLES = {
    "NAME": "a",
    "REAL": "1",
    "IMAGINARY": "1j",
    "STRING": '"s"',
    "BYTES": 'b"s"',
    "NEWLINE": "\n",
    "FSTRING_TEXT": "x",
    "FIELD_OPEN": "{ ",
    "FIELD_CLOSE": "}",
    "FIELD_EQUAL": "=",
    "FIELD_CONVERSION": "!r",
    "FIELD_COLON": ":",
}
STARTS = {"FSTRING_START": "f", "TSTRING_START": "t"}
UNSPACED = {
    "FSTRING_TEXT",
    "FIELD_CLOSE",
    "FIELD_EQUAL",
    "FIELD_CONVERSION",
    "FIELD_COLON",
    "FSTRING_END",
    "NEWLINE",
}
FSTRING_QUOTES = ("'''", '"""')


class Sampler:
    """Draws derivations that contain rarely used productions."""

    def __init__(self, grammar: Grammar, seed: int):
        self.grammar = grammar
        self.random = random.Random(seed)
        self.uses = Counter(dict.fromkeys(grammar.productions, 0))
        self.shortest = shortest_productions(grammar)
        self.ways = ways_to(grammar)

    def sentence(self, budget: int) -> list[str]:
        """The terminals of one derivation: *budget* productions drawn at random places, then the shortest."""
        form = self.around(min(self.random.sample(self.grammar.productions, 20), key=self.uses.__getitem__))
        for _ in range(budget):
            places = [place for place, symbol in enumerate(form) if not self.grammar.is_terminal(symbol)]
            if not places:
                break
            place = self.random.choice(places)
            form[place : place + 1] = self.choose(form[place]).rhs
        return list(self.finished(form))

    def finished(self, form: list[int]) -> Iterator[str]:
        """The names of a shortest sequence of terminals that *form* derives, any of them."""
        waiting = form[::-1]
        while waiting:
            symbol = waiting.pop()
            if self.grammar.is_terminal(symbol):
                yield self.grammar.name(symbol)
            else:
                waiting.extend(reversed(self.random.choice(self.shortest[symbol]).rhs))

    def around(self, production: Production) -> list[int]:
        """A form that the start symbol derives by using *production*."""
        self.uses[production] += 1
        form, symbol = list(production.rhs), production.lhs
        while symbol != self.grammar.start:
            outer, place = self.ways[symbol]
            form = [*outer.rhs[:place], *form, *outer.rhs[place + 1 :]]
            symbol = outer.lhs
        return form

    def choose(self, symbol: int) -> Production:
        """A production for *symbol*."""
        productions = self.grammar.productions_of(symbol)
        weights = [1 / (1 + self.uses[production]) for production in productions]
        chosen = self.random.choices(productions, weights)[0]
        self.uses[chosen] += 1
        return chosen


def shortest_productions(grammar: Grammar) -> dict[int, list[Production]]:
    """For each nonterminal the productions that begin a derivation of the fewest terminals."""
    cost: dict[int, int] = dict.fromkeys(range(len(grammar.terminals)), 1)
    changed = True
    while changed:
        changed = False
        for production in grammar.productions:
            if all(part in cost for part in production.rhs):
                total = sum(cost[part] for part in production.rhs)
                if total < cost.get(production.lhs, total + 1):
                    cost[production.lhs], changed = total, True
    best: dict[int, list[Production]] = defaultdict(list)
    for production in grammar.productions:
        if sum(cost[part] for part in production.rhs) == cost[production.lhs]:
            best[production.lhs].append(production)
    return best


def ways_to(grammar: Grammar) -> dict[int, tuple[Production, int]]:
    """For each nonterminal but the start symbol a production, nearest to the start, and its place there."""
    ways: dict[int, tuple[Production, int]] = {}
    reached = [grammar.start]
    for symbol in reached:
        for production in grammar.productions_of(symbol):
            for place, part in enumerate(production.rhs):
                if part not in ways and part not in reached and not grammar.is_terminal(part):
                    ways[part] = production, place
                    reached.append(part)
    return ways


def render(names: list[str]) -> str | None:
    """Python text whose symbols are *names*, or None where that cannot be written in all versions."""
    if not _writable(names):
        return None
    return "".join(_pieces(names))


def _pieces(names: list[str]) -> Iterator[str]:
    indents = strings = 0
    for before, name in zip(["NEWLINE", *names], names, strict=False):
        indents += (name == "INDENT") - (name == "DEDENT")
        strings -= name == "FSTRING_END"
        if name in ("INDENT", "DEDENT"):
            continue
        if before in ("NEWLINE", "INDENT", "DEDENT"):
            yield " " * indents
        elif name not in UNSPACED and before not in ("FIELD_OPEN", "FIELD_COLON", *STARTS):
            yield " "
        quote = FSTRING_QUOTES[strings] if strings < len(FSTRING_QUOTES) else ""
        yield (
            f"{STARTS[name]}{quote}" if name in STARTS else {"FSTRING_END": quote, **EXAMPLES}.get(name, name)
        )
        strings += name in STARTS


def _writable(names: list[str]) -> bool:
    """True if f-strings nest at most twice and no field has a colon or newline outside brackets."""
    depths: list[int] = []  # per open f-string or field: brackets open inside
    strings = 0
    for name in names:
        strings += (name in STARTS) - (name == "FSTRING_END")
        if strings > len(FSTRING_QUOTES):
            return False
        if name == "FIELD_OPEN":
            depths.append(0)
        elif name == "FIELD_CLOSE":
            depths.pop()
        elif depths:
            depths[-1] += (name in ("(", "[", "{")) - (name in (")", "]", "}"))
            if not depths[-1] and name in (":", ":=", "lambda"):
                return False
    return True
