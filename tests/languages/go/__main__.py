"""Holds the engine against `go/parser`: `python -m tests.languages.go --cases 200000 [FOLDER]`."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from time import perf_counter

import click

from .suites import endless, judged


@click.command(help=__doc__)
@click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--cases", default=100_000, show_default=True, help="Judged verdicts.")
@click.option("--seed", type=int, help="Repeats a run; it is printed, and random by default.")
def main(folder: Path | None, cases: int, seed: int | None) -> None:
    """Judge, and print what was found; files in FOLDER are cut as well."""
    seed = random.randrange(1 << 32) if seed is None else seed
    begun = perf_counter()
    files = sorted(folder.rglob("*.go")) if folder else []
    found = judged(endless(seed, files), cases)
    for fault in found.faults[:20]:
        around = fault.left[-160:], fault.middle[-60:], fault.right[:60]
        click.echo(f"{fault.complaint}: {' <|> '.join(map(repr, around))} {fault.detail}")
    click.echo(
        f"Go, seed {seed}, {len(files)} files: {found.judged:,} judged cases, {found.undecided:,} open, "
        f"{len(found.faults):,} disagreements, {found.dead_ends:,} dead ends, {perf_counter() - begun:,.0f} s"
    )
    sys.exit(bool(found.faults))


if __name__ == "__main__":
    main()
