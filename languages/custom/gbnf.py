"""Grammars in GBNF, the notation of llama.cpp, as languages.

GBNF has no lexer: its rules derive characters. So each character is a lexeme, and characters that occur
in the same sets are of one kind. Nothing is ignored, and nothing needs to be separated.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from fimlsp.languages.custom.rules import NoSentenceError, Rules, TooManyProductionsError, to_grammar
from fimlsp.lexing.automata.dfa import Dfa, Rule, Terminals, compile_terminals
from fimlsp.lexing.automata.regex import Range, ascending, code_points
from fimlsp.lexing.automata.whole_texts import TooManyStatesError, limited
from fimlsp.lexing.lexical_spec import LexicalSpec
from fimlsp.lexing.nesting import CODE, ModeStack
from fimlsp.quotient.grammar.cfg import Grammar, GrammarError
from fimlsp.quotient.language.contract import Language

ROOT = "root"
MOST_KINDS = 5_000
"""Kinds of characters."""

MOST_SECONDS = 12
"""Processor time to tell them apart."""

MOST_COPIES = 2_000
"""Copies of a part that is repeated with bounds."""

_LAST = 0x10FFFF
_DEEPEST = 100
_TOKEN = re.compile(
    r"(?P<space>[ \t]+|#[^\n]*)"
    r"|(?P<line>\r?\n)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_-]*)"
    r"|(?P<sign>::=|[|()*+?.])"
    r"|(?P<count>\{[0-9]+(?:,[0-9]*)?\})"
    r"|(?P<text>\"(?:[^\"\\\n]|\\[^\n])*\")"
    r"|(?P<set>\[(?:[^\]\\\n]|\\[^\n])*\])"
)
_CHARACTER = re.compile(r"\\x([0-9A-Fa-f]{2})|\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})|\\?([^\n])")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}

Symbol = str | tuple[Range, ...]
"""A nonterminal, or a set of characters as ascending ranges."""


@dataclass(frozen=True, eq=True)
class Gbnf(Language):
    """The language of the texts that the rule `root` of the grammar *source* derives."""

    source: str
    name = "gbnf"

    @property
    def enclosures(self) -> dict[str, str]:  # type: ignore[override]  # there are none
        """None."""
        return {}

    def lexical_spec(self) -> LexicalSpec:
        """As in `Language`."""
        start, unknown = ModeStack(), ModeStack(known=False)
        return LexicalSpec(_compiled(self.source)[0], start, unknown, space="", line_end="")

    def grammar(self) -> Grammar:
        """As in `Language`."""
        return _compiled(self.source)[1]


def gbnf(text: str) -> Gbnf:
    """The language of the GBNF grammar *text*, from its rule `root` on.

    Raises:
        GrammarError: it cannot be read or used; the message names the line or the rule, and a remedy.
    """
    _compiled(text)
    return Gbnf(text)


@lru_cache(32)
def _compiled(source: str) -> tuple[Dfa, Grammar]:
    read = _Reader(source).rules()
    check = limited(MOST_KINDS, MOST_SECONDS)
    sets = {
        symbol for sides in read.values() for side in sides for symbol in side if not isinstance(symbol, str)
    }
    try:
        kinds = _kinds(sets, check)
    except TooManyStatesError as error:
        raise GrammarError(
            f"Cannot use the grammar: its sets of characters need {error}. Use fewer of them."
        ) from error
    names = {ranges: f"character {number}" for number, ranges in enumerate(kinds)}
    rules: Rules = {}
    for name, sides in read.items():
        rules[name] = [tuple(one if isinstance(one, str) else _class(one) for one in side) for side in sides]
    for one in sets:
        rules[_class(one)] = [(names[kind],) for kind in kinds if _holds(one, kind[0][0])]
    lexemes = tuple(Rule(name, code_points(ranges)) for ranges, name in names.items())
    try:
        grammar = to_grammar(ROOT, rules)
    except NoSentenceError:
        raise GrammarError(f"The rule {ROOT} derives no text, or only the empty one. Change it.") from None
    except TooManyProductionsError as error:
        raise GrammarError(f"The grammar is too large: {error}. Use fewer optional parts.") from None
    return compile_terminals(Terminals({CODE: lexemes})).expand(), grammar


def _class(ranges: tuple[Range, ...]) -> str:
    return f"one of {ranges}"


def _holds(ranges: tuple[Range, ...], character: int) -> bool:
    return any(low <= character <= high for low, high in ranges)


def _kinds(sets: set[tuple[Range, ...]], check: Callable[[int], None]) -> list[tuple[Range, ...]]:
    """The characters of *sets* as disjoint sets, of characters that occur in the same ones."""
    edges = sorted({edge for ranges in sets for low, high in ranges for edge in (low, high + 1)})
    in_order = sorted(sets)
    members: dict[tuple[bool, ...], list[Range]] = {}
    for low, after in pairwise(edges):
        signature = tuple(_holds(ranges, low) for ranges in in_order)
        check(len(members))
        if any(signature):
            members.setdefault(signature, []).append((low, after - 1))
    return [tuple(ranges) for ranges in members.values()]


class _Reader:
    """Reads the text of a grammar by recursive descent."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._tokens = self._split()
        self._at = 0
        self._depth = 0
        self._made: dict[str, list[tuple[Symbol, ...]]] = {}

    def _split(self) -> list[tuple[str, str, int]]:
        tokens: list[tuple[str, str, int]] = []
        position, line = 0, 1
        while position < len(self._source):
            token = _TOKEN.match(self._source, position)
            if token is None:
                shown = self._source[position : position + 10].split("\n")[0]
                raise GrammarError(f"Cannot read line {line} of the grammar at {shown!r}. Change it.")
            kind = str(token.lastgroup)
            if kind == "line":
                line += 1
            elif kind != "space":
                tokens.append((kind, token.group(), line))
            position = token.end()
        return [*tokens, ("end", "", line)]

    def rules(self) -> dict[str, list[tuple[Symbol, ...]]]:
        """The rules of the grammar, and those made for its parts."""
        read: dict[str, int] = {}
        while self._tokens[self._at][0] != "end":
            kind, name, line = self._tokens[self._at]
            if kind != "name" or not self._starts_rule(self._at):
                raise GrammarError(
                    f"Cannot read line {line} of the grammar at {name!r}: a rule has to start."
                )
            if name in read:
                raise GrammarError(
                    f"The rule {name} is in lines {read[name]} and {line}. Remove one of them."
                )
            read[name] = line
            self._at += 2
            self._made[name] = self._alternatives()
        for sides in [*self._made.values()]:
            for used in {one for side in sides for one in side if isinstance(one, str)} - self._made.keys():
                raise GrammarError(f"The rule {used} is used, but not defined. Define it.")
        if ROOT not in read:
            raise GrammarError(f"The grammar has no rule {ROOT}. Name the first one so.")
        return self._made

    def _starts_rule(self, at: int) -> bool:
        return self._tokens[at][0] == "name" and self._tokens[at + 1][1] == "::="

    def _alternatives(self) -> list[tuple[Symbol, ...]]:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise GrammarError(
                f"Line {self._tokens[self._at][2]} of the grammar nests too deeply. Use rules."
            )
        sides = [self._sequence()]
        while self._tokens[self._at][1] == "|":
            self._at += 1
            sides.append(self._sequence())
        self._depth -= 1
        return sides

    def _sequence(self) -> tuple[Symbol, ...]:
        side: list[Symbol] = []
        while True:
            kind, text, line = self._tokens[self._at]
            if kind == "end" or text in ("|", ")") or self._starts_rule(self._at):
                return tuple(side)
            part = self._part(kind, text, line)
            self._at += 1
            while (bounds := self._bounds()) is not None:
                part = (self._repeated(part, *bounds),)
            side += part

    def _part(self, kind: str, text: str, line: int) -> tuple[Symbol, ...]:
        if kind == "name":
            return (text,)
        if kind == "text":
            return tuple(((character, character),) for character in _characters(text[1:-1]))
        if kind == "set":
            return (_ranges(text[1:-1]),)
        if text == ".":
            return (((0, _LAST),),)
        if text != "(":
            raise GrammarError(f"Cannot read line {line} of the grammar at {text!r}. Change it.")
        self._at += 1
        sides = self._alternatives()
        if self._tokens[self._at][1] != ")":
            raise GrammarError(f"The bracket in line {line} of the grammar is not closed. Close it.")
        return (self._rule(sides),)

    def _bounds(self) -> tuple[int, int | None] | None:
        """The bounds of a repetition if one follows; they are passed."""
        kind, text, line = self._tokens[self._at]
        bounds: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        if kind != "count" and text not in bounds:
            return None
        self._at += 1
        if kind != "count":
            return bounds[text]
        least, comma, most = text[1:-1].partition(",")
        if not least.isdigit() or (most.isdigit() and int(most) < int(least)):
            raise GrammarError(f"Cannot repeat as {text} says (line {line} of the grammar). Change it.")
        if max(int(least), int(most or 0)) > MOST_COPIES:
            raise GrammarError(
                f"Line {line} of the grammar repeats more than {MOST_COPIES} times. Repeat less."
            )
        return int(least), (int(most) if most else None) if comma else int(least)

    def _rule(self, sides: list[tuple[Symbol, ...]]) -> str:
        name = f"({len(self._made)})"
        self._made[name] = sides
        return name

    def _repeated(self, part: tuple[Symbol, ...], least: int, most: int | None) -> str:
        """A rule for *part* from *least* to *most* times."""
        if most is None:
            name = self._rule([])
            self._made[name] = [(), (name, *part)]
            return self._rule([(*(part * least), name)])
        rest: tuple[Symbol, ...] = ()
        for _ in range(most - least):
            rest = (self._rule([(), (*part, *rest)]),)
        return self._rule([(*(part * least), *rest)])


def _characters(text: str) -> list[int]:
    return [code for _, code in _codes(text)]


def _codes(text: str) -> list[tuple[bool, int]]:
    """The characters of *text*, each with True if it is escaped."""
    codes: list[tuple[bool, int]] = []
    for match in _CHARACTER.finditer(text):
        digits = match[1] or match[2] or match[3]
        escaped = match.group().startswith("\\") and len(match.group()) > 1
        code = int(digits, 16) if digits else ord(_ESCAPED.get(match[4], match[4]) if escaped else match[4])
        codes.append((escaped, min(code, _LAST)))
    return codes


def _ranges(text: str) -> tuple[Range, ...]:
    """The characters of a set as ascending ranges."""
    negative = text.startswith("^")
    codes = _codes(text[negative:])
    ranges: list[Range] = []
    at = 0
    while at < len(codes):
        low = codes[at][1]
        if at + 2 < len(codes) and codes[at + 1] == (False, ord("-")):
            ranges.append((low, codes[at + 2][1]))
            at += 3
        else:
            ranges.append((low, low))
            at += 1
    return ascending(ranges, is_negated=negative)
