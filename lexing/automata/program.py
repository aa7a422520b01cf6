"""Programs of a backtracking matcher: what a regular expression tries, in which order.

A program is a list of steps. Where it may go on in several ways, the earlier one is preferred: the match is
not the longest one, but the first that a backtracking search finds (Cox, "Regular Expression Matching: the
Virtual Machine Approach", 2009, after Pike and Thompson).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from fimlsp.lexing.automata.regex import Choice, Many, OneByte, Range, Regex, code_points
from fimlsp.lexing.automata.regex import Sequence as Concatenation


class ProgramTooLargeError(ValueError):
    """The program of a regular expression has too many steps."""


@dataclass(frozen=True, slots=True)
class Bytes:
    """Read one byte; `table` maps each byte that is possible to the next step."""

    table: dict[int, int] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Split:
    """Go on with any of `targets`, the earlier the better; without targets, fail."""

    targets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Again:
    """The end of a loop's body: begin the loop at `head` again, unless the body read nothing; then `exit`."""

    head: int
    exit: int


@dataclass(frozen=True, slots=True)
class Accept:
    """The lexeme ends here and is of `kind`."""

    kind: int


@dataclass(frozen=True, slots=True)
class Done:
    """The end of a look-around or of a word that is only watched for."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """Go on with `target` if what begins here matches the program at `body`, or with `negative` if not."""

    body: int
    negative: bool
    target: int


@dataclass(frozen=True, slots=True)
class Behind:
    """Go on with `target` if what ends here matches the look-behind `number`, or with `negative` if not."""

    number: int
    negative: bool
    target: int


Step: TypeAlias = Bytes | Split | Again | Accept | Done | Ahead | Behind


@dataclass(slots=True)
class LookBehind:
    """A look-behind of exactly `width` characters: its program from `body` to the step `end`."""

    width: int
    body: int
    end: int


class Program:
    """The steps of all lexemes of a language. Steps are added from the end of an expression to its start.

    `behind` are the look-behinds of all expressions, which run beside them. At most *most* steps are allowed.
    """

    def __init__(self, most: int) -> None:
        self.steps: list[Step] = []
        self.behind: list[LookBehind] = []
        self._most = most
        self._readers: dict[tuple[Sequence[Range], int], int] = {}

    def add(self, step: Step) -> int:
        """Add a step; returns its number.

        Raises:
            ProgramTooLargeError: there are too many.
        """
        if len(self.steps) >= self._most:
            raise ProgramTooLargeError(f"more than {self._most} steps")
        self.steps.append(step)
        return len(self.steps) - 1

    def choice(self, targets: Iterable[int]) -> int:
        """Any of *targets*, the earlier the better."""
        return self.add(Split(tuple(targets)))

    def character(self, ranges: tuple[Range, ...], target: int) -> int:
        """Read one character of the ascending *ranges*, then go on with *target*."""
        key = ranges, target
        if key not in self._readers:
            self._readers[key] = self._reader(code_points(ranges), target, {})
        return self._readers[key]

    def _reader(self, regex: Regex, target: int, known: dict[int, int]) -> int:
        """A step that reads *regex*, a tree of `code_points`, whose branches differ in their first bytes."""
        if id(regex) not in known:
            table: dict[int, int] = {}
            for members, rest in _branches(regex):
                after = target if rest is None else self._reader(rest, target, known)
                table.update(dict.fromkeys(members, after))
            known[id(regex)] = self.add(Bytes(table))
        return known[id(regex)]


def _branches(regex: Regex) -> Iterable[tuple[frozenset[int], Regex | None]]:
    match regex:
        case Choice(options):
            for option in options:
                yield from _branches(option)
        case Concatenation((OneByte(members), Concatenation(()))):
            yield members, None
        case Concatenation((OneByte(members), rest)):
            yield members, rest
        case Concatenation() | OneByte() | Many():
            raise AssertionError("no tree of code points")
