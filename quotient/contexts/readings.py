"""The contexts of a text in which no line is read alike in every context (`LexicalSpec.contextual`).

Left of a cursor the modes of the lexer are known, so the text is read once, and its states are kept at line
ends. Right of it each lexeme is read in every mode. Where all modes agree on its end, the parser reads any of
its kinds in one step. Elsewhere the readings part until they meet again. The grammar mentions the
modes, so a reading with a wrong one soon connects with nothing and is dropped.
"""

from __future__ import annotations

from bisect import bisect_right

from fimlsp.lexing.interruption import EVERY, checkpoint
from fimlsp.lexing.lexer_state import LexerState
from fimlsp.lexing.lexer_tables import longest_match
from fimlsp.quotient.contexts.left import LeftContext, start_of_file
from fimlsp.quotient.contexts.right import RightContext, end_of_file, with_readings
from fimlsp.quotient.grammar.earley_sets import EarleySet
from fimlsp.quotient.language.tables import LanguageTables

MOST_READINGS = 200
"""The readings of the text after a place; beyond it, the text counts as unreadable."""

_CHUNK = 2_000

Step = tuple[int, tuple[int, ...]]
"""The end of a lexeme and the terminals that it may be; no terminals at the end of the text."""


class Readings:
    """The states at line ends left of any place, and the readings of the text right of any place."""

    def __init__(self, tables: LanguageTables) -> None:
        self._tables = tables
        start = start_of_file(tables)
        self._places = [0]
        self._lefts: list[tuple[LeftContext, LexerState]] = [(start, start.lexer())]
        self._end = end_of_file(tables)
        self._sets: dict[int, tuple[EarleySet, ...]] = {}
        self._rights: dict[int, RightContext | None] = {}

    def edited(self, start: int, distance: int) -> None:
        """Forget all that depends on text from *start* on, or further than *distance* from the end."""
        keep = max(1, bisect_right(self._places, start))
        del self._places[keep:], self._lefts[keep:]
        self._sets = {place: sets for place, sets in self._sets.items() if place <= distance}
        self._rights = {place: right for place, right in self._rights.items() if place <= distance}

    def left_at(self, data: bytes, position: int) -> tuple[LeftContext, LexerState] | None:
        """The context at *position* and the lexer state there; None if no valid text starts like this."""
        at = bisect_right(self._places, position) - 1
        place, (context, lexer) = self._places[at], self._lefts[at]
        while place < position:
            checkpoint()
            line_end = data.find(b"\n", place, min(place + _CHUNK, position))
            end = line_end + 1 if line_end >= 0 else min(place + _CHUNK, position)
            step = lexer.feed(data[place:end])
            following = step and context.after(step.symbols)
            if step is None or following is None:
                return None
            context = following.at(following.frame, self._tables.forward.canonical(following.group))
            place, lexer = end, step.lexer
            if place == self._places[-1] or end < position:
                self._keep(place, context, lexer)
        return context, lexer

    def _keep(self, place: int, context: LeftContext, lexer: LexerState) -> None:
        if place > self._places[-1]:
            self._places.append(place)
            self._lefts.append((context, lexer))

    def right_at(self, data: bytes, position: int) -> RightContext | None:
        """The context at *position*, where a lexeme starts; None if no valid text ends like this."""
        distance = len(data) - position
        if distance not in self._rights:
            sets = self._sets_at(data, position)
            self._rights[distance] = with_readings(self._end, sets) if sets else None
        return self._rights[distance]

    def _sets_at(self, data: bytes, position: int) -> tuple[EarleySet, ...]:
        """The backward sets at *position*, one for each reading that differs. O(lexemes not seen before)."""
        size = len(data)
        steps: dict[int, list[Step]] = {}
        waiting = [position]
        while waiting:
            place = waiting.pop()
            if place in steps or size - place in self._sets:
                continue
            if not len(steps) % EVERY:
                checkpoint()
            steps[place] = self._steps_at(data, place)
            waiting += [end for end, terminals in steps[place] if terminals]
        for count, place in enumerate(sorted(steps, reverse=True)):
            if not count % EVERY:
                checkpoint()
            sets: dict[EarleySet, None] = {}
            for end, terminals in steps[place]:
                if not terminals:
                    sets.update(dict.fromkeys(self._end.ways().values()))
                    continue
                for following in self._sets[size - end]:
                    before = self._tables.backward.read_any(following, terminals)
                    if before is not None:
                        sets[self._tables.backward.canonical(before)] = None
            self._sets[size - place] = tuple(sets) if len(sets) <= MOST_READINGS else ()
        return self._sets[size - position]

    def _steps_at(self, data: bytes, position: int) -> list[Step]:
        """The lexemes that start at *position* in some mode, after ignored ones, by their ends."""
        lexical, terminal_of = self._tables.lexical, self._tables.terminal_of
        ends: dict[int, dict[int, None]] = {}
        for start in lexical.dfa.starts.values():
            place = position
            while place < len(data):
                lexeme = longest_match(lexical, start, data, place)
                if lexeme is None or lexeme[0] == lexical.bad:
                    break
                kind, place = lexeme
                if kind not in lexical.skipped:
                    ends.setdefault(place, {})[terminal_of[kind]] = None
                    break
            else:
                ends.setdefault(len(data) + 1, {})
        return [(end, tuple(terminals)) for end, terminals in ends.items()]
