"""The command `python -m tests.languages.LANGUAGE`, which judges as many cases as there is time for."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter

import click

from .checking import Judged, Tally, total
from .whole_files import whole_files

Endless = Callable[[int, Sequence[Path]], Iterator[Tally]]
"""Tallies of all suites in turn, from a seed; of real files too, if there are any."""


def command(
    title: str, about: str, endless: Endless, suffix: str | None = None, judged: Judged | None = None
) -> click.Command:
    """The command for the language *title*; with a *suffix*, files that end with it can be cut as well.

    With *judged* such files can be read as wholes.
    """

    @click.command(help=about)
    @click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
    @click.option("--cases", default=100_000, show_default=True, help="Judged verdicts.")
    @click.option("--seed", type=int, help="Repeats a run; it is printed, and random by default.")
    @click.option("--whole", type=int, metavar="N", help="Each file once, as a whole and at N cuts.")
    @click.option("--sample", type=int, metavar="N", help="With --whole: so many of the files.")
    def main(
        cases: int,
        seed: int | None,
        folder: Path | None = None,
        whole: int | None = None,
        sample: int | None = None,
    ) -> None:
        """Judge, and print what was found; files in FOLDER are cut as well."""
        seed = random.randrange(1 << 32) if seed is None else seed
        begun = perf_counter()
        files = sorted(filter(Path.is_file, folder.rglob(f"*{suffix}"))) if folder else []
        if whole is not None and judged is not None:
            chosen = files if sample is None else random.Random(seed).sample(files, min(sample, len(files)))
            found = judged.tally()
            for tally in whole_files(judged, chosen, whole, seed):
                found.include(tally)
        else:
            found = total(endless(seed, files), cases)
        for fault in found.faults[:20]:
            around = fault.left[-160:], fault.middle[-60:], fault.right[:60]
            click.echo(f"{fault.complaint}: {' <|> '.join(map(repr, around))} {fault.detail}")
            click.echo(fault.grammar, nl=bool(fault.grammar))
        click.echo(
            f"{title}, seed {seed}, {len(files)} files: {found.judged:,} judged cases, "
            f"{found.undecided:,} open, {len(found.faults):,} disagreements, "
            f"{found.dead_ends:,} dead ends, {perf_counter() - begun:,.0f} s"
        )
        sys.exit(bool(found.faults))

    hidden = {"folder", "whole", "sample"} if suffix is None else set() if judged else {"whole", "sample"}
    main.params = [each for each in main.params if each.name not in hidden]
    return main
