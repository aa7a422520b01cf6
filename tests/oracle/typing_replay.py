"""Replays the typing of functions: completions after a half-written line, and after the whole line.

The lines of a function are added one by one, each typed character by character. The line before is left
half-written, and nothing of the function follows yet. For comparison, the same is typed after the whole line.
At some characters the rest of the true line is complete after the whole line. There it should be complete
after the half-written line too, and the offered completion should be the same.

The line being typed may still finish a half-written line, such as an open call. Then some middle makes the
file valid. It is read as it is, and counted separately.
"""

from __future__ import annotations

import ast
import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import process_time

from rich.console import Console
from rich.table import Table

from fimlsp import DecodeSettings, complete_many, load_model
from fimlsp.languages.python import python
from fimlsp.models.loading import FimModel
from fimlsp.quotient.engine import Document, Engine
from fimlsp.quotient.states.protocol import State
from tests.quotient.corpus import complaint, library_files, parsed, read

FILES = 60
_LARGEST = 60_000
_LINES_IN_A_FILE = 5
_SETTINGS = DecodeSettings(tokens=16)


@dataclass(frozen=True, slots=True)
class Line:
    """A line to be typed, with the text before it, whole and with a half-written last line, and after it."""

    whole: str
    half: str
    code: str
    after: str


@dataclass
class Count:
    """The verdicts for characters read in one way, and the number of equal and of fitting completions."""

    verdicts: Counter[str] = field(default_factory=Counter)
    same: int = 0
    fits: int = 0
    times: list[float] = field(default_factory=list)
    whole_times: list[float] = field(default_factory=list)

    def include(self, other: Count) -> None:
        """Add the counts of *other*."""
        self.verdicts += other.verdicts
        self.same += other.same
        self.fits += other.fits
        self.times += other.times
        self.whole_times += other.whole_times


@dataclass
class Replayed:
    """The counts of files that were repaired and of those read as they are, and pairs of suggestions."""

    repaired: Count = field(default_factory=Count)
    as_it_is: Count = field(default_factory=Count)
    suggested: list[tuple[str, str]] = field(default_factory=list)


def lines(path: Path, seed: int) -> Iterator[Line]:
    """Some lines of the functions of a file; none if the file is unsuitable."""
    text = read(path)
    if not 0 < len(text) <= _LARGEST or complaint(text) is not None or "\f" in text or "\r" in text:
        return
    rng = random.Random(f"{seed} {path.name} {len(text)}")
    source = text.splitlines(keepends=True)
    places = [place for node in ast.walk(parsed(text)) for place in _pairs(node)]
    for before, number, last in rng.sample(places, min(len(places), _LINES_IN_A_FILE)):
        code = source[before].strip()
        if len(code) < 3 or code[0] in "#\"'" or source[number].strip()[:1] in ("", "#", '"', "'"):
            continue
        size = len(source[before]) - len(source[before].lstrip())
        cut = size + rng.randrange(1, len(code))
        lead = source[number][: len(source[number]) - len(source[number].lstrip())]
        above, between = "".join(source[:before]), "".join(source[before + 1 : number])
        yield Line(
            f"{above}{source[before]}{between}{lead}",
            f"{above}{source[before][:cut]}\n{between}{lead}",
            source[number].strip(),
            "\n" + "".join(source[last:]),
        )


def _pairs(node: ast.AST) -> Iterator[tuple[int, int, int]]:
    """The lines of two simple statements that follow each other, and the end of their function."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return
    simple = [part for part in ast.walk(node) if isinstance(part, ast.stmt) and not hasattr(part, "body")]
    simple.sort(key=lambda statement: statement.lineno)
    for first, second in pairwise(simple):
        if first.lineno == first.end_lineno and first.lineno < second.lineno == second.end_lineno:
            yield first.lineno - 1, second.lineno - 1, node.end_lineno or second.lineno


def replay(engine: Engine, line: Line) -> Replayed:
    """Type *line* after both texts."""
    result = Replayed()
    documents = [engine.document((above + line.after).encode()) for above in (line.whole, line.half)]
    cursors = [len(above.encode()) for above in (line.whole, line.half)]
    for size in range(len(line.code)):
        starts: list[State | None] = []
        times, repaired = [], False
        for document, cursor in zip(documents, cursors, strict=True):
            typed = len(line.code[:size].encode())
            started = process_time()
            if size:
                before = len(line.code[: size - 1].encode())
                document.edit(cursor + before, cursor + before, line.code[size - 1].encode())
            constraint = document.middle(cursor + typed, cursor + typed, may_escape=False, relax=True)
            times.append(1000 * (process_time() - started))
            starts.append(constraint.start)
            repaired = bool(constraint.relaxed)
        whole, half = starts
        rest = line.code[size:].encode()
        if whole is not None and _verdict(whole, rest) == "complete":
            count = result.repaired if repaired else result.as_it_is
            _compare(count, whole, half, rest)
            count.whole_times.append(times[0])
            count.times.append(times[1])
    return result


def _compare(count: Count, whole: State, half: State | None, rest: bytes) -> None:
    count.verdicts[_verdict(half, rest)] += 1
    if half is not None:
        count.same += half.shortest_completion == whole.shortest_completion
        count.fits += _verdict(whole, half.shortest_completion) == "complete"


def _verdict(state: State | None, middle: bytes) -> str:
    state = state and state.feed(middle)
    return "dead" if state is None else "complete" if state.complete else "viable"


def suggestions(engine: Engine, line: Line, rng: random.Random) -> tuple[str, str] | None:
    """The bundled model's suggestions within *line*, after the whole and the half-written line before it."""
    size = rng.randrange(len(line.code))
    texts = []
    for above in (line.whole, line.half):
        left, right = (above + line.code[:size]).encode(), line.after.encode()
        document: Document = engine.document(left + right)
        start = document.middle(len(left), len(left), may_escape=False, relax=True).start
        if start is None:
            return None
        made = complete_many(_model(), left, right, start, _SETTINGS, lambda: False)
        texts.append(made[0].text.decode(errors="replace") if made else "")
    return texts[0], texts[1]


@cache
def _model() -> FimModel:
    return load_model()


@cache
def _engine() -> Engine:
    return Engine(python())


def _replayed(path: Path, seed: int, suggest: bool) -> Replayed:
    result = Replayed()
    for line in lines(path, seed):
        part = replay(_engine(), line)
        result.repaired.include(part.repaired)
        result.as_it_is.include(part.as_it_is)
        if suggest:
            pair = suggestions(_engine(), line, random.Random(seed))
            result.suggested += [] if pair is None else [pair]
    return result


def run(console: Console, seed: int, files: int, workers: int, suggestions_from: int) -> None:
    """Replay the typing of lines of that many *files*; in the first few the bundled model suggests too."""
    paths = library_files(files, seed)
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        suggest = [number < suggestions_from for number in range(len(paths))]
        parts = list(pool.map(_replayed, paths, [seed] * len(paths), suggest))
    repaired, as_it_is = Count(), Count()
    for part in parts:
        repaired.include(part.repaired)
        as_it_is.include(part.as_it_is)
    table = Table(title=f"typing after a half-written line, seed {seed}, {len(paths)} files")
    for column in ("read", "characters", "complete", "viable", "dead", "same offered", "offered fits"):
        table.add_column(column, justify="left" if column == "read" else "right")
    for name, count in (("repaired", repaired), ("as it is", as_it_is)):
        total = sum(count.verdicts.values())
        if total:
            shares = (count.verdicts["complete"], count.verdicts["viable"], count.verdicts["dead"])
            table.add_row(name, str(total), *(f"{n / total:.1%}" for n in (*shares, count.same, count.fits)))
    console.print(table)
    if repaired.times:
        console.print(
            f"keystroke, CPU ms at the median: {median(repaired.times):.2f} repaired, "
            f"{median(repaired.whole_times):.2f} after the whole line"
        )
    pairs = [pair for part in parts for pair in part.suggested]
    if pairs:
        equal = sum(whole == half for whole, half in pairs)
        alike = sum(_first_word(whole) == _first_word(half) for whole, half in pairs)
        console.print(
            f"{len(pairs)} suggestions of the bundled model: {equal} equal, {alike} with the same first word"
        )


def _first_word(text: str) -> str:
    return text.split(maxsplit=1)[0] if text.strip() else ""
