"""Converts the values of scripts to values of the game. Any value is accepted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

FURTHEST = 1_000
LONGEST_TEXT = 60


def whole(value: float, least: int, most: int) -> int:
    """*value* as a whole number between two others; NaN counts as 0."""
    known = 0 if value != value else value
    return int(min(max(known, least), most))


def line(text: str) -> str:
    """*text* as a short line without control characters."""
    printable = "".join(sign if sign.isprintable() else " " for sign in text[: 2 * LONGEST_TEXT])
    return " ".join(printable.split())[:LONGEST_TEXT]


class Table(Protocol):
    """A table that a script has made, of a type in the interface."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - the field's type is in the interface alone
        """Its field *name*, or nil."""


@dataclass(frozen=True, slots=True)
class Coord:
    """A place of the level."""

    x: int
    y: int

    @staticmethod
    def of(place: GivenPlace) -> Coord:
        """The place for a script's table, or for one that it was given."""
        if isinstance(place, Coord):
            return place
        return Coord(whole(place["x"], -FURTHEST, FURTHEST), whole(place["y"], -FURTHEST, FURTHEST))

    def distance(self, other: Coord) -> int:
        """The number of steps to *other*; steps may be diagonal."""
        return max(abs(self.x - other.x), abs(self.y - other.y))

    def toward(self, other: Coord, steps: int) -> Coord:
        """The place *steps* steps away on a straight line to *other*, or *other* if that is nearer."""
        length = self.distance(other)
        if length <= steps:
            return other
        share = steps / length
        return Coord(self.x + round((other.x - self.x) * share), self.y + round((other.y - self.y) * share))

    def line(self, other: Coord) -> list[Coord]:
        """The places after this one on a straight line to *other*, the last included."""
        return [self.toward(other, steps) for steps in range(1, self.distance(other) + 1)]


GivenPlace = Coord | Table
"""A place from a script: one that it was given, or a table with `x` and `y`."""
