"""Middles nobody wrote: derivations of our grammar, mutants, shortest completions, random walks, short texts.

Contexts are those of a valid text, of two texts, or changed ones: then often nothing connects them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count

from fimlsp.quotient.states.grammar_state import GrammarState

from .bench import Tally, Worker
from .cpython import VALID
from .cuts import KINDS, cut
from .laws import (
    ENGINE_ERRORS,
    Case,
    Disagreement,
    answer_differs,
    completion_fails,
    connection_differs,
    fed,
    guarded,
    prefix_dies,
    raised,
    relaxed_completion_fails,
)
from .mutations import dressed, mutant
from .sampling import Texts
from .snippets import Snippet
from .vocabulary import ALPHABETS, GROUPS

_DERIVATIONS = 12
_MUTANTS = 10
_LONGEST = 700
_CONTEXTS = 60
_MIDDLES = 20
_MOST_PIECES = 7
_MIXED = 0.3
_COMPLETED = 0.2
_FED_BYTE_BY_BYTE = 0.2
_STAYS = 0.3


@dataclass(frozen=True, slots=True)
class Soundness:
    """Valid texts to be cut, changed and walked in; with no texts, derivations are drawn."""

    seed: str
    texts: tuple[bytes, ...]

    def run(self, worker: Worker) -> Tally:
        """The disagreements about the texts made of them."""
        rng = random.Random(self.seed)
        checks = _Checks(worker, self.seed, rng)
        judged = worker.judged
        drawn = Texts(worker.engine.tables.grammar, self.seed)
        texts = self.texts or [drawn.draw() for _ in range(_DERIVATIONS)]
        for text in [dressed(text, rng) for text in texts]:
            case, other = (cut(rng.choice(tuple(KINDS)), t, rng) for t in (text, rng.choice(texts)))
            checks.between(case, "snippet" if self.texts else "derivation")
            checks.between(replace(case, right=other.right), "two texts")
            checks.between(_disturbed(case, rng), "changed context")
        checks.tally.judged = worker.judged - judged
        return checks.tally


def _disturbed(case: Case, rng: random.Random) -> Case:
    if rng.random() < 0.5:
        return replace(case, left=mutant(case.left, rng)[1])
    return replace(case, right=mutant(case.right, rng)[1])


@dataclass(frozen=True, slots=True)
class ShortTexts:
    """Contexts and middles of a few pieces out of small alphabets, put together without any sense."""

    seed: str

    def run(self, worker: Worker) -> Tally:
        """The disagreements about them."""
        rng = random.Random(self.seed)
        checks = _Checks(worker, self.seed, rng)
        judged = worker.judged
        for _ in range(_CONTEXTS):
            name = rng.choice(tuple(ALPHABETS))
            pieces = ALPHABETS[name] + ALPHABETS[rng.choice(tuple(ALPHABETS))] * (rng.random() < _MIXED)
            checks.all_between(*(_text(pieces, rng) for _ in range(2)), pieces, name)
        checks.tally.judged = worker.judged - judged
        return checks.tally


def _text(pieces: tuple[str, ...], rng: random.Random) -> bytes:
    return "".join(rng.choices(pieces, k=rng.randrange(_MOST_PIECES))).encode()


class _Checks:
    """The checks of one task."""

    def __init__(self, worker: Worker, seed: str, rng: random.Random) -> None:
        self.worker = worker
        self.seed = seed
        self.rng = rng
        self.tally = Tally()

    def between(self, case: Case, origin: str) -> None:
        """The true middle, mutants of it, beginnings of all of them completed, and a walk."""
        case, start = self._begun(case)
        if start is None:
            self._relaxed(case)
        self._judge(case, start, origin)
        self._complete(self._beginning(case), start)
        for number in range(_MUTANTS):
            kind, middle = mutant(case.middle, self.rng)
            changed = replace(case, middle=middle)
            self._judge(changed, start, kind)
            if number % 5 == 0:
                self._complete(changed, start)
        for middle in walk(start, case.middle, self.rng):
            walked = replace(case, middle=middle)
            self._judge(walked, start, "walk")
            if self.rng.random() < _COMPLETED:
                self._complete(walked, start)

    def all_between(self, left: bytes, right: bytes, pieces: tuple[str, ...], name: str) -> None:
        """Random middles of *pieces* between two contexts."""
        before, start = self._begun(Case(left, b"", right))
        for middle in dict.fromkeys(_text(pieces, self.rng) for _ in range(_MIDDLES)):
            case = replace(before, middle=middle)
            self._judge(case, start, f"short: {name}")
            if self.rng.random() < _COMPLETED:
                self._complete(case, start)

    def _begun(self, case: Case) -> tuple[Case, GrammarState | None]:
        """*case*, some of which have to stay, and the state before its middle."""
        start = self._start(case, self.worker.start)
        if self.rng.random() >= _STAYS:
            return case, start
        case = replace(case, forbid_escape=True)
        forbid_escape = self._start(case, self.worker.start)
        self._count("connection", connection_differs(case, forbid_escape, start))
        return case, forbid_escape

    def _relaxed(self, case: Case) -> None:
        """Completions where the contexts are broken."""
        start = self._start(case, self.worker.relaxed_start)
        for middle in (b"", *walk(start, case.middle, self.rng)):
            self._count("relaxed", self._relaxed_fault(replace(case, middle=middle), start))

    def _relaxed_fault(self, case: Case, start: GrammarState | None) -> Disagreement | None:
        return guarded("relaxed", case, lambda: relaxed_completion_fails(case, fed(start, case.middle)))

    def _start(self, case: Case, start_of: Callable[[Case], GrammarState | None]) -> GrammarState | None:
        try:
            return start_of(case)
        except ENGINE_ERRORS as error:
            self._count("contexts", raised("complete", case, error))
            return None

    def _beginning(self, case: Case) -> Case:
        return replace(case, middle=case.middle[: self.rng.randrange(len(case.middle) + 1)])

    def _judge(self, case: Case, start: GrammarState | None, construct: str) -> None:
        verdict = self.worker.judge(case.whole)
        disagreement = answer_differs(case, start, verdict)
        self._count(construct, disagreement)
        if disagreement is None and verdict.kind == VALID and self.rng.random() < _FED_BYTE_BY_BYTE:
            self._count("prefixes", guarded("prefixes", case, lambda: prefix_dies(case, start)))

    def _complete(self, case: Case, start: GrammarState | None) -> None:
        disagreement = guarded(
            "completion", case, lambda: completion_fails(self.worker, case, fed(start, case.middle))
        )
        self._count("completion", disagreement)

    def _count(self, construct: str, disagreement: Disagreement | None) -> None:
        self.worker.count(
            self.tally, [construct], disagreement and disagreement.found_in(construct, self.seed, "")
        )


def tasks(snippets: list[Snippet], seed: int) -> Iterator[Soundness | ShortTexts]:
    """Tasks without end, by turns about snippets, half of them with blocks, derivations and short texts."""
    valid = [
        snippet.data for snippet in snippets if snippet.message is None and len(snippet.data) <= _LONGEST
    ]
    blocks = [data for data in valid if b":\n" in data] or valid
    for index in count():
        name = f"{seed} {index}"
        rng = random.Random(name)
        if index % 2:
            yield ShortTexts(name)
        elif index % 4:
            yield Soundness(name, tuple(rng.choices(valid, k=6) + rng.choices(blocks, k=6)))
        else:
            yield Soundness(name, ())


_STEPS = 8
_TRIES = 6
_SHARE_OF_REFUSED = 0.3
_GROUPS = tuple(GROUPS.values())


def walk(start: GrammarState | None, middle: bytes, rng: random.Random) -> Iterator[bytes]:
    """Middles: a beginning of *middle*, then piece after piece, and some refused ones."""
    text = middle[: rng.randrange(len(middle) + 1)]
    state = fed(start, text)
    for _ in range(_STEPS if state is not None else 0):
        for _ in range(_TRIES):
            piece = _piece(rng)
            following = fed(state, piece)
            if following is not None or rng.random() < _SHARE_OF_REFUSED:
                yield text + piece
            if following is not None:
                text, state = text + piece, following
                break


def _piece(rng: random.Random) -> bytes:
    if rng.random() < 0.05:
        return bytes((rng.randrange(1, 256),))
    return rng.choice(rng.choice(_GROUPS))
