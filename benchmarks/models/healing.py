"""Measures token healing: `python -m benchmarks.models.healing`.

The cursors are within names of the standard library, or after the space before them. A few tokens are written
from left to right, with and without healing. Prints how often the rest of the name is the original one, with
the bundled model or another. A model that uses the buffer cache is measured with and without it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from random import Random

import click
from rich.console import Console

from benchmarks.corpora.python import shuffled_files
from fimlsp.languages.python import python
from fimlsp.models.completion import generate
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.loading import load_model
from fimlsp.quotient.engine import Engine

NAMES = {"within": re.compile(rb"[A-Za-z_]{5,}"), "before": re.compile(rb"(?<=[\w=,(] )[A-Za-z_]{2,}")}
BEFORE = 700
SETTINGS = DecodeSettings(tokens=8)


@click.command()
@click.option("--model", help="A model's folder or name, not the bundled one.")
@click.option("--cursors", default=100, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--place", type=click.Choice(list(NAMES)), default="within", show_default=True)
def main(model: str | None, cursors: int, seed: int, place: str) -> None:
    """Measure, and print."""
    loaded, random, engine = load_model(model), Random(seed), Engine(python())
    right = {(uses, heal): 0 for uses in (loaded.uses_buffer, False) for heal in (False, True)}
    n_cursors = 0
    for _, data in islice(shuffled_files(random), cursors):
        names = [name for name in NAMES[place].finditer(data) if name.start() > BEFORE]
        if not names:
            continue
        name = random.choice(names)
        cut = random.randrange(name.start() + 1, name.end() - 1) if place == "within" else name.start()
        left = data[cut - BEFORE : cut]
        start = engine.document(data[:cut]).middle_at_bytes(cut, cut, relax=False).start
        if start is None:
            continue
        n_cursors += 1
        for uses, heal in right:
            text = generate(replace(loaded, uses_buffer=uses), left, start, SETTINGS, heal=heal).text
            word = re.match(rb"\w*", text)
            right[uses, heal] += word is not None and word[0] == data[cut : name.end()]
    for (uses, heal), count in right.items():
        how = f"{'with' if uses else 'without'} the text before, {'healed' if heal else 'not healed'}"
        Console().print(f"{how}: {count} of {n_cursors}")


if __name__ == "__main__":
    main()
