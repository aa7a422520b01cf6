"""Measures completions in files that are broken elsewhere.

A file gets one break or two, some lines above or below the cursor or in its own line. There is a hole of one
true line or one true token. The true middle should be complete there, as it is in the unbroken file. A
completion offered there should be complete in the unbroken file as well. At least it must not leave the block
or bracket of the hole.

A break in the cursor's own line may be directly beside the hole. Then the hole is larger: the true middle has
the text that the break removed as well.

Nothing is left out. Some middle makes a file valid whose break leaves a bracket or a string open above. Such
files have a row of their own, and a completion that goes on in that bracket or string counts as refused.

The files are those of Python's standard library, or of a folder in another language of `fimlsp replay`.
"""

from __future__ import annotations

import gc
import os
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import process_time

from rich.console import Console
from rich.table import Table

from fimlsp.datasets.languages import LANGUAGES
from fimlsp.languages.python import python
from fimlsp.quotient.engine import Document, Engine
from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.states.protocol import State
from tests.quotient.corpus import complaint, library_files, read

from .breaks import KINDS, LINE_KINDS, LineSource, Source, spliced

DISTANCES = range(13)
"""The distances of a break from the cursor, in lines; 0 is the cursor's own line."""
FILES = 200
_LARGEST = 60_000
_HOLES_IN_A_FILE = 6
_TRIES = 30
_MOST_SHOWN = 400


@dataclass(frozen=True, slots=True)
class Case:
    """A hole with the breaks around it: `kinds`, `sides` and `distances` have one element for each."""

    path: str
    left: str
    middle: str
    right: str
    whole_left: str
    whole_right: str
    kinds: tuple[str, ...]
    sides: tuple[str, ...]
    distances: tuple[int, ...]
    hole: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a case; the times are CPU milliseconds, those of the unbroken file first.

    `verdict` is "complete", "viable" or "dead". `connects` is True if some middle makes the file valid.
    `refused` are the completions that the unbroken file refuses. Those of them that leave the block or a
    bracket are `strays`, unless they repair one of two breaks. `first_setup` is the set-up of a new file,
    `setup` that of a file with a known unbroken text.
    """

    case: Case
    verdict: str
    connects: bool
    refused: tuple[str, ...]
    strays: tuple[str, ...]
    first_setup: tuple[float, float]
    setup: tuple[float, float]
    keystroke: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Breakable:
    """A language whose files are broken: grammar, reference parser, lines of a file, and kinds of breaks."""

    language: Language
    complaint: Callable[[str], str | None]
    source: Callable[[str], Source | LineSource]
    kinds: tuple[str, ...]


def breakable(name: str) -> Breakable:
    """The language with this *name* in `fimlsp replay`."""
    if name == "python":
        return Breakable(python(), complaint, Source, tuple(KINDS))
    known = LANGUAGES[name]
    return Breakable(
        known.grammar, known.syntax_error, partial(LineSource, language=known), tuple(LINE_KINDS)
    )


def cases(
    path: Path, broken: Breakable, seed: str, breaks: int, distances: Sequence[int] = DISTANCES
) -> Iterator[Case]:
    """Some cases of a file, each a hole with as many *breaks*; none if the file is unsuitable."""
    text = read(path)
    if not 0 < len(text) <= _LARGEST or "\f" in text or "\r" in text or broken.complaint(text) is not None:
        return
    rng = random.Random(f"{seed} {path.name} {len(text)}")
    source = broken.source(text)
    places = [number for number, tokens in enumerate(source.tokens) if _is_statement(source, number)]
    for number in rng.sample(places, min(len(places), _HOLES_IN_A_FILE)):
        for _ in range(_TRIES):
            case = _case(str(path), broken, source, number, breaks, distances, rng)
            if case is not None:
                yield case
                break


def _is_statement(source: Source | LineSource, number: int) -> bool:
    """True if a line is a whole indented line of code."""
    tokens = source.tokens[number]
    return (
        bool(tokens)
        and source.lines[number][:1] in " \t"
        and tokens[-1].end[0] == number + 1
        and source.ends[number] == tokens
    )


def _case(
    path: str,
    broken: Breakable,
    source: Source | LineSource,
    number: int,
    breaks: int,
    possible: Sequence[int],
    rng: random.Random,
) -> Case | None:
    lines = list(source.lines)
    start, end, hole = _hole(source, number, rng)
    line = source.lines[number]
    own_left, own_right = line[:start], line[end:]
    kinds, sides, distances = [], [], []
    for side in rng.sample(("above", "below"), 2)[:breaks]:
        kind = rng.choice(broken.kinds)
        near = _broken_near(broken, source, number, (start, end), kind, side, possible, rng)
        if near is None:
            return None
        distance, place, replacement = near
        if distance:
            lines[place] = "".join(replacement)
        elif side == "above":
            own_left = replacement[0][: len(replacement[0]) - len(line) + start]
        else:
            own_right = replacement[0][end:]
        kinds.append(kind)
        sides.append(side)
        distances.append(distance)
    above, below = "".join(source.lines[:number]), "".join(source.lines[number + 1 :])
    whole_left, middle, whole_right = line[:start], line[start:end], line[end:]
    if 0 in distances and (joined := between(line, own_left, own_right)) is not None:
        whole_left, middle, whole_right, hole = own_left, joined, own_right, "with its break"
    return Case(
        path,
        "".join(lines[:number]) + own_left,
        middle,
        own_right + "".join(lines[number + 1 :]),
        above + whole_left,
        whole_right + below,
        tuple(kinds),
        tuple(sides),
        tuple(distances),
        hole,
    )


def between(line: str, left: str, right: str) -> str | None:
    """The text that makes *line* of *left* and *right*, up to blanks between lexemes; None if no text does.

    It is the true middle if a break in the cursor's line is directly beside the hole.
    """
    if not line.startswith(left) and left.strip():
        left = left.rstrip(" \t")
    if not line.endswith(right):
        right = right.lstrip(" \t")
    if line.startswith(left) and line.endswith(right) and len(left) + len(right) <= len(line):
        return line[len(left) : len(line) - len(right)]
    return None


def _broken_near(
    broken: Breakable,
    source: Source | LineSource,
    number: int,
    hole: tuple[int, int],
    kind: str,
    side: str,
    possible: Sequence[int],
    rng: random.Random,
) -> tuple[int, int, list[str]] | None:
    """A distance, the line at that distance on the *side* of the *hole*, and its broken form.

    The distance is one of those *possible*. The hole is in line *number*. At distance 0 the break is on that
    side of the hole in its own line.
    """
    line = source.lines[number]
    for distance in rng.sample(possible, len(possible)):
        place = number + (distance if side == "below" else -distance)
        if 0 <= place < len(source.lines):
            replacement = source.broken(kind, place, rng)
            if replacement is None or not (distance or _is_beside(line, hole, side, replacement)):
                continue
            if broken.complaint(spliced(source.lines, place, replacement)):
                return distance, place, replacement
    return None


def _is_beside(line: str, hole: tuple[int, int], side: str, replacement: list[str]) -> bool:
    """True if *replacement* breaks *line* on that *side* of the *hole* only."""
    if len(replacement) != 1:
        return False
    if side == "above":
        return replacement[0].endswith(line[hole[0] :])
    return replacement[0].startswith(line[: hole[1]])


def _hole(source: Source | LineSource, number: int, rng: random.Random) -> tuple[int, int, str]:
    tokens = source.tokens[number]
    if rng.random() < 0.5:
        return tokens[0].start[1], tokens[-1].end[1], "line"
    token = rng.choice(tokens)
    return token.start[1], token.end[1], "token"


def start_at(document: Document, cursor: int) -> State | None:
    """The first state at the *cursor* as for an editor."""
    return document.middle(cursor, cursor, may_escape=False, relax=True).start


def connects(document: Document, cursor: int) -> bool:
    """True if some middle at the *cursor* makes the text valid as it is."""
    return document.middle(cursor, cursor, relax=False, may_escape=False).connectable


def first_setups(engine: Engine, case: Case) -> tuple[float, float]:
    """The CPU milliseconds until the cursor is set up: in the unbroken file, and in the broken one.

    Each is measured in a copy of this process, so that *engine* knows nothing of the file before or after.
    """
    texts = (case.whole_left, case.whole_right), (case.left, case.right)
    whole, broken = (_in_copy_of_process(partial(_setup, engine, *text)) for text in texts)
    return whole, broken


def _setup(engine: Engine, left: str, right: str) -> float:
    document, cursor = _document(engine, left, right)
    started = process_time()
    start_at(document, cursor)
    return 1000 * (process_time() - started)


def _in_copy_of_process(measure: Callable[[], float]) -> float:
    """The result of *measure* in a fork of this process."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        gc.disable()
        try:
            os.write(writing, repr(measure()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        result = pipe.read()
    os.waitpid(child, 0)
    return float(result)


def judge(engine: Engine, case: Case, first_setup: tuple[float, float]) -> Outcome:
    """Feed the true middle, and check offered completions in the unbroken file."""
    whole, cursor = _document(engine, case.whole_left, case.whole_right)
    start_at(whole, cursor)
    whole, broken = (
        _document(engine, *texts)[0]
        for texts in ((case.whole_left, case.whole_right), (case.left, case.right))
    )
    place = len(case.left.encode())
    gc.disable()
    started = process_time()
    true_start = start_at(whole, cursor)
    between = process_time()
    start = start_at(broken, place)
    ended = process_time()
    gc.enable()
    middle = case.middle.encode()
    state = start and start.feed(middle)
    verdict = "dead" if state is None else "complete" if state.complete else "viable"
    refused = tuple(_refused(start, true_start, middle)) if start and true_start else ()
    setup = 1000 * (between - started), 1000 * (ended - between)
    return Outcome(
        case,
        verdict,
        connects(broken, place),
        refused,
        tuple(completion for completion in refused if _strays(engine, case, completion)),
        first_setup,
        setup,
        (_keystroke(whole, cursor), _keystroke(broken, place)),
    )


def _strays(engine: Engine, case: Case, middle: str) -> bool:
    """True if *middle* leaves the block or a bracket of the hole, and does not repair one of two breaks.

    It repairs one if the file with it is valid after the other break is undone.
    """
    if not escapes(case.whole_left, case.middle, middle):
        return False
    sides = ((case.left, case.whole_right), (case.whole_left, case.right)) if len(case.kinds) > 1 else ()
    for left, right in sides:
        document, cursor = _document(engine, left, right)
        start = document.middle(cursor, cursor, relax=False, may_escape=False).start
        end = start and start.feed(middle.encode())
        if end is not None and end.complete:
            return False
    return True


def _document(engine: Engine, left: str, right: str) -> tuple[Document, int]:
    return engine.document((left + right).encode()), len(left.encode())


def _refused(start: State, true_start: State, middle: bytes) -> Iterator[str]:
    """The completions offered at the start and half-way that the unbroken file refuses."""
    for size in {0, len(middle) // 2}:
        part = middle[:size]
        state, true = start.feed(part), true_start.feed(part)
        if state is None or true is None:
            continue
        offered = state.shortest_completion
        refused = true.feed(offered) if offered else true
        if refused is None or not refused.complete:
            yield (part + offered).decode(errors="replace")


def _keystroke(document: Document, cursor: int) -> float:
    """The CPU milliseconds of a letter typed at *cursor* and the next request; the median of five."""
    times = []
    for typed in range(5):
        started = process_time()
        document.edit(cursor + typed, cursor + typed, b"a")
        start_at(document, cursor + typed + 1)
        times.append(1000 * (process_time() - started))
    document.edit(cursor, cursor + 5, b"")
    return median(times)


_engine: Engine | None = None


def _judged(path: Path, language: str, seed: str, breaks: int, distances: Sequence[int]) -> list[Outcome]:
    global _engine
    broken = breakable(language)
    _engine = _engine or Engine(broken.language)
    of_file = list(cases(path, broken, seed, breaks, distances))
    first = [first_setups(_engine, case) for case in of_file]
    return [judge(_engine, case, setups) for case, setups in zip(of_file, first, strict=True)]


def files_in(folder: Path, language: str, count: int, seed: int) -> list[Path]:
    """A sample of the files below *folder* that are written in *language*."""
    files = sorted(path for path in folder.rglob("*") if LANGUAGES[language].has_file(path.name))
    return random.Random(seed).sample(files, min(count, len(files)))


def run(
    console: Console,
    seed: int,
    files: int,
    workers: int,
    breaks: int,
    verbose: str,
    language: str = "python",
    folder: Path | None = None,
    distances: Sequence[int] = DISTANCES,
) -> None:
    """Judge the cases of that many *files* and print tables, and the failures of the kind *verbose*.

    The breaks are at *distances* from the cursor.
    The files are in *language*, below *folder*; those of Python are by default its standard library.
    """
    paths = files_in(folder, language, files, seed) if folder else library_files(files, seed)
    paths = [path for path in paths if "bad" not in path.name]
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        judged = partial(_judged, language=language, seed=str(seed), breaks=breaks, distances=distances)
        parts = pool.map(judged, paths)
        outcomes = [outcome for part in parts for outcome in part]
    console.print(f"{language}, seed {seed}, {len(paths)} files")
    console.print(counted(outcomes, breaks))
    for name, key in _GROUPS.items():
        console.print(_table(name, key, outcomes))
    _print_times(console, outcomes)
    shown = [outcome for outcome in outcomes if verbose and _is_shown(outcome, verbose)]
    for outcome in shown[:_MOST_SHOWN]:
        _show(console, outcome)


def _is_shown(outcome: Outcome, verbose: str) -> bool:
    if verbose == "strays":
        return bool(outcome.strays)
    failed = outcome.verdict != "complete" or bool(outcome.refused)
    return failed and (verbose == "all" or verbose in outcome.case.kinds)


def _show(console: Console, outcome: Outcome) -> None:
    case = outcome.case
    around = f"{case.kinds} {case.distances} {case.sides} {case.path}"
    console.rule(f"{outcome.verdict}, {_reading(outcome)}, {around}")
    left, right = case.left.splitlines(keepends=True), case.right.splitlines(keepends=True)
    reach = max(case.distances) + 4
    console.print(
        "".join(left[-reach:]) + f"⟦{case.middle}⟧" + "".join(right[:reach]), markup=False, highlight=False
    )
    console.print(f"refused: {outcome.refused}, strays: {outcome.strays}", markup=False)


def _reading(outcome: Outcome) -> str:
    return "some middle is valid" if outcome.connects else "no middle is valid"


def _distance(outcome: Outcome) -> str:
    nearest = min(outcome.case.distances)
    return str(nearest) if nearest else "own line"


_GROUPS: dict[str, Callable[[Outcome], str]] = {
    "kind": lambda outcome: outcome.case.kinds[0] if len(outcome.case.kinds) == 1 else "two",
    "reading": _reading,
    "side": lambda outcome: " and ".join(outcome.case.sides),
    "distance": _distance,
    "hole": lambda outcome: outcome.case.hole,
}


def _table(name: str, key: Callable[[Outcome], str], outcomes: Sequence[Outcome]) -> Table:
    table = Table(title=f"by {name}")
    for column in (name, "cases", "complete", "viable", "dead", "refused", "strays"):
        table.add_column(column, justify="left" if column == name else "right")
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[key(outcome)].append(outcome)
    for group in (*sorted(groups, key=lambda key: (len(key), key)), "all"):
        table.add_row(group, *_row(groups.get(group) or list(outcomes)))
    return table


def _row(outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield str(len(outcomes))
    verdicts = Counter(outcome.verdict for outcome in outcomes)
    for verdict in ("complete", "viable", "dead"):
        yield f"{verdicts[verdict] / len(outcomes):.1%}"
    yield str(sum(bool(outcome.refused) for outcome in outcomes))
    yield str(sum(bool(outcome.strays) for outcome in outcomes))


def counted(outcomes: Sequence[Outcome], breaks: int) -> str:
    """The cases that the tables count: all of them."""
    valid = sum(outcome.connects for outcome in outcomes)
    return (
        f"Counted: all {len(outcomes)} cases with {breaks} break(s) each, none left out. Some middle makes "
        f"{valid} of them valid, as text left open may go on there; none does that for the others."
    )


def _print_times(console: Console, outcomes: Sequence[Outcome]) -> None:
    def times(pairs: Sequence[tuple[float, float]]) -> list[float]:
        return [broken / whole for whole, broken in pairs]

    first, again = [outcome.first_setup for outcome in outcomes], [outcome.setup for outcome in outcomes]
    for name, values in (
        ("set-up of a broken file never seen, beside the unbroken one (times)", times(first)),
        ("set-up of an unbroken file never seen (ms)", [whole for whole, _ in first]),
        ("set-up of a broken file never seen (ms)", [broken for _, broken in first]),
        ("set-up if the unbroken file is known, broken beside unbroken (times)", times(again)),
        ("set-up of the unbroken file if it is known (ms)", [whole for whole, _ in again]),
        ("set-up of the broken file if the unbroken one is known (ms)", [broken for _, broken in again]),
        ("keystroke in the unbroken file (ms)", [outcome.keystroke[0] for outcome in outcomes]),
        ("keystroke in the broken file (ms)", [outcome.keystroke[1] for outcome in outcomes]),
    ):
        ranked = sorted(values)
        console.print(f"{name}: median {median(ranked):.2f}, p90 {ranked[len(ranked) * 9 // 10]:.2f}")


_STRING = r"(?s:\"\"\".*?(?:\"\"\"|\Z)|'''.*?(?:'''|\Z))|\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?"
_LEXEME = re.compile(
    rf"(?P<quiet>{_STRING}|#[^\n]*|\\\n)|(?P<opens>[(\[{{])|(?P<closes>[)\]}}])|(?P<line>\n)"
)
_INDENTATION = re.compile(r"[ \t]*(?=[^\s#])")


def escapes(left: str, middle: str, completion: str) -> bool:
    """True if *completion* leaves a bracket or block in which the true *middle* after *left* stays."""
    depth = sum(step for _, step in _steps(left))
    if _closed(completion) > _closed(middle):
        return True
    start = left.rfind("\n") + 1
    line = (left + middle)[start:]
    column = len(line) - len(line.lstrip(" \t"))
    return any(indentation < column for indentation in _indentations(completion, depth))


def _steps(text: str) -> Iterator[tuple[int, int]]:
    """The offsets of brackets outside strings and comments, each with 1 or -1; of line ends, with 0."""
    for lexeme in _LEXEME.finditer(text):
        if lexeme.lastgroup != "quiet":
            yield lexeme.end(), {"opens": 1, "closes": -1, "line": 0}[lexeme.lastgroup or ""]


def _closed(text: str) -> int:
    """The number of brackets that *text* closes without opening them."""
    depth = closed = 0
    for _, step in _steps(text):
        depth += step
        closed = max(closed, -depth)
    return closed


def _indentations(text: str, depth: int) -> Iterator[int]:
    """The indentation of each line of code that starts in *text*, which starts within *depth* brackets."""
    for end, step in _steps(text):
        depth += step
        if not step and depth <= 0 and (margin := _INDENTATION.match(text, end)):
            yield len(margin.group())
