"""A language as tables: its lexemes, its grammar, and recognisers for both directions.

Groups. With an offside layout a file is, between the line starts of one block, a sequence of *groups*, such as
statements. A group does not depend on its neighbours, and a nested block stands in it as one symbol, its *suite*.
So contexts are parsed group by group, and neither the length of a file nor the depth of its nesting is ever
paid twice. Without a layout the whole file is one group, which two sentinels enclose: then something is open at
every place of the file, at its very beginning and end as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from itertools import pairwise

from fimlsp.lexing.bounded_dict import BoundedDict
from fimlsp.lexing.lexer_tables import LexerTables
from fimlsp.quotient.earley.common_nodes import CommonNodes, find_common_nodes
from fimlsp.quotient.earley.open_rules import Open, OpenRules
from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.grammar.cfg import SENTINELS, Grammar, between_sentinels
from fimlsp.quotient.grammar.costs import CheapestSentences, cheapest
from fimlsp.quotient.grammar.rules import Rules
from fimlsp.quotient.language.contract import DEDENT, INDENT, NEWLINE, Language
from fimlsp.quotient.language.direction import Direction
from fimlsp.quotient.language.escape import Enclosures
from fimlsp.quotient.language.interner import Interner
from fimlsp.quotient.language.line_classes import LineClasses

_MOST_REMEMBERED = 3_000
_MOST_JOINED = 4096
_INDENT_COST = 4
_NO_SYMBOL = -1  # which no rule expects


class LanguageTables:
    """The tables of one language; made once, shared by all documents.

    `terminal_of` maps lexeme kinds to terminals of the grammar (-1 for kinds without one). `suites` maps
    each suite symbol to the symbol of its groups, `bodies` are those symbols, `lists` maps each to the
    nonterminal of one or more of it. Behind the symbols `line_ends` a line begins. `once` makes values of
    which equal ones are the same object.
    """

    def __init__(self, language: Language) -> None:
        self.language = language
        lexical = self.lexical = LexerTables(language.lexis())
        self.offside = lexical.offside
        grammar = language.grammar() if self.offside else between_sentinels(language.grammar())
        self.grammar = grammar
        self.opening_of = {closing: opening for opening, closing in lexical.brackets.items()}
        self.once = Interner()
        self.newline, self.indent, self.dedent = (
            grammar.symbol(name) if self.offside else _NO_SYMBOL for name in (NEWLINE, INDENT, DEDENT)
        )
        self.terminal_of = tuple(self._terminal(kind) for kind in lexical.kinds)
        self.suites: dict[int, int] = {}
        self.lists: dict[int, int] = {}
        self._live_terminals: dict[int, tuple[int, ...]] = {}
        self._common_nodes: BoundedDict[tuple[OpenRules, OpenRules, Open, Open], CommonNodes] = BoundedDict(
            _MOST_JOINED
        )
        self._at_line_start: BoundedDict[EarleySet, tuple[EarleySet | None, frozenset[int]]] = BoundedDict(
            _MOST_REMEMBERED
        )
        if self.offside:
            self._find_suites()
        self.file_body = grammar.repetitions[self._file_list()] if self.offside else grammar.start
        self.bodies = frozenset(self.lists) or frozenset((grammar.start,))
        self.neighbours = neighbours(grammar)
        layout = {self.newline, self.dedent}
        self.line_ends = frozenset(symbol for symbol, last in _ends(grammar, -1).items() if last <= layout)
        self.shortest_words = lexical.shortest_words
        self.kinds_of = self._kinds_of()
        self.enclosures = Enclosures(grammar.terminals, language.enclosures)
        self.enclosing_kinds = lexical.mode_changers.union(
            kind for kind, terminal in enumerate(self.terminal_of) if terminal in self.enclosures
        )
        self.forward = Direction(self._rules(backward=False), self.enclosures)
        self.backward = Direction(self._rules(backward=True), self.enclosures)

    @cached_property
    def line_classes(self) -> LineClasses:
        """The logical lines that stand for others, in a language with an offside layout."""
        return LineClasses(
            self.grammar, self.suites.keys(), self.lists.keys(), self.lists.values(), self.forward
        )

    @property
    def first_free_symbol(self) -> int:
        """The first number that is no symbol of the grammar."""
        return len(self.grammar.terminals) + len(self.grammar.nonterminals)

    def _terminal(self, kind: str) -> int:
        name = self.language.terminal(kind)
        return self.grammar.symbol(name) if name in self.grammar.terminals else -1

    def _kinds_of(self) -> dict[int, tuple[int, ...]]:
        kinds: dict[int, tuple[int, ...]] = {}
        for kind, terminal in enumerate(self.terminal_of[: len(self.lexical.dfa.kinds)]):
            kinds[terminal] = (*kinds.get(terminal, ()), kind)
        return kinds

    @cached_property
    def cheapest(self) -> CheapestSentences:
        """What each symbol of the grammar costs at least in bytes, and how its cheapest sentence begins."""
        starts = self.lexical.dfa.starts.values()
        costs = {self.newline: 1, self.indent: _INDENT_COST, self.dedent: 1}
        costs |= dict.fromkeys(map(self.grammar.symbol, () if self.offside else SENTINELS), 0)
        for terminal, kinds in self.kinds_of.items():
            texts = [
                text
                for kind in kinds
                for s in starts
                if (text := self.shortest_words.suffix(s, kind)) is not None
            ]
            costs[terminal] = min(len(text) + text.decode().isidentifier() for text in texts)
        return CheapestSentences(*cheapest(self.forward.rules.alternatives(), costs), self.forward.rules)

    def _find_suites(self) -> None:
        for production in self.grammar.productions:
            if production.rhs[0] == self.indent:
                _, groups, last = production.rhs
                assert last == self.dedent
                self.suites[production.lhs] = self.grammar.repetitions[groups]
                self.lists[self.grammar.repetitions[groups]] = groups

    def _file_list(self) -> int:
        (production,) = self.grammar.productions_of(self.grammar.start)
        (groups,) = production.rhs
        self.lists.setdefault(self.grammar.repetitions[groups], groups)
        return groups

    def _rules(self, *, backward: bool) -> Rules:
        rules = Rules(backward=backward)
        for production in self.grammar.productions:
            turned = backward and production.lhs not in self.grammar.repetitions
            rules.add(production.lhs, production.rhs[::-1] if turned else production.rhs)
        return rules

    def live_terminals(self, live: int) -> tuple[int, ...]:
        """The terminals of the lexeme kinds in the bit set *live*."""
        found = self._live_terminals.get(live)
        if found is None:
            terminals = (self.terminal_of[kind] for kind in self.lexical.kinds_in(live))
            found = self._live_terminals[live] = tuple(dict.fromkeys(t for t in terminals if t >= 0))
        return found

    def terminals(self, kinds: Iterable[int]) -> tuple[int, ...]:
        """The terminals of lexeme *kinds*; -1, which no rule expects, for kinds without one."""
        terminal_of = self.terminal_of
        return tuple([terminal_of[kind] for kind in kinds])

    def may_follow(self, kinds: Sequence[int]) -> bool:
        """Whether each two neighbours of *kinds* may stand beside each other."""
        return self.neighbours.issuperset(pairwise(self.terminals(kinds)))

    def too_deep(self, kinds: Sequence[int], open_at_end: int) -> bool:
        """Whether more brackets are open somewhere in *kinds* than may be, if so many are at their end."""
        return self.lexical.too_deep(kinds, open_at_end)

    def common_nodes(self, left: OpenRules, right: OpenRules, begun: Open, ended: Open) -> CommonNodes:
        """As `find_common_nodes`, remembered."""
        key = left, right, begun, ended
        found = self._common_nodes.get(key)
        if found is None:
            found = self._common_nodes[key] = find_common_nodes(
                left, right, begun, ended, self.grammar.repetitions
            )
        return found

    def at_line_start(self, group: EarleySet) -> tuple[EarleySet | None, frozenset[int]]:
        """A backward set, or None if its group has no line before; what the group is if it begins there."""
        found = self._at_line_start.get(group)
        if found is None:
            goes_on = any(group.expects(symbol) for symbol in (self.newline, *self.suites))
            completed = group.completed_from(self.backward.start(self.bodies)) & self.bodies
            shared = self.backward.shared(group) if goes_on else None
            found = self._at_line_start[group] = shared, completed
        return found

    def suites_of(self, bodies: Iterable[int]) -> tuple[int, ...]:
        """The suite symbols whose groups are among *bodies*."""
        wanted = set(bodies)
        return tuple(suite for suite, body in self.suites.items() if body in wanted)


def neighbours(grammar: Grammar) -> frozenset[tuple[int, int]]:
    """The pairs of terminals that may stand beside each other in a sentence."""
    first = _ends(grammar, 0)
    last = _ends(grammar, -1)
    pairs: set[tuple[int, int]] = set()
    for production in grammar.productions:
        for left, right in pairwise(production.rhs):
            pairs.update((a, b) for a in last[left] for b in first[right])
    return frozenset(pairs)


def _ends(grammar: Grammar, side: int) -> dict[int, set[int]]:
    """For each symbol, the terminals at one end of what it derives: *side* is 0 or -1."""
    ends = {symbol: {symbol} for symbol in range(len(grammar.terminals))}
    ends.update({production.lhs: set() for production in grammar.productions})
    changed = True
    while changed:
        changed = False
        for production in grammar.productions:
            size = len(ends[production.lhs])
            ends[production.lhs] |= ends[production.rhs[side]]
            changed |= len(ends[production.lhs]) > size
    return ends


@cache
def tables_of(language: Language) -> LanguageTables:
    """The tables of *language*, made once; the first call reads the automaton from the disk or makes it."""
    return LanguageTables(language)
