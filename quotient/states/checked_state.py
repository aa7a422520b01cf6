"""The state of a middle in a language that checks whole texts, beyond what its grammar tells.

What the middle has made certainly wrong is refused as it is written; whether the rest is right is known when
all of the text is. So a state is complete exactly if the check accepts the whole, and where it is not, its
shortest completion is the first one that the check accepts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.language.whole_text import Fault, WholeTextCheck
from fimlsp.quotient.states.grammar_state import GrammarState
from fimlsp.quotient.states.mending import FIRST_TRIES, Mending, candidates
from fimlsp.quotient.states.protocol import State

if TYPE_CHECKING:
    from fimlsp.quotient.masks.mask import ParserState
    from fimlsp.quotient.masks.plain_walk import Truths
    from fimlsp.quotient.masks.vocabulary import Vocabulary, Words

_LONGEST_WORD = 12
_NONE = frozenset[Fault]()
_MENDING_TRIES = 60
_LINE_OF_FILE = re.compile(rb"\n[^\s#)\]}]")
"""The beginning of a line that is in no block, unless it is in a string."""


class Finer(NamedTuple):
    """What the finer language (see `Language.finer`) says of a cursor.

    `language` is that of files with a beginning, and `start` makes its first state there. `is_needed_before`
    tells whether it may tell more about the text to the right.
    """

    language: Callable[[bytes], Language]
    start: Callable[[Language], State | None]
    is_needed_before: Callable[[], bool]


class Surroundings:
    """What a middle stands between, *left* and *right*, the *check* of the whole, and the first state.

    *statement_start* gives where in *left* the statement begins that the cursor is in. A middle that *stays*
    must not escape (see `language/escape.py`). If *lenient*, a fault of one side alone, which no middle can
    mend, does not count.
    """

    def __init__(
        self,
        check: WholeTextCheck,
        sides: tuple[bytes, bytes],
        start: State,
        statement_start: Callable[[], int],
        finer: Finer,
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
        self._first_states: dict[Language, State | None] = {}
        self._ignored: frozenset[Fault] | None = None if lenient else _NONE

    @cached_property
    def statement(self) -> bytes:
        """The text of the cursor's statement before the cursor."""
        return self.left[self._statement_start() :]

    def finer(self, text: bytes) -> State | None:
        """The first state in the finer language; None if nothing connects, or faults are ignored.

        The middle begins with *text*.
        """
        if self.lenient and self._finer.is_needed_before() and self.ignored:
            return None
        language = self._finer.language(self.left + text)
        if language not in self._first_states:
            self._first_states[language] = self._finer.start(language)
        return self._first_states[language]

    @cached_property
    def spells(self) -> bool:
        """Whether one of `WholeTextCheck.spelt_behind` is in the cursor's statement before the cursor."""
        return any(word in self.statement for word in self.check.spelt_behind)

    def suspects(self, statement: bytes, fresh: int) -> bool:
        """As `WholeTextCheck.suspects`."""
        return self.check.suspects(statement, fresh, (self.left, self.right))

    def faults(self, middle: bytes) -> Sequence[Fault]:
        """What is wrong with the whole text."""
        found = self.all_faults(middle)
        if not found:
            return found
        ignored = self.ignored
        return [fault for fault in found if self._in_one_side(fault, middle) not in ignored]

    def all_faults(self, middle: bytes) -> Sequence[Fault]:
        """As `faults`, with those that do not count."""
        return self.check.faults(b"".join((self.left, middle, self.right)))

    @property
    def ignored(self) -> frozenset[Fault]:
        """The faults of one side alone that do not count; offsets in the right side are negative."""
        if self._ignored is None:
            self._ignored = self._faults_of_sides()
        return self._ignored

    @property
    def known_to_be_ignored(self) -> tuple[Fault, ...]:
        """As `ignored`, with offsets in the text without a middle; empty as long as none was met."""
        size = len(self.left) + len(self.right)
        found = [
            fault.moved(size) if fault.spans[0][0] < 0 else fault
            for fault in self._ignored or ()
            if fault.spans
        ]
        return tuple(sorted(found, key=lambda fault: fault.spans))

    def _faults_of_sides(self) -> frozenset[Fault]:
        """What is wrong with one side alone, unless some middle is seen with which all is right."""
        always: frozenset[Fault] | None = None
        for middle in islice(candidates(self.start), FIRST_TRIES):
            sides = self._in_sides(middle)
            always = sides if always is None else always & sides
            if not always:
                return _NONE
        for middle in islice(self._mending(always or _NONE), _MENDING_TRIES):
            always = self._in_sides(middle) & (always or _NONE)
        return always or _NONE

    def _in_sides(self, middle: bytes) -> frozenset[Fault]:
        """The faults of the whole text that are in one side alone."""
        found = self.all_faults(middle)
        return frozenset(side for each in found if (side := self._in_one_side(each, middle)) is not None)

    def _mending(self, faults: Collection[Fault]) -> Iterator[bytes]:
        """Middles that may mend *faults* of the sides, in the same block of the file as the cursor."""
        if isinstance(self.start, GrammarState) and any(map(self._is_near, faults)):
            mending = Mending(self.check, self.start, self.left, self.statement, self.right)
            yield from mending.mending(self.all_faults(self.start.shortest_completion))

    def _is_near(self, fault: Fault) -> bool:
        """Whether a line at the cursor may mend *fault*, as both may be in the same block of the file."""
        if not fault.mended_by:
            return False
        start, end = fault.spans[0]
        between = self.left[end:] if start >= 0 else self.right[: len(self.right) + start]
        return _LINE_OF_FILE.search(between) is None

    def _in_one_side(self, fault: Fault, middle: bytes) -> Fault | None:
        """*fault* if it is in one side alone, with offsets from that side's outer end; else None."""
        start, end = len(self.left), len(self.left) + len(middle)
        if all(b < start for _, b in fault.spans):
            return fault
        return fault.moved(-end - len(self.right)) if all(a >= end for a, _ in fault.spans) else None

    def is_made(self, fault: Fault, written: bytes, completion: bytes, *, ended: bool = False) -> bool:
        """Whether the bytes *written* cause the *fault* of a completed text, so all completions have it.

        The last lexeme of them may still become another one, unless it has *ended*.
        """
        start = len(self.left)
        end = start + len(written)
        right = end + len(completion)
        before = [b < end + ended for _, b in fault.spans]
        if fault.mended_until >= end and not self.stays:
            return False
        if all(b < start for _, b in fault.spans) or not any(before):
            return False
        parted = not self.stays and not (fault.together and self._is_code(fault.spans[-1][0] - right))
        return all(before) or (not parted and all(b < end or a > right for a, b in fault.spans))

    def _is_code(self, offset: int) -> bool:
        """Whether what is at *offset* of the right side is in no string that a middle may open."""
        right = self.right
        start = max(right.rfind(b"\n", 0, max(offset, 0)), right.rfind(b"\r", 0, max(offset, 0))) + 1
        line = right[start : right.find(b"\n", start) + 1 or None]
        return start > 0 and not (b"'" in line or b'"' in line or b"'''" in right or b'"""' in right)

    def is_given(self, fault: Fault, completion: bytes) -> bool:
        """Whether the *fault* of a completed text lies in the two sides alone, so all middles have it."""
        start = len(self.left)
        if all(b < start for _, b in fault.spans):
            return True
        right = start + len(completion)
        line_end = self.right.find(b"\n") + 1
        return (
            fault.local
            and line_end > 0
            and b"'''" not in self.right
            and b'"""' not in self.right
            and all(a >= right + line_end for a, _ in fault.spans)
        )


class CheckedState:
    """A state of a middle with the text that led to it. Immutable, as all states."""

    __slots__ = ("_complete", "_completion", "_line", "_sound", "around", "fine", "spells", "state", "text")

    def __init__(
        self, around: Surroundings, state: State, text: bytes = b"", line: int = 0, *, fine: bool = False
    ) -> None:
        self.around = around
        self.state = state
        self.text = text
        self.fine = fine  # whether the state is one in the finer language
        self.spells = around.spells  # whether a lexeme in progress may be wrong already
        self._line = line  # where the statement begins in the text, 0 if it may begin before
        self._complete: bool | None = None
        self._completion: bytes | None = None
        self._sound: tuple[int, int] | None = None  # of the last complete state: its size and brackets

    def feed(self, data: bytes) -> CheckedState | None:
        """As in `State`."""
        found = self._fed(data)
        if found is not None:
            found._sound = self._place if self._complete else self._sound
        return found

    @property
    def _place(self) -> tuple[int, int] | None:
        """How long the text is and in how many brackets it ends; None if in none."""
        if not isinstance(self.state, GrammarState):
            return None
        lexer = self.state.lexer
        lexical, modes = lexer.lexical, lexer.modes
        last = lexical.kinds[lexer.accepted] if lexer.accepted >= 0 else ""
        if last in lexical.brackets or last in lexical.brackets.values():
            modes = modes.after(last) or modes
        return (len(self.text), modes.depth) if modes.depth else None

    def _fed(self, data: bytes) -> CheckedState | None:
        state = self.state.feed(data)
        if state is None:
            return None
        text = self.text + data
        if not (isinstance(state, GrammarState) and isinstance(self.state, GrammarState)):
            return CheckedState(self.around, state, text, self._line, fine=self.fine)
        in_lexeme = state.chart is self.state.chart
        fine = self.fine or self._needs_finer(state, text, 0 if in_lexeme else len(data))
        becomes_finer = fine and not self.fine
        if becomes_finer:
            finer = self.around.finer(text)
            reached = finer and finer.feed(text)
            if not isinstance(reached, GrammarState):
                return None
            fine = not self.around.stays  # there nothing waits to be mended, as it does in the finer language
            state = reached if fine else state
        is_half = text.endswith(tuple(self.around.check.halves)) and state.feed(b" ") is None
        if in_lexeme and not is_half and not becomes_finer and not self.spells:
            return CheckedState(self.around, state, text, self._line, fine=fine)
        statement = text[self._line :] if self._line else self.around.statement + text
        spells = self.spells or any(word in text for word in self.around.check.spelt_behind)
        is_begun = spells and len(statement.lstrip()) <= len(data)  # which may have ended a block
        is_suspect = is_half or is_begun or self.around.suspects(statement, len(data))
        if is_suspect and self._is_wrong(state, text):
            return None
        line = self._line
        if not state.lexer.modes.depth:
            line = max(line, text.rfind(b"\n", len(self.text)) + 1)
        found = CheckedState(self.around, state, text, line, fine=fine)
        found.spells = spells
        return found

    def _needs_finer(self, state: GrammarState, text: bytes, fresh: int) -> bool:
        """Whether the last *fresh* bytes of *text* made words about which the finer language tells more."""
        if not state.must_become_place_word:
            if not fresh:
                return False
            size = fresh + _LONGEST_WORD
            tail = (text if len(text) >= size else self.around.statement + text)[-size:]
            if not state.connection.tables.language.needs_finer_behind(tail):
                return False
        return not (self.around.lenient and self.around.finer(text) is None)

    def _is_wrong(self, state: GrammarState, text: bytes) -> bool:
        """Whether *text*, which led to *state*, has a fault that nothing written after it mends."""
        completion = state.shortest_completion
        found = self.around.all_faults(text + completion)
        if state.lexer.modes.depth:  # what brackets hold may become a part of something else
            found = [fault._replace(together=False) for fault in found]
        if any(self.around.is_made(fault, text, completion) for fault in found):
            return True
        end = len(self.around.left) + len(text)
        at_end = [fault for fault in found if fault.spans and max(b for _, b in fault.spans) == end]
        longer = self.around.check.halves.get(text[-1:])
        if not at_end or longer is None or any(state.feed(bytes((byte,))) is not None for byte in longer):
            return False
        return any(self.around.is_made(fault, text, completion, ended=True) for fault in at_end)

    @property
    def complete(self) -> bool:
        """As in `State`."""
        if self._complete is None:
            self._complete = self.state.complete and (self._stays_sound or not self._faults(b""))
        return self._complete

    @property
    def _stays_sound(self) -> bool:
        """Whether the last complete text before this one has no fault, and what was added gives it none."""
        place = self._place
        if self._sound is None or place is None or self._sound[1] != place[1]:
            return False
        statement = self.text[self._line :] if self._line else self.around.statement + self.text
        return self.around.check.keeps_faultless(statement, place[0] - self._sound[0], self.around.right)

    def _faults(self, completion: bytes) -> Sequence[Fault]:
        return self.around.faults(self.text + completion)

    def mask(self, vocabulary: Vocabulary) -> Words:
        """As in `State`."""
        return vocabulary.mask(self.allowed_texts(vocabulary), complete=self.complete)

    def allowed_texts(self, vocabulary: Vocabulary) -> Truths:
        """As in `State`. Asks the check about each text that the grammar allows if it finishes a symbol."""
        from fimlsp.quotient.masks.mask import allowed_again
        from fimlsp.quotient.masks.plain_walk import asked_again

        state = self.state
        if isinstance(state, GrammarState):
            return allowed_again(state, vocabulary, self._is_judged_within_symbols, self._admits)
        allowed = state.allowed_texts(vocabulary)
        numbers = [number for number, may_come in enumerate(allowed.tolist()) if may_come]
        return asked_again(vocabulary, None, numbers, self._admits)

    def _admits(self, text: bytes) -> bool:
        return self.feed(text) is not None

    def _is_judged_within_symbols(self, state: ParserState) -> bool:
        """Whether more than the grammar judges *state*, behind this one without a further symbol."""
        assert isinstance(state, GrammarState)
        return (not self.fine and state.must_become_place_word) or self.spells

    @property
    def shortest_completion(self) -> bytes:
        """As in `State`. Where no completion is seen that the check accepts, the shortest of all."""
        if self._completion is None:
            plain = candidates(self.state)
            texts = chain(islice(plain, FIRST_TRIES), self._with_sides_mended(), plain, self._mended())
            found = next((text for text in texts if not self._faults(text)), None)
            self._completion = self.state.shortest_completion if found is None else found
        return self._completion

    def _with_sides_mended(self) -> Iterator[bytes]:
        """Completions that mend what is wrong with the two sides, if nothing else is wrong."""
        if isinstance(self.state, GrammarState):
            found = self._faults(self.state.shortest_completion)
            if all(fault.mended_by for fault in found):
                yield from self._mending(self.state).mending(found)

    def _mended(self) -> Iterator[bytes]:
        if isinstance(self.state, GrammarState):
            yield from self._mending(self.state).completions(self._faults(self.state.shortest_completion))

    def _mending(self, state: GrammarState) -> Mending:
        around = self.around
        statement = self.text[self._line :] if self._line else around.statement + self.text
        return Mending(around.check, state, around.left + self.text, statement, around.right)


def checked(around: Surroundings, finer: State | None = None) -> CheckedState | None:
    """The first state of a middle between its surroundings; None if these are wrong by themselves.

    It goes on in the finer language if *finer* is its first state there.
    """
    first = CheckedState(around, finer or around.start, fine=finer is not None)
    if around.lenient:
        return first
    completion = first.state.shortest_completion
    given = [fault for fault in around.all_faults(completion) if around.is_given(fault, completion)]
    may_be_mended = all(fault.mended_until >= len(around.left) for fault in given)
    return first if may_be_mended and not (given and around.faults(first.shortest_completion)) else None
