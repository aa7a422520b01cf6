"""Texts that parse and may not compile: names that meet, words out of place, blocks exchanged.

Whole files, cuts of them and mutants of both are compared with `compile`, many middles at each cursor. The
completion of a viable middle has to compile as well.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count

from fimlsp.quotient.states.protocol import State

from .aimed import AIMED, disturbed, enclosed
from .bench import Tally, Worker
from .cpython import INVALID, VALID, Verdict
from .cuts import KINDS, cut
from .laws import Case, answer_differs, asked_differs, completion_fails, fed, guarded, prefix_dies
from .programs import program
from .sampling import Texts
from .snippets import Snippet

_DRAWN = 12
_MUTANTS = 8
_MIDDLES = 40
_UNCONNECTED = 3
_LONGEST = 500
_COMPLETED = 0.04
_FED_BYTE_BY_BYTE = 0.1
_NAMES = ("a", "b", "a", "b", "c", "_", "__a", "_A__a", "A", "__debug__", "annotations", "super")


@dataclass(frozen=True, slots=True)
class Compiling:
    """Texts to be changed and cut; with none, derivations are drawn, or *programs* made."""

    seed: str
    texts: tuple[bytes, ...]
    programs: bool = False

    def run(self, worker: Worker) -> Tally:
        """The disagreements about the texts made of them."""
        rng = random.Random(self.seed)
        judged = worker.judged
        checks = _Checks(worker, self.seed, rng)
        for text in self.texts or self._made(worker, rng):
            checks.about(text)
        checks.tally.judged = worker.judged - judged
        return checks.tally

    def _made(self, worker: Worker, rng: random.Random) -> list[bytes]:
        if self.programs:
            return [program(rng) for _ in range(_DRAWN)]
        drawn = Texts(worker.engine.tables.grammar, self.seed, names=_NAMES)
        return [drawn.draw() for _ in range(_DRAWN)]


class _Checks:
    """The checks of one task."""

    def __init__(self, worker: Worker, seed: str, rng: random.Random) -> None:
        self.worker = worker
        self.seed = seed
        self.rng = rng
        self.tally = Tally()

    def about(self, text: bytes) -> None:
        """*text* and mutants of it, whole and cut."""
        rng = self.rng
        for number in range(_MUTANTS):
            changed = text
            if number:
                changed = AIMED[rng.choice(tuple(AIMED))](text, 0, len(text), rng)
            if rng.random() < 0.4:
                changed = enclosed(changed, rng)
            self.between(cut(rng.choice(tuple(KINDS)), changed, rng) if changed else Case(b"", b"", b""))

    def between(self, case: Case) -> None:
        """The middle of *case* and others in its place."""
        start = self.worker.start(case)
        middles = self._middles(case, _MIDDLES if start is not None else _UNCONNECTED)
        cases = [replace(case, middle=middle) for middle in middles]
        verdicts = self.worker.judge_all([one.whole for one in cases])
        for one, verdict in zip(cases, verdicts, strict=True):
            self._judge(one, middles[one.middle], start, verdict)
        # the contexts connect, so every viable middle has a completion
        connects = any(verdict.kind == VALID for verdict in verdicts)
        for one in cases:
            if start is not None and self.rng.random() < _COMPLETED:
                self._complete(one, start, connects=connects)

    def _middles(self, case: Case, number: int) -> dict[bytes, str]:
        """The middle of *case* and others, each with its origin."""
        whole, start = case.whole, len(case.left)
        middles = {case.middle: "as it is"}
        for _ in range(number - 1):
            kind = self.rng.choice(tuple(AIMED))
            middles.setdefault(AIMED[kind](whole, start, start + len(case.middle), self.rng), kind)
        return middles

    def _judge(self, case: Case, kind: str, start: State | None, verdict: Verdict) -> None:
        found = answer_differs(case, start, verdict)
        self._count(kind if verdict.kind != INVALID else f"{kind}, refused", found)
        if found is None and self.rng.random() < _FED_BYTE_BY_BYTE:
            self._count("asked on the way", asked_differs(case, start, verdict))
        if found is None and verdict.kind == VALID and self.rng.random() < _FED_BYTE_BY_BYTE:
            self._count("prefixes", guarded("prefixes", case, lambda: prefix_dies(case, start)))

    def _complete(self, case: Case, start: State, *, connects: bool) -> None:
        """The completion of a beginning of *case*."""
        middle = case.middle
        if self.rng.random() < 0.3:
            middle = disturbed(middle, 0, len(middle), self.rng)
        begun = replace(case, middle=middle[: self.rng.randrange(len(middle) + 1)])
        found = guarded(
            "completion", begun, lambda: completion_fails(self.worker, begun, fed(start, begun.middle))
        )
        if connects:
            self._count("dead ends", found)
        else:
            self.tally.add(["between contexts that may not connect"], found, found and "contexts")

    def _count(self, construct: str, found: object) -> None:
        """Add an answer to the tally."""
        self.worker.count(self.tally, [construct], found and found.found_in(construct, self.seed, ""))


def tasks(snippets: list[Snippet], seed: int) -> Iterator[Compiling]:
    """Tasks without end, by turns about snippets, half of them with blocks, programs, and derivations."""
    valid = [
        s.data for s in snippets if s.message is None and len(s.data) <= _LONGEST and b"\f" not in s.data
    ]
    blocks = [data for data in valid if b":\n" in data] or valid
    for index in count():
        name = f"{seed} {index}"
        rng = random.Random(name)
        texts = rng.choices(valid, k=6) + rng.choices(blocks, k=6) if index % 2 else []
        yield Compiling(name, tuple(texts), programs=index % 4 == 0)
