"""Where holes are cut into Go files: at tokens, in blocks and brackets, in lines."""

from __future__ import annotations

import re

from fimlsp.datasets.languages.suites import Span, Suite, SuiteBuilder

_TOKEN = re.compile(
    r"""(?P<skipped>\ufeff|//[^\n]*|/\*.*?\*/|\s+)
    |`[^`]*`|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)+'
    |0[xX](?:[pP][+-]|[\w.])*|\.?\d(?:[eEpP][+-]|[\w.])*|\w+
    |\.\.\.|<<=|>>=|&\^=|<<|>>|&\^|&&|\|\||<-|\+\+|--|[-+*/%&|^=!<>:]=|.""",
    re.DOTALL | re.VERBOSE,
)
OPENING, CLOSING = "([{", ")]}"


def tokens_of(text: str) -> list[Span]:
    """The span of each token of valid Go, without comments and line ends."""
    return [found.span() for found in _TOKEN.finditer(text) if found["skipped"] is None]


def suites_of(text: str) -> tuple[Suite, ...]:
    """The tokens of each pair of brackets, these included, and last those of the file itself."""
    suites = SuiteBuilder()
    for start, end in tokens_of(text):
        token = text[start:end]
        if token in OPENING:
            suites.enter()
        suites.add((start, end))
        if token in CLOSING:
            suites.leave()
    return suites.suites()


def bodies_of(text: str) -> list[Span]:
    """What stands between each pair of braces, if it is not empty."""
    bodies, begins = list[Span](), list[int]()
    for start, end in tokens_of(text):
        if text[start] == "{":
            begins.append(end)
        elif text[start:end] == "}":
            begin = begins.pop()
            if text[begin:start].strip():
                bodies.append((begin, start))
    return sorted(bodies)


def statements_of(text: str) -> list[Span]:
    """The tokens of each line, which is what a user types as one unit."""
    lines = list[Span]()
    last = -1
    for start, end in tokens_of(text):
        if lines and "\n" not in text[last:start]:
            lines[-1] = lines[-1][0], end
        else:
            lines.append((start, end))
        last = end
    return lines
