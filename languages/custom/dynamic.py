"""Lark's dynamic lexer: at each place every expected terminal is tried by itself, and all that match go on.

So a text can be divided in several ways, and no lexer alone divides it. Here each byte is a lexeme, and the
grammar derives the bytes of its terminals.

*One match.* At a place a terminal has at most one match, that of Python's `re`. It ends where the terminal's
automaton accepts for the last time. So the text after it must not lead that automaton to another acceptance:
`/a+/` is never `a` before another `a`. The states of automata that have ended but may still accept are the
*watch*. Each byte moves all of them, a byte after which one accepts is refused, and nearly all end at once.

*The grammar.* A nonterminal is copied for the watch before and after it. A terminal from a watch on is the
product of its automaton and that watch. Ignored text may stand before each terminal, and at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lark.lexer import TerminalDef

from fimlsp.languages.custom.grammar_files import GrammarFiles
from fimlsp.languages.custom.lexemes import IN_MODE, REJECTED, automaton_alone
from fimlsp.languages.custom.rules import MOST_PRODUCTIONS, Side
from fimlsp.lexing.automata.dfa import DEAD, Dfa, equivalent, side_by_side
from fimlsp.lexing.nesting import CODE
from fimlsp.quotient.grammar.cfg import GrammarError

_SKIPPED, _WHOLE = "skipped text", "whole text"
_NOTHING, _MATCH, _REFUSED = range(3)

Watch = frozenset[int]
"""States of automata that have ended and must not accept again."""

Ways = dict[Watch, list[Side]]
"""The sides of a symbol by the watch after them."""


def bytewise(
    sides: Mapping[str, Sequence[Side]],
    start: str,
    terminals: Sequence[TerminalDef],
    ignored: Iterable[str],
    files: GrammarFiles,
) -> tuple[str, dict[str, list[Side]], Dfa]:
    """The start and the rules of a grammar of bytes, for the rules *sides* from *start* on; and its lexemes.

    Raises:
        GrammarError: a terminal has a look-around that depends on more than its text, or they are too many.
    """
    automata = _Automata(terminals, files)
    begin, rules = _Copies(with_skipped(sides, start, sorted(ignored)), automata, files).rules()
    return begin, rules, automata.bytes()


def with_skipped(
    sides: Mapping[str, Sequence[Side]], start: str, ignored: Sequence[str]
) -> dict[str, list[Side]]:
    """The rules *sides* with *ignored* terminals before each other terminal, and at the end."""
    rules = {
        name: [tuple(one if one in sides else f"{one} " for one in side) for side in own]
        for name, own in sides.items()
    }
    used = {one for own in sides.values() for side in own for one in side if one not in sides}
    rules |= {f"{one} ": [(_SKIPPED, one)] for one in sorted(used)}
    rules[_SKIPPED] = [(), *((_SKIPPED, one) for one in ignored)]
    rules[_WHOLE] = [(start, _SKIPPED)]
    return rules


class _Automata:
    """The automata of all terminals as one, with columns for the bytes that none of them tells apart."""

    def __init__(self, terminals: Sequence[TerminalDef], files: GrammarFiles) -> None:
        alone = {one.name: automaton_alone(one, files).expand() for one in terminals}
        joint = side_by_side(alone)
        columns: dict[tuple[int, ...], int] = {}
        self._class_of = [
            columns.setdefault(column, len(columns)) for column in zip(*joint.rows, strict=True)
        ]
        rows = [*zip(*columns, strict=True)]
        flags = [
            _NOTHING if kind < 0 else _REFUSED if joint.kinds[kind] == REJECTED else _MATCH
            for kind in joint.accepts
        ]
        same = equivalent(rows, flags)
        self.rows = {same[state]: tuple(same[to] for to in row) for state, row in enumerate(rows)}
        self.dead = same[DEAD]
        # A start is never reached again, so a state that equals it is another one.
        self.begins = {name: -1 - number for number, name in enumerate(joint.starts)}
        self.rows |= {self.begins[name]: self.rows[same[state]] for name, state in joint.starts.items()}
        self._flags = {same[state]: flag for state, flag in enumerate(flags)}
        self._goes_on = {state for state, row in self.rows.items() if set(row) != {self.dead}}

    def matches(self, state: int) -> bool:
        """True if the text read so far is a match."""
        return self._flags.get(state) == _MATCH

    def watched(self, watch: Watch, state: int) -> Watch:
        """*watch* after the end of a match in *state*."""
        return watch | {state} if state in self._goes_on else watch

    def moved(self, watch: Watch, column: int) -> Watch | None:
        """*watch* after a byte of the class *column*; None if a match would have been longer."""
        following = {self.rows[state][column] for state in watch} - {self.dead}
        if any(self._flags[state] != _NOTHING for state in following):
            return None
        return frozenset(following)

    def name(self, column: int) -> str:
        """The bytes of the class *column*, as users write them."""
        members = [byte for byte, own in enumerate(self._class_of) if own == column]
        parts: list[str] = []
        for byte in members:
            if parts and byte - 1 in members:
                parts[-1] = parts[-1].partition("-")[0] + f"-{_shown(byte)}"
            else:
                parts.append(_shown(byte))
        return f"[{''.join(parts)}]"

    def bytes(self) -> Dfa:
        """The lexemes of one byte each."""
        columns = sorted(set(self._class_of))
        used = [column for column in columns if any(row[column] != self.dead for row in self.rows.values())]
        number = {column: kind for kind, column in enumerate(used)}
        begin = tuple([2 + number[column] if column in number else DEAD for column in self._class_of])
        stop = (DEAD,) * 256
        kinds = range(len(used))
        return Dfa(
            (stop, begin, *(stop for _ in kinds)),
            (-1, -1, *kinds),
            (0, (1 << len(used)) - 1, *(1 << kind for kind in kinds)),
            {CODE: 1},
            tuple(map(self.name, used)),
        )


def _shown(byte: int) -> str:
    is_plain = 0x20 <= byte < 0x7F and chr(byte) not in f"[]-\\{IN_MODE}"
    return chr(byte) if is_plain else f"\\x{byte:02x}"


@dataclass
class _Copies:
    """The copies of rules for the watches before and after them."""

    written: Mapping[str, list[Side]]
    automata: _Automata
    files: GrammarFiles
    made: dict[str, list[Side]] = field(default_factory=dict)
    _ways: dict[tuple[str, Watch], Ways] = field(default_factory=dict)
    _users: dict[tuple[str, Watch], set[tuple[str, Watch]]] = field(default_factory=dict)
    _numbers: dict[Watch, int] = field(default_factory=dict)

    def rules(self) -> tuple[str, dict[str, list[Side]]]:
        """The start, and the rules from it on."""
        first = _WHOLE, Watch()
        self._ways[first] = {}
        pending = {first: None}
        while pending:
            key = next(iter(pending))
            del pending[key]
            known = self._ways[key].keys()
            self._ways[key] = found = self._ways_of(*key, pending)
            if found.keys() != known:
                pending.update(dict.fromkeys(self._users.get(key, ())))
            self._check_size()
        for (name, before), ways in self._ways.items():
            for after, sides in ways.items():
                self.made[self._name(name, before, after)] = sides
        self.made[_WHOLE] = [(self._name(*first, after),) for after in self._ways[first]]
        return _WHOLE, self.made

    def _check_size(self) -> None:
        size = sum(len(sides) for ways in self._ways.values() for sides in ways.values())
        if size + sum(map(len, self.made.values())) > MOST_PRODUCTIONS:
            raise GrammarError(
                f"{self.files.name} is too large for the dynamic lexer, as its terminals may end in too many "
                f"ways. Use fewer, or the contextual lexer."
            )

    def _name(self, name: str, before: Watch, after: Watch) -> str:
        numbers = (self._numbers.setdefault(watch, len(self._numbers)) for watch in (before, after))
        return f"{name}@{','.join(map(str, numbers))}"

    def _ways_of(self, name: str, before: Watch, pending: dict[tuple[str, Watch], None]) -> Ways:
        if name not in self.written:
            return self._ways.get((name, before)) or self._read(name, before)
        found: Ways = {}
        for side in self.written[name]:
            ways: list[tuple[Side, Watch]] = [((), before)]
            for symbol in side:
                longer: list[tuple[Side, Watch]] = []
                for done, watch in ways:
                    child = symbol, watch
                    self._users.setdefault(child, set()).add((name, before))
                    if child not in self._ways:
                        self._ways[child] = {}
                        pending[child] = None
                    longer += [((*done, self._name(*child, after)), after) for after in self._ways[child]]
                ways = longer
            for done, watch in ways:
                found.setdefault(watch, []).append(done)
        return found

    def _read(self, name: str, before: Watch) -> Ways:
        """The ways of a terminal: the product of its automaton and the watch *before* it."""
        automata = self.automata
        begin = automata.begins[name], before
        into: dict[tuple[int, Watch], dict[tuple[int, Watch], list[int]]] = {begin: {}}
        waiting = [begin]
        while waiting:
            place = waiting.pop()
            for column, state in enumerate(automata.rows[place[0]]):
                watch = automata.moved(place[1], column) if state != automata.dead else None
                if watch is None:
                    continue
                if (state, watch) not in into:
                    into[state, watch] = {}
                    waiting.append((state, watch))
                into[state, watch].setdefault(place, []).append(column)
        texts = _Texts(f"{name}@{self._name('', before, before)}", begin, into, self)
        ways: Ways = {}
        for place in filter(lambda place: automata.matches(place[0]), into):
            ways.setdefault(automata.watched(place[1], place[0]), []).append(texts.of(place))
        return ways

    def byte_of(self, columns: Sequence[int]) -> str:
        """A symbol for one byte of any of the classes *columns*."""
        names = tuple(map(self.automata.name, columns))
        if len(names) == 1:
            return names[0]
        name = f"byte {columns}"
        self.made.setdefault(name, [(one,) for one in names])
        return name


_Place = tuple[int, Watch]


@dataclass
class _Texts:
    """The texts that lead to places of a product, as rules; a place with one way into it needs no rule."""

    name: str
    begin: _Place
    into: Mapping[_Place, Mapping[_Place, list[int]]]
    copies: _Copies
    _known: dict[_Place, Side] = field(default_factory=dict)

    def of(self, place: _Place) -> Side:
        """The symbols that derive the texts which lead to *place*."""
        known = self._known.get(place)
        if known is not None:
            return known
        if place == self.begin:
            return ()
        ways = self.into[place]
        if len(ways) == 1 and place not in ways:
            ((before, columns),) = ways.items()
            self._known[place] = (*self.of(before), self.copies.byte_of(columns))
            return self._known[place]
        own = f"{self.name}:{len(self._known)}"
        self._known[place] = (own,)
        self.copies.made[own] = [
            (*self.of(before), self.copies.byte_of(columns)) for before, columns in ways.items()
        ]
        return self._known[place]
