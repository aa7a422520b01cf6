"""Completions that are likely to pass a check of the whole text, where the shortest may not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from fimlsp.lexing.values import value
from fimlsp.quotient.completion.shortest import completions_of, other_completions
from fimlsp.quotient.language.whole_text import Fault, WholeTextCheck
from fimlsp.quotient.states.grammar_state import GrammarState
from fimlsp.quotient.states.protocol import State

FIRST_TRIES = 8
_UNCOMMON_TRIES, _MORE_TRIES, _MENDED_TRIES, _LINE_TRIES = 24, 60, 2, 24
_LOOKED_AT, _LOOKED_AT_BELOW = 10_000, 200
_ASSIGNS = re.compile(rb"[ \t]*=(?!=)")
_MARGIN = re.compile(rb"^[ \t]*(?=\S)", re.MULTILINE)


def candidates(state: State) -> Iterator[bytes]:
    """Texts that complete *state*, those that are likely to be accepted first."""
    if not isinstance(state, GrammarState):
        yield state.shortest_completion
        return
    plain = completions_of(state)
    yield from islice(plain, FIRST_TRIES)
    yield from islice(completions_of(state, uncommon=True), _UNCOMMON_TRIES)
    yield from islice(plain, _MORE_TRIES)
    mark = state.lexer.lexical.lexis.comment_mark
    for text in () if mark is None else (mark, b" " + mark, b"\n" + mark):
        reached = state.feed(text)
        if reached is not None and reached.complete:
            yield text  # a comment swallows what follows


@value
class Mending:
    """Completions of *state*, behind *left* and before *right*, that mend what *check* finds.

    *statement* is the text of the cursor's statement before it.
    """

    check: WholeTextCheck
    state: GrammarState
    left: bytes
    statement: bytes
    right: bytes

    def completions(self, faults: Sequence[Fault]) -> Iterator[bytes]:
        """Texts that go on in another way where the shortest has *faults*, or with lines that mend it."""
        shortest = self.state.shortest_completion
        written = len(self.left)
        lexer = self.state.lexer
        kind = lexer.lexical.kinds[lexer.accepted] if lexer.accepted >= 0 else ""
        word = self.state.connection.tables.language.another_word(kind, 0)
        longer = self.check.halves.get(self.left[-1:], b"")
        for more in filter(None, (word, *(bytes((byte,)) for byte in longer))):
            yield from self._going_on(more)
        yield from self._spelling()
        for place in sorted({0}.union(end - written for fault in faults for end in fault.spans[-1])):
            before = shortest[:place]
            reached = self.state.feed(before) if 0 <= place <= len(shortest) else None
            if isinstance(reached, GrammarState):
                yield from (before + rest for rest in islice(other_completions(reached), _UNCOMMON_TRIES))
        yield from self.mending(faults)

    def mending(self, faults: Sequence[Fault]) -> Iterator[bytes]:
        """Completions with what the *faults* of the shortest say would mend them."""
        lines = [line for line in dict.fromkeys(fault.mended_by for fault in faults) if line]
        together = b";".join(lines)
        if _ASSIGNS.match(self.right):
            together = together.rpartition(b"=")[0]
        of_lines = self._with_line(together)
        yield from islice(of_lines, _LINE_TRIES)
        shortest = self.state.shortest_completion
        once = list(islice(self._mending_at_once(shortest, faults), FIRST_TRIES))
        yield from once
        for text in once:
            yield from islice(self._mending_at_once(text, self._faults_of(text)), FIRST_TRIES)
        yield from of_lines
        uncommon = self._faults_of(next(completions_of(self.state, uncommon=True), b""))
        for line in dict.fromkeys(fault.mended_by for fault in (*faults, *uncommon)):
            if line != together:
                yield from self._with_line(line)

    def _with_line(self, line: bytes) -> Iterator[bytes]:
        """Completions that begin with *line*, in the columns in use."""
        for beginning in self._line_beginnings() if line else ():
            yield from self._going_on(beginning + line)

    def _faults_of(self, text: bytes) -> Sequence[Fault]:
        """What is wrong with the whole text if it goes on with *text*."""
        return self.check.faults(b"".join((self.left, text, self.right)))

    def _spelling(self) -> Iterator[bytes]:
        """Completions with a name that is known, or with that part of it which the right side lacks."""
        for rest in self.check.spelt(self.statement):
            for size in range(1, len(rest)):
                reached = self.state.feed(rest[:size])
                if reached is not None and reached.complete:
                    yield rest[:size]
            yield from self._going_on(rest)

    def _line_beginnings(self) -> Iterator[bytes]:
        """Texts that lead from here to the first word of a line, in the columns in use, innermost first."""
        above = self.left[-_LOOKED_AT:]
        below = self.right[:_LOOKED_AT_BELOW].partition(b"\n")[2]
        margins = sorted(
            dict.fromkeys(_MARGIN.findall(above) + _MARGIN.findall(below)), key=len, reverse=True
        )
        indentation = above[above.rfind(b"\n") + 1 :]
        if not indentation.strip():
            yield from (each[len(indentation) :] for each in margins if each.startswith(indentation))
        heads = [
            head
            for uncommon in (False, True)
            for text in islice(completions_of(self.state, uncommon=uncommon), _MENDED_TRIES)
            for head in (text.split(b"\n")[0], text, text[:-1])  # its end may need what follows in this line
        ]
        for head in dict.fromkeys((*heads, b"")):
            yield from (head + b"\n" + margin for margin in margins)

    def _going_on(self, text: bytes) -> Iterator[bytes]:
        """A few completions that begin with *text*."""
        reached = self.state.feed(text)
        if isinstance(reached, GrammarState):
            yield from (text + rest for rest in islice(completions_of(reached), FIRST_TRIES))

    def _mending_at_once(self, text: bytes, faults: Sequence[Fault]) -> Iterator[bytes]:
        """Completions with what one of the *faults* of the completion *text* says would mend it."""
        written = len(self.left)
        for fault in faults:
            place = max((fault.mended_until or fault.spans[-1][1]) - written, 0)
            for end in range(min(place, len(text)), -1, -1) if fault.goes_on else ():
                yield from self._going_on(text[:end] + fault.goes_on)
        for word, other in dict.fromkeys(fault.rather for fault in faults if fault.rather is not None):
            for each in (text, *islice(completions_of(self.state), FIRST_TRIES)):
                for place in _places(word, each):
                    mended = each[:place] + other + each[place + len(word) :]
                    reached = self.state.feed(mended)
                    if reached is not None and reached.complete:
                        yield mended


def _places(word: bytes, text: bytes) -> Iterator[int]:
    """Where *word* stands in *text*, alone."""
    return (found.start() for found in re.finditer(rb"\b%s\b" % re.escape(word), text))
