"""Tries a user's grammar on whole texts: reads them, or reports the place with the remedy."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fimlsp.languages.custom.compiling import terminals_of
from fimlsp.languages.custom.grammar_files import BASIC, CONTEXTUAL, DYNAMIC
from fimlsp.languages.custom.language import LarkLanguage
from fimlsp.languages.custom.lexemes import REJECTED, without_mode
from fimlsp.lexing.automata.dfa import DEAD
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.grammar.cfg import GrammarError
from fimlsp.quotient.verification import Refusal, first_refusal

MOST_SHOWN = 12
"""Terminals that a refusal names."""

_LONGEST_SHOWN = 20
_LONGEST_TRIED = 200
_LINE_FEED = ord("\n")


@dataclass(frozen=True, slots=True)
class Trial:
    """The result for a text that a grammar refuses.

    Attributes:
        refusal: the place, with the expected terminals; literals are as in a text.
        found: the text there; empty at the end.
        other_lexer: the lexer that reads the whole text, if the one in force does not.
        lexeme: the text that the lexer takes there, with its terminal, if it might be an expected one.
        lost: terminals of the rules that the lexer never reads, as others take all their texts.
        may_end: the text before it is whole.
        is_blank: there is only white space from here on.
    """

    refusal: Refusal
    found: str
    other_lexer: str | None = None
    lexeme: tuple[str, str] | None = None
    lost: tuple[str, ...] = ()
    may_end: bool = False
    is_blank: bool = False

    def __str__(self) -> str:
        _, line, column, _, expected = self.refusal
        found = repr(self.found) if self.found else "its end"
        named = " or ".join((*filter(None, [_listed(expected)]), *(["the end"] if self.may_end else [])))
        place = f"line {line}, column {column}: refused at {found}; expected {named or 'nothing'}."
        return "".join((place, *self._reasons()))

    def _reasons(self) -> Iterator[str]:
        if self.lexeme is not None:
            yield " The lexer reads {!r} as {}.".format(*self.lexeme)
        other = self.other_lexer
        if other is not None:
            yield f' The {other} lexer reads all of it: write // lexer = "{other}" into the grammar.'
            return
        if self.may_end and self.is_blank:
            yield " Only white space follows: leave it out, or %ignore it in the grammar."
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


def place_in(language: LarkLanguage, text: bytes, cursor: int) -> str | None:
    """The place that makes *text* wrong whatever stands at *cursor*; None if it is at the cursor itself.

    It tries no other lexer, which may have to be compiled.
    """
    engine, left = Engine(language), text[:cursor]
    found = first_refusal(engine, left)
    if found is not None and found.offset < cursor:
        trial = Trial(_in_words(language, found), _shown(left[found.offset :]), lost=language.compiled.lost)
        return f"{language.files.name} reads the file no further than {trial}"
    starts = [cursor, *(at + 1 for at in range(cursor, len(text)) if text[at] == _LINE_FEED)]
    if _ends_a_text(engine, text[cursor:]):
        return None
    last = bisect_left(starts, True, key=lambda at: _ends_a_text(engine, text[at:])) - 1
    line = text.count(b"\n", 0, starts[last]) + 1
    return f"{language.files.name} refuses line {line} with the text after it"


def _ends_a_text(engine: Engine, right: bytes) -> bool:
    """True if some valid text ends with *right*."""
    return engine.document(right).middle_at_bytes(0, 0, relax=False).start is not None


def described(language: LarkLanguage, text: bytes, found: Refusal) -> Trial:
    """The refusal of *text* by *language* at the place *found*, with the remedies that are known."""
    names = {without_mode(name) for name in found.expected}
    is_dynamic = language.reader == DYNAMIC  # which takes no terminal for another
    lexeme = None if is_dynamic else _lexeme_at(language, text, found.offset)
    if lexeme is not None and not _takes_place(language, text, lexeme, names):
        lexeme = None
    return Trial(
        _in_words(language, found),
        _shown(text[found.offset :]),
        _other_lexer(language, text),
        lexeme and (_shown(text[slice(*lexeme[:2])]), lexeme[2]),
        language.compiled.lost,
        first_refusal(Engine(language), text[: found.offset]) is None,
        not text[found.offset :].strip(),
    )


def _in_words(language: LarkLanguage, found: Refusal) -> Refusal:
    """*found* with literals as in a text."""
    literals = language.compiled.literals
    names = {without_mode(name) for name in found.expected}
    return found._replace(expected=tuple(sorted(repr(literals[n]) if n in literals else n for n in names)))


def _takes_place(
    language: LarkLanguage, text: bytes, lexeme: tuple[int, int, str], expected: set[str]
) -> bool:
    """True if one of the *expected* terminals could begin in *text* where *lexeme* does."""
    begin, _, name = lexeme
    if name in expected:
        return False
    following = text[begin : begin + _LONGEST_TRIED].decode("utf-8", "replace")
    alike = terminals_of(language.files, language.start, following)
    return not alike.isdisjoint(expected)


def _other_lexer(language: LarkLanguage, text: bytes) -> str | None:
    """The lexer that reads all of *text*, if the one of *language* does not."""
    others = (BASIC if language.reader == CONTEXTUAL else CONTEXTUAL, DYNAMIC)
    return next((lexer for lexer in others if _reads(language, lexer, text)), None)


def _reads(language: LarkLanguage, lexer: str, text: bytes) -> bool:
    """True if *lexer* differs from the one of *language*, and reads all of *text*."""
    other = replace(language, lexer=lexer)
    try:
        return other.lexer_in_force != language.lexer_in_force and first_refusal(Engine(other), text) is None
    except GrammarError:
        return False


def _lexeme_at(language: LarkLanguage, text: bytes, offset: int) -> tuple[int, int, str] | None:
    """The span of the lexeme of *text* with the byte at *offset*, and its terminal; None if there is none."""
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
            return None if name in spec.unseen else (begin, end, without_mode(name))
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
