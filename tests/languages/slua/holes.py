"""Counts holes that are not connected: `python -m tests.languages.slua.holes --cases 300 --seed 1`.

Each hole is cut into a valid script: one of the dungeon's, with its interface, or a random one. So a
middle exists, and the search has missed it if it finds none. Every middle that is found has to pass the
checker.
"""

import random
import sys
from collections import Counter
from pathlib import Path

import click

from fimlsp.languages.slua.checker import check_script
from fimlsp.languages.slua.interface import read_interface
from fimlsp.languages.slua.middles.middle import between

from .programs import Writer

DUNGEON = Path(__file__).parents[3] / "examples" / "dungeon"
GIVEN = read_interface((DUNGEON / "interface.txt").read_text())
INTERFACE = read_interface(Path(__file__).with_name("interface.txt").read_text())
USUAL = 30
"""Bytes of a hole, as a mean."""


@click.command(help=__doc__)
@click.option("--cases", default=300, show_default=True, help="Holes of each kind.")
@click.option("--seed", default=1, show_default=True)
def main(cases, seed):
    """Count, and print each hole that is not connected; the exit status is 1 if a middle is wrong."""
    rng, wrong = random.Random(seed), 0
    scripts = dungeon_scripts()
    for kind in ("dungeon", "random"):
        counted = Counter()
        for _ in range(cases):
            interface = GIVEN if kind == "dungeon" else INTERFACE
            data = rng.choice(scripts) if kind == "dungeon" else Writer(INTERFACE, rng).script().encode()
            left, middle, right = hole(data, rng)
            state = between(left, right, interface)
            counted["connected" if state else "nothing found"] += 1
            if state is None:
                click.echo(f"nothing found:\n{(left + b'<|' + middle + b'|>' + right).decode()}", err=True)
            elif faults := check_script(
                (left + state.shortest_completion + right).decode(), interface
            ).faults:
                click.echo(f"wrong: {faults}\n{left}<|{state.shortest_completion}|>{right}", err=True)
                wrong += 1
        click.echo(f"{kind}: {', '.join(f'{name}: {count}' for name, count in sorted(counted.items()))}")
    sys.exit(wrong > 0)


def dungeon_scripts():
    """The scripts of the dungeon that use no other."""
    texts = [path.read_text() for path in sorted(DUNGEON.glob("**/*.slua"))]
    return [text.encode() for text in texts if not check_script(text, GIVEN).faults]


def hole(data, rng):
    """Three parts of *data*, of which the second is about as long as usual."""
    start, size = rng.randrange(len(data) + 1), int(rng.expovariate(1 / USUAL))
    return data[:start], data[start : start + size], data[start + size :]


if __name__ == "__main__":
    main()
