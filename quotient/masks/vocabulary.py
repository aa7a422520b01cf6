"""The tokens of a model as masks need them, and masks of them by feeding every token.

Tokens are judged as different texts. Feeding is the reference that all quicker ways have to agree with.
"""

from __future__ import annotations

import hashlib
import marshal
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache, cached_property
from importlib import import_module
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fimlsp.lexing.bounded_dict import BoundedDict
from fimlsp.lexing.interruption import EVERY, checkpoint
from fimlsp.quotient.masks import disk_cache, suffixes, texts
from fimlsp.quotient.masks.disk_cache import Arrays
from fimlsp.quotient.masks.suffixes import Suffixes
from fimlsp.quotient.masks.texts import Texts

WORD_BITS = 32
_LEAST_CACHED = 4096
"""The tables of fewer tokens are quicker to make than to load."""

_MOST_LANGUAGES = 64
"""Languages whose tables about a vocabulary are kept."""

Bitmask = NDArray[np.uint32]
"""A bit for each token, in words of 32 bits, the least significant first."""
BoolMask = NDArray[np.bool_]
"""A truth value for each text of a vocabulary and a last one, False, for tokens without a text."""
S = TypeVar("S")


class Vocabulary:
    """The tokens of a model: *token_bytes* has the exact bytes of each, None for special ones.

    *stops* are the ids that end a text. Tokens with equal bytes are judged once. A vocabulary is made once
    for a model, in a fraction of a second. Tables that depend on it alone live as long as it does.

    Raises:
        ValueError: a stop is not the id of a token.
    """

    def __init__(self, token_bytes: Sequence[bytes | None], stops: Collection[int] = ()) -> None:
        size = len(token_bytes)
        unknown = sorted(stop for stop in stops if not 0 <= stop < size)
        if unknown:
            raise ValueError(f"Unknown stop token {unknown[0]}: the vocabulary has {size} tokens.")
        self.token_bytes = tuple(token_bytes)
        self.stops = frozenset(stops)
        self.stores: BoundedDict[object, Any] = BoundedDict(_MOST_LANGUAGES)  # filled by `store_of`
        self.n_words = -(-size // WORD_BITS)

    def __len__(self) -> int:
        return len(self.token_bytes)

    @cached_property
    def texts(self) -> Texts:
        """The different texts of all tokens but stops, sorted."""
        return Texts.from_arrays(self.cached("texts", lambda: self._sorted[0].arrays()))

    @cached_property
    def text_of_token(self) -> NDArray[np.intp]:
        """The number of the text of each token; one that no text has for tokens without a text."""
        arrays = self.cached("tokens", lambda: {"text_of_token": self._sorted[1]})
        return arrays["text_of_token"].astype(np.intp)

    @cached_property
    def _sorted(self) -> tuple[Texts, NDArray[np.int32]]:
        """The different texts, sorted, and the number of that of each token."""
        kept = [token for token, text in enumerate(self.token_bytes) if text is not None]
        tokens = np.array([token for token in kept if token not in self.stops], np.int32)
        texts = Texts.of([self.token_bytes[token] or b"" for token in tokens.tolist()])
        order, is_new = texts.sorted()
        text_of = np.full(len(self), np.count_nonzero(is_new), np.int32)
        text_of[tokens[order]] = np.cumsum(is_new) - 1
        return texts.taken(order[is_new]), text_of

    @cached_property
    def digest(self) -> str:
        """A name of this vocabulary that is the same in all processes."""
        return hashlib.sha256(marshal.dumps((self.token_bytes, tuple(sorted(self.stops))), 2)).hexdigest()

    @property
    def is_cached(self) -> bool:
        """True if it is large enough for its tables to be cached on disk."""
        return len(self) >= _LEAST_CACHED

    def cached(self, part: str, make: Callable[[], Arrays]) -> Arrays:
        """The arrays that *make* makes, from the disk if they are there."""
        if not self.is_cached:
            return make()
        name = f"{self.digest[:24]}-{_code_digest()[:16]}-{part}"
        arrays = disk_cache.load(name, lambda loaded: loaded)
        if arrays is None:
            disk_cache.save(name, arrays := make())
        return arrays

    @cached_property
    def suffixes(self) -> Suffixes:
        """All suffixes of `texts`."""
        return Suffixes(self.texts, self.cached)

    def prepare(self) -> None:
        """Load the code of masks, and make or load the tables that depend on the vocabulary alone.

        Otherwise the first mask does that. It takes 20 ms for 49,152 tokens, the very first time 70 ms.
        """
        import_module("fimlsp.quotient.masks.mask")
        _ = self.text_of_token, self.suffixes.leading_spaces

    @cached_property
    def longest(self) -> int:
        """The number of bytes of the longest text."""
        return int(self.texts.lengths.max(initial=0))

    def tokens(self, allowed: BoolMask, *, complete: bool) -> NDArray[np.bool_]:
        """For each token, True if its text is *allowed*; for stops, True if the text is *complete*.

        The result is padded to whole words of a mask.
        """
        by_token = self._looked_up(allowed)
        if complete:
            by_token[list(self.stops)] = True
        return by_token

    def _looked_up(self, allowed: BoolMask) -> NDArray[np.bool_]:
        by_token = np.zeros(self.n_words * WORD_BITS, np.bool_)
        np.take(allowed, self.text_of_token, out=by_token[: len(self)], mode="clip")
        return by_token

    def words(self, allowed: BoolMask) -> Bitmask:
        """As `tokens`, without stops, as words of bits."""
        by_token = self._looked_up(allowed)
        words: Bitmask = np.packbits(by_token, bitorder="little").view("<u4").astype(np.uint32, copy=False)
        return words

    def mask(self, allowed: BoolMask, *, complete: bool) -> Bitmask:
        """As `tokens`, as words of bits."""
        return self.with_stops(self.words(allowed), complete=complete)

    def with_stops(self, words: Bitmask, *, complete: bool) -> Bitmask:
        """A copy of *words*, with stops if the text is *complete*."""
        return words | self._stop_words if complete else words.copy()

    @cached_property
    def _stop_words(self) -> Bitmask:
        words = np.zeros(self.n_words, np.uint32)
        for stop in self.stops:
            words[stop // WORD_BITS] |= np.uint32(1 << stop % WORD_BITS)
        return words


@cache
def _code_digest() -> str:
    """A hash of the code that makes the tables of a vocabulary."""
    return disk_cache.code_digest(sys.modules[__name__], texts, suffixes)


def allowed_by_feeding(vocabulary: Vocabulary, start: S, feed: Callable[[S, bytes], S | None]) -> BoolMask:
    """The mask of the texts after which *feed* returns a state, from the state *start* on.

    Texts are sorted, so the bytes that a text shares with the one before it are fed once. O(bytes of the
    vocabulary).
    """
    texts = vocabulary.texts
    allowed = np.zeros(len(texts) + 1, np.bool_)
    path: list[tuple[int, S | None]] = [(0, start)]  # states after prefixes of the text before
    previous = b""
    for number, text in enumerate(texts):
        if not number % EVERY:
            checkpoint()
        shared = _shared(previous, text)
        while path[-1][0] > shared:
            path.pop()
        length, state = path[-1]
        if state is not None and length < shared < len(text):
            state = feed(state, text[length:shared])
            path.append((shared, state))
            length = shared
        if state is not None:
            state = feed(state, text[length:])
            if state is None:
                length = _least_refused(path[-1], text, feed)
                path.append((length, None))
            else:
                path.append((len(text), state))
                allowed[number] = True
        previous = text
    return allowed


def recheck(
    vocabulary: Vocabulary, allowed: BoolMask | None, numbers: Iterable[int], feeds: Callable[[bytes], bool]
) -> BoolMask:
    """A copy of *allowed* in which *feeds* decides about the texts of these *numbers*.

    If *allowed* is None, no other texts are allowed.
    """
    texts = vocabulary.texts
    checked = np.zeros(len(texts) + 1, np.bool_) if allowed is None else allowed.copy()
    for count, number in enumerate(numbers):
        if not count % EVERY:
            checkpoint()
        checked[number] = feeds(texts[number])
    return checked


def _least_refused(before: tuple[int, S | None], text: bytes, feed: Callable[[S, bytes], S | None]) -> int:
    """The length of the shortest prefix of *text* that is refused; the one *before* is not."""
    length, state = before
    while state is not None:
        state = feed(state, text[length : length + 1])
        length += 1
    return length


def _shared(one: bytes, other: bytes) -> int:
    """The length of the common prefix of two texts."""
    most = min(len(one), len(other))
    return next((size for size in range(most) if one[size] != other[size]), most)
