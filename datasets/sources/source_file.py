"""Values on the way from a source to its cases: a file as found, a file to be cut, a file left out."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Found:
    """A file of a source: its place in it, and its content, or why that cannot be had.

    Attributes:
        name: where it was found; never an absolute path.
        content: its text; None if there is none.
        problem: why there is none, a reason of few words, and what may help.
        language: what the source says it is written in; None where it does not say.
    """

    name: str
    content: str | None
    problem: str | None = None
    detail: str = ""
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Excluded:
    """A file, or a part of a source, that gives no cases; equal reasons are counted together."""

    name: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that cases are cut from.

    `text` is the content with line feeds as line ends and one more line feed, as the protocol has it;
    `hash` is the SHA-256 of the content in hexadecimal digits.
    """

    name: str
    text: str
    hash: str

    @classmethod
    def of(cls, name: str, content: str) -> SourceFile:
        """The file of a *content*, which can be encoded as UTF-8."""
        content = content.replace("\r\n", "\n")
        return cls(name, content + "\n", hashlib.sha256(content.encode()).hexdigest())

    @property
    def content(self) -> str:
        """The text without the line feed that was added."""
        return self.text[:-1]
