"""A plain Earley recogniser (CACM 13(2), 1970), which shares no code with the engine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from fimlsp.quotient.grammar.cfg import Grammar

Waiting = dict[int, list[tuple[int, int]]]  # symbol after the dot -> (item, origin)
Predicted = dict[int, list[int]]  # symbol after the dot -> items that begin here


class Recogniser:
    """Decides which sequences of terminals are sentences."""

    def __init__(self, grammar: Grammar):
        self.grammar = grammar
        self.after: list[int] = []  # item -> the symbol after its dot, or ~lhs at the end
        self.begin: dict[int, list[int]] = defaultdict(list)  # nonterminal -> its items with the dot at 0
        for production in grammar.productions:
            self.begin[production.lhs].append(len(self.after))
            self.after += [*production.rhs, ~production.lhs]
        self.predictions: dict[frozenset[int], Predicted] = {}

    def accepts(self, names: Iterable[str], start: str | None = None) -> bool:
        """True if the terminals called *names* are a sentence."""
        return self.refused_at(list(names), start) is None

    def refused_at(self, names: list[str], start: str | None = None) -> int | None:
        """The index of the first name that fits nowhere (their number if more is missing), or None."""
        goal = self.grammar.start if start is None else self.grammar.symbol(start)
        sets: list[tuple[Waiting, Predicted]] = [({}, self.predicted(frozenset([goal])))]
        done: set[tuple[int, int]] = set()
        for index, name in enumerate(names):
            done = {(self.grammar.symbol(name), index)}
            waiting = self.advance(sets, done)
            if not waiting and len(done) == 1:
                return index
            nonterminals = frozenset(symbol for symbol in waiting if not self.grammar.is_terminal(symbol))
            sets.append((waiting, self.predicted(nonterminals)))
        return None if (goal, 0) in done else len(names)

    def advance(self, sets: list[tuple[Waiting, Predicted]], done: set[tuple[int, int]]) -> Waiting:
        """The items that wait after the symbols *done*, to which all completed symbols are added."""
        waiting: Waiting = defaultdict(list)
        seen: set[tuple[int, int]] = set()
        todo = list(done)
        while todo:
            symbol, origin = todo.pop()
            before, predicted = sets[origin]
            advanced = [*before.get(symbol, ()), *((item, origin) for item in predicted.get(symbol, ()))]
            for item, begun in advanced:
                entry = item + 1, begun
                if entry in seen:
                    continue
                seen.add(entry)
                following = self.after[item + 1]
                if following >= 0:
                    waiting[following].append(entry)
                elif (~following, begun) not in done:
                    done.add((~following, begun))
                    todo.append((~following, begun))
        return waiting

    def predicted(self, symbols: frozenset[int]) -> Predicted:
        """The items with which *symbols* may begin, by the symbol after their dot."""
        if symbols not in self.predictions:
            found: Predicted = defaultdict(list)
            reached = list(symbols)
            for symbol in reached:
                for item in self.begin[symbol]:
                    following = self.after[item]
                    if following not in found and following not in symbols:
                        reached.append(following)
                    found[following].append(item)
            self.predictions[symbols] = found
        return self.predictions[symbols]
