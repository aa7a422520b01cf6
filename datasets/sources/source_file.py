"""A file as it was found, a file that holes are cut into, and a file that was left out."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of a source, with its content or the reason why it cannot be read.

    Attributes:
        name: where it was found in its source; never an absolute path.
        content: its text; None if it cannot be read.
        problem: why it cannot be read, in a few words that are the same for all such files.
        detail: what is particular to this file's problem.
        language: the language that the source states; None if it states none.
    """

    name: str
    content: str | None
    problem: str | None = None
    detail: str = ""
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Excluded:
    """A file, or a part of a source, that gives no cases. Reports count equal reasons together."""

    name: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that holes are cut into.

    Attributes:
        name: where it was found, for readers.
        text: its content with line feeds as line ends and one more line feed, as the protocol has it.
        hash: the SHA-256 of the content, in hexadecimal digits.
        number: its number among the files of the run's sources, from 0.
    """

    name: str
    text: str
    hash: str
    number: int = 0

    @classmethod
    def of(cls, name: str, content: str) -> SourceFile:
        """The file with this *content*, which must be encodable as UTF-8."""
        content = content.replace("\r\n", "\n")
        return cls(name, content + "\n", hashlib.sha256(content.encode()).hexdigest())

    @property
    def content(self) -> str:
        """The text without the added line feed."""
        return self.text[:-1]
