"""Texts that parse and may not compile: names that meet, words out of place, blocks exchanged.

Whole files, cuts of them and mutants of both are held against `compile`; where a middle is viable, what
completes it has to compile as well.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count

from .bench import Worker
from .cuts import KINDS, cut
from .judge import VALID
from .laws import Case, answer_differs, completion_fails, fed, guarded, prefix_dies
from .mutations import mutant
from .sampling import Texts
from .snippets import Snippet
from .tally import Tally

_DERIVATIONS = 12
_MUTANTS = 8
_LONGEST = 700
_COMPLETED = 0.3
_FED_BYTE_BY_BYTE = 0.2
_NAMES = ("a", "b", "a", "b", "c", "_", "__a", "_A__a", "A", "__debug__", "annotations", "super")
_NAME = re.compile(rb"\b[a-zA-Z_]\w*\b")
_LINE_START = re.compile(rb"^[ \t]*(?=\w)", re.MULTILINE)
_STATEMENTS = (
    *(b"return\n", b"return a\n", b"yield\n", b"x = yield a\n", b"await a\n", b"break\n", b"continue\n"),
    *(b"global a\n", b"nonlocal a\n", b"global a, b\n", b"a = 1\n", b"import a\n", b"del a\n", b"a: b\n"),
    *(b"from a import *\n", b"from __future__ import annotations\n", b"async with a: pass\n", b"*a, b = c\n"),
    *(b"async for a in b: pass\n", b"[a async for a in b]\n", b"f(a=1, b=2)\n", b"[(a := b) for c in d]\n"),
    *(b"def f(a, b): pass\n", b"lambda a, b: (yield)\n", b"x = [await a for a in b]\n", b"__debug__ = 1\n"),
)
_HEADS = (
    *(b"def f(a):\n", b"async def f(a, b):\n", b"class A:\n", b"for a in b:\n", b"while a:\n", b"if a:\n"),
    *(b"def f():\n", b"async def f():\n", b"try:\n", b"with a as b:\n", b"match a:\n case b:\n"),
)


def colliding(text: bytes, rng: random.Random) -> bytes:
    """*text* with one of its names in the place of another."""
    found = list(_NAME.finditer(text))
    if len(found) < 2:
        return text + rng.choice(_STATEMENTS)
    to, of = rng.sample(found, 2)
    return text[: to.start()] + of.group() + text[to.end() :]


def misplaced(text: bytes, rng: random.Random) -> bytes:
    """*text* with a statement that needs its place, or a header, before one of its lines."""
    places = [match.end() for match in _LINE_START.finditer(text)] or [0]
    place = rng.choice(places)
    column = place - (text.rfind(b"\n", 0, place) + 1)
    margin = text[place - column : place]
    return text[:place] + rng.choice(_STATEMENTS) + margin + text[place:]


def enclosed(text: bytes, rng: random.Random) -> bytes:
    """*text* as the body of another block."""
    head = rng.choice(_HEADS)
    margin = b"  " if head.startswith(b"match") else b" "
    tail = b"except a: pass\n" if head == b"try:\n" else b""
    lines = text.splitlines(keepends=True)
    ended = b"" if text.endswith((b"\n", b"\r")) else b"\n"
    return head + b"".join(margin + line for line in lines) + ended + tail


_AIMED = {"names": colliding, "words": misplaced, "blocks": enclosed}


@dataclass(frozen=True, slots=True)
class Compiling:
    """Texts to be changed and cut; with none, derivations are drawn."""

    seed: str
    texts: tuple[bytes, ...]

    def run(self, worker: Worker) -> Tally:
        """What is wrong with what was made of them."""
        rng = random.Random(self.seed)
        judged = worker.judged
        checks = _Checks(worker, self.seed, rng)
        drawn = Texts(worker.engine.tables.grammar, self.seed, names=_NAMES)
        for text in self.texts or [drawn.draw() for _ in range(_DERIVATIONS)]:
            checks.about(text)
        checks.tally.judged = worker.judged - judged
        return checks.tally


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
            kind, changed = "as it is", text
            if number:
                kind = rng.choice((*_AIMED, "other"))
                changed = _AIMED[kind](text, rng) if kind in _AIMED else mutant(text, rng)[1]
            if rng.random() < 0.4:
                changed = enclosed(changed, rng)
            case = cut(rng.choice(tuple(KINDS)), changed, rng) if number % 2 else Case(changed, b"", b"")
            self.judge(case, kind)

    def judge(self, case: Case, kind: str) -> None:
        """The answer about *case*, its prefixes, and what completes its beginning."""
        start = self.worker.start(case)
        verdict = self.worker.judge(case.whole)
        found = answer_differs(case, start, verdict)
        self.count(kind, found)
        if found is None and verdict.kind == VALID and self.rng.random() < _FED_BYTE_BY_BYTE:
            self.count("prefixes", guarded("prefixes", case, lambda: prefix_dies(case, start)))
        if self.rng.random() < _COMPLETED:
            # where the contexts are known to connect, what is viable has a completion
            middle = mutant(case.middle, self.rng)[1] if self.rng.random() < 0.5 else case.middle
            begun = replace(case, middle=middle[: self.rng.randrange(len(middle) + 1)])
            found = guarded(
                "completion", begun, lambda: completion_fails(self.worker, begun, fed(start, begun.middle))
            )
            if verdict.kind == VALID:
                self.count("dead ends", found)
            else:
                self.tally.add(["between contexts that may not connect"], found, found and "contexts")

    def count(self, construct: str, found: object) -> None:
        """Add an answer to the tally."""
        self.worker.count(self.tally, [construct], found and found.found_in(construct, self.seed, ""))


def tasks(found: list[Snippet], seed: int) -> Iterator[Compiling]:
    """Tasks without end, by turns about snippets, half of them with blocks, and derivations."""
    valid = [s.data for s in found if s.message is None and len(s.data) <= _LONGEST and b"\f" not in s.data]
    blocks = [data for data in valid if b":\n" in data] or valid
    for index in count():
        name = f"{seed} {index}"
        rng = random.Random(name)
        texts = rng.choices(valid, k=6) + rng.choices(blocks, k=6) if index % 2 else []
        yield Compiling(name, tuple(texts))
