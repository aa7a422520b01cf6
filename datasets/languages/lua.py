"""Lua and sLua: their reference parsers, and the places for holes: tokens, blocks, brackets and lines.

The parser of Lua is its own `load`. That of sLua is the checker of whole scripts, which was written
independently of the parser under test.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from fimlsp.datasets.languages.replay_language import (
    MissingParserError,
    ReplayLanguage,
    Span,
    Suite,
    SuiteBuilder,
    units_by_line,
)
from fimlsp.languages.lua import lua as lua_grammar
from fimlsp.languages.slua.checker import check_script
from fimlsp.languages.slua.language import Slua, interface_of

_BRACKETS_OPENING, _BRACKETS_CLOSING = "({[", ")}]"
_BLOCK_OPENING = frozenset(("function", "do", "then", "repeat", "else"))
_BLOCK_CLOSING = frozenset(("end", "elseif", "else", "until"))


def syntax_error(text: str) -> str | None:
    """The error of Lua 5.4's `load` in *text*, in one line; None if it accepts the text.

    Raises:
        MissingParserError: lupa, which contains that Lua, is not installed.
    """
    message = _load()(text.encode())
    if message is None:
        return None
    line, _, error = message.decode(errors="replace").removeprefix("text:").partition(": ")
    return f"{' '.join(error.split())} (line {line})"


@cache
def _load() -> Callable[[bytes], bytes | None]:
    try:
        from lupa.lua54 import LuaRuntime
    except ImportError as error:
        raise MissingParserError("Cannot check Lua: lupa is missing. Run: pip install lupa") from error
    load: Callable[[bytes], bytes | None] = LuaRuntime(encoding=None).eval(
        'function(text) local _, message = load(text, "=text", "t"); return message end'
    )
    return load


def slua_error(interface: str, text: str) -> str | None:
    """The first error in a script that is given *interface*, in one line; None if it is correct."""
    faults = check_script(text, interface_of(interface)).faults
    return f"{faults[0].message} (line {faults[0].at[0]})" if faults else None


@dataclass(frozen=True, slots=True)
class HolePlaces:
    """The places for holes in files of Lua's syntax whose tokens are the matches of a pattern.

    Matches with a group `skipped` are not tokens.
    """

    token: re.Pattern[str]

    def tokens_of(self, text: str) -> list[Span]:
        """The span of each token of a valid file, without comments."""
        return [match.span() for match in self.token.finditer(text) if not match.groupdict().get("skipped")]

    def suites_of(self, text: str) -> tuple[Suite, ...]:
        """The tokens of each block and bracket pair with its closing token, and last those of the file."""
        suites = SuiteBuilder()
        for start, end in self.tokens_of(text):
            token = text[start:end]
            if token in _BLOCK_CLOSING:
                suites.leave()
            if token in _BRACKETS_OPENING:
                suites.enter()
            suites.add((start, end))
            if token in _BRACKETS_CLOSING:
                suites.leave()
            if token in _BLOCK_OPENING:
                suites.enter()
        return suites.suites()

    def bodies_of(self, text: str) -> list[Span]:
        """The content of each block that is not empty; that of a function starts after its parameters."""
        return sorted((start, end) for start, end in self._blocks(text) if text[start:end].strip())

    def _blocks(self, text: str) -> Iterator[Span]:
        starts: list[int | None] = []
        for start, end in self.tokens_of(text):
            token = text[start:end]
            if token == ")" and starts and starts[-1] is None:
                starts[-1] = end
            if token in _BLOCK_CLOSING:
                block_start = starts.pop()
                if block_start is not None:
                    yield block_start, start
            if token in _BLOCK_OPENING:
                starts.append(None if token == "function" else end)

    def statements_of(self, text: str) -> list[Span]:
        """The tokens of each line, which a user types as one unit."""
        return units_by_line(text, self.tokens_of(text))


LUA_PLACES = HolePlaces(
    re.compile(
        r"""(?P<skipped>--\[(?P<a>=*)\[.*?(?:\](?P=a)\]|\Z)|--[^\r\n]*|\s+)
        |\[(?P<b>=*)\[.*?(?:\](?P=b)\]|\Z)
        |"(?:[^"\\]|\\z\s*|\\.)*"|'(?:[^'\\]|\\z\s*|\\.)*'
        |0[xX](?:[pP][+-]|[\w.])*|\.?\d(?:[eE][+-]|[\w.])*|\w+
        |\.\.\.|\.\.|::|<<|>>|//|[=~<>]=|.""",
        re.DOTALL | re.VERBOSE,
    )
)
SLUA_PLACES = HolePlaces(re.compile(r'"(?:[^"\\]|\\.)*"|\d+(?:\.\d+)?|\w+|->|\.\.|[=~<>]=|\S'))

LUA = ReplayLanguage(
    name="lua",
    patterns=("*.lua",),
    grammar=lua_grammar,
    reference_parser="Lua 5.4's load (lupa)",
    syntax_error=syntax_error,
    compiler=None,
    suites=LUA_PLACES.suites_of,
    bodies=LUA_PLACES.bodies_of,
    statements=LUA_PLACES.statements_of,
)


@dataclass(frozen=True, slots=True)
class Scripts:
    """Scripts in sLua that are given an interface, as a language to replay; *interface* is its valid text."""

    interface: str = ""

    @property
    def replay_language(self) -> ReplayLanguage:
        """The language of the scripts."""
        return ReplayLanguage(
            name="slua",
            patterns=("*.slua",),
            grammar=Slua(self.interface),
            reference_parser="fimlsp check",
            syntax_error=partial(slua_error, self.interface),
            compiler=None,
            suites=SLUA_PLACES.suites_of,
            bodies=SLUA_PLACES.bodies_of,
            statements=SLUA_PLACES.statements_of,
        )

    def to_json(self) -> dict[str, Any]:
        """All of the value, so that a run can be read without the file of the interface."""
        return {"interface": self.interface}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Scripts:
        """The value that `to_json` wrote."""
        return cls(str(row["interface"]))


SLUA = Scripts().replay_language
"""Scripts without an interface."""
