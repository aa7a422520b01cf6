"""Breaks valid Python in the ways in which it is broken while somebody writes: one line at a time."""

from __future__ import annotations

import io
import random
import tokenize
from collections.abc import Callable, Sequence

Lines = list[str]
Token = tokenize.TokenInfo

_CLOSERS = frozenset(")]}")
MARKERS = ("<<<<<<< HEAD\n", "=======\n", ">>>>>>> topic\n", "||||||| base\n")
_LAYOUT = frozenset(
    (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENDMARKER)
)


class Source:
    """A valid file as its lines, with the tokens that begin, and those that end, on each."""

    def __init__(self, text: str) -> None:
        self.lines: Lines = text.splitlines(keepends=True)
        self.tokens: list[list[Token]] = [[] for _ in self.lines]
        self.ends: list[list[Token]] = [[] for _ in self.lines]
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type not in _LAYOUT:
                self.tokens[token.start[0] - 1].append(token)
                self.ends[token.end[0] - 1].append(token)

    def broken(self, kind: str, number: int, rng: random.Random) -> Lines | None:
        """What stands for line *number* broken in the way of *kind*; None if it cannot be."""
        return KINDS[kind](self, number, rng)

    def _without(self, number: int, start: int, end: int) -> Lines:
        line = self.lines[number]
        return [line[:start] + line[end:]]

    def open_bracket(self, number: int, rng: random.Random) -> Lines | None:
        """A bracket that is never closed: its closing one is gone, sometimes with what follows it."""
        found = [token for token in self.tokens[number] if token.string in _CLOSERS]
        if not found:
            return None
        token = rng.choice(found)
        last = self.tokens[number][-1].end[1]
        return self._without(number, token.start[1], last if rng.random() < 0.3 else token.end[1])

    def open_string(self, number: int, rng: random.Random) -> Lines | None:
        """A string of which one delimiter is gone; of one in a single line that is the last."""
        found = [("end", token) for token in self.ends[number] if token.type == tokenize.STRING]
        found += [
            ("start", token)
            for token in self.tokens[number]
            if token.type == tokenize.STRING and token.string.endswith(("'''", '"""'))
        ]
        if not found:
            return None
        side, token = rng.choice(found)
        size = 3 if token.string.endswith(("'''", '"""')) else 1
        if side == "end":
            return self._without(number, token.end[1] - size, token.end[1])
        begin = token.start[1] + token.string.index(token.string[-3:])
        return self._without(number, begin, begin + size)

    def no_colon(self, number: int, _rng: random.Random) -> Lines | None:
        """A header without its colon."""
        tokens = self.tokens[number]
        if not tokens or tokens[-1].string != ":":
            return None
        return self._without(number, tokens[-1].start[1], tokens[-1].end[1])

    def cut_off(self, number: int, rng: random.Random) -> Lines | None:
        """A line of which only the beginning is written."""
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
        found = [token for token in self.tokens[number] if token.string in _CLOSERS]
        if not found:
            return None
        token = rng.choice(found)
        line = self.lines[number]
        return [line[: token.end[1]] + token.string + line[token.end[1] :]]

    def no_header(self, number: int, _rng: random.Random) -> Lines | None:
        """A block whose header is gone, and with it what a later clause belongs to."""
        tokens = self.tokens[number]
        return [] if tokens and tokens[-1].string == ":" else None

    def marker(self, number: int, rng: random.Random) -> Lines | None:
        """What a merge leaves behind."""
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
    """*lines* as a text in which *replacement* stands for line *number*."""
    return "".join([*lines[:number], *replacement, *lines[number + 1 :]])
