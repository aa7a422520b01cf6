"""Measures the engine on the interpreter's standard library: `python benchmarks/engine.py`.

Prints a table beside the targets, and ends with status 1 if the cost of a jump, a keystroke or a token grows
with the length of the file. CPU times decide, as other processes disturb wall times.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from random import Random

import click
from corpus import shuffled_files
from growth import LENGTHS, grown, grows, slope
from memory import peak_memory
from operations import Figures, Text, measure
from rich.console import Console
from rich.table import Table
from timing import Series

_MEMORY_TARGET = 300.0
_MEMORY_LENGTH = 100_000
_BOUNDED = ("jump", "edit elsewhere, then jump", "keystroke", "4-character token, accepted")


def table_of(figures: Figures) -> Table:
    """All operations with their targets and worst places."""
    table = Table(title="CPU time")
    for column in ("operation", "unit", "n", "median", "p90", "max", "wall", "collecting", "target", "worst"):
        table.add_column(column, justify="left" if column in ("operation", "unit", "worst") else "right")
    for series in figures.all:
        table.add_row(*_row(series))
    return table


def _row(series: Series) -> list[str]:
    worst = series.worst
    figures = [f"{value:.3f}" for value in (series.median, series.p90, worst.cpu, series.wall_median)]
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


def medians_by_length(found: dict[int, Figures]) -> dict[str, dict[int, float]]:
    """The medians of each operation, by length."""
    names = [series.name for series in Figures().all]
    return {
        name: {length: figures.all[index].median for length, figures in found.items()}
        for index, name in enumerate(names)
    }


def over_files(seed: int, files: int, cuts: int) -> Figures:
    """The figures of single files of the standard library."""
    random = Random(seed)
    figures = Figures()
    for name, data in islice(shuffled_files(random), files):
        measure(Text(name, data, 0, len(data)), cuts, random, figures)
    return figures


@click.command(help=__doc__)
@click.option("--files", default=30, show_default=True, help="Files of the standard library to open.")
@click.option("--cuts", default=20, show_default=True, help="Places in each file.")
@click.option("--seed", default=0, show_default=True, help="Chooses files and places.")
@click.option("--quick", is_flag=True, help="5 files, and lengths up to 50,000.")
@click.option("--json", "output", type=click.Path(path_type=Path), help="Write all measurements here.")
def main(files: int, cuts: int, seed: int, quick: bool, output: Path | None) -> None:
    """Measure, print, and judge growth."""
    console = Console(width=None if sys.stdout.isatty() else 180)
    machine = f"{platform.python_implementation()} {platform.python_version()}, {platform.platform()}"
    console.print(f"{machine}, {os.cpu_count()} cores; seed {seed}", highlight=False)
    figures = over_files(seed, 5 if quick else files, cuts)
    console.print(table_of(figures))
    before, after = peak_memory(seed, _MEMORY_LENGTH)
    target = _judged(after, _MEMORY_TARGET)
    console.print(
        f"Peak memory: {after:.0f} MB with {_MEMORY_LENGTH:,} bytes ({target}), {before:.0f} without"
    )
    medians = medians_by_length(grown(seed, 3 * cuts, LENGTHS[:3] if quick else LENGTHS))
    console.print(growth_table(medians))
    if output is not None:
        result = {"machine": machine, "seed": seed, "memory": [before, after], "growth": medians}
        output.write_text(json.dumps(result | {"operations": asdict(figures)}, indent=1))
    sys.exit(any(grows(medians[name]) for name in _BOUNDED))


if __name__ == "__main__":
    main()
