"""Groups the tokens of a vocabulary by their meaning in a state of the lexer.

A token ends the lexeme in progress, or does not. After that lexeme its remainder is a suffix of a token, read
from the start of a lexeme, and such starts are few. So all suffixes are read from each start once, one lexeme
of every suffix at a time, in arrays. The lexer itself reads those that are few, and those about which the
automaton does not decide alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from fimlsp.lexing.interruption import checkpoint
from fimlsp.lexing.lexer_state import LexerState, Margin, Symbol
from fimlsp.lexing.nesting import Column, ModeStack
from fimlsp.quotient.masks.disk_cache import Arrays
from fimlsp.quotient.masks.end_states import EndStates, LexemeEnd, LexemeEnds
from fimlsp.quotient.masks.first_lexemes import FirstLexemes
from fimlsp.quotient.masks.groups import DEAD_GROUP, GroupBuilder, Groups, after_lexeme
from fimlsp.quotient.masks.suffixes import Suffixes
from fimlsp.quotient.masks.texts import Ints, Runs, distinct, smallest
from fimlsp.quotient.masks.vocabulary import BoolMask, Vocabulary

_SPACE = b" "
_NONE = -1
_FEW = 100
"""Up to this many texts are read one by one, as the array of each step costs as much as so many."""


FirstLexemesOf = Callable[[int, Ints], FirstLexemes]


class LexedSuffixes(NamedTuple):
    """The suffixes of a vocabulary, read from one state on: their *groups*, and the group of each.

    If a line starts in that state, those of `first_in_line` are left out.
    """

    groups: Groups
    of_suffix: Ints

    @property
    def n_bytes(self) -> int:
        """Approximate memory size."""
        return self.of_suffix.nbytes + self.groups.n_bytes

    def arrays(self, start: LexerState) -> Arrays | None:
        """The table as arrays to save, if it was read from *start*.

        None if `from_arrays` could not restore the modes of a lexer state, which follow from the symbols that
        lead there.
        """
        groups = self.groups
        nodes = np.zeros((len(groups.children), 4), np.int32)
        for parent, children in enumerate(groups.children):
            for symbol, child in children:
                nodes[child] = parent, *(symbol if isinstance(symbol, Column) else (symbol, _NONE)), 0
                nodes[child, 3] = isinstance(symbol, Column)
        modes = _modes(start, nodes)
        node_of, end_of = groups.nodes_of_all, groups.end_of[1:]
        ends, first_group, numbers = np.unique(end_of, return_index=True, return_inverse=True)
        rows, texts = [], []
        for end, node in zip(ends.tolist(), node_of[first_group].tolist(), strict=True):
            lexer = groups.ends.state(end)
            rows.append(_row(lexer, node))
            texts.append(lexer.leftover + lexer.word)
        for end, node in zip(end_of.tolist(), node_of.tolist(), strict=True):
            lexer = groups.ends.state(end)
            if lexer.modes is not modes[node] or lexer.indents is not None:
                return None
        return {
            "of_suffix": self.of_suffix,
            "nodes": nodes,
            "members": np.column_stack((node_of, numbers)).astype(np.int32),
            "ends": np.array(rows, np.int32).reshape(-1, 12),
            "texts": np.frombuffer(b"".join(texts), np.uint8),
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays, start: LexerState, ends: EndStates) -> LexedSuffixes:
        """The inverse of `arrays`."""
        nodes = arrays["nodes"]
        children: list[list[tuple[Symbol, int]]] = [[] for _ in nodes]
        for child, (parent, symbol, other, is_column) in enumerate(nodes.tolist()):
            if child:
                children[parent].append((Column(symbol, other) if is_column else symbol, child))
        modes = _modes(start, nodes)
        texts, offset = arrays["texts"].tobytes(), 0
        numbers = []
        for node, state, accepted, has_margin, tabs8, tabs1, frozen, last, count, counted, n, m in arrays[
            "ends"
        ].tolist():
            margin = Margin(Column(tabs8, tabs1), frozen) if has_margin else None
            leftover, word = texts[offset : offset + n], texts[offset + n : offset + n + m]
            offset += n + m
            mode = modes[node]
            assert mode is not None
            lexer = LexerState(
                start.lexical, state, mode, None, accepted, leftover, margin, (last, count), word, counted
            )
            numbers.append(ends.number(lexer))
        node_of, row_of = arrays["members"].T
        groups = Groups(ends, children, node_of, np.array(numbers, np.int32)[row_of])
        return cls(groups, arrays["of_suffix"])


def _row(lexer: LexerState, node: int) -> tuple[int, ...]:
    margin = (0, 0, 0, 0) if lexer.margin is None else (1, *lexer.margin.column, lexer.margin.frozen)
    lengths = len(lexer.leftover), len(lexer.word)
    return (node, lexer.state, lexer.accepted, *margin, *lexer.equal_run, lexer.counted, *lengths)


def _modes(start: LexerState, nodes: np.ndarray) -> list[ModeStack | None]:
    """The modes after the symbols of each node; None if the symbols do not determine them."""
    lexical = start.lexical
    modes_of: list[ModeStack | None] = [start.modes]
    for parent, symbol, _, is_column in nodes[1:].tolist():
        modes = modes_of[parent]
        if modes is not None and not is_column and symbol in lexical.mode_changers:
            modes = modes.after(lexical.kinds[symbol])
        modes_of.append(modes)
    return modes_of


def lexed_suffixes(
    suffixes: Suffixes, start: LexerState, first: FirstLexemesOf, ends: EndStates
) -> LexedSuffixes:
    """The *suffixes*, read from *start*, a state between two lexemes.

    *first* returns first lexemes by the state of the automaton and the numbers of suffixes.
    """
    reader = _SuffixReader(suffixes, start, first, ends)
    groups, numbers = reader.groups.finish()
    return LexedSuffixes(groups, numbers[reader.of_suffix].astype(smallest(groups.n_groups)))


class FirstInLine(NamedTuple):
    """Suffixes that start the first lexeme of a line after the same white space.

    `numbers` are theirs, `rests` those of the remainders after the white space. That completes `symbols`, and
    leads to `lexer`.
    """

    symbols: tuple[Symbol, ...]
    lexer: LexerState
    numbers: Ints
    rests: Ints


def first_in_line(suffixes: Suffixes, lexer: LexerState) -> Iterator[FirstInLine]:
    """The suffixes that start the first lexeme of the line that *lexer* is in, at once or after a space.

    These are nearly all. The meaning of such a lexeme hardly depends on the line, so they are read once for
    all lines.
    """
    if lexer.margin is None or lexer.modes.depth or not lexer.at_lexeme_start:
        return
    lexical, firsts = lexer.lexical, suffixes.first_bytes
    is_code = ~np.isin(firsts, np.array(sorted(lexical.quiet), np.uint8))
    is_code[0] = False
    at_once = lexer.start_line(b"")
    if at_once is not None:
        numbers = np.flatnonzero(is_code).astype(np.int32)
        yield FirstInLine(tuple(at_once.symbols), at_once.lexer, numbers, numbers)
    space = lexer.feed(_SPACE)
    ended = space and space.lexer.accepted == lexical.space and space.lexer.finish()
    after = ended and ended.lexer.margin is not None and ended.lexer.start_line(b"")
    if space and ended and after:
        numbers = np.flatnonzero(firsts[1:] == _SPACE[0]).astype(np.int32) + 1
        rests = suffixes.shorter[numbers]
        row = np.array(lexical.dfa.rows[space.lexer.state])
        chosen = is_code[rests]
        chosen[chosen] = row[firsts[rests[chosen]]] == 0
        symbols = (*space.symbols, *ended.symbols, *after.symbols)
        yield FirstInLine(symbols, after.lexer, numbers[chosen], rests[chosen])


@dataclass(slots=True)
class _Waiting:
    """Items to be read from one state on, in parts: the items, their rests and their nodes."""

    parts: list[tuple[Ints, Ints, Ints]]
    n_items: int = 0


def _number_of_items(waiting: tuple[LexerState, _Waiting]) -> int:
    return waiting[1].n_items


class _SuffixReader:
    """Reads all suffixes but those that are first in a line that begins at the start.

    An item is the number of a suffix, its rest that of the unread part, and its node that of the symbols
    completed so far.
    """

    def __init__(self, suffixes: Suffixes, start: LexerState, first: FirstLexemesOf, ends: EndStates) -> None:
        self.groups = GroupBuilder(ends)
        self.of_suffix = np.zeros(len(suffixes), np.int32)
        self._suffixes = suffixes
        self._first = first
        self._lexical = start.lexical
        is_read = np.ones(len(suffixes), np.bool_)
        for first_ones in first_in_line(suffixes, start):
            is_read[first_ones.numbers] = False
        everything = np.flatnonzero(is_read).astype(np.int32)
        self._moves: dict[tuple[Symbol, ...], dict[int, int]] = {}
        self._waiting: dict[LexerState, _Waiting] = {}
        self._wait(start, everything, everything, np.zeros_like(everything))
        while self._waiting:
            checkpoint()
            lexer, waiting = max(self._waiting.items(), key=_number_of_items)
            del self._waiting[lexer]
            items, rests, nodes = (np.concatenate(column) for column in zip(*waiting.parts, strict=True))
            self._read(lexer, items, rests, nodes)

    def _wait(self, lexer: LexerState, items: Ints, rests: Ints, nodes: Ints) -> None:
        """Queue *items* whose *rests* are to be read from *lexer* on, after the symbols of *nodes*."""
        if len(items):
            waiting = self._waiting.get(lexer)
            if waiting is None:
                waiting = self._waiting[lexer] = _Waiting([])
            waiting.parts.append((items, rests, nodes))
            waiting.n_items += len(items)

    def _read(self, lexer: LexerState, items: Ints, rests: Ints, nodes: Ints) -> None:
        """Read one lexeme of each of *rests*."""
        if len(items) <= _FEW:
            self._read_one_by_one(lexer, items, rests, nodes)
            return
        if lexer.margin is not None:
            items, rests, nodes = self._start_lines(lexer, items, rests, nodes)
        first = self._first(lexer.state, rests)
        is_single = first.checked | self._singly(lexer, rests)
        is_inside, has_ended = first.states != 0, first.kinds >= 0
        singly = np.flatnonzero(is_single)
        self._read_one_by_one(lexer, items[singly], rests[singly], nodes[singly])
        inside = np.flatnonzero(is_inside & ~is_single)
        self._end(lexer, first.at(inside), items[inside], rests[inside], nodes[inside])
        ended = np.flatnonzero(has_ended & ~is_inside & ~is_single)
        self._continue(lexer, first.at(ended), items[ended], rests[ended], nodes[ended])

    def _read_one_by_one(self, lexer: LexerState, items: Ints, rests: Ints, nodes: Ints) -> None:
        text_of = self._suffixes.text
        for item, rest, node in zip(items.tolist(), rests.tolist(), nodes.tolist(), strict=True):
            self.of_suffix[item] = self.groups.read(node, lexer, text_of(rest))

    def _singly(self, lexer: LexerState, rests: Ints) -> BoolMask:
        """For each of *rests*, True if it has a byte that the open modes forbid, once or thrice in a row."""
        holds = np.zeros(len(rests), np.bool_)
        for byte in lexer.modes.forbidden | lexer.modes.forbidden_thrice:
            holds |= self._suffixes.holding(byte)[rests]
        return holds

    def _start_lines(
        self, lexer: LexerState, items: Ints, rests: Ints, nodes: Ints
    ) -> tuple[Ints, Ints, Ints]:
        """Start the line of those whose next byte is code, and return the others."""
        quiet = np.array(sorted(self._lexical.quiet), np.uint8)
        is_code = ~np.isin(self._suffixes.first_bytes[rests], quiet) & (rests != 0)
        step = lexer.start_line(b"")
        assert step is not None
        self._wait(step.lexer, items[is_code], rests[is_code], self._moved(nodes[is_code], step.symbols))
        return items[~is_code], rests[~is_code], nodes[~is_code]

    def _moved(self, nodes: Ints, symbols: list[Symbol]) -> Ints:
        """The nodes to which *symbols* lead from *nodes*."""
        if not symbols or not len(nodes):
            return nodes
        known = self._moves.setdefault(tuple(symbols), {})
        moved = np.zeros(int(nodes.max()) + 1, np.int32)
        for node in np.flatnonzero(np.bincount(nodes)).tolist():
            target = known.get(node)
            if target is None:
                target = known[node] = self.groups.node(node, symbols)
            moved[node] = target
        return moved[nodes]

    def _end(self, lexer: LexerState, first: FirstLexemes, items: Ints, rests: Ints, nodes: Ints) -> None:
        """Group those that end inside a lexeme, or at its start."""
        if not len(items):
            return
        kinds, extra = first.kinds, first.left.copy()  # the bytes since the lexeme's end
        extra[(kinds < 0) | (kinds == self._lexical.bad)] = 0
        if lexer.margin is not None:
            blank = kinds == self._lexical.space
            extra[blank] = rests[blank]  # the column depends on the text read
        keys = (nodes.astype(np.int64) * len(self._lexical.dfa.rows) + first.states) * (
            len(self._lexical.kinds) + 1
        ) + (kinds + 1)
        keys = keys * len(self._suffixes) + extra
        indices, inverse = distinct(keys)
        columns = (column[indices].tolist() for column in (nodes, first.states, kinds, extra))
        groups = [
            self.groups.add(node, self.groups.ends.number(self._inside(lexer, state, kind, since)))
            for node, state, kind, since in zip(*columns, strict=True)
        ]
        self.of_suffix[items] = np.array(groups, np.int32)[inverse]

    def _inside(self, lexer: LexerState, state: int, kind: int, since: int) -> LexerState:
        """The state within a lexeme started in *lexer*; *since* numbers the bytes since its last end."""
        text = self._suffixes.text(since)
        lexical, _, modes, indents, _, _, margin, run, word, counted = lexer
        if margin is not None and kind == self._lexical.space:
            return lexer._replace(state=state, accepted=kind, margin=margin.after(text))
        return LexerState(lexical, state, modes, indents, kind, text, margin, run, word, counted)

    def _continue(
        self, lexer: LexerState, first: FirstLexemes, items: Ints, rests: Ints, nodes: Ints
    ) -> None:
        """Queue those with more than one lexeme, to be read after the first."""
        if not len(items):
            return
        order = np.argsort(first.kinds, kind="stable")
        kinds, left = first.kinds[order], first.left[order]
        items, rests, nodes, lengths = items[order], rests[order], nodes[order], self._suffixes.lengths
        edges = [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist(), len(kinds)]
        for begin, end in pairwise(edges):
            chosen, kind = slice(begin, end), int(kinds[begin])
            if kind == self._lexical.space and lexer.margin is not None:
                ends = lengths[rests[chosen]] - lengths[left[chosen]]
                self._indent(lexer, items[chosen], rests[chosen], left[chosen], nodes[chosen], ends)
                continue
            following = after_lexeme(lexer, kind)
            if following is not None:
                moved = self._moved(nodes[chosen], following[1])
                self._wait(following[0], items[chosen], left[chosen], moved)

    def _indent(
        self, lexer: LexerState, items: Ints, rests: Ints, left: Ints, nodes: Ints, ends: Ints
    ) -> None:
        """Queue those that start with indentation, to be read after it."""
        number_of, texts = self._suffixes.leading_spaces
        numbers, inverse = np.unique(number_of[rests], return_inverse=True)
        for index, number in enumerate(numbers.tolist()):
            step = lexer.feed(texts[number])
            finished = step and step.lexer.finish()
            chosen = (inverse == index) & (ends == len(texts[number]))
            odd = (inverse == index) & ~chosen
            self._read_one_by_one(lexer, items[odd], rests[odd], nodes[odd])
            if step is not None and finished is not None:
                moved = self._moved(nodes[chosen], [*step.symbols, *finished.symbols])
                self._wait(finished.lexer, items[chosen], left[chosen], moved)


class Split(NamedTuple):
    """The effect of each text of a vocabulary on the lexeme in progress, as far as the automaton decides it.

    `effects` is a number for each text:

    - 0: the lexer reads it.
    - from 1 on: it does not end the lexeme. `ends` holds the states in which these texts end.
    - from the first number of one of `ended` on: it ends the lexeme at the byte given by the difference.

    An element of `ended` is the kind of the lexeme, its first number, and their count. With the kind -1 the
    lexeme ends before the text.
    """

    effects: Runs
    ends: tuple[LexemeEnd, ...]
    ended: tuple[tuple[int, int, int], ...]

    @property
    def n_bytes(self) -> int:
        """Approximate memory size."""
        return self.effects.n_bytes + 100 * len(self.ends)

    @property
    def n_numbers(self) -> int:
        """The count of all numbers."""
        return 1 + len(self.ends) + sum(count for _, _, count in self.ended)

    def arrays(self) -> Arrays:
        """The table as arrays to save."""
        return {
            "numbers": self.effects.numbers,
            "lengths": self.effects.lengths,
            "ends": np.array(self.ends, np.int32).reshape(-1, 3),
            "ended": np.array(self.ended, np.int32).reshape(-1, 3),
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Split:
        """The inverse of `arrays`."""
        ends, ended = (tuple(map(tuple, arrays[name].tolist())) for name in ("ends", "ended"))
        return cls(Runs(arrays["numbers"], arrays["lengths"]), ends, ended)


def split_texts(vocabulary: Vocabulary, lexer: LexerState, first: FirstLexemes) -> Split:
    """Split the texts by their *first* lexemes, which continue that of *lexer*."""
    suffixes, bad = vocabulary.suffixes, lexer.lexical.bad
    singly = first.checked
    for byte in lexer.modes.forbidden | lexer.modes.forbidden_thrice:
        singly = singly | suffixes.holding(byte)[suffixes.number_of]
    lengths, left = suffixes.lengths, first.left
    inside = np.flatnonzero(~singly & (first.states != 0))
    states, kinds, since = first.states[inside], first.kinds[inside], left[inside]
    if lexer.accepted in (-1, bad):
        since[kinds < 0] = 0
    since[kinds == bad] = 0
    keys = (states.astype(np.int64) * (len(lexer.lexical.kinds) + 1) + (kinds + 1)) * len(suffixes) + since
    indices, end_of = distinct(keys)
    ends = zip(states[indices].tolist(), kinds[indices].tolist(), since[indices].tolist(), strict=True)
    effects = np.zeros(len(vocabulary.texts), np.int32)
    effects[inside] = 1 + end_of
    outside = ~singly & (first.states == 0)
    following, ended = 1 + len(indices), []
    for kind in sorted(set(first.kinds[outside].tolist())):
        texts = np.flatnonzero(outside & (first.kinds == kind))
        lengths_of_lexemes = lengths[suffixes.number_of[texts]] - lengths[left[texts]]
        effects[texts] = following + lengths_of_lexemes
        count = 1 + int(lengths_of_lexemes.max())
        ended.append((kind, following, count))
        following += count
    return Split(Runs.of(effects.astype(smallest(following))), tuple(ends), tuple(ended))


class LexedTexts(Protocol):
    """Cached results of reading the texts of a vocabulary."""

    vocabulary: Vocabulary
    ends: EndStates

    def split(self, lexer: LexerState) -> Split:
        """The effects of the texts on the lexeme in progress."""

    def suffixes(self, lexer: LexerState) -> LexedSuffixes:
        """The suffixes, from the start of a lexeme on."""

    def tokens(self, lexer: LexerState) -> TokenGroups:
        """The texts, from any state on."""


class Part(NamedTuple):
    """Groups of the remainders of tokens after *symbols*."""

    symbols: tuple[Symbol, ...]
    groups: Groups


class TokenGroups:
    """The texts of a vocabulary, read from a lexer state.

    Groups are numbered through all of `parts`. `of_text` are the groups of all texts, and of one more for
    tokens without a text. `number` identifies the object. `n_bytes` is its approximate memory size without
    the groups of other tables.
    """

    __slots__ = ("n_bytes", "n_groups", "number", "of_text", "parts")

    def __init__(self, parts: tuple[Part, ...], of_text: Runs, n_bytes: int) -> None:
        self.parts = parts
        self.number = parts[0].groups.number
        self.n_groups = sum(part.groups.n_groups for part in parts)
        self.of_text = of_text
        self.n_bytes = n_bytes

    def within_symbol(self, holds: Callable[[LexerState], bool]) -> BoolMask:
        """The groups that complete no symbol and end in a state for which *holds* is True."""
        masks: list[BoolMask] = []
        for symbols, groups in self.parts:
            within = np.zeros(groups.n_groups, np.bool_)
            for group in () if symbols else groups.numbers(0):
                within[group] = holds(groups.ends.state(groups.end_of[group]))
            masks.append(within)
        return np.concatenate(masks)


def token_groups(lexed: LexedTexts, lexer: LexerState) -> TokenGroups:
    """The texts of a vocabulary, grouped by their meaning in the state *lexer*."""
    grouping = _Grouping(lexed, lexer)
    return grouping.at_start() if lexer.at_lexeme_start else grouping.inside()


class _Grouping:
    """Builds `TokenGroups`."""

    def __init__(self, lexed: LexedTexts, lexer: LexerState) -> None:
        self.lexed = lexed
        self.lexer = lexer
        self.vocabulary = lexed.vocabulary
        self.own = GroupBuilder(lexed.ends)
        self.of_text = np.zeros(len(self.vocabulary.texts) + 1, np.int32)
        self.parts: list[tuple[tuple[Symbol, ...], Groups, Ints, Ints]] = []

    def at_start(self) -> TokenGroups:
        """The groups if the state is between two lexemes."""
        everything = np.arange(len(self.vocabulary.texts), dtype=np.int32)
        self._add_suffixes((), self.lexer, everything, self.vocabulary.suffixes.number_of)
        return self._result()

    def inside(self) -> TokenGroups:
        """The groups if the state is within a lexeme."""
        lexer, split = self.lexer, self.lexed.split(self.lexer)
        groups = np.zeros(split.n_numbers, np.int32)
        effects, suffixes = split.effects.expanded(), self.vocabulary.suffixes
        within = LexemeEnds(lexer, split.ends, suffixes.text)
        groups[1 : 1 + len(split.ends)] = self.own.add_all(0, self.lexed.ends.add_all(within))
        self.of_text[:-1] = split.effects.looked_up(groups)
        singly = np.flatnonzero(effects == 0).tolist()
        for text in singly:
            self.of_text[text] = self.own.read(0, lexer, self.vocabulary.texts[text])
        for kind, first, count in split.ended:
            texts = np.flatnonzero((effects >= first) & (effects < first + count)).astype(np.int32)
            if kind < 0:
                self._fall_back(texts)
            elif (following := after_lexeme(lexer, kind)) is not None:
                left = suffixes.without(suffixes.number_of[texts], effects[texts] - first)
                self._add_suffixes(tuple(following[1]), following[0], texts, left)
        return self._result(None if singly else within)

    def _add_suffixes(
        self, symbols: tuple[Symbol, ...], lexer: LexerState, texts: Ints, suffixes: Ints
    ) -> None:
        """Add parts for *texts* whose remainders after *symbols* are *suffixes*, read from *lexer* on."""
        all_suffixes = self.vocabulary.suffixes
        for first in first_in_line(all_suffixes, lexer):
            rest_of = np.full(len(all_suffixes), _NONE, np.int32)
            rest_of[first.numbers] = first.rests
            rests = rest_of[suffixes]
            chosen = rests != _NONE
            self._add_part((*symbols, *first.symbols), first.lexer, texts[chosen], rests[chosen])
            texts, suffixes = texts[~chosen], suffixes[~chosen]
        self._add_part(symbols, lexer, texts, suffixes)

    def _add_part(self, symbols: tuple[Symbol, ...], lexer: LexerState, texts: Ints, suffixes: Ints) -> None:
        if len(texts):
            lexed = self.lexed.suffixes(lexer)
            self.parts.append((symbols, lexed.groups, texts, lexed.of_suffix[suffixes]))

    def _fall_back(self, texts: Ints) -> None:
        """Add parts for *texts* before whose first byte the lexeme ends."""
        step = self.lexer.fall_back()
        if step is None:
            return
        symbols = tuple(step.symbols)
        if step.lexer.at_lexeme_start:
            self._add_suffixes(symbols, step.lexer, texts, self.vocabulary.suffixes.number_of[texts])
            return
        others = self.lexed.tokens(step.lexer)
        first = 0
        numbers = others.of_text.expanded()[texts]
        for part in others.parts:
            own = (numbers >= first) & (numbers < first + part.groups.n_groups) & (numbers != DEAD_GROUP)
            self.parts.append(((*symbols, *part.symbols), part.groups, texts[own], numbers[own] - first))
            first += part.groups.n_groups

    def _result(self, within: LexemeEnds | None = None) -> TokenGroups:
        own, numbers_of_own = self.own.finish(within)
        self.of_text = numbers_of_own[self.of_text]
        parts, first = [Part((), own)], own.n_groups
        for symbols, groups, texts, numbers in self.parts:
            renumbered = np.arange(first, first + groups.n_groups, dtype=np.int32)
            renumbered[DEAD_GROUP] = DEAD_GROUP
            self.of_text[texts] = renumbered[numbers]
            parts.append(Part(symbols, groups))
            first += groups.n_groups
        of_text = Runs.of(self.of_text.astype(smallest(first)))
        return TokenGroups(tuple(parts), of_text, of_text.n_bytes + own.n_bytes)
