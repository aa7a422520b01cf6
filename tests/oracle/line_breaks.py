"""Breaks valid files of languages without indentation in the ways in which they break while somebody writes.

The tokens are those that replay cuts at, and the judge is that of replay, so this serves Lua, Go and JSON.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fimlsp.datasets.languages.replay_language import ReplayLanguage

from .breaks import MARKERS, Lines

_CLOSERS = frozenset([")", "]", "}", "end", "until"])
_OPENERS = frozenset(["(", "[", "{", "then", "do", "repeat", "function"])
_QUOTES = "\"'`"


@dataclass(frozen=True, slots=True)
class Piece:
    """A token: its text, and where it starts and ends, each as a row from 1 and a column."""

    string: str
    start: tuple[int, int]
    end: tuple[int, int]


class LineSource:
    """A valid file as its lines, with the tokens that begin, and those that end, on each."""

    def __init__(self, text: str, language: ReplayLanguage) -> None:
        self.lines: Lines = text.splitlines(keepends=True)
        self.tokens: list[list[Piece]] = [[] for _ in self.lines]
        self.ends: list[list[Piece]] = [[] for _ in self.lines]
        places = [
            (number + 1, column) for number, line in enumerate(self.lines) for column in range(len(line))
        ]
        places.append((len(self.lines), len(self.lines[-1]) if self.lines else 0))
        spans = sorted(span for suite in language.suites(text) for stretch in suite for span in stretch)
        for start, end in spans:
            first, last = places[start], places[end - 1]
            token = Piece(text[start:end], first, (last[0], last[1] + 1))
            self.tokens[first[0] - 1].append(token)
            self.ends[last[0] - 1].append(token)

    def broken(self, kind: str, number: int, rng: random.Random) -> Lines | None:
        """What stands for line *number* broken in the way of *kind*; None if it cannot be."""
        return KINDS[kind](self, number, rng)

    def _without(self, number: int, start: int, end: int) -> Lines:
        line = self.lines[number]
        return [line[:start] + line[end:]]

    def _one_of(self, number: int, texts: frozenset[str], rng: random.Random) -> Piece | None:
        found = [token for token in self.tokens[number] if token.string in texts]
        return rng.choice(found) if found else None

    def left_open(self, number: int, rng: random.Random) -> Lines | None:
        """A bracket or block that is never closed."""
        token = self._one_of(number, _CLOSERS, rng)
        return None if token is None else self._without(number, token.start[1], token.end[1])

    def never_opened(self, number: int, rng: random.Random) -> Lines | None:
        """A bracket or block that is closed and was never opened."""
        token = self._one_of(number, _OPENERS, rng)
        return None if token is None else self._without(number, token.start[1], token.end[1])

    def closed_twice(self, number: int, rng: random.Random) -> Lines | None:
        """A bracket or block that is closed twice."""
        token = self._one_of(number, _CLOSERS, rng)
        if token is None:
            return None
        line = self.lines[number]
        return [f"{line[: token.end[1]]} {token.string}{line[token.end[1] :]}"]

    def open_string(self, number: int, rng: random.Random) -> Lines | None:
        """A string whose last quote is gone."""
        found = [t for t in self.ends[number] if len(t.string) > 1 and t.string[-1] in _QUOTES]
        if not found:
            return None
        end = rng.choice(found).end[1]
        return self._without(number, end - 1, end)

    def cut_off(self, number: int, rng: random.Random) -> Lines | None:
        """A line of which only the beginning is written."""
        tokens = self.tokens[number]
        if len(tokens) < 3 or tokens[-1].end[0] != number + 1:
            return None
        kept = tokens[rng.randrange(len(tokens) - 1)]
        return self._without(number, kept.end[1], tokens[-1].end[1])

    def no_token(self, number: int, rng: random.Random) -> Lines | None:
        """A line that lacks a comma, an operator, a keyword or a name."""
        tokens = [
            t
            for t in self.tokens[number]
            if t.string not in _CLOSERS | _OPENERS and t.string[0] not in _QUOTES and t.end[0] == t.start[0]
        ]
        if len(tokens) < 2:
            return None
        token = rng.choice(tokens)
        return self._without(number, token.start[1], token.end[1])

    def marker(self, number: int, rng: random.Random) -> Lines | None:
        """What a merge leaves behind."""
        return [rng.choice(MARKERS), self.lines[number]]


KINDS: Mapping[str, Callable[[LineSource, int, random.Random], Lines | None]] = {
    "left open": LineSource.left_open,
    "never opened": LineSource.never_opened,
    "closed twice": LineSource.closed_twice,
    "string left open": LineSource.open_string,
    "line cut off": LineSource.cut_off,
    "token missing": LineSource.no_token,
    "conflict marker": LineSource.marker,
}
