"""Measures aligned draws: their distance from the model's distribution given a constraint, and their cost.

`python -m benchmarks.models.aligned` lets the bundled model write middles of three small languages. All texts
of these are enumerated, in all likely ways to write them in tokens, so that distribution is known. The
distance is the Kullback-Leibler divergence (nats) of the next draw after a number of draws. Exact draws have
none: their cost is in texts that are begun, and in steps of the network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count, islice, pairwise
from math import exp, log

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from fimlsp import DecodeSettings, Engine, choice, json_schema, load_model, regular
from fimlsp.models.decoding.candidate_order import Futures
from fimlsp.models.decoding.loop import Decoding
from fimlsp.models.loading import FimModel
from fimlsp.models.prompts.prompt import Prompt
from fimlsp.models.protocols import ListsMore, Maskable
from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.states.protocol import State

DRAWS = (0, 10, 100, 300)
LEAST = 1e-3
"""Candidates that are less likely than this among those that are allowed are left out."""

SETTINGS = DecodeSettings(
    tokens=24, lines=None, stop_rule="last", steer=False, temperature=1.0, independent=True
)


@dataclass(frozen=True)
class Case:
    """A cursor whose middle is of a small language."""

    name: str
    left: bytes
    right: bytes
    language: Language


CASES = (
    Case(
        "one of six expressions",
        b"import math\n\n\ndef area(r):\n    return ",
        b"\n\n\nprint(area(2))\n",
        choice(["math.pi * r ** 2", "3.14 * r * r", "2 * math.pi * r", "math.sqrt(r)", "r", "0"]),
    ),
    Case("a year", b"# Copyright (c) ", b" The authors\n\nimport os\n", regular("(19|20)[0-9]{2}")),
    Case(
        "a JSON object",
        b"import json\n\nevent = json.loads('",
        b"')\nprint(event['kind'], event['n'])\n",
        json_schema(
            {
                "type": "object",
                "properties": {"kind": {"enum": ["key", "click"]}, "n": {"enum": [0, 1]}},
                "required": ["kind"],
                "additionalProperties": False,
            },
            compact=True,
        ),
    ),
)


Prefix = tuple[int, ...]


class Tree:
    """All texts of a case in all their tokens.

    `shares` has for each prefix the candidates of the model that are allowed, with their probabilities.
    `wanted` has the probability of each text given the constraint.
    """

    def __init__(self, model: FimModel, prompt: Sequence[int], start: State) -> None:
        assert isinstance(model.network, ListsMore)
        assert isinstance(model.network, Maskable)
        self._network, self._prompt, self._vocabulary = model.network, prompt, model.network.mask_vocabulary
        self.shares: dict[Prefix, dict[int, float]] = {}
        reached: dict[Prefix, float] = {}
        self._read((), start, 1.0, reached)
        total = sum(reached.values())
        self.completed = total
        self.wanted = {written: share / total for written, share in reached.items()}

    def _read(self, written: Prefix, state: State, share: float, reached: dict[Prefix, float]) -> None:
        """Read all texts that go on from *written*, which the model writes with the probability *share*."""
        listed = self._network.begin(self._prompt, written)
        listed = self._network.more_after(self._prompt, written) or listed
        allowed = self._vocabulary.tokens(state.allowed_texts(self._vocabulary), complete=state.complete)
        pairs = zip(listed.tokens, listed.log_probabilities, strict=True)
        shares = {token: exp(score) for token, score in pairs if allowed[token]}
        least = LEAST * sum(shares.values())
        self.shares[written] = shares = {token: part for token, part in shares.items() if part > least}
        for token, part in shares.items():
            text = self._vocabulary.token_bytes[token]
            if token in self._vocabulary.stops or text is None:
                reached[written] = reached.get(written, 0.0) + share * part
            elif (following := state.feed(text)) is not None:
                self._read((*written, token), following, share * part, reached)

    def divergence(self, futures: Futures) -> float:
        """The distance (nats) of the next adaptive draw from the wanted distribution."""
        return sum(
            share * (log(share) - log(self._drawn(written, futures)))
            for written, share in self.wanted.items()
            if share > 0
        )

    def _drawn(self, written: Prefix, futures: Futures) -> float:
        """The probability that the next adaptive draw is this text."""
        ends = self._vocabulary.stops
        drawn = 1.0
        for length in range(len(written) + 1):
            known, shares = futures.known.get(written[:length]), self.shares[written[:length]]
            taken = {written[length]} if length < len(written) else ends
            if known is None:
                drawn *= sum(shares.get(token, 0.0) for token in taken) / sum(shares.values())
            else:
                drawn *= known.weights[np.isin(known.tokens, list(taken))].sum() / known.bound
        return drawn


@dataclass
class Measured:
    """The distances after each number of draws, and the costs of exact draws."""

    case: str
    texts: int
    completed: float
    distances: list[float]
    begun: list[float]
    steps: list[float]


def measured(model: FimModel, case: Case) -> Measured:
    """One case with adaptive and with exact draws."""
    start = Engine(case.language).document(b"").middle(0, 0).start
    assert start is not None
    prompt = model.prompt(case.left, case.right, SETTINGS.tokens)
    tree = Tree(model, prompt.tokens, start)
    first = Decoding.begin(model.network, prompt, start, replace(SETTINGS, aligned="adaptively"))
    assert first.futures is not None
    distances, draws = [], count()
    for before, n in pairwise((0, *DRAWS)):
        for draw in islice(draws, n - before):
            first.redrawn(draw).run(lambda: False)
        distances.append(tree.divergence(first.futures))
    begun, steps = exact_costs(model, prompt, start)
    return Measured(case.name, len(tree.wanted), tree.completed, distances, begun, steps)


def exact_costs(model: FimModel, prompt: Prompt, start: State) -> tuple[list[float], list[float]]:
    """The texts that were begun, and the steps of the network, for each of the exact draws so far."""
    first = Decoding.begin(model.network, prompt, start, replace(SETTINGS, aligned="exactly"))
    begun, steps, n_steps, kept = list[float](), list[float](), 0, 0
    for number in count(1):
        run = first.redrawn(number)
        run.run(lambda: False)
        n_steps += len(run.steps)
        kept += not run.is_given_up
        if not run.is_given_up and kept in DRAWS:
            begun.append(number / kept)
            steps.append(n_steps / kept)
        if kept == DRAWS[-1]:
            return begun, steps
    raise AssertionError


@click.command()
def main() -> None:
    """Print the distances and costs of all cases."""
    model, console = load_model(), Console(width=120)
    rows = [measured(model, case) for case in CASES]
    distances = Table("distance (nats) after draws", "texts", "completed by the model", *map(str, DRAWS))
    costs = Table("exact draws", *(f"{name} {n}" for n in DRAWS[1:] for name in ("begun,", "steps,")))
    for row in rows:
        shares = [f"{distance:.4f}" for distance in row.distances]
        distances.add_row(row.case, str(row.texts), f"{row.completed:.2g}", *shares)
        pairs = [value for pair in zip(row.begun, row.steps, strict=True) for value in pair]
        costs.add_row(row.case, *(f"{value:.1f}" for value in pairs))
    console.print(distances, costs)


if __name__ == "__main__":
    main()
