"""Fits how a network is mixed with buffer and project: `python -m fimlsp.models.training.mixing PACKAGE...`.

In files of the packages, which the model must not have been trained on, parts of lines are cut out. Each
token of what was there is an example: which of the tokens that the network lists, or a text suggests, is it?
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
from fimlsp.models.networks.buffer_cache import suggested
from fimlsp.models.networks.mixing import WEIGHTS, Floats, Mixing, evidence
from fimlsp.models.networks.precedents import AGREEMENT_MAX, Precedents, ScannedTexts, Together
from fimlsp.models.networks.text_index import TextIndex
from fimlsp.models.prompts.prompt import beginning, ending
from fimlsp.models.training.data.corpus import read_corpus
from fimlsp.models.training.quality.measure import RULES, Cut, line_cuts

UNITS, STEPS, BATCH, RATE, DECAY = 16, 2_000, 256, 3e-3, 0.02
TOKENS = 24
FOLDS = 3
PROJECTS = ("buffer", "buffer and project", "buffer and two files")
"""What each example is read with: projects may be small, and texts may have none."""


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """The evidence at a place beside each of `PROJECTS`, and the rank of what was there; -1: none."""

    given: tuple[Floats, ...]
    seen: tuple[Floats, ...]
    truth: tuple[int, ...]


def examples(model: FimModel, package: Path, n: int) -> Iterator[Example]:
    """What *n* cuts by each rule in the files of *package* teach."""
    corpus = read_corpus([package], ())
    names = {file.text: file.name for file in corpus}
    texts = {file.name: file.text.encode() for file in corpus}
    index = TextIndex(texts)
    for rule in RULES.values():
        for cut in line_cuts(corpus, rule, n):
            name = names[cut.left + cut.truth + cut.right]
            others = [text for other, text in texts.items() if other != name]
            few = Random(name).sample(others, min(2, len(others)))
            yield from _of_cut(model, cut, [Together([]), index.without([name]), ScannedTexts(few)])


def _of_cut(model: FimModel, cut: Cut, projects: Sequence[Precedents]) -> Iterator[Example]:
    left, right = cut.left.encode(), cut.right.encode()
    buffer = ScannedTexts([ending(left, BUFFER_BYTES), beginning(right, BUFFER_BYTES)])
    prompt = model.prompt(left, right, TOKENS)
    stop = min(model.network.stops)
    written = left[-AGREEMENT_MAX:]
    candidates = model.network.begin(prompt.tokens)
    for token in [*model.vocabulary.encode(cut.truth)[:TOKENS], stop]:
        here, *there = (suggested(model.vocabulary, each.after(written)) for each in (buffer, *projects))
        found = [evidence(candidates, (here, each)) for each in there]
        if any(each.shares for each in (here, *there)):
            tokens, given, seen = zip(*found, strict=True)
            truth = [each.index(token) if token in each else -1 for each in tokens]
            yield Example(tuple(given), tuple(seen), tuple(truth))
        written = (written + (model.vocabulary.token_bytes[token] or b""))[-AGREEMENT_MAX:]
        if token != stop:
            candidates = model.network.advance(token)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Examples side by side: (examples, tokens), (examples, tokens, features), (examples,)."""

    given: torch.Tensor
    seen: torch.Tensor
    truth: torch.Tensor

    @classmethod
    def of(cls, chosen: Sequence[Example], which: int) -> Batch:
        """*chosen* beside one of `PROJECTS`."""
        width = max(len(each.given[which]) for each in chosen) - 1
        n_features = chosen[0].seen[which].shape[1]
        given = torch.full((len(chosen), width), -math.inf)
        seen = torch.zeros(len(chosen), width, n_features)
        for row, each in enumerate(chosen):
            size = len(each.given[which]) - 1
            given[row, :size] = torch.from_numpy(each.given[which][:size])
            seen[row, :size] = torch.from_numpy(each.seen[which][:size])
        return cls(given, seen, torch.tensor([each.truth[which] for each in chosen]))


def fit(known: Sequence[Example]) -> Mixing:
    """The weights that make the truth of *known* examples likeliest, beside each of `PROJECTS` in turn."""
    torch.manual_seed(0)
    random = np.random.default_rng(0)
    n_features = known[0].seen[0].shape[1]
    hidden, output = torch.nn.Linear(n_features, UNITS), torch.nn.Linear(UNITS, 1, bias=False)
    torch.nn.init.zeros_(output.weight)
    weights = [*hidden.parameters(), *output.parameters()]
    optimizer = torch.optim.AdamW(weights, lr=RATE, weight_decay=DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3 * RATE, total_steps=STEPS)
    for step in range(STEPS):
        which = step % len(PROJECTS)
        chosen = [known[number] for number in random.integers(len(known), size=BATCH)]
        batch = Batch.of([each for each in chosen if each.truth[which] >= 0], which)
        scores = batch.given + output(torch.tanh(hidden(batch.seen)))[:, :, 0]
        optimizer.zero_grad()
        torch.autograd.backward(cross_entropy(scores, batch.truth))
        optimizer.step()
        schedule.step()
    parts = hidden.weight.T, hidden.bias, output.weight[0]
    return Mixing(*(part.detach().numpy().copy() for part in parts))


def judged(mixing: Mixing | None, known: Sequence[Example], which: int) -> tuple[float, float]:
    """Bits for each true token, one in a million where it is unlisted, and how often it is the likeliest."""
    bits, first = 0.0, 0
    for each in known:
        scores = each.given[which][:-1].astype(float)
        if mixing is not None:
            seen = each.seen[which][:-1]
            scores = scores + np.tanh(seen @ mixing.hidden + mixing.bias) @ mixing.output
            scores -= np.logaddexp.reduce(scores)
        truth = each.truth[which]
        bits -= max(scores[truth] if truth >= 0 else -math.inf, math.log(1e-6)) / math.log(2)
        first += int(scores.argmax()) == truth
    return bits / len(known), first / len(known)


@click.command(help=__doc__)
@click.argument("packages", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--model", help="A model's folder, not the bundled one.")
@click.option("--cuts", default=100, show_default=True, help="Cuts of each kind in each package.")
@click.option("--out", default=WEIGHTS, show_default="in use", type=click.Path(path_type=Path))
def main(packages: tuple[Path, ...], model: str | None, cuts: int, out: Path) -> None:
    """Fit, judge by packages that were left out, and write."""
    console = Console(stderr=True)
    loaded = load_model(model)
    known = [list(examples(loaded, package, cuts)) for package in track(packages, "reading", console=console)]
    table = Table("packages left out", "predicted by", "bits a token", "the likeliest")
    for fold in track(range(FOLDS), "fitting", console=console):
        others = [each for number, package in enumerate(known) if number % FOLDS != fold for each in package]
        left_out = [each for package in known[fold::FOLDS] for each in package]
        name = ", ".join(package.name for package in packages[fold::FOLDS])
        mixing = fit(others)
        for way, chosen in (("network", None), *((each, mixing) for each in PROJECTS)):
            bits, first = judged(chosen, left_out, PROJECTS.index(way) if chosen else 0)
            table.add_row(name, way, f"{bits:.2f}", f"{first:.1%}")
    Console().print(table)
    out.write_text(json.dumps(fit([each for package in known for each in package]).to_json()) + "\n")


if __name__ == "__main__":
    main()
