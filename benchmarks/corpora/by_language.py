"""The texts of each language to measure on: files, and one text with more and more around it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from keyword import kwlist, softkwlist
from pathlib import Path
from random import Random
from typing import Protocol

from fimlsp.languages.custom import load_grammar
from fimlsp.languages.go import go
from fimlsp.languages.go.lexis import KEYWORDS as GO_KEYWORDS
from fimlsp.languages.json import json
from fimlsp.languages.lua import lua
from fimlsp.languages.lua.lexis import KEYWORDS
from fimlsp.languages.python import python
from fimlsp.languages.python.checks import Check
from fimlsp.quotient.language.contract import Language

from corpora.go import PACKAGE, declarations_of_length
from corpora.json import json_files, records_of_length, separator
from corpora.lua import functions_of_length
from corpora.python import shuffled_files, text_of_length


@dataclass(frozen=True, slots=True)
class Text:
    """A text, the part of it in which cuts are made, and what words look like that may be renamed in it."""

    language: Language
    name: str
    data: bytes
    start: int
    end: int
    word: re.Pattern[bytes]


class Corpus(Protocol):
    """Texts of a language. `lengths` are where growth is looked at, in bytes; `word` as in `Text`."""

    title: str
    language: Language
    lengths: Sequence[int]
    word: re.Pattern[bytes]

    def files(self, random: Random) -> Iterator[Text]:
        """Texts to open, in a random order."""

    def growing(self, random: Random, lengths: Sequence[int]) -> Iterator[Text]:
        """The same core, as long as the first of *lengths*, with more and more text around it."""


def _text(corpus: Corpus, name: str, above: bytes, core: bytes, below: bytes) -> Text:
    """The text *name* of *corpus*, of which *core* is cut."""
    return Text(corpus.language, name, above + core + below, len(above), len(above) + len(core), corpus.word)


MADE_UP_LENGTHS = (2_000, 60_000)
"""Least and most bytes of a file."""

_RESERVED = "|".join((*kwlist, *softkwlist)).encode()


class PythonCorpus:
    """The interpreter's standard library."""

    lengths = (10_000, 25_000, 50_000, 100_000, 200_000)
    word = re.compile(rb"(?<![\w!\\'\"])(?!(?:%s)\b)[a-z_]{2,}(?![\w'\"])" % _RESERVED)

    def __init__(self, check: Check = "parse") -> None:
        self.title = f"Python, {check}"
        self.language = python(check=check)

    def files(self, random: Random) -> Iterator[Text]:
        """As in `Corpus`."""
        for name, data in shuffled_files(random):
            yield _text(self, name, b"", data, b"")

    def growing(self, random: Random, lengths: Sequence[int]) -> Iterator[Text]:
        """As in `Corpus`."""
        files = shuffled_files(random)
        core = text_of_length(files, lengths[0])
        above = below = b""
        for length in lengths:
            missing = max(length - len(core) - len(above) - len(below), 0)
            if missing:
                above = text_of_length(files, missing // 2) + above
                below += text_of_length(files, missing // 2)
            yield _text(self, f"{length}", above, core, below)


class JsonCorpus:
    """Lists of records."""

    lengths = (10_000, 100_000, 1_000_000, 5_000_000)
    word = re.compile(rb'(?<=")[a-z_]{2,}(?=")')

    def __init__(self, language: Language, *, minified: bool) -> None:
        self.language = language
        self.minified = minified
        self.title = f"{language.name}, minified" if minified else f"{language.name}, indented"

    def files(self, random: Random) -> Iterator[Text]:
        """As in `Corpus`."""
        for name, data in json_files(random, minified=self.minified):
            yield _text(self, name, b"", data, b"")

    def growing(self, random: Random, lengths: Sequence[int]) -> Iterator[Text]:
        """As in `Corpus`."""
        comma = separator(minified=self.minified)
        core = records_of_length(random, lengths[0], minified=self.minified)
        above, below = b"[", b"]"
        for length in lengths:
            missing = length - len(core) - len(above) - len(below)
            if missing > 1_000:
                more, rest = (
                    records_of_length(random, missing // 2, minified=self.minified) for _ in range(2)
                )
                above += more + comma
                below = comma + rest + below
            yield _text(self, f"{length}", above, core, below)


class MadeUpCorpus:
    """Made-up code: *declarations* gives as many bytes of it, which stand behind *head* in a file."""

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
            yield _text(self, f"file {number}", b"", data, b"")

    def growing(self, random: Random, lengths: Sequence[int]) -> Iterator[Text]:
        """As in `Corpus`."""
        core = self._declarations(random, lengths[0])
        above, below = self._head, b""
        for length in lengths:
            missing = length - len(core) - len(above) - len(below)
            if missing > 1_000:
                above += self._declarations(random, missing // 2)
                below += self._declarations(random, missing // 2)
            yield _text(self, f"{length}", above, core, below)


LUA_WORD = rb"(?<![\w.:'\"<\[])(?!(?:%s)\b)[a-z_]{2,}(?![\w'\"\]>])" % "|".join(KEYWORDS).encode()
GO_WORD = rb"(?<![\w'\"`])(?!(?:%s)\b)[a-z_]{2,}(?![\w'\"`])" % "|".join(GO_KEYWORDS).encode()


_LARK = load_grammar(Path(__file__).parent / "json.lark")
CORPORA: Mapping[str, Sequence[Corpus]] = {
    "python": (PythonCorpus(),),
    "python-compile": (PythonCorpus("compile"),),
    "json": (JsonCorpus(json, minified=False), JsonCorpus(json, minified=True)),
    "lua": (MadeUpCorpus("Lua", lua, LUA_WORD, functions_of_length),),
    "go": (MadeUpCorpus("Go", go, GO_WORD, declarations_of_length, PACKAGE),),
    "lark": (JsonCorpus(_LARK, minified=False), JsonCorpus(_LARK, minified=True)),
}
"""What is measured of each language; of a grammar of a user's own JSON, written for Lark."""
