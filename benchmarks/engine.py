"""Measures the engine on the interpreter's standard library, or on JSON: `python benchmarks/engine.py`.

Prints a table with the targets, and exits with status 1 if the cost of a jump, a keystroke or a token grows
with the length of the file. CPU times decide, as other processes disturb wall times. Garbage is collected
as in the server's worker: rarely, and in the pauses between requests.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import sys
from dataclasses import asdict
from itertools import islice
from operator import attrgetter
from pathlib import Path
from random import Random

import click
from corpora.by_language import LANGUAGES, corpora
from corpora.corpus import Corpus
from measures.growth import grown, grows, slope
from measures.memory import bytes_a_line, peak_memory
from measures.operations import Figures, measure
from measures.timing import Series
from rich.console import Console
from rich.table import Table

from fimlsp.lsp_server.worker.worker import COLLECTION_THRESHOLDS

_MEMORY_TARGET = 300.0
_MEMORY_LENGTH = 100_000
_BYTES_A_LINE = 1_000.0
_BOUNDED = ("jump", "edit elsewhere, then jump", "keystroke", "4-character token, accepted")


def table_of(figures: Figures) -> Table:
    """All operations with their targets and worst places."""
    table = Table(title="CPU time")
    for column in (
        "operation",
        "unit",
        "n",
        "median",
        "p90",
        "p99",
        "max",
        "wall",
        "collecting",
        "target",
        "worst",
    ):
        table.add_column(column, justify="left" if column in ("operation", "unit", "worst") else "right")
    for series in filter(attrgetter("found"), figures.all):
        table.add_row(*_row(series))
    return table


def _row(series: Series) -> list[str]:
    worst = series.worst
    figures = [
        f"{value:.3f}" for value in (series.median, series.p90, series.p99, worst.cpu, series.wall_median)
    ]
    share = f"{series.collecting:.0%}, ≤ {series.longest_collection:.1f}"
    target = "" if series.target is None else _judged(series.median, series.target)
    return [series.name, series.unit, str(len(series.found)), *figures, share, target, worst.place]


def _judged(value: float, target: float) -> str:
    colour = "green" if value <= target else "red"
    return f"[{colour}]≤ {target:g}[/{colour}]"


def growth_table(medians: dict[str, dict[int, float]]) -> Table:
    """Medians by length, with their slope."""
    table = Table(title="Median CPU milliseconds by length of the file, same cuts")
    table.add_column("operation")
    for length in next(iter(medians.values())):
        table.add_column(f"{length:,}", justify="right")
    table.add_column("per 100,000", justify="right")
    table.add_column("grows", justify="right")
    for name, costs in medians.items():
        cells = [f"{cost:.4f}" for cost in costs.values()]
        verdict = ("[red]yes" if grows(costs) else "[green]no") if name in _BOUNDED else ""
        table.add_row(name, *cells, f"{slope(costs):+.4f}", verdict)
    return table


def medians_by_length(figures_by_length: dict[int, Figures]) -> dict[str, dict[int, float]]:
    """The medians of each operation that was measured at every length, by length."""
    names = {
        index: series.name
        for index, series in enumerate(Figures().all)
        if all(figures.all[index].found for figures in figures_by_length.values())
    }
    return {
        name: {length: figures.all[index].median for length, figures in figures_by_length.items()}
        for index, name in names.items()
    }


def over_files(corpus: Corpus, seed: int, files: int, cuts: int) -> Figures:
    """The figures of single files of *corpus*."""
    random = Random(seed)
    figures = Figures()
    for text in islice(corpus.files(random), files):
        measure(text, cuts, random, figures)
    return figures


def measured(
    console: Console, language: str, corpus: Corpus, seed: int, files: int, cuts: int, *, quick: bool
) -> dict[str, object]:
    """Measure *corpus* of *language*, and print the results; "grows" lists the growing operations."""
    console.print(f"\n[bold]{corpus.title}")
    figures = over_files(corpus, seed, 5 if quick else files, cuts)
    console.print(table_of(figures))
    memory = before, after = peak_memory(language, corpus.title, seed, _MEMORY_LENGTH)
    target = _judged(after, _MEMORY_TARGET)
    console.print(
        f"Peak memory: {after:.0f} MB with {_MEMORY_LENGTH:,} bytes ({target}), {before:.0f} without"
    )
    lengths = corpus.lengths[: len(corpus.lengths) // 2 + 1] if quick else corpus.lengths
    line = bytes_a_line(language, corpus.title, seed, (lengths[1], lengths[-1]))
    console.print(
        f"Memory a line: {line:,.0f} bytes ({_judged(line, _BYTES_A_LINE)}), from {lengths[1]:,} on"
    )
    medians = medians_by_length(grown(corpus, seed, 3 * cuts, lengths))
    console.print(growth_table(medians))
    growing = [name for name in _BOUNDED if grows(medians[name])]
    return {
        "memory": memory,
        "bytes a line": line,
        "growth": medians,
        "grows": growing,
        "operations": asdict(figures),
    }


@click.command(help=__doc__)
@click.option("--language", type=click.Choice(LANGUAGES), default="python", show_default=True)
@click.option("--files", default=30, show_default=True, help="Number of files to open.")
@click.option("--cuts", default=20, show_default=True, help="Cuts in each file.")
@click.option("--seed", default=0, show_default=True, help="Seed of the choice of files and cuts.")
@click.option("--quick", is_flag=True, help="Measure 5 files, and only the shorter half of the lengths.")
@click.option(
    "--json", "output", type=click.Path(path_type=Path), help="Write all measurements to this file."
)
def main(language: str, files: int, cuts: int, seed: int, quick: bool, output: Path | None) -> None:
    """Measure, print, and check growth."""
    gc.set_threshold(*COLLECTION_THRESHOLDS)
    console = Console(width=None if sys.stdout.isatty() else 180)
    machine = f"{platform.python_implementation()} {platform.python_version()}, {platform.platform()}"
    console.print(f"{machine}, {os.cpu_count()} cores; seed {seed}", highlight=False)
    results = {
        corpus.title: measured(console, language, corpus, seed, files, cuts, quick=quick)
        for corpus in corpora(language)
    }
    if output is not None:
        output.write_text(json.dumps({"machine": machine, "seed": seed, **results}, indent=1))
    sys.exit(any(result["grows"] for result in results.values()))


if __name__ == "__main__":
    main()
