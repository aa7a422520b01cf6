"""Holds random grammars against Lark: `python -m tests.languages.custom --cases 100000`."""

from __future__ import annotations

import random
import sys
from time import perf_counter

import click

from .suites import judged


@click.command(help=__doc__)
@click.option("--cases", default=100_000, show_default=True, help="Judged verdicts.")
@click.option("--seed", type=int, help="Repeats a run; it is printed, and random by default.")
def main(cases: int, seed: int | None) -> None:
    """Judge, and print what was found."""
    seed = random.randrange(1 << 32) if seed is None else seed
    begun = perf_counter()
    found = judged(seed, cases)
    for fault in found.faults[:10]:
        click.echo(f"--- {fault.complaint}: {fault.left!r} {fault.middle!r} {fault.right!r} {fault.detail}")
        click.echo(fault.grammar)
    click.echo(
        f"Random grammars, seed {seed}: {found.judged:,} judged cases, {len(found.faults):,} disagreements, "
        f"{found.dead_ends:,} dead ends, {perf_counter() - begun:,.0f} s"
    )
    sys.exit(bool(found.faults))


if __name__ == "__main__":
    main()
