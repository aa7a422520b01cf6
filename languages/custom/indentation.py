"""Grammars with indentation: the attributes of Lark's `Indenter`, and the rules in the form of the engine.

With Lark a program makes the terminals INDENT and DEDENT from the columns of lines. That program is never
run. Its attributes are data, which a grammar file gives in comments under Lark's names:

    // NL_type = "_NL"
    // OPEN_PAREN_types = ["LPAR"]
    // CLOSE_PAREN_types = ["RPAR"]

The engine tracks the columns itself (`Offside`) and makes one NEWLINE at the end of each line that is not
blank. So the rules are restricted to sentences without a line end at the start or after another one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from lark.lexer import PatternRE, TerminalDef

from fimlsp.languages.custom.grammar_files import GrammarFiles
from fimlsp.lexing.automata.dfa import DEAD, Dfa
from fimlsp.lexing.lexical_spec import Offside
from fimlsp.lexing.nesting import CODE, ModeStack
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
_SAMPLE = "* x"
_REST_OF_LINE = "".join(map(chr, range(0x20, 0x7F))) + "\té"
_FORM_FEED = 0x0C
_JOINED_LINE = "\\\n"
_OPENING = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}
_LINE_STARTS = tuple(
    "".join(parts) for n in range(1, 4) for parts in product(("\n", "\r\n", " ", "\t"), repeat=n)
)

Side = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Indenter:
    """The attributes of Lark's `Indenter`; `brackets` maps opening terminals to closing ones."""

    newline: str
    indent: str
    dedent: str
    brackets: Mapping[str, str] = field(hash=False)
    tab_len: int = 8


def indenter_of(files: GrammarFiles, terminals: Collection[str], needed: Collection[str]) -> Indenter | None:
    """The indenter of the grammar in *files*; None if *needed* has none of its terminals.

    *terminals* are the defined ones. Attributes that are not given default to those of Lark's
    `PythonIndenter`, as far as the grammar has these terminals.

    Raises:
        GrammarError: an attribute cannot be read, or the terminal of line ends is missing.
    """
    given = _attributes(files)
    indent, dedent = str(given.get("INDENT_type", "_INDENT")), str(given.get("DEDENT_type", "_DEDENT"))
    if {indent, dedent}.isdisjoint(needed):
        return None
    usual = next((name for name in ("_NEWLINE", "_NL", "NEWLINE", "NL") if name in terminals), "_NEWLINE")
    newline = str(given.get("NL_type", usual))
    if newline not in terminals:
        raise GrammarError(
            f"{files.name} needs {indent}, but has no terminal {newline} for line ends; define it, "
            f'or name another one in a comment: // NL_type = "{newline}"'
        )
    opening: object = given.get("OPEN_PAREN_types", [name for name in _OPENING if name in terminals])
    usual_closing = [_OPENING.get(str(name), "") for name in opening] if isinstance(opening, list) else []
    closing: object = given.get("CLOSE_PAREN_types", usual_closing)
    if not isinstance(opening, list) or not isinstance(closing, list) or len(opening) != len(closing):
        raise GrammarError(
            f"{files.name}: OPEN_PAREN_types and CLOSE_PAREN_types have to be lists of equal length."
        )
    tab_len = given.get("tab_len", 8)
    if not isinstance(tab_len, int) or tab_len < 1:
        raise GrammarError(f"{files.name}: tab_len has to be a number of columns, 1 or more.")
    pairs = zip(map(str, opening), map(str, closing), strict=True)
    brackets = {one: other for one, other in pairs if one in terminals and other in terminals}
    return Indenter(newline, indent, dedent, brackets, tab_len)


def _attributes(files: GrammarFiles) -> dict[str, object]:
    return {match[1]: _value(match, files) for match in _ATTRIBUTE.finditer(files.text)}


def _value(attribute: re.Match[str], files: GrammarFiles) -> object:
    try:
        return ast.literal_eval(attribute[2].strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        line = files.text.count("\n", 0, attribute.start()) + 1
        raise GrammarError(
            f"{files.name}, line {line}: {attribute[1]} has to be a text, a list of texts or a number."
        ) from None


def with_line_ends(
    terminals: Sequence[TerminalDef], ignored: Collection[str], indenter: Indenter, files: GrammarFiles
) -> list[TerminalDef]:
    """*terminals* with a single line end in place of the terminal of the indenter.

    Raises:
        GrammarError: that terminal does not match line ends with white space (and comments) in between.
    """
    (newline,) = [terminal for terminal in terminals if terminal.name == indenter.newline]
    pattern = re.compile(newline.pattern.to_regexp())
    is_usual = all(
        (pattern.fullmatch(text) is not None) == (text[0] in "\r\n" and "\r" not in text.replace("\r\n", ""))
        for text in _LINE_STARTS
    )
    if not is_usual:
        raise GrammarError(
            f"The terminal {newline.name} ({files.location(newline.name)}) has to match line ends with any "
            f"white space after them, such as /(\\r?\\n[\\t ]*)+/."
        )
    skipped = [re.compile(terminal.pattern.to_regexp()) for terminal in terminals if terminal.name in ignored]
    for text in (f"{chr(sign) * times}{_SAMPLE}" for sign in range(0x21, 0x7F) for times in (1, 2)):
        if pattern.fullmatch(f"{text}\n") and not any(one.fullmatch(text) for one in skipped):
            raise GrammarError(
                f"The terminal {newline.name} ({files.location(newline.name)}) matches {text!r} before a "
                f"line end; define that as a terminal of its own, and %ignore it too."
            )
    for terminal in terminals:
        pattern_text = terminal.pattern.to_regexp()
        is_apart = any(re.fullmatch(pattern_text, text) for text in (" ", _JOINED_LINE))
        if terminal.name in ignored and not is_apart and pattern_text not in newline.pattern.to_regexp():
            raise GrammarError(
                f"The terminal {newline.name} ({files.location(newline.name)}) has to match {terminal.name} "
                f"too, so that a line with nothing else is blank: ( /\\r?\\n[\\t ]*/ | {terminal.name} )+"
            )
    line_end = TerminalDef(LINE_END, PatternRE("\\r?\\n"), newline.priority)
    return [*(terminal for terminal in terminals if terminal is not newline), line_end]


def is_comment(terminal: TerminalDef) -> bool:
    """True if *terminal* is a sign, or two, with the rest of its line."""
    pattern = re.compile(terminal.pattern.to_regexp())
    signs = (chr(sign) * times for sign in range(0x21, 0x7F) for times in (1, 2))
    return any(
        (found := pattern.match(f"{sign}{_REST_OF_LINE}\n")) is not None
        and found.group() == f"{sign}{_REST_OF_LINE}"
        and pattern.fullmatch(sign)
        for sign in signs
    )


class BracketModes(ModeStack):
    """A stack of open brackets, in which line ends are ignored."""

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
    """The layout of lines: columns, and the kinds of white space, of comments and of what joins lines."""

    offside: Offside
    space: str
    comment: str | None
    joiner: str | None = None


def layout_of(dfa: Dfa, ignored: Collection[str], files: GrammarFiles) -> Layout:
    """The layout of a language whose lexemes *dfa* reads.

    Raises:
        GrammarError: white space is not ignored, or a comment starts like another lexeme.
    """
    start = dfa.starts[CODE]

    def kind(text: bytes) -> str | None:
        accepted = dfa.accepts[dfa.run(start, text)]
        return dfa.kinds[accepted] if accepted >= 0 else None

    space = kind(b" ")
    if space not in ignored or kind(b"\t ") != space:
        raise GrammarError(
            f"{files.name} has to ignore spaces and tabs: %import common.WS_INLINE and %ignore WS_INLINE."
        )
    joiner = kind(_JOINED_LINE.encode())
    joiner = joiner if joiner in ignored else None
    if kind(b"\n") != LINE_END or _continues_after_line(dfa, {*ignored} - {joiner}) or _goes_on(dfa, joiner):
        raise GrammarError(f"In {files.name} ignored terminals have to end within their line.")
    if other := [chr(byte) for byte in b"\r\v" if kind(bytes((byte,))) == space]:
        raise GrammarError(
            f"In {files.name} ignored white space is more than spaces and tabs, also {other[0]!r}; "
            f"with indentation, ignore WS_INLINE alone."
        )
    blank = set(b" \t\r\n")
    comment: str | None = None
    for byte, state in enumerate(dfa.rows[start]):
        if state == DEAD or byte in blank or byte == _FORM_FEED:  # which ends the indentation
            continue
        kinds = {dfa.kinds[n] for n in range(len(dfa.kinds)) if dfa.live[state] >> n & 1}
        if kinds == {joiner}:
            continue
        if not kinds.isdisjoint(ignored):
            if not kinds <= set(ignored):
                raise GrammarError(
                    f"In {files.name} an ignored terminal may start like another one, with {chr(byte)!r}; "
                    f"with indentation, the start of a comment has to be unambiguous."
                )
            blank.add(byte)
            comment = comment or min(kinds)
    return Layout(Offside(frozenset(blank), MOST_BLOCKS), space or "", comment, joiner)


def _goes_on(dfa: Dfa, joiner: str | None) -> bool:
    """True if lexemes of the kind *joiner* may end before or after the end of their line."""
    number = dfa.kinds.index(joiner) if joiner is not None else -1
    ends = {state for state, kind in enumerate(dfa.accepts) if kind == number >= 0}
    inside = (row for state, row in enumerate(dfa.rows) if number >= 0 and dfa.live[state] >> number & 1)
    by_line_end = {target for row in inside for byte, target in enumerate(row) if byte == ord("\n")}
    by_others = {target for row in dfa.rows for byte, target in enumerate(row) if byte != ord("\n")}
    return bool(ends - by_line_end or ends & by_others or any(any(dfa.rows[end]) for end in ends))


def _continues_after_line(dfa: Dfa, ignored: Collection[str]) -> bool:
    """True if an ignored terminal may have a line end in it."""
    hidden = {number for number, kind in enumerate(dfa.kinds) if kind in ignored}
    return any(dfa.live[row[ord("\n")]] >> number & 1 for row in dfa.rows for number in hidden)


def laid_out(start: str, rules: Mapping[str, Iterable[Side]], indenter: Indenter) -> dict[str, list[Side]]:
    """*rules* with the layout's terminals, so that each line ends with exactly one NEWLINE.

    Each nonterminal is copied for its start and its end: at the start of a line ("<") or within one
    ("-").
    """
    layout = {indenter.newline: NEWLINE, indenter.indent: INDENT, indenter.dedent: DEDENT}
    placed: dict[str, list[Side]] = {}
    steps = {NEWLINE: ((False, True),), INDENT: ((True, True),), DEDENT: ((True, True),)}
    for name, sides in rules.items():
        for at_start, at_end in product((True, False), repeat=2):
            own = placed.setdefault(_placed(name, at_start, at_end), [])
            for side in sides:
                own += _ways([layout.get(symbol, symbol) for symbol in side], rules, steps, at_start, at_end)
    placed[start] = [(_placed(start, True, True),)]
    return without_useless(start, placed)


def _placed(name: str, at_start: bool, at_end: bool) -> str:
    return f"{name}{'<' if at_start else '-'}{'<' if at_end else '-'}"


def _ways(
    side: Sequence[str],
    rules: Mapping[str, object],
    steps: Mapping[str, tuple[tuple[bool, bool], ...]],
    at_start: bool,
    at_end: bool,
) -> list[Side]:
    ways: list[tuple[Side, bool]] = [((), at_start)]
    for symbol in side:
        if symbol in rules:
            ways = [((*way, _placed(symbol, at, to)), to) for way, at in ways for to in (True, False)]
        else:
            allowed = steps.get(symbol, ((True, False), (False, False)))
            ways = [((*way, symbol), to) for way, at in ways for before, to in allowed if at == before]
    return [way for way, at in ways if at == at_end]


def in_blocks(start: str, rules: Mapping[str, Iterable[Side]]) -> dict[str, list[Side]]:
    """*rules* in which each block is a rule of its own, `INDENT items DEDENT`.

    Raises:
        BlockError: a block does not start and end in the same rule.
    """
    written = {name: [*sides] for name, sides in rules.items()}

    def repeated(symbol: str) -> str:
        """The symbol that *symbol* is another name for."""
        sides = [side for side in written.get(symbol, ()) if side]
        is_name = len(sides) == 1 and len(sides[0]) == 1 and sides[0][0] in written
        return repeated(sides[0][0]) if is_name and sides[0][0] != symbol else symbol

    grouped: dict[str, list[Side]] = {}
    for name, sides in rules.items():
        own = grouped.setdefault(name, [])
        for side in sides:
            parts: list[str] = []
            inside: list[str] | None = None
            for symbol in side:
                if symbol == INDENT:
                    inside = []
                elif symbol == DEDENT and inside is not None:
                    block = f"[{' '.join(inside)}]"
                    grouped[block] = [(INDENT, *map(repeated, inside), DEDENT)]
                    parts.append(block)
                    inside = None
                else:
                    (parts if inside is None else inside).append(symbol)
            if inside is not None:
                raise BlockError(re.sub(r"[<-]{2}\Z", "", name))
            own.append(tuple(parts))
    grouped[start] = [(repeated(start),)]
    return grouped


class BlockError(ValueError):
    """A block is not written as `INDENT items DEDENT` in one rule."""


def check_blocks(grammar: Grammar, start: str, files: GrammarFiles) -> None:
    """Refuse a grammar whose file or blocks are not repetitions.

    Raises:
        GrammarError: it names the rule.
    """
    if not {NEWLINE, INDENT, DEDENT} <= set(grammar.terminals):
        raise GrammarError(
            f"In {files.name} no file from the rule {start} ({files.location(start)}) on can have a block; "
            f"write each block after a line end, and end each line with one."
        )
    names = dict(enumerate((*grammar.terminals, *grammar.nonterminals)))
    sides = [production.rhs for production in grammar.productions_of(grammar.start)]
    if len(sides) != 1 or len(sides[0]) != 1 or sides[0][0] not in grammar.repetitions:
        raise GrammarError(
            f"The rule {start} ({files.location(start)}) has to be a repetition, such as {start}: "
            f"item*, as the blocks of a grammar with indentation are."
        )
    for production in grammar.productions:
        if names[production.rhs[0]] == INDENT and (
            len(production.rhs) != 3 or production.rhs[1] not in grammar.repetitions
        ):
            raise GrammarError(
                f"In {files.name} each block has to be a repetition between its two terminals, such as "
                f"_INDENT item+ _DEDENT."
            )
