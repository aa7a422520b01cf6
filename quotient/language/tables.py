"""A language as tables: its lexicon, its grammar, and recognisers for both directions.

Groups. Between line starts of one block, a file is a sequence of *groups*: statements, or the cases of a
`match`. A group does not depend on its neighbours, and a nested block stands in it as one symbol, its
*suite*. So contexts are parsed group by group, and neither the length of a file nor the depth of its nesting
is ever paid twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise

from fimlsp.lexing.bounded_dict import BoundedDict
from fimlsp.lexing.lexer_state import LexerTables
from fimlsp.lexing.line import too_deep
from fimlsp.lexing.modes import MAX_BRACKETS
from fimlsp.quotient.earley.automaton import Automaton, Rules
from fimlsp.quotient.earley.canonical_sets import SharedSets
from fimlsp.quotient.earley.common_nodes import CommonNodes, find_common_nodes
from fimlsp.quotient.earley.open_rules import Open, OpenRuleFinder, OpenRules
from fimlsp.quotient.earley.sets import Earley, EarleySet
from fimlsp.quotient.grammar.cfg import Grammar
from fimlsp.quotient.grammar.costs import CheapestSentences, cheapest
from fimlsp.quotient.language.escape import Brackets, Insides
from fimlsp.quotient.language.interner import Interner
from fimlsp.quotient.language.line_classes import LineClasses

_MOST_REMEMBERED = 3_000
_MOST_SPINES = 1024
_MOST_JOINED = 4096
_INDENT_COST = 4
_NONE = frozenset[int]()

_Top = tuple[EarleySet, tuple[int, ...] | None, frozenset[int]]
"""What a spine is climbed from."""


class Direction:
    """A recogniser that reads groups from one side, remembering what it read."""

    __slots__ = (
        "_begun",
        "_brackets",
        "_finder",
        "_insides",
        "_memo",
        "_open_rules_at",
        "_sets",
        "_starts",
        "earley",
        "rules",
    )

    def __init__(self, rules: Rules, brackets: Brackets) -> None:
        self.rules = rules
        self._brackets = brackets
        self._finder = OpenRuleFinder(rules)
        self.earley = Earley(Automaton(rules))
        self._open_rules_at: BoundedDict[_Top, OpenRules] = BoundedDict(_MOST_SPINES)
        self._insides: BoundedDict[OpenRules, Insides] = BoundedDict(_MOST_SPINES)
        self._begun: BoundedDict[_Top, frozenset[int]] = BoundedDict(_MOST_SPINES)
        self._sets = SharedSets()
        self._starts: dict[frozenset[int], EarleySet] = {}
        self._memo: BoundedDict[tuple[EarleySet, tuple[int, ...]], EarleySet | None] = BoundedDict(
            _MOST_REMEMBERED
        )

    def start(self, bodies: frozenset[int]) -> EarleySet:
        """The set before a group that may be any of *bodies*; always the same object."""
        found = self._starts.get(bodies)
        if found is None:
            found = self._starts[bodies] = self.earley.start(bodies)
        return found

    def read(self, before: EarleySet, symbols: tuple[int, ...]) -> EarleySet | None:
        """As `Earley.read`; equal readings from one set give the same object."""
        key = before, symbols
        try:
            return self._memo[key]
        except KeyError:
            found = self._memo[key] = self.earley.read(before, symbols)
            return found

    def shared(self, found: EarleySet) -> EarleySet:
        """As `SharedSets.standing_for`."""
        return self._sets.standing_for(found)

    def open_rules(
        self, last: EarleySet, suites: tuple[int, ...] | None, not_next: frozenset[int] = _NONE
    ) -> OpenRules:
        """As `OpenRuleFinder.open_rules`, remembered."""
        top = last, suites, not_next
        found = self._open_rules_at.get(top)
        if found is None:
            found = self._open_rules_at[top] = self._finder.open_rules(*top)
        return found

    def begun(
        self,
        last: EarleySet,
        suites: tuple[int, ...] | None,
        bodies: frozenset[int],
        not_next: frozenset[int] = _NONE,
    ) -> frozenset[int]:
        """Which of *bodies* the group may be whose spine is that at *last*, remembered."""
        top = last, suites, not_next
        found = self._begun.get(top)
        if found is None:
            opened = self.open_rules(*top).opened
            found = self._begun[top] = bodies & opened.get(self.start(bodies), _NONE)
        return found

    def insides(self, of: OpenRules) -> Insides:
        """As `Brackets.insides`, remembered."""
        found = self._insides.get(of)
        if found is None:
            found = self._insides[of] = self._brackets.insides(of)
        return found

    def read_any(self, before: EarleySet, symbols: tuple[int, ...]) -> EarleySet | None:
        """The set after one symbol, any of *symbols*."""
        return self.read(before, symbols) if len(symbols) == 1 else self.earley.scan(before, symbols)


class LanguageTables:
    """The tables of one language; made once, shared by all documents.

    `terminal_of` maps lexeme kinds to terminals of the grammar (-1 for kinds without one). `suites` maps
    each suite symbol to the symbol of its groups, `bodies` are those symbols, `lists` maps each to the
    nonterminal of one or more of it. Behind the symbols `line_ends` a line begins. `once` makes values of
    which equal ones are the same object.
    """

    def __init__(self, lexical: LexerTables, grammar: Grammar) -> None:
        self.lexical = lexical
        self.grammar = grammar
        self.once = Interner()
        self.newline = grammar.symbol("NEWLINE")
        self.indent = grammar.symbol("INDENT")
        self.dedent = grammar.symbol("DEDENT")
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
        self._find_suites()
        self.bodies = frozenset(self.lists)
        self.file_body = grammar.repetitions[self._file_list()]
        self.neighbours = neighbours(grammar)
        layout = {self.newline, self.dedent}
        self.line_ends = frozenset(symbol for symbol, last in _ends(grammar, -1).items() if last <= layout)
        self.shortest_words = lexical.shortest_words
        self.kinds_of = self._kinds_of()
        self.brackets = Brackets(grammar.terminals)
        self.forward = Direction(self._rules(backward=False), self.brackets)
        self.backward = Direction(self._rules(backward=True), self.brackets)
        self.line_classes = LineClasses(
            grammar, self.suites.keys(), self.lists.keys(), self.lists.values(), self.forward
        )

    @property
    def first_free_symbol(self) -> int:
        """The first number that is no symbol of the grammar."""
        return len(self.grammar.terminals) + len(self.grammar.nonterminals)

    def _terminal(self, kind: str) -> int:
        name = kind.partition(":")[0] if kind.startswith("FSTRING_START") else kind
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
        (production,) = self.grammar.productions_of(self.grammar.symbol("file"))
        (groups,) = production.rhs
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
        """The terminals of lexeme *kinds*; BAD becomes -1, which no rule expects."""
        terminal_of = self.terminal_of
        return tuple([terminal_of[kind] for kind in kinds])

    def may_follow(self, kinds: Sequence[int]) -> bool:
        """Whether each two neighbours of *kinds* may stand beside each other."""
        return self.neighbours.issuperset(pairwise(self.terminals(kinds)))

    def too_deep(self, kinds: Sequence[int], open_at_end: int) -> bool:
        """Whether more brackets are open somewhere in *kinds* than may be, if so many are at their end."""
        if len(kinds) + open_at_end <= MAX_BRACKETS:
            return False
        return too_deep(self.lexical.rules, [self.lexical.kinds[kind] for kind in kinds], open_at_end)

    def common_nodes(self, left: OpenRules, right: OpenRules, begun: Open, ended: Open) -> CommonNodes:
        """As `joining.find_common_nodes`, remembered."""
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
