"""The value that describes one language to replay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from fimlsp.datasets.languages.suites import Span, Suite
from fimlsp.quotient.language.contract import Language


@dataclass(frozen=True, slots=True)
class ReplayLanguage:
    """Which files are of a language, which of them are valid, and where holes can be cut into them.

    The functions that find places to cut may assume that `syntax_error` accepts the text. They raise
    `NoTokensError` if they cannot split it into tokens all the same. Offsets count characters.

    Attributes:
        name: the language's name in data sets, options and fenced code, in lower case.
        patterns: globs for the names of its files.
        grammar: the language as the engine is given it.
        judge: who decides what is valid, for reports.
        syntax_error: why the judge refuses a file, in one line; None if it accepts it.
        compiler: why the judge's compiler refuses a file that parses, without the names in it; None if it
            accepts it. The attribute itself is None for a language without checks beyond its syntax.
        suites: the tokens of a file by the suite they stand in, for `boundary` cuts.
        bodies: what each nested suite consists of, for `block` cuts.
        statements: what a user types as one unit, for `user` cuts.
    """

    name: str
    patterns: tuple[str, ...]
    grammar: Language
    judge: str
    syntax_error: Callable[[str], str | None]
    compiler: Callable[[str], str | None] | None
    suites: Callable[[str], tuple[Suite, ...]]
    bodies: Callable[[str], list[Span]]
    statements: Callable[[str], list[Span]]

    def has_file(self, name: str) -> bool:
        """Whether a file of this name is written in the language."""
        return any(fnmatchcase(name, pattern) for pattern in self.patterns)

    def compile_error(self, text: str) -> str | None:
        """Why the compiler refuses *text*; None if it does not, or if there is no compiler."""
        return None if self.compiler is None else self.compiler(text)

    def accepts(self, left: str, middle: bytes, right: str) -> bool:
        """Whether the file with *middle* in the hole is valid; bytes that are not UTF-8 never are."""
        try:
            return self.syntax_error(left + middle.decode() + right) is None
        except UnicodeDecodeError:
            return False
