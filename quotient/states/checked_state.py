"""The state of a middle in a language that checks whole texts, beyond its grammar.

A middle that is certainly wrong is refused as it is written. The rest can be judged only when the whole text
is known. So a state is complete exactly if the check accepts the whole text. Where it does not, the shortest
completion is the first one that the check accepts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

from fimlsp.quotient.language.contract import Fault
from fimlsp.quotient.states.faults import FIRST_TRIES, FaultRepairs, TextSides, likely_completions
from fimlsp.quotient.states.grammar_state import GrammarState
from fimlsp.quotient.states.protocol import State

if TYPE_CHECKING:
    from fimlsp.quotient.masks.mask import ParserState
    from fimlsp.quotient.masks.vocabulary import Bitmask, BoolMask, Vocabulary

_LONGEST_WORD = 12


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
        is_spelt = self.spells or any(word in text for word in self.sides.check.spelt_within)
        if in_lexeme and not is_half and not becomes_finer and not is_spelt:
            return CheckedState(self.sides, state, text, self._line, fine=fine)
        statement = self._statement_with(text)
        spelt_after = self.sides.check.spelt_after
        spells = is_spelt or any(word in text or word in statement for word in spelt_after)
        is_first = spells and len(statement.lstrip()) <= len(data)  # the statement may have ended a block
        is_suspect = is_half or is_first or self.sides.suspects(statement, len(data))
        if is_suspect and self._is_wrong(state, text):
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
            size = fresh + _LONGEST_WORD
            tail = (text if len(text) >= size else self.sides.statement + text)[-size:]
            if not state.connection.tables.language.needs_finer_after(tail):
                return False
        return not (self.sides.lenient and self.sides.finer_start(text) is None)

    def _is_wrong(self, state: GrammarState, text: bytes) -> bool:
        """True if *text*, which led to *state*, has a fault that no later text repairs."""
        completion = self._mended(text, state.shortest_completion)
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
        return self.feed(text) is not None

    def _is_checked_within_symbols(self, state: ParserState) -> bool:
        """True if more than the grammar decides about *state*, which follows this one without a symbol."""
        assert isinstance(state, GrammarState)
        return (not self.fine and state.must_become_place_word) or self.spells

    @property
    def shortest_completion(self) -> bytes:
        """As in `State`. If the check accepts none of the tried completions, the shortest of all."""
        if self._completion is None:
            plain = likely_completions(self.state)
            texts = chain(islice(plain, FIRST_TRIES), self._with_sides_repaired(), plain, self._repaired())
            mended = (self._mended(self.text, text) for text in texts)
            accepted = next((text for text in mended if not self._faults(text)), None)
            self._completion = self.state.shortest_completion if accepted is None else accepted
        return self._completion

    def _mended(self, text: bytes, completion: bytes) -> bytes:
        """The *completion* of the middle *text* in the words that the check proposes."""
        return self.sides.check.mended(self.sides.left + text, completion, self.sides.right)

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
