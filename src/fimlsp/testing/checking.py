"""A language with its own parser as the reference, and the comparison of the engine's verdicts with it.

Cases come from suites, or from files: cursors, each with middles and their verdicts (see `tests/README.md`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from fimlsp.quotient.engine import Engine
from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.states.protocol import State
from fimlsp.quotient.states.shortest_completion import NoCompletionError

COMPLETE, VIABLE, DEAD = "complete", "viable", "dead"
"""The verdicts on a middle."""

Judge = Callable[[bytes], bool | None]
"""True if a text is valid; None if the reference parser leaves that open."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A middle about which the engine is wrong; *grammar* says of which language, where there are several.

    The complaint may be about the text with a *rest* after the middle: a completion, or the true rest of it.
    """

    complaint: str
    left: bytes
    middle: bytes
    right: bytes
    detail: str = ""
    grammar: str = ""
    rest: bytes = b""


def fed(start: State | None, middle: bytes) -> State | None:
    """The state after *middle*, which is fed at once."""
    return None if start is None else start.feed(middle)


def verdict(state: State | None) -> str:
    """The verdict of a state, in one word."""
    if state is None:
        return DEAD
    return COMPLETE if state.complete else VIABLE


def words(alphabet: Sequence[bytes], most: int) -> Iterator[bytes]:
    """All texts of at most *most* symbols."""
    for length in range(most + 1):
        yield from map(b"".join, itertools.product(alphabet, repeat=length))


@dataclass
class Tally:
    """The number of judged verdicts and of open ones, and the faults.

    A fault names the *grammar* if there are several. A text of which engine and reference parser think
    differently is open if `leaves_open` is true of it. `lengths` are those of random programs, in bytes.
    """

    accepts: Judge
    grammar: str = ""
    leaves_open: Callable[[bytes], bool] | None = None
    judged: int = 0
    undecided: int = 0
    faults: list[Fault] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)

    @property
    def dead_ends(self) -> int:
        """The number of viable middles without a completion."""
        return sum(fault.complaint == "dead end" for fault in self.faults)

    def include(self, other: Tally) -> None:
        """Add the counts of *other*."""
        self.judged += other.judged
        self.undecided += other.undecided
        self.faults += other.faults
        self.lengths += other.lengths

    def judge(self, left: bytes, middle: bytes, right: bytes, state: State | None) -> None:
        """Judge *state*: it is complete exactly if the parser accepts the whole, as is its completion."""
        accepted = self.accepts(left + middle + right)
        is_complete = state is not None and state.complete
        if accepted is None:
            self.undecided += 1
        else:
            if accepted != is_complete and self._is_open(left + middle + right):
                self.undecided += 1
                return
            self.judged += 1
            if is_complete != accepted:
                self.fault("rejects" if accepted else "accepts", left, middle, right, verdict(state))
                return
        if state is not None and not is_complete:
            self._judge_completion(left, middle, right, state)

    def _is_open(self, text: bytes) -> bool:
        return self.leaves_open is not None and self.leaves_open(text)

    def _judge_completion(self, left: bytes, middle: bytes, right: bytes, state: State) -> None:
        try:
            rest = state.shortest_completion
        except NoCompletionError:
            self.fault("dead end", left, middle, right, "no completion")
            return
        after, whole = state.feed(rest), left + middle + rest + right
        is_refused = self.accepts(whole) is False and not self._is_open(whole)
        if is_refused or after is None or not after.complete:
            self.fault("dead end", left, middle, right, repr(rest), rest)

    def fault(
        self, complaint: str, left: bytes, middle: bytes, right: bytes, detail: str = "", rest: bytes = b""
    ) -> None:
        """Count a middle about which the engine is wrong, or the text with a *rest* after it."""
        self.faults.append(Fault(complaint, left, middle, right, detail, self.grammar, rest))


def total(tallies: Iterator[Tally], cases: int) -> Tally:
    """The sum of as many *tallies* as have *cases* judged verdicts."""
    sum_ = next(tallies)
    while sum_.judged < cases:
        sum_.include(next(tallies))
    return sum_


@dataclass(frozen=True)
class Judged:
    """A language with its reference parser, and the *pieces* for mutants of its texts.

    Of a true middle the prefixes of the first *longest* bytes are judged. After a mutant that is dead for the
    engine, *tries* texts are tried.
    """

    language: Language
    accepts: Judge
    pieces: Sequence[bytes] = ()
    longest: int = 200
    tries: int = 3
    grammar: str = ""
    leaves_open: Callable[[bytes], bool] | None = None

    @cached_property
    def engine(self) -> Engine:
        """The engine of all tests."""
        return self.fresh_engine()

    def fresh_engine(self) -> Engine:
        """An engine without any cached line."""
        return Engine(self.language, LanguageTables(self.language))

    def start_between(self, left: bytes, right: bytes, *, may_escape: bool = True) -> State | None:
        """The state before any byte between *left* and *right*, without leaving out any of them."""
        document = self.engine.document(left + right)
        return document.middle_at_bytes(len(left), len(left), relax=False, may_escape=may_escape).start

    def tally(self) -> Tally:
        """An empty tally."""
        return Tally(self.accepts, self.grammar, self.leaves_open)

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
        """The middles of at most *most* symbols that the reference parser accepts."""
        return [middle for middle in words(alphabet, most) if self.accepts(left + middle + right)]


VERDICTS = {"+": COMPLETE, "~": VIABLE, "-": DEAD}
SIGNS = {"↵": "\n", "␍": "\r", "→": "\t", "␣": " ", "∅": ""}

Case = tuple[bytes, bytes, bytes, str]
"""The text left of a middle, the middle, the text right of it, and the verdict."""


def unquoted(text: str) -> bytes:
    """The bytes for *text*, with its signs and its ⟨hexadecimal⟩ bytes."""
    for sign, meaning in SIGNS.items():
        text = text.replace(sign, meaning)
    parts = re.split("⟨(..)⟩", text)
    return b"".join(bytes.fromhex(part) if i % 2 else part.encode() for i, part in enumerate(parts))


def read_cases(text: str) -> Iterator[Case]:
    """The cases of a file's *text*: contexts, each followed by middles with their verdicts."""
    left = right = b""
    for line in text.splitlines():
        if "<|>" in line:
            left, right = map(unquoted, line.split("<|>"))
        elif line[:2] in ("+ ", "~ ", "- "):
            yield left, unquoted(line[2:]), right, VERDICTS[line[0]]


def cases(path: Path) -> Iterator[Case]:
    """The cases of a file."""
    return read_cases(path.read_text(encoding="utf-8"))
