"""The compiled tables of a language: its lexemes, its grammar, and a recogniser for each direction.

Groups. With an offside layout the lines of a block form a sequence of *groups*, for instance statements. The
symbol that a group derives from is its *body*; in the grammar a block is a repetition of a body. A group does
not depend on its neighbours, and a nested block occurs in it as one symbol, its *suite*. So contexts are
parsed group by group, and neither the length of a file nor the depth of its blocks is paid for twice. Without
a layout the whole file is a single group between two sentinels. The sentinels ensure that some rule is open
everywhere, even at the very beginning and end of the file.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TypeVar, cast

from fimlsp.lexing.automata.bit_sets import bit_set, members
from fimlsp.lexing.bounded_dict import MEGABYTE, BoundedDict, HeldDict, WeighedDict
from fimlsp.lexing.lexer_tables import LexerTables
from fimlsp.lexing.nesting import ModeStack
from fimlsp.quotient.grammar.cfg import (
    SENTINELS,
    CheapestSentences,
    Grammar,
    Rules,
    between_sentinels,
    cheapest,
)
from fimlsp.quotient.grammar.earley import EarleySet
from fimlsp.quotient.grammar.open_rules import CommonNodes, Open, OpenRules, find_common_nodes
from fimlsp.quotient.language.contract import DEDENT, INDENT, NEWLINE, Language, WholeTextCheck
from fimlsp.quotient.language.direction import Direction, LineClasses
from fimlsp.quotient.language.escape import Enclosures

MOST_LANGUAGES = 32
"""Number of languages that `tables_of` remembers; each version of a language is one."""

_MOST_LINE_STARTS = 3_000
_INDENT_COST = 4
_NO_SYMBOL = -1  # no rule expects it


T = TypeVar("T", bound="Interned")


class Interned:
    """Base class of the values that an `Interner` makes."""

    __slots__ = ()


class Interner:
    """Makes values, each only once; a value is freed some time after nothing else refers to it.

    So equal values are the same object, compared and hashed by identity. This is hash-consing (Ershov, "On
    Programming of Arithmetic Operations", CACM 1(8), 1958. Filliâtre and Conchon, "Type-Safe Modular
    Hash-Consing", ML Workshop 2006).
    """

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: HeldDict[tuple[Hashable, ...], Interned] = HeldDict()

    def __call__(self, make: type[T], *parts: Hashable) -> T:
        """The value `make(*parts)`; the same object for equal parts."""
        key = make, *parts
        known = self._made.get(key)
        if known is None:
            known = self._made[key] = make(*parts)
        return cast("T", known)


class LanguageTables:
    """The tables of a language, made once and shared by all its documents.

    `terminal_of` maps lexeme kinds to terminals of the grammar (-1 for kinds without one) and `kinds_of` is
    its inverse. `bodies` are the symbols of groups, `lists` maps each to its repetition, and `suites` maps
    each suite symbol to the body of its groups. A new line starts after the symbols `line_ends`. `neighbours`
    are the pairs of terminals that may be adjacent. `intern` makes hash-consed values.
    """

    def __init__(self, language: Language, lexical: LexerTables | None = None) -> None:
        self.language = language
        lexical = self.lexical = lexical or LexerTables(language.lexical_spec())
        self.offside = lexical.offside
        grammar = language.grammar() if self.offside else between_sentinels(language.grammar())
        self.grammar = grammar
        self.opening_of = {closing: opening for opening, closing in lexical.brackets.items()}
        self.intern = Interner()
        self.newline, self.indent, self.dedent = (
            grammar.symbol(name) if self.offside else _NO_SYMBOL for name in (NEWLINE, INDENT, DEDENT)
        )
        self.terminal_of = tuple(self._terminal(kind) for kind in lexical.kinds)
        self.suites: dict[int, int] = {}
        self.lists: dict[int, int] = {}
        self._suites_of: BoundedDict[frozenset[int], tuple[int, ...]] = BoundedDict(_MOST_LINE_STARTS)
        self._live_terminals: dict[int, tuple[int, ...]] = {}
        self._finer: dict[Language, LanguageTables] = {}
        self._common_nodes = WeighedDict[tuple[OpenRules, OpenRules, Open, Open], CommonNodes](
            16 * MEGABYTE, lambda key, found: key[0].weight + key[1].weight + found.weight
        )
        self._at_line_start: BoundedDict[EarleySet, tuple[EarleySet | None, frozenset[int]]] = BoundedDict(
            _MOST_LINE_STARTS
        )
        self._not_before: dict[frozenset[ModeStack], frozenset[int]] = {}
        if self.offside:
            self._find_suites()
        self.file_body = grammar.repetitions[self._file_list()] if self.offside else grammar.start
        self.bodies = frozenset(self.lists) or frozenset((grammar.start,))
        self._last_terminals = ends(grammar, -1)
        self.neighbours = _neighbours(grammar, self._last_terminals)
        layout = {self.newline, self.dedent}
        self.line_ends = frozenset(symbol for symbol, last in self._last_terminals.items() if last <= layout)
        self.shortest_words = lexical.shortest_words
        self.kinds_of = self._kinds_of()
        self.enclosures = Enclosures(grammar, language.enclosures, language.elements)
        self.enclosing_kinds = (lexical.mode_changers - lexical.marks).union(
            kind for kind, terminal in enumerate(self.terminal_of) if terminal in self.enclosures
        )
        self.forward = Direction(self._rules(backward=False), self.enclosures)
        self.backward = Direction(self._rules(backward=True), self.enclosures)

    def prepare(self) -> None:
        """Fill the caches that the first cursor needs: some milliseconds, once."""
        if "cheapest" not in vars(self):
            self.lexical.paths.prepare(self.lexical.dfa.starts.values())
            self.forward.prepare()
            self.backward.prepare()
            self.cheapest.cost(self.file_body)

    @cached_property
    def line_classes(self) -> LineClasses:
        """The classes of logical lines, in a language with an offside layout."""
        return LineClasses(
            self.grammar, self.suites.keys(), self.lists.keys(), self.lists.values(), self.forward
        )

    @cached_property
    def whole_text_check(self) -> WholeTextCheck | None:
        """As in `Language`; one for all documents, so that they share its caches."""
        return self.language.whole_text_check()

    def finer(self, language: Language) -> LanguageTables:
        """The tables of *language*, which is one of `Language.finer`."""
        tables = self._finer.get(language)
        if tables is None:
            tables = self._finer[language] = LanguageTables(language, self.lexical)
        return tables

    @cached_property
    def place_kinds(self) -> int:
        """The bit set of kinds of lexemes that are words of places (see `Grammar`)."""
        return sum(1 << kind for word in self.grammar.place_words for kind in self.kinds_of[word])

    @property
    def first_free_symbol(self) -> int:
        """The first number after the symbols of the grammar."""
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
        """The cheapest derivation of each symbol of the grammar, in bytes of text."""
        return CheapestSentences(
            *cheapest(self.forward.rules.alternatives(), self._costs()), self.forward.rules
        )

    @cached_property
    def cheapest_without_blocks(self) -> CheapestSentences:
        """As `cheapest`, where no block may start."""
        costs = self._costs()
        del costs[self.indent]
        sentences = cheapest(self.forward.rules.alternatives(), costs)
        return CheapestSentences(*sentences, self.forward.rules, other=None)

    def _costs(self) -> dict[int, int]:
        """The cost of each terminal."""
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
            costs[terminal] = min((_cost_of_text(text) for text in texts), default=0)
        return costs

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
        """The terminals of the lexeme kinds in the bit set *live*; cached."""
        live_terminals = self._live_terminals.get(live)
        if live_terminals is None:
            terminals = (self.terminal_of[kind] for kind in self.lexical.kinds_in(live))
            live_terminals = self._live_terminals[live] = tuple(dict.fromkeys(t for t in terminals if t >= 0))
        return live_terminals

    def terminals(self, kinds: Iterable[int]) -> tuple[int, ...]:
        """The terminals of lexeme *kinds*; -1, which no rule expects, for a kind without one."""
        terminal_of = self.terminal_of
        return tuple([terminal_of[kind] for kind in kinds])

    def may_follow(self, kinds: Sequence[int]) -> bool:
        """True if neighbours in *kinds* may be adjacent in a sentence. A necessary condition for validity."""
        return self.neighbours.issuperset(pairwise(self.terminals(kinds)))

    def too_deep(self, kinds: Sequence[int], open_at_end: int) -> bool:
        """True if brackets nest too deeply in *kinds*, given that *open_at_end* are open after them."""
        return self.lexical.too_deep(kinds, open_at_end)

    def common_nodes(
        self, left: OpenRules, right: OpenRules, left_node: Open, right_node: Open
    ) -> CommonNodes:
        """As `find_common_nodes`, cached."""
        key = left, right, left_node, right_node
        nodes = self._common_nodes.get(key)
        if nodes is None:
            nodes = self._common_nodes[key] = find_common_nodes(
                left, right, left_node, right_node, self.grammar.repetitions
            )
        return nodes

    def at_line_start(self, group: EarleySet) -> tuple[EarleySet | None, frozenset[int]]:
        """Interpret a backward set at a line start.

        Returns its canonical set, and the bodies that the group may be if it starts here. The former is None
        if the group cannot have an earlier line.
        """
        answer = self._at_line_start.get(group)
        if answer is None:
            has_line_before = any(group.expects(symbol) for symbol in (self.newline, *self.suites))
            completed = group.completed_from(self.backward.start(self.bodies)) & self.bodies
            canonical = self.backward.canonical(group) if has_line_before else None
            answer = self._at_line_start[group] = canonical, completed
        return answer

    def not_before(self, places: frozenset[ModeStack]) -> frozenset[int]:
        """The symbols that end with a lexeme after which the modes are none of *places*; cached.

        Exact if no symbol may end with lexemes of both sorts.
        """
        symbols = self._not_before.get(places)
        if symbols is None:
            first, *others = [self._not_before_place(place) for place in places]
            symbols = self._not_before[places] = first.intersection(*others)
        return symbols

    def _not_before_place(self, place: ModeStack) -> frozenset[int]:
        key = frozenset((place,))
        if key in self._not_before:
            return self._not_before[key]
        names = self.lexical.kinds
        not_after = {
            terminal
            for terminal, kinds in self.kinds_of.items()
            if not any(place.may_follow(names[kind]) for kind in kinds)
        }
        symbols = frozenset(symbol for symbol, last in self._last_terminals.items() if last <= not_after)
        self._not_before[key] = symbols
        return symbols

    def suites_of(self, bodies: frozenset[int]) -> tuple[int, ...]:
        """The suite symbols whose groups are among *bodies*; cached."""
        suites = self._suites_of.get(bodies)
        if suites is None:
            suites = tuple(suite for suite, body in self.suites.items() if body in bodies)
            self._suites_of[bodies] = suites
        return suites


def _cost_of_text(text: bytes) -> int:
    """The cost of writing a lexeme: its length, and one more for a word, which may need a space."""
    return len(text) + text.decode(errors="replace").isidentifier()


def neighbours(grammar: Grammar) -> frozenset[tuple[int, int]]:
    """The pairs of terminals that may be adjacent in a sentence."""
    return _neighbours(grammar, ends(grammar, -1))


def _neighbours(grammar: Grammar, last_of: Mapping[int, set[int]]) -> frozenset[tuple[int, int]]:
    first = {symbol: bit_set(terminals) for symbol, terminals in ends(grammar, 0).items()}
    last = {symbol: bit_set(terminals) for symbol, terminals in last_of.items()}
    after_last: dict[int, int] = {}  # the bit set of terminals after any that ends a symbol
    for left, right in {pair for production in grammar.productions for pair in pairwise(production.rhs)}:
        after_last[last[left]] = after_last.get(last[left], 0) | first[right]
    after: dict[int, int] = {}
    for terminals, following in after_last.items():
        for terminal in members(terminals):
            after[terminal] = after.get(terminal, 0) | following
    return frozenset((terminal, next_one) for terminal, bits in after.items() for next_one in members(bits))


def ends(grammar: Grammar, side: int) -> dict[int, set[int]]:
    """For each symbol the first (*side* 0) or last (*side* -1) terminals of its sentences."""
    ends_of = {symbol: {symbol} for symbol in range(len(grammar.terminals))}
    ends_of.update({production.lhs: set() for production in grammar.productions})
    users: dict[int, list[int]] = {}
    for production in grammar.productions:
        users.setdefault(production.rhs[side], []).append(production.lhs)
    waiting = [(terminal, {terminal}) for terminal in range(len(grammar.terminals))]
    while waiting:
        symbol, found = waiting.pop()
        for user in users.get(symbol, ()):
            fresh = found - ends_of[user]
            if fresh:
                ends_of[user] |= fresh
                waiting.append((user, fresh))
    return ends_of


@lru_cache(MOST_LANGUAGES)
def tables_of(language: Language) -> LanguageTables:
    """The tables of *language*; those of the languages used last are kept.

    The first call loads the DFA from disk, or compiles it in a few seconds.
    """
    return LanguageTables(language)
