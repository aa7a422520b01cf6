"""Measures the processor time of a contained program beside that of a plain one.

    python benchmarks/containment.py

Both run in turns, as the processor time of a busy machine varies. Processes that outlive the judge of a
program count as well: this process adopts them. It exits with status 1 above `MOST_MS`.
"""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from statistics import median

import click

from fimlsp.datasets.programs.sandbox import Limits, Trial, missing_layers, run_python

MOST_MS = 50
"""The most milliseconds of processor time that the containment may add to a program."""

PROMPT = "def add(a, b):\n    pass\n"
PROGRAM = "def add(a, b):\n    return a + b\n"
TEST = "assert add(1, 2) == 3\n"
_PR_SET_CHILD_SUBREAPER = 36


def run_contained() -> None:
    """Run the program in containment."""
    result = run_python(Trial(PROGRAM, TEST, PROMPT), Limits())
    if result.outcome != "passed":
        raise RuntimeError(f"the program {result.outcome}: {result.reason}")


def run_plain() -> None:
    """Run the program by an interpreter of its own."""
    subprocess.run([sys.executable, "-I", "-S", "-c", PROGRAM + TEST], check=True)


def processor_ms(run: Callable[[], None]) -> float:
    """Milliseconds of processor time of *run*, with those of all processes that it starts."""
    before = _used_ms()
    run()
    try:
        while True:
            os.wait()
    except ChildProcessError:
        return _used_ms() - before


def _used_ms() -> float:
    kinds = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return 1000 * sum(kind.ru_utime + kind.ru_stime for kind in kinds)


@click.command()
@click.option("--times", default=30, show_default=True, help="Runs of each kind.")
def main(times: int) -> None:
    """Print both medians and their difference."""
    if lacking := missing_layers():
        raise click.ClickException(f"this machine lacks {', '.join(lacking)}")
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    pairs = [(processor_ms(run_contained), processor_ms(run_plain)) for _ in range(times)]
    contained, plain = (median(side) for side in zip(*pairs, strict=True))
    click.echo(f"contained {contained:.1f} ms, plain {plain:.1f} ms, {contained - plain:.1f} ms more")
    sys.exit(contained - plain > MOST_MS)


if __name__ == "__main__":
    main()
