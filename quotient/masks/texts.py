"""The different texts of a vocabulary as arrays: their trie, all their suffixes, and runs of equal numbers.

An automaton reads a trie level by level, all texts at once: `first_lexemes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from fimlsp.lexing.lexer_tables import LexerTables, remembered
from fimlsp.lexing.values import value
from fimlsp.quotient.masks.disk_cache import Arrays

Ints = NDArray[np.int32]
_INDENTATION = b" \t\f"


def smallest(count: int) -> type[np.int32]:
    """The smallest type for numbers below *count*."""
    return np.uint16 if count <= 1 << 16 else np.int32  # type: ignore[return-value]  # arrays of either are alike


class Texts(Sequence[bytes]):
    """Byte strings, concatenated in *data*; number i is `data[offsets[i]:offsets[i + 1]]`."""

    __slots__ = ("data", "offsets")

    def __init__(self, data: bytes, offsets: Ints) -> None:
        self.data = data
        self.offsets = offsets

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> Texts:
        """These *texts*."""
        offsets = np.zeros(len(texts) + 1, np.int32)
        np.cumsum(np.fromiter(map(len, texts), np.int32, len(texts)), out=offsets[1:])
        return cls(b"".join(texts), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, number: int) -> bytes: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[bytes]: ...
    def __getitem__(self, number: int | slice) -> bytes | Sequence[bytes]:
        if isinstance(number, slice):
            return list(self)[number]
        return self.data[self.offsets[number] : self.offsets[number + 1]]

    def __iter__(self) -> Iterator[bytes]:
        data = self.data
        return (data[start:end] for start, end in pairwise(self.offsets.tolist()))

    @property
    def lengths(self) -> Ints:
        """The number of bytes of each text."""
        return np.diff(self.offsets)

    @property
    def first_bytes(self) -> Ints:
        """The first byte of each text; -1 for an empty one."""
        firsts = np.full(len(self), -1, np.int32)
        nonempty = np.flatnonzero(self.lengths)
        firsts[nonempty] = np.frombuffer(self.data, np.uint8)[self.offsets[nonempty]]
        return firsts

    def holding(self, byte: int) -> NDArray[np.bool_]:
        """For each text, True if it contains *byte*."""
        count = np.zeros(len(self.data) + 1, np.int32)
        np.cumsum(np.frombuffer(self.data, np.uint8) == byte, out=count[1:])
        holds: NDArray[np.bool_] = count[self.offsets[1:]] > count[self.offsets[:-1]]
        return holds

    def arrays(self) -> Arrays:
        """The texts as arrays to save."""
        return {"data": np.frombuffer(self.data, np.uint8), "offsets": self.offsets}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Texts:
        """The inverse of `arrays`."""
        return cls(arrays["data"].tobytes(), arrays["offsets"])


def _firsts_longer_than(lengths: Ints) -> list[int]:
    """For each number below the last of the ascending *lengths*, the index of the first that exceeds it."""
    longest = lengths[-1] if len(lengths) else 0
    firsts: list[int] = np.searchsorted(lengths, np.arange(longest, dtype=lengths.dtype), "right").tolist()
    return firsts


class TextTrie:
    """The trie of some texts.

    `node_of[i]` is the node of text i; node 0 is the root. `levels` holds for each depth from 1 on the first
    node of that depth, the parents of the nodes there, and their bytes.
    """

    __slots__ = ("levels", "n_nodes", "node_of")

    def __init__(self, node_of: Ints, levels: Iterable[tuple[Ints, Ints]]) -> None:
        self.node_of = node_of
        self.levels: list[tuple[int, Ints, Ints]] = []
        self.n_nodes = 1
        for parents, data in levels:
            self.levels.append((self.n_nodes, parents, data))
            self.n_nodes += len(parents)

    @classmethod
    def of(cls, texts: Texts) -> TextTrie:
        """The trie of *texts*."""
        order = np.argsort(texts.lengths, kind="stable")
        offsets = texts.offsets[:-1][order]
        data = np.frombuffer(texts.data, np.uint8)
        ends = texts.lengths[order]
        reached = np.zeros(len(texts), np.int64)  # the node of each text so far
        levels: list[tuple[Ints, Ints]] = []
        n_nodes = 1
        for depth, first in enumerate(_firsts_longer_than(ends)):
            keys = reached[first:] * 256 + data[offsets[first:] + depth]
            different, inverse = np.unique(keys, return_inverse=True)
            levels.append(((different >> 8).astype(np.int32), (different & 255).astype(np.uint8)))
            reached[first:] = inverse + n_nodes
            n_nodes += len(different)
        node_of = np.empty(len(texts), np.int32)
        node_of[order] = reached
        return cls(node_of, levels)

    def arrays(self) -> Arrays:
        """The trie as arrays to save."""
        sizes = np.array([len(parents) for _, parents, _ in self.levels], np.int32)
        parents = np.concatenate([np.zeros(0, np.int32), *(parents for _, parents, _ in self.levels)])
        data = np.concatenate([np.zeros(0, np.uint8), *(data for _, _, data in self.levels)])
        return {"node_of": self.node_of, "sizes": sizes, "parents": parents, "data": data}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> TextTrie:
        """The inverse of `arrays`."""
        ends = np.cumsum(arrays["sizes"])[:-1]
        levels = zip(np.split(arrays["parents"], ends), np.split(arrays["data"], ends), strict=True)
        return cls(arrays["node_of"], levels)


class Runs(NamedTuple):
    """An array as runs: the number that each run repeats, and its length.

    Texts are sorted, so neighbours mostly mean the same: 49,152 tokens make some 4,000 runs. Runs take an
    eighth of the memory, and are looked up in half of the time.
    """

    numbers: Ints
    lengths: Ints

    @classmethod
    def of(cls, array: Ints) -> Runs:
        """The runs of *array*."""
        starts = np.flatnonzero(np.diff(array, prepend=-1))
        lengths = np.diff(starts, append=len(array))
        return cls(array[starts], lengths.astype(smallest(len(array) + 1)))

    @property
    def n_bytes(self) -> int:
        """Memory size."""
        return self.numbers.nbytes + self.lengths.nbytes

    def expanded(self) -> Ints:
        """The array."""
        return np.repeat(self.numbers, self.lengths)

    def looked_up(self, table: NDArray[Any]) -> NDArray[Any]:
        """The entries of *table* at the numbers of the array."""
        return np.repeat(table[self.numbers], self.lengths)


Cached = Callable[[str, Callable[[], Arrays]], Arrays]
"""Returns the arrays cached under a name, or else those that a function makes."""


class SuffixesByLength(NamedTuple):
    """The different suffixes of some texts, the shortest first, and those of one length in their order.

    `shorter` is the number of each suffix without its first byte, that of the empty one its own. `number_of`
    is the number of each whole text.
    """

    texts: Texts
    shorter: Ints
    number_of: Ints


def suffixes_by_length(texts: Texts) -> SuffixesByLength:
    """The suffixes of *texts*. O(bytes log bytes), all texts at once.

    A suffix is its first byte and a shorter suffix. So those of a length are ordered as the pairs of both.
    """
    data, ends = np.frombuffer(texts.data, np.uint8), texts.offsets[1:]
    longest_first = np.argsort(-texts.lengths, kind="stable")
    lengths = texts.lengths[longest_first]
    reached = np.zeros(len(texts), np.int64)  # the suffix of each text among those of the length
    letters, shorter = [np.zeros((1, 0), np.uint8)], [np.zeros(1, np.int64)]
    first, number_of = 0, np.zeros(len(texts), np.int32)
    for length, n_shorter_texts in enumerate(_firsts_longer_than(lengths[::-1]), 1):
        n_shorter = len(letters[-1])
        longer = longest_first[: len(texts) - n_shorter_texts]
        pairs = data[ends[longer] - length] * np.int64(n_shorter) + reached[: len(longer)]
        different, reached[: len(longer)] = np.unique(pairs, return_inverse=True)
        heads, rests = np.divmod(different, n_shorter)
        letters.append(np.column_stack((heads.astype(np.uint8), letters[-1][rests])))
        shorter.append(rests + first)
        first += n_shorter
        number_of[longer] = reached[: len(longer)] + first
    sizes = np.repeat(np.arange(len(letters)), [len(level) for level in letters])
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)
    suffixes = Texts(b"".join(level.tobytes() for level in letters), offsets)
    return SuffixesByLength(suffixes, np.concatenate(shorter).astype(np.int32), number_of)


class Suffixes:
    """The different suffixes of some texts, numbered; number 0 is the empty one.

    `number_of[i]` is that of the i-th whole text. The suffix of number n from its p-th byte on has the number
    `after[start[n] + p]`.
    """

    def __init__(self, of: Texts, cached: Cached) -> None:
        self._of = of
        self._cached = cached
        self._holding: dict[int, NDArray[np.bool_]] = {}
        arrays = cached("suffixes", self._numbered)
        self.start, self.after, self.number_of = (arrays[name] for name in ("start", "after", "number_of"))

    def __len__(self) -> int:
        return len(self.start)

    @cached_property
    def _by_length(self) -> SuffixesByLength:
        return suffixes_by_length(self._of)

    def _numbered(self) -> Arrays:
        texts, shorter = self._by_length.texts, self._by_length.shorter
        lengths = texts.lengths
        start = texts.offsets[:-1] + np.arange(len(texts), dtype=np.int32)
        after = np.empty(int((lengths + 1).sum()), np.int32)
        current = np.arange(len(texts), dtype=np.int32)  # the rests of those that are long enough
        for depth, (first, longer) in enumerate(pairwise([0, *_firsts_longer_than(lengths), len(texts)])):
            after[start[first:] + depth] = current
            current = shorter[current[longer - first :]]
        return {"start": start, "after": after, "number_of": self._by_length.number_of}

    @cached_property
    def texts(self) -> Texts:
        """The suffixes, the shortest first."""
        return Texts.from_arrays(self._cached("suffix-texts", lambda: self._by_length.texts.arrays()))

    def text(self, number: int) -> bytes:
        """The suffix of this number."""
        return self.texts[number] if number else b""

    @cached_property
    def trie(self) -> TextTrie:
        """The trie of the suffixes."""
        return TextTrie.from_arrays(self._cached("suffix-trie", lambda: TextTrie.of(self.texts).arrays()))

    @cached_property
    def first_bytes(self) -> Ints:
        """The first byte of each suffix; -1 for the empty one."""
        return self.texts.first_bytes

    def holding(self, byte: int) -> NDArray[np.bool_]:
        """For each suffix, True if it contains *byte*."""
        holds = self._holding.get(byte)
        if holds is None:
            holds = self._holding[byte] = self.texts.holding(byte)
        return holds

    @cached_property
    def leading_spaces(self) -> tuple[Ints, list[bytes]]:
        """The number of the white space at the start of each suffix, and the text of each such number."""
        numbers, spaces = {b"": 0}, [b""]
        number_of = np.zeros(len(self), np.int32)
        is_space = np.isin(self.first_bytes, list(_INDENTATION))
        edges = np.flatnonzero(np.diff(self.texts.lengths)) + 1
        for suffixes in np.split(np.arange(len(self)), edges):  # those of one length follow from shorter ones
            spaced = suffixes[is_space[suffixes]]
            rests = number_of[self.after[self.start[spaced] + 1]]
            pairs, inverse = np.unique(rests * 256 + self.first_bytes[spaced], return_inverse=True)
            texts = [
                bytes([byte]) + spaces[rest] for rest, byte in (divmod(pair, 256) for pair in pairs.tolist())
            ]
            spaces += [text for text in texts if text not in numbers]
            numbers |= {text: number for number, text in enumerate(spaces[len(numbers) :], len(numbers))}
            number_of[spaced] = np.array([numbers[text] for text in texts], np.int32)[inverse]
        return number_of, spaces


class AutomatonArrays:
    """The automaton of *lexical* as arrays: `rows[state * 256 + byte]`, `accepts` and `in_word` by state."""

    def __init__(self, lexical: LexerTables) -> None:
        self._lexical = lexical
        self.accepts = np.array(lexical.dfa.accepts, np.int32)
        self.in_word = np.zeros(len(self.accepts), np.bool_)
        self.in_word[list(lexical.word_states)] = True

    @cached_property
    def rows(self) -> Ints:
        """The next state by state and byte."""
        return np.array(self._lexical.dfa.rows, np.int32).ravel()


@remembered(1)
def automaton_of(lexical: LexerTables) -> AutomatonArrays:
    """The automaton of *lexical*."""
    return AutomatonArrays(lexical)


@value(eq=False)
class FirstLexemes:
    """The longest lexeme at the start of each text.

    `states` is the state after the whole text, 0 if the lexeme ends before. `kinds` is the kind of the
    longest prefix that is a lexeme, `ends` its length; -1 and 0 if there is none. `checked` are the texts
    with part of a checked word on the way.
    """

    states: Ints
    kinds: Ints
    ends: Ints
    checked: NDArray[np.bool_]


def first_lexemes(automaton: AutomatonArrays, trie: TextTrie, state: int) -> FirstLexemes:
    """The first lexeme of each text of *trie*, read from *state* on."""
    rows, accepts, in_word = automaton.rows, automaton.accepts, automaton.in_word
    states = np.zeros(trie.n_nodes, np.int32)
    kinds = np.full(trie.n_nodes, -1, np.int32)
    ends = np.zeros(trie.n_nodes, np.int32)
    checked = np.zeros(trie.n_nodes, np.bool_)
    states[0] = state
    any_alive, has_words = True, bool(in_word.any())
    for depth, (first, parents, data) in enumerate(trie.levels, 1):
        end = first + len(parents)
        kinds[first:end] = kinds[parents]
        ends[first:end] = ends[parents]
        if has_words:
            checked[first:end] = checked[parents]
        if not any_alive:
            continue
        states[first:end] = reached = rows[states[parents] * 256 + data]
        any_alive = bool(reached.any())
        accepted = accepts[reached]
        is_longer = accepted >= 0
        np.copyto(kinds[first:end], accepted, where=is_longer)
        np.copyto(ends[first:end], depth, where=is_longer)
        if has_words:
            checked[first:end] |= in_word[reached]
    nodes = trie.node_of
    return FirstLexemes(states[nodes], kinds[nodes], ends[nodes], checked[nodes])
