"""Measures masks for greedy decoding: `python -m benchmarks.models.greedy`.

At cursors of the standard library the bundled model writes the likeliest tokens, with `MaskedLogits` as it is
and with `greedy=True`. Both have to choose the same tokens. Prints the processor times of a call, in
milliseconds, with the time to make tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from random import Random
from time import process_time

import click
import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from benchmarks.corpora.python import random_place, shuffled_files
from fimlsp import Engine, MaskedLogits, load_model, python
from fimlsp.models.loading import FimModel
from fimlsp.models.protocols import Maskable, Scoring
from fimlsp.quotient.states.protocol import State

MOST_BYTES = 8_000
TOKENS = 12


def starts(engine: Engine, model: FimModel, random: Random) -> Iterator[tuple[State, tuple[int, ...]]]:
    """First states at cursors of the standard library, with the prompts of the model."""
    for _name, data in shuffled_files(random):
        data = data[:MOST_BYTES]
        at = random_place(random, data, 0, len(data))
        start = engine.document(data).middle_at_bytes(at, at, relax=False).start
        if start is not None:
            yield start, model.prompt(data[:at], data[at:], TOKENS).tokens


def measured(model: FimModel, check: str, cursors: int, seed: int) -> dict[bool, list[float]]:
    """Milliseconds of each call, without and with `greedy`, in random order."""
    network, random = model.network, Random(seed)
    assert isinstance(network, Scoring)
    assert isinstance(network, Maskable)
    times: dict[bool, list[float]] = {False: [], True: []}
    engine = Engine(python(check="compile" if check == "compile" else "parse"))
    for start, prompt in islice(starts(engine, model, random), cursors):
        ids = torch.tensor([prompt])
        masked = {greedy: MaskedLogits(network.mask_vocabulary, start, greedy=greedy) for greedy in times}
        for _ in range(TOKENS):
            scores = torch.from_numpy(network.log_probabilities(ids[0].tolist()).copy())[None]
            chosen = dict[bool, int]()
            for greedy in random.sample([False, True], 2):
                before = process_time()
                result = masked[greedy](ids, scores)  # type: ignore[arg-type]  # it names torch's old classes of tensors
                times[greedy].append(1000 * (process_time() - before))
                chosen[greedy] = int(result.argmax())
            assert chosen[False] == chosen[True]
            if chosen[True] in network.stops:
                break
            ids = torch.cat([ids, torch.tensor([[chosen[True]]])], 1)
    return times


@click.command()
@click.option("--cursors", default=30, show_default=True)
@click.option("--seed", default=3, show_default=True)
def main(cursors: int, seed: int) -> None:
    """Print the costs of a call at both levels of the check."""
    model = load_model()
    table = Table("level", "", "calls", "median", "p90", "p99", "max", "all")
    for check in ("parse", "compile"):
        for greedy, times in measured(model, check, cursors, seed).items():
            numbers = [*np.quantile(times, (0.5, 0.9, 0.99)), max(times), sum(times)]
            name = "greedy" if greedy else "masks"
            table.add_row(check, name, str(len(times)), *(f"{number:.2f}" for number in numbers))
    Console().print(table)


if __name__ == "__main__":
    main()
