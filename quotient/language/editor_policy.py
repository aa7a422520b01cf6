"""What an editor and a model have to know of a language beside its grammar: remarks, blocks, repetitions.

None of it decides what is valid. It decides how much is suggested at once, what of that is worth showing, and
how a file's name is told to a model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from re import Pattern

_STEPS = {**dict.fromkeys(b"([{", 1), **dict.fromkeys(b")]}", -1)}


@dataclass(frozen=True, slots=True)
class Comment:
    """How a remark of one line is written: between what it begins with and what ends it, if anything does."""

    begin: str
    end: str = ""


@dataclass(frozen=True)
class EditorPolicy:
    """The editor's side of a language, by default of one whose blocks stand in brackets.

    Attributes:
        file_ending: what the names of its files end with, for a buffer that has none.
        comment: how a remark is written; None if there are none.
        known_names: the names that need not be defined in a file, such as keywords.
        header_end: what ends a line behind which a block begins; empty if a bracket does.
        block_opener: matches at the beginning of a line, without its remark, behind which a block begins.
        block_closer: matches a line that only ends what was begun above it.
        not_code: matches strings and remarks, those without an end up to the end of the text or line.
        prose: matches the beginning of a text that holds sentences rather than code.
    """

    file_ending: str = ""
    comment: Comment | None = None
    known_names: frozenset[bytes] = frozenset()
    header_end: bytes = b""
    block_opener: Pattern[bytes] = re.compile(rb".*[(\[{]\s*\Z", re.DOTALL)
    block_closer: Pattern[bytes] = re.compile(rb"[)\]},:;\s]*\Z")
    not_code: Pattern[bytes] = re.compile(rb"\"(?:\\.|[^\"\\\n])*\"?")
    prose: Pattern[bytes] = re.compile(rb"(?!)")

    def opens_block(self, line: bytes) -> bool:
        """Whether a block may begin behind *line*."""
        return self.block_opener.match(self.code_alone(line)) is not None

    def is_remark(self, line: bytes) -> bool:
        """Whether *line* is a remark and nothing else."""
        return self.comment is not None and line.strip().startswith(self.comment.begin.encode())

    def only_closes(self, line: bytes) -> bool:
        """Whether *line* has nothing but the ends of what was begun above it."""
        return self.block_closer.match(line.strip()) is not None

    def code_alone(self, text: bytes) -> bytes:
        """*text* without its strings and remarks."""
        return self.not_code.sub(b"", text)

    def swaps_brackets(self, text: bytes) -> bool:
        """Whether *text* closes a bracket that it did not open, and then leaves another one open.

        Between `f(` and `)` that is `a) + g(b`. Strings and remarks do not count.
        """
        depth = lowest = 0
        for byte in self.code_alone(text):
            depth += _STEPS.get(byte, 0)
            lowest = min(lowest, depth)
        return lowest < 0 and depth > lowest

    def first_fault(self, left: bytes, text: bytes, right: bytes) -> int | None:
        """The offset in *text*, between *left* and *right*, up to which it may be shown; None if all may."""
        del left, text, right
        return None

    def stops_idly(self, left: bytes, text: bytes, right: bytes, whole: bytes) -> bool:
        """Whether *text*, a beginning of *whole*, stops where nobody would stop."""
        del left, text, right, whole
        return False

    def first_unknown_name(self, left: bytes, text: bytes, right: bytes) -> int | None:
        """The offset of the first name in *text* that nothing binds; None if none, or nobody knows."""
        del left, text, right
        return None
