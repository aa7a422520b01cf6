"""A file in its three forms: as read from a source, as cut, and as left out.

Files are cut if they are valid, written in one language and of limited size. Every other file gets a reason.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from fimlsp.datasets.languages.python import PYTHON
from fimlsp.datasets.languages.replay_language import ReplayLanguage

OTHER_LANGUAGE = "another language"


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """A file of a source, with its content or the reason why it cannot be read.

    Attributes:
        name: its path within the source; never an absolute path.
        content: its text; None if it cannot be read.
        problem: the reason, in a few words that are the same for all such files.
        detail: the part of the reason that differs between files.
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
    """A file in which holes are cut.

    Attributes:
        name: its path within the source, for readers.
        text: its content with line feeds as line ends and one more line feed, as in the protocol.
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


@dataclass(frozen=True, slots=True)
class Filters:
    """The conditions for a file to be cut: written in *language*, and at most *bytes_max* bytes as UTF-8."""

    language: ReplayLanguage = PYTHON
    bytes_max: int = 1_000_000

    def identify(self, entry: SourceEntry) -> SourceFile | Excluded:
        """The file of *entry*, unless it is unreadable, too large or in another language."""
        if entry.content is None:
            return Excluded(entry.name, entry.problem or "no content", entry.detail)
        if entry.language is not None and entry.language.lower() != self.language.name:
            return Excluded(entry.name, OTHER_LANGUAGE, entry.language)
        try:
            size = len(entry.content.encode())
        except UnicodeEncodeError as error:
            return Excluded(entry.name, "not UTF-8", str(error))
        if size > self.bytes_max:
            return Excluded(entry.name, f"larger than {self.bytes_max:,} bytes", f"{size:,} bytes")
        return SourceFile.of(entry.name, entry.content)

    def check_valid(self, file: SourceFile) -> SourceFile | Excluded:
        """The *file*, unless the language's reference parser refuses it."""
        error = self.language.syntax_error(file.text)
        return file if error is None else Excluded(file.name, "does not parse", error)
