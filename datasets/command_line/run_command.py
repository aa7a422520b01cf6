"""`fimlsp replay run` and `fimlsp replay cut`: a run with a progress bar, and saved cases without a run."""

from __future__ import annotations

import json
import sys
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
from rich.text import Text

from fimlsp.datasets.cases.bench import Bench, BenchSettings
from fimlsp.datasets.cases.result import Result
from fimlsp.datasets.cuts.selection import Selection, Task, limited
from fimlsp.datasets.reports.report import write_report
from fimlsp.datasets.runs.local_pool import PoolError
from fimlsp.datasets.runs.plan import about, plan_of
from fimlsp.datasets.runs.run_folder import RunFolder
from fimlsp.datasets.runs.runner import Workers, run
from fimlsp.models.errors import ModelError

INTERRUPTED = 130


class RateColumn(ProgressColumn):
    """Cases a minute."""

    def render(self, task: ProgressTask) -> Text:
        """The rate of the last minutes, once there is one."""
        return Text(f"{60 * task.speed:.1f} cases/min" if task.speed else "", style="dim")


def run_cases(
    selection: Selection, settings: BenchSettings, workers: Workers, out: Path, limit: int | None
) -> None:
    """Run and report, with a progress bar.

    Raises:
        click.ClickException: the run cannot begin or go on; the results so far are kept.
    """
    console = Console(stderr=True)
    folder = RunFolder(out)
    try:
        folder.claim(plan_of(selection, settings), about(["fimlsp", *sys.argv[1:]], workers.count))
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
        for each in limited(iter(selection), limit):
            if not isinstance(each, Task):
                n_excluded += 1
                continue
            for record in each.records:
                file.write(json.dumps(record.to_json()) + "\n")
                n_cases += 1
    click.echo(f"{n_cases} cases in {out}; left out: {n_excluded} files")
