"""Where holes are cut into JSON files: at tokens, in objects and arrays, in their members and elements."""

from __future__ import annotations

import re

from fimlsp.datasets.languages.suites import Span, Suite, SuiteBuilder

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[][{},:]|[^][{},:"\s]+')
OPENING, CLOSING = "[{", "]}"


def tokens_of(text: str) -> list[Span]:
    """The span of each string, number, literal and structural character of valid JSON."""
    return [found.span() for found in _TOKEN.finditer(text)]


def suites_of(text: str) -> tuple[Suite, ...]:
    """The tokens of each object and array, its own brackets included, and last those of the file itself."""
    suites = SuiteBuilder()
    for token in tokens_of(text):
        if text[token[0]] in OPENING:
            suites.enter()
        suites.add(token)
        if text[token[0]] in CLOSING:
            suites.leave()
    return suites.suites()


def bodies_of(text: str) -> list[Span]:
    """All that stands between the brackets of each object or array that is not empty."""
    bodies, begins = list[Span](), list[int]()
    for start, end in tokens_of(text):
        if text[start] in OPENING:
            begins.append(end)
        elif text[start] in CLOSING:
            begin = begins.pop()
            if not text[begin:start].isspace() and begin < start:
                bodies.append((begin, start))
    return sorted(bodies)


def statements_of(text: str) -> list[Span]:
    """Each member of an object, name and value together, and each element of an array."""
    units, begins, last_end = list[Span](), list[int | None](), 0
    for start, end in tokens_of(text):
        if text[start] in CLOSING or text[start] == ",":
            begin = begins.pop()
            if begin is not None:
                units.append((begin, last_end))
        if text[start] == ",":
            begins.append(None)
        elif begins and begins[-1] is None and text[start] not in CLOSING:
            begins[-1] = start
        if text[start] in OPENING:
            begins.append(None)
        last_end = end
    return sorted(units)
