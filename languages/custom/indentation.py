"""Grammars of indentation: what Lark's `Indenter` is told, and the rules as the engine takes them.

With Lark a program makes the terminals INDENT and DEDENT from the columns of lines. That program is never
run; its attributes are data, which a grammar file gives in comments under the names that Lark has for them:

    // NL_type = "_NL"
    // OPEN_PAREN_types = ["LPAR"]
    // CLOSE_PAREN_types = ["RPAR"]

The engine has the columns itself (`Offside`) and makes one NEWLINE at the end of each line that is not blank.
So sentences are left out in which a line end comes first or follows another one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from lark.lexer import PatternRE, TerminalDef

from fimlsp.languages.custom.files import GrammarFiles
from fimlsp.lexing.automata.dfa import DEAD, Dfa
from fimlsp.lexing.lexis import Offside
from fimlsp.lexing.modes import CODE, ModeStack
from fimlsp.quotient.grammar.cfg import Grammar, GrammarError, without_useless
from fimlsp.quotient.language.contract import DEDENT, INDENT, NEWLINE

LINE_END = "line end"
"""The kind of line ends; no terminal can have such a name."""

MOST_BLOCKS = 99
MOST_BRACKETS = 200

_ATTRIBUTE = re.compile(
    r"^[ \t]*//[ \t]*((?:NL|INDENT|DEDENT)_type|(?:OPEN|CLOSE)_PAREN_types|tab_len)[ \t]*=(.*)$",
    re.MULTILINE,
)
_OPENING = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}
_LINE_STARTS = tuple(
    "".join(parts) for n in range(1, 4) for parts in product(("\n", "\r\n", " ", "\t"), repeat=n)
)

Side = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Indenter:
    """The attributes of Lark's `Indenter`; `brackets` maps the terminals that open to those that close."""

    newline: str
    indent: str
    dedent: str
    brackets: Mapping[str, str] = field(hash=False)
    tab_len: int = 8


def indenter_of(files: GrammarFiles, terminals: Collection[str], needed: Collection[str]) -> Indenter | None:
    """What the grammar in *files* tells of its indenter; None if it *needs* no terminal that one makes.

    *terminals* are those that are defined. What is not told is as in Lark's own `PythonIndenter`, as far as
    the grammar has it.

    Raises:
        GrammarError: an attribute cannot be read, or the terminal of line ends is missing.
    """
    told = _attributes(files)
    indent, dedent = str(told.get("INDENT_type", "_INDENT")), str(told.get("DEDENT_type", "_DEDENT"))
    if {indent, dedent}.isdisjoint(needed):
        return None
    usual = next((name for name in ("_NEWLINE", "_NL", "NEWLINE", "NL") if name in terminals), "_NEWLINE")
    newline = str(told.get("NL_type", usual))
    if newline not in terminals:
        raise GrammarError(
            f"{files.name} needs {indent}, but has no terminal {newline} of line ends; define it, or name "
            f'it in a comment: // NL_type = "{newline}"'
        )
    opening: object = told.get("OPEN_PAREN_types", [name for name in _OPENING if name in terminals])
    usual_closing = [_OPENING.get(str(name), "") for name in opening] if isinstance(opening, list) else []
    closing: object = told.get("CLOSE_PAREN_types", usual_closing)
    if not isinstance(opening, list) or not isinstance(closing, list) or len(opening) != len(closing):
        raise GrammarError(f"{files.name}: OPEN_PAREN_types and CLOSE_PAREN_types are lists of one length.")
    tab_len = told.get("tab_len", 8)
    if not isinstance(tab_len, int) or tab_len < 1:
        raise GrammarError(f"{files.name}: tab_len is a number of columns, 1 or more.")
    pairs = zip(map(str, opening), map(str, closing), strict=True)
    brackets = {one: other for one, other in pairs if one in terminals and other in terminals}
    return Indenter(newline, indent, dedent, brackets, tab_len)


def _attributes(files: GrammarFiles) -> dict[str, object]:
    return {each[1]: _value(each, files) for each in _ATTRIBUTE.finditer(files.text)}


def _value(attribute: re.Match[str], files: GrammarFiles) -> object:
    try:
        return ast.literal_eval(attribute[2].strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        line = files.text.count("\n", 0, attribute.start()) + 1
        raise GrammarError(
            f"{files.name}, line {line}: {attribute[1]} is no text, list of texts or number."
        ) from None


def with_line_ends(
    terminals: Sequence[TerminalDef], ignored: Collection[str], indenter: Indenter, files: GrammarFiles
) -> list[TerminalDef]:
    """*terminals* with a single line end in place of the terminal of the indenter.

    Raises:
        GrammarError: that terminal is no line ends with white space (and comments) in between.
    """
    (newline,) = [each for each in terminals if each.name == indenter.newline]
    pattern = re.compile(newline.pattern.to_regexp())
    is_usual = all(
        (pattern.fullmatch(text) is not None) == (text[0] in "\r\n" and "\r" not in text.replace("\r\n", ""))
        for text in _LINE_STARTS
    )
    if not is_usual:
        raise GrammarError(
            f"The terminal {newline.name} ({files.place(newline.name)}) has to take line ends with any white "
            f"space behind them, such as /(\\r?\\n[\\t ]*)+/."
        )
    for each in terminals:
        remark = each.pattern.to_regexp()
        is_blank = re.fullmatch(remark, " ") is not None
        if each.name in ignored and not is_blank and remark not in newline.pattern.to_regexp():
            raise GrammarError(
                f"The terminal {newline.name} ({files.place(newline.name)}) has to take {each.name} too, so "
                f"that a line with nothing else is blank: ( /\\r?\\n[\\t ]*/ | {each.name} )+"
            )
    line_end = TerminalDef(LINE_END, PatternRE("\\r?\\n"), newline.priority)
    return [*(each for each in terminals if each is not newline), line_end]


class BracketModes(ModeStack):
    """A stack of open brackets, in which line ends mean nothing."""

    __slots__ = ("_brackets", "_children", "_closing")

    def __init__(
        self,
        brackets: Mapping[str, str],
        shape: str = CODE,
        parent: BracketModes | None = None,
        *,
        known: bool = True,
    ) -> None:
        super().__init__(shape, parent, known=known)
        self._brackets = brackets
        self._closing = frozenset(brackets.values())
        self._children: dict[str, BracketModes] = {}

    def after(self, lexeme: str) -> ModeStack | None:
        """As in `ModeStack`."""
        closing = self._brackets.get(lexeme)
        if closing is not None:
            if self.depth >= MOST_BRACKETS:
                return None
            if closing not in self._children:
                self._children[closing] = BracketModes(self._brackets, closing, self)
            return self._children[closing]
        if lexeme not in self._closing:
            return self
        if self.parent is None:
            return None if self.known else self
        return self.parent if self.shape == lexeme else None


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """How lines are laid out: columns, the kind of white space, and that of comments, if there is one."""

    offside: Offside
    space: str
    comment: str | None


def layout_of(dfa: Dfa, ignored: Collection[str], files: GrammarFiles) -> Layout:
    """The layout of a language whose lexemes *dfa* reads.

    Raises:
        GrammarError: white space is not ignored, or a remark begins like something that is none.
    """
    start = dfa.starts[CODE]

    def kind(text: bytes) -> str | None:
        found = dfa.accepts[dfa.run(start, text)]
        return dfa.kinds[found] if found >= 0 else None

    space = kind(b" ")
    if space not in ignored or kind(b"\t ") != space:
        raise GrammarError(
            f"{files.name} has to ignore blanks and tabs: %import common.WS_INLINE and %ignore WS_INLINE."
        )
    if kind(b"\n") != LINE_END or _goes_on_behind_a_line(dfa, ignored):
        raise GrammarError(f"In {files.name} what is ignored has to end with its line.")
    if other := [chr(byte) for byte in b"\r\f\v" if kind(bytes((byte,))) == space]:
        raise GrammarError(
            f"In {files.name} white space that is ignored is more than blanks and tabs, also {other[0]!r}; "
            f"with indentation, ignore WS_INLINE alone."
        )
    blank = set(b" \t\r\n")
    comment: str | None = None
    for byte, state in enumerate(dfa.rows[start]):
        if state == DEAD or byte in blank:
            continue
        kinds = {dfa.kinds[n] for n in range(len(dfa.kinds)) if dfa.live[state] >> n & 1}
        if not kinds.isdisjoint(ignored):
            if not kinds <= set(ignored):
                raise GrammarError(
                    f"In {files.name} what is ignored may begin as something else does, with {chr(byte)!r}; "
                    f"with indentation, what begins a remark begins nothing else."
                )
            blank.add(byte)
            comment = comment or min(kinds)
    return Layout(Offside(frozenset(blank), MOST_BLOCKS), space or "", comment)


def _goes_on_behind_a_line(dfa: Dfa, ignored: Collection[str]) -> bool:
    """Whether something that is ignored may have a line end in it."""
    hidden = {number for number, kind in enumerate(dfa.kinds) if kind in ignored}
    return any(dfa.live[row[ord("\n")]] >> number & 1 for row in dfa.rows for number in hidden)


def laid_out(start: str, rules: Mapping[str, Iterable[Side]], indenter: Indenter) -> dict[str, list[Side]]:
    """*rules* with the layout's terminals, for sentences with one NEWLINE at the end of a line and no other.

    Each nonterminal is there for where it begins and ends: at the beginning of a line ("<") or within one.
    """
    layout = {indenter.newline: NEWLINE, indenter.indent: INDENT, indenter.dedent: DEDENT}
    found: dict[str, list[Side]] = {}
    steps = {NEWLINE: ((False, True),), INDENT: ((True, True),), DEDENT: ((True, True),)}
    for name, sides in rules.items():
        for begins, ends in product((True, False), repeat=2):
            own = found.setdefault(_placed(name, begins, ends), [])
            for side in sides:
                own += _ways([layout.get(symbol, symbol) for symbol in side], rules, steps, begins, ends)
    found[start] = [(_placed(start, True, True),)]
    return without_useless(start, found)


def _placed(name: str, begins: bool, ends: bool) -> str:
    return f"{name}{'<' if begins else '-'}{'<' if ends else '-'}"


def _ways(
    side: Sequence[str],
    rules: Mapping[str, object],
    steps: Mapping[str, tuple[tuple[bool, bool], ...]],
    begins: bool,
    ends: bool,
) -> list[Side]:
    ways: list[tuple[Side, bool]] = [((), begins)]
    for symbol in side:
        if symbol in rules:
            ways = [((*way, _placed(symbol, at, to)), to) for way, at in ways for to in (True, False)]
        else:
            allowed = steps.get(symbol, ((True, False), (False, False)))
            ways = [((*way, symbol), to) for way, at in ways for before, to in allowed if at == before]
    return [way for way, at in ways if at == ends]


def in_blocks(start: str, rules: Mapping[str, Iterable[Side]]) -> dict[str, list[Side]]:
    """*rules* in which each block is a rule of its own, `INDENT items DEDENT`, of what recurs in it.

    Raises:
        BlockError: a block does not begin and end in the same rule.
    """
    written = {name: [*sides] for name, sides in rules.items()}

    def repeated(symbol: str) -> str:
        """What *symbol* is another name for."""
        sides = [side for side in written.get(symbol, ()) if side]
        is_name = len(sides) == 1 and len(sides[0]) == 1 and sides[0][0] in written
        return repeated(sides[0][0]) if is_name and sides[0][0] != symbol else symbol

    found: dict[str, list[Side]] = {}
    for name, sides in rules.items():
        own = found.setdefault(name, [])
        for side in sides:
            parts: list[str] = []
            inside: list[str] | None = None
            for symbol in side:
                if symbol == INDENT:
                    inside = []
                elif symbol == DEDENT and inside is not None:
                    block = f"[{' '.join(inside)}]"
                    found[block] = [(INDENT, *map(repeated, inside), DEDENT)]
                    parts.append(block)
                    inside = None
                else:
                    (parts if inside is None else inside).append(symbol)
            if inside is not None:
                raise BlockError(re.sub(r"[<-]{2}\Z", "", name))
            own.append(tuple(parts))
    found[start] = [(repeated(start),)]
    return found


class BlockError(ValueError):
    """A block is not written as `INDENT items DEDENT` in one rule."""


def check_blocks(grammar: Grammar, start: str, files: GrammarFiles) -> None:
    """Refuse a grammar whose file or blocks are no repetitions.

    Raises:
        GrammarError: it says which rule is not.
    """
    if not {NEWLINE, INDENT, DEDENT} <= set(grammar.terminals):
        raise GrammarError(
            f"In {files.name} no file from the rule {start} ({files.place(start)}) on can have a block; "
            f"blocks come behind a line end, and lines end with one."
        )
    names = dict(enumerate((*grammar.terminals, *grammar.nonterminals)))
    sides = [production.rhs for production in grammar.productions_of(grammar.start)]
    if len(sides) != 1 or len(sides[0]) != 1 or sides[0][0] not in grammar.repetitions:
        raise GrammarError(
            f"The rule {start} ({files.place(start)}) has to be a repetition, such as {start}: item*, as the "
            f"blocks of a grammar of indentation are."
        )
    for production in grammar.productions:
        if names[production.rhs[0]] == INDENT and (
            len(production.rhs) != 3 or production.rhs[1] not in grammar.repetitions
        ):
            raise GrammarError(
                f"In {files.name} each block has to be a repetition between its two terminals, such as "
                f"_INDENT item+ _DEDENT; a block is not."
            )
