"""The mask of a state: the tokens after which a middle may continue.

A `MaskStore` has the tables of a language and a vocabulary, made when first needed. The parser is queried for
groups of tokens, and its answers are cached with the connection.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np

from fimlsp.lexing.bounded_dict import MEGABYTE, WeighedDict
from fimlsp.lexing.lexer_state import LexerState
from fimlsp.quotient.bridge.middle_grammar import Connection
from fimlsp.quotient.grammar.cfg import State
from fimlsp.quotient.grammar.earley import EarleySet
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.masks.disk_cache import TableCache, state_key
from fimlsp.quotient.masks.end_states import EndStates
from fimlsp.quotient.masks.first_lexemes import FirstLexemes, automaton_of, first_lexemes
from fimlsp.quotient.masks.groups import mask_of
from fimlsp.quotient.masks.parser_queries import ParserPlace, ParserQueries, QueryCache
from fimlsp.quotient.masks.precomputed import PrecomputedAnswers
from fimlsp.quotient.masks.rule_suffixes import Expected
from fimlsp.quotient.masks.texts import Ints
from fimlsp.quotient.masks.token_groups import (
    LexedSuffixes,
    Split,
    TokenGroups,
    lexed_suffixes,
    split_texts,
    token_groups,
)
from fimlsp.quotient.masks.vocabulary import Bitmask, BoolMask, Vocabulary, allowed_by_feeding, recheck

MOST_BYTES = 1 << 26
"""The most memory that a store may hold."""

_SHARE = 8
"""The first lexemes of all suffixes are read if those of one in so many are needed."""

_MOST_MASK_BYTES = 8 * MEGABYTE
T = TypeVar("T", Split, LexedSuffixes, TokenGroups)


class ParserState(Protocol):
    """The part of a state in the grammar that masks need."""

    connection: Connection
    lexer: LexerState
    chart: EarleySet

    @property
    def viable(self) -> bool:
        """True if some continuation is complete."""

    def feed(self, data: bytes) -> ParserState | None:
        """As in `State`."""

    def at(self, lexer: LexerState, chart: EarleySet) -> ParserState:
        """The state of the same middle with another lexer state and chart."""


class MaskStore:
    """Tables about the texts of a vocabulary that do not depend on the parser.

    Keys are lexer states without the blocks around them. Those least recently used are dropped when all take
    more than `MOST_BYTES`. Tables that take long to make are cached on disk.
    """

    def __init__(self, tables: LanguageTables, vocabulary: Vocabulary) -> None:
        self.tables = tables
        self.vocabulary = vocabulary
        self.precomputed = PrecomputedAnswers(tables)
        self.expected: dict[State, Expected] = {}  # filled by `OpenRules`
        self.masks = WeighedDict[tuple[int, int], Bitmask](
            _MOST_MASK_BYTES, lambda key, mask: mask.nbytes + key[1].bit_length() // 8
        )
        self.ends = EndStates()
        self._first_of_suffixes: dict[int, FirstLexemes] = {}
        self._known: OrderedDict[tuple[type, LexerState], Split | LexedSuffixes | TokenGroups] = OrderedDict()
        self._table_bytes = 0

    @cached_property
    def _on_disk(self) -> TableCache:
        digest = self.vocabulary.digest if self.vocabulary.is_cached else None
        return TableCache(self.tables, digest)

    @property
    def n_bytes(self) -> int:
        """Approximate memory size, without answers of the parser."""
        return self._table_bytes + self.ends.n_bytes

    def split(self, lexer: LexerState) -> Split:
        """The effects of the texts on the lexeme in progress, which hardly depend on the open brackets."""
        if lexer.modes.restricted:
            return self._make_split(lexer)
        key = LexerState(lexer.lexical, lexer.state, lexer.lexical.start, None, lexer.accepted)
        split = self._find(Split, key)
        if split is None:
            split = self._on_disk.table(
                "split",
                repr((key.state, key.accepted)),
                lambda: self._make_split(lexer),
                Split.arrays,
                Split.from_arrays,
            )
            self._remember(key, split)
        return split

    def _make_split(self, lexer: LexerState) -> Split:
        return split_texts(self.vocabulary, lexer, _first_of_texts(self.vocabulary, lexer))

    def _first_lexemes_of_suffixes(self, state: int, numbers: Ints) -> FirstLexemes:
        """The first lexemes of the suffixes with these *numbers*, read from *state* on."""
        first = self._first_of_suffixes.get(state)
        if first is None:
            suffixes, automaton = self.vocabulary.suffixes, automaton_of(self.tables.lexical)
            if len(numbers) < len(suffixes) // _SHARE:
                return first_lexemes(automaton, suffixes, numbers, state)
            everything = np.arange(len(suffixes), dtype=np.int32)
            first = self._first_of_suffixes[state] = first_lexemes(automaton, suffixes, everything, state)
        return first.at(numbers)

    def suffixes(self, lexer: LexerState) -> LexedSuffixes:
        """The suffixes, from the start of a lexeme on."""
        lexed = self._find(LexedSuffixes, lexer)
        if lexed is None:
            suffixes, ends = self.vocabulary.suffixes, self.ends
            lexed = self._on_disk.table(
                "suffixes",
                state_key(lexer),
                lambda: lexed_suffixes(suffixes, lexer, self._first_lexemes_of_suffixes, ends),
                lambda made: made.arrays(lexer),
                lambda arrays: LexedSuffixes.from_arrays(arrays, lexer, ends),
            )
            self._remember(lexer, lexed)
        return lexed

    def tokens(self, lexer: LexerState) -> TokenGroups:
        """The texts, from any state on."""
        groups = self._find(TokenGroups, lexer)
        if groups is None:
            groups = token_groups(self, lexer)
            self._remember(lexer, groups)
        return groups

    def _find(self, kind: type[T], lexer: LexerState) -> T | None:
        table = self._known.get((kind, lexer))
        if table is None:
            return None
        self._known.move_to_end((kind, lexer))
        assert isinstance(table, kind)
        return table

    def _remember(self, lexer: LexerState, table: Split | LexedSuffixes | TokenGroups) -> None:
        self._known[type(table), lexer] = table
        self._table_bytes += table.n_bytes
        while self.n_bytes > MOST_BYTES and len(self._known) > 1:
            _, dropped = self._known.popitem(last=False)
            self._table_bytes -= dropped.n_bytes

    def key(self, lexer: LexerState) -> LexerState | None:
        """The state that stands for all in which the texts mean the same as in *lexer*.

        None if the tables do not suffice. That is so in a checked word, and in a part of nearly the largest
        allowed size. It is also so after a byte that may not come three times in a row.
        """
        lexical = lexer.lexical
        if lexer.word or lexer.equal_run != (0, 0) or (lexer.indents is None and lexical.offside):
            return None
        if lexer.counted and lexer.counted + self.vocabulary.longest > lexical.most_counted:
            return None
        if lexer.margin is not None and lexer.accepted == lexical.space:
            start = lexical.dfa.starts[lexer.modes.mode]
            return lexer._replace(state=start, accepted=-1, indents=None, counted=0)
        return lexer._replace(indents=None, counted=0)


def store_of(tables: LanguageTables, vocabulary: Vocabulary) -> MaskStore:
    """The mask store of a language and a vocabulary, which is kept with the vocabulary.

    It is replaced once its lexer states take half of the memory, as these cannot be dropped one by one.
    """
    store = vocabulary.stores.get(tables)
    if store is None or store.ends.n_bytes > MOST_BYTES // 2:
        store = vocabulary.stores[tables] = MaskStore(tables, vocabulary)
    assert isinstance(store, MaskStore)
    return store


def mask(state: ParserState, vocabulary: Vocabulary) -> Bitmask:
    """The mask of *state* without stop tokens, which must not be changed as it is cached."""
    store = store_of(state.connection.tables, vocabulary)
    key = store.key(state.lexer)
    if key is None:
        return vocabulary.words(allowed_by_feeding(vocabulary, state, lambda at, data: at.feed(data)))
    known = _known(state, store)
    place = ParserPlace(state.chart, state.lexer.indents)
    words = known.masks.get((key, place))
    if words is None:
        words = known.masks[key, place] = _mask(state, store, key, place)
    return words


def allowed_texts(state: ParserState, vocabulary: Vocabulary) -> BoolMask:
    """The mask of the texts of *vocabulary* that may follow after *state*."""
    store = store_of(state.connection.tables, vocabulary)
    key = store.key(state.lexer)
    if key is None:
        return allowed_by_feeding(vocabulary, state, lambda at, data: at.feed(data))
    return _allowed(state, store, key, ParserPlace(state.chart, state.lexer.indents))


def allowed_by_both(
    state: ParserState,
    vocabulary: Vocabulary,
    is_open: Callable[[ParserState], bool],
    feeds: Callable[[bytes], bool],
) -> BoolMask:
    """As `allowed_texts`, without texts that *feeds* refuses.

    It is not called for texts that complete no symbol and end in a state that is not *is_open*. These are
    nearly all texts.
    """
    allowed = allowed_texts(state, vocabulary)
    store = store_of(state.connection.tables, vocabulary)
    key = store.key(state.lexer)
    settled = np.zeros_like(allowed)
    if key is not None:
        groups = store.tokens(key)

        def is_settled(lexer: LexerState) -> bool:
            return not is_open(state.at(lexer._replace(indents=state.lexer.indents), state.chart))

        settled = groups.of_text.looked_up(groups.within_symbol(is_settled))
    numbers = np.flatnonzero(allowed & ~settled).tolist()
    return recheck(vocabulary, allowed & settled, numbers, feeds)


def allowed_within(
    vocabulary: Vocabulary,
    lexer: LexerState,
    ends: Callable[[LexerState], bool],
    feeds: Callable[[bytes], bool],
) -> BoolMask:
    """The mask of the texts that may follow in a middle that has to stay within one lexeme.

    *ends* returns True if the lexeme can be ended from a later state within it. *feeds* returns True if a
    text may follow, and is called only where the automaton does not decide alone.
    """
    if lexer.word or lexer.modes.restricted:
        return recheck(vocabulary, None, range(len(vocabulary.texts)), feeds)
    first = _first_of_texts(vocabulary, lexer)
    states, inverse = np.unique(first.states, return_inverse=True)
    may_end = [state != 0 and ends(lexer._replace(state=state)) for state in states.tolist()]
    allowed = np.zeros(len(vocabulary.texts) + 1, np.bool_)
    allowed[:-1] = np.array(may_end, np.bool_)[inverse]
    return recheck(vocabulary, allowed, np.flatnonzero(first.checked).tolist(), feeds)


def _first_of_texts(vocabulary: Vocabulary, lexer: LexerState) -> FirstLexemes:
    """The first lexemes of the texts, read from *lexer* on."""
    suffixes = vocabulary.suffixes
    return first_lexemes(automaton_of(lexer.lexical), suffixes, suffixes.number_of, lexer.state)


def _known(state: ParserState, store: MaskStore) -> QueryCache:
    known = state.connection.mask_answers.get(store)
    if known is None:
        known = state.connection.mask_answers[store] = QueryCache(state.connection, store.expected)
    assert isinstance(known, QueryCache)
    return known


def _allowed(state: ParserState, store: MaskStore, key: LexerState, place: ParserPlace) -> BoolMask:
    groups = store.tokens(key)
    bits = _queries(state, store).of_tokens(groups, place)
    return groups.of_text.looked_up(mask_of(bits, groups.n_groups))


def _mask(state: ParserState, store: MaskStore, key: LexerState, place: ParserPlace) -> Bitmask:
    groups = store.tokens(key)
    bits = _queries(state, store).of_tokens(groups, place)
    words = store.masks.get((groups.number, bits))
    if words is None:
        allowed = groups.of_text.looked_up(mask_of(bits, groups.n_groups))
        words = store.masks[groups.number, bits] = store.vocabulary.words(allowed)
    return words


def _queries(state: ParserState, store: MaskStore) -> ParserQueries:
    return ParserQueries(
        state.connection,
        _known(state, store),
        store.precomputed,
        lambda lexer, chart: state.at(lexer, chart).viable,
    )
