"""Measures what the cache over buffer and open files adds: `python -m benchmarks.models.cache ROOT...`.

In files below the roots parts of lines are cut out, and the bits that their true tokens need are counted: by
the network alone, with the buffer mixed in, and with four files of the same folder mixed in below it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import click
from fimlsp.models.completion import BUFFER_BYTES
from fimlsp.models.loading import FimModel, load_model
from fimlsp.models.networks.buffer_cache import BufferCache
from fimlsp.models.prompts.prompt import beginning, build_prompt, ending
from fimlsp.models.training.data.corpus import SourceFile, read_corpus
from fimlsp.models.training.quality.measure import RULES, line_cuts
from rich.console import Console
from rich.table import Table

_FILES, _FILE_BYTES, _TOKENS = 4, 8_000, 32
_MISSED = 1e-6


@dataclass(frozen=True, slots=True)
class Case:
    """A cut, and texts of other files of its folder."""

    left: bytes
    truth: bytes
    right: bytes
    files: tuple[bytes, ...]


def cases(corpus: list[SourceFile], n: int) -> Iterator[Case]:
    """*n* cuts by each rule."""
    by_text = {file.text: file for file in corpus}
    for rule in RULES.values():
        for cut in line_cuts(corpus, rule, n):
            file = by_text[cut.left + cut.truth + cut.right]
            folder = file.name.rpartition("/")[0]
            beside = [other for other in corpus if other.name.rpartition("/")[0] == folder]
            others = [other.text.encode()[:_FILE_BYTES] for other in beside if other is not file]
            files = Random(file.name).sample(others, min(_FILES, len(others)))
            yield Case(cut.left.encode(), cut.truth.encode(), cut.right.encode(), tuple(files))


def bits(model: FimModel, case: Case) -> Iterator[tuple[str, float]]:
    """Bits of each true token, by who predicts it; a token that is not listed counts as one in a million."""
    left, right = ending(case.left, BUFFER_BYTES), beginning(case.right, BUFFER_BYTES)
    prompt = build_prompt(model.vocabulary, model.fim, model.context, case.left, case.right, _TOKENS)
    predictors = {
        "network": model.network,
        "with the buffer": BufferCache(model.network, model.vocabulary, left, right),
        "with buffer and files": BufferCache(model.network, model.vocabulary, left, right, case.files),
    }
    tokens = model.vocabulary.encode(case.truth.decode())[:_TOKENS]
    for name, predictor in predictors.items():
        candidates = predictor.begin(prompt.tokens)
        for token in tokens:
            listed = dict(zip(candidates.tokens, candidates.log_probabilities, strict=True))
            yield name, -listed.get(token, math.log(_MISSED)) / math.log(2)
            candidates = predictor.advance(token)


@click.command(help=__doc__)
@click.argument("roots", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--cuts", default=100, show_default=True, help="Cuts of each kind.")
def main(roots: tuple[Path, ...], cuts: int) -> None:
    """Measure and print."""
    model = load_model()
    total, count = Counter[str](), Counter[str]()
    for case in cases(read_corpus(roots, ()), cuts):
        for name, value in bits(model, case):
            total[name] += value
            count[name] += 1
    table = Table("bits per token", *total)
    table.add_row(f"{max(count.values())} tokens", *(f"{total[name] / count[name]:.2f}" for name in total))
    Console().print(table)


if __name__ == "__main__":
    main()
