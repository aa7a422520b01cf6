"""A fight in the terminal, with scripted talents and effects: `python examples/dungeon/fight.py --seed 7`."""

from __future__ import annotations

import random
import re
import sys
import time
from io import StringIO
from pathlib import Path

import click
from engine.fight import Fight
from engine.library import load_library
from engine.picture import picture
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.live import Live

WIDTH = 150
WITHOUT_FONTS = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
"""The format of a picture that loads no fonts from the network."""


@click.command(help=__doc__)
@click.option("--seed", type=int, help="Seed of all random choices; it is shown, and random by default.")
@click.option("--delay", default=0.15, show_default=True, help="Seconds after each turn.")
@click.option("--generated/--written", default=True, show_default=True, help="Include scripts of a model.")
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path), help="Save a picture in this file.")
@click.option("--round", "at_round", default=0, help="The round in the picture; 0: the last.")
def main(seed: int | None, delay: float, generated: bool, svg: Path | None, at_round: int) -> None:
    """Fight."""
    seed = random.randrange(10_000) if seed is None else seed
    library = load_library(generated=generated)
    for fault in library.faults:
        click.echo(fault, err=True)
    fight = Fight(library, seed)
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    kept = Console(width=WIDTH, record=True, file=StringIO())
    shown = picture(fight, f"seed {seed}")
    with Live(console=console, auto_refresh=False, transient=False) as live:
        for _ in fight.turns():
            title = f"seed {seed}, round {fight.round}"
            if at_round in (0, fight.round):
                shown = picture(fight, title)
            if console.is_terminal:
                live.update(picture(fight, title), refresh=True)
                time.sleep(delay)
        live.update(picture(fight, f"seed {seed}, round {fight.round}: {fight.winner()}"), refresh=True)
    if svg is not None:
        kept.print(shown)
        svg.write_text(kept.export_svg(title=f"seed {seed}", code_format=WITHOUT_FONTS), "utf-8")
    used = ", ".join(f"{name} {count}" for name, count in sorted(fight.used.items()))
    console.print(f"{fight.winner()} won in round {fight.round}; talents used: {used}")
    for told in fight.stopped:
        console.print(f"stopped: {told}")


if __name__ == "__main__":
    main()
