"""The tables of several runs side by side, in the form of SynCode's evaluation.

Ugare et al. 2024 (arXiv 2403.01632) count syntax errors with and without the constraint, passed tests, and
times. They do so for collections of problems, models, numbers of examples, limits of tokens and ways to
draw. Each of these is a run here, and a row of every table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from fimlsp.datasets.programs.report import PASS_AT, pass_rate, percent
from fimlsp.datasets.programs.run import LEFT_TO_RIGHT, ProgramsPlan, TestedAnswer, read_run
from fimlsp.datasets.programs.writing import METHODS, Answer, Method
from fimlsp.datasets.reports.pages import number, share, table, write_page
from fimlsp.datasets.runs.plan import About
from fimlsp.datasets.runs.run_folder import RunFolder

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
