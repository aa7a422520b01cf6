"""The command `python -m tests.languages.LANGUAGE`, which judges as many cases as time allows."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

import click

from fimlsp.testing.checking import Fault, Judged, Tally, total
from fimlsp.testing.suites import Endless, cuts

Explain = Callable[[Sequence[Fault]], tuple[Mapping[str, int], Sequence[Fault]]]
"""How many faults each known difference explains, and the faults that none explains."""


def command(
    title: str,
    about: str,
    endless: Endless,
    suffix: str | None = None,
    judged: Judged | None = None,
    explain: Explain | None = None,
) -> click.Command:
    """The command for the language *title*; with a *suffix*, files that end with it can be cut as well.

    With *judged* such files can be read as wholes. The command fails if there is a fault that `explain` does
    not explain.
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
        """Judge, and print the results; files in FOLDER are cut as well."""
        seed = random.randrange(1 << 32) if seed is None else seed
        started = perf_counter()
        files = sorted(filter(Path.is_file, folder.rglob(f"*{suffix}"))) if folder else []
        if whole is not None and judged is not None:
            chosen = files if sample is None else random.Random(seed).sample(files, min(sample, len(files)))
            sum_ = judged.tally()
            for tally in whole_files(judged, chosen, whole, seed):
                sum_.include(tally)
        else:
            sum_ = total(endless(seed, files), cases)
        names, unexplained = explain(sum_.faults) if explain is not None else ({}, sum_.faults)
        for fault in unexplained[:20]:
            around = fault.left[-160:], fault.middle[-60:], fault.right[:60]
            click.echo(f"{fault.complaint}: {' <|> '.join(map(repr, around))} {fault.detail}")
            click.echo(fault.grammar, nl=bool(fault.grammar))
        for name, count in names.items():
            click.echo(f"{count} times: {name}")
        click.echo(
            f"{title}, seed {seed}, {len(files)} files: {sum_.judged:,} judged cases, "
            f"{sum_.undecided:,} open, {len(sum_.faults):,} disagreements, "
            f"{sum_.dead_ends:,} dead ends, {len(unexplained):,} unexplained, "
            f"{perf_counter() - started:,.0f} s"
        )
        if sum_.lengths:
            click.echo(f"{len(sum_.lengths):,} programs, of {median(sum_.lengths):,.0f} bytes (median)")
        sys.exit(bool(unexplained))

    hidden = {"folder", "whole", "sample"} if suffix is None else set() if judged else {"whole", "sample"}
    main.params = [parameter for parameter in main.params if parameter.name not in hidden]
    return main


_PART = 4_000


def whole_files(of: Judged, files: Iterable[Path], n_cuts: int, seed: int) -> Iterator[Tally]:
    """A tally of each of *files*; a file that the reference parser refuses counts as open."""
    for number, path in enumerate(files):
        tally = of.tally()
        data = path.read_bytes()
        if of.accepts(data):
            engine = of.engine if number % 50 else of.fresh_engine()
            state = engine.document(b"").middle(0, 0).start
            for offset in range(0, len(data), _PART):
                state = state and state.feed(data[offset : offset + _PART])
            _judge(tally, b"", data, b"", state is not None and state.complete, path)
            document = engine.document(data)
            for start, end in cuts(data, random.Random(f"{seed} {path.name} {len(data)}"), n_cuts):
                state = document.middle_at_bytes(start, end, relax=False).start
                state = state and state.feed(data[start:end])
                is_complete = state is not None and state.complete
                _judge(tally, data[:start], data[start:end], data[end:], is_complete, path)
        else:
            tally.undecided += 1
        yield tally


def _judge(tally: Tally, left: bytes, middle: bytes, right: bytes, is_complete: bool, path: Path) -> None:
    tally.judged += 1
    if not is_complete:
        tally.fault("rejects", left, middle, right, str(path))
