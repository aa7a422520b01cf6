"""A user's own grammar as a language to replay: which files are written in it, and who judges them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from fimlsp.datasets.languages.judges import lark_judge
from fimlsp.datasets.languages.replay_language import ReplayLanguage
from fimlsp.languages.custom import LarkLanguage
from fimlsp.languages.custom.files import GrammarFiles


@dataclass(frozen=True, slots=True)
class OwnGrammar:
    """A grammar, and the globs that name the files written in its language."""

    language: LarkLanguage
    patterns: tuple[str, ...]

    @property
    def replay_language(self) -> ReplayLanguage:
        """The language as replay knows it; Lark judges it."""
        return ReplayLanguage(
            name=self.language.name,
            patterns=self.patterns,
            grammar=self.language,
            judge='Lark (parser="earley", lexer="basic")',
            syntax_error=partial(lark_judge.syntax_error, self.language),
            compiler=None,
            suites=partial(lark_judge.suites_of, self.language),
            bodies=partial(lark_judge.bodies_of, self.language),
            statements=partial(lark_judge.statements_of, self.language),
        )

    def to_json(self) -> dict[str, Any]:
        """All of it, so that a run can be read without the grammar's file."""
        return {
            "files": [list(file) for file in self.language.files.texts],
            "start": self.language.start,
            "patterns": list(self.patterns),
        }

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> OwnGrammar:
        """What `to_json` wrote."""
        files = GrammarFiles(tuple((str(name), str(text)) for name, text in row["files"]))
        return cls(LarkLanguage(files, str(row["start"])), tuple(map(str, row["patterns"])))
