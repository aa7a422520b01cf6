"""The faults of a suggestion that a type checker finds in the joined text, and their words for users.

Not every diagnostic that a suggestion brings speaks against it: an import may be installed elsewhere, and a
call may get its other arguments later. `KINDS` are those that hold on real edits (docs/suggestions.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from fimlsp.languages.python.checker.ty_server import Diagnostic

KINDS = frozenset(
    {
        "invalid-explicit-return",
        "invalid-super-argument",
        "missing-attribute",
        "missing-module-member",
        "no-matching-overload",
        "not-callable",
        "not-iterable",
        "parameter-already-assigned",
        "too-many-positional-arguments",
        "unknown-argument",
        "unresolved-reference",
        "unsupported-operator",
    }
)
"""The kinds of diagnostics, by ty's codes, that hold a suggestion back."""

UNREAD = "invalid-syntax"
"""The kind of a text that ty cannot parse, so that its other diagnostics mean little."""

LONGEST_WORDS = 120

_LINE_END = re.compile(rb"\r\n|\r|\n")
_OBJECT = re.compile(r"\AObject of type ")


@dataclass(frozen=True, slots=True)
class TypeFault:
    """A fault of a text: the part of the text up to *end* has it, and *words* describe it in one line."""

    end: int
    words: str


def first_fault(
    left: bytes, text: bytes, right: bytes, found: Iterable[Diagnostic], before: Iterable[Diagnostic] = ()
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
        if diagnostic.code == UNREAD:
            return None
        if diagnostic.code in KINDS and (diagnostic.code, diagnostic.message) not in known:
            faults.append(TypeFault(min(end, len(text)), in_words(diagnostic.message)))
    return min(faults, key=lambda fault: fault.end, default=None)


def in_words(message: str) -> str:
    """*message* of ty in one line for users."""
    words = _OBJECT.sub("", message.replace("\n", " ")).rstrip(".")
    return words if len(words) <= LONGEST_WORDS else words[: LONGEST_WORDS - 1] + "…"
