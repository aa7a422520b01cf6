"""The mask store of a language and a vocabulary: tables that are made when first needed, and kept."""

from __future__ import annotations

from collections import OrderedDict

from fimlsp.lexing.bounded_dict import MEGABYTE, WeighedDict
from fimlsp.lexing.lexer_state import LexerState
from fimlsp.quotient.earley.automaton import State
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.masks.ahead import Ahead
from fimlsp.quotient.masks.grouping.ends import Ends
from fimlsp.quotient.masks.grouping.first_lexemes import FirstLexemes, automaton_of, first_lexemes
from fimlsp.quotient.masks.grouping.lexed_suffixes import LexedSuffixes, lexed_suffixes
from fimlsp.quotient.masks.grouping.token_groups import Split, TokenGroups, split_texts, token_groups
from fimlsp.quotient.masks.kept.kept_tables import KeptTables
from fimlsp.quotient.masks.rests import Expected
from fimlsp.quotient.masks.vocabulary import Vocabulary, Words

MOST_BYTES = 1 << 26
"""What a store may hold in memory."""

_MOST_WORDS_BYTES = 8 * MEGABYTE


class MaskStore:
    """What is known of the texts of a vocabulary, whatever the parser says.

    Keys are lexer states without what is known of the blocks around them. What was not used for longest is
    forgotten where more than `MOST_BYTES` would be held. What takes long to make is kept on disk.
    """

    def __init__(self, tables: LanguageTables, vocabulary: Vocabulary) -> None:
        self.tables = tables
        self.vocabulary = vocabulary
        self.ahead = Ahead(tables)
        self.expected: dict[State, Expected] = {}  # filled by `OpenRests`
        self.words = WeighedDict[tuple[int, int], Words](
            _MOST_WORDS_BYTES, lambda key, words: words.nbytes + key[1].bit_length() // 8
        )
        self.ends = Ends()
        self._on_disk = KeptTables(tables, vocabulary)
        self._of_suffixes: dict[int, FirstLexemes] = {}
        self._kept: OrderedDict[tuple[str, LexerState], Split | LexedSuffixes | TokenGroups] = OrderedDict()
        self._of_tables = 0

    @property
    def n_bytes(self) -> int:
        """About what is held in memory, but for answers of the parser."""
        return self._of_tables + self.ends.n_bytes

    def split(self, lexer: LexerState) -> Split:
        """What the texts do to the lexeme in progress, which hardly depends on what else is open."""
        key = LexerState(lexer.lexical, lexer.state, lexer.lexical.start, None, lexer.accepted)
        found = None if lexer.modes.restricted else self._find("split", key)
        if found is None:
            if lexer.modes.restricted:
                return self._make_split(lexer)
            found = self._on_disk.split(key, lambda: self._make_split(lexer))
            self._keep("split", key, found)
        assert isinstance(found, Split)
        return found

    def _make_split(self, lexer: LexerState) -> Split:
        first = first_lexemes(automaton_of(self.tables.lexical), self.vocabulary.trie, lexer.state)
        return split_texts(self.vocabulary, lexer, first)

    def _first_of_suffixes(self, state: int) -> FirstLexemes:
        found = self._of_suffixes.get(state)
        if found is None:
            trie = self.vocabulary.suffixes.trie
            found = self._of_suffixes[state] = first_lexemes(automaton_of(self.tables.lexical), trie, state)
        return found

    def suffixes(self, lexer: LexerState) -> LexedSuffixes:
        """The suffixes, from the start of a lexeme on."""
        found = self._find("suffixes", lexer)
        if found is None:
            suffixes = self.vocabulary.suffixes
            found = self._on_disk.suffixes(
                lexer, self.ends, lambda: lexed_suffixes(suffixes, lexer, self._first_of_suffixes, self.ends)
            )
            self._keep("suffixes", lexer, found)
        assert isinstance(found, LexedSuffixes)
        return found

    def tokens(self, lexer: LexerState) -> TokenGroups:
        """The texts, from any state on."""
        found = self._find("tokens", lexer)
        if found is None:
            found = token_groups(self, lexer)
            self._keep("tokens", lexer, found)
        assert isinstance(found, TokenGroups)
        return found

    def _find(self, what: str, lexer: LexerState) -> Split | LexedSuffixes | TokenGroups | None:
        found = self._kept.get((what, lexer))
        if found is not None:
            self._kept.move_to_end((what, lexer))
        return found

    def _keep(self, what: str, lexer: LexerState, made: Split | LexedSuffixes | TokenGroups) -> None:
        self._kept[what, lexer] = made
        self._of_tables += made.n_bytes
        while self.n_bytes > MOST_BYTES and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._of_tables -= dropped.n_bytes

    def key(self, lexer: LexerState) -> LexerState | None:
        """The state that stands for all in which the texts mean the same as in *lexer*.

        None if more decides about them than the tables know: the part of a checked word that was read, bytes
        that may not come three times in a row, and a part that is nearly as long as it may be.
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
    """The mask store of a language and a vocabulary; it is kept with the vocabulary.

    A new one where half of the old one is lexer states, as these are only forgotten all together.
    """
    found = vocabulary.stores.get(tables)
    if found is None or found.ends.n_bytes > MOST_BYTES // 2:
        found = vocabulary.stores[tables] = MaskStore(tables, vocabulary)
    assert isinstance(found, MaskStore)
    return found
