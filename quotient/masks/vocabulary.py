"""The tokens of a model as masks need them: their bytes, and what may be left of one behind a lexeme."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from fimlsp.quotient.masks.text_trie import Ints, TextTrie
from numpy.typing import NDArray

WORD_BITS = 32
_BLANKS = b" \t\f"  # what indentation is made of
Words = NDArray[np.uint32]


class Vocabulary:
    """The tokens of a model: *token_bytes* has the exact bytes of each, None for special ones.

    *stops* are the ids that end a text. A mask has a bit for each token, in words of 32 bits, the least
    significant first. Tokens with equal bytes are judged once. A vocabulary is made once for a model, in a
    fraction of a second; what is learnt about it is kept with it.
    """

    def __init__(self, token_bytes: Sequence[bytes | None], stops: Collection[int] = ()) -> None:
        size = len(token_bytes)
        if any(not 0 <= stop < size for stop in stops):
            raise ValueError(f"a stop token is not among the {size} tokens of this vocabulary")
        self.token_bytes = tuple(token_bytes)
        self.stops = frozenset(stops)
        self.stores: dict[object, Any] = {}  # filled by `store_of`
        self.n_words = -(-size // WORD_BITS)

    def __len__(self) -> int:
        return len(self.token_bytes)

    @cached_property
    def texts(self) -> list[bytes]:
        """The different texts of all tokens but stops, sorted."""
        stops = self.stops
        return sorted(
            {text for token, text in enumerate(self.token_bytes) if text is not None and token not in stops}
        )

    @cached_property
    def text_of_token(self) -> NDArray[np.intp]:
        """For each token the number of its text; for those without one a number that no text has."""
        numbers = {text: number for number, text in enumerate(self.texts)}
        none = len(numbers)
        found = [none if text is None else numbers.get(text, none) for text in self.token_bytes]
        for stop in self.stops:
            found[stop] = none
        return np.array(found, np.intp)

    @cached_property
    def digest(self) -> str:
        """Names this vocabulary in file names."""
        sizes = ",".join(map(str, (-1 if text is None else len(text) for text in self.token_bytes)))
        text = b"".join(text or b"" for text in self.token_bytes)
        return hashlib.sha256(repr((sizes, sorted(self.stops))).encode() + text).hexdigest()[:32]

    @cached_property
    def trie(self) -> TextTrie:
        """The trie of `texts`."""
        return TextTrie(self.texts)

    @cached_property
    def suffixes(self) -> Suffixes:
        """All suffixes of `texts`."""
        return Suffixes(self.texts)

    def prepare(self) -> None:
        """Make what masks need of the vocabulary alone, in about half a second; else the first one does."""
        _ = self.text_of_token, self.trie, self.longest
        _ = self.suffixes.trie, self.suffixes.first_bytes, self.suffixes.blank_runs

    @cached_property
    def longest(self) -> int:
        """The number of bytes of the longest text."""
        return max(map(len, self.texts), default=0)

    def tokens(self, allowed: NDArray[np.bool_], *, complete: bool) -> NDArray[np.bool_]:
        """For each token whether it may come, from the same of texts, and stops if the text is *complete*.

        *allowed* has a truth value for each text and a last one, False. The answer ends with the last word of
        a mask.
        """
        found = np.zeros(self.n_words * WORD_BITS, np.bool_)
        np.take(allowed, self.text_of_token, out=found[: len(self)], mode="clip")
        if complete:
            found[list(self.stops)] = True
        return found

    def words(self, allowed: NDArray[np.bool_]) -> Words:
        """As `tokens`, without stops, as words of bits."""
        tokens = self.tokens(allowed, complete=False)
        words: Words = np.packbits(tokens, bitorder="little").view("<u4").astype(np.uint32, copy=False)
        return words

    def mask(self, allowed: NDArray[np.bool_], *, complete: bool) -> Words:
        """As `tokens`, as words of bits."""
        return self.with_stops(self.words(allowed), complete=complete)

    def with_stops(self, words: Words, *, complete: bool) -> Words:
        """A copy of *words*, with stops if the text is *complete*."""
        return words | self._stop_words if complete else words.copy()

    @cached_property
    def _stop_words(self) -> Words:
        found = np.zeros(self.n_words, np.uint32)
        for stop in self.stops:
            found[stop // WORD_BITS] |= np.uint32(1 << stop % WORD_BITS)
        return found


class Suffixes:
    """The different suffixes of some texts, numbered; number 0 is the empty one.

    `number_of[i]` is that of the i-th whole text. The suffix of number n from its p-th byte on has the number
    `after[start[n] + p]`.
    """

    def __init__(self, texts: Sequence[bytes]) -> None:
        found = {text[at:] for text in texts for at in range(len(text) + 1)}
        self.texts = sorted(found | {b""}, key=len)
        numbers = {text: number for number, text in enumerate(self.texts)}
        lengths = np.fromiter(map(len, self.texts), np.int64, len(self.texts))
        self.start = np.cumsum(lengths + 1) - (lengths + 1)
        shorter = np.fromiter((numbers[text[1:]] for text in self.texts), np.int32, len(self.texts))
        self.after = np.empty(int((lengths + 1).sum()), np.int32)
        current = np.arange(len(self.texts), dtype=np.int32)
        first, depth = 0, 0
        while first < len(self.texts):
            self.after[self.start[first:] + depth] = current[first:]
            current = shorter[current]
            depth += 1
            first = int(np.searchsorted(lengths, depth))
        self.number_of = np.fromiter((numbers[text] for text in texts), np.int32, len(texts))
        self._holding: dict[int, NDArray[np.bool_]] = {}

    @cached_property
    def trie(self) -> TextTrie:
        """The trie of the suffixes."""
        return TextTrie(self.texts)

    @cached_property
    def first_bytes(self) -> Ints:
        """The first byte of each; -1 of the empty one."""
        return np.fromiter((text[0] if text else -1 for text in self.texts), np.int32, len(self.texts))

    def holding(self, byte: int) -> NDArray[np.bool_]:
        """Which of them hold *byte*."""
        found = self._holding.get(byte)
        if found is None:
            found = np.fromiter((byte in text for text in self.texts), np.bool_, len(self.texts))
            self._holding[byte] = found
        return found

    @cached_property
    def blank_runs(self) -> tuple[Ints, list[bytes]]:
        """The white space that each begins with, as a number, and the text of each number."""
        runs = {b"": 0}
        found = np.zeros(len(self.texts), np.int32)
        for number in np.flatnonzero(np.isin(self.first_bytes, list(_BLANKS))).tolist():
            text = self.texts[number]
            run = text[: len(text) - len(text.lstrip(_BLANKS))]
            found[number] = runs.setdefault(run, len(runs))
        return found, list(runs)
