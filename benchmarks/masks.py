"""What masks cost, and whether they are right.

`python benchmarks/masks.py TOKENIZER.json` asks for masks at cursors of the standard library, along the
tokens that stand there, with what follows the cursor and without. `--language json` does the same with
made-up JSON. Times are CPU times; the second half of each run is counted, when tables are warm. `--judge N`
holds every N-th mask against feeding each token, and counts bits that are set wrongly, and that are missing.
"""

from __future__ import annotations

import random
import resource
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from time import process_time

import click
import numpy as np
from corpora.json import records_of_length
from corpora.python import shuffled_files
from fimlsp.models.prompts.vocabulary import Vocabulary as TokenVocabulary
from fimlsp.models.prompts.vocabulary import read_vocabulary
from fimlsp.quotient.masks.plain_walk import allowed_by_feeding
from fimlsp.quotient.masks.store import store_of
from rich.console import Console
from rich.table import Table
from tokenizers import Tokenizer

from fimlsp import Engine, Vocabulary, python
from fimlsp import json as json_language

TOKENS = 20
CUTS = (0, 20, 80, 200)
FILES = 100


@dataclass
class Measured:
    """The masks of one engine: what each cost in milliseconds, and wrong bits of those that were judged."""

    name: str
    preparation_ms: float = 0.0
    times: list[float] = field(default_factory=list)
    judged: int = 0
    too_many: int = 0
    too_few: int = 0

    def row(self) -> list[str]:
        """A row of the table."""
        times = np.array(self.times)
        warm = times[len(times) // 2 :]
        figures = [np.median(warm), *np.percentile(warm, (90, 99)), warm.max()]
        shares = [f"{figure:.3f}" for figure in (self.preparation_ms, times[0], *figures)]
        return [self.name, str(len(times)), *shares, str(self.judged), f"{self.too_many} / {self.too_few}"]


@dataclass
class Case:
    """A cut: the text around it, and the tokens that stood there."""

    left: bytes
    right: bytes
    tokens: list[int]


def texts(language: str) -> list[bytes]:
    """Texts of a language, none of them large."""
    if language == "json":
        rng = random.Random(0)
        return [records_of_length(rng, size, minified=m) for size in (2_000, 20_000) for m in (True, False)]
    return [text for _, text in islice(shuffled_files(random.Random(0)), FILES)]


def cases(language: str, tokens: TokenVocabulary, cursors: int, seed: int) -> Iterator[Case]:
    """Seeded cuts of ASCII texts."""
    rng, sources, found = random.Random(seed), texts(language), 0
    while found < cursors:
        text = rng.choice(sources)
        start = rng.randrange(len(text))
        end = min(len(text), start + rng.choice(CUTS))
        if text.isascii():
            following = tokens.encode(text[start : start + 12 * TOKENS].decode())[:TOKENS]
            yield Case(text[:start], text[end:], following)
            found += 1


def measure_ours(
    name: str, engine: Engine, vocabulary: Vocabulary, found: list[Case], judge: int, *, suffix: bool
) -> Measured:
    """Our masks along the tokens of each case."""
    measured = Measured(name)
    for case in found:
        document = engine.document(case.left + (case.right if suffix else b""))
        state = document.middle(len(case.left), len(case.left)).start
        for token in case.tokens:
            if state is None:
                break
            began = process_time()
            state.mask(vocabulary)
            measured.times.append(1e3 * (process_time() - began))
            if judge and not len(measured.times) % judge:
                right = allowed_by_feeding(vocabulary, state, lambda at, data: at.feed(data))
                wrong = right != state.allowed_texts(vocabulary)
                measured.judged += len(right) - 1
                measured.too_few += int((wrong & right).sum())
                measured.too_many += int((wrong & ~right).sum())
            text = vocabulary.token_bytes[token]
            state = None if text is None else state.feed(text)
    return measured


@click.command()
@click.argument("tokenizer", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--language", type=click.Choice(["python", "json"]), default="python", show_default=True)
@click.option("--cursors", default=500, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--judge", default=0, help="Hold every so many-th mask against feeding each token; 0: none.")
@click.option("--stop", default=0, show_default=True, help="The id of the token that ends a text.")
def main(tokenizer: Path, language: str, cursors: int, seed: int, judge: int, stop: int) -> None:
    """Measure masks."""
    tokens = read_vocabulary(Tokenizer.from_file(str(tokenizer)), {stop})
    found = list(cases(language, tokens, cursors, seed))
    known = json_language if language == "json" else python()
    results = []
    for name, suffix in (("fimlsp, with what follows", True), ("fimlsp, left to right", False)):
        began = process_time()
        vocabulary = Vocabulary(tokens.token_bytes, [stop])
        vocabulary.prepare()
        engine = Engine(known)
        preparation = 1e3 * (process_time() - began)
        results.append(measure_ours(name, engine, vocabulary, found, judge, suffix=suffix))
        results[-1].preparation_ms = preparation
        print(name, "store", round(store_of(engine.tables, vocabulary).n_bytes / 1e6, 1), "MB")
    table = Table(
        "engine", "masks", "preparation ms", "first", "median", "p90", "p99", "max", "judged", "+/-"
    )
    for measured in results:
        table.add_row(*measured.row())
    Console(width=140).print(table)
    print("peak memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, "MB")


if __name__ == "__main__":
    main()
