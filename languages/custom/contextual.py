"""Lark's contextual lexer: terminals are read by what the parser expects at a place, in either direction.

Left of a place the stack of an LALR parser is known, and with it the terminals that Lark's lexer tries. Right
of it the stack is unknown. So the grammar itself names the mode in which each of its terminals was read: a
terminal `NAME@1` is a NAME read in mode 1. A sentence of such terminals is derived exactly if each of them
stands where the parser expects it in this mode. The text after a cursor is then read in all modes, and those
that are wrong there connect with nothing.

*Modes.* The states of the parser are grouped. A group shares one lexer, for all terminals of its states, if
that makes no difference. So no terminal that a state does not take may win over one that it takes. It may
where the text could not go on after the other, as `==` over `=` before an operand.

*The grammar.* A nonterminal is copied for the states in which it is predicted, the mode before its first
terminal, and the mode after its last one. States in which all terminals lead to the same modes share a copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from lark.common import ParserConf
from lark.exceptions import GrammarError as LarkGrammarError
from lark.grammar import Rule
from lark.lexer import TerminalDef
from lark.parsers.lalr_analysis import IntParseTable, LALR_Analyzer, Shift

from fimlsp.languages.custom.grammar_files import GrammarFiles
from fimlsp.languages.custom.lalr import LalrTables
from fimlsp.languages.custom.lexemes import Lookalikes, read_in_mode
from fimlsp.languages.custom.rules import MOST_PRODUCTIONS, Side
from fimlsp.quotient.grammar.cfg import GrammarError


@dataclass(frozen=True, slots=True, eq=False)
class LexerModes:
    """The modes of the lexer: the parser's tables, and the terminals that are tried in each mode."""

    tables: LalrTables
    terminals: tuple[frozenset[str], ...]


def lexer_modes(
    rules: Sequence[Rule],
    start: str,
    terminals: Sequence[TerminalDef],
    ignored: frozenset[str],
    lookalikes: Lookalikes,
    files: GrammarFiles,
) -> LexerModes:
    """The modes of the lexer of an LALR(1) grammar.

    Raises:
        GrammarError: the grammar is not LALR(1).
    """
    analyzer = LALR_Analyzer(ParserConf(list(rules), {}, [start]))
    try:
        analyzer.compute_lalr()  # type: ignore[no-untyped-call]  # Lark has no annotation there
    except LarkGrammarError as error:
        reason = str(error).strip().splitlines()[0].rstrip(":")
        raise GrammarError(
            f"Cannot read {files.name} with the contextual lexer: it is not LALR(1) ({reason}). Change these "
            f'rules, or use the basic lexer, with the comment // lexer = "basic".'
        ) from error
    table = cast("IntParseTable", analyzer.parse_table)
    states = [table.states[number] for number in range(len(table.states))]
    shifts = [{name: to for name, (action, to) in row.items() if action is Shift} for row in states]
    names = {terminal.name for terminal in terminals}
    taken = [ignored.union(names.intersection(row)) for row in states]
    begin = table.start_states[start]
    read_in = {begin, *(to for row in shifts for name, to in row.items() if name in names)}
    wins = _winners(shifts, taken, names, ignored, lookalikes)
    groups = _grouped({taken[state] for state in read_in}, wins, lookalikes)
    mode_of = {one: mode for mode, (members, _) in enumerate(groups) for one in members}
    modes = tuple(mode_of[own] if state in read_in else -1 for state, own in enumerate(taken))
    tables = LalrTables(tuple(shifts), tuple(map(_reduces, states)), begin, modes)
    return LexerModes(tables, tuple(union for _, union in groups))


def _reduces(row: Mapping[str, tuple[Any, Any]]) -> dict[str, tuple[str, int]]:
    """The rules that a state reduces."""
    rules = ((name, rule) for name, (action, rule) in row.items() if action is not Shift)
    return {name: (str(rule.origin.name), len(rule.expansion)) for name, rule in rules}


def _winners(
    shifts: Sequence[Mapping[str, int]],
    taken: Sequence[frozenset[str]],
    names: Iterable[str],
    ignored: frozenset[str],
    lookalikes: Lookalikes,
) -> dict[str, int]:
    """For each terminal the bit set of those that it takes the place of where both are tried."""
    skipped = lookalikes.first_bytes(ignored)
    after: dict[str, int] = {}
    for following in shifts:
        for name, to in following.items():
            if name in lookalikes.number:
                after[name] = after.get(name, skipped) | lookalikes.first_bytes(taken[to])
    for name in ignored:
        after[name] = -1
    return {name: lookalikes.beaten_by(name, after) for name in names}


def _grouped(
    sets: Iterable[frozenset[str]], wins: Mapping[str, int], lookalikes: Lookalikes
) -> list[tuple[list[frozenset[str]], frozenset[str]]]:
    """*sets* of terminals in groups, each with the union of its members, as few as a simple search finds."""
    groups: list[tuple[list[frozenset[str]], frozenset[str]]] = []
    for one in sorted(sets, key=lambda names: (-len(names), sorted(names))):
        for at, (members, union) in enumerate(groups):
            wider = union | one
            if all(_is_unchanged(member, wider, wins, lookalikes) for member in (*members, one)):
                groups[at] = [*members, one], wider
                break
        else:
            groups.append(([one], one))
    return groups


def _is_unchanged(
    own: frozenset[str], wider: frozenset[str], wins: Mapping[str, int], lookalikes: Lookalikes
) -> bool:
    """True if a lexer for the terminals *own* may try all in *wider*."""
    bits = lookalikes.bits(own)
    return not any(wins[name] & bits for name in wider - own)


def annotated(
    rules: Sequence[Rule], start: str, modes: LexerModes, files: GrammarFiles
) -> dict[str, list[Side]]:
    """*rules* whose terminals say in which mode they are read.

    Raises:
        GrammarError: they are too many.
    """
    return _Annotation(rules, start, modes, files).rules()


_Role = tuple[int, str]
"""A nonterminal, and a state in which it is predicted."""


class _Annotation:
    def __init__(self, rules: Sequence[Rule], start: str, modes: LexerModes, files: GrammarFiles) -> None:
        self._start = start
        self._modes = modes
        self._shifts = modes.tables.shifts
        self._files = files
        self._sides: dict[str, list[Side]] = {}
        for rule in rules:
            side = tuple(str(symbol.name) for symbol in rule.expansion)
            self._sides.setdefault(str(rule.origin.name), []).append(side)
        self._walks: dict[_Role, list[list[tuple[str, int, int]]]] = {}
        self._class_of = self._classes((modes.tables.start, start))
        self._ways: dict[tuple[int, int], dict[int, list[Side]]] = {}
        self._role_of = {number: role for role, number in reversed(self._class_of.items())}

    def _walk(self, role: _Role) -> list[list[tuple[str, int, int]]]:
        """For each side of *role* its symbols, each with the states before and after it."""
        walks = self._walks.get(role)
        if walks is None:
            walks = self._walks[role] = []
            for side in self._sides.get(role[1], ()):
                state = role[0]
                walk: list[tuple[str, int, int]] = []
                for symbol in side:
                    following = self._shifts[state][symbol]
                    walk.append((symbol, state, following))
                    state = following
                walks.append(walk)
        return walks

    def _classes(self, first: _Role) -> dict[_Role, int]:
        """The class of each role: those of one derive the same terminals, with the same modes after them."""
        roles = {first: None}
        waiting = [first]
        while waiting:
            for walk in self._walk(waiting.pop()):
                for symbol, state, _ in walk:
                    if symbol in self._sides and (state, symbol) not in roles:
                        roles[state, symbol] = None
                        waiting.append((state, symbol))
        modes = self._modes.tables.modes
        numbers: dict[object, int] = {}
        class_of = {role: numbers.setdefault(role[1], len(numbers)) for role in roles}
        while True:
            signatures: dict[object, int] = {}
            refined = {
                role: signatures.setdefault(
                    (
                        class_of[role],
                        *(
                            class_of[state, symbol] if symbol in self._sides else ~modes[after]
                            for walk in self._walk(role)
                            for symbol, state, after in walk
                        ),
                    ),
                    len(signatures),
                )
                for role in roles
            }
            if len(signatures) == len(numbers):
                return refined
            numbers, class_of = signatures, refined

    def rules(self) -> dict[str, list[Side]]:
        """The annotated rules, from the start symbol on."""
        tables = self._modes.tables
        first = self._class_of[tables.start, self._start], tables.modes[tables.start]
        self._find_ways(first)
        made: dict[str, list[Side]] = {}
        for (number, before), ways in self._ways.items():
            for after, sides in ways.items():
                made[self._name(number, before, after)] = sides
        made[self._start] = [(self._name(*first, after),) for after in self._ways[first]]
        return made

    def _name(self, number: int, before: int, after: int) -> str:
        return f"{self._role_of[number][1]}@{number},{before},{after}"

    def _find_ways(self, first: tuple[int, int]) -> None:
        """Fill `_ways`: for each class and mode before it, the modes after it, each with the sides."""
        users: dict[tuple[int, int], set[tuple[int, int]]] = {}
        self._ways[first] = {}
        pending = {first: None}
        while pending:
            key = next(iter(pending))
            del pending[key]
            known = {after: len(sides) for after, sides in self._ways[key].items()}
            found = self._sides_of(key, users, pending)
            self._ways[key] = found
            if found.keys() != known.keys():
                pending.update(dict.fromkeys(users.get(key, ())))
            if sum(len(sides) for ways in self._ways.values() for sides in ways.values()) > MOST_PRODUCTIONS:
                raise GrammarError(
                    f"{self._files.name} is too large for the contextual lexer: its terminals are read in "
                    f"{len(self._modes.terminals)} ways. Make them differ, or use the basic lexer."
                )

    def _sides_of(
        self,
        key: tuple[int, int],
        users: dict[tuple[int, int], set[tuple[int, int]]],
        pending: dict[tuple[int, int], None],
    ) -> dict[int, list[Side]]:
        """The sides of a class read from a mode on, by the mode after them."""
        number, before = key
        modes = self._modes
        found: dict[int, list[Side]] = {}
        for walk in self._walk(self._role_of[number]):
            ways: list[tuple[Side, int]] = [((), before)]
            for symbol, state, following in walk:
                longer: list[tuple[Side, int]] = []
                for side, mode in ways:
                    if symbol not in self._sides:
                        if symbol in modes.terminals[mode]:
                            after = modes.tables.modes[following]
                            longer.append(((*side, read_in_mode(symbol, mode)), after))
                        continue
                    child = self._class_of[state, symbol], mode
                    users.setdefault(child, set()).add(key)
                    if child not in self._ways:
                        self._ways[child] = {}
                        pending[child] = None
                    longer += [((*side, self._name(*child, after)), after) for after in self._ways[child]]
                ways = longer
            for side, mode in ways:
                found.setdefault(mode, []).append(side)
        return found
