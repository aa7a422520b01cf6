"""Tries a user's grammar on whole texts: whether it reads them, and otherwise the place and the remedy."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fimlsp.languages.custom.grammar_files import BASIC, CONTEXTUAL
from fimlsp.languages.custom.language import LarkLanguage
from fimlsp.languages.custom.lexemes import without_mode
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.grammar.cfg import GrammarError
from fimlsp.quotient.states.grammar_state import GrammarState
from fimlsp.quotient.verification import longest_viable

MOST_SHOWN = 12
"""Terminals that a refusal names."""

_LONGEST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Refusal:
    """The place of a text that a grammar refuses.

    Attributes:
        line, column: the place, counted from 1, in characters.
        found: the text there; empty at the end.
        expected: the terminals that the grammar expects there, literals as they are written.
        other_lexer: the lexer that reads the whole text, if the one in force does not.
    """

    line: int
    column: int
    found: str
    expected: tuple[str, ...]
    other_lexer: str | None = None

    def __str__(self) -> str:
        shown = repr(self.found) if self.found else "its end"
        expected = ", ".join(self.expected[:MOST_SHOWN]) or "nothing"
        more = f" and {len(self.expected) - MOST_SHOWN} more" if len(self.expected) > MOST_SHOWN else ""
        text = f"line {self.line}, column {self.column}: refused at {shown}; expected {expected}{more}."
        if self.other_lexer is None:
            return text
        return (
            f"{text} The {self.other_lexer} lexer reads all of it: write // lexer = "
            f'"{self.other_lexer}" into the grammar.'
        )


def refusal(language: LarkLanguage, text: bytes) -> Refusal | None:
    """The place where *language* refuses *text*; None if it reads all of it.

    Raises:
        GrammarError: the grammar cannot be used.
    """
    place = _refusal(language, text)
    if place is None:
        return None
    other = replace(language, lexer=BASIC if language.reader == CONTEXTUAL else CONTEXTUAL)
    try:
        reads = other.is_contextual != language.is_contextual and _refusal(other, text) is None
    except GrammarError:
        reads = False
    return replace(place, other_lexer=other.lexer if reads else None)


def _refusal(language: LarkLanguage, text: bytes) -> Refusal | None:
    start = Engine(language).document(b"").middle(0, 0, relax=False).start
    if start is None:
        return Refusal(1, 1, _shown(text), ())
    whole = start.feed(text)
    if whole is not None and whole.complete:
        return None
    viable = len(text) if whole is not None else longest_viable(start, text)
    before = text[:viable].decode("utf-8", "ignore")
    reached = start.feed(text[:viable])
    line = before.count("\n") + 1
    column = len(before) - (before.rfind("\n") + 1) + 1
    expected = _expected(language, reached) if isinstance(reached, GrammarState) else ()
    return Refusal(line, column, _shown(text[len(before.encode()) :]), expected)


def _shown(rest: bytes) -> str:
    """The beginning of *rest*, up to the end of its line."""
    found = rest.decode("utf-8", "replace")
    return found[:1] if found[:1].isspace() else found.split("\n", 1)[0][:_LONGEST_SHOWN]


def _expected(language: LarkLanguage, state: GrammarState) -> tuple[str, ...]:
    """The terminals that may come next, after the lexeme being read if that may end here."""
    step = None if state.lexer.at_lexeme_start else state.lexer.finish()
    chart = (step and state.scanned(step.symbols)) or state.chart
    tables, literals = state.connection.tables, language.compiled.literals
    names = {
        without_mode(tables.language.terminal(kind))
        for kind, terminal in zip(tables.lexical.kinds, tables.terminal_of, strict=True)
        if terminal >= 0 and chart.expects(terminal)
    }
    return tuple(sorted(repr(literals[name]) if name in literals else name for name in names))
