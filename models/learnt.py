"""Goes on with the estimate of a model where it is used: the texts that the user then wrote correct it.

A suggested text is compared with the written one by words, as editors accept it word by word. A word is a run
of letters and digits, or a run of other signs, with the white space before it.

A correction is a straight line through the log-odds of an estimate (Platt 1999), one for whole texts and one
for their openings. It is fitted to counts of right and wrong texts, by the log-odds that the estimate gave
them. A prior holds the line where it was: twenty texts hardly move it, two hundred do. Old counts fade.
No text is ever stored.
"""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from fimlsp.lexing.automata.cached_files import cache_folder, read_cached, write_cached

BEGINNING = 4
"""Characters that must agree for a text to begin right."""

_WORD = re.compile(r"(?<!\s)\s*(?:\w+|[^\w\s]+)")


def agreeing(text: str, truth: str) -> int:
    """The number of characters in the leading words of *text* with which *truth* starts as well.

    A word that is longer in *truth* does not agree.
    """
    end = 0
    for word in _WORD.finditer(text):
        if not truth.startswith(word[0], end) or is_in_word(truth, word.end()):
            break
        end = word.end()
    return end


def is_in_word(text: str, offset: int) -> bool:
    """True if a word of *text* goes on at *offset*."""
    return 0 < offset < len(text) and is_word(text[offset - 1]) and is_word(text[offset])


def is_word(sign: str) -> bool:
    """True if the character *sign* belongs to words."""
    return sign == "_" or sign.isalnum()


def is_wholly_right(text: str, truth: str) -> bool:
    """True if *truth* starts with all of *text*, apart from white space at its end."""
    text = text.rstrip()
    return bool(text) and agreeing(text, truth) == len(text)


def begins_right(text: str, truth: str) -> bool:
    """True if at least the first four characters of *text* agree with *truth*, to the end of a word.

    If *truth* is shorter, all of it must agree.
    """
    agreed = len(text[: agreeing(text, truth)].strip())
    return agreed >= min(BEGINNING, len(truth.strip()))


FORMAT = 1
LARGEST_FILE = 100_000
"""Bytes; a full file has some 2,000."""

STEP, MOST = 0.5, 6.0
"""Width of a class of log-odds, and the largest log-odds of the classes."""

CLASSES = round(2 * MOST / STEP) + 1

PRIOR = 30.0
"""Precision of the prior of both numbers of a line; 120 texts with even odds weigh as much as the first."""

SLOPES = 0.3, 2.0
"""The least and the largest slope."""

ROUNDS = 25
"""Steps of Newton's method; a handful suffices."""

MEMORY = 1_000.0
"""Texts after which an older one counts 1/e."""

log = logging.getLogger(__name__)


class Line(NamedTuple):
    """Corrected log-odds: *bias* + *slope* * log-odds."""

    bias: float = 0.0
    slope: float = 1.0


class Correction(NamedTuple):
    """The lines for an estimate with this *key*: for whole texts, and for openings."""

    key: str
    whole: Line
    opening: Line


class Outcome(NamedTuple):
    """A text that came true or not: the log-odds that it would, and that its opening would.

    The latter are None if it is too short to have an opening. The outcomes of one place together weigh one,
    so *weight* is the share of this one.
    """

    log_odds: float
    is_right: bool
    opening_log_odds: float | None
    opens: bool
    weight: float = 1.0


def logistic(log_odds: float) -> float:
    """The probability with these odds; never overflows."""
    return 1 / (1 + math.exp(-max(-500.0, min(500.0, log_odds))))


def numbers(row: Mapping[str, Any]) -> dict[str, float]:
    """The values of *row* as numbers.

    Raises:
        ValueError, TypeError: one is not a number, or not finite.
    """
    values = {name: float(value) for name, value in row.items()}
    if not all(map(math.isfinite, values.values())):
        raise ValueError("a number is not finite")
    return values


@dataclass(frozen=True, slots=True)
class Counts:
    """Right and wrong texts by classes of log-odds."""

    right: tuple[float, ...] = (0.0,) * CLASSES
    wrong: tuple[float, ...] = (0.0,) * CLASSES

    def plus(self, other: Counts, kept: float = 1.0) -> Counts:
        """The sum of a share *kept* of these counts and the *other* ones."""
        return Counts(_sum(self.right, other.right, kept), _sum(self.wrong, other.wrong, kept))

    def with_one(self, log_odds: float, weight: float, *, is_right: bool) -> Counts:
        """These counts and a text."""
        number = round((max(-MOST, min(MOST, log_odds)) + MOST) / STEP)
        one = tuple(weight if number == each else 0.0 for each in range(CLASSES))
        return self.plus(Counts(right=one) if is_right else Counts(wrong=one))

    def line(self) -> Line:
        """The likeliest line after these counts, by Newton's method."""
        bias, slope = 0.0, 1.0
        for _ in range(ROUNDS):
            down, down_slope = PRIOR * bias, PRIOR * (slope - 1)
            flat, mixed, steep = PRIOR, 0.0, PRIOR
            for odds, right, wrong in self._classes():
                share, number = logistic(bias + slope * odds), right + wrong
                error, spread = share * number - right, share * (1 - share) * number
                down, down_slope = down + error, down_slope + error * odds
                flat, mixed, steep = flat + spread, mixed + spread * odds, steep + spread * odds * odds
            scale = flat * steep - mixed * mixed
            bias -= (steep * down - mixed * down_slope) / scale
            slope -= (flat * down_slope - mixed * down) / scale
        return Line(bias, max(SLOPES[0], min(SLOPES[1], slope)))

    def _classes(self) -> Iterator[tuple[float, float, float]]:
        for number, (right, wrong) in enumerate(zip(self.right, self.wrong, strict=True)):
            if right or wrong:
                yield number * STEP - MOST, right, wrong

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Counts:
        """The counts that `dataclasses.asdict` turned into *row*.

        Raises:
            ValueError, KeyError, TypeError, AttributeError: it is damaged.
        """
        sides = [
            tuple(numbers({str(number): count for number, count in enumerate(row[side])}).values())
            for side in ("right", "wrong")
        ]
        if any(len(side) != CLASSES or min(side) < 0 for side in sides):
            raise ValueError("not the counts of all classes")
        return cls(*sides)


def _sum(first: Iterable[float], second: Iterable[float], kept: float) -> tuple[float, ...]:
    return tuple(kept * one + other for one, other in zip(first, second, strict=True))


@dataclass(frozen=True, slots=True)
class Learnt:
    """The counts of whole texts and of openings, from *places* places so far."""

    whole: Counts = Counts()
    opening: Counts = Counts()
    places: int = 0

    def plus(self, outcomes: Iterable[Outcome]) -> Learnt:
        """This and the *outcomes* of one place; the same if there are none."""
        whole, opening, is_new = self.whole, self.opening, False
        for outcome in outcomes:
            is_new = True
            whole = whole.with_one(outcome.log_odds, outcome.weight, is_right=outcome.is_right)
            if outcome.opening_log_odds is not None:
                opening = opening.with_one(outcome.opening_log_odds, outcome.weight, is_right=outcome.opens)
        return Learnt(whole, opening, self.places + 1) if is_new else self

    def followed_by(self, newer: Learnt) -> Learnt:
        """This, faded, and the *newer* counts."""
        kept = math.exp(-newer.places / MEMORY)
        whole, opening = self.whole.plus(newer.whole, kept), self.opening.plus(newer.opening, kept)
        return Learnt(whole, opening, self.places + newer.places)

    def correction(self, key: str) -> Correction:
        """The correction of the estimate with this *key*."""
        return Correction(key, self.whole.line(), self.opening.line())


def learnt_folder() -> Path | None:
    """The folder with a file for each estimate; None if the user has no home folder."""
    try:
        return cache_folder() / "learnt"
    except RuntimeError:
        return None


def learnt_file(key: str) -> Path | None:
    """The file for the estimate with this *key*; None if the user has no home folder."""
    folder = learnt_folder()
    return None if folder is None else folder / key


def read_learnt(path: Path) -> Learnt:
    """The counts in the file at *path*; none, with a sentence in the log, if it is damaged."""
    try:
        row = json.loads(read_cached(path, LARGEST_FILE))
        if row["format"] != FORMAT:
            raise ValueError(f"format {row['format']}, not {FORMAT}")
        whole, opening = (Counts.from_json(row[name]) for name in ("whole", "opening"))
        return Learnt(whole, opening, int(row["places"]))
    except FileNotFoundError:
        pass
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        log.warning("Cannot use %s (%r): learning starts anew.", path, error)
    return Learnt()


def add_learnt(path: Path, newer: Learnt) -> Learnt:
    """Add *newer* to the file at *path*; returns all that it has from now on.

    It is read anew, so other servers may add to it as well. If two do so within the same milliseconds, the
    counts of one are lost.

    Raises:
        OSError: it cannot be written.
    """
    learnt = read_learnt(path).followed_by(newer)
    write_cached(path, json.dumps({"format": FORMAT, **asdict(learnt)}).encode())
    return learnt
