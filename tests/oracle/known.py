"""Differences that are known and explained. Each has an example that must still differ."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fimlsp.languages.python.checks import Check

from .laws import Bench, Case, Disagreement, broken

_FILE = Path(__file__).with_name("known.json")


@dataclass(frozen=True, slots=True)
class Known:
    """A difference between the engine and some versions of CPython.

    It explains disagreements of its `laws` if CPython's message has `message` in it and the file's text
    has `source`, or that before the end of the middle, or the completed one; both are regular expressions.
    """

    name: str
    reason: str
    versions: tuple[str, ...]
    laws: tuple[str, ...]
    message: str
    source: str
    example: tuple[str, str, str]
    check: Check = "parse"
    """The level from which on it is one."""

    def explains(self, found: Disagreement) -> bool:
        """Whether *found* is an instance."""
        case = found.case
        texts = case.whole, case.left + case.middle, found.completed
        return (
            found.law in self.laws
            and re.search(self.message, found.message) is not None
            and any(re.search(self.source.encode(), text) for text in texts)
        )

    def still_differs(self, bench: Bench) -> bool:
        """Whether the example breaks one of the laws."""
        left, middle, right = (text.encode("utf-8", "surrogateescape") for text in self.example)
        case = Case(left, middle, right)
        return any((found := broken(law, bench, case)) and self.explains(found) for law in self.laws)


def known_differences(version: tuple[int, int], check: Check) -> list[Known]:
    """The known differences from a version of CPython at the level *check*."""
    found = [known for known in _all() if "{}.{}".format(*version) in known.versions]
    return [known for known in found if known.check in ("parse", check)]


def _all() -> Iterator[Known]:
    for entry in json.loads(_FILE.read_text("utf-8")):
        yield Known(
            **{key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
        )


def stale(bench: Bench, version: tuple[int, int], check: Check) -> list[str]:
    """The names of the known differences from the level *check* on, which *bench* has, that are gone."""
    known = [each for each in known_differences(version, check) if each.check == check]
    return [each.name for each in known if not each.still_differs(bench)]
