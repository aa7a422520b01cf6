"""A language with its own parser as the judge: what the engine says of a middle, held against it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from fimlsp.quotient.completion.shortest import NoCompletionError
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.states.protocol import State

from ...quotient.middle_support import Fault, fed, verdict

Judge = Callable[[bytes], bool | None]
"""Whether a text is valid; None if the judge leaves that open."""


def words(alphabet: Sequence[bytes], most: int) -> Iterator[bytes]:
    """All texts of at most *most* symbols."""
    for length in range(most + 1):
        yield from map(b"".join, itertools.product(alphabet, repeat=length))


@dataclass
class Tally:
    """How many verdicts were judged, how many the judge left open, and those found wrong.

    A fault names the *grammar*, where there is more than one.
    """

    accepts: Judge
    grammar: str = ""
    judged: int = 0
    undecided: int = 0
    faults: list[Fault] = field(default_factory=list)

    @property
    def dead_ends(self) -> int:
        """How many viable middles nothing completes."""
        return sum(found.complaint == "dead end" for found in self.faults)

    def include(self, other: Tally) -> None:
        """Count what *other* found as well."""
        self.judged += other.judged
        self.undecided += other.undecided
        self.faults += other.faults

    def judge(self, left: bytes, middle: bytes, right: bytes, state: State | None) -> None:
        """Judge *state*: complete exactly if the judge accepts the whole, and what completes it does."""
        accepted = self.accepts(left + middle + right)
        said = state is not None and state.complete
        if accepted is None:
            self.undecided += 1
        else:
            self.judged += 1
            if said != accepted:
                self.fault("rejects" if accepted else "accepts", left, middle, right, verdict(state))
                return
        if state is not None and not said:
            self._judge_completion(left, middle, right, state)

    def _judge_completion(self, left: bytes, middle: bytes, right: bytes, state: State) -> None:
        try:
            rest = state.shortest_completion
        except NoCompletionError:
            self.fault("dead end", left, middle, right, "no completion")
            return
        after = state.feed(rest)
        if self.accepts(left + middle + rest + right) is False or after is None or not after.complete:
            self.fault("dead end", left, middle, right, repr(rest))

    def fault(self, complaint: str, left: bytes, middle: bytes, right: bytes, detail: str = "") -> None:
        """Count a middle about which the engine is wrong."""
        self.faults.append(Fault(complaint, left, middle, right, detail, self.grammar))


def total(tallies: Iterator[Tally], cases: int) -> Tally:
    """The sum of as many *tallies* as have *cases* judged verdicts."""
    found = next(tallies)
    while found.judged < cases:
        found.include(next(tallies))
    return found


@dataclass(frozen=True)
class Judged:
    """A language with its judge, and the *pieces* that mutants of its texts are made of.

    Of a true middle the prefixes of the first *longest* bytes are judged. Behind a mutant that is said to be
    dead, *tries* texts are tried.
    """

    language: Language
    accepts: Judge
    pieces: Sequence[bytes] = ()
    longest: int = 200
    tries: int = 3
    grammar: str = ""

    @cached_property
    def engine(self) -> Engine:
        """The engine of all tests."""
        return self.fresh_engine()

    def fresh_engine(self) -> Engine:
        """An engine that has seen nothing."""
        return Engine(self.language, LanguageTables(self.language))

    def start_between(self, left: bytes, right: bytes, *, may_escape: bool = True) -> State | None:
        """The state before any byte between *left* and *right*, without leaving out any of them."""
        document = self.engine.document(left + right)
        return document.middle_at_bytes(len(left), len(left), relax=False, may_escape=may_escape).start

    def tally(self) -> Tally:
        """A tally of nothing yet."""
        return Tally(self.accepts, self.grammar)

    def walk(self, left: bytes, right: bytes, alphabet: Sequence[bytes], most: int) -> Tally:
        """Judge all middles of at most *most* symbols, each fed symbol by symbol; dead ones stay dead."""
        tally = self.tally()
        level: list[tuple[bytes, State | None]] = [(b"", self.start_between(left, right))]
        for length in range(most + 1):
            for middle, reached in level:
                tally.judge(left, middle, right, reached)
            if length < most:
                level = [(m + symbol, fed(reached, symbol)) for m, reached in level for symbol in alphabet]
        return tally

    def accepted(self, left: bytes, right: bytes, alphabet: Sequence[bytes], most: int) -> list[bytes]:
        """The middles of at most *most* symbols that the judge accepts."""
        return [middle for middle in words(alphabet, most) if self.accepts(left + middle + right)]
