"""Finds the number of refusals that costs as much as a mask: `python -m benchmarks.models.refusals`.

At cursors of the standard library a model writes under the constraint. At each step, candidates are checked
in their order until one is allowed, and then the mask of the same state is made. Prints the refusals at a
step, and the costs of a refusal and of a mask. Prints also the cost of a token with a mask after N refusals.
With a temperature candidates are drawn; the higher it is, the more are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random
from statistics import median, quantiles
from time import process_time

import click
from numpy.random import default_rng
from rich.console import Console
from rich.table import Table

from benchmarks.corpora.python import random_place, shuffled_files
from fimlsp.languages.python import python
from fimlsp.models.decoding.candidate_order import Draw, at_random
from fimlsp.models.loading import load_model
from fimlsp.models.protocols import Maskable, Scoring, best_candidates
from fimlsp.quotient.engine import Engine

AFTER = (0, 2, 4, 8, 12, 16, 24, 32, 50, 100, 1_000, 1_000_000)
MOST_REFUSED = 2_000


@dataclass(frozen=True, slots=True)
class Step:
    """Number of refused candidates at a step, and milliseconds for these and for a mask."""

    refused: int
    refusing: float
    mask: float

    def cost(self, after: int) -> float:
        """Milliseconds with a mask after that many refusals."""
        if self.refused <= after:
            return self.refusing
        return self.refusing * after / self.refused + self.mask


def steps(model_name: str | None, cursors: int, tokens: int, temperature: float, seed: int) -> Iterator[Step]:
    """The steps of the model at *cursors* cursors."""
    model, random = load_model(model_name), Random(seed)
    network = model.network
    if not (isinstance(network, Scoring) and isinstance(network, Maskable)):
        raise click.ClickException("This needs a model that runs here.")
    vocabulary, engine, noise = network.mask_vocabulary, Engine(python()), default_rng(seed)
    vocabulary.prepare()
    for _name, data in islice(shuffled_files(random), cursors):
        at = random_place(random, data, 0, len(data))
        state = engine.document(data).middle_at_bytes(at, at, relax=True).start
        if state is None:
            continue
        read = list(model.prompt(data[:at], data[at:], tokens).tokens)
        for _ in range(tokens):
            scores = network.log_probabilities(read)
            listed = best_candidates(scores, network.stops, len(scores))
            pairs = zip(listed.tokens, listed.log_probabilities, strict=True)
            ordered = at_random(listed, Draw(temperature), noise) if temperature else pairs
            refused, following, refusing = 0, None, 0.0
            for token, _ in islice(ordered, MOST_REFUSED):
                text, since = network.token_bytes[token], process_time()
                following = state.feed(text) if text else None
                if following is not None:
                    break
                refusing += process_time() - since
                refused += 1
            since = process_time()
            state.allowed_texts(vocabulary)
            yield Step(refused, 1000 * refusing, 1000 * (process_time() - since))
            if following is None:
                break
            read.append(token)
            state = following


@click.command()
@click.option("--model", help="A model's folder or name, not the bundled one.")
@click.option("--cursors", default=40, show_default=True)
@click.option("--tokens", default=20, show_default=True)
@click.option("--temperature", default=1.0, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(model: str | None, cursors: int, tokens: int, temperature: float, seed: int) -> None:
    """Measure, and print."""
    all_steps = list(steps(model, cursors, tokens, temperature, seed))
    refused = [step.refused for step in all_steps]
    console = Console()
    n_refused = sum(refused)
    console.print(
        f"{len(all_steps)} steps, {n_refused / len(all_steps):.2f} refused at one; at most so many at "
        + ", ".join(f"{share} %: {at}" for share, at in zip((90, 99), _at(refused, (90, 99)), strict=True))
        + f"; the most {max(refused)}"
    )
    masks = [step.mask for step in all_steps[len(all_steps) // 2 :]]
    refusal = sum(step.refusing for step in all_steps) / max(1, n_refused)
    console.print(
        f"CPU milliseconds: a refusal {refusal:.3f}; a mask, second half of the run: "
        f"median {median(masks):.2f}, mean {sum(masks) / len(masks):.2f}"
    )
    table = Table("mask after", "ms a token, all", "second half")
    for after in AFTER:
        halves = (all_steps, all_steps[len(all_steps) // 2 :])
        costs = [sum(step.cost(after) for step in half) / len(half) for half in halves]
        table.add_row(
            "never" if after == AFTER[-1] else f"{after} refused", *(f"{cost:.3f}" for cost in costs)
        )
    console.print(table)


def _at(values: list[int], shares: tuple[int, ...]) -> list[int]:
    cuts = quantiles(values, n=100)
    return [round(cuts[share - 1]) for share in shares]


if __name__ == "__main__":
    main()
