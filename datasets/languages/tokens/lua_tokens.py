"""Where holes are cut into Lua files: at tokens, in blocks and brackets, in lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from fimlsp.datasets.languages.suites import Span, Suite, SuiteBuilder

_TOKEN = re.compile(
    r"""(?P<skipped>--\[(?P<a>=*)\[.*?\](?P=a)\]|--[^\r\n]*|\s+)
    |\[(?P<b>=*)\[.*?\](?P=b)\]
    |"(?:[^"\\]|\\z\s*|\\.)*"|'(?:[^'\\]|\\z\s*|\\.)*'
    |0[xX](?:[pP][+-]|[\w.])*|\.?\d(?:[eE][+-]|[\w.])*|\w+
    |\.\.\.|\.\.|::|<<|>>|//|[=~<>]=|.""",
    re.DOTALL | re.VERBOSE,
)
_OPENING = frozenset(("(", "{", "[", "function", "do", "then", "repeat", "else"))
_CLOSING = frozenset((")", "}", "]", "end", "elseif", "else", "until"))
_BRACKETS = frozenset(("(", "{", "[", ")", "}", "]"))


def tokens_of(text: str) -> list[Span]:
    """The span of each token of valid Lua, without comments."""
    return [found.span() for found in _TOKEN.finditer(text) if found["skipped"] is None]


Tokens = Callable[[str], list[Span]]


def suites_of(text: str, tokens_of: Tokens = tokens_of) -> tuple[Suite, ...]:
    """The tokens of each block and each pair of brackets with what ends it, and last those of the file."""
    suites = SuiteBuilder()
    for start, end in tokens_of(text):
        token = text[start:end]
        if token in _CLOSING and token not in _BRACKETS:
            suites.leave()
        if token in _OPENING and token in _BRACKETS:
            suites.enter()
        suites.add((start, end))
        if token in _CLOSING and token in _BRACKETS:
            suites.leave()
        if token in _OPENING and token not in _BRACKETS:
            suites.enter()
    return suites.suites()


def bodies_of(text: str, tokens_of: Tokens = tokens_of) -> list[Span]:
    """What stands in each block that is not empty; of a function, behind its parameters."""
    return sorted((start, end) for start, end in _blocks(text, tokens_of(text)) if text[start:end].strip())


def _blocks(text: str, tokens: list[Span]) -> Iterator[Span]:
    begins: list[int | None] = []
    for start, end in tokens:
        token = text[start:end]
        if token == ")" and begins and begins[-1] is None:
            begins[-1] = end
        if token in _CLOSING and token not in _BRACKETS:
            begin = begins.pop()
            if begin is not None:
                yield begin, start
        if token in _OPENING and token not in _BRACKETS:
            begins.append(None if token == "function" else end)


def statements_of(text: str, tokens_of: Tokens = tokens_of) -> list[Span]:
    """The tokens of each line, which is what a user types as one unit."""
    units: list[Span] = []
    for start, end in tokens_of(text):
        if units and "\n" not in text[units[-1][1] : start] and "\r" not in text[units[-1][1] : start]:
            units[-1] = units[-1][0], end
        else:
            units.append((start, end))
    return units
