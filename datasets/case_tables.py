"""The tables of a replay's report, each made from the results alone, beside the figures of Melcer et al.

Those are of Melcer et al. 2024 (arXiv 2402.17988), Tables I and II and section VII. Their model is SantaCoder
(1.1 B parameters), their files are Python files of The Stack.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fimlsp.datasets.case_result import CONSTRAINED, DECODED, METHODS, Attempt, Result
from fimlsp.datasets.pages import Distribution, number, share, size_class, table

LANGUAGE = "python"
SETUP_MS = 270.0
SETUP_MS_PER_CHARACTER = 0.283
MS_PER_TOKEN = 4.5


@dataclass(frozen=True, slots=True)
class PaperTable:
    """One table of the paper.

    Attributes:
        title: its title in the paper.
        files, cases: their numbers.
        successes: the cases that each method fills so that the file parses.
        constrained: the cases that the constrained method fills, in three groups: the unconstrained output
            fills them, only the checked output fills them, or neither does.
        without: the cases in the same groups that the constrained method does not fill.
        wrong: the failures that it accepted; None if the paper does not state them.
    """

    title: str
    files: int
    cases: int
    successes: Mapping[str, int]
    constrained: tuple[int, int, int]
    without: tuple[int, int, int]
    wrong: int | None = None


BOUNDARY = PaperTable(
    "Table I, STACK-BOUNDARY",
    9_539,
    95_390,
    {"unconstrained": 65_353, "longest": 90_280, "constrained": 90_665},
    (65_342, 24_833, 490),
    (11, 94, 4_620),
    wrong=29,
)
RANDSPAN = PaperTable(
    "Table II, STACK-RANDSPAN",
    9_539,
    95_390,
    {"unconstrained": 68_590, "longest": 91_654, "constrained": 92_085},
    (68_570, 22_952, 563),
    (20, 112, 3_173),
)
TABLES: Mapping[str, PaperTable] = {
    "boundary": BOUNDARY,
    "paper-boundary": BOUNDARY,
    "randspan": RANDSPAN,
    "paper-randspan": RANDSPAN,
}


def setup_ms(characters: int) -> float:
    """Milliseconds of their implementation before the first token, by the size of the file."""
    return SETUP_MS + SETUP_MS_PER_CHARACTER * characters


MOST_ERRORS = 4
COSTS = ("", "n", "median", "90 %", "max", "mean")


def kinds_of(results: Sequence[Result]) -> list[str]:
    """The kinds of cuts, in the order in which they first occur."""
    return list(dict.fromkeys(result.kind for result in results))


def of_kind(results: Sequence[Result], kind: str) -> list[Result]:
    """The results of one kind of cut."""
    return [result for result in results if result.kind == kind]


def attempts(results: Sequence[Result], method: str) -> list[Attempt]:
    """The attempts of *method* at the cases that did not crash."""
    return [result.attempts[method] for result in results if method in result.attempts]


def n_ok(results: Sequence[Result], method: str) -> int:
    """The number of cases for which *method* has an answer that parses; a crash is a failure."""
    return sum(attempt.ok for attempt in attempts(results, method))


def success(results: Sequence[Result], kind: str, language: str) -> list[str]:
    """The row of this run, below that of the paper if it has the same kind of cut in the same language."""
    rows = list[list[object]]()
    if language == LANGUAGE and kind in TABLES:
        theirs = TABLES[kind]
        counts = [
            share(theirs.successes[m], theirs.cases) if m in theirs.successes else None for m in METHODS
        ]
        rows.append([f"the paper, {theirs.title}", f"{theirs.files:,}", f"{theirs.cases:,}", *counts])
    files = len({str(result.record["source"]) for result in results})
    ours = [share(n_ok(results, method), len(results)) for method in METHODS]
    rows.append(["this run", f"{files:,}", f"{len(results):,}", *ours])
    return table([kind, "files", "cases", *METHODS.values()], rows)


def compiling(results: Sequence[Result]) -> list[str]:
    """The share of parsing answers that compile, in files that compile, and the errors of the others."""
    chosen = [result for result in results if result.compiles]
    rows = list[list[object]]()
    for method, name in METHODS.items():
        errors = [attempt.compile_error for attempt in attempts(chosen, method) if attempt.ok]
        messages = Counter(error for error in errors if error is not None)
        most = "; ".join(f"{error} ({count:,})" for error, count in messages.most_common(MOST_ERRORS))
        rows.append([name, f"{len(errors):,}", share(len(errors) - messages.total(), len(errors)), most])
    return table(["method", "parse", "compile", "most frequent errors"], rows)


LEVELS = ("the unconstrained output", "only a beginning of it", "neither")


def paper_cells(results: Sequence[Result], kind: str, language: str) -> list[str]:
    """The cells of the paper's table: the cases that each method fills, with and without the constrained one.

    "Checked" is the longest beginning that parses. It fills every case that the unchecked output fills.
    """
    tried = [result.attempts for result in results if result.attempts]
    outcomes: Mapping[tuple[str, bool], int] = Counter(
        (_level(attempts), attempts["constrained"].ok) for attempts in tried
    )
    theirs = TABLES.get(kind) if language == LANGUAGE else None
    columns: dict[str, Sequence[int]] = {
        "and constrained": [outcomes[level, True] for level in LEVELS],
        "but not constrained": [outcomes[level, False] for level in LEVELS],
    }
    if theirs is not None:
        columns |= {
            "the paper: and constrained": theirs.constrained,
            "the paper: but not constrained": theirs.without,
        }
    cells = zip(*columns.values(), strict=True)
    rows = [[level, *(f"{cell:,}" for cell in row)] for level, row in zip(LEVELS, cells, strict=True)]
    return table(["parses", *columns], rows)


def _level(attempts_at_case: Mapping[str, Attempt]) -> str:
    if attempts_at_case["unconstrained"].ok:
        return LEVELS[0]
    return LEVELS[1] if attempts_at_case["longest"].ok else LEVELS[2]


def failures(results: Sequence[Result], kind: str, language: str) -> list[str]:
    """The failures of the constrained method: wrongly accepted, or never complete."""
    failed = [attempt for attempt in attempts(results, "constrained") if not attempt.ok]
    wrong = sum(attempt.text is not None for attempt in failed)
    rows: list[list[object]] = [["this run", f"{wrong:,}", f"{len(failed) - wrong:,}"]]
    theirs = TABLES.get(kind) if language == LANGUAGE else None
    if theirs is not None and theirs.wrong is not None:
        rows.append(["the paper", f"{theirs.wrong:,}", f"{sum(theirs.without) - theirs.wrong:,}"])
    return table(["constrained failures", "accepted, but does not parse", "never complete"], rows)


def pairwise(results: Sequence[Result]) -> list[str]:
    """The number of cases in which the method of the row succeeds and that of the column fails."""

    def wins(row: str, column: str) -> int | None:
        if row == column:
            return None
        pairs = zip(attempts(results, row), attempts(results, column), strict=True)
        return sum(one.ok and not other.ok for one, other in pairs)

    rows = [[f"**{title}**", *(wins(row, column) for column in METHODS)] for row, title in METHODS.items()]
    return table(["succeeds, where … fails", *METHODS.values()], rows)


def likeness(results: Sequence[Result]) -> list[str]:
    """Exact matches and mean edit similarity, for true middles of one line and of several."""
    rows = list[list[object]]()
    for title, one_line in (("one line", True), ("several lines", False)):
        chosen = [result for result in results if result.attempts and result.one_line == one_line]
        for method, name in METHODS.items():
            tried = attempts(chosen, method)
            if tried:
                exact = share(sum(attempt.exact for attempt in tried), len(tried))
                rows.append([title, name, len(tried), exact, *_means(tried)])
    return table(
        ["truth", "method", "cases", "exact match", "similarity, first line", "similarity, whole"], rows
    )


def _means(tried: Sequence[Attempt]) -> list[str]:
    first = sum(attempt.first_line for attempt in tried) / len(tried)
    return [f"{first:.3f}", f"{sum(attempt.similarity for attempt in tried) / len(tried):.3f}"]


def costs(results: Sequence[Result]) -> list[str]:
    """Distributions of times and counts over the cases."""
    ran = [result for result in results if result.attempts]
    rows = [_cost(name, values) for name, values in _quantities(ran)]
    return table(COSTS, [row for row in rows if row])


def _cost(name: str, values: Sequence[float]) -> list[object]:
    spread = Distribution.of(values)
    if spread is None:
        return []
    figures = [number(value) for value in (spread.median, spread.p90, spread.max, spread.mean)]
    return [name, f"{spread.n:,}", *figures]


def _quantities(ran: Sequence[Result]) -> Iterator[tuple[str, list[float]]]:
    yield "set-up, first cut of a file (ms)", [result.setup_ms for result in ran if result.first]
    yield "set-up, further cuts of it (ms)", [result.setup_ms for result in ran if not result.first]
    yield "set-up, all cuts of a file (its first cut = 1)", _shared_setup(ran)
    for method in CONSTRAINED:
        tried = attempts(ran, method)
        yield f"engine per token, {method} (ms)", [per_token(attempt) for attempt in tried if attempt.tokens]
        yield f"engine per candidate checked, {method} (ms)", [_per_check(a) for a in tried if a.tried]
        yield f"engine while decoding, {method} (ms)", [attempt.engine_ms for attempt in tried]
        yield f"candidates checked, {method}", [attempt.tried for attempt in tried]
        yield f"candidates refused, {method}", [attempt.rejected for attempt in tried]
    for method in DECODED:
        yield f"tokens, {method}", [attempt.tokens for attempt in attempts(ran, method)]
    yield "reference parser, per character of the answer (ms)", [result.check_ms for result in ran]
    free = attempts(ran, "unconstrained")
    yield "network, unconstrained (ms)", [attempt.model_ms for attempt in free]
    yield "network per token, unconstrained (ms)", [a.model_ms / a.tokens for a in free if a.tokens]


def _shared_setup(ran: Sequence[Result]) -> list[float]:
    """For each file with several cuts: the set-up time of all of them as a multiple of that of the first."""
    return [sum(times) / times[0] for times in _setups_by_file(ran)]


def _setups_by_file(ran: Sequence[Result]) -> list[list[float]]:
    """The set-up times of each file with several cuts, that of its first cut first."""
    by_file = defaultdict[str, list[float]](list)
    for result in ran:
        if result.first or str(result.record["source"]) in by_file:
            by_file[str(result.record["source"])].append(result.setup_ms)
    return [times for times in by_file.values() if len(times) > 1 and times[0]]


def per_token(attempt: Attempt) -> float:
    """Milliseconds in the engine per written token."""
    return attempt.engine_ms / max(1, attempt.tokens)


def _per_check(attempt: Attempt) -> float:
    return attempt.engine_ms / attempt.tried


def by_size(results: Sequence[Result]) -> list[str]:
    """Success and times by the size of the file; "all cuts / first" is a ratio of sums over the files."""
    ran = sorted((result for result in results if result.attempts), key=lambda result: result.size)
    classes = defaultdict[str, list[Result]](list)
    for result in ran:
        classes[f"below {size_class(result.size):,}"].append(result)
    if ran:
        classes["any number"] = ran
    rows = [[title, *_success_and_times(chosen)] for title, chosen in classes.items()]
    times = ["set-up, first cut", "set-up, further cuts", "all cuts / first", "per token"]
    return table(["characters", "cases", *METHODS, *times], rows)


def _success_and_times(ran: Sequence[Result]) -> list[object]:
    setups = _setups_by_file(ran)
    firsts = sum(times[0] for times in setups)
    return [
        f"{len(ran):,}",
        *(f"{100 * n_ok(ran, method) / len(ran):.1f} %" for method in METHODS),
        _median([result.setup_ms for result in ran if result.first]),
        _median([result.setup_ms for result in ran if not result.first]),
        number(sum(map(sum, setups)) / firsts) if setups else None,
        _median([per_token(attempt) for attempt in attempts(ran, "constrained") if attempt.tokens]),
    ]


def _median(values: Sequence[float]) -> str | None:
    spread = Distribution.of(values)
    return None if spread is None else number(spread.median)


def ratio(results: Sequence[Result]) -> list[str]:
    """The engine's times beside those that the paper's formula gives for the same files."""
    ran = [result for result in results if result.attempts]
    first = [result for result in ran if result.first]
    written = attempts(ran, "constrained")
    n_tokens = sum(attempt.tokens for attempt in written)
    engine_ms = sum(attempt.engine_ms for attempt in written)
    rows: list[list[object]] = [
        _ratio("set-up, first cut of a file", first, lambda result: setup_ms(result.size)),
        _ratio("set-up, all cuts", ran, lambda result: setup_ms(result.size)),
    ]
    if n_tokens and engine_ms:
        ours = engine_ms / n_tokens
        faster = f"{MS_PER_TOKEN / ours:,.0f}"
        rows.append(["per token", number(MS_PER_TOKEN), number(ours), faster])
    return table(["mean, ms", "the paper's", "ours", "times as fast"], [row for row in rows if row])


def _ratio(name: str, results: Sequence[Result], theirs: Callable[[Result], float]) -> list[object]:
    if not results:
        return []
    paper_ms = sum(map(theirs, results)) / len(results)
    ours_ms = sum(result.setup_ms for result in results) / len(results)
    return [name, number(paper_ms), number(ours_ms), f"{paper_ms / ours_ms:,.0f}" if ours_ms else None]


def causes(results: Sequence[Result]) -> list[str]:
    """The number of cases without a valid answer, by method and cause."""
    rows = list[list[object]]()
    for method, title in METHODS.items():
        counts = Counter(attempt.cause for attempt in attempts(results, method) if not attempt.ok)
        rows += [[title, cause, count] for cause, count in counts.most_common()]
    return table(["method", "cause", "cases"], rows)


def endings(results: Sequence[Result]) -> list[str]:
    """The ends of decoding, and the share of answers with steering."""
    rows = list[list[object]]()
    for method in DECODED:
        tried = attempts(results, method)
        stops = Counter(attempt.stop for attempt in tried if attempt.stop)
        steered = (
            share(sum(attempt.steered for attempt in tried), len(tried)) if method == "steered" else None
        )
        reasons = ", ".join(f"{stop} {count:,}" for stop, count in stops.most_common())
        rows.append([METHODS[method], reasons, steered])
    return table(["method", "decoding ended by", "steering took part"], rows)
