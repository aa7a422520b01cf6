"""The laws of a middle, each as a function from a case to a disagreement.

*complete* means that CPython parses left, middle and right together; *viable* that some continuation is
complete. Every law holds at the limits of CPython's own parser (its recursion, a NUL).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from fimlsp.quotient.engine import Engine
from fimlsp.quotient.states.grammar_state import GrammarState
from fimlsp.quotient.states.shortest_completion import NoCompletionError

from .cpython import INVALID, LIMIT, VALID, Verdict
from .interpreters import Judge

ENGINE_ERRORS = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, NotImplementedError),
    *(RecursionError, TypeError, ValueError),
)
"""The exceptions of a fault in the engine."""

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|\(.*\)|\d+")


def construct_of(message: str) -> str:
    """A message without its quoted parts."""
    return _QUOTED.sub("…", message)


def way(got: str) -> str:
    """An answer without the text in it."""
    return "text" if got[:2] in ("b'", 'b"') else got.partition(" after ")[0]


@dataclass(frozen=True, slots=True)
class Case:
    """A middle between two contexts; with *forbid_escape* it must stay in their brackets and blocks."""

    left: bytes
    middle: bytes
    right: bytes
    forbid_escape: bool = False

    @property
    def whole(self) -> bytes:
        """The text of the file."""
        return self.left + self.middle + self.right


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A case about which the engine is wrong; `law` is the key in `LAWS` of the broken law.

    `completed` is the judged text if the engine completed the middle.
    """

    law: str
    case: Case
    expected: str
    got: str
    message: str = ""
    completed: bytes = b""
    construct: str = ""
    seed: str = ""
    origin: str = ""

    @property
    def signature(self) -> tuple[str, ...]:
        """The parts that disagreements of the same cause usually share."""
        return self.law, self.expected, way(self.got), construct_of(self.message)

    def found_in(self, construct: str, seed: str, origin: str) -> Disagreement:
        """The same disagreement with its origin."""
        return replace(self, construct=construct, seed=seed, origin=origin)


class Bench:
    """An engine and its reference parser; `judged` counts the parser's verdicts."""

    def __init__(self, engine: Engine, judge: Judge) -> None:
        self.engine = engine
        self.judged = 0
        self._judge = judge

    def judge(self, data: bytes) -> Verdict:
        """CPython's verdict; its limits are not counted."""
        return self.judge_all([data])[0]

    def judge_all(self, texts: Sequence[bytes]) -> list[Verdict]:
        """As `judge`, for each of *texts*; one call costs less than many."""
        verdicts = self._judge(texts)
        self.judged += sum(verdict.kind != LIMIT for verdict in verdicts)
        return verdicts

    def start(self, case: Case) -> GrammarState | None:
        """The state between the contexts of *case*, neither of which is relaxed."""
        if not case.left and not case.right:
            return self._empty
        document = self.engine.document(case.left + case.right)
        cursor = len(case.left)
        return document.middle_at_bytes(cursor, cursor, relax=False, may_escape=not case.forbid_escape).start

    def relaxed_start(self, case: Case) -> GrammarState | None:
        """As `start`, with as little as possible of the contexts left out if nothing connects them."""
        document = self.engine.document(case.left + case.right)
        return document.middle_at_bytes(
            len(case.left), len(case.left), may_escape=not case.forbid_escape
        ).start

    @cached_property
    def _empty(self) -> GrammarState | None:
        return self.engine.document(b"").middle_at_bytes(0, 0, relax=False).start


def agrees(bench: Bench, case: Case) -> Disagreement | None:
    """Complete exactly if CPython accepts the whole."""
    return answer_differs(case, bench.start(case), bench.judge(case.whole))


def answer_differs(case: Case, start: GrammarState | None, verdict: Verdict) -> Disagreement | None:
    """As `agrees`, with a known state before the middle and a known verdict."""
    return guarded("complete", case, lambda: verdict_differs(case, fed(start, case.middle), verdict))


def verdict_differs(case: Case, state: GrammarState | None, verdict: Verdict) -> Disagreement | None:
    """As `agrees`, with a known state after the middle and a known verdict.

    Of middles that must not escape, only accepted ones are judged, since CPython knows no escapes.
    """
    accepts = state is not None and state.complete
    if verdict.kind == VALID and not accepts and not case.forbid_escape:
        return Disagreement("complete", case, "complete", "dead" if state is None else "viable")
    if verdict.kind == INVALID and accepts:
        return Disagreement("complete", case, "not complete", "complete", verdict.message)
    return None


def asked_differs(case: Case, start: GrammarState | None, verdict: Verdict) -> Disagreement | None:
    """As `answer_differs`, with `complete` evaluated in each state on the way."""

    def state() -> GrammarState | None:
        reached = start
        for number in range(len(case.middle)):
            if reached is not None and reached.complete is not None:
                reached = reached.feed(case.middle[number : number + 1])
        return reached

    return guarded("asked on the way", case, lambda: verdict_differs(case, state(), verdict))


def whole_agrees(bench: Bench, case: Case) -> Disagreement | None:
    """The empty middle is complete between the contexts exactly if CPython accepts them together."""
    disagreement = agrees(bench, replace(case, left=case.left + case.middle, middle=b""))
    return disagreement and replace(disagreement, law="empty middle", case=case)


def prefixes_live(bench: Bench, case: Case) -> Disagreement | None:
    """All prefixes of a complete middle are viable, and reading it byte by byte changes nothing."""
    return None if bench.judge(case.whole).kind != VALID else prefix_dies(case, bench.start(case))


def prefix_dies(case: Case, state: GrammarState | None) -> Disagreement | None:
    """As `prefixes_live`, for a middle known to be complete if it does not escape; an empty one does not."""
    if (
        case.forbid_escape
        and case.middle
        and ((after := fed(state, case.middle)) is None or not after.complete)
    ):
        return None
    for length in range(len(case.middle) + 1):
        if state is None:
            return Disagreement("prefixes", case, "viable", f"dead after {case.middle[:length]!r}")
        if length < len(case.middle):
            state = state.feed(case.middle[length : length + 1])
    assert state is not None
    return None if state.complete else Disagreement("prefixes", case, "complete", "viable, byte by byte")


def completes(bench: Bench, case: Case) -> Disagreement | None:
    """A viable middle has a completion, which the engine takes and CPython accepts."""
    return completion_fails(bench, case, fed(bench.start(case), case.middle))


def completion_fails(bench: Bench, case: Case, state: GrammarState | None) -> Disagreement | None:
    """As `completes`, for a middle that led to *state*."""
    if state is None:
        return None
    try:
        rest = state.shortest_completion
    except NoCompletionError as error:
        return Disagreement("completion", case, "a completion", "none", type(error).__name__)
    completed = case.left + case.middle + rest + case.right
    verdict = bench.judge(completed)
    if verdict.kind == INVALID:
        return Disagreement("completion", case, "a valid completion", repr(rest), verdict.message, completed)
    after = state.feed(rest)
    if verdict.kind == VALID and (after is None or not after.complete):
        return Disagreement("completion", case, "takes its completion", repr(rest))
    return None


def fed(state: GrammarState | None, middle: bytes) -> GrammarState | None:
    """The state after *middle*."""
    return None if state is None else state.feed(middle)


def relaxed_completes(bench: Bench, case: Case) -> Disagreement | None:
    """A viable middle between relaxed contexts has a completion, which the engine takes."""
    return relaxed_completion_fails(case, fed(bench.relaxed_start(case), case.middle))


def relaxed_completion_fails(case: Case, state: GrammarState | None) -> Disagreement | None:
    """As `relaxed_completes`, for a middle that led to *state*."""
    if state is None:
        return None
    try:
        rest = state.shortest_completion
    except NoCompletionError as error:
        return Disagreement("relaxed", case, "a completion", "none", type(error).__name__)
    after = state.feed(rest)
    if after is None or not after.complete:
        return Disagreement("relaxed", case, "takes its completion", repr(rest))
    return None


def connects(bench: Bench, case: Case) -> Disagreement | None:
    """A middle without escapes exists exactly if any middle connects; if only escapes do, they may."""
    return connection_differs(
        case, bench.start(case), bench.start(replace(case, forbid_escape=not case.forbid_escape))
    )


def connection_differs(
    case: Case, state: GrammarState | None, other: GrammarState | None
) -> Disagreement | None:
    """As `connects`, for the states before any byte."""
    if (state is None) == (other is None):
        return None
    return Disagreement("connection", case, "the same with an escape and without", "not the same")


Law = Callable[[Bench, Case], Disagreement | None]

LAWS: dict[str, Law] = {
    "complete": agrees,
    "empty middle": whole_agrees,
    "prefixes": prefixes_live,
    "completion": completes,
    "connection": connects,
    "relaxed": relaxed_completes,
}


def broken(law: str, bench: Bench, case: Case) -> Disagreement | None:
    """The disagreement with *law*; an exception of the engine is one as well."""
    return guarded(law, case, lambda: LAWS[law](bench, case))


def guarded(law: str, case: Case, check: Callable[[], Disagreement | None]) -> Disagreement | None:
    """The result of *check*, or the exception that the engine raised in it."""
    try:
        return check()
    except ENGINE_ERRORS as error:
        return raised(law, case, error)


def raised(law: str, case: Case, error: Exception) -> Disagreement:
    """An exception of the engine, which is always a fault."""
    return Disagreement(law, case, "an answer", f"raises {type(error).__name__}", str(error))
