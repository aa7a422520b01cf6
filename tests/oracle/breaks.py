"""Breaks valid files as they are broken while somebody writes: one line at a time.

`Source` breaks Python, `LineSource` files of languages without indentation.
"""

from __future__ import annotations

import io
import random
import tokenize
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fimlsp.datasets.languages.replay_language import ReplayLanguage

Lines = list[str]
Token = tokenize.TokenInfo

_CLOSERS = frozenset(")]}")
MARKERS = ("<<<<<<< HEAD\n", "=======\n", ">>>>>>> topic\n", "||||||| base\n")
_LAYOUT = frozenset(
    (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENDMARKER)
)


class Source:
    """A valid file as its lines, with the tokens that start and those that end on each."""

    def __init__(self, text: str) -> None:
        self.lines: Lines = text.splitlines(keepends=True)
        self.tokens: list[list[Token]] = [[] for _ in self.lines]
        self.ends: list[list[Token]] = [[] for _ in self.lines]
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type not in _LAYOUT:
                self.tokens[token.start[0] - 1].append(token)
                self.ends[token.end[0] - 1].append(token)

    def broken(self, kind: str, number: int, rng: random.Random) -> Lines | None:
        """The lines that replace line *number* after a break of *kind*; None if it cannot be broken so."""
        return KINDS[kind](self, number, rng)

    def _without(self, number: int, start: int, end: int) -> Lines:
        line = self.lines[number]
        return [line[:start] + line[end:]]

    def open_bracket(self, number: int, rng: random.Random) -> Lines | None:
        """A bracket that is never closed: its closing one is gone, sometimes with the rest of the line."""
        closers = [token for token in self.tokens[number] if token.string in _CLOSERS]
        if not closers:
            return None
        token = rng.choice(closers)
        last = self.tokens[number][-1].end[1]
        return self._without(number, token.start[1], last if rng.random() < 0.3 else token.end[1])

    def open_string(self, number: int, rng: random.Random) -> Lines | None:
        """A string of which one delimiter is gone; of one in a single line that is the last."""
        ends = [("end", token) for token in self.ends[number] if token.type == tokenize.STRING]
        ends += [
            ("start", token)
            for token in self.tokens[number]
            if token.type == tokenize.STRING and token.string.endswith(("'''", '"""'))
        ]
        if not ends:
            return None
        side, token = rng.choice(ends)
        size = 3 if token.string.endswith(("'''", '"""')) else 1
        if side == "end":
            return self._without(number, token.end[1] - size, token.end[1])
        quotes = token.start[1] + token.string.index(token.string[-3:])
        return self._without(number, quotes, quotes + size)

    def no_colon(self, number: int, _rng: random.Random) -> Lines | None:
        """A header without its colon."""
        tokens = self.tokens[number]
        if not tokens or tokens[-1].string != ":":
            return None
        return self._without(number, tokens[-1].start[1], tokens[-1].end[1])

    def cut_off(self, number: int, rng: random.Random) -> Lines | None:
        """A line of which only the start is written."""
        tokens = self.tokens[number]
        if len(tokens) < 3 or tokens[-1].end[0] != number + 1:
            return None
        kept = tokens[rng.randrange(len(tokens) - 1)]
        return None if kept.end[0] != number + 1 else self._without(number, kept.end[1], tokens[-1].end[1])

    def no_token(self, number: int, rng: random.Random) -> Lines | None:
        """A line that lacks a comma, an operator, a keyword or a name."""
        tokens = [t for t in self.tokens[number] if t.type in (tokenize.OP, tokenize.NAME)]
        tokens = [t for t in tokens if t.string not in _CLOSERS and t.string != ":"]
        if len(tokens) < 2:
            return None
        token = rng.choice(tokens)
        return self._without(number, token.start[1], token.end[1])

    def doubled_closer(self, number: int, rng: random.Random) -> Lines | None:
        """A bracket that is closed twice."""
        closers = [token for token in self.tokens[number] if token.string in _CLOSERS]
        if not closers:
            return None
        token = rng.choice(closers)
        line = self.lines[number]
        return [line[: token.end[1]] + token.string + line[token.end[1] :]]

    def no_header(self, number: int, _rng: random.Random) -> Lines | None:
        """A block whose header is gone; later clauses lose their statement."""
        tokens = self.tokens[number]
        return [] if tokens and tokens[-1].string == ":" else None

    def marker(self, number: int, rng: random.Random) -> Lines | None:
        """A conflict marker of a merge before the line."""
        return [rng.choice(MARKERS), self.lines[number]]


KINDS: dict[str, Callable[[Source, int, random.Random], Lines | None]] = {
    "bracket left open": Source.open_bracket,
    "string left open": Source.open_string,
    "header without colon": Source.no_colon,
    "line cut off": Source.cut_off,
    "token missing": Source.no_token,
    "bracket closed twice": Source.doubled_closer,
    "header missing": Source.no_header,
    "conflict marker": Source.marker,
}


def spliced(lines: Sequence[str], number: int, replacement: Lines) -> str:
    """*lines* as a text, with *replacement* for line *number*."""
    return "".join([*lines[:number], *replacement, *lines[number + 1 :]])


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
    """A valid file as its lines, with the tokens that start and those that end on each."""

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
        """The lines that replace line *number* after a break of *kind*; None if it cannot be broken so."""
        return LINE_KINDS[kind](self, number, rng)

    def _without(self, number: int, start: int, end: int) -> Lines:
        line = self.lines[number]
        return [line[:start] + line[end:]]

    def _one_of(self, number: int, texts: frozenset[str], rng: random.Random) -> Piece | None:
        tokens = [token for token in self.tokens[number] if token.string in texts]
        return rng.choice(tokens) if tokens else None

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
        strings = [t for t in self.ends[number] if len(t.string) > 1 and t.string[-1] in _QUOTES]
        if not strings:
            return None
        end = rng.choice(strings).end[1]
        return self._without(number, end - 1, end)

    def cut_off(self, number: int, rng: random.Random) -> Lines | None:
        """A line of which only the start is written."""
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
        """A conflict marker of a merge before the line."""
        return [rng.choice(MARKERS), self.lines[number]]


LINE_KINDS: Mapping[str, Callable[[LineSource, int, random.Random], Lines | None]] = {
    "left open": LineSource.left_open,
    "never opened": LineSource.never_opened,
    "closed twice": LineSource.closed_twice,
    "string left open": LineSource.open_string,
    "line cut off": LineSource.cut_off,
    "token missing": LineSource.no_token,
    "conflict marker": LineSource.marker,
}
