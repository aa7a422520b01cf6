"""Texts that expressions match as a whole, without the preferences of a matcher.

`whole_texts` makes the automaton of several expressions, each of which has to match a whole text or not. A
state is a set of threads without preferences. Each accepting state knows exactly which of the expressions
match. So look-arounds are decided as well: look-behinds run beside the threads, and a look-ahead is an
obligation of its thread. At the end of the text an open obligation has failed if it is positive, and come
true if it is negative.

`overlaps` finds the lexemes that can be taken for each other, by the subset construction of all expressions
at once. Look-arounds count as true there. So an overlap may be reported that they exclude, and none is
missed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from time import process_time
from typing import TypeAlias

from fimlsp.lexing.automata.dfa import DEAD, CompactDfa, minimised, trimmed
from fimlsp.lexing.automata.leftmost_first import (
    NO_OBLIGATIONS,
    Accept,
    Again,
    Ahead,
    Behind,
    Bytes,
    Done,
    Obligation,
    Obligations,
    Program,
    Split,
)

Thread: TypeAlias = tuple[int, Obligations]
Threads = frozenset[Thread]
State = tuple[Threads, frozenset[int]]
"""Threads, and the steps that look-behinds have reached."""

Name = Callable[[frozenset[int]], str]


class TooManyStatesError(ValueError):
    """An automaton is too large."""


def limited(most_states: int, most_seconds: float) -> Callable[[int], None]:
    """A check that raises `TooManyStatesError` beyond so many states, or seconds of processor time."""
    until = process_time() + most_seconds

    def check(states: int) -> None:
        if states > most_states:
            raise TooManyStatesError(f"more than {most_states} states")
        if process_time() > until:
            raise TooManyStatesError(f"more than {most_seconds} seconds of processor time")

    return check


@dataclass(frozen=True, slots=True)
class WholeTexts:
    """An automaton, and the expressions that match texts of each of its kinds.

    Attributes:
        dfa: the automaton of all texts but the empty one.
        matching: for each kind the numbers of the expressions.
        empty: the numbers of those that match the empty text.
    """

    dfa: CompactDfa
    matching: Mapping[str, frozenset[int]] = field(hash=False)
    empty: frozenset[int]


def whole_texts(
    program: Program,
    starts: Sequence[int],
    mode: str,
    name: Name,
    check: Callable[[int], None],
    *,
    boundary: int | None = None,
    merges: bool = True,
) -> WholeTexts:
    """The automaton of the expressions that begin at the steps *starts*; it has one *mode*.

    The kind of a text is *name* of the numbers of the expressions that match it, which their `Accept` steps
    have. *check* receives the number of states from time to time, and may raise. A thread is at the step
    *boundary* whenever a character has ended; without it each byte may begin one, as in UTF-8. Unless it
    *merges* equivalent states, long chains take less time.
    """
    search = _Search(program, boundary)
    begin = search.begin(starts)
    numbers: dict[State | None, int] = {(frozenset(), frozenset()): DEAD, None: 1}
    pending = [(frozenset[Thread](), frozenset[int]()), begin]
    rows: list[tuple[int, ...]] = []
    for state in pending:
        row = [DEAD] * search.width
        for column, following in search.after(state):
            if following not in numbers:
                numbers[following] = len(numbers)
                pending.append(following)
            row[column] = numbers[following]
        rows.append(tuple(row))
        check(len(pending))
    matching = [search.matching(threads) for threads, _ in pending]
    empty, matching[1] = matching[1], frozenset()
    kinds = {name(of): of for of in matching if of}
    order = {kind: number for number, kind in enumerate(kinds)}
    accepts = [order[name(of)] if of else -1 for of in matching]
    make = minimised if merges else trimmed
    dfa = make(search.classes, rows, accepts, {mode: 1}, tuple(kinds), apart=1)
    return WholeTexts(dfa, kinds, empty)


class _Search:
    """The threads of a program after each class of bytes."""

    def __init__(self, program: Program, boundary: int | None) -> None:
        self._steps = program.steps
        self._look_behinds = program.look_behinds
        self._boundary = boundary
        self.classes, self._edges = _columns(program)
        self.width = max(self.classes) + 1
        self._bodies = self._reached({one.body for one in self._look_behinds})
        self._plain: dict[int, Threads | None] = {}
        self._known: dict[tuple[Threads, frozenset[int]], State] = {}

    def begin(self, starts: Sequence[int]) -> State:
        """The threads before any byte."""
        watched = self._bodies
        return self._closed([(step, NO_OBLIGATIONS) for step in starts], watched), watched

    def matching(self, threads: Threads) -> frozenset[int]:
        """The expressions that match a text that ends at *threads*."""
        found: set[int] = set()
        for number, obligations in threads:
            step = self._steps[number]
            if isinstance(step, Accept) and all(negative for negative, _ in obligations):
                found.add(step.kind)
        return frozenset(found)

    def after(self, state: State) -> Iterable[tuple[int, State]]:
        """The columns of bytes that may follow *state*, each with the next state."""
        threads, watched = state
        moved: dict[int, set[Thread]] = {}
        for number, obligations in threads:
            for column, target in self._edges.get(number, {}).items():
                kept = self._kept(obligations, column) if obligations else obligations
                if kept is not None:
                    moved.setdefault(column, set()).add((target, kept))
        for column, seeds in moved.items():
            following = self._following(frozenset(seeds), self._watched(watched, seeds, column))
            if following[0]:
                yield column, following

    def _following(self, seeds: Threads, watched: frozenset[int]) -> State:
        key = seeds, watched
        if key not in self._known:
            self._known[key] = self._closed(seeds, watched), watched
        return self._known[key]

    def _watched(self, watched: frozenset[int], seeds: set[Thread], column: int) -> frozenset[int]:
        if not self._look_behinds:
            return watched
        after = self._stepped(watched, column)
        if self._boundary is None or (self._boundary, NO_OBLIGATIONS) in seeds:
            return after | self._bodies
        return after

    def _kept(self, obligations: Obligations, column: int) -> Obligations | None:
        """The *obligations* that are still open after a byte of *column*; None if one has failed."""
        kept: set[Obligation] = set()
        for negative, reached in obligations:
            after = self._stepped(reached, column)
            done = self._is_done(after)
            if done if negative else not (done or after):
                return None
            if after and not done:
                kept.add((negative, after))
        return frozenset(kept)

    def _closed(self, seeds: Iterable[Thread], watched: frozenset[int]) -> Threads:
        """The threads at steps that read or accept, to which *seeds* lead without reading."""
        found: set[Thread] = set()
        waiting: list[Thread] = []
        for seed in seeds:
            plain = None if seed[1] else self._plain_from(seed[0])
            if plain is None:
                waiting.append(seed)
            else:
                found |= plain
        seen = set(waiting)
        while waiting:
            number, obligations = thread = waiting.pop()
            if isinstance(self._steps[number], Bytes | Accept):
                found.add(thread)
            fresh = [one for one in self._next(number, obligations, watched) if one not in seen]
            seen.update(fresh)
            waiting += fresh
        return frozenset(found)

    def _next(self, number: int, obligations: Obligations, watched: frozenset[int]) -> list[Thread]:
        match self._steps[number]:
            case Split(targets):
                return [(target, obligations) for target in targets]
            case Again(head, exit_):
                return [(head, obligations), (exit_, obligations)]
            case Behind(index, negative, target):
                matches = self._look_behinds[index].end in watched
                return [(target, obligations)] if matches != negative else []
            case Ahead(body, negative, target):
                reached = self._reached({body})
                if self._is_done(reached):
                    return [] if negative else [(target, obligations)]
                return [(target, obligations | {(negative, reached)})]
        return []

    def _plain_from(self, start: int) -> Threads | None:
        """The threads that *start* leads to without reading; None if a look-around is on the way."""
        if start not in self._plain:
            seen, waiting = {start}, [start]
            while waiting:
                step = self._steps[waiting.pop()]
                if isinstance(step, Ahead | Behind):
                    self._plain[start] = None
                    return None
                fresh = set(_targets(step)) - seen
                seen |= fresh
                waiting += fresh
            reading = (one for one in seen if isinstance(self._steps[one], Bytes | Accept))
            self._plain[start] = frozenset((one, NO_OBLIGATIONS) for one in reading)
        return self._plain[start]

    def _is_done(self, reached: frozenset[int]) -> bool:
        return any(isinstance(self._steps[one], Done) for one in reached)

    def _stepped(self, reached: frozenset[int], column: int) -> frozenset[int]:
        edges = (self._edges.get(number, {}) for number in reached)
        return self._reached({own[column] for own in edges if column in own})

    def _reached(self, steps: set[int]) -> frozenset[int]:
        """The steps of look-arounds that *steps* lead to without reading; they nest none."""
        seen, waiting = set(steps), list(steps)
        while waiting:
            fresh = set(_targets(self._steps[waiting.pop()])) - seen
            seen |= fresh
            waiting += fresh
        return frozenset(one for one in seen if isinstance(self._steps[one], Bytes | Done))


def _targets(step: object) -> tuple[int, ...]:
    if isinstance(step, Split):
        return step.targets
    return (step.head, step.exit) if isinstance(step, Again) else ()


def _columns(program: Program) -> tuple[bytes, dict[int, dict[int, int]]]:
    """The class of each byte, and for each step that reads the targets by class."""
    groups: dict[int, list[tuple[frozenset[int], int]]] = {}
    sets: dict[frozenset[int], None] = {}
    for number, step in enumerate(program.steps):
        if isinstance(step, Bytes):
            members: dict[int, set[int]] = {}
            for byte, target in step.table.items():
                members.setdefault(target, set()).add(byte)
            groups[number] = [(frozenset(own), target) for target, own in members.items()]
            sets |= dict.fromkeys(own for own, _ in groups[number])
    class_of: dict[tuple[int, ...], int] = {}
    signatures: list[list[int]] = [[] for _ in range(256)]
    for index, own in enumerate(sets):
        for byte in own:
            signatures[byte].append(index)
    classes = bytes(class_of.setdefault(tuple(signature), len(class_of)) for signature in signatures)
    columns = {own: {classes[byte] for byte in own} for own in sets}
    edges = {
        number: {column: target for own, target in several for column in columns[own]}
        for number, several in groups.items()
    }
    return classes, edges


@dataclass(frozen=True, slots=True)
class Overlaps:
    """For each kind, as bit sets.

    Attributes:
        same: the other kinds that match some text of it as a whole.
        beyond: for each other kind that may go on after a text of it, the bytes it goes on with.
    """

    same: tuple[int, ...]
    beyond: tuple[dict[int, int], ...] = field(hash=False)


def overlaps(
    program: Program, starts: Sequence[int], ends: Sequence[int], check: Callable[[int], None]
) -> Overlaps:
    """The overlaps of the expressions that start at the steps *starts*.

    The steps of each were added to *program* one after the other, up to *ends*. *check* receives the number
    of states from time to time, and may raise.
    """
    search = _Joint(program, ends)
    same = [0] * len(starts)
    beyond: list[dict[int, int]] = [{} for _ in starts]
    begin = search.reached(starts)
    seen, pending = {begin}, [begin]
    for state in pending:
        check(len(pending))
        going_on: dict[int, int] = {}
        targets: dict[int, set[int]] = {}
        accepting = 0
        for number in state:
            step = program.steps[number]
            if isinstance(step, Accept):
                accepting |= 1 << step.kind
            elif isinstance(step, Bytes):
                owner = search.owner(number)
                going_on[owner] = going_on.get(owner, 0) | search.bits(number, step.table)
                for byte, target in step.table.items():
                    targets.setdefault(byte, set()).add(target)
        for kind in range(accepting.bit_length()):
            if accepting >> kind & 1:
                same[kind] |= accepting & ~(1 << kind)
                for other, bits in going_on.items():
                    if other != kind:
                        beyond[kind][other] = beyond[kind].get(other, 0) | bits
        for reached in {frozenset(several) for several in targets.values()}:
            following = search.reached(reached)
            if following not in seen:
                seen.add(following)
                pending.append(following)
    return Overlaps(tuple(same), tuple(beyond))


def first_bytes(program: Program, start: int) -> int:
    """The bytes that texts of the expression from the step *start* on may start with, as a bit set."""
    steps = (program.steps[number] for number in _Joint(program, ()).reached([start]))
    return reduce(or_, (_bits(step.table) for step in steps if isinstance(step, Bytes)), 0)


def _bits(table: dict[int, int]) -> int:
    return sum(1 << byte for byte in table)


class _Joint:
    """The steps of a program, without the conditions of its look-arounds."""

    def __init__(self, program: Program, ends: Sequence[int]) -> None:
        self._steps = program.steps
        self._ends = ends
        self._known: dict[int, int] = {}

    def owner(self, number: int) -> int:
        """The expression that step *number* belongs to."""
        return bisect_right(self._ends, number)

    def bits(self, number: int, table: dict[int, int]) -> int:
        """The bytes that step *number* reads."""
        bits = self._known.get(number)
        if bits is None:
            bits = self._known[number] = _bits(table)
        return bits

    def reached(self, steps: Sequence[int] | frozenset[int]) -> frozenset[int]:
        """The steps that read or accept, to which *steps* lead without reading."""
        waiting, seen = list(steps), set(steps)
        while waiting:
            match self._steps[waiting.pop()]:
                case Split(targets):
                    following: Sequence[int] = targets
                case Again(head, exit_):
                    following = (head, exit_)
                case Ahead(_, _, target) | Behind(_, _, target):
                    following = (target,)
                case _:
                    following = ()
            waiting.extend(set(following) - seen)
            seen.update(following)
        return frozenset(one for one in seen if isinstance(self._steps[one], Bytes | Accept))
