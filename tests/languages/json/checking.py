"""One engine for all tests of JSON, and what it and the judge say about a middle."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache

from fimlsp.languages.json import json
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.states.protocol import State

from .judge import is_json

COMPLETE, VIABLE, DEAD = "complete", "viable", "dead"


@cache
def engine() -> Engine:
    """The engine of all tests."""
    return Engine(json)


def fresh_engine() -> Engine:
    """An engine that has seen nothing."""
    return Engine(json, LanguageTables(json))


def start_between(left: bytes, right: bytes, *, may_escape: bool = True) -> State | None:
    """The state before any byte between *left* and *right*, without leaving out any of them."""
    document = engine().document(left + right)
    return document.middle_at_bytes(len(left), len(left), relax=False, may_escape=may_escape).start


def fed(state: State | None, middle: bytes) -> State | None:
    """The state after *middle* as well."""
    return None if state is None else state.feed(middle)


def verdict(state: State | None) -> str:
    """What a state says, in one word."""
    if state is None:
        return DEAD
    return COMPLETE if state.complete else VIABLE


@dataclass(frozen=True)
class Fault:
    """A middle about which the engine is wrong."""

    complaint: str
    left: bytes
    middle: bytes
    right: bytes
    detail: str = ""


def fault(left: bytes, middle: bytes, right: bytes, state: State | None) -> Fault | None:
    """What is wrong with *state*, said to hold after *middle*; None if nothing is.

    It must be complete exactly if the judge accepts the whole, and what it offers as its completion must do.
    """
    accepted = is_json(left + middle + right)
    if state is None or state.complete != accepted:
        said = verdict(state)
        return (
            Fault("rejects" if accepted else "accepts", left, middle, right, said)
            if accepted or state
            else None
        )
    return None if accepted else completion_fault(left, middle, right, state)


def completion_fault(left: bytes, middle: bytes, right: bytes, state: State) -> Fault | None:
    """What is wrong with the shortest completion of *state*: then it is a dead end."""
    rest = state.shortest_completion
    if not is_json(left + middle + rest + right):
        return Fault("dead end", left, middle, right, repr(rest))
    after = state.feed(rest)
    if after is None or not after.complete:
        return Fault("dead end: does not accept its completion", left, middle, right, repr(rest))
    return None


@dataclass
class Tally:
    """How many verdicts were judged, and those found wrong."""

    judged: int = 0
    faults: list[Fault] = field(default_factory=list)

    def judge(self, left: bytes, middle: bytes, right: bytes, state: State | None) -> None:
        """Judge what *state* says."""
        self.judged += 1
        self.faults += filter(None, [fault(left, middle, right, state)])

    def include(self, others: Iterable[Tally]) -> None:
        """Count what *others* found as well."""
        for other in others:
            self.judged += other.judged
            self.faults += other.faults

    @property
    def dead_ends(self) -> int:
        """How many viable middles nothing completes."""
        return sum(found.complaint.startswith("dead end") for found in self.faults)
