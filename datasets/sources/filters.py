"""Which files are cut: those of the language that CPython parses. Every other is named with a reason."""

from __future__ import annotations

from dataclasses import dataclass

from fimlsp.datasets.sources.cpython import syntax_error
from fimlsp.datasets.sources.source_file import Excluded, Found, SourceFile

LANGUAGE = "python"
OTHER_LANGUAGE = "another language"


@dataclass(frozen=True, slots=True)
class Filters:
    """Limits on the files; `bytes_max` counts UTF-8."""

    bytes_max: int = 1_000_000

    def identify(self, found: Found) -> SourceFile | Excluded:
        """The file that *found* is, unless it is none, is too large or in another language."""
        if found.content is None:
            return Excluded(found.name, found.problem or "no content", found.detail)
        if found.language is not None and found.language.lower() != LANGUAGE:
            return Excluded(found.name, OTHER_LANGUAGE, found.language)
        try:
            size = len(found.content.encode())
        except UnicodeEncodeError as error:
            return Excluded(found.name, "not UTF-8", str(error))
        if size > self.bytes_max:
            return Excluded(found.name, f"larger than {self.bytes_max:,} bytes", f"{size:,} bytes")
        return SourceFile.of(found.name, found.content)


def check_parses(file: SourceFile) -> SourceFile | Excluded:
    """The *file*, unless CPython refuses it."""
    error = syntax_error(file.text)
    return file if error is None else Excluded(file.name, "does not parse", error)
