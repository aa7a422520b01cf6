"""Checks the engine against CPython, and masks against the engine: `python -m tests.oracle SUITE`."""

from __future__ import annotations

import json
import math
import os
import random
import sys
from collections import defaultdict
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
from rich.table import Table

from fimlsp.datasets.languages import LANGUAGES
from fimlsp.languages.python.versions import PYTHON_VERSIONS, Check, version_text

from . import compiling, completeness, conformance, masks, recovery, soundness, typing_replay
from .bench import Tally, Worker
from .interpreters import Interpreter, NoInterpreterError, interpreter
from .known import stale
from .laws import Disagreement
from .pool import Task, run_all
from .snippets import sample, snippets

SUITES = ("conformance", "completeness", "soundness", "compile")
_ENDLESS = ("soundness", "compile")
_JUDGED_FOR_A_DEAD_END = 100_000
DEFAULT_CASES = 1_000_000
CASES_OF_A_VERSION = 20_000
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
    """The settings of a suite."""

    python: Interpreter
    version: str
    seed: int
    workers: int
    limit: int | None
    seconds: float
    out: Path | None


@click.command()
@click.argument("suite", type=click.Choice([*SUITES, "all", "versions", "masks", "recovery", "typing"]))
@click.option("--python", "version", default="3.11", help="The version of the reference interpreter.")
@click.option("--seed", type=int, help="Repeats a run; it is printed, and random by default.")
@click.option("--workers", type=int, default=os.cpu_count(), help="Processes; all cores by default.")
@click.option("--limit", type=int, help="Snippets, files, or judged cases (a million by default).")
@click.option("--seconds", type=float, default=float("inf"), help="Time limit of each suite.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="File for the disagreements, written as they are found.",
)
@click.option("--breaks", type=click.IntRange(1, 2), default=1, help="recovery: breaks in each file.")
@click.option(
    "--distance",
    type=click.IntRange(0, 12),
    help="recovery: lines from each break to the cursor, 0 for its own line; by default 0 to 12.",
)
@click.option("--suggest", type=int, default=0, help="typing: files with suggestions too.")
@click.option(
    "--verdicts", type=int, default=masks.VERDICTS, help="masks: number of verdicts; ten million by default."
)
@click.option(
    "--tokenizer",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=masks.BUNDLED,
    help="masks: tokenizer of the tokens; by default that of the bundled model.",
)
@click.option(
    "--language",
    type=click.Choice([*LANGUAGES]),
    default="python",
    help="recovery: language of the files; all but Python's are in --folder.",
)
@click.option(
    "--folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="recovery: folder of the files; for Python, its standard library.",
)
@click.option(
    "--show", default="", help="recovery: shows the failures of one kind of break, of all, or the strays."
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
    distance: int | None,
    show: str,
    language: str,
    folder: Path | None,
    suggest: int,
    verdicts: int,
    tokenizer: Path,
) -> None:
    """Check the engine against the parser of CPython; the exit status is 1 on an unexplained disagreement.

    versions judges each version of Python by its interpreter, and lists the interpreters.

    masks compares the masks of tokens with feeding each of them, in four languages.

    recovery measures completions in files that are broken elsewhere, and typing measures suggestions while a
    function is written line by line.
    """
    console = Console()
    seed = random.randrange(1 << 32) if seed is None else seed
    if suite == "recovery":
        if language != "python" and folder is None:
            raise click.UsageError(f"Name a folder with files in {language} (--folder).")
        distances = recovery.DISTANCES if distance is None else (distance,)
        files = limit or recovery.FILES
        recovery.run(console, seed, files, workers, breaks, show, language, folder, distances)
        return
    if suite == "versions":
        sys.exit(not judge_versions(console, seed, workers, limit or CASES_OF_A_VERSION))
    if suite == "masks":
        sys.exit(not masks.run(console, seed, verdicts, tokenizer))
    if suite == "typing":
        typing_replay.run(console, seed, limit or typing_replay.FILES, workers, suggest)
        return
    try:
        settings = Settings(interpreter(version), version, seed, workers, limit, seconds, out)
    except NoInterpreterError as error:
        raise click.ClickException(str(error)) from None
    console.print(f"Python {version} by {settings.python.name}, seed {seed}, {workers} workers")
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
    """Run *suite* and print its results; True if there was no unexplained disagreement.

    Raises:
        click.Abort: it was interrupted; the results so far are printed.
    """
    started = perf_counter()
    with Progress(*_COLUMNS, console=console) as progress:
        tally, finished = _run(progress, suite, settings)
    console.print(table(f"{suite}, Python {settings.version}, seed {settings.seed}", tally))
    show_groups(console, tally.found)
    for name, times in tally.reasons.items():
        console.print(f"explained by “{name}”: {times:,}")
    unexplained, seconds = len(tally.found), perf_counter() - started
    console.print(f"{suite}: {tally.judged:,} judged cases, {unexplained:,} disagreements, {seconds:,.0f} s")
    if not finished:
        raise click.Abort
    if suite == "compile":
        console.print(f"of these, dead ends: {_dead_ends(tally):,}")
    return is_held(suite, tally)


def is_held(suite: str, tally: Tally) -> bool:
    """True if nothing but rare dead ends at the level `compile` is wrong."""
    is_rare = suite == "compile" and _dead_ends(tally) * _JUDGED_FOR_A_DEAD_END <= tally.judged
    return not tally.found or (is_rare and _dead_ends(tally) == len(tally.found))


def _dead_ends(tally: Tally) -> int:
    return sum(disagreement.law == "completion" for disagreement in tally.found)


def judge_versions(console: Console, seed: int, workers: int, limit: int) -> bool:
    """Judge *limit* cases at both levels in each version, and print its interpreter; True if all hold."""
    rows = Table("version", "judged by", "parse: cases", "disagreements", "compile: cases", "disagreements")
    all_hold = True
    for version in map(version_text, PYTHON_VERSIONS):
        try:
            settings = Settings(interpreter(version), version, seed, workers, limit, math.inf, None)
        except NoInterpreterError:
            rows.add_row(version, "[red]none")
            all_hold = False
            continue
        figures = list[str]()
        for suite in _ENDLESS:
            with Progress(*_COLUMNS, console=console, transient=True) as progress:
                tally, _ = _run(progress, suite, settings)
            show_groups(console, tally.found)
            figures += [f"{tally.judged:,}", f"{len(tally.found):,}"]
            all_hold &= is_held(suite, tally)
        rows.add_row(version, settings.python.name, *figures)
    console.print(rows)
    return all_hold


def _run(progress: Progress, suite: str, settings: Settings) -> tuple[Tally, bool]:
    """The results, and True unless the run was interrupted."""
    tasks, total = _tasks(suite, settings)
    shown = progress.add_task(suite, total=total, wrong=0)
    sum_ = Tally()

    def report(part: Tally) -> bool:
        sum_.include(part)
        if settings.out:
            write(settings.out, suite, settings.version, part.found)
        done = sum_.judged if suite in _ENDLESS else progress.tasks[shown].completed + 1
        progress.update(shown, completed=done, wrong=len(sum_.found))
        return suite not in _ENDLESS or sum_.judged < total

    check: Check = "compile" if suite == "compile" else "parse"
    return sum_, run_all(tasks, settings.version, settings.workers, settings.seconds, report, check)


def _tasks(suite: str, settings: Settings) -> tuple[Iterable[Task], int]:
    """The tasks of a suite, with their number, or for soundness the number of judged cases."""
    rng = random.Random(settings.seed)
    if suite == "completeness":
        paths = completeness.files(settings.python)
        chosen = rng.sample(paths, min(len(paths), settings.limit or len(paths)))
        return completeness.tasks(chosen, settings.seed), completeness.number_of_tasks(chosen)
    all_snippets = snippets(settings.python)
    if suite in _ENDLESS:
        made = soundness.tasks if suite == "soundness" else compiling.tasks
        return made(all_snippets, settings.seed), settings.limit or DEFAULT_CASES
    sampled = sample(all_snippets, settings.limit or len(all_snippets), rng)
    return conformance.tasks(sampled, settings.seed), conformance.number_of_tasks(sampled)


_MOST_ROWS = 60
_MOST_GROUPS = 20
_MOST_CASES = 4


def table(title: str, tally: Tally) -> Table:
    """Cases and disagreements by construct: those with disagreements first, then the most frequent."""
    rows = Table(title=title)
    rows.add_column("construct")
    for column in ("cases", "disagreements", "explained"):
        rows.add_column(column, justify="right")
    ranked = sorted(
        tally.cases, key=lambda name: (-tally.wrong[name], -tally.explained[name], -tally.cases[name])
    )
    for name in ranked[:_MOST_ROWS]:
        rows.add_row(name, *_figures(tally.cases[name], tally.wrong[name], tally.explained[name]))
    if others := ranked[_MOST_ROWS:]:
        rows.add_row(f"{len(others)} others", *_figures(sum(tally.cases[name] for name in others), 0, 0))
    return rows


def _figures(cases: int, wrong: int, explained: int) -> list[str]:
    return [f"{cases:,}", f"[red]{wrong:,}[/red]" if wrong else "0", f"{explained:,}"]


def groups(disagreements: list[Disagreement]) -> list[list[Disagreement]]:
    """Disagreements that are probably of one cause, the smallest case first, large groups first."""
    by_signature: dict[tuple[str, ...], list[Disagreement]] = defaultdict(list)
    for disagreement in disagreements:
        by_signature[disagreement.signature].append(disagreement)
    sorted_groups = [sorted(group, key=lambda one: len(one.case.whole)) for group in by_signature.values()]
    return sorted(sorted_groups, key=len, reverse=True)


def show_groups(console: Console, disagreements: list[Disagreement]) -> None:
    """The smallest cases of each group."""
    for group in groups(disagreements)[:_MOST_GROUPS]:
        first = group[0]
        console.rule(f"{first.law}: {len(group)} disagreements", style="red")
        console.print(f"expected {first.expected}", f"got {first.got}", first.message, sep="; ", markup=False)
        for case in list(dict.fromkeys(one.case for one in group))[:_MOST_CASES]:
            for name in ("left", "middle", "right", "forbid_escape"):
                console.print(
                    f"{name:8} {getattr(case, name)!r}", markup=False, highlight=False, soft_wrap=True
                )
            console.print()


def write(path: Path, suite: str, version: str, disagreements: list[Disagreement]) -> None:
    """Append all of *disagreements*, one JSON object a line."""
    with path.open("a", encoding="utf-8") as file:
        for one in disagreements:
            parts = {
                name: repr(getattr(one.case, name)) for name in ("left", "middle", "right", "forbid_escape")
            }
            details = {name: getattr(one, name) for name in ("law", "expected", "got", "message")}
            where = {name: getattr(one, name) for name in ("construct", "seed", "origin")}
            file.write(json.dumps({"suite": suite, "python": version, **parts, **details, **where}) + "\n")


if __name__ == "__main__":
    main()
