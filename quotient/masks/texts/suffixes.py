"""What may be left of a token behind a lexeme: the suffixes of all texts of a vocabulary."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fimlsp.quotient.masks.array_files import Arrays
from fimlsp.quotient.masks.texts.text_trie import Ints, Texts, TextTrie

_BLANKS = b" \t\f"  # what indentation is made of

Kept = Callable[[str, Callable[[], Arrays]], Arrays]
"""Gives the arrays that a function makes, or those of this name that were kept."""


class Suffixes:
    """The different suffixes of some texts, numbered; number 0 is the empty one.

    `number_of[i]` is that of the i-th whole text. The suffix of number n from its p-th byte on has the number
    `after[start[n] + p]`.
    """

    def __init__(self, of: Texts, kept: Kept) -> None:
        self._of = of
        self._kept = kept
        self._holding: dict[int, NDArray[np.bool_]] = {}
        arrays = kept("suffixes", self._numbered)
        self.start, self.after, self.number_of = (arrays[name] for name in ("start", "after", "number_of"))

    def __len__(self) -> int:
        return len(self.start)

    def _numbered(self) -> Arrays:
        texts = [*self.texts]
        numbers = {text: number for number, text in enumerate(texts)}
        lengths = self.texts.lengths
        start = self.texts.offsets[:-1] + np.arange(len(texts), dtype=np.int32)
        shorter = np.fromiter((numbers[text[1:]] for text in texts), np.int32, len(texts))
        after = np.empty(int((lengths + 1).sum()), np.int32)
        current = np.arange(len(texts), dtype=np.int32)
        first, depth = 0, 0
        while first < len(texts):
            after[start[first:] + depth] = current[first:]
            current = shorter[current]
            depth += 1
            first = int(np.searchsorted(lengths, depth))
        number_of = np.fromiter((numbers[text] for text in self._of), np.int32, len(self._of))
        return {"start": start, "after": after, "number_of": number_of}

    @cached_property
    def texts(self) -> Texts:
        """The suffixes, the shortest first."""
        return Texts.from_arrays(
            self._kept("suffix-texts", lambda: Texts.of(self._shortest_first()).arrays())
        )

    def _shortest_first(self) -> list[bytes]:
        found = {text[at:] for text in self._of for at in range(len(text) + 1)}
        return sorted(sorted(found | {b""}), key=len)

    def text(self, number: int) -> bytes:
        """The suffix of this number."""
        return self.texts[number] if number else b""

    @cached_property
    def trie(self) -> TextTrie:
        """The trie of the suffixes."""
        return TextTrie.from_arrays(self._kept("suffix-trie", lambda: TextTrie.of(self.texts).arrays()))

    @cached_property
    def first_bytes(self) -> Ints:
        """The first byte of each; -1 of the empty one."""
        return self.texts.first_bytes

    def holding(self, byte: int) -> NDArray[np.bool_]:
        """Which of them hold *byte*."""
        found = self._holding.get(byte)
        if found is None:
            found = self._holding[byte] = self.texts.holding(byte)
        return found

    @cached_property
    def blank_runs(self) -> tuple[Ints, list[bytes]]:
        """The white space that each begins with, as a number, and the text of each number."""
        runs = {b"": 0}
        found = np.zeros(len(self), np.int32)
        for number in np.flatnonzero(np.isin(self.first_bytes, list(_BLANKS))).tolist():
            text = self.texts[number]
            run = text[: len(text) - len(text.lstrip(_BLANKS))]
            found[number] = runs.setdefault(run, len(runs))
        return found, list(runs)
