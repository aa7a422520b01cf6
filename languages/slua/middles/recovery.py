"""Error recovery: the state of a middle in a script that is broken in other lines.

Each side of the cursor is read with the cheapest repair at each lexeme that may not come. Lexemes are
skipped, missing ones are inserted, or both (Corchuelo et al. 2002). A repair starts at the broken lexeme,
at a line above it whose predecessor may be unfinished, or at the start of the statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from fimlsp.languages.slua.incremental.machine import Machine
from fimlsp.languages.slua.incremental.statements import Block, ScriptState
from fimlsp.languages.slua.lexemes import KEYWORDS, LEXEME, SIGNS, TOKEN
from fimlsp.languages.slua.middles.middle import MiddleState, middle_between
from fimlsp.languages.slua.middles.right_text import Mismatch, RightText
from fimlsp.languages.slua.middles.type_inference import variable_types
from fimlsp.languages.slua.scopes import Variable
from fimlsp.languages.typed.lexicon import PLACEHOLDER
from fimlsp.languages.typed.state import fresh_name
from fimlsp.lexing.interruption import checkpoint
from fimlsp.quotient.states.protocol import RelaxedSpan

SOME_NODES, FEW_NODES = 80, 20
"""Nodes of the search if the right text lacks names, or seems to be broken."""

_MOST_REPAIRS = 40
_MOST_GUESSES = 12
_AHEAD, _UNREAD = 10, 2
"""Pieces that are read after a repair to judge it, and the cost of each of them that cannot be read."""

_MOST_INSERTED = 24
_MOST_HERE, _MOST_LINES, _MOST_STATEMENTS, _MOST_BACK = 8, 4, 3, 80
"""Limits of the spans to skip: lexemes from the broken one on; lines, statements, lexemes back."""

_INSERTED, _COSTS = 2, {"end": 5, "}": 4, ")": 3}
_SKIPPED, _MOST_SKIPPED, _UNMATCHED = 2, 14, 5
_OPENING, _CLOSING = ("(", "{", "function", "if", "do"), (")", "}", "end")

_PIECE = re.compile(
    rb"(?P<lexeme>" + LEXEME.pattern + rb')|--[^\r\n]*|"[^\r\n]*|[0-9][A-Za-z0-9_.]*|[^ \t\r\n]'
)

Replacements = tuple[RelaxedSpan, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """A lexeme, or bytes that are not one.

    Attributes:
        text: of the lexeme; empty for other bytes.
        start, end: its span.
        starts_line: True if it is the first of its line.
    """

    text: str
    start: int
    end: int
    starts_line: bool


def pieces_of(data: bytes, start: int = 0) -> list[Piece]:
    """The pieces of *data* from *start* on. O(len(data))."""
    pieces, before = list[Piece](), start
    for piece in _PIECE.finditer(data, start):
        starts_line = not pieces or b"\n" in data[before : piece.start()]
        pieces.append(Piece(_text(piece), *piece.span(), starts_line))
        before = piece.end()
    return pieces


def _text(piece: re.Match[bytes]) -> str:
    try:
        return (piece["lexeme"] or b"").decode("utf-8")
    except UnicodeDecodeError:
        return ""


@dataclass(frozen=True, slots=True)
class Repair:
    """Pieces replaced by lexemes.

    Attributes:
        first, resumed: the skipped pieces, the second number excluded.
        inserted: the lexemes that are read instead.
        machine: the place after these, from which reading resumes.
    """

    first: int
    resumed: int
    inserted: tuple[str, ...]
    machine: Machine

    def cost(self, pieces: Sequence[Piece]) -> int:
        """Each skipped one of *pieces* and each inserted lexeme costs; brackets cost most."""
        skipped = pieces[self.first : self.resumed]
        cost = min(_SKIPPED * len(skipped), _MOST_SKIPPED + len(skipped) // 4)
        cost += _UNMATCHED * _unmatched([piece.text for piece in skipped])
        return cost + sum(_COSTS.get(token, _INSERTED) for token in self.inserted)


def _unmatched(texts: Sequence[str]) -> int:
    """The number of brackets and blocks that *texts* only close or only open."""
    closed = opened = 0
    for text in texts:
        if text in _OPENING:
            opened += 1
        elif text in _CLOSING:
            closed, opened = (closed, opened - 1) if opened else (closed + 1, 0)
    return closed + opened


def spans(pieces: Sequence[Piece], machines: Sequence[Machine], broken: int) -> Iterator[tuple[int, int]]:
    """The spans of pieces that may be skipped, where the piece *broken* may not come."""
    count = len(pieces)
    yield from ((broken, end) for end in range(broken, min(broken + _MOST_HERE, count) + 1))
    nearest = range(broken, max(-1, broken - _MOST_BACK), -1)
    starts = [number for number in nearest if number < count and pieces[number].starts_line][:_MOST_LINES]
    following = (number for number in range(broken + 1, count) if pieces[number].starts_line)
    ends = [end for _, end in zip(range(_MOST_LINES), following, strict=False)]
    for start in starts:
        yield from (
            (start, end) for end in (start, broken, broken + 1, *ends) if start < broken or end == start
        )
    for start in _statements(machines, nearest):
        yield start, _after_statement(pieces, start)


def _statements(machines: Sequence[Machine], nearest: Sequence[int]) -> list[int]:
    """The starts of the statements around the first of *nearest*, the innermost first."""
    starts, height = list[int](), 0
    for number in nearest:
        stack = machines[number].stack
        if stack is not None and isinstance(stack.task, Block) and (not starts or stack.height < height):
            starts.append(number)
            height = stack.height
    return starts[:_MOST_STATEMENTS]


def _after_statement(pieces: Sequence[Piece], start: int) -> int:
    """The piece after the semicolon of the statement at *start*, or the closer of the block around it."""
    depth = 0
    for number in range(start, len(pieces)):
        text = pieces[number].text
        depth += (text in _OPENING) - (text in _CLOSING)
        if depth < 0:
            return number
        if text == ";" and not depth:
            return number + 1
    return len(pieces)


def missing_lexemes(machine: Machine, number: int) -> Iterator[Repair]:
    """Repairs that insert a sign or keyword before the piece with this *number*."""
    for word in sorted(machine.expected().words & (SIGNS | KEYWORDS)):
        following = machine.take(word)
        if following is not None:
            yield Repair(number, number, (word,), following)


def misspelt(machine: Machine, number: int, text: str) -> Iterator[Repair]:
    """Repairs that read the piece with this *number* as an expected word that is similar to *text*."""
    for word in get_close_matches(text, machine.expected().words, n=2, cutoff=0.7) if text else ():
        following = machine.take(word)
        if following is not None:
            yield Repair(number, number + 1, (word,), following)


def next_inserted(machine: Machine) -> tuple[tuple[str, ...], Machine] | None:
    """The next lexemes towards the end of the script, and the place after them; None if nothing is open."""
    names: dict[str, str] = {}
    inserted: list[str] = []
    for token in TOKEN.findall(machine.finish()):
        if token[0] == PLACEHOLDER[0]:
            name = names.setdefault(token, "") or fresh_name(machine, names.values())
            names[token] = token = name
        following = machine.take(token)
        if following is None:
            break
        inserted.append(token)
        machine = following
    return (tuple(inserted), machine) if inserted else None


class Repairer:
    """Reads the lexemes *pieces* from *machine* on.

    Attributes:
        machines: the places before each piece that was read, and after the last.
    """

    def __init__(self, pieces: Sequence[Piece], machine: Machine) -> None:
        self.pieces = pieces
        self.machines = [machine]
        self._skipped: set[int] = set()
        self._inserted: dict[int, tuple[str, ...]] = {}

    def read(self) -> bool:
        """Read to the end; False if no repair helps."""
        repairs = 0
        while (number := len(self.machines) - 1) < len(self.pieces):
            checkpoint()
            following = self.take(self.machines[number], number)
            if following is not None:
                self.machines.append(following)
                continue
            repair = self._cheapest(number)
            repairs += 1
            if repair is None or repairs > _MOST_REPAIRS:
                return False
            self._apply(repair)
        return True

    @property
    def is_read(self) -> bool:
        """True if everything was read."""
        return len(self.machines) > len(self.pieces)

    def take(self, machine: Machine, number: int) -> Machine | None:
        """*machine* after the piece with this *number*; None if it may not come."""
        text = self.pieces[number].text
        return machine.take(text) if text else None

    def may_change(self, first: int, resumed: int) -> bool:
        """True if lexemes may be inserted before *first*, and the pieces up to *resumed* skipped."""
        del first, resumed
        return True

    def is_free(self, number: int) -> bool:
        """True if lexemes inserted before this piece do not change the text."""
        del number
        return False

    def guesses(self, number: int) -> Iterator[Repair]:
        """Repairs that only assume a declaration for the piece with this *number*."""
        del number
        return iter(())

    def _cheapest(self, broken: int) -> Repair | None:
        best: tuple[int, Repair] | None = None
        for repair in self._repairs(broken):
            cost = 0 if self._costs_nothing(repair) else repair.cost(self.pieces)
            if best is not None and cost >= best[0]:
                continue
            read = self._read_ahead(repair, broken)
            if read or repair.resumed > broken:
                cost += _UNREAD * (_AHEAD - read)
                if best is None or cost < best[0]:
                    best = cost, repair
        return None if best is None else best[1]

    def _costs_nothing(self, repair: Repair) -> bool:
        """True if *repair* only inserts lexemes that the middle can write."""
        return repair.first == repair.resumed and self.is_free(repair.first)

    def _repairs(self, broken: int) -> Iterator[Repair]:
        yield from self.guesses(broken)
        if self.may_change(broken, broken):
            yield from filter(self._continues, missing_lexemes(self.machines[broken], broken))
        start = [
            Repair(first, resumed, (), self.machines[first])
            for first, resumed in dict.fromkeys(spans(self.pieces, self.machines, broken))
            if self.may_change(first, resumed)
        ]
        if self.may_change(broken, broken + 1):
            start += misspelt(self.machines[broken], broken, self.pieces[broken].text)
        for repair in start:
            yield from self._finished(repair)

    def _finished(self, start: Repair) -> Iterator[Repair]:
        """*start*, with as much of the cheapest end of the script as has to be inserted there."""
        repair: Repair | None = start if start.resumed > start.first else _with_more(start)
        while repair is not None:
            if self._continues(repair):
                yield repair
                return
            repair = _with_more(repair)

    def _continues(self, repair: Repair) -> bool:
        end = len(self.pieces)
        return repair.resumed == end or self.take(repair.machine, repair.resumed) is not None

    def _read_ahead(self, repair: Repair, broken: int) -> int:
        """The number of pieces, from the broken one on, that can be read after *repair*."""
        machine, start = repair.machine, max(broken, repair.resumed)
        for number in range(repair.resumed, min(start + _AHEAD, len(self.pieces))):
            following = self.take(machine, number)
            if following is None:
                return max(0, number - start)
            machine = following
        return _AHEAD

    def _apply(self, repair: Repair) -> None:
        first, resumed = repair.first, repair.resumed
        self._skipped = {number for number in self._skipped if number < first} | {*range(first, resumed)}
        self._inserted = {number: text for number, text in self._inserted.items() if number <= first}
        if repair.inserted and not self._costs_nothing(repair):
            self._inserted[first] = (*self._inserted.get(first, ()), *repair.inserted)
        self.machines[first:] = [repair.machine] * (resumed - first + 1)

    @property
    def edits(self) -> tuple[RelaxedSpan, ...]:
        """The changes, in the order of the text."""
        edits = list[RelaxedSpan]()
        for number in sorted({*self._skipped, *self._inserted}):
            words = self._inserted.get(number, ())
            start, end = self._span(number)
            text = f" {' '.join(words)} ".encode()
            if number in self._skipped and number - 1 in self._skipped:
                start, _, before = edits.pop()
                text = before.rstrip() + text
            edits.append((start, end, text))
        return tuple(edits)

    def _span(self, number: int) -> tuple[int, int]:
        """The span of the piece if it is skipped; otherwise the end of the one before."""
        if number in self._skipped:
            return self.pieces[number].start, self.pieces[number].end
        at = self.pieces[number - 1].end if number else self.pieces[0].start
        return at, at


def _with_more(repair: Repair) -> Repair | None:
    """*repair* with more inserted; None if nothing is open, or too much would be inserted."""
    more = next_inserted(repair.machine) if len(repair.inserted) < _MOST_INSERTED else None
    return None if more is None else replace(repair, inserted=(*repair.inserted, *more[0]), machine=more[1])


class LeftRepairer(Repairer):
    """The text *left* of a cursor, a script that starts at *start*."""

    def __init__(self, left: bytes, start: ScriptState) -> None:
        super().__init__(pieces_of(left), start.machine)
        line = max(left.rfind(b"\n"), left.rfind(b"\r")) + 1
        self._line = sum(piece.start < line for piece in self.pieces)
        self._left = left

    def take(self, machine: Machine, number: int) -> Machine | None:
        """As in `Repairer`; a piece that touches the cursor may be the start of a lexeme."""
        piece = self.pieces[number]
        if piece.end < len(self._left):
            return super().take(machine, number)
        state = ScriptState(machine).feed(self._left[piece.start :])
        return None if state is None else machine

    def may_change(self, first: int, resumed: int) -> bool:
        """As in `Repairer`: only before the cursor's line."""
        return first <= self._line and resumed <= self._line


class RightRepairer(Repairer):
    """The text *right* of a cursor after *state*, from the first lexeme that lies wholly in it.

    The middle can write missing lexemes of the cursor's line, and, if it *may_declare*, declare unknown
    names. `lacks_names` is True if there are any.
    """

    def __init__(self, right: bytes, state: ScriptState, *, may_declare: bool) -> None:
        machine, offset = _after_cursor(right, state)
        super().__init__(pieces_of(right, offset), machine)
        lines = [end for end in (right.find(b"\n"), right.find(b"\r")) if end >= 0]
        line_end = min(lines, default=len(right))
        self._below = sum(piece.start < line_end for piece in self.pieces)
        self._size = len(right)
        self._may_declare = may_declare
        self.lacks_names = False

    def may_change(self, first: int, resumed: int) -> bool:
        """As in `Repairer`: nothing in the cursor's line is skipped."""
        return first >= self._below or first == resumed

    def is_free(self, number: int) -> bool:
        """As in `Repairer`: the middle writes missing lexemes up to the line below."""
        return number <= self._below

    def guesses(self, number: int) -> Iterator[Repair]:
        """As in `Repairer`: variables of any type that may be meant."""
        machine, text = self.machines[number], self.pieces[number].text
        mismatch = Mismatch(machine, 0, text)
        if not (self._may_declare and mismatch.lacks_variable):
            return
        self.lacks_names = True
        texts = [piece.text for piece in self.pieces[number : number + 60]]
        types = dict.fromkeys(variable_types(mismatch, machine, texts))
        for type_, _ in zip(types, range(_MOST_GUESSES), strict=False):
            supposed = machine.with_environment(machine.environment.declare(Variable(text, type_)))
            yield Repair(number, number, (), supposed)

    @property
    def replacements(self) -> tuple[RelaxedSpan, ...]:
        """The edits, with the end of the script if that is missing."""
        if self.is_free(len(self.pieces)):
            return self.edits
        return (*self.edits, *self._ending(self.machines[-1], self._size))

    @property
    def has_line(self) -> bool:
        """True if the cursor's line was read."""
        return len(self.machines) > self._below

    @property
    def ending_below(self) -> tuple[RelaxedSpan, ...]:
        """The cheapest end of the script in place of all lines below the cursor's."""
        start = self.pieces[self._below].start if self._below < len(self.pieces) else self._size
        return self._ending(self.machines[self._below], start)

    def _ending(self, machine: Machine, start: int) -> tuple[RelaxedSpan, ...]:
        ending = ScriptState(machine).shortest_completion
        return ((start, self._size, b" " + ending),) if ending or start < self._size else ()


def _after_cursor(right: bytes, state: ScriptState) -> tuple[Machine, int]:
    """The place after the lexeme at the cursor, and the end of that lexeme on the right."""
    if not state.partial:
        return state.machine, 0
    text = RightText(right)
    lexeme = text.joined(state.partial)
    machine = None if lexeme is None else state.machine.take(lexeme.text)
    if lexeme is not None and machine is not None:
        return machine, lexeme.end
    offset = len(text.word)
    for added in state.endings():
        machine = state.machine.take((state.partial + added).decode("utf-8"))
        if machine is not None:
            return machine, offset
    return state.machine, offset


def repaired_middle(
    start: ScriptState, left: bytes, right: bytes, *, may_escape: bool
) -> tuple[MiddleState | None, Replacements]:
    """The state between *left* and *right*, and the changes to them if nothing connects them as they are.

    Nothing is changed in the cursor's line. Repairs cost about a millisecond for each lexeme around them.
    """
    above: Replacements = ()
    script = start.feed(left)
    if script is None:
        repairer = LeftRepairer(left, start)
        script = start.feed(replaced(left, repairer.edits)) if repairer.read() else None
        above = repairer.edits
    if script is None:
        return None, ()
    for below, most_nodes in _repaired_texts(right, script):
        state = closest_middle(script, replaced(right, below), may_escape=may_escape, most_nodes=most_nodes)
        if state is not None:
            return state, (*above, *((len(left) + a, len(left) + b, new) for a, b, new in below))
    return None, ()


def closest_middle(
    script: ScriptState | None, right: bytes, *, may_escape: bool, most_nodes: int | None = None
) -> MiddleState | None:
    """The state between *script* and *right*; if possible one that closes nothing, unless it *may_escape*."""
    state = None if may_escape else middle_between(script, right, may_escape=False, most_nodes=most_nodes)
    return state or middle_between(script, right, most_nodes=most_nodes)


def _repaired_texts(right: bytes, script: ScriptState) -> Iterator[tuple[Replacements, int | None]]:
    """Repairs of *right* after *script*, the text as it is first, each with the number of nodes to search."""
    repairer = RightRepairer(right, script, may_declare=True)
    is_valid = repairer.read() and not repairer.replacements
    if is_valid:
        yield (), SOME_NODES if repairer.lacks_names else None
    else:
        yield (), FEW_NODES
    if repairer.is_read and not is_valid:
        yield repairer.replacements, SOME_NODES
    if repairer.lacks_names:
        repairer = RightRepairer(right, script, may_declare=False)
        if repairer.read():
            yield repairer.replacements, SOME_NODES
    if repairer.has_line:
        yield repairer.ending_below, None


def replaced(data: bytes, replacements: Replacements) -> bytes:
    """*data* with *replacements*, which are in its order."""
    parts, at = list[bytes](), 0
    for start, end, new in replacements:
        parts += [data[at:start], new]
        at = end
    return b"".join((*parts, data[at:]))
