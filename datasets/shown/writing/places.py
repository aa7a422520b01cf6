"""Places at which people pause while they write, and the ways there.

A `Step` is a document at one moment. A `Writing` is the history of one file as steps, from its opening on. At
some of them, the drawn places, the server gets a request. A `Project` holds the writings of one workspace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from fimlsp.datasets.shown.cursors import HASH_DIGITS, TRIES_MAX

Owner = TypeVar("Owner")

CRLF_SHARE = 0.25
"""The share of files with Windows line ends."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place of *kind* in a file; *source* and *at* identify it, *name* is for readers.

    Attributes:
        truth: the text that was really written from here on; None if that is not known.
        stop: the number of its characters that are to be written here, mostly up to the end of the line.
        column: the column of the statement that is being written.
        deleted: texts that were deleted a moment ago.
    """

    kind: str
    name: str
    source: str
    at: int
    truth: str | None
    stop: int
    column: int
    deleted: tuple[str, ...] = ()

    @property
    def case(self) -> str:
        """The name of the place, the same in every run."""
        return f"{self.kind}-{self.source[:HASH_DIGITS]}-{self.at}"

    def to_json(self) -> dict[str, Any]:
        """The place as an object of strings and numbers, without the texts."""
        names = "case", "kind", "name", "source", "at", "column"
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class Step:
    """A document with the cursor between *left* and *right*.

    *place* is there if the server gets a request. If *waits*, the editor waits until names are known.
    """

    left: str
    right: str
    place: Place | None = None
    waits: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """The code cell *number*, from 1, of a notebook; *above* is the Python of the cells above it."""

    number: int
    above: str


@dataclass(frozen=True, slots=True)
class Writing:
    """The history of the file at *path*: its *places*, and its *steps*, with line feeds.

    *newline* is the line end of the real document. If there is a *cell*, the history is that of one cell of
    the notebook at *path*.
    """

    path: Path
    places: tuple[Place, ...]
    steps: Callable[[], Iterator[Step]]
    newline: str = "\n"
    cell: Cell | None = None


@dataclass(frozen=True, slots=True)
class Project:
    """The *writings* in the workspace *folder*, in order. If *keeps_open*, each file stays open after it."""

    folder: Path
    writings: Sequence[Writing]
    keeps_open: bool = False

    @property
    def places(self) -> list[Place]:
        """All places, in order."""
        return [place for writing in self.writings for place in writing.places]


def draw_places(
    n: int,
    seed: int,
    kinds: Sequence[str],
    draw: Callable[[int, str, Random], tuple[Owner, Place] | None],
) -> list[tuple[Owner, Place]]:
    """About *n* different places with their owners, the same number of each of *kinds*.

    *draw* gets the number of a place among those of its kind. Each place depends on the seed and that number
    alone, so a larger *n* only adds places.
    """
    drawn = dict[str, tuple[Owner, Place]]()
    for number in range(n):
        kind = kinds[number % len(kinds)]
        random = Random(f"{seed} {kind} {number // len(kinds)}")
        for _ in range(TRIES_MAX):
            found = draw(number // len(kinds), kind, random)
            if found is not None and found[1].case not in drawn:
                drawn[found[1].case] = found
                break
    return list(drawn.values())


def first_line(text: str) -> int:
    """The end of the first line of *text* that is not blank, as an offset."""
    start = len(text) - len(text.lstrip())
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def indentation(line: str) -> int:
    """The number of blanks and tabs at the start of *line*."""
    return len(line) - len(line.lstrip())


def newline_of(source: str, seed: int) -> str:
    """The line end of the file with the hash *source*: Windows' in some, drawn by *seed*."""
    return "\r\n" if Random(f"{seed} {source}").random() < CRLF_SHARE else "\n"
