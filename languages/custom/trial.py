"""Tries a user's grammar on whole texts: reads them, or reports the place with the remedy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fimlsp.languages.custom.compiling import terminals_of
from fimlsp.languages.custom.grammar_files import BASIC, CONTEXTUAL
from fimlsp.languages.custom.language import LarkLanguage
from fimlsp.languages.custom.lexemes import REJECTED, without_mode
from fimlsp.lexing.automata.dfa import DEAD
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
        lexeme: the text that the lexer takes there, with its terminal, if it might be an expected one.
        lost: terminals of the rules that the lexer never reads, as others take all their texts.
    """

    refusal: Refusal
    found: str
    other_lexer: str | None = None
    lexeme: tuple[str, str] | None = None
    lost: tuple[str, ...] = ()

    def __str__(self) -> str:
        _, line, column, _, expected = self.refusal
        found = repr(self.found) if self.found else "its end"
        place = f"line {line}, column {column}: refused at {found}; expected {_listed(expected) or 'nothing'}."
        return "".join((place, *self._reasons()))

    def _reasons(self) -> Iterator[str]:
        if self.lexeme is not None:
            yield " The lexer reads {!r} as {}.".format(*self.lexeme)
        other = self.other_lexer
        if other is not None:
            yield f' The {other} lexer reads all of it: write // lexer = "{other}" into the grammar.'
            return
        if self.lost:
            yield f" The lexer never reads {_listed(self.lost)}, as other terminals take all their texts."
        if self.lexeme or self.lost:
            yield " Give the terminals that are meant a higher priority, or texts of their own."


def refusal(language: LarkLanguage, text: bytes) -> Trial | None:
    """The place where *language* refuses *text*; None if it reads all of it.

    Raises:
        GrammarError: the grammar cannot be used.
    """
    found = first_refusal(Engine(language), text)
    return None if found is None else described(language, text, found)


def described(language: LarkLanguage, text: bytes, found: Refusal) -> Trial:
    """The refusal of *text* by *language* at the place *found*, with the remedies that are known."""
    compiled = language.compiled
    names = sorted({without_mode(name) for name in found.expected})
    shown = (repr(compiled.literals[name]) if name in compiled.literals else name for name in names)
    lexeme = _lexeme_at(language, text, found.offset)
    if lexeme is not None and not _takes_place(language, lexeme, names):
        lexeme = None
    return Trial(
        found._replace(expected=tuple(sorted(shown))),
        _shown(text[found.offset :]),
        _other_lexer(language, text),
        lexeme and (_shown(lexeme[0]), lexeme[1]),
        compiled.lost,
    )


def _takes_place(language: LarkLanguage, lexeme: tuple[bytes, str], expected: list[str]) -> bool:
    """True if *lexeme* might be another terminal, which is *expected*."""
    text, name = lexeme
    if name in expected:
        return False
    alike = terminals_of(language.files, language.start, text.decode("utf-8", "replace"))
    return not alike.isdisjoint(expected)


def _other_lexer(language: LarkLanguage, text: bytes) -> str | None:
    """The lexer that reads all of *text*, if the one of *language* does not."""
    other = replace(language, lexer=BASIC if language.reader == CONTEXTUAL else CONTEXTUAL)
    try:
        differs = other.is_contextual != language.is_contextual
        return other.lexer if differs and first_refusal(Engine(other), text) is None else None
    except GrammarError:
        return None


def _lexeme_at(language: LarkLanguage, text: bytes, offset: int) -> tuple[bytes, str] | None:
    """The lexeme of *text* that has the byte at *offset*, and its terminal; None if there is none."""
    spec = language.lexical_spec()
    dfa, modes, begin = spec.dfa, spec.start, 0
    while True:
        state, end, kind = dfa.starts[modes.mode], begin, -1
        for at in range(begin, len(text)):
            state = dfa.rows[state][text[at]]
            if state == DEAD:
                break
            if dfa.accepts[state] >= 0:
                end, kind = at + 1, dfa.accepts[state]
        if kind < 0 or (name := dfa.kinds[kind]) == REJECTED:
            return None
        if end > offset:
            return None if name in spec.unseen else (text[begin:end], without_mode(name))
        following = modes if name in spec.unseen else modes.after(name)
        if following is None:
            return None
        modes, begin = following, end


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    return ", ".join(names[:MOST_SHOWN]) + more


def _shown(rest: bytes) -> str:
    """The beginning of *rest*, up to the end of its line."""
    found = rest.decode("utf-8", "replace")
    return found[:1] if found[:1].isspace() else found.split("\n", 1)[0][:_LONGEST_SHOWN]
