"""The texts that a regular expression matches as a whole, or that are in a list, as a language.

A text is a single lexeme, and the automaton of the expression decides about it. So lazy and greedy
repetitions mean the same, as in `re.fullmatch`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from fimlsp.languages.custom.patterns import PatternCompiler, PatternError
from fimlsp.lexing.automata.dfa import Dfa
from fimlsp.lexing.automata.leftmost_first import Accept, Program, ProgramTooLargeError
from fimlsp.lexing.automata.whole_texts import TooManyStatesError, limited, whole_texts
from fimlsp.lexing.lexical_spec import LexicalSpec
from fimlsp.lexing.nesting import CODE, ModeStack
from fimlsp.quotient.grammar.cfg import Grammar, GrammarError, make_grammar
from fimlsp.quotient.language.contract import Language

MOST_STATES = 10_000
MOST_SECONDS = 12
"""Processor time for the automaton."""
_MOST_STEPS = 200_000
_TEXT = "TEXT"
_SHOWN = 60


@dataclass(frozen=True, eq=True)
class Regular(Language):
    """The language of the texts that `re.fullmatch(pattern, text)` matches."""

    pattern: str

    @property
    def name(self) -> str:  # type: ignore[override]  # depends on the expression
        """The expression."""
        return self.pattern[:_SHOWN]

    @property
    def enclosures(self) -> dict[str, str]:  # type: ignore[override]  # there are none
        """None."""
        return {}

    def lexical_spec(self) -> LexicalSpec:
        """As in `Language`."""
        start, unknown = ModeStack(), ModeStack(known=False)
        return LexicalSpec(_automaton(self.pattern)[0], start, unknown, space="", line_end="")

    def grammar(self) -> Grammar:
        """As in `Language`."""
        return make_grammar("start", {"start": [(_TEXT,)]}, {}, may_be_empty=_automaton(self.pattern)[1])


@lru_cache(32)
def _automaton(pattern: str) -> tuple[Dfa, bool]:
    """The automaton of *pattern*, and True if it matches the empty text."""
    shown = pattern if len(pattern) <= _SHOWN else f"{pattern[:_SHOWN]}…"
    program = Program(_MOST_STEPS)
    try:
        start = PatternCompiler(program).compiled(pattern, program.add(Accept(0)))
        whole = whole_texts(program, [start], CODE, lambda _: _TEXT, limited(MOST_STATES, MOST_SECONDS))
        return whole.dfa.expand(), bool(whole.empty)
    except PatternError as error:
        raise GrammarError(
            f"Cannot use the expression {shown!r}: it {error}. Write it without that."
        ) from error
    except (ProgramTooLargeError, TooManyStatesError) as error:
        raise GrammarError(
            f"Cannot use the expression {shown!r}: it needs {error}. Use fewer repetitions with bounds."
        ) from error


def regular(pattern: str) -> Regular:
    """The language of the texts that match the expression *pattern*, of Python's `re`, as a whole.

    Raises:
        GrammarError: no automaton can decide it, or there are no such texts; the message names a remedy.
    """
    dfa, may_be_empty = _automaton(pattern)
    if not (may_be_empty or any(kind >= 0 for kind in dfa.accepts)):
        raise GrammarError(f"Cannot use the expression {pattern[:_SHOWN]!r}: it matches nothing. Change it.")
    return Regular(pattern)


def choice(texts: Iterable[str]) -> Regular:
    """The language of exactly these *texts*.

    Raises:
        GrammarError: there are none, or they are too long together.
    """
    listed = [*texts]
    if not listed:
        raise GrammarError("Cannot choose from no texts. Give at least one.")
    return regular("|".join(map(re.escape, listed)))
