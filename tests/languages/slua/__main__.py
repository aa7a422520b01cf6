"""Checks many random scripts: `python -m tests.languages.slua --cases 200000 --seed 1`.

They are made from types, or by random walks of the incremental parser; both have to be accepted. Others
are mutants of the former, which the parser has to accept exactly if the checker does. Now and then one is
cut, and a middle written between the two sides. Every accepted script is translated and run, and the
functions that it hands over are called: none may fail.
"""

import random
import sys
from collections import Counter
from pathlib import Path

import click

from fimlsp.languages.slua.checker import check_script
from fimlsp.languages.slua.incremental.statements import begin
from fimlsp.languages.slua.interface import read_interface
from fimlsp.languages.slua.middles.middle import between

from .host import Host
from .mutants import mutant
from .programs import Writer
from .walks import walk

BOTH_SIDES = 50
"""One script out of so many is cut, as that takes as long as a hundred others."""

BY_BYTES = 10
"""One script out of so many is read byte by byte, the others as wholes."""

INTERFACE = Path(__file__).with_name("interface.txt")


@click.command(help=__doc__)
@click.option("--cases", default=20_000, show_default=True, help="Scripts.")
@click.option("--seed", type=int, help="Repeats a run; it is printed, and random by default.")
def main(cases, seed):
    """Check, and print the counts, or the first script that fails."""
    seed = random.randrange(1 << 32) if seed is None else seed
    interface = read_interface(INTERFACE.read_text())
    start = begin(interface)
    starts = [start, begin(interface, "effect"), begin(interface, "start")]
    host, rng, counted = Host(interface), random.Random(seed), Counter(seed=seed)
    with click.progressbar(range(cases), file=sys.stderr) as numbers:
        for number in numbers:
            kind = ("made from types", "walks", "mutants")[number % 3]
            kind = kind if number % BOTH_SIDES else "both sides"
            text = walk(rng.choice(starts), rng, 60) if kind == "walks" else Writer(interface, rng).script()
            text = mutant(text, rng) if kind == "mutants" else text
            text = connected(text, interface, rng) if kind == "both sides" else text
            counted[kind if text is not None else "both sides, nothing found"] += 1
            if text is None:
                continue
            checked = check_script(text, interface)
            if checked.faults and kind != "mutants":
                sys.exit(f"refused: {checked.faults}\n{text}")
            size = max(1, len(text)) if number % BY_BYTES else 1
            if kind != "walks" and accepts(start, text, size) is bool(checked.faults):
                sys.exit(f"the parser and the checker differ: {checked.faults}\n{text}")
            if not checked.faults:
                host.run(checked)
                counted["run"] += 1
                counted["functions called back"] += host.calls
    print(*(f"{name}: {count:,}" for name, count in counted.items()), sep="\n")


def connected(text, interface, rng):
    """*text* with a hole, part of whose text is completed; None if no completion is found."""
    data = text.encode()
    begin_, size = rng.randrange(len(data) + 1), int(rng.expovariate(1 / 30))
    left, middle, right = data[:begin_], data[begin_ : begin_ + size], data[begin_ + size :]
    state = between(left, right, interface)
    kept = rng.randint(0, len(middle))
    reached = state and state.feed(middle[:kept])
    return reached and (left + middle[:kept] + reached.shortest_completion + right).decode()


def accepts(state, text, size):
    """True if the parser accepts *text* as a whole script, read in pieces of *size* bytes."""
    data = text.encode()
    for at in range(0, len(data), size):
        state = state and state.feed(data[at : at + size])
    return state is not None and state.complete


if __name__ == "__main__":
    main()
