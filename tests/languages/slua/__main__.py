"""Judges many random scripts: `python -m tests.languages.slua --cases 200000 --seed 1`.

Half of them are made from types, and have to be accepted; the others are mutants of these. What is accepted
is translated and run, and the functions that it hands over are called: none may fail.
"""

import random
import sys
from collections import Counter
from pathlib import Path

import click
from fimlsp.languages.slua.checker import check_script
from fimlsp.languages.slua.interface import read_interface
from fimlsp.languages.slua.translation import translate

from .host import Host
from .mutants import mutant
from .programs import Writer

INTERFACE = Path(__file__).with_name("interface.txt")


@click.command(help=__doc__)
@click.option("--cases", default=20_000, show_default=True, help="Scripts.")
@click.option("--seed", type=int, help="Repeats a run; it is printed, and random by default.")
def main(cases, seed):
    """Judge, and print what was counted, or the first script that fails."""
    seed = random.randrange(1 << 32) if seed is None else seed
    interface = read_interface(INTERFACE.read_text())
    host, rng, counted = Host(interface), random.Random(seed), Counter(seed=seed)
    with click.progressbar(range(cases), file=sys.stderr) as numbers:
        for number in numbers:
            text = Writer(interface, rng).script()
            is_mutant = bool(number % 2)
            counted["mutants" if is_mutant else "made from types"] += 1
            checked = check_script(mutant(text, rng) if is_mutant else text, interface)
            if not checked.faults:
                host.run(translate(checked))
                counted["run"] += 1
                counted["functions called back"] += host.calls
            elif not is_mutant:
                sys.exit(f"refused: {checked.faults}\n{text}")
    print(*(f"{name}: {count:,}" for name, count in counted.items()), sep="\n")


if __name__ == "__main__":
    main()
