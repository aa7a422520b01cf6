"""One engine for all tests of Go, and what it and the judge say about a middle."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from fimlsp.languages.go import go
from fimlsp.quotient.completion.shortest import NoCompletionError
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.states.protocol import State

from .judge import is_go


@cache
def engine() -> Engine:
    """The engine of all tests."""
    return Engine(go)


def start_between(left: bytes, right: bytes, *, may_escape: bool = True) -> State | None:
    """The state before any byte between *left* and *right*, without leaving out any of them."""
    document = engine().document(left + right)
    return document.middle_at_bytes(len(left), len(left), relax=False, may_escape=may_escape).start


def verdict(state: State | None) -> str:
    """What a state says, in one word."""
    if state is None:
        return "dead"
    return "complete" if state.complete else "viable"


@dataclass(frozen=True)
class Fault:
    """A middle about which the engine is wrong."""

    complaint: str
    left: bytes
    middle: bytes
    right: bytes
    detail: str = ""


@dataclass
class Tally:
    """How many verdicts were judged, how many the judge left open, and those found wrong."""

    judged: int = 0
    undecided: int = 0
    faults: list[Fault] = field(default_factory=list)

    @property
    def dead_ends(self) -> int:
        """How many viable middles nothing completes."""
        return sum(found.complaint.startswith("dead end") for found in self.faults)

    def include(self, other: Tally) -> None:
        """Count what *other* found as well."""
        self.judged += other.judged
        self.undecided += other.undecided
        self.faults += other.faults

    def judge(self, left: bytes, middle: bytes, right: bytes, state: State | None) -> None:
        """Judge *state*: complete exactly if the judge accepts the whole, and what completes it does."""
        accepted = is_go(left + middle + right)
        said = state is not None and state.complete
        if accepted is None:
            self.undecided += 1
        else:
            self.judged += 1
            if said != accepted:
                complaint = "rejects" if accepted else "accepts"
                self.faults.append(Fault(complaint, left, middle, right, verdict(state)))
                return
        if state is not None and not said:
            self._judge_completion(left, middle, right, state)

    def _judge_completion(self, left: bytes, middle: bytes, right: bytes, state: State) -> None:
        try:
            rest = state.shortest_completion
        except NoCompletionError:
            self.faults.append(Fault("dead end", left, middle, right, "no completion"))
            return
        after = state.feed(rest)
        if is_go(left + middle + rest + right) is False or after is None or not after.complete:
            self.faults.append(Fault("dead end", left, middle, right, repr(rest)))
