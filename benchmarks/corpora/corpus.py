"""The texts of a language for measurements: files, and one text with more and more around it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Protocol

from fimlsp.quotient.language.contract import Language


@dataclass(frozen=True, slots=True)
class Text:
    """A text, the part of it in which cuts are made, and a pattern of words that may be renamed in it."""

    language: Language
    name: str
    data: bytes
    start: int
    end: int
    word: re.Pattern[bytes]


class Corpus(Protocol):
    """Texts of a language. Growth is measured at `lengths`, in bytes; `word` is that of `Text`."""

    title: str
    language: Language
    lengths: Sequence[int]
    word: re.Pattern[bytes]

    def files(self, random: Random) -> Iterator[Text]:
        """Texts to open, in a random order."""

    def growing(self, random: Random, lengths: Sequence[int]) -> Iterator[Text]:
        """The same core, as long as the first of *lengths*, with more and more text around it."""


def text_of(corpus: Corpus, name: str, above: bytes, core: bytes, below: bytes) -> Text:
    """The text *name* of *corpus*, in which *core* is cut."""
    return Text(corpus.language, name, above + core + below, len(above), len(above) + len(core), corpus.word)


MADE_UP_LENGTHS = (2_000, 60_000)
"""Least and most bytes of a file."""


class MadeUpCorpus:
    """Made-up code: *declarations* makes as many bytes of it, which follow *head* in a file."""

    lengths = (10_000, 100_000, 500_000, 2_000_000)

    def __init__(
        self,
        title: str,
        language: Language,
        word: bytes,
        declarations: Callable[[Random, int], bytes],
        head: bytes = b"",
    ) -> None:
        self.title = title
        self.language = language
        self.word = re.compile(word)
        self._declarations = declarations
        self._head = head

    def files(self, random: Random) -> Iterator[Text]:
        """As in `Corpus`."""
        for number in count(1):
            data = self._head + self._declarations(random, random.randint(*MADE_UP_LENGTHS))
            yield text_of(self, f"file {number}", b"", data, b"")

    def growing(self, random: Random, lengths: Sequence[int]) -> Iterator[Text]:
        """As in `Corpus`."""
        core = self._declarations(random, lengths[0])
        above, below = self._head, b""
        for length in lengths:
            missing = length - len(core) - len(above) - len(below)
            if missing > 1_000:
                above += self._declarations(random, missing // 2)
                below += self._declarations(random, missing // 2)
            yield text_of(self, f"{length}", above, core, below)
