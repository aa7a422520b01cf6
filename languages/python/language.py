"""Python as the engine is given it.

The value is cheap: its grammar and tables are only imported when an engine asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fimlsp.languages.python.versions import DEFAULT_VERSION, PythonVersion, known_version, version_text
from fimlsp.lexing.lexis import Lexis
from fimlsp.quotient.grammar.cfg import Grammar
from fimlsp.quotient.language.contract import Language, OpenModes, TextAfterCursor

_ENCLOSURES = {
    "(": ")",
    "[": "]",
    "{": "}",
    "FIELD_OPEN": "FIELD_CLOSE",
    "FSTRING_START": "FSTRING_END",
}


@dataclass(frozen=True)
class Python(Language):
    """A version of Python: what its `ast.parse` accepts."""

    version: PythonVersion = DEFAULT_VERSION

    enclosures = _ENCLOSURES
    byte_order_mark = True

    @property
    def name(self) -> str:  # type: ignore[override]  # an attribute of languages without versions
        """`Python 3.11`, for instance."""
        return f"Python {version_text(self.version)}"

    def lexis(self) -> Lexis:
        """As in `Language`."""
        from fimlsp.languages.python.lexis import python_lexis

        return python_lexis(self.version)

    def grammar(self) -> Grammar:
        """As in `Language`."""
        from fimlsp.languages.python.grammar import python_grammar

        return python_grammar(self.version)

    def terminal(self, kind: str) -> str:
        """As in `Language`: the beginnings of f-strings are one terminal, whatever their quotes."""
        return "FSTRING_START" if kind.startswith("FSTRING_START:") else kind

    def open_modes(self, text: TextAfterCursor) -> OpenModes:
        """As in `Language`: f-strings and their parts."""
        from fimlsp.languages.python.fstrings import field_rules
        from fimlsp.languages.python.open_strings import OpenStrings
        from fimlsp.languages.python.string_ends import styles_at

        rules = field_rules(self.version)
        return OpenStrings(text, rules, styles_at(text, rules))

    def strings_in(self, opened: Sequence[str]) -> tuple[str, ...]:
        """As in `Language`: the f-strings."""
        return tuple(part for part in reversed(opened) if part.startswith("text:"))

    def kinds_of_opening(self, terminals: Sequence[str], opened: Sequence[str]) -> dict[int, str]:
        """As in `Language`: the beginnings of f-strings in their styles."""
        styles = iter([part.removeprefix("text:") for part in opened if part.startswith("text:")])
        kinds: dict[int, str] = {}
        ended = 0
        for place in reversed(range(len(terminals))):
            if terminals[place] == "FSTRING_END":
                ended += 1
            elif terminals[place] == "FSTRING_START" and ended:
                ended -= 1
            elif terminals[place] == "FSTRING_START" and (style := next(styles, None)) is not None:
                kinds[place] = f"FSTRING_START:{style}"
        return kinds


def python(version: PythonVersion = DEFAULT_VERSION) -> Python:
    """The language of a Python version.

    Raises:
        UnknownVersionError: if the version is none of `PYTHON_VERSIONS`.
    """
    return Python(known_version(version))
