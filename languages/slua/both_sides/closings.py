"""What a text closes that it does not open, and what may have opened that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fimlsp.languages.slua.incremental.machine import Outline
from fimlsp.languages.slua.incremental.tokens import is_name

Opener = Literal["function", "type", "other", "any"]
"""What is closed: a function or its head, the parameters in a type, neither, or one of these."""


@dataclass(frozen=True, slots=True)
class Closing:
    """A closing sign or keyword.

    Attributes:
        sign: its text.
        opener: what it may close.
        commas: how many there are between the closing before it and this one.
        keys: the fields of a table that the text gives there.
    """

    sign: str
    opener: Opener = "any"
    commas: int = 0
    keys: frozenset[str] = frozenset()


Target = tuple[Closing, ...]
"""All that a text closes and does not open, the first of them first."""


def outline_of(target: Target) -> Outline:
    """The signs and keywords of *target*."""
    return tuple(closing.sign for closing in target)


_OPENED = {"(": (")",), "{": ("}",), "function": ("end",), "if": ("then", "end")}
_OPENED |= {"while": ("do", "end"), "for": ("do", "end"), "elseif": ("then",)}
_CLOSING = frozenset((")", "}", "then", "do", "end"))
_BEGINNINGS = frozenset(("break", "end", "for", "if", "interface", "local", "return", "while"))
_MOST_READINGS = 8


def targets(texts: Sequence[str]) -> list[Target]:
    """What the lexemes *texts* close, read in all ways: an unmatched `do` begins a block or a loop's body."""
    readings = [_Reading()]
    for number, text in enumerate(texts):
        before, behind = texts[number - 1] if number else "", (*texts[number + 1 : number + 2], "")[0]
        readings = [after for each in readings for after in each.after(before, text, behind)]
        readings = readings[:_MOST_READINGS]
    return [each.closed for each in readings if not each.expected]


@dataclass(frozen=True, slots=True)
class _Reading:
    """What is known of a text up to a lexeme.

    Attributes:
        closed: what was closed so far.
        expected: what was opened and is to be closed, the innermost first.
        commas: those behind the last closing.
        keys: the fields that are given behind it.
    """

    closed: Target = ()
    expected: tuple[str, ...] = ()
    commas: int = 0
    keys: frozenset[str] = frozenset()

    def after(self, before: str, text: str, behind: str) -> Iterator[_Reading]:
        """The readings behind *text*, which stands between two other lexemes."""
        if text in _OPENED:
            yield replace(self, expected=(*_OPENED[text], *self.expected))
        elif text == "do" and self.expected[:1] != ("do",):
            if not self.expected and before not in (";", "do", "then", "else"):
                yield _Reading((*self.closed, Closing("do")))
            yield replace(self, expected=("end", *self.expected))
        elif text not in _CLOSING:
            yield self if self.expected else self._within(before, text, behind)
        elif not self.expected:
            closing = Closing(text, opener(text, behind), self.commas, self.keys)
            yield _Reading((*self.closed, closing))
        elif self.expected[0] == text:
            yield replace(self, expected=self.expected[1:])

    def _within(self, before: str, text: str, behind: str) -> _Reading:
        """Behind *text*, which opens and closes nothing, where nothing is open."""
        if text == ",":
            return replace(self, commas=self.commas + 1)
        is_key = before == "," and behind == "=" and is_name(text)
        return replace(self, keys=self.keys | {text}) if is_key else self


def opener(closing: str, behind: str) -> Opener:
    """What *closing* may close before the lexeme *behind*."""
    if closing == "end":
        return "function" if behind in (")", "}", ",") else "any"
    if closing != ")" or behind == "do":
        return "any"
    if behind == "->":
        return "type"
    return "function" if is_name(behind) or behind in _BEGINNINGS else "other"
