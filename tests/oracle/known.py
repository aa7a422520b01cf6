"""Differences that are known and explained. Each has an example that must still differ."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fimlsp.languages.python.versions import Check

from .laws import Bench, Case, Disagreement, broken

_FILE = Path(__file__).with_name("known.json")


@dataclass(frozen=True, slots=True)
class Known:
    """A difference between the engine and some versions of CPython.

    It explains disagreements of its `laws` if CPython's message matches `message`, and a text matches
    `source`: the file, the file up to the end of the middle, or the completed file. Both are regular
    expressions.
    """

    name: str
    reason: str
    versions: tuple[str, ...]
    laws: tuple[str, ...]
    message: str
    source: str
    example: tuple[str, str, str]
    check: Check = "parse"
    """The first level at which it occurs."""

    def explains(self, disagreement: Disagreement) -> bool:
        """True if *disagreement* is an instance of it."""
        case = disagreement.case
        texts = case.whole, case.left + case.middle, disagreement.completed
        return (
            disagreement.law in self.laws
            and re.search(self.message, disagreement.message) is not None
            and any(re.search(self.source.encode(), text) for text in texts)
        )

    def still_differs(self, bench: Bench) -> bool:
        """True if the example breaks one of the laws."""
        left, middle, right = (text.encode("utf-8", "surrogateescape") for text in self.example)
        case = Case(left, middle, right)
        return any(
            (disagreement := broken(law, bench, case)) and self.explains(disagreement) for law in self.laws
        )


def known_differences(version: tuple[int, int], check: Check) -> list[Known]:
    """The known differences from a version of CPython at the level *check*."""
    of_version = [known for known in _all() if "{}.{}".format(*version) in known.versions]
    return [known for known in of_version if known.check in ("parse", check)]


def _all() -> Iterator[Known]:
    for entry in json.loads(_FILE.read_text("utf-8")):
        yield Known(
            **{key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
        )


def stale(bench: Bench, version: tuple[int, int], check: Check) -> list[str]:
    """The names of the known differences of the level *check* that *bench* no longer shows."""
    at_level = [known for known in known_differences(version, check) if known.check == check]
    return [known.name for known in at_level if not known.still_differs(bench)]
