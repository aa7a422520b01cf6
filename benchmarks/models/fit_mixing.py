"""Fits how a network is mixed with buffer and project: `python -m benchmarks.models.fit_mixing PACKAGE...`.

Parts of lines are cut out of files of the packages, on which the model must not have been trained. Each true
token of such a cut is an example: the fit makes it likely among the tokens that the network lists, or for
which a text votes. The weights are those of `fimlsp.models.networks.copy_cache`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import click
import numpy as np
import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table
from torch.nn.functional import cross_entropy

from fimlsp.models.completion import BUFFER_BYTES
from fimlsp.models.loading import FimModel, load_model
from fimlsp.models.networks.copy_cache import WEIGHTS, Floats, Mixing, copy_votes, evidence
from fimlsp.models.networks.matches import (
    AGREEMENT_MAX,
    CombinedSources,
    MatchSource,
    ScannedTexts,
    TextIndex,
)
from fimlsp.models.prompts.prompt import first_bytes, last_bytes
from fimlsp.models.training.corpus import read_corpus
from fimlsp.models.training.measure import RULES, Cut, line_cuts

UNITS, STEPS, BATCH, RATE, DECAY = 16, 2_000, 256, 3e-3, 0.02
TOKENS = 24
FOLDS = 3
PROJECTS = ("buffer", "buffer and project", "buffer and two files")
"""The texts that each example is read with: projects may be small, and texts may have no votes."""


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """The evidence at a place with each of `PROJECTS`, and the rank of the true token; -1: not listed."""

    network_scores: tuple[Floats, ...]
    features: tuple[Floats, ...]
    truth: tuple[int, ...]


def examples(model: FimModel, package: Path, n: int) -> Iterator[Example]:
    """The examples of *n* cuts by each rule in the files of *package*."""
    corpus = read_corpus([package], ()).files
    names = {file.text: file.name for file in corpus}
    texts = {file.name: file.text.encode() for file in corpus}
    index = TextIndex(texts)
    for rule in RULES.values():
        for cut in line_cuts(corpus, rule, n):
            name = names[cut.left + cut.truth + cut.right]
            others = [text for other, text in texts.items() if other != name]
            few = Random(name).sample(others, min(2, len(others)))
            yield from _of_cut(model, cut, [CombinedSources([]), index.without([name]), ScannedTexts(few)])


def _of_cut(model: FimModel, cut: Cut, projects: Sequence[MatchSource]) -> Iterator[Example]:
    left, right = cut.left.encode(), cut.right.encode()
    buffer = ScannedTexts([last_bytes(left, BUFFER_BYTES), first_bytes(right, BUFFER_BYTES)])
    prompt = model.prompt(left, right, TOKENS)
    stop = min(model.network.stops)
    written = left[-AGREEMENT_MAX:]
    candidates = model.network.begin(prompt.tokens)
    for token in [*model.vocabulary.encode(cut.truth)[:TOKENS], stop]:
        here, *there = (copy_votes(model.vocabulary, source.after(written)) for source in (buffer, *projects))
        evidences = [evidence(candidates, (here, votes)) for votes in there]
        if any(votes.shares for votes in (here, *there)):
            token_lists, network_scores, features = zip(*evidences, strict=True)
            truth = [tokens.index(token) if token in tokens else -1 for tokens in token_lists]
            yield Example(tuple(network_scores), tuple(features), tuple(truth))
        written = (written + (model.vocabulary.token_bytes[token] or b""))[-AGREEMENT_MAX:]
        if token != stop:
            candidates = model.network.advance(token)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Examples side by side: (examples, tokens), (examples, tokens, features), (examples,)."""

    network_scores: torch.Tensor
    features: torch.Tensor
    truth: torch.Tensor

    @classmethod
    def of(cls, chosen: Sequence[Example], which: int) -> Batch:
        """The *chosen* examples with one of `PROJECTS`."""
        width = max(len(example.network_scores[which]) for example in chosen) - 1
        n_features = chosen[0].features[which].shape[1]
        network_scores = torch.full((len(chosen), width), -math.inf)
        features = torch.zeros(len(chosen), width, n_features)
        for row, example in enumerate(chosen):
            size = len(example.network_scores[which]) - 1
            network_scores[row, :size] = torch.from_numpy(example.network_scores[which][:size])
            features[row, :size] = torch.from_numpy(example.features[which][:size])
        return cls(network_scores, features, torch.tensor([example.truth[which] for example in chosen]))


def fit(known: Sequence[Example]) -> Mixing:
    """The weights that make the true tokens of *known* likeliest, with each of `PROJECTS` in turn."""
    torch.manual_seed(0)
    random = np.random.default_rng(0)
    n_features = known[0].features[0].shape[1]
    hidden, output = torch.nn.Linear(n_features, UNITS), torch.nn.Linear(UNITS, 1, bias=False)
    torch.nn.init.zeros_(output.weight)
    weights = [*hidden.parameters(), *output.parameters()]
    optimizer = torch.optim.AdamW(weights, lr=RATE, weight_decay=DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3 * RATE, total_steps=STEPS)
    for step in range(STEPS):
        which = step % len(PROJECTS)
        chosen = [known[number] for number in random.integers(len(known), size=BATCH)]
        batch = Batch.of([example for example in chosen if example.truth[which] >= 0], which)
        scores = batch.network_scores + output(torch.tanh(hidden(batch.features)))[:, :, 0]
        optimizer.zero_grad()
        torch.autograd.backward(cross_entropy(scores, batch.truth))
        optimizer.step()
        schedule.step()
    parts = hidden.weight.T, hidden.bias, output.weight[0]
    return Mixing(*(part.detach().numpy().copy() for part in parts))


def judged(mixing: Mixing | None, known: Sequence[Example], which: int) -> tuple[float, float]:
    """Bits for each true token, one in a million if unlisted, and the share in which it is likeliest."""
    bits, hits = 0.0, 0
    for example in known:
        scores = example.network_scores[which][:-1].astype(float)
        if mixing is not None:
            features = example.features[which][:-1]
            scores = scores + np.tanh(features @ mixing.hidden + mixing.bias) @ mixing.output
            scores -= np.logaddexp.reduce(scores)
        truth = example.truth[which]
        bits -= max(scores[truth] if truth >= 0 else -math.inf, math.log(1e-6)) / math.log(2)
        hits += int(scores.argmax()) == truth
    return bits / len(known), hits / len(known)


@click.command(help=__doc__)
@click.argument("packages", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--model", help="A model's folder, not the bundled one.")
@click.option("--cuts", default=100, show_default=True, help="Cuts of each kind in each package.")
@click.option("--out", default=WEIGHTS, show_default="in use", type=click.Path(path_type=Path))
def main(packages: tuple[Path, ...], model: str | None, cuts: int, out: Path) -> None:
    """Fit, judge on the packages left out in turn, and write the weights."""
    console = Console(stderr=True)
    loaded = load_model(model)
    known = [list(examples(loaded, package, cuts)) for package in track(packages, "reading", console=console)]
    table = Table("packages left out", "predicted by", "bits a token", "the likeliest")
    for fold in track(range(FOLDS), "fitting", console=console):
        others = [one for number, package in enumerate(known) if number % FOLDS != fold for one in package]
        left_out = [example for package in known[fold::FOLDS] for example in package]
        name = ", ".join(package.name for package in packages[fold::FOLDS])
        mixing = fit(others)
        for way, chosen in (("network", None), *((project, mixing) for project in PROJECTS)):
            bits, share = judged(chosen, left_out, PROJECTS.index(way) if chosen else 0)
            table.add_row(name, way, f"{bits:.2f}", f"{share:.1%}")
    Console().print(table)
    everything = fit([example for package in known for example in package])
    out.write_text(json.dumps(everything.to_json()) + "\n")


if __name__ == "__main__":
    main()
