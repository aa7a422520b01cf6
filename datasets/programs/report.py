"""The report of a run over problems, from left to right and into holes, and tables of several runs.

The tables have the form of SynCode's evaluation. Ugare et al. 2024 (arXiv 2403.01632) count syntax errors
with and without the constraint, passed tests, and times. They do so for collections of problems, models,
numbers of examples, limits of tokens and ways to draw. Each of these is a run here, and a row of every table.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from statistics import mean

from fimlsp.datasets.pages import Distribution, number, share, table, write_page
from fimlsp.datasets.plan import About
from fimlsp.datasets.programs.problems import KINDS
from fimlsp.datasets.programs.run import LEFT_TO_RIGHT, ProgramsPlan, TestedAnswer, read_run
from fimlsp.datasets.programs.writing import METHODS, Answer, Method
from fimlsp.datasets.run_folder import RunFolder

PASS_AT = (1, 10)
HEAD = (
    *("collection", "problems", "language", "model", "methods", "shots", "temperature", "top_p", "samples"),
    *("tokens", "seed", "check", "limit"),
)
REASONS = 6
STATED = (
    ("Bavarian et al. 2022, 6.9 B, FIM rate 0.5", (73.0, 40.6, 52.1)),
    ("Bavarian et al. 2022, 6.9 B, FIM rate 0.9", (75.1, 44.1, 55.1)),
)
"""Pass rates of their Table 4 (arXiv 2207.14255), in percent, for the kinds of holes in their order."""

EXPLANATION = """\
*Syntax errors*: CPython (in Go, `go/parser`) refuses prompt and answer together. *At the limit*: the tokens
were used up. With the constraint such an answer is steered to a short end, and counts like all others.
*pass@k*: the unbiased estimate of Chen et al. 2021 from all answers to a problem. *ms an answer*: on the
clock, with the set-up of the constraint, without reading the prompt and without the tests. Both ways draw
with the same noise. An answer ends before a new statement of the file that starts with `class`, `def`, `#`,
`if` or `print` (Chen et al. 2021), in Go after the function. With the constraint the program must be complete
there."""
HOLES = """\
Single lines, runs of lines and spans of characters are cut out of the canonical solutions as by Bavarian et
al. 2022 (in the same numbers; the ends of spans are drawn anew). The likeliest token is taken. An answer is
the model's text up to its own end. With the constraint it ends there or at the best stop at which the program
is complete."""
ENFORCED = """\
Each answer was run in a process of its own that the Linux kernel contains: new namespaces of users,
processes, networks and mounts, a view of the files with libraries alone, Landlock, and a list of permitted
system calls. `setrlimit` limits processor time, memory, and the sizes and number of files. The test ran in
another process, which got plain values from the program. In Go the test is within the program. With
`--uncontained` in the command, layers that the kernel lacked were left out."""


def write_report(out: Path) -> None:
    """Write the pages about the run in *out*.

    Raises:
        RunFolderError: there is none, or it is damaged.
    """
    run, answers = RunFolder(out), read_run(out)
    groups = defaultdict[str, list[TestedAnswer]](list)
    for answer in answers:
        groups[answer.form].append(answer)
    lines = ["# Programs with tests", "", *_head(run.plan(ProgramsPlan), run.about)]
    if written := groups.get(LEFT_TO_RIGHT):
        lines += ["## From left to right", "", EXPLANATION, "", *_left_to_right(written)]
    if any(kind in groups for kind in KINDS):
        lines += ["## Holes", "", HOLES, "", *_holes(groups), *_stated(groups)]
    lines += ["## Failures", "", *_reasons(answers), "## Containment", "", ENFORCED, ""]
    write_page(out, "report", lines, {})


def _head(plan: ProgramsPlan, about: About) -> list[str]:
    values = {name: getattr(plan, name) for name in HEAD}
    rows = [[name, ", ".join(value) if isinstance(value, tuple) else value] for name, value in values.items()]
    rows += [["fimlsp", f"{plan.fimlsp}, code {plan.code}"], ["machine", about.machine]]
    return ["```sh", about.command, "```", "", *table(["", ""], rows)]


def _left_to_right(answers: Sequence[TestedAnswer]) -> list[str]:
    rows = list[list[object]]()
    for method in METHODS:
        chosen = _of_method(answers, method)
        if not chosen:
            continue
        written, n = [answer.written for answer in chosen], len(chosen)
        faults = Counter(answer.fault for answer in written)
        tokens = sum(answer.tokens for answer in written)
        rows.append(
            [
                method,
                f"{n:,}",
                share(n - faults[""], n),
                share(faults["indentation"], n),
                share(sum(answer.stop == "budget" for answer in written), n),
                share(sum(answer.steered for answer in written), n),
                number(sum(answer.refused for answer in written) / max(1, tokens)),
                *(percent(pass_rate(k, chosen)) for k in PASS_AT),
                number(sum(answer.ms for answer in written) / n),
                number(sum(answer.ms for answer in written) / max(1, tokens)),
            ]
        )
    head = ["", "answers", "syntax errors", "of indentation", "at the limit", "steered", "refused a token"]
    head += [*(f"pass@{k}" for k in PASS_AT), "ms an answer", "ms a token"]
    return [*table(head, rows), *_ratio(answers)]


def _of_method(answers: Sequence[TestedAnswer], method: str) -> list[TestedAnswer]:
    return [answer for answer in answers if answer.method == method]


def _ratio(answers: Sequence[TestedAnswer]) -> list[str]:
    """The ratio of times with and without the constraint: for all answers, and for a token of one answer."""
    cases = defaultdict[str, dict[str, Answer]](dict)
    for answer in answers:
        cases[answer.case][answer.method] = answer.written
    pairs = [(case["unconstrained"], case["constrained"]) for case in cases.values() if len(case) == 2]
    pairs = [(free, held) for free, held in pairs if free.tokens and held.tokens]
    ratios = Distribution.of([held.ms / held.tokens / (free.ms / free.tokens) for free, held in pairs])
    if ratios is None:
        return []
    total = sum(held.ms for _, held in pairs) / sum(free.ms for free, _ in pairs)
    return [
        f"All answers with the constraint took {total:.2f} times as long as without it. The ratio for a",
        f"token of an answer is {ratios.median:.2f} at the median (90 %: {ratios.p90:.2f}).",
        "",
    ]


def pass_rate(k: int, answers: Sequence[TestedAnswer]) -> float | None:
    """pass@*k* of *answers*, several to each task; None if a task has fewer than *k*."""
    right = defaultdict[str, list[bool]](list)
    for answer in answers:
        right[answer.task].append(answer.passed)
    return mean_pass_at(k, [(len(passed), sum(passed)) for passed in right.values()])


def percent(value: float | None) -> str | None:
    """A share in percent, such as `3.7 %`; None stays None."""
    return None if value is None else f"{100 * value:.1f} %"


def _holes(groups: Mapping[str, Sequence[TestedAnswer]]) -> list[str]:
    rows = list[list[object]]()
    for kind in KINDS:
        for method in METHODS:
            answers = _of_method(groups.get(kind, ()), method)
            n = len(answers)
            if not answers:
                continue
            rows.append(
                [
                    kind,
                    method,
                    f"{n:,}",
                    share(sum(not answer.written.fault for answer in answers), n),
                    share(sum(answer.exact for answer in answers), n),
                    share(sum(answer.passed for answer in answers), n),
                    number(sum(answer.written.ms for answer in answers) / n),
                ]
            )
    return table(["holes", "", "cases", "parse", "exact", "pass@1", "ms an answer"], rows)


def _stated(groups: Mapping[str, Sequence[TestedAnswer]]) -> list[str]:
    rows = list[list[object]]()
    for method in METHODS:
        passed = [[answer.passed for answer in _of_method(groups.get(kind, ()), method)] for kind in KINDS]
        rates = (percent(sum(of_kind) / len(of_kind)) if of_kind else None for of_kind in passed)
        rows.append([f"here, {method}", *rates])
    rows += [[name, *(f"{value:.1f} %" for value in values)] for name, values in STATED]
    return ["Figures of papers for comparison:", "", *table(["pass@1", *KINDS], rows)]


def _reasons(answers: Sequence[TestedAnswer]) -> list[str]:
    rows = list[list[object]]()
    for method in METHODS:
        failed = [answer for answer in _of_method(answers, method) if not answer.passed]
        reasons = Counter(_kind_of(answer.reason) for answer in failed)
        rows += [[method, reason, f"{count:,}"] for reason, count in reasons.most_common(REASONS)]
    return table(["", "reason", "answers"], rows)


def _kind_of(reason: str) -> str:
    """The kind of error in *reason*, without the details of one answer."""
    return reason.partition(":")[0][:60]


def pass_at(k: int, n: int, right: int) -> float:
    """The probability that at least one of *k* answers is right, if *right* of *n* independent answers are.

    It is estimated without bias: the share of the subsets of k answers that have a right one (Chen et al.
    2021, arXiv 2107.03374, section 2.1).

    Raises:
        ValueError: there are fewer than *k* answers.
    """
    if not 0 < k <= n or not 0 <= right <= n:
        raise ValueError(f"Cannot estimate pass@{k} from {right} of {n} answers")
    return 1 - comb(n - right, k) / comb(n, k)


def mean_pass_at(k: int, problems: Iterable[tuple[int, int]]) -> float | None:
    """The mean over *problems*, each a number of answers and of right ones; None if one has too few."""
    counts = list(problems)
    if not counts or any(n < k for n, _ in counts):
        return None
    return sum(pass_at(k, n, right) for n, right in counts) / len(counts)


LABELS = ("problems", "language", "model", "decoding", "shots", "tokens")
ERRORS = """\
Answers that the language's own parser refuses, with their prompt: CPython, `go/parser`, Python's `json`.
*Steered*: the tokens ran out, and the answer was brought to an end."""
RESULTS = """\
Python and Go: the tests pass. JSON: the answer is an instance of the problem's schema."""
TIMES = """\
On the clock, with the set-up of the constraint, without reading the prompt and without the tests.
*constrained*: only proposed tokens are checked (opportunistic masking). *masked*: the mask of all tokens is
made at every step as well. The ratios are those of the times of a token."""


@dataclass(frozen=True, slots=True)
class Row:
    """A run: its labels, and its answers from left to right by method."""

    labels: tuple[object, ...]
    answers: dict[Method, list[TestedAnswer]]

    def written(self, method: Method) -> list[Answer]:
        """The answers of *method*; empty if the run does not have it."""
        return [answer.written for answer in self.answers.get(method, ())]


def write_tables(runs: Sequence[Path], out: Path) -> None:
    """Write `report.md` and `report.html` about *runs* into *out*.

    Raises:
        RunFolderError: a folder holds no run of `fimlsp replay humaneval`, or a damaged one.
    """
    folders = [RunFolder(path) for path in runs]
    rows = [
        _row(folder.plan(ProgramsPlan), read_run(path)) for folder, path in zip(folders, runs, strict=True)
    ]
    lines = ["# Programs from left to right, run by run", "", *_commands([run.about for run in folders])]
    lines += ["## Syntax errors", "", ERRORS, "", *_errors(rows)]
    lines += ["## Right answers", "", RESULTS, "", *_results(rows)]
    lines += ["## Times", "", TIMES, "", *_times(rows)]
    out.mkdir(parents=True, exist_ok=True)
    write_page(out, "report", lines, {})


def _row(plan: ProgramsPlan, answers: Sequence[TestedAnswer]) -> Row:
    decoding = f"drawn at {plan.temperature:g}" if plan.temperature else "greedy"
    model = Path(plan.model).name
    labels = (plan.collection, plan.language, model, decoding, plan.shots, plan.tokens)
    chosen = [answer for answer in answers if answer.form == LEFT_TO_RIGHT]
    by_method = {method: [one for one in chosen if one.method == method] for method in METHODS}
    return Row(labels, {method: found for method, found in by_method.items() if found})


def _commands(runs: Sequence[About]) -> list[str]:
    machines = sorted({about.machine for about in runs})
    return ["```sh", *(about.command for about in runs), "```", "", f"Machine: {'; '.join(machines)}", ""]


def _errors(rows: Sequence[Row]) -> list[str]:
    cells = list[list[object]]()
    for row in rows:
        counts = {method: _faults(row.written(method)) for method in METHODS}
        free, held = counts["unconstrained"], counts["constrained"]
        fewer = None if not free or held is None else f"{100 * (1 - held.total() / free.total()):.1f} %"
        counted = [None if found is None else found.total() for found in counts.values()]
        of_indentation = [None if found is None else found["indentation"] for found in (free, held)]
        written = row.written("constrained")
        steered = share(sum(answer.steered for answer in written), len(written))
        answers = len(next(iter(row.answers.values()), ()))
        cells.append([*row.labels, answers, *counted, fewer, *of_indentation, steered])
    head = [*LABELS, "answers", *METHODS, "fewer", "of indentation, unconstrained", "constrained", "steered"]
    return _without_empty_columns(head, cells)


def _without_empty_columns(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """The table without columns that no run fills."""
    filled = [column for column in range(len(head)) if any(row[column] is not None for row in rows)]
    return table([head[column] for column in filled], [[row[column] for column in filled] for row in rows])


def _faults(answers: Sequence[Answer]) -> Counter[str] | None:
    """The syntax errors of *answers* by kind; None without answers."""
    return Counter(answer.fault for answer in answers if answer.fault) if answers else None


def _results(rows: Sequence[Row]) -> list[str]:
    columns = [(k, method) for k in PASS_AT for method in METHODS]
    cells = [
        [*row.labels, *(percent(pass_rate(k, row.answers.get(method, ()))) for k, method in columns)]
        for row in rows
    ]
    return _without_empty_columns([*LABELS, *(f"pass@{k}, {method}" for k, method in columns)], cells)


def _times(rows: Sequence[Row]) -> list[str]:
    cells = list[list[object]]()
    for row in rows:
        written = {method: row.written(method) for method in METHODS}
        answers = {method: mean(a.ms for a in found) for method, found in written.items() if found}
        tokens = {
            method: sum(answer.ms for answer in found) / max(1, sum(answer.tokens for answer in found))
            for method, found in written.items()
            if found
        }
        free = tokens.get("unconstrained")
        ratios = [free and (ms := tokens.get(method)) and f"{ms / free:.2f}" for method in METHODS[1:]]
        milliseconds = [number(of.get(method)) for of in (answers, tokens) for method in METHODS]
        cells.append([*row.labels, *milliseconds, *ratios])
    head = [f"ms {of}, {method}" for of in ("an answer", "a token") for method in METHODS]
    return _without_empty_columns([*LABELS, *head, *(f"ratio, {method}" for method in METHODS[1:])], cells)
