"""The DFA of a backtracking matcher, which finds the first of several matches, not the longest.

Regular expressions are first compiled to a program, a list of steps. Where a program can continue in several
ways, it prefers the earlier one (Cox, "Regular Expression Matching: the Virtual Machine Approach", 2009,
after Pike and Thompson).

The states of the subset construction are lists of threads, in the order of preference. A thread that accepts
cuts off those after it. So the longest prefix that the DFA accepts is the match of the backtracking search,
as in RE2 (Cox, "Regular Expression Matching in the Wild", 2010).

Look-behinds run beside the threads and start anew at every character. A look-ahead is an obligation of its
thread. A lexeme is accepted although an obligation may still fail. If it then fails, a longer lexeme of the
kind *rejected* replaces the accepted one and reports that nothing matched.

The matcher would fall back to an earlier, shorter match there. So a second lexer starts anew after each match
and runs beside the first (`Rest`). If it cannot read the text, nothing is lost. If the shorter match is
ignored, the second lexer takes over, with ignored text at the start of its lexeme. Otherwise the first has to
match wherever the second does; other expressions are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from fimlsp.lexing.automata.dfa import DEAD, CompactDfa, minimised
from fimlsp.lexing.automata.regex import Choice, Many, OneByte, Range, Regex, code_points
from fimlsp.lexing.automata.regex import Sequence as Concatenation


class ProgramTooLargeError(ValueError):
    """The program of a regular expression has too many steps."""


@dataclass(frozen=True, slots=True)
class Bytes:
    """Read one byte; `table` maps each byte that is possible to the next step."""

    table: dict[int, int] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Split:
    """Continue with any of `targets`, preferring earlier ones; without targets, fail."""

    targets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Again:
    """The end of a loop's body: repeat from `head`, or continue with `exit` if the body read nothing."""

    head: int
    exit: int


@dataclass(frozen=True, slots=True)
class Accept:
    """The lexeme ends here and is of `kind`."""

    kind: int


@dataclass(frozen=True, slots=True)
class Done:
    """The end of a look-around or of a watched word."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """Continue with `target` if the text from here matches the program at `body`; `negative` inverts it."""

    body: int
    negative: bool
    target: int


@dataclass(frozen=True, slots=True)
class Behind:
    """Continue with `target` if the text up to here matches look-behind `number`; `negative` inverts it."""

    number: int
    negative: bool
    target: int


Step: TypeAlias = Bytes | Split | Again | Accept | Done | Ahead | Behind


@dataclass(slots=True)
class LookBehind:
    """A look-behind of exactly `width` characters: its program from `body` to the step `end`."""

    width: int
    body: int
    end: int


class Program:
    """The steps of all lexemes of a language. Steps are added from the end of an expression to its start.

    `look_behinds` are the look-behinds of all expressions, which run beside them. At most *most* steps are
    allowed.
    """

    def __init__(self, most: int) -> None:
        self.steps: list[Step] = []
        self.look_behinds: list[LookBehind] = []
        self._most = most
        self._readers: dict[tuple[Sequence[Range], int], int] = {}

    def add(self, step: Step) -> int:
        """Add a step; returns its number.

        Raises:
            ProgramTooLargeError: The program has too many steps.
        """
        if len(self.steps) >= self._most:
            raise ProgramTooLargeError(f"more than {self._most} steps")
        self.steps.append(step)
        return len(self.steps) - 1

    def choice(self, targets: Iterable[int]) -> int:
        """Any of *targets*, preferring earlier ones."""
        return self.add(Split(tuple(targets)))

    def character(self, ranges: tuple[Range, ...], target: int) -> int:
        """Read one character of the ascending *ranges*, then continue with *target*."""
        key = ranges, target
        if key not in self._readers:
            self._readers[key] = self._reader(code_points(ranges), target, {})
        return self._readers[key]

    def _reader(self, regex: Regex, target: int, known: dict[int, int]) -> int:
        """A step that reads *regex*, a tree of `code_points`, whose branches differ in their first bytes."""
        if id(regex) not in known:
            table: dict[int, int] = {}
            for members, rest in _branches(regex):
                after = target if rest is None else self._reader(rest, target, known)
                table.update(dict.fromkeys(members, after))
            known[id(regex)] = self.add(Bytes(table))
        return known[id(regex)]


def _branches(regex: Regex) -> Iterable[tuple[frozenset[int], Regex | None]]:
    match regex:
        case Choice(options):
            for option in options:
                yield from _branches(option)
        case Concatenation((OneByte(members), Concatenation(()))):
            yield members, None
        case Concatenation((OneByte(members), rest)):
            yield members, rest
        case Concatenation() | OneByte() | Many():
            raise AssertionError("not a tree of code points")


NOTHING = -1
"""The kind of a state that accepts nothing."""
_START = -2


_TOO_EARLY = "looks ahead of its end, where another match is possible too"


class LookAroundError(ValueError):
    """A look-around that no automaton can decide; `kind` is the kind of lexeme that has it."""

    def __init__(self, kind: int, why: str) -> None:
        super().__init__(why)
        self.kind = kind


END_OF_TEXT = 1 << 256
"""The bit for the end of a text among bits for bytes."""

Obligation = tuple[bool, frozenset[int]]
"""An undecided look-ahead: its sign (True for a negative one), and the steps that it has reached."""

Obligations = frozenset[Obligation]
NO_OBLIGATIONS: Obligations = frozenset()


@dataclass(frozen=True, slots=True)
class Thread:
    """A place in the program, with the look-aheads that still have to come true.

    A thread at an `Accept` has matched and waits for its obligations; it is `contested` if there would be
    another match without it.
    """

    step: int
    obligations: Obligations = NO_OBLIGATIONS
    contested: bool = False


@dataclass(frozen=True, slots=True)
class ThreadList:
    """A state of the subset construction.

    `threads` are in the order of preference, and `watched` are the steps of look-behinds and watched words.
    `read` is the number of characters so far, counted only as far as look-behinds reach. `rest` reads the
    text after the last certain match; None if there was none, or if no text can go on like that. `fell_back`
    is True if a later match has failed, so that a matcher would be where `rest` is.
    """

    threads: tuple[Thread, ...] = ()
    watched: frozenset[int] = frozenset()
    read: int = 0
    rest: Rest | None = None
    fell_back: bool = False


@dataclass(frozen=True, slots=True)
class Rest:
    """A lexer that started anew after a match: its state, and the kind that this accepts.

    `skips` is True if that match is ignored.
    """

    state: ThreadList
    kind: int
    skips: bool


_EMPTY = ThreadList()
_GOES_ON = Rest(_EMPTY, NOTHING, False)
"""A rest with which some text may go on, in whichever way."""


@dataclass(frozen=True, slots=True)
class Lexemes:
    """The input of the compiler: a program, and for each kind the words that belong to another kind.

    `starts` are the first steps of the kinds, in the order of preference, and `names` their names. `words`
    maps a kind to watched words, each as its first step, its last step, and its kind. `rejected` is the kind
    of text that is never valid. `after` are the bytes that may follow a lexeme of each kind, as bit sets,
    with `END_OF_TEXT` if it may be the last. Of kinds that are missing, all may. A lexeme may begin with text
    of the kinds `ignored`. If `others` is true, unknown lexemes may follow as well.
    """

    program: Program
    starts: tuple[int, ...]
    names: tuple[str, ...]
    words: Mapping[int, Sequence[tuple[int, int, int]]] = field(hash=False)
    rejected: int
    after: Mapping[int, int] = field(default_factory=dict, hash=False)
    ignored: frozenset[int] = frozenset()
    others: bool = False


def leftmost_first(lexemes: Lexemes, mode: str, check: Callable[[int], None]) -> CompactDfa:
    """The minimal DFA of *lexemes*, with one start state for *mode*.

    *check* receives the number of states from time to time, and may raise to stop the construction.

    Raises:
        LookAroundError: A look-around needs more than an automaton can know.
    """
    return _Subsets(lexemes, check).build(mode)


class _Subsets:
    def __init__(self, lexemes: Lexemes, check: Callable[[int], None]) -> None:
        self.lexemes = lexemes
        self.check = check
        self.steps = lexemes.program.steps
        self.look_behinds = lexemes.program.look_behinds
        self.widest = max((one.width for one in self.look_behinds), default=0)
        self.looking = self._before_look_aheads()
        self.always = self._reached({one.body for one in self.look_behinds})
        self.kind_of: dict[int, int] = {
            n: step.kind for n, step in enumerate(self.steps) if isinstance(step, Accept)
        }
        self.closures: dict[int, frozenset[int]] = {}
        self._class_bits: dict[int, int] = {}
        self.first = _EMPTY

    def build(self, mode: str) -> CompactDfa:
        """Make all states, then merge equivalent ones."""
        classes, members = _byte_classes(self.steps)
        alike: dict[int, int] = {}
        for byte, own in enumerate(classes):
            alike[own] = alike.get(own, 0) | 1 << byte
        self._class_bits = {byte: alike[classes[byte]] for byte in members}
        words = {first for watched in self.lexemes.words.values() for first, *_ in watched}
        watched = self._reached(words) | self.always
        start = self._closed([(Thread(step), False) for step in self.lexemes.starts], watched, 0)
        first = self.first = ThreadList(start[0], watched)
        # At the start nothing has been read, so it must differ from all states within a lexeme.
        numbers = {(_EMPTY, NOTHING): DEAD, (first, _START): 1}
        pending = [(_EMPTY, NOTHING), (first, _START)]
        rows: list[tuple[int, ...]] = []
        for state, kind in pending:
            row = []
            for byte in members:
                following = self._after(state, kind, byte)
                if following not in numbers:
                    numbers[following] = len(numbers)
                    pending.append(following)
                row.append(numbers[following])
            rows.append(tuple(row))
            self.check(len(pending))
        accepts = [max(kind, NOTHING) for _, kind in pending]
        return minimised(classes, rows, accepts, {mode: 1}, self.lexemes.names, apart=1)

    def _after(
        self, state: ThreadList, accepted: int, byte: int, *, is_rest: bool = False
    ) -> tuple[ThreadList, int]:
        """The state after *byte*, and the kind that it accepts; *state* accepts the kind *accepted*.

        Beside another lexer (*is_rest*) no third one runs.
        """
        if not state.threads:
            return _EMPTY, NOTHING
        moved, revoked, is_certain = self._moved(state, byte)
        rest = self._rest_after(state, accepted, byte, is_certain) if self.looking else None
        if is_rest and rest is not None:
            rest = _GOES_ON
        begins = byte < 0x80 or byte >= 0xC0
        read = min(self.widest, state.read + begins)
        watched = self._stepped(state.watched, byte) | self.always
        threads, kind = self._closed(moved, watched, read)
        if kind == NOTHING and revoked is not None:
            if rest is not None and rest.skips and not threads and not revoked.contested:
                return rest.state, rest.kind if rest.kind >= 0 else self.lexemes.rejected
            self._check_rest(_GOES_ON if revoked.contested else rest, revoked, threads)
            kind = self.lexemes.rejected
            fell_back = rest is not None
        else:
            fell_back = state.fell_back and kind == NOTHING and rest is not None
            if fell_back:
                self._check_rest(rest, state.threads[0], threads)
        if not threads:
            return _EMPTY, kind
        if not fell_back and not any(one.obligations or one.step in self.looking for one in threads):
            rest = None
        return ThreadList(threads, watched, read, rest, fell_back), kind

    def _check_rest(self, rest: Rest | None, thread: Thread, threads: Sequence[Thread]) -> None:
        """Refuse the kind of *thread* if a text may go on with *rest*, unless *threads* match it too."""
        if rest is None:
            return
        if rest is _GOES_ON or not threads or self._accepts(rest.kind):
            raise LookAroundError(self._kind_ahead(thread.step), _TOO_EARLY)

    def _accepts(self, kind: int) -> bool:
        return kind >= 0 and kind != self.lexemes.rejected

    def _rest_after(self, state: ThreadList, accepted: int, byte: int, is_certain: bool) -> Rest | None:
        """The rest after the last certain match of *state*, which accepts the kind *accepted*, and *byte*.

        If that kind depends on the text ahead, it *is_certain* or not after *byte*.
        """
        waits = any(thread.step in self.kind_of for thread in state.threads)
        if self._accepts(accepted) and (is_certain or not waits):
            if self.lexemes.others:
                return _GOES_ON
            if not self.lexemes.after.get(accepted, -1) & self._class_bits[byte]:
                return None
            return self._moved_on(Rest(self.first, _START, accepted in self.lexemes.ignored), byte)
        if is_certain:
            return _GOES_ON  # it matched several bytes ago
        rest = state.rest
        return rest if rest is None or rest is _GOES_ON else self._moved_on(rest, byte)

    def _moved_on(self, rest: Rest, byte: int) -> Rest | None:
        """*rest* after *byte*; None if no text can go on like that."""
        try:
            following, kind = self._after(rest.state, rest.kind, byte, is_rest=True)
        except LookAroundError:
            return _GOES_ON
        if self._accepts(rest.kind):
            waits = any(thread.step in self.kind_of for thread in rest.state.threads)
            if not waits or kind == NOTHING:
                return _GOES_ON
        if not following.threads and not self._accepts(kind):
            return None
        return Rest(following, kind, rest.skips)

    def _before_look_aheads(self) -> frozenset[int]:
        """The steps from which a look-ahead can be reached."""
        before: dict[int, list[int]] = {}
        for number, step in enumerate(self.steps):
            for target in _targets(step):
                before.setdefault(target, []).append(number)
        waiting = [number for number, step in enumerate(self.steps) if isinstance(step, Ahead)]
        seen = set(waiting)
        while waiting:
            fresh = set(before.get(waiting.pop(), ())) - seen
            seen |= fresh
            waiting += fresh
        return frozenset(seen)

    def _moved(self, state: ThreadList, byte: int) -> tuple[list[tuple[Thread, bool]], Thread | None, bool]:
        """The threads after *byte*, not yet followed, and a match whose look-ahead has failed.

        Each thread comes with True if it has matched before and still waits. The last result is True if a
        match that waited has become certain.
        """
        moved: list[tuple[Thread, bool]] = []
        revoked: Thread | None = None
        waits = False
        for thread in state.threads:
            obligations = self._kept(thread.obligations, byte)
            step = self.steps[thread.step]
            if isinstance(step, Bytes):
                target = None if obligations is None else step.table.get(byte)
                if obligations is not None and target is not None:
                    moved.append((Thread(target, obligations), False))
            elif obligations is None:
                revoked = revoked if revoked or waits else thread
            else:
                if revoked is not None and self.kind_of[revoked.step] != self.kind_of[thread.step]:
                    raise LookAroundError(self.kind_of[revoked.step], _TOO_EARLY)
                revoked, waits = None, True
                if not obligations:
                    return moved, None, True  # it has matched, so later threads do not count
                moved.append((Thread(thread.step, obligations, thread.contested), True))
        return moved, revoked, False

    def _kept(self, obligations: Obligations, byte: int) -> Obligations | None:
        """The *obligations* that are still open after *byte*; None if one has failed."""
        if not obligations:
            return obligations
        kept = set[Obligation]()
        for negative, reached in obligations:
            after = self._stepped(reached, byte)
            done = any(isinstance(self.steps[step], Done) for step in after)
            if done and negative:
                return None
            if not done and after:
                kept.add((negative, after))
            elif not done and not negative:
                return None
        return frozenset(kept)

    def _closed(
        self, moved: Sequence[tuple[Thread, bool]], watched: frozenset[int], read: int
    ) -> tuple[tuple[Thread, ...], int]:
        """The threads that *moved* lead to without reading, and the kind accepted there."""
        threads: dict[Thread, None] = {}
        label = NOTHING
        waits = False
        for seed, is_matched in moved:
            if is_matched:
                threads[seed] = None
                waits = True
                continue
            for thread in self._followed(seed, watched, read, threads):
                if thread.step not in self.kind_of:
                    threads[thread] = None
                    continue
                if label == NOTHING:
                    if waits:
                        raise LookAroundError(self.kind_of[thread.step], _TOO_EARLY)
                    label = self._kind(thread.step, watched)
                if not thread.obligations:
                    return tuple(map(self._contested, threads)), label
                if not self._fails_in_time(thread):
                    raise LookAroundError(self.kind_of[thread.step], "looks at the text after its end")
                threads[thread] = None
        return tuple(threads), label

    def _fails_in_time(self, thread: Thread) -> bool:
        """True if the match *thread* can only become wrong by a character after it.

        Negative look-aheads do. A positive one does if it wants one character, and a lexeme of this kind is
        never the last of a text.
        """
        wanted = [reached for negative, reached in thread.obligations if not negative]
        may_be_last = self.lexemes.after.get(self.kind_of[thread.step], -1) & END_OF_TEXT
        return not wanted or not (may_be_last or any(map(self._reads_more, wanted)))

    def _reads_more(self, reached: frozenset[int]) -> bool:
        """True if the steps *reached* of a look-ahead may read more than one character."""
        waiting = [(number, False) for number in reached]
        while waiting:
            number, is_inside = waiting.pop()
            step = self.steps[number]
            if isinstance(step, Bytes):
                if is_inside and any(not 0x80 <= byte < 0xC0 for byte in step.table):
                    return True
                waiting += [(target, True) for target in self._reached(set(step.table.values()))]
        return False

    def _contested(self, thread: Thread) -> Thread:
        """*thread*, marked as contested if it waits, because another thread matches as well."""
        waits = thread.step in self.kind_of
        return Thread(thread.step, thread.obligations, contested=True) if waits else thread

    def _kind(self, accept: int, watched: frozenset[int]) -> int:
        """The kind of a lexeme that ends at *accept*: perhaps that of a word."""
        kind = self.kind_of[accept]
        for _, last, other in self.lexemes.words.get(kind, ()):
            if last in watched:
                return other
        return kind

    def _followed(
        self, seed: Thread, watched: frozenset[int], read: int, known: Mapping[Thread, None]
    ) -> Iterator[Thread]:
        """The threads that *seed* leads to without reading: at steps that read or accept, best first."""
        stack: list[tuple[int, Obligations, frozenset[int]]] = [(seed.step, seed.obligations, frozenset())]
        visited = {(thread.step, thread.obligations) for thread in known}
        while stack:
            number, open_, entered = stack.pop()
            if (number, open_) in visited:
                continue
            step = self.steps[number]
            if not isinstance(step, Again):
                visited.add((number, open_))
            match step:
                case Bytes() | Accept() | Done():
                    yield Thread(number, open_)
                case Split(targets):
                    inside = entered | {number}
                    stack.extend((target, open_, inside) for target in reversed(targets))
                case Again(head, exit_):
                    stack.append((exit_ if head in entered else head, open_, entered))
                case Ahead(body, negative, target):
                    reached = self._reached({body})
                    done = any(isinstance(self.steps[one], Done) for one in reached)
                    if not done:
                        stack.append((target, open_ | {(negative, reached)}, entered))
                    elif not negative:
                        stack.append((target, open_, entered))
                case Behind(index, negative, target):
                    if self.look_behinds[index].width > read:
                        raise LookAroundError(self._kind_ahead(target), "looks at the text before it")
                    if (self.look_behinds[index].end in watched) != negative:
                        stack.append((target, open_, entered))

    def _kind_ahead(self, start: int) -> int:
        """The kind of the lexeme that the step *start* is in."""
        waiting, seen = [start], {start}
        while waiting:
            step = self.steps[waiting.pop()]
            if isinstance(step, Accept):
                return step.kind
            targets = _targets(step)
            waiting.extend(set(targets) - seen)
            seen.update(targets)
        return NOTHING

    def _stepped(self, reached: frozenset[int], byte: int) -> frozenset[int]:
        targets = set[int]()
        for number in reached:
            step = self.steps[number]
            if isinstance(step, Bytes) and byte in step.table:
                targets.add(step.table[byte])
        return self._reached(targets)

    def _reached(self, steps: set[int]) -> frozenset[int]:
        """The steps that *steps* lead to without reading, in no order; programs of look-arounds nest none."""
        waiting, seen = list(steps), set(steps)
        while waiting:
            step = self.steps[waiting.pop()]
            targets = step.targets if isinstance(step, Split) else ()
            if isinstance(step, Again):
                targets = (step.head, step.exit)
            waiting.extend(set(targets) - seen)
            seen.update(targets)
        return frozenset(n for n in seen if isinstance(self.steps[n], Bytes | Done | Accept))


def _targets(step: Step) -> Sequence[int]:
    """The steps that may follow *step*, without those of the body of a look-ahead."""
    match step:
        case Bytes(table):
            return tuple(table.values())
        case Split(several):
            return several
        case Again(head, exit_):
            return head, exit_
        case Ahead() | Behind():
            return (step.target,)
        case Accept() | Done():
            return ()


def _byte_classes(steps: Sequence[object]) -> tuple[bytes, list[int]]:
    """The class of each byte, and one byte of each class: bytes of a class lead to the same steps."""
    tables = [step.table for step in steps if isinstance(step, Bytes)]
    classes: dict[tuple[object, ...], int] = {}
    class_of = bytearray()
    members: list[int] = []
    for byte in range(256):
        leads = 0 if byte < 0x80 else 1 if byte >= 0xC0 else 2
        signature = (leads, *(table.get(byte) for table in tables))
        if signature not in classes:
            classes[signature] = len(classes)
            members.append(byte)
        class_of.append(classes[signature])
    return bytes(class_of), members
