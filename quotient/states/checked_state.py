"""The state of a middle in a language that checks whole texts, beyond its grammar.

A middle that is certainly wrong is refused as it is written. The rest can be judged only when the whole text
is known. So a state is complete exactly if the check accepts the whole text. Where it does not, the shortest
completion is the first one that the check accepts.

`TextSides` holds the text on both sides of a middle. It tells apart faults of one side alone, faults that the
middle causes, and faults of every middle.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from fimlsp.quotient.language.contract import Fault, Language, Verdict, WholeTextCheck
from fimlsp.quotient.states.fault_repairs import FIRST_TRIES, UNCOMMON_TRIES, FaultRepairs
from fimlsp.quotient.states.grammar_state import GrammarState
from fimlsp.quotient.states.protocol import State
from fimlsp.quotient.states.shortest_completion import completions_of

if TYPE_CHECKING:
    from fimlsp.quotient.masks.mask import ParserState
    from fimlsp.quotient.masks.vocabulary import Bitmask, BoolMask, Vocabulary


_LOOKED_BACK = 220


class CheckedState:
    """A state of a middle with the text that led to it. Immutable, as all states."""

    __slots__ = (
        "_complete",
        "_completion",
        "_faultless",
        "_line",
        "fine",
        "sides",
        "spells",
        "state",
        "text",
    )

    def __init__(
        self, sides: TextSides, state: State, text: bytes = b"", line: int = 0, *, fine: bool = False
    ) -> None:
        self.sides = sides
        self.state = state
        self.text = text
        self.fine = fine  # True in the finer language
        self.spells = sides.spells  # True if a lexeme may be wrong before it ends
        self._line = line  # start of the statement in the text; 0 if it may start before
        self._complete: bool | None = None
        self._completion: bytes | None = None
        self._faultless: tuple[int, int] | None = None  # `_brackets` of the last complete state

    @property
    def unchecked(self) -> State:
        """As in `PartlyChecked`."""
        return self.state

    def feed(self, data: bytes) -> CheckedState | None:
        """As in `State`."""
        following = self._fed(data)
        if following is not None:
            following._faultless = self._brackets if self._complete else self._faultless
        return following

    def _fed(self, data: bytes) -> CheckedState | None:
        state = self.state.feed(data)
        if state is None:
            return None
        if isinstance(state, GrammarState) and isinstance(self.state, GrammarState):
            return self._checked(state, data, in_lexeme=state.chart is self.state.chart)
        return CheckedState(self.sides, state, self.text + data, self._line, fine=self.fine)

    def _checked(self, state: GrammarState, data: bytes, *, in_lexeme: bool) -> CheckedState | None:
        """The checked *state* after *data*, where no symbol ended if *in_lexeme*; None if certainly wrong."""
        text, fine, becomes_finer = self.text + data, self.fine, False
        if not fine and self._needs_finer(state, text, 0 if in_lexeme else len(data)):
            finer = self._in_finer(text)
            if finer is None:
                return None
            becomes_finer = True
            if not self.sides.stays:  # a middle that stays never waits for a later repair
                fine, state = True, finer
        longer = self.sides.check.halves.get(text[-1:])
        is_half = longer is not None and (state.feed(b" ") is None or not _goes_on(state, longer))
        is_spelt = self.spells or self.sides.check.is_within(state.lexer)
        if in_lexeme and not is_half and not becomes_finer and not is_spelt:
            return CheckedState(self.sides, state, text, self._line, fine=fine)
        statement = self._statement_with(text)
        spelt_after = self.sides.check.spelt_after
        spells = is_spelt or any(word in text or word in statement for word in spelt_after)
        is_first = spells and len(statement.lstrip()) <= len(data)  # the statement may have ended a block
        is_suspect = is_half or is_first or self.sides.suspects(statement, len(data))
        if is_suspect and self._is_refused(state, data):
            return None
        line = self._line
        if not state.lexer.modes.depth:
            line = max(line, text.rfind(b"\n", len(self.text)) + 1)
        following = CheckedState(self.sides, state, text, line, fine=fine)
        following.spells = spells
        return following

    def _statement_with(self, text: bytes) -> bytes:
        """The cursor's statement with *text*, which starts as the text of this state."""
        return text[self._line :] if self._line else self.sides.statement + text

    @property
    def _brackets(self) -> tuple[int, int] | None:
        """The length of the text, and the number of brackets open at its end; None if there are none."""
        if not isinstance(self.state, GrammarState):
            return None
        lexer = self.state.lexer
        lexical, modes = lexer.lexical, lexer.modes
        last = lexical.kinds[lexer.accepted] if lexer.accepted >= 0 else ""
        if last in lexical.brackets or last in lexical.brackets.values():
            modes = modes.after(last) or modes
        return (len(self.text), modes.depth) if modes.depth else None

    def _in_finer(self, text: bytes) -> GrammarState | None:
        """The state after *text* in the finer language; None if it is refused there."""
        finer = self.sides.finer_start(text)
        reached = finer and finer.feed(text)
        return reached if isinstance(reached, GrammarState) else None

    def _needs_finer(self, state: GrammarState, text: bytes, fresh: int) -> bool:
        """True if the last *fresh* bytes of *text* made words that the finer language may reject."""
        if not state.must_become_place_word:
            if not fresh:
                return False
            size = fresh + _LOOKED_BACK
            tail = (text if len(text) >= size else self.sides.statement + text)[-size:]
            if not state.connection.tables.language.needs_finer_after(tail, len(tail) - fresh):
                return False
        return not (self.sides.lenient and self.sides.finer_start(text) is None)

    def _is_refused(self, state: GrammarState, data: bytes) -> bool:
        """As `_is_wrong` for the text of this state and *data*, without a completion where that suffices."""
        text, verdict = self.text + data, self._verdict(data)
        if verdict is Verdict.UNKNOWN:
            verdict = self.sides.check.verdict(self.sides.left, text, state.lexer, b"")
        if verdict is Verdict.UNKNOWN or (verdict is Verdict.FINE and self.sides.stays):
            return self._is_wrong(state, text)  # text on the right binds a middle that stays
        return verdict is Verdict.WRONG

    def _verdict(self, data: bytes) -> Verdict:
        """The early verdict on the text of this state and *data*."""
        if not isinstance(self.state, GrammarState):
            return Verdict.UNKNOWN
        return self.sides.check.verdict(self.sides.left, self.text, self.state.lexer, data)

    def _is_wrong(self, state: GrammarState, text: bytes) -> bool:
        """True if *text*, which led to *state*, has a fault that no later text repairs."""
        completion = self._mended(state, text, state.shortest_completion)
        faults = self.sides.all_faults(text + completion)
        if state.lexer.modes.depth:  # the contents of brackets may become a part of something else
            faults = [fault._replace(together=False) for fault in faults]
        if any(self.sides.is_caused(fault, text, completion) for fault in faults):
            return True
        text_end = len(self.sides.left) + len(text)
        at_end = [fault for fault in faults if any(end == text_end for _, end in fault.spans)]
        longer = self.sides.check.halves.get(text[-1:])
        if not at_end or longer is None or _goes_on(state, longer):
            return False
        return any(self.sides.is_caused(fault, text, completion, ended=True) for fault in at_end)

    @property
    def complete(self) -> bool:
        """As in `State`."""
        if self._complete is None:
            self._complete = self.state.complete and (self._stays_faultless or not self._faults(b""))
        return self._complete

    @property
    def _stays_faultless(self) -> bool:
        """True if the last complete text before this one has no fault, and the text since adds none."""
        brackets, known = self._brackets, self._faultless
        if known is None or brackets is None or known[1] != brackets[1]:
            return False
        statement = self._statement_with(self.text)
        return self.sides.check.keeps_faultless(statement, brackets[0] - known[0], self.sides.right)

    def _faults(self, completion: bytes) -> Sequence[Fault]:
        return self.sides.faults(self.text + completion)

    def mask(self, vocabulary: Vocabulary) -> Bitmask:
        """As in `State`."""
        return vocabulary.mask(self.allowed_texts(vocabulary), complete=self.complete)

    def allowed_texts(self, vocabulary: Vocabulary) -> BoolMask:
        """As in `State`. The check reads each text that the grammar allows if the text ends a symbol."""
        from fimlsp.quotient.masks.mask import allowed_by_both
        from fimlsp.quotient.masks.vocabulary import recheck

        state = self.state
        if isinstance(state, GrammarState):
            return allowed_by_both(state, vocabulary, self._is_checked_within_symbols, self._admits)
        allowed = state.allowed_texts(vocabulary)
        numbers = [number for number, may_come in enumerate(allowed.tolist()) if may_come]
        return recheck(vocabulary, None, numbers, self._admits)

    def _admits(self, text: bytes) -> bool:
        """True if the check admits *text*, which the grammar allows."""
        verdict = self._verdict(text)
        if verdict is Verdict.WRONG:
            return False
        return self._is_certainly_fine(text, verdict) or self.feed(text) is not None

    def _is_certainly_fine(self, data: bytes, verdict: Verdict) -> bool:
        """True if `feed` would not refuse *data* after this *verdict*, whatever its lexemes. Quick."""
        state, check, text = self.state, self.sides.check, self.text + data
        if not isinstance(state, GrammarState) or state.connection.tables.grammar.place_words:
            return False  # the need of the finer language depends on the lexemes
        statement = self._statement_with(text)
        if not self.fine and state.connection.tables.language.needs_finer_after(statement):
            return False
        if verdict is Verdict.FINE and not self.sides.stays:
            return True
        if text[-1:] in check.halves or self.sides.suspects(statement, len(data)):
            return False
        spells = self.spells or any(word in statement for word in check.spelt_after)
        return not spells or len(statement.lstrip()) > len(data)

    def _is_checked_within_symbols(self, state: ParserState) -> bool:
        """True if more than the grammar decides about *state*, which follows this one without a symbol."""
        assert isinstance(state, GrammarState)
        if self.spells or self.sides.check.is_within(state.lexer):
            return True
        return not self.fine and state.must_become_place_word

    @property
    def shortest_completion(self) -> bytes:
        """As in `State`. If the check accepts none of the tried completions, the shortest of all."""
        if self._completion is None:
            plain = likely_completions(self.state)
            texts = chain(islice(plain, FIRST_TRIES), self._with_sides_repaired(), plain, self._repaired())
            mended = (self._mended(self.state, self.text, text) for text in texts)
            accepted = next((text for text in mended if not self._faults(text)), None)
            self._completion = self.state.shortest_completion if accepted is None else accepted
        return self._completion

    def _mended(self, state: State, text: bytes, completion: bytes) -> bytes:
        """The *completion* of *state* after *text* in the words that the check proposes, if these fit."""
        mended = self.sides.check.mended(self.sides.left + text, completion, self.sides.right)
        if mended == completion:
            return completion
        reached = state.feed(mended)
        return mended if reached is not None and reached.complete else completion

    def _with_sides_repaired(self) -> Iterator[bytes]:
        """Completions that repair the faults of the two sides, if there are no others."""
        if isinstance(self.state, GrammarState):
            faults = self._faults(self.state.shortest_completion)
            if all(fault.repaired_by or fault.repaired_before for fault in faults):
                yield from self._repairs(self.state).repairing(faults)

    def _repaired(self) -> Iterator[bytes]:
        if isinstance(self.state, GrammarState):
            yield from self._repairs(self.state).completions(self._faults(self.state.shortest_completion))

    def _repairs(self, state: GrammarState) -> FaultRepairs:
        sides = self.sides
        return FaultRepairs(
            sides.check, state, sides.left + self.text, self._statement_with(self.text), sides.right
        )


def _goes_on(state: State, longer: bytes) -> bool:
    """True if one of the bytes *longer* may come next."""
    return any(state.feed(bytes((byte,))) is not None for byte in longer)


def checked(sides: TextSides, finer: State | None = None) -> CheckedState | None:
    """The first state of a middle between *sides*; None if these are wrong by themselves.

    It continues in the finer language if *finer* is its first state there.
    """
    first = CheckedState(sides, finer or sides.start, fine=finer is not None)
    if sides.lenient:
        return first
    if first.feed(b"") is None:  # the text before is half a word that cannot become one here
        return None
    completion = first.state.shortest_completion
    given = [
        fault
        for fault in sides.all_faults(completion)
        if sides.is_given(fault, completion) or sides.is_caused(fault, b"", completion)
    ]
    may_be_repaired = all(fault.is_repaired_at(len(sides.left)) for fault in given)
    return first if may_be_repaired and not (given and sides.faults(first.shortest_completion)) else None


_MORE_TRIES, _SIDE_TRIES = 60, 60
_NONE = frozenset[Fault]()
_LINE_OF_FILE = re.compile(rb"\n[^\s#)\]}]")
"""The start of a line that is in no block, unless it is in a string."""


class FinerLanguage(NamedTuple):
    """The finer language (see `Language.finer`) at a cursor.

    `language` gives the finer language of files with a beginning, and `start` its first state at the cursor.
    `is_needed_before` is True if the finer language may reject more because of the text on the right.
    """

    language: Callable[[bytes], Language]
    start: Callable[[Language], State | None]
    is_needed_before: Callable[[], bool]


class TextSides:
    """The texts *left* and *right* of a middle, with the *check* of the whole and the first state.

    *statement_start* gives the offset in *left* where the cursor's statement starts. A middle that *stays*
    must not escape (see `language/escape.py`). If *lenient*, faults of one side alone that no middle can
    repair are ignored.
    """

    def __init__(
        self,
        check: WholeTextCheck,
        sides: tuple[bytes, bytes],
        start: State,
        statement_start: Callable[[], int],
        finer: FinerLanguage,
        *,
        stays: bool,
        lenient: bool,
    ) -> None:
        self.check = check
        self.left, self.right = sides
        self.start = start
        self.stays = stays
        self.lenient = lenient
        self._statement_start = statement_start
        self._finer = finer
        self._finer_starts: dict[Language, State | None] = {}
        self._ignored: frozenset[Fault] | None = None if lenient else _NONE

    @cached_property
    def statement(self) -> bytes:
        """The text of the cursor's statement before the cursor."""
        return self.left[self._statement_start() :]

    @cached_property
    def spells(self) -> bool:
        """True if one of `WholeTextCheck.spelt_after` is in the cursor's statement before the cursor."""
        return any(word in self.statement for word in self.check.spelt_after)

    def finer_start(self, text: bytes) -> State | None:
        """The first state in the finer language; None if nothing connects, or if faults are ignored.

        The middle starts with *text*.
        """
        if self.lenient and self._finer.is_needed_before() and self.ignored:
            return None
        language = self._finer.language(self.left + text)
        if language not in self._finer_starts:
            self._finer_starts[language] = self._finer.start(language)
        return self._finer_starts[language]

    def suspects(self, statement: bytes, fresh: int) -> bool:
        """As `WholeTextCheck.suspects`."""
        return self.check.suspects(statement, fresh, (self.left, self.right))

    def faults(self, middle: bytes) -> Sequence[Fault]:
        """The faults of the whole text, without ignored ones."""
        faults = self.all_faults(middle)
        if not faults:
            return faults
        ignored = self.ignored
        return [fault for fault in faults if self._in_one_side(fault, middle) not in ignored]

    def all_faults(self, middle: bytes) -> Sequence[Fault]:
        """As `faults`, with ignored ones."""
        return self.check.faults(b"".join((self.left, middle, self.right)))

    @property
    def ignored(self) -> frozenset[Fault]:
        """The ignored faults of one side alone; offsets in the right side are negative."""
        if self._ignored is None:
            self._ignored = self._faults_of_sides()
        return self._ignored

    @property
    def known_to_be_ignored(self) -> tuple[Fault, ...]:
        """As `ignored`, with offsets in the text without a middle; empty until the first fault is met."""
        size = len(self.left) + len(self.right)
        ignored = [
            fault.moved(size) if fault.spans[0][0] < 0 else fault
            for fault in self._ignored or ()
            if fault.spans
        ]
        return tuple(sorted(ignored, key=lambda fault: fault.spans))

    def _faults_of_sides(self) -> frozenset[Fault]:
        """The faults of one side alone that each tried middle has; none if a middle without faults exists."""
        always: frozenset[Fault] | None = None
        for middle in islice(likely_completions(self.start), FIRST_TRIES):
            in_sides = self._in_sides(middle)
            always = in_sides if always is None else always & in_sides
            if not always:
                return _NONE
        for middle in islice(self._repairing(always or _NONE), _SIDE_TRIES):
            always = self._in_sides(middle) & (always or _NONE)
        return always or _NONE

    def _in_sides(self, middle: bytes) -> frozenset[Fault]:
        """The faults of the whole text that are in one side alone."""
        in_sides = (self._in_one_side(fault, middle) for fault in self.all_faults(middle))
        return frozenset(fault for fault in in_sides if fault is not None)

    def _repairing(self, faults: Collection[Fault]) -> Iterator[bytes]:
        """Middles that may repair *faults* of the sides, in the same block of the file as the cursor."""
        if isinstance(self.start, GrammarState) and any(map(self._is_near, faults)):
            repairs = FaultRepairs(self.check, self.start, self.left, self.statement, self.right)
            yield from repairs.repairing(self.all_faults(self.start.shortest_completion))

    def _is_near(self, fault: Fault) -> bool:
        """True if a line at the cursor may repair *fault*: both may be in the same block of the file."""
        start, end = fault.spans[0]
        if not (fault.repaired_by or (fault.repaired_before and start < 0)):
            return False
        between = self.left[end:] if start >= 0 else self.right[: len(self.right) + start]
        return _LINE_OF_FILE.search(between) is None

    def _in_one_side(self, fault: Fault, middle: bytes) -> Fault | None:
        """*fault* if it is in one side alone, with offsets from that side's outer end; else None."""
        left_end, right_start = len(self.left), len(self.left) + len(middle)
        if all(end < left_end for _, end in fault.spans):
            return fault
        if all(start >= right_start for start, _ in fault.spans):
            return fault.moved(-right_start - len(self.right))
        return None

    def is_caused(self, fault: Fault, written: bytes, completion: bytes, *, ended: bool = False) -> bool:
        """True if the bytes *written* cause the *fault* of a completed text, so all completions have it.

        The last lexeme of them may still become another one, unless it has *ended*.
        """
        written_start = len(self.left)
        written_end = written_start + len(written)
        right_start = written_end + len(completion)
        before = [end < written_end + ended for _, end in fault.spans]
        if fault.is_repaired_at(written_end) and not self.stays:
            return False
        if all(end < written_start for _, end in fault.spans) or not any(before):
            return False
        if all(before):
            return True
        later = min((start for start, _ in fault.spans if start >= right_start), default=0)
        may_part = not self.stays and not (fault.together and self._is_code(later - right_start))
        clear = (early or start > right_start for early, (start, _) in zip(before, fault.spans, strict=True))
        return not may_part and all(clear)

    def _is_code(self, offset: int) -> bool:
        """True if the text at *offset* of the right side is in no string that a middle may open."""
        right = self.right
        line_start = max(right.rfind(b"\n", 0, max(offset, 0)), right.rfind(b"\r", 0, max(offset, 0))) + 1
        line = right[line_start : right.find(b"\n", line_start) + 1 or None]
        return line_start > 0 and not (
            self.check.may_be_quoted(line) or self.check.may_be_in_string(right, offset)
        )

    def is_given(self, fault: Fault, completion: bytes) -> bool:
        """True if the *fault* of a completed text lies in the two sides alone, so all middles have it."""
        left_end = len(self.left)
        if all(end < left_end for _, end in fault.spans):
            return True
        line_end, right_start = self.right.find(b"\n") + 1, left_end + len(completion)
        if not isinstance(self.start, GrammarState):  # no middle leaves the string or comment
            return all(end < left_end or start > right_start for start, end in fault.spans)
        goes_on = bool(self.right[:line_end].strip())
        holds = fault.local or (fault.starts_line and goes_on) or (self.stays and bool(fault.repaired_before))
        if not holds or not line_end or fault.since > left_end:
            return False
        return all(
            start >= right_start + line_end
            and not self.check.may_be_in_string(self.right, start - right_start)
            for start, _ in fault.spans
        )


def likely_completions(state: State) -> Iterator[bytes]:
    """Texts that complete *state*, first those that the check is likely to accept."""
    if not isinstance(state, GrammarState):
        yield state.shortest_completion
        return
    plain = completions_of(state)
    yield from islice(plain, FIRST_TRIES)
    yield from islice(completions_of(state, uncommon=True), UNCOMMON_TRIES)
    yield from islice(plain, _MORE_TRIES)
    mark = state.lexer.lexical.spec.comment_mark
    for text in () if mark is None else (mark, b" " + mark, b"\n" + mark):
        reached = state.feed(text)
        if reached is not None and reached.complete:
            yield text  # a comment swallows the rest of the line
