"""The texts of each language to measure on: files, and one text with more and more around it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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

from corpora.go import PACKAGE, declarations_of_length, go_files
from corpora.json import json_files, records_of_length, separator
from corpora.lua import functions_of_length, lua_files
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
    """Texts of a language. `lengths` are those at which growth is looked at, in bytes."""

    title: str
    language: Language
    lengths: Sequence[int]

    def files(self, random: Random) -> Iterator[Text]:
        """Texts to open, in a random order."""

    def growing(self, random: Random, lengths: Sequence[int]) -> Iterator[Text]:
        """The same core, as long as the first of *lengths*, with more and more text around it."""


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
            yield self._text(name, b"", data, b"")

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
            yield self._text(f"{length}", above, core, below)

    def _text(self, name: str, above: bytes, core: bytes, below: bytes) -> Text:
        return Text(self.language, name, above + core + below, len(above), len(above) + len(core), self.word)


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
            yield self._text(name, b"", data, b"")

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
            yield self._text(f"{length}", above, core, below)

    def _text(self, name: str, above: bytes, core: bytes, below: bytes) -> Text:
        return Text(self.language, name, above + core + below, len(above), len(above) + len(core), self.word)


class LuaCorpus:
    """Made-up functions."""

    title = "Lua"
    language = lua
    lengths = (10_000, 100_000, 500_000, 2_000_000)
    word = re.compile(rb"(?<![\w.:'\"<\[])(?!(?:%s)\b)[a-z_]{2,}(?![\w'\"\]>])" % "|".join(KEYWORDS).encode())

    def files(self, random: Random) -> Iterator[Text]:
        """As in `Corpus`."""
        for name, data in lua_files(random):
            yield self._text(name, b"", data, b"")

    def growing(self, random: Random, lengths: Sequence[int]) -> Iterator[Text]:
        """As in `Corpus`."""
        core = functions_of_length(random, lengths[0])
        above = below = b""
        for length in lengths:
            missing = length - len(core) - len(above) - len(below)
            if missing > 1_000:
                above += functions_of_length(random, missing // 2)
                below += functions_of_length(random, missing // 2)
            yield self._text(f"{length}", above, core, below)

    def _text(self, name: str, above: bytes, core: bytes, below: bytes) -> Text:
        return Text(self.language, name, above + core + below, len(above), len(above) + len(core), self.word)


class GoCorpus:
    """Made-up functions and types."""

    title = "Go"
    language = go
    lengths = (10_000, 100_000, 500_000, 2_000_000)
    word = re.compile(rb"(?<![\w'\"`])(?!(?:%s)\b)[a-z_]{2,}(?![\w'\"`])" % "|".join(GO_KEYWORDS).encode())

    def files(self, random: Random) -> Iterator[Text]:
        """As in `Corpus`."""
        for name, data in go_files(random):
            yield self._text(name, b"", data, b"")

    def growing(self, random: Random, lengths: Sequence[int]) -> Iterator[Text]:
        """As in `Corpus`."""
        core = declarations_of_length(random, lengths[0])
        above, below = PACKAGE, b""
        for length in lengths:
            missing = length - len(core) - len(above) - len(below)
            if missing > 1_000:
                above += declarations_of_length(random, missing // 2)
                below += declarations_of_length(random, missing // 2)
            yield self._text(f"{length}", above, core, below)

    def _text(self, name: str, above: bytes, core: bytes, below: bytes) -> Text:
        return Text(self.language, name, above + core + below, len(above), len(above) + len(core), self.word)


_LARK = load_grammar(Path(__file__).parent / "json.lark")
CORPORA: Mapping[str, Sequence[Corpus]] = {
    "python": (PythonCorpus(),),
    "python-compile": (PythonCorpus("compile"),),
    "json": (JsonCorpus(json, minified=False), JsonCorpus(json, minified=True)),
    "lua": (LuaCorpus(),),
    "go": (GoCorpus(),),
    "lark": (JsonCorpus(_LARK, minified=False), JsonCorpus(_LARK, minified=True)),
}
"""What is measured of each language; of a grammar of a user's own JSON, written for Lark."""
