"""Which files are cut: valid files of one language and of limited size. Every other file gets a reason."""

from __future__ import annotations

from dataclasses import dataclass

from fimlsp.datasets.languages.known import PYTHON
from fimlsp.datasets.languages.replay_language import ReplayLanguage
from fimlsp.datasets.sources.source_file import Excluded, FoundFile, SourceFile

OTHER_LANGUAGE = "another language"


@dataclass(frozen=True, slots=True)
class Filters:
    """What a file must be: written in *language*, and of at most *bytes_max* bytes as UTF-8."""

    language: ReplayLanguage = PYTHON
    bytes_max: int = 1_000_000

    def identify(self, found: FoundFile) -> SourceFile | Excluded:
        """The file that was *found*, unless it is unreadable, too large or in another language."""
        if found.content is None:
            return Excluded(found.name, found.problem or "no content", found.detail)
        if found.language is not None and found.language.lower() != self.language.name:
            return Excluded(found.name, OTHER_LANGUAGE, found.language)
        try:
            size = len(found.content.encode())
        except UnicodeEncodeError as error:
            return Excluded(found.name, "not UTF-8", str(error))
        if size > self.bytes_max:
            return Excluded(found.name, f"larger than {self.bytes_max:,} bytes", f"{size:,} bytes")
        return SourceFile.of(found.name, found.content)

    def check_valid(self, file: SourceFile) -> SourceFile | Excluded:
        """The *file*, unless the language's judge refuses it."""
        error = self.language.syntax_error(file.text)
        return file if error is None else Excluded(file.name, "does not parse", error)
