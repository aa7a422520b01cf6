"""`fimlsp replay run`, `cut` and `show`: a run with a progress bar, saved cases, and one case in full."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import Task as ProgressTask
from rich.syntax import Syntax
from rich.text import Text

from fimlsp.datasets.bench import Bench, BenchSettings
from fimlsp.datasets.case_report import write_report
from fimlsp.datasets.case_result import METHODS, Attempt, Result
from fimlsp.datasets.cuts import CutRecord, FileCases, Selection, limited
from fimlsp.datasets.plan import About, ReplayPlan
from fimlsp.datasets.run_folder import RunFolder
from fimlsp.datasets.sources import Filters, Source, SourceError, SourceFile
from fimlsp.datasets.workers import PoolError, Workers, run
from fimlsp.models.errors import ModelError

INTERRUPTED = 130
CONTEXT_LINES = 4
GOOD, BAD, TRUTH = "on dark_green", "on dark_red", "on dark_blue"


class RateColumn(ProgressColumn):
    """Cases a minute."""

    def render(self, task: ProgressTask) -> Text:
        """The rate of the last minutes; empty before the first case."""
        return Text(f"{60 * task.speed:.1f} cases/min" if task.speed else "", style="dim")


def run_cases(
    selection: Selection, settings: BenchSettings, workers: Workers, out: Path, limit: int | None
) -> None:
    """Run and report, with a progress bar.

    Raises:
        click.ClickException: the run cannot start or continue; the results so far are kept.
    """
    console = Console(stderr=True)
    folder = RunFolder(out)
    try:
        folder.claim(ReplayPlan.of(selection, settings), About.this_process(workers.count))
        _run_with_progress(selection, settings, workers, folder, limit, console)
    except (ModelError, PoolError) as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        console.print(f"interrupted with {len(folder.done())} cases done; the same command continues.")
        raise SystemExit(INTERRUPTED) from None
    write_report([folder], out)
    console.print(f"wrote {out / 'report.md'} and {out / 'report.html'}")


def _run_with_progress(
    selection: Selection,
    settings: BenchSettings,
    workers: Workers,
    folder: RunFolder,
    limit: int | None,
    console: Console,
) -> None:
    totals = [total for total in (limit, selection.estimate()) if total is not None]
    figures = MofNCompleteColumn(), RateColumn(), TimeRemainingColumn()
    columns = TextColumn("{task.description}"), BarColumn(), *figures
    with Progress(*columns, console=console, speed_estimate_period=300) as bar:
        task = bar.add_task("cases", total=min(totals, default=None))
        failed = 0

        def advance(n_done: int) -> None:
            bar.update(task, advance=n_done)

        def report(result: Result) -> None:
            nonlocal failed
            failed += result.crash is not None
            bar.update(task, advance=1, description=f"cases, {failed} crashed" if failed else "cases")

        run(selection, partial(Bench.in_worker, settings), workers, folder, limit, report, advance)
        bar.update(task, total=bar.tasks[task].completed)


def save_cases(selection: Selection, out: Path, limit: int | None) -> None:
    """Write the cases of *selection* to *out*, without their texts."""
    n_cases = n_excluded = 0
    with out.open("w", encoding="utf-8") as file:
        for item in limited(iter(selection), limit):
            if not isinstance(item, FileCases):
                n_excluded += 1
                continue
            for record in item.records:
                file.write(json.dumps(record.to_json()) + "\n")
                n_cases += 1
    click.echo(f"{n_cases} cases in {out}; left out: {n_excluded} files")


def show_case(folder: RunFolder, case: str) -> None:
    """Print a case.

    Raises:
        click.ClickException: the run has no such case, or its file is no longer in the sources.
    """
    result = next((result for result in folder.results() if result.case == case), None)
    if result is None:
        raise click.ClickException(f"{folder.path} has no case {case}; results.jsonl has the names of all.")
    record, plan = CutRecord.from_json(result.record), folder.plan(ReplayPlan)
    text = find_file(plan, record).text
    printer = CasePrinter(record.cut.left(text), record.cut.right(text), plan.replay_language.name)
    printer.print_case(record, result, record.cut.middle(text))


def find_file(plan: ReplayPlan, record: CutRecord) -> SourceFile:
    """The file of *record* in the sources of *plan*.

    Raises:
        click.ClickException: no file has its name and hash.
    """
    language = plan.replay_language
    filters = Filters(language, plan.bytes_max)
    try:
        for source in plan.sources:
            for entry in Source(source, language).files():
                file = filters.identify(entry) if entry.name == record.name else None
                if isinstance(file, SourceFile) and file.hash == record.source:
                    return file
    except SourceError as error:
        raise click.ClickException(str(error)) from error
    raise click.ClickException(f"{record.name} is not in {', '.join(plan.sources)} as it was in the run.")


@dataclass(frozen=True, slots=True)
class CasePrinter:
    """Prints texts in the hole between *left* and *right* to the terminal, highlighted as *language*."""

    left: str
    right: str
    language: str
    console: Console = field(default_factory=lambda: Console(highlight=False))

    def print_case(self, record: CutRecord, result: Result, truth: str) -> None:
        """Print the truth, each answer, the error that ended the case if there was one, and the costs."""
        title = f"{result.case}: characters {record.cut.start} to {record.cut.end} of {record.name}"
        self.console.print(Text(title, "bold"))
        self.print_in_place(truth, Text("the truth", "bold"), TRUTH)
        if result.crash is not None:
            self.console.print(Text(f"crashed: {result.crash}", "bold red"))
            self.console.print(Text(result.traceback or "", "dim"))
        for method, attempt in result.attempts.items():
            self.print_attempt(method, attempt)
        self.console.print(Text(costs(result), "dim"))

    def print_attempt(self, method: str, attempt: Attempt) -> None:
        """Print the answer of a method, or the reason for its failure."""
        refused = f", but does not compile ({attempt.compile_error})" if attempt.compile_error else ""
        verdict = f"parses{refused}" if attempt.ok else attempt.cause or "does not parse"
        cost = f", {attempt.tokens} tokens, {attempt.rejected} refused" if attempt.tokens else ""
        title = Text(f"{METHODS[method]}: {verdict}{cost}", "bold green" if attempt.ok else "bold red")
        text = attempt.written if attempt.text is None else attempt.text
        if text is None:
            self.console.print(title)
        else:
            self.print_in_place(text, title, GOOD if attempt.ok else BAD)

    def print_in_place(self, text: str, title: Text, style: str) -> None:
        """Print *text* with the lines around the hole, in its own *style* and between `⟦` and `⟧`."""
        self.console.print(title)
        marked = f"⟦{readable(text)}⟧"
        first = self.left.count("\n") + 1
        last = first + marked.count("\n")
        column = len(self.left) - self.left.rfind("\n") - 1
        code = Syntax(
            self.left + marked + self.right,
            self.language,
            line_numbers=True,
            line_range=(max(1, first - CONTEXT_LINES), last + CONTEXT_LINES),
            background_color="default",
            word_wrap=True,
        )
        end = column + len(marked) if first == last else len(marked) - marked.rfind("\n") - 1
        code.stylize_range(style, (first, column), (last, end))
        self.console.print(code)


def readable(text: str) -> str:
    """*text* with visible signs for control characters, and with `?` for lone surrogates."""
    pictures = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"}
    return text.encode(errors="replace").decode().translate(pictures)


def costs(result: Result) -> str:
    """Set-up and engine times in one line."""
    engine = ", ".join(f"{name} {a.engine_ms:.1f} ms" for name, a in result.attempts.items() if a.engine_ms)
    return f"{result.size:,} characters; set-up {result.setup_ms:.1f} ms; engine: {engine}"
