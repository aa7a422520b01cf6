"""The lexemes of a user's grammar: a DFA that does the same as Lark's lexer.

That lexer tries all terminals at once, as one regular expression. They are ordered by priority, maximal
length, the length of their expression, and name. A match that equals a literal is that keyword. The
contextual lexer does so in each of its modes, with the terminals of that mode.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from operator import or_
from time import process_time

from lark import __version__ as lark_version
from lark.lexer import PatternStr, TerminalDef

from fimlsp.languages.custom.grammar_files import GrammarFiles
from fimlsp.languages.custom.indentation import LINE_END
from fimlsp.languages.custom.lalr import mode_name
from fimlsp.languages.custom.patterns import PatternCompiler, PatternError
from fimlsp.lexing.automata.dfa import CompactDfa, Dfa, cached, side_by_side
from fimlsp.lexing.automata.leftmost_first import (
    Accept,
    Done,
    Lexemes,
    LookAroundError,
    Program,
    ProgramTooLargeError,
    leftmost_first,
)
from fimlsp.lexing.automata.whole_texts import Overlaps, first_bytes, overlaps
from fimlsp.lexing.nesting import CODE
from fimlsp.quotient.grammar.cfg import GrammarError

REJECTED = "rejected lexeme"
"""The kind of text that a look-ahead forbids; no terminal can have such a name."""

MOST_STATES = 5_000
_MOST_UNMERGED = 20_000
"""States before equal ones are merged."""

MOST_SECONDS = 12
"""Processor time for the automaton."""

_MOST_STEPS = 200_000
_VERSION = "leftmost first 5"


_SHOWN = "'"
_NAMED = re.compile(r"\(\?P=(\w+)\)")
IN_MODE = "@"
"""The mark before the mode of a terminal that is read in several modes."""


def read_in_mode(name: str, mode: int) -> str:
    """The name of a terminal, or of a kind, that is read in *mode*."""
    return f"{name}{IN_MODE}{mode}"


def terminal_of(kind: str) -> str:
    """The terminal of lexemes of *kind*, with its mode if there are several."""
    name, mark, mode = kind.partition(IN_MODE)
    return name.removesuffix(_SHOWN) + mark + mode


def without_mode(kind: str) -> str:
    """The terminal of lexemes of *kind* in any mode."""
    return kind.partition(IN_MODE)[0].removesuffix(_SHOWN)


def ordered(terminals: Sequence[TerminalDef]) -> list[TerminalDef]:
    """*terminals* in the order in which Lark's lexer prefers them."""
    return sorted(terminals, key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name))


def words_of(terminals: Sequence[TerminalDef]) -> dict[str, list[TerminalDef]]:
    """For each terminal with an expression, the literals that it matches as a whole, the best first."""
    literals = [one for one in terminals if isinstance(one.pattern, PatternStr)]
    words: dict[str, list[TerminalDef]] = {}
    for one in terminals:
        if isinstance(one.pattern, PatternStr):
            continue
        for literal in literals:
            text = literal.pattern.value
            whole = re.match(one.pattern.to_regexp(), text)
            if literal.priority == one.priority and whole is not None and whole.group() == text:
                words.setdefault(one.name, []).append(literal)
    return words


class Lookalikes:
    """Which of *terminals* can be taken for each other. `number` is the place of each in Lark's order."""

    def __init__(self, terminals: Sequence[TerminalDef], files: GrammarFiles) -> None:
        _check_widths(terminals, files)
        self._in_order = ordered(terminals)
        self.number = {terminal.name: place for place, terminal in enumerate(self._in_order)}
        self._program = Program(_MOST_STEPS)
        compiler = PatternCompiler(self._program, files.listed, are_parts=True)
        self._starts: list[int] = []
        self._ends: list[int] = []
        for place, terminal in enumerate(self._in_order):
            self._starts.append(_started(compiler, terminal, self._program.add(Accept(place)), files))
            self._ends.append(len(self._program.steps))
        self._first = [first_bytes(self._program, start) for start in self._starts]

    @cached_property
    def _overlaps(self) -> Overlaps:
        return overlaps(self._program, self._starts, self._ends, _Limits().check)

    @cached_property
    def _words(self) -> dict[str, int]:
        words = words_of(self._in_order)
        return {name: self.bits(one.name for one in literals) for name, literals in words.items()}

    def bits(self, names: Iterable[str]) -> int:
        """The bit set of the terminals *names*."""
        return sum(1 << self.number[name] for name in names)

    def first_bytes(self, names: Iterable[str]) -> int:
        """The bytes that texts of *names* may start with, as a bit set."""
        return reduce(or_, (self._first[self.number[name]] for name in names), 0)

    def beaten_by(self, name: str, after: Mapping[str, int]) -> int:
        """The terminals that *name* takes the place of somewhere if both are tried, as a bit set.

        *after* are the bytes that may follow each terminal. If a text of one can be continued to a text of
        *name*, but not by any of these bytes, nothing valid is lost.
        """
        own = self.number[name]
        beaten = 0
        for other, number in self.number.items():
            goes_on = self._overlaps.beyond[number].get(own, 0)
            cuts = self._overlaps.beyond[own].get(number, 0)
            same = self._overlaps.same[own] >> number & 1
            if self._is_word(name, other):
                wins = same
            elif own < number:
                alike = same and not self._is_word(other, name)
                wins = alike or cuts or goes_on & after.get(other, -1)
            else:
                wins = 0
            if other != name and wins:
                beaten |= 1 << number
        return beaten

    def _is_word(self, literal: str, name: str) -> bool:
        """True if a text of the terminal *name* that equals *literal* is that keyword."""
        return bool(self._words.get(name, 0) >> self.number[literal] & 1)


def compiled_modes(
    modes: Sequence[frozenset[str]],
    terminals: Sequence[TerminalDef],
    ignored: frozenset[str],
    after: Mapping[str, int],
    files: GrammarFiles,
) -> Dfa:
    """One DFA with a start state for each of *modes*, which are the names of the terminals tried there.

    The kinds are those of `read_in_mode`.

    Raises:
        GrammarError: as in `compiled_lexemes`.
    """
    parts: dict[str, Dfa] = {}
    for mode, names in enumerate(modes):
        tried = [terminal for terminal in terminals if terminal.name in names]
        dfa = compiled_lexemes(tried, ignored, after, files).expand()
        kinds = tuple(kind if kind == REJECTED else read_in_mode(kind, mode) for kind in dfa.kinds)
        parts[mode_name(mode)] = replace(dfa, kinds=kinds)
    whole = side_by_side(parts)
    if len(whole.rows) > MOST_STATES:
        raise GrammarError(
            f"The terminals need more than {MOST_STATES} states, as they are read in {len(modes)} ways; make "
            f"them differ in their texts, or use the basic lexer."
        )
    return whole


def compiled_lexemes(
    terminals: Sequence[TerminalDef], ignored: frozenset[str], after: Mapping[str, int], files: GrammarFiles
) -> CompactDfa:
    """The DFA of *terminals*; those in *ignored* carry no meaning. Cached on disk by content.

    *after* are the bytes that may follow a terminal, as bit sets, where that is known.

    Raises:
        GrammarError: a terminal cannot be decided by an automaton, or may be empty, or they are too many.
    """
    _check_widths(terminals, files)
    in_order = ordered(terminals)
    described = [(t.name, t.priority, t.pattern.to_regexp(), type(t.pattern).__name__) for t in in_order]
    listed = {
        name: files.listed(name) for one in in_order for name in _NAMED.findall(one.pattern.to_regexp())
    }
    parts = (described, sorted(ignored), sorted(after.items()), listed)
    content = repr((_VERSION, lark_version, sys.version_info[:2], parts))
    key = hashlib.sha256(content.encode()).hexdigest()
    return cached(key, lambda: _build(in_order, ignored, after, files))


def automaton_alone(terminal: TerminalDef, files: GrammarFiles) -> CompactDfa:
    """The DFA of *terminal* alone, after which any text may follow.

    Raises:
        GrammarError: as in `compiled_lexemes`.
    """
    _check_widths([terminal], files)
    return _build([terminal], frozenset(), {}, files, others=True)


def _check_widths(terminals: Sequence[TerminalDef], files: GrammarFiles) -> None:
    for terminal in terminals:
        try:
            width = terminal.pattern.min_width
        except RecursionError:
            raise GrammarError(
                f"The terminal {terminal.name} ({files.location(terminal.name)}) nests too deeply; "
                f"use fewer brackets."
            ) from None
        if width == 0:
            raise GrammarError(
                f"The terminal {terminal.name} ({files.location(terminal.name)}) may match the empty text; "
                f"let it match at least one character."
            )


def _build(
    terminals: Sequence[TerminalDef],
    ignored: frozenset[str],
    after: Mapping[str, int],
    files: GrammarFiles,
    *,
    others: bool = False,
) -> CompactDfa:
    words = words_of(terminals)
    embedded = {
        literal.name
        for name, literals in words.items()
        for literal in literals
        if set(literal.pattern.flags) <= set(_named(terminals, name).pattern.flags)
    }
    # A literal within an expression is ignored if the expression is, and never because the literal is.
    shown = [f"{one.name}{_SHOWN}" for one in terminals if one.name in ignored and one.name in embedded]
    kinds = (*(one.name for one in terminals), *shown, REJECTED)
    program = Program(_MOST_STEPS)
    compiler = PatternCompiler(program, files.listed, are_parts=True)
    starts: list[int] = []
    watched: dict[int, list[tuple[int, int, int]]] = {}
    for terminal in terminals:
        kind = kinds.index(terminal.name)
        if terminal.name not in embedded:
            starts.append(_started(compiler, terminal, program.add(Accept(kind)), files))
        if terminal.name in ignored:
            continue
        for literal in words.get(terminal.name, ()):
            end = program.add(Done())
            first = _started(compiler, literal, end, files)
            other = kinds.index(literal.name + (_SHOWN if literal.name + _SHOWN in kinds else ""))
            watched.setdefault(kind, []).append((first, end, other))
    follows = {
        number: after[name] for number, kind in enumerate(kinds) if (name := terminal_of(kind)) in after
    }
    hidden = frozenset(kinds.index(one.name) for one in terminals if one.name in ignored)
    skipped = frozenset[int]() if LINE_END in kinds else hidden  # columns need white space of its own
    lexemes = Lexemes(program, tuple(starts), kinds, watched, kinds.index(REJECTED), follows, skipped, others)
    try:
        dfa = leftmost_first(lexemes, CODE, _Limits().check)
    except LookAroundError as error:
        name = kinds[error.kind]
        raise GrammarError(
            f"The terminal {name} ({files.location(name)}) {error}, which no automaton can decide; "
            f"write it without this look-around."
        ) from error
    if len(dfa.rows) > MOST_STATES:
        raise _too_many_states()
    return dfa


def _too_many_states() -> GrammarError:
    return GrammarError(
        f"The terminals need more than {MOST_STATES} states; use fewer repetitions with bounds, "
        f"and fewer classes such as \\w where letters would do."
    )


def _started(compiler: PatternCompiler, terminal: TerminalDef, target: int, files: GrammarFiles) -> int:
    pattern = terminal.pattern
    try:
        if isinstance(pattern, PatternStr):
            return compiler.literal(pattern.value, any_case="i" in pattern.flags, target=target)
        return compiler.compiled(pattern.to_regexp(), target)
    except PatternError as error:
        raise GrammarError(
            f"The terminal {terminal.name} ({files.location(terminal.name)}) {error}; {error.remedy}."
        ) from error
    except ProgramTooLargeError as error:
        raise GrammarError(
            f"The terminals are too large together (at {terminal.name}, {files.location(terminal.name)}); "
            f"use fewer repetitions."
        ) from error


def _named(terminals: Sequence[TerminalDef], name: str) -> TerminalDef:
    return next(one for one in terminals if one.name == name)


class _Limits:
    """Stops an automaton that explodes."""

    def __init__(self) -> None:
        self._until = process_time() + MOST_SECONDS

    def check(self, states: int) -> None:
        """Raise if there are too many *states*, or if it takes too long."""
        if states > _MOST_UNMERGED:
            raise _too_many_states()
        if process_time() > self._until:
            raise GrammarError(
                f"The terminals took more than {MOST_SECONDS} seconds of processor time to compile; "
                f"make them simpler."
            )
