"""What a text closes that it does not open, and what may have opened that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fimlsp.languages.slua.incremental.machine import Outline
from fimlsp.languages.slua.incremental.tokens import is_name
from fimlsp.languages.slua.incremental.wanted import LEVELS

Opener = Literal["function", "type", "other", "any"]
"""What is closed: a function or its head, the parameters in a type, neither, or one of these."""


@dataclass(frozen=True, slots=True)
class Closing:
    """A closing sign or keyword, and what stands between the closing before it and this one, in nothing else.

    Attributes:
        sign: its text.
        opener: what it may close.
        parts: what stands behind each comma there, its first lexemes.
        keys: the fields of a table that the text gives there.
        returned: the values that are returned there, each as its lexemes.
        is_joined: whether an operator stands behind it, so that a value is closed.
        is_branch: whether another branch begins there, so that `if` is closed.
    """

    sign: str
    opener: Opener = "any"
    parts: tuple[tuple[str, ...], ...] = ()
    keys: frozenset[str] = frozenset()
    returned: frozenset[tuple[str, ...]] = frozenset()
    is_joined: bool = False
    is_branch: bool = False


Target = tuple[Closing, ...]
"""All that a text closes and does not open, the first of them first."""


def outline_of(target: Target) -> Outline:
    """The signs and keywords of *target*."""
    return tuple(closing.sign for closing in target)


_OPENED = {"(": (")",), "{": ("}",), "function": ("end",), "if": ("then", "end")}
_OPENED |= {"while": ("do", "end"), "for": ("do", "end"), "elseif": ("then",)}
_CLOSING = frozenset((")", "}", "then", "do", "end"))
_BEGINNINGS = frozenset(("break", "end", "for", "if", "interface", "local", "return", "while"))
_BEFORE_STATEMENT = frozenset(("", ";", ")", "do", "then", "else"))
_MOST_READINGS = 8
LONGEST_PART = 12


def targets(texts: Sequence[str]) -> list[Target]:
    """What the lexemes *texts* close, read in all ways: an unmatched `do` begins a block or a loop's body."""
    readings = [_Reading()]
    for number in range(len(texts)):
        readings = [after for each in readings for after in each.after(texts, number)]
        readings = readings[:_MOST_READINGS]
    return [each.closed for each in readings if not each.expected]


@dataclass(frozen=True, slots=True)
class _Reading:
    """What is known of a text up to a lexeme.

    Attributes:
        closed: what was closed so far.
        expected: what was opened and is to be closed, the innermost first.
        since: what stands behind the last closing, as of the next one.
    """

    closed: Target = ()
    expected: tuple[str, ...] = ()
    since: Closing = Closing("")

    def after(self, texts: Sequence[str], number: int) -> Iterator[_Reading]:
        """The readings behind the lexeme *number* of *texts*."""
        text, before, behind = texts[number], *_around(texts, number)
        if text in _OPENED:
            is_branch = text == "elseif" and not self.expected
            reading = replace(self, since=replace(self.since, is_branch=True)) if is_branch else self
            yield replace(reading, expected=(*_OPENED[text], *self.expected))
        elif text == "do" and self.expected[:1] != ("do",):
            if not self.expected and before not in _BEFORE_STATEMENT - {")", ""}:
                yield self._closing("do", "any", behind)
            if before in _BEFORE_STATEMENT:
                yield replace(self, expected=("end", *self.expected))
        elif text not in _CLOSING:
            yield self if self.expected else replace(self, since=self._since(texts, number))
        elif not self.expected:
            yield self._closing(text, opener(text, behind), behind)
        elif self.expected[0] == text:
            yield replace(self, expected=self.expected[1:])

    def _closing(self, sign: str, opened_by: Opener, behind: str) -> _Reading:
        """Behind *sign*, which closes what is not opened."""
        closing = replace(self.since, sign=sign, opener=opened_by, is_joined=behind in LEVELS)
        return _Reading((*self.closed, closing))

    def _since(self, texts: Sequence[str], number: int) -> Closing:
        """What stands behind the last closing, with the lexeme *number* of *texts*; nothing is open there."""
        since, text, (before, behind) = self.since, texts[number], _around(texts, number)
        if text == ",":
            return replace(since, parts=(*since.parts, _part(texts, number + 1)))
        if text == "else":
            return replace(since, is_branch=True)
        if text == "return":
            end = next((at for at in range(number, len(texts)) if texts[at] == ";"), len(texts))
            return replace(since, returned=since.returned | {tuple(texts[number + 1 : end])})
        is_key = before == "," and behind == "=" and is_name(text)
        return replace(since, keys=since.keys | {text}) if is_key else since


def _part(texts: Sequence[str], start: int) -> tuple[str, ...]:
    """The first lexemes of *texts* from *start* on, up to what ends the part that begins there."""
    depth, end = 0, start
    while end < min(len(texts), start + LONGEST_PART):
        text = texts[end]
        depth += (text in _OPENED) - (text in _CLOSING)
        if depth < 0 or (not depth and text == ","):
            break
        end += 1
    return tuple(texts[start:end])


def _around(texts: Sequence[str], number: int) -> tuple[str, str]:
    """The lexemes before and behind one of *texts*, empty where there is none."""
    return texts[number - 1] if number else "", texts[number + 1] if number + 1 < len(texts) else ""


def opener(closing: str, behind: str) -> Opener:
    """What *closing* may close before the lexeme *behind*."""
    if closing == "end":
        return "function" if behind in (")", "}", ",") else "any"
    if closing != ")" or behind == "do":
        return "any"
    if behind == "->":
        return "type"
    return "function" if is_name(behind) or behind in _BEGINNINGS else "other"
