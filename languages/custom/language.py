"""A language that is given as a Lark grammar."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from fimlsp.languages.custom.compiling import compiled
from fimlsp.languages.custom.editing import policy_of
from fimlsp.languages.custom.files import GrammarFiles, Read, read_files
from fimlsp.languages.custom.lexemes import REJECTED, terminal_of
from fimlsp.lexing.lexis import Lexis
from fimlsp.lexing.modes import ModeStack
from fimlsp.quotient.grammar.cfg import Grammar
from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.language.editor_policy import EditorPolicy

_PAIRS = {"(": ")", "[": "]", "{": "}"}
_SEPARATORS = b"\r\n,;}"
"""Where a line may be cut, as far as the lexemes of the grammar allow it."""


@dataclass(frozen=True, eq=True)
class LarkLanguage(Language):
    """The language of a Lark grammar: its files, and the rule that it starts from."""

    files: GrammarFiles
    start: str = "start"

    @property
    def name(self) -> str:  # type: ignore[override]  # it depends on the file
        """What the file is called, without its ending."""
        return Path(self.files.name).stem

    @property
    def enclosures(self) -> dict[str, str]:  # type: ignore[override]  # they depend on the grammar
        """The brackets among the literals of the grammar."""
        of_text = {text: name for name, text in compiled(self.files, self.start).literals.items()}
        return {of_text[a]: of_text[b] for a, b in _PAIRS.items() if a in of_text and b in of_text}

    @property
    def editor(self) -> EditorPolicy:
        """As in `Language`, as far as the grammar tells it."""
        return _policy(self)

    def lexis(self) -> Lexis:
        """As in `Language`."""
        found = compiled(self.files, self.start)
        return Lexis(
            dfa=found.dfa,
            start=ModeStack(),
            unknown=ModeStack(known=False),
            space="",
            line_end="",
            unseen=found.ignored,
            rejected=REJECTED,
            separators=_SEPARATORS,
        )

    def grammar(self) -> Grammar:
        """As in `Language`."""
        return compiled(self.files, self.start).grammar

    def terminal(self, kind: str) -> str:
        """As in `Language`."""
        return terminal_of(kind)


@lru_cache(32)
def _policy(language: LarkLanguage) -> EditorPolicy:
    found = compiled(language.files, language.start)
    return policy_of(language.name, found.dfa, found.ignored, found.literals)


def load_grammar(path: str | Path, start: str = "start", *, read: Read | None = None) -> LarkLanguage:
    """The language of the Lark grammar at *path*, whose files begin with the rule *start*.

    What the grammar imports must lie in its own folder or belong to Lark; none of it is ever run. *read*
    reads a file, if that is not to be done plainly.

    Raises:
        GrammarError: the grammar cannot be read or used; the message says what to change.
    """
    language = LarkLanguage(read_files(Path(path), read or _read), start)
    compiled(language.files, language.start)
    return language


def _read(path: Path, most: int) -> bytes | None:
    if not path.is_file():
        raise FileNotFoundError(2, "there is no such file")
    with path.open("rb") as opened:
        data = opened.read(most + 1)
    return data if len(data) <= most else None
