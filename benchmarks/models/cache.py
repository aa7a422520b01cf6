"""Measures the gain of the cache over buffer and project: `python -m benchmarks.models.cache PACKAGE...`.

Parts of lines are removed from files of the packages. Prints the bits that their true tokens need with three
predictors: the network alone, the buffer mixed in, and the other files of the package mixed in below it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

from fimlsp.models.completion import BUFFER_BYTES
from fimlsp.models.loading import FimModel, load_model
from fimlsp.models.networks.copy_cache import CopyCache
from fimlsp.models.networks.matches import MatchSource, TextIndex
from fimlsp.models.prompts.prompt import first_bytes, last_bytes
from fimlsp.models.training.corpus import SourceFile, read_corpus
from fimlsp.models.training.measure import RULES, line_cuts

TOKENS = 32
_MISSED = 1e-6


@dataclass(frozen=True, slots=True)
class Case:
    """A cut, and texts of other files of its folder."""

    left: bytes
    truth: bytes
    right: bytes
    elsewhere: MatchSource


def cases(corpus: Sequence[SourceFile], n: int) -> Iterator[Case]:
    """*n* cuts by each rule in the files of a package."""
    by_text = {file.text: file for file in corpus}
    index = TextIndex({file.name: file.text.encode() for file in corpus})
    for rule in RULES.values():
        for cut in line_cuts(corpus, rule, n):
            file = by_text[cut.left + cut.truth + cut.right]
            texts = cut.left.encode(), cut.truth.encode(), cut.right.encode()
            yield Case(*texts, index.without([file.name]))


def bits(model: FimModel, case: Case) -> Iterator[tuple[str, float]]:
    """Bits of each true token, by predictor; an unlisted token counts as one in a million."""
    left, right = last_bytes(case.left, BUFFER_BYTES), first_bytes(case.right, BUFFER_BYTES)
    prompt = model.prompt(case.left, case.right, TOKENS)
    predictors = {
        "network": model.network,
        "with the buffer": CopyCache(model.network, model.vocabulary, left, right),
        "with buffer and project": CopyCache(model.network, model.vocabulary, left, right, case.elsewhere),
    }
    tokens = model.vocabulary.encode(case.truth.decode())[:TOKENS]
    for name, predictor in predictors.items():
        candidates = predictor.begin(prompt.tokens)
        for token in tokens:
            listed = dict(zip(candidates.tokens, candidates.log_probabilities, strict=True))
            yield name, -listed.get(token, math.log(_MISSED)) / math.log(2)
            candidates = predictor.advance(token)


@click.command(help=__doc__)
@click.argument("packages", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--cuts", default=100, show_default=True, help="Number of cuts of each kind in each package.")
def main(packages: tuple[Path, ...], cuts: int) -> None:
    """Measure and print."""
    model = load_model()
    total, count = Counter[str](), Counter[str]()
    for package in track(packages, console=Console(stderr=True)):
        for case in cases(read_corpus([package], ()).files, cuts):
            for name, value in bits(model, case):
                total[name] += value
                count[name] += 1
    table = Table("bits per token", *total)
    table.add_row(f"{max(count.values())} tokens", *(f"{total[name] / count[name]:.2f}" for name in total))
    Console().print(table)


if __name__ == "__main__":
    main()
