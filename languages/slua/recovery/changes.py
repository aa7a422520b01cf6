"""How a text that is broken at a lexeme may be changed there so that it goes on, and what that costs.

Lexemes are passed over, or those that are missing are written, or both (Corchuelo et al. 2002). The change
begins at the lexeme, at a line above it, as what stands before that may be unfinished, or at the statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from fimlsp.languages.slua.incremental.inhabitants import NAMELESS
from fimlsp.languages.slua.incremental.machine import Machine
from fimlsp.languages.slua.incremental.parser import new_name
from fimlsp.languages.slua.incremental.statements import Block
from fimlsp.languages.slua.incremental.tokens import KEYWORDS, SIGNS, TOKEN
from fimlsp.languages.slua.recovery.lexemes import Piece

MOST_WRITTEN = 24
_MOST_HERE, _MOST_LINES, _MOST_STATEMENTS, _MOST_BACK = 8, 4, 3, 80
_COSTS = {"end": 5, "}": 4, ")": 3}
_WRITTEN, _PASSED, _MOST_PASSED, _UNMATCHED = 2, 2, 14, 5
_OPENING, _CLOSING = ("(", "{", "function", "if", "do"), (")", "}", "end")


@dataclass(frozen=True, slots=True)
class Change:
    """Reading goes on at *machine* with the piece *resumed*; those from *first* on are read as *written*."""

    first: int
    resumed: int
    written: tuple[str, ...]
    machine: Machine

    def cost(self, pieces: Sequence[Piece]) -> int:
        """The more of *pieces* is passed over and the more is written, the dearer; brackets cost most."""
        passed = pieces[self.first : self.resumed]
        dear = min(_PASSED * len(passed), _MOST_PASSED + len(passed) // 4)
        dear += _UNMATCHED * _unmatched([piece.text for piece in passed])
        return dear + sum(_COSTS.get(token, _WRITTEN) for token in self.written)


def _unmatched(texts: Sequence[str]) -> int:
    """How many brackets and blocks *texts* close or open only."""
    closed = opened = 0
    for text in texts:
        if text in _OPENING:
            opened += 1
        elif text in _CLOSING:
            closed, opened = (closed, opened - 1) if opened else (closed + 1, 0)
    return closed + opened


def spans(pieces: Sequence[Piece], places: Sequence[Machine], broken: int) -> Iterator[tuple[int, int]]:
    """Which pieces to pass over, from one to before another, where the piece *broken* may not come."""
    count = len(pieces)
    yield from ((broken, end) for end in range(broken, min(broken + _MOST_HERE, count) + 1))
    nearest = range(broken, max(-1, broken - _MOST_BACK), -1)
    starts = [number for number in nearest if number < count and pieces[number].begins_line][:_MOST_LINES]
    following = (number for number in range(broken + 1, count) if pieces[number].begins_line)
    ends = [end for _, end in zip(range(_MOST_LINES), following, strict=False)]
    for start in starts:
        yield from (
            (start, end) for end in (start, broken, broken + 1, *ends) if start < broken or end == start
        )
    for start in _statements(places, nearest):
        yield start, _behind_statement(pieces, start)


def _statements(places: Sequence[Machine], nearest: Sequence[int]) -> list[int]:
    """Where the statements begin that the last of *nearest* is in, the innermost first."""
    found, height = list[int](), 0
    for number in nearest:
        stack = places[number].stack
        if stack is not None and isinstance(stack.task, Block) and (not found or stack.height < height):
            found.append(number)
            height = stack.height
    return found[:_MOST_STATEMENTS]


def _behind_statement(pieces: Sequence[Piece], start: int) -> int:
    """The piece behind the semicolon of the statement at *start*, or what closes the block around it."""
    depth = 0
    for number in range(start, len(pieces)):
        text = pieces[number].text
        depth += (text in _OPENING) - (text in _CLOSING)
        if depth < 0:
            return number
        if text == ";" and not depth:
            return number + 1
    return len(pieces)


def missing_lexemes(machine: Machine, number: int) -> Iterator[Change]:
    """Each sign or keyword that may come, before the piece of this *number*."""
    for word in sorted(machine.expected().words & (SIGNS | KEYWORDS)):
        following = machine.take(word)
        if following is not None:
            yield Change(number, number, (word,), following)


def misspelt(machine: Machine, number: int, text: str) -> Iterator[Change]:
    """With a word that may come and is written nearly as *text*, the piece of this *number*."""
    for word in get_close_matches(text, machine.expected().words, n=2, cutoff=0.7) if text else ():
        following = machine.take(word)
        if following is not None:
            yield Change(number, number + 1, (word,), following)


def next_written(machine: Machine) -> tuple[tuple[str, ...], Machine] | None:
    """The next lexemes that bring *machine* nearer to its end, and the place behind them; None if all is."""
    names: dict[str, str] = {}
    written: list[str] = []
    for token in TOKEN.findall(machine.finish()):
        if token[0] == NAMELESS[0]:
            name = names.setdefault(token, "") or new_name(machine, names.values())
            names[token] = token = name
        following = machine.take(token)
        if following is None:
            break
        written.append(token)
        machine = following
    return (tuple(written), machine) if written else None
