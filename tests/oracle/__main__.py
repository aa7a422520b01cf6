"""Holds the engine against CPython, and masks against the engine: `python -m tests.oracle SUITE`."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from fimlsp.datasets.languages.known import LANGUAGES
from fimlsp.languages.python.checks import Check

from . import compiling, completeness, conformance, masks, recovery, soundness, typing_replay
from .bench import Worker
from .interpreters import Interpreter, NoInterpreterError, interpreter
from .known import stale
from .pool import Task, run_all
from .report import show_groups, table, write
from .snippets import sample, snippets
from .tally import Tally

SUITES = ("conformance", "completeness", "soundness", "compile")
_ENDLESS = ("soundness", "compile")
_JUDGED_FOR_A_DEAD_END = 100_000
DEFAULT_CASES = 1_000_000
_COLUMNS = (
    TextColumn("{task.description}"),
    BarColumn(),
    MofNCompleteColumn(),
    TimeElapsedColumn(),
    TimeRemainingColumn(),
    TextColumn("{task.fields[wrong]} disagreements"),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """How a suite is run."""

    python: Interpreter
    version: str
    seed: int
    workers: int
    limit: int | None
    seconds: float
    out: Path | None


@click.command()
@click.argument("suite", type=click.Choice([*SUITES, "all", "masks", "recovery", "typing"]))
@click.option("--python", "version", default="3.11", help="The version whose interpreter is the judge.")
@click.option("--seed", type=int, help="Repeats a run; it is printed, and random by default.")
@click.option("--workers", type=int, default=os.cpu_count(), help="Processes; all cores by default.")
@click.option("--limit", type=int, help="Snippets, files, or judged cases (a million by default).")
@click.option("--seconds", type=float, default=float("inf"), help="Ends each suite after so long.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Gets each disagreement when it is found.",
)
@click.option("--breaks", type=click.IntRange(1, 2), default=1, help="recovery: breaks in each file.")
@click.option("--suggest", type=int, default=0, help="typing: files with suggestions too.")
@click.option("--verdicts", type=int, default=masks.VERDICTS, help="masks: how many; ten million by default.")
@click.option(
    "--tokenizer",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=masks.BUNDLED,
    help="masks: whose tokens are judged; those of the bundled model by default.",
)
@click.option(
    "--language",
    type=click.Choice([*LANGUAGES]),
    default="python",
    help="recovery: of the files; all but Python's lie in --folder.",
)
@click.option(
    "--folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="recovery: where the files lie; of Python, its standard library.",
)
@click.option(
    "--show", default="", help="recovery: shows what failed of one kind of break, of all, or the strays."
)
def main(
    suite: str,
    version: str,
    seed: int | None,
    workers: int,
    limit: int | None,
    seconds: float,
    out: Path | None,
    breaks: int,
    show: str,
    language: str,
    folder: Path | None,
    suggest: int,
    verdicts: int,
    tokenizer: Path,
) -> None:
    """Hold the engine against the parser of CPython; ends with status 1 on an unexplained disagreement.

    masks holds the masks of tokens against feeding each of them, in four languages.

    recovery measures instead what is completed in files that are broken elsewhere, and typing what is offered
    while a function is written line by line.
    """
    console = Console()
    seed = random.randrange(1 << 32) if seed is None else seed
    if suite == "recovery":
        if language != "python" and folder is None:
            raise click.UsageError(f"Name a folder with files in {language} (--folder).")
        recovery.run(console, seed, limit or recovery.FILES, workers, breaks, show, language, folder)
        return
    if suite == "masks":
        sys.exit(not masks.run(console, seed, verdicts, tokenizer))
    if suite == "typing":
        typing_replay.run(console, seed, limit or typing_replay.FILES, workers, suggest)
        return
    try:
        settings = Settings(interpreter(version), version, seed, workers, limit, seconds, out)
    except NoInterpreterError as error:
        raise click.ClickException(str(error)) from None
    console.print(f"Python {version} at {settings.python.path}, seed {seed}, {workers} workers")
    chosen = SUITES if suite == "all" else (suite,)
    failed = [name for name in chosen if not holds(console, name, settings)]
    levels: tuple[Check, ...] = ("parse", "compile")
    gone = [
        name
        for check in levels
        for name in stale(Worker(version, check=check), settings.python.version, check)
    ]
    for name in gone:
        console.print(f"[red]The known difference “{name}” is gone; take it out of known.json.")
    sys.exit(1 if failed or gone else 0)


def holds(console: Console, suite: str, settings: Settings) -> bool:
    """Run *suite* and print what it found; whether there was no unexplained disagreement.

    Raises:
        click.Abort: it was interrupted; what was found until then is printed.
    """
    begun = perf_counter()
    with Progress(*_COLUMNS, console=console) as progress:
        tally, finished = _run(progress, suite, settings)
    console.print(table(f"{suite}, Python {settings.version}, seed {settings.seed}", tally))
    show_groups(console, tally.found)
    for name, times in tally.reasons.items():
        console.print(f"explained by “{name}”: {times:,}")
    unexplained, seconds = len(tally.found), perf_counter() - begun
    console.print(f"{suite}: {tally.judged:,} judged cases, {unexplained:,} disagreements, {seconds:,.0f} s")
    if not finished:
        raise click.Abort
    if suite != "compile":
        return not tally.found
    dead_ends = sum(found.law == "completion" for found in tally.found)
    console.print(f"of these, dead ends: {dead_ends:,}")
    return dead_ends == unexplained and dead_ends * _JUDGED_FOR_A_DEAD_END <= tally.judged


def _run(progress: Progress, suite: str, settings: Settings) -> tuple[Tally, bool]:
    """What was found, and whether nobody interrupted it."""
    tasks, total = _tasks(suite, settings)
    shown = progress.add_task(suite, total=total, wrong=0)
    found = Tally()

    def report(part: Tally) -> bool:
        found.include(part)
        if settings.out:
            write(settings.out, suite, settings.version, part.found)
        done = found.judged if suite in _ENDLESS else progress.tasks[shown].completed + 1
        progress.update(shown, completed=done, wrong=len(found.found))
        return suite not in _ENDLESS or found.judged < total

    check: Check = "compile" if suite == "compile" else "parse"
    return found, run_all(tasks, settings.version, settings.workers, settings.seconds, report, check)


def _tasks(suite: str, settings: Settings) -> tuple[Iterable[Task], int]:
    """The tasks of a suite, with their number, or for soundness the number of judged cases."""
    rng = random.Random(settings.seed)
    if suite == "completeness":
        paths = completeness.files(settings.python)
        chosen = rng.sample(paths, min(len(paths), settings.limit or len(paths)))
        return completeness.tasks(chosen, settings.seed), completeness.number_of_tasks(chosen)
    found = snippets(settings.python)
    if suite in _ENDLESS:
        made = soundness.tasks if suite == "soundness" else compiling.tasks
        return made(found, settings.seed), settings.limit or DEFAULT_CASES
    sampled = sample(found, settings.limit or len(found), rng)
    return conformance.tasks(sampled, settings.seed), conformance.number_of_tasks(sampled)


if __name__ == "__main__":
    main()
