"""Tries a user's grammar on whole texts: reads them, or reports the place with the remedy."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fimlsp.languages.custom.grammar_files import BASIC, CONTEXTUAL
from fimlsp.languages.custom.language import LarkLanguage
from fimlsp.languages.custom.lexemes import without_mode
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.grammar.cfg import GrammarError
from fimlsp.quotient.verification import Refusal, first_refusal

MOST_SHOWN = 12
"""Terminals that a refusal names."""

_LONGEST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Trial:
    """The result for a text that a grammar refuses.

    Attributes:
        refusal: the place, with the expected terminals; literals are as in a text.
        found: the text there; empty at the end.
        other_lexer: the lexer that reads the whole text, if the one in force does not.
    """

    refusal: Refusal
    found: str
    other_lexer: str | None = None

    def __str__(self) -> str:
        _, line, column, _, expected = self.refusal
        found = repr(self.found) if self.found else "its end"
        shown = ", ".join(expected[:MOST_SHOWN]) or "nothing"
        more = f" and {len(expected) - MOST_SHOWN} more" if len(expected) > MOST_SHOWN else ""
        text = f"line {line}, column {column}: refused at {found}; expected {shown}{more}."
        if self.other_lexer is None:
            return text
        return (
            f"{text} The {self.other_lexer} lexer reads all of it: write // lexer = "
            f'"{self.other_lexer}" into the grammar.'
        )


def refusal(language: LarkLanguage, text: bytes) -> Trial | None:
    """The place where *language* refuses *text*; None if it reads all of it.

    Raises:
        GrammarError: the grammar cannot be used.
    """
    found = first_refusal(Engine(language), text)
    if found is None:
        return None
    literals = language.compiled.literals
    names = sorted({without_mode(name) for name in found.expected})
    expected = tuple(sorted(repr(literals[name]) if name in literals else name for name in names))
    other = replace(language, lexer=BASIC if language.reader == CONTEXTUAL else CONTEXTUAL)
    try:
        differs = other.is_contextual != language.is_contextual
        reads = differs and first_refusal(Engine(other), text) is None
    except GrammarError:
        reads = False
    place = found._replace(expected=expected)
    return Trial(place, _shown(text[found.offset :]), other.lexer if reads else None)


def _shown(rest: bytes) -> str:
    """The beginning of *rest*, up to the end of its line."""
    found = rest.decode("utf-8", "replace")
    return found[:1] if found[:1].isspace() else found.split("\n", 1)[0][:_LONGEST_SHOWN]
