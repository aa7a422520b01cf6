"""Completions that are likely to pass the check of a whole text where the shortest one does not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from fimlsp.lexing.values import value
from fimlsp.quotient.language.contract import Fault, WholeTextCheck
from fimlsp.quotient.states.grammar_state import GrammarState
from fimlsp.quotient.states.shortest_completion import completions_of, other_completions

FIRST_TRIES, UNCOMMON_TRIES = 8, 24
"""The numbers of completions that are tried, of the plain and of the uncommon ones."""

_REPAIRED_TRIES, _LINE_TRIES = 2, 24
_LOOKED_AT, _LOOKED_AT_BELOW = 10_000, 200
_ASSIGNS = re.compile(rb"[ \t]*=(?!=)")
_MARGIN = re.compile(rb"^[ \t]*(?=\S)", re.MULTILINE)


@value
class FaultRepairs:
    """Completions of *state*, between *left* and *right*, that repair the faults found by *check*.

    *statement* is the text of the cursor's statement before it.
    """

    check: WholeTextCheck
    state: GrammarState
    left: bytes
    statement: bytes
    right: bytes

    def completions(self, faults: Sequence[Fault]) -> Iterator[bytes]:
        """Completions that avoid the *faults* of the shortest one, or repair them with further lines."""
        shortest = self.state.shortest_completion
        written = len(self.left)
        lexer = self.state.lexer
        kind = lexer.lexical.kinds[lexer.accepted] if lexer.accepted >= 0 else ""
        word = self.state.connection.tables.language.another_word(kind, 0)
        longer = self.check.halves.get(self.left[-1:], b"")
        for more in filter(None, (word, *(bytes((byte,)) for byte in longer))):
            yield from self._continued(more)
        yield from self._spelt()
        for offset in sorted({0}.union(end - written for fault in faults for end in fault.spans[-1])):
            before = shortest[:offset]
            reached = self.state.feed(before) if 0 <= offset <= len(shortest) else None
            if isinstance(reached, GrammarState):
                yield from (before + rest for rest in islice(other_completions(reached), UNCOMMON_TRIES))
        yield from self.repairing(faults)

    def repairing(self, faults: Sequence[Fault]) -> Iterator[bytes]:
        """Completions with the repairs that the *faults* of the shortest one propose."""
        lines = [line for line in dict.fromkeys(fault.repaired_by for fault in faults) if line]
        together = b";".join(lines)
        if _ASSIGNS.match(self.right):
            together = together.rpartition(b"=")[0]
        with_lines = self._with_line(together)
        yield from islice(with_lines, _LINE_TRIES)
        below = [fault.repaired_before for fault in faults if fault.spans[0][0] >= len(self.left)]
        for lines_before in dict.fromkeys(below):
            yield from self._with_line(lines_before)
        shortest = self.state.shortest_completion
        repaired_once = list(self._repaired_inside(shortest, faults))
        yield from repaired_once
        for text in repaired_once:
            yield from self._repaired_inside(text, self._faults_of(text))
        yield from with_lines
        uncommon = self._faults_of(next(completions_of(self.state, uncommon=True), b""))
        for line in dict.fromkeys(fault.repaired_by for fault in (*faults, *uncommon)):
            if line != together:
                yield from self._with_line(line)

    def _with_line(self, line: bytes) -> Iterator[bytes]:
        """Completions that start with *line*, in the columns in use."""
        for lead in self._leads_to_line() if line else ():
            yield from self._continued(lead + line)

    def _faults_of(self, text: bytes) -> Sequence[Fault]:
        """The faults of the whole text if *text* comes next."""
        return self.check.faults(b"".join((self.left, text, self.right)))

    def _spelt(self) -> Iterator[bytes]:
        """Completions with a known name, or with that part of it which the right side lacks."""
        for rest in self.check.spelt(self.statement):
            for size in range(1, len(rest)):
                reached = self.state.feed(rest[:size])
                if reached is not None and reached.complete:
                    yield rest[:size]
            yield from self._continued(rest)

    def _leads_to_line(self) -> Iterator[bytes]:
        """Texts that lead from here to the first word of a line, in the columns in use, innermost first."""
        above = self.left[-_LOOKED_AT:]
        below = self.right[:_LOOKED_AT_BELOW].partition(b"\n")[2]
        margins = sorted(
            dict.fromkeys(_MARGIN.findall(above) + _MARGIN.findall(below)), key=len, reverse=True
        )
        indentation = above[above.rfind(b"\n") + 1 :]
        if not indentation.strip():
            yield from (margin[len(indentation) :] for margin in margins if margin.startswith(indentation))
        heads = [
            head
            for uncommon in (False, True)
            for text in islice(completions_of(self.state, uncommon=uncommon), _REPAIRED_TRIES)
            for head in (text.split(b"\n")[0], text, text[:-1])  # its end may need the rest of this line
        ]
        for head in dict.fromkeys(map(self._closed, (*heads, b""))):
            yield from (head + b"\n" + margin for margin in margins)

    def _closed(self, text: bytes) -> bytes:
        """*text* with the closers of the brackets and strings that are open after it."""
        reached = self.state.feed(text)
        return text + reached.closers if isinstance(reached, GrammarState) else text

    def _continued(self, text: bytes) -> Iterator[bytes]:
        """A few completions that start with *text*."""
        reached = self.state.feed(text)
        if isinstance(reached, GrammarState):
            yield from (text + rest for rest in islice(completions_of(reached), FIRST_TRIES))

    def _repaired_inside(self, text: bytes, faults: Sequence[Fault]) -> Iterator[bytes]:
        """The completion *text* with a few changes of each kind that its *faults* propose."""
        yield from islice(self._gone_on(text, faults), FIRST_TRIES)
        yield from islice(self._reworded(text, faults), FIRST_TRIES)

    def _gone_on(self, text: bytes, faults: Sequence[Fault]) -> Iterator[bytes]:
        """Completions that go on in the midst of *text*, each as one of the *faults* proposes."""
        written = len(self.left)
        for fault in faults:
            latest = max((fault.repaired_until or fault.spans[-1][1]) - written, 0)
            for end in range(min(latest, len(text)), -1, -1) if fault.goes_on else ():
                yield from self._continued(text[:end] + fault.goes_on)

    def _reworded(self, text: bytes, faults: Sequence[Fault]) -> Iterator[bytes]:
        """The completion *text*, or another one, with one of the words that the *faults* propose."""
        for word, other in dict.fromkeys(fault.rather for fault in faults if fault.rather is not None):
            for completion in (text, *islice(completions_of(self.state), FIRST_TRIES)):
                for offset in _offsets_of(word, completion):
                    repaired = completion[:offset] + other + completion[offset + len(word) :]
                    reached = self.state.feed(repaired)
                    if reached is not None and reached.complete:
                        yield repaired


def _offsets_of(word: bytes, text: bytes) -> Iterator[int]:
    """The offsets of *word* in *text* as a whole word."""
    return (match.start() for match in re.finditer(rb"\b%s\b" % re.escape(word), text))
