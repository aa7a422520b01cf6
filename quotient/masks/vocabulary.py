"""The tokens of a model as masks need them: their bytes, as different texts."""

from __future__ import annotations

import hashlib
import marshal
import sys
from collections.abc import Callable, Collection, Sequence
from functools import cache, cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fimlsp.quotient.masks import array_files
from fimlsp.quotient.masks.array_files import Arrays
from fimlsp.quotient.masks.texts import suffixes, text_trie
from fimlsp.quotient.masks.texts.suffixes import Suffixes
from fimlsp.quotient.masks.texts.text_trie import Texts, TextTrie

WORD_BITS = 32
_WORTH_KEEPING = 4096
"""Tables of fewer tokens are quickly made."""

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
    def texts(self) -> Texts:
        """The different texts of all tokens but stops, sorted."""
        return Texts.from_arrays(self.kept("texts", lambda: Texts.of(self._sorted()).arrays()))

    def _sorted(self) -> list[bytes]:
        stops = self.stops
        return sorted(
            {text for token, text in enumerate(self.token_bytes) if text is not None and token not in stops}
        )

    @cached_property
    def text_of_token(self) -> NDArray[np.intp]:
        """For each token the number of its text; for those without one a number that no text has."""
        kept = self.kept("tokens", lambda: {"text_of_token": self._text_of_token()})
        return kept["text_of_token"].astype(np.intp)

    def _text_of_token(self) -> NDArray[np.int32]:
        numbers = {text: number for number, text in enumerate(self.texts)}
        none = len(numbers)
        found = [none if text is None else numbers.get(text, none) for text in self.token_bytes]
        for stop in self.stops:
            found[stop] = none
        return np.array(found, np.int32)

    @cached_property
    def digest(self) -> str:
        """Names this vocabulary in all processes."""
        return hashlib.sha256(marshal.dumps((self.token_bytes, tuple(sorted(self.stops))), 2)).hexdigest()

    @property
    def is_kept(self) -> bool:
        """Whether what is made of it is worth a file."""
        return len(self) >= _WORTH_KEEPING

    def kept(self, part: str, make: Callable[[], Arrays]) -> Arrays:
        """The arrays that *make* makes, from the disk if they are there."""
        if not self.is_kept:
            return make()
        name = f"{self.digest[:24]}-{_made_by()[:16]}-{part}"
        found = array_files.found(name, lambda arrays: arrays)
        if found is None:
            array_files.keep(name, found := make())
        return found

    @cached_property
    def trie(self) -> TextTrie:
        """The trie of `texts`."""
        return TextTrie.from_arrays(self.kept("trie", lambda: TextTrie.of(self.texts).arrays()))

    @cached_property
    def suffixes(self) -> Suffixes:
        """All suffixes of `texts`."""
        return Suffixes(self.texts, self.kept)

    def prepare(self) -> None:
        """Load the code of masks, and make what they need of the vocabulary alone, or read it from the disk.

        Else the first mask does. That takes 20 ms, the very first time half a second.
        """
        import_module("fimlsp.quotient.masks.mask")
        _ = self.text_of_token, self.trie, self.suffixes.trie, self.suffixes.texts

    @cached_property
    def longest(self) -> int:
        """The number of bytes of the longest text."""
        return int(self.texts.lengths.max(initial=0))

    def tokens(self, allowed: NDArray[np.bool_], *, complete: bool) -> NDArray[np.bool_]:
        """For each token whether it may come, from the same of texts, and stops if the text is *complete*.

        *allowed* has a truth value for each text and a last one, False. The answer ends with the last word of
        a mask.
        """
        found = self._looked_up(allowed)
        if complete:
            found[list(self.stops)] = True
        return found

    def _looked_up(self, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        found = np.zeros(self.n_words * WORD_BITS, np.bool_)
        np.take(allowed, self.text_of_token, out=found[: len(self)], mode="clip")
        return found

    def words(self, allowed: NDArray[np.bool_]) -> Words:
        """As `tokens`, without stops, as words of bits."""
        tokens = self._looked_up(allowed)
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


@cache
def _made_by() -> str:
    """Names the code that makes the tables of a vocabulary."""
    return array_files.code_digest(sys.modules[__name__], suffixes, text_trie)
