"""The faults among the diagnostics of a text: those that hold it back.

Not every diagnostic that a suggestion brings speaks against it. An import may be installed elsewhere, and a
call may get its other arguments later. Each language says which ones count.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Protocol

from fimlsp.languages.type_checker.language_server import Diagnostic

LONGEST_WORDS = 120

_LINE_END = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class TypeFault:
    """A fault of a text: the part of the text up to *end* has it, and *words* describe it in one line."""

    end: int
    words: str


class Judge(Protocol):
    """Decides about the diagnostics of a language."""

    def counts(self, diagnostic: Diagnostic, before: Collection[Diagnostic]) -> bool:
        """True if a *diagnostic* of the last text holds that text back.

        *before* are those of the file without the text, as far as they are known.
        """

    def is_unread(self, diagnostic: Diagnostic) -> bool:
        """True if the checker cannot parse the text, so that its other diagnostics mean little."""


def first_fault(
    judge: Judge,
    left: bytes,
    text: bytes,
    right: bytes,
    found: Iterable[Diagnostic],
    before: Collection[Diagnostic] = (),
) -> TypeFault | None:
    """The first fault of *text* between *left* and *right*; None if it has none.

    *found* are the diagnostics of the joined text, *before* those of the file without *text*. Only those in
    the bytes of *text* count that *before* lacks.
    """
    known = {(diagnostic.code, diagnostic.message) for diagnostic in before}
    starts = [0, *(end.end() for end in _LINE_END.finditer(left + text + right))]
    faults = list[TypeFault]()
    for diagnostic in found:
        if max(diagnostic.start[0], diagnostic.end[0]) >= len(starts):
            continue
        start, end = (
            starts[line] + column - len(left) for line, column in (diagnostic.start, diagnostic.end)
        )
        if start >= len(text) or end <= 0:
            continue
        if judge.is_unread(diagnostic):
            return None
        if judge.counts(diagnostic, before) and (diagnostic.code, diagnostic.message) not in known:
            faults.append(TypeFault(min(end, len(text)), in_words(diagnostic.message)))
    return min(faults, key=lambda fault: fault.end, default=None)


def in_words(message: str) -> str:
    """The first line of a *message* of a checker, for users."""
    words = message.partition("\n")[0].removeprefix("Object of type ").rstrip(".")
    return words if len(words) <= LONGEST_WORDS else words[: LONGEST_WORDS - 1] + "…"
