"""The lexemes of a JSON Schema: strings and numbers by the conditions that they meet.

A place of a schema allows the texts that match some expressions and none of others. One automaton decides
about all expressions at once, and texts that match the same ones are of one kind. So each lexeme has one
kind wherever it stands, and a place allows some of the kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate
from typing import Any

from fimlsp.languages.custom.patterns import PatternError
from fimlsp.languages.custom.rules import Rules, Side
from fimlsp.languages.custom.schema.bounds import DECIMAL, equal, multiples, within
from fimlsp.languages.custom.schema.ecma_patterns import in_python, is_at_start
from fimlsp.languages.custom.schema.formats import FORMATS
from fimlsp.languages.custom.schema.forms import refused
from fimlsp.languages.custom.schema.spelling import (
    ANY_STRING,
    INTEGER,
    NUMBER,
    QUOTE,
    SpelledPatterns,
    SpellingProgram,
)
from fimlsp.lexing.automata.dfa import CompactDfa
from fimlsp.lexing.automata.leftmost_first import Accept, Bytes, ProgramTooLargeError
from fimlsp.lexing.automata.regex import Regex, choice, one_of, sequence, some
from fimlsp.lexing.automata.whole_texts import WholeTexts, whole_texts
from fimlsp.lexing.nesting import CODE

MOST_LENGTH = 1_000
"""Characters that `minLength` and `maxLength` may count. Longer strings are no texts of a length."""

SPACE, LINE_END = "SPACE", "NL"
_SPACES = ((SPACE, some(one_of(" \t"))), (LINE_END, choice("\r\n", "\n", "\r")))
SIGNS = ("{", "}", "[", "]", ",", ":", "true", "false", "null")
_MOST_STEPS = 400_000
Condition = tuple[Any, ...]
"""An expression: its sort, then its definition."""

ANY: Condition = ("any",)
USUAL: Condition = ("usual",)
"""Any string, and any string in usual spelling."""


class SchemaTexts:
    """Collects the conditions of all places, then makes the lexemes."""

    def __init__(self, check: Callable[[int], None]) -> None:
        self._check = check
        self._found: list[int] = []
        self._program = SpellingProgram(_MOST_STEPS)
        self._patterns = SpelledPatterns(self._program)
        self._numbers: dict[Condition, int] = {}
        self._starts: list[int] = []
        self._demands: dict[tuple[frozenset[int], frozenset[int]], str] = {}
        self._boundary = 0
        self.symbol(frozenset((USUAL,)), "#")

    def symbol(
        self, matching: frozenset[Condition], path: str, *, but: frozenset[Condition] = frozenset()
    ) -> str:
        """The nonterminal of the texts that match all of *matching*, and none of *but*, for *path*."""
        key = (
            frozenset(self._number(one, path) for one in matching),
            frozenset(self._number(one, path) for one in but),
        )
        return self._demands.setdefault(key, f"texts{len(self._demands)}")

    def _number(self, condition: Condition, path: str) -> int:
        if condition not in self._numbers:
            number = self._numbers[condition] = len(self._numbers)
            try:
                self._starts.append(self._compiled(condition, self._program.add(Accept(number))))
            except PatternError as error:
                fault = f"has the pattern {condition[1]!r}, which {error}"
                raise refused(path, fault, "Write it without that.") from error
            except ProgramTooLargeError as error:
                fault = f"needs {error} of an automaton together with the rest"
                raise refused(path, fault, "Use fewer patterns.") from error
        return self._numbers[condition]

    def _compiled(self, condition: Condition, accept: int) -> int:
        """The first step of the lexemes that meet *condition*."""
        sort, *given = condition
        if sort == "multiple":
            return multiples(self._program, accept, *given)
        if sort in _PLAIN:
            return self._program.plain(_PLAIN[sort](*given), accept)
        end = self._program.add(Bytes({QUOTE: accept}))
        return self._program.add(Bytes({QUOTE: _IN_QUOTES[sort](self, end, *given)}))

    def literal(self, end: int, text: str) -> int:
        """The first step of *text*; `end` is the one after the text, here and below."""
        return self._patterns.literal(text, any_case=False, target=end)

    def length(self, end: int, least: int, most: int | None) -> int:
        """The first step of so many characters."""
        return self._patterns.compiled(f"(?s:.){{{least},{'' if most is None else most}}}", end)

    def format(self, end: int, name: str) -> int:
        """The first step of a text of the format *name*."""
        return self._patterns.compiled(FORMATS[name], end)

    def usual(self, end: int) -> int:
        """The first step of any text in usual spelling."""
        self._boundary = self._program.text(end)[1]
        return self._boundary

    def pattern(self, end: int, pattern: str) -> int:
        """The first step of a text that has *pattern* at its start; one loop leads to all later places."""
        first = self._patterns.compiled(in_python(pattern), self._program.text(end)[0])
        if not is_at_start(pattern):
            self._found.append(first)
        return first

    def lexemes(self, *, compact: bool) -> tuple[CompactDfa, Rules]:
        """The automaton of all lexemes, and the rules of the nonterminals.

        Raises:
            GrammarError: the automaton is too large.
        """
        names = {frozenset((self._number(("written", sign), "#"),)): sign for sign in SIGNS}
        for name, regex in () if compact else _SPACES:
            names[frozenset((self._number(("space", regex), "#"),))] = name
        whole = self._whole(names)
        kinds = _Halves([*whole.matching])
        for (matching, but), symbol in self._demands.items():
            fits = (matching <= of and but.isdisjoint(of) for of in whole.matching.values())
            self._check(0)
            kinds.rules[symbol] = kinds.sides([*accumulate(fits, initial=0)], 0, len(whole.matching))
        return whole.dfa, kinds.rules

    def _whole(self, names: Mapping[frozenset[int], str]) -> WholeTexts:
        """The automaton of all conditions; *names* has the kinds of texts that are no strings."""
        later = self._program.text(self._program.choice(self._found))[0]
        return whole_texts(
            self._program,
            [*self._starts, self._program.add(Bytes({QUOTE: later}))],
            CODE,
            lambda matching: names.get(matching) or f"text.{'.'.join(map(str, sorted(matching)))}",
            self._check,
            boundary=self._boundary,
            merges=False,
        )

    def combinations(self, conditions: Iterable[Condition], path: str) -> set[frozenset[Condition]]:
        """The sets of *conditions* that a string in usual spelling can meet while it meets no others."""
        alone = SchemaTexts(self._check)
        usual = alone._number(USUAL, path)
        numbers = {alone._number(one, path): one for one in conditions}
        met = (of for of in alone._whole({}).matching.values() if usual in of)
        return {frozenset(numbers[number] for number in of & numbers.keys()) for of in met}


_PLAIN: Mapping[str, Callable[..., Regex]] = {
    "any": lambda: ANY_STRING,
    "number": lambda name: NUMBER if name == "number" else INTEGER,
    "bound": within,
    "decimal": lambda: DECIMAL,
    "equal": equal,
    "written": sequence,
    "space": sequence,
}
"""Lexemes by the sort of their condition."""

_IN_QUOTES: Mapping[str, Callable[..., int]] = {
    "literal": SchemaTexts.literal,
    "length": SchemaTexts.length,
    "format": SchemaTexts.format,
    "usual": SchemaTexts.usual,
    "pattern": SchemaTexts.pattern,
}
"""The text of strings by the sort of their condition."""


class _Halves:
    """Rules for sets of kinds. Rules for halves, quarters and so on keep those of large sets short."""

    def __init__(self, kinds: list[str]) -> None:
        self.rules: Rules = {}
        self._kinds = kinds

    def sides(self, counts: list[int], first: int, end: int) -> list[Side]:
        """Any of the kinds from *first* to before *end* that fit; *counts* has how many do so far."""
        number = counts[end] - counts[first]
        if not number:
            return []
        if end - first == 1:
            return [(self._kinds[first],)]
        middle = (first + end) // 2
        name = f"kinds{first}-{end}"
        if number < end - first or name not in self.rules:
            halves = [*self.sides(counts, first, middle), *self.sides(counts, middle, end)]
            if number < end - first:
                return halves
            self.rules[name] = halves
        return [(name,)]
