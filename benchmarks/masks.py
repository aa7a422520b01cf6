"""Measures the cost of masks, and counts wrong bits.

`python benchmarks/masks.py TOKENIZER.json` makes masks at cursors of the standard library, along the tokens
of the text, with the text right of the cursor and without. `--language json` and `--language lua` do the same
with made-up texts, `--language go` with the standard library of Go.

`--peers` adds other engines for the language. Each engine runs in its own process. Times are CPU times of
the second half of each run, when tables are warm. `--judge N` compares every N-th mask with feeding each
token, and counts bits that are set wrongly, and bits that are missing. `--most N` stops an engine after N
seconds on the clock; its row then has the masks made until then. `--growth` measures the same cursors with
more and more text around them.
"""

from __future__ import annotations

import random
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from time import monotonic, process_time

import click
import numpy as np
import psutil
from corpora.json import records_of_length
from corpora.lua import functions_of_length
from corpora.python import PythonCorpus, shuffled_files
from measures.mask_peers import PEERS, Masks
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from tokenizers import Tokenizer

from fimlsp import Engine, Vocabulary, python
from fimlsp import json as json_language
from fimlsp.datasets.languages.go import go_toolchain
from fimlsp.languages.go import go
from fimlsp.languages.lua import lua
from fimlsp.models.prompts.vocabulary import read_vocabulary
from fimlsp.quotient.masks.vocabulary import allowed_by_feeding
from fimlsp.quotient.states.protocol import State

TOKENS = 20
CUTS = (0, 20, 80, 200)
FILES = 100
LENGTHS = (10_000, 100_000, 500_000, 2_000_000)
COLUMNS = ("engine", "masks", "preparation ms", "MB", "first", "median", "p90", "p99", "max", "judged", "+/-")
LANGUAGES = {"python": python, "json": lambda: json_language, "go": lambda: go, "lua": lambda: lua}
BESIDE = "llguidance"
OURS = {"fimlsp, with what follows": True, "fimlsp, left to right": False}


@dataclass(frozen=True)
class Settings:
    """Settings of a run: a language, a *tokenizer* whose token *stop* ends a text, and the cursors."""

    tokenizer: Path
    language: str
    cursors: int
    seed: int
    judge: int
    stop: int
    most: int


class OutOfTimeError(BaseException):
    """An engine has used its CPU time; not an `Exception`, as engines catch those."""


@dataclass
class Case:
    """A cut: the text around it, and the tokens that were cut out."""

    left: bytes
    right: bytes
    tokens: list[int]


@dataclass
class Measured:
    """The masks of one engine: their costs in milliseconds, and the wrong bits of those that were judged."""

    name: str
    preparation_ms: float = 0.0
    megabytes: float = 0.0
    times: list[float] = field(default_factory=list)
    judged: int = 0
    too_many: int = 0
    too_few: int = 0
    stopped: str = ""

    def row(self) -> list[str]:
        """A row of the table."""
        times = np.array(self.times)
        warm = times[len(times) // 2 :]
        shares = ["none"] * 5
        if len(times):
            figures = [np.median(warm), *np.percentile(warm, (90, 99)), warm.max()]
            shares = [f"{figure:.3f}" for figure in (times[0], *figures)]
        wrong = f"{self.too_many} / {self.too_few}"
        prepared = [f"{self.preparation_ms:.0f}", f"{self.megabytes:.0f}"]
        return [self.name + self.stopped, str(len(times)), *prepared, *shares, str(self.judged), wrong]

    @property
    def shares(self) -> NDArray[np.float64]:
        """The median and the hundredth largest of the warm times."""
        return np.percentile(self.times[len(self.times) // 2 :], (50, 99))

    def beside(self, other: Measured) -> str:
        """The ratios of the median and the p99 to those of *other*."""
        return ", ".join(f"{ratio:.1f}" for ratio in self.shares / other.shares)

    def take(self, mask: Callable[[], np.ndarray]) -> np.ndarray:
        """A mask; its time is recorded."""
        began = process_time()
        made = mask()
        self.times.append(1e3 * (process_time() - began))
        return made


class Judge:
    """Judges every so many-th mask by feeding each token, left to right unless there is a *state*."""

    def __init__(self, settings: Settings, vocabulary: Vocabulary) -> None:
        self._every = settings.judge
        self._vocabulary = vocabulary
        self._engine = Engine(LANGUAGES[settings.language]())

    def judge(self, measured: Measured, words: np.ndarray, text: bytes, state: State | None = None) -> None:
        """Count wrong bits of *words*, the mask after *text*."""
        if not self._every or len(measured.times) % self._every:
            return
        vocabulary = self._vocabulary
        state = state or self._engine.document(text).middle(len(text), len(text), relax=False).start
        assert state is not None
        right = vocabulary.words(allowed_by_feeding(vocabulary, state, lambda at, data: at.feed(data)))
        ruled = vocabulary.words(np.arange(len(vocabulary.texts) + 1) < len(vocabulary.texts))
        measured.judged += int(np.bitwise_count(ruled).sum())
        measured.too_few += int(np.bitwise_count(right & ~words & ruled).sum())
        measured.too_many += int(np.bitwise_count(~right & words & ruled).sum())


def texts(language: str) -> list[bytes]:
    """Texts of a language, none of them large."""
    if language == "json":
        rng = random.Random(0)
        sizes = (2_000, 20_000)
        return [
            b"[" + records_of_length(rng, size, minified=m) + b"]" for size in sizes for m in (True, False)
        ]
    if language == "lua":
        rng = random.Random(0)
        return [functions_of_length(rng, size) for size in (2_000, 20_000, 2_000, 20_000)]
    if language == "go":
        sources = sorted((Path(go_toolchain()).parents[1] / "src").rglob("*.go"))
        chosen = random.Random(0).sample(sources, 2 * FILES)
        read = (path.read_bytes() for path in chosen if "testdata" not in path.parts)
        return [text for text in read if text.isascii()]
    return [text for _, text in islice(shuffled_files(random.Random(0)), FILES)]


def cases(settings: Settings, tokenizer: Tokenizer) -> Iterator[Case]:
    """Seeded cuts of texts; in Python only of those in ASCII, as all are in Go."""
    rng, sources, count = random.Random(settings.seed), texts(settings.language), 0
    while count < settings.cursors:
        text = rng.choice(sources)
        start = rng.randrange(len(text))
        end = min(len(text), start + rng.choice(CUTS))
        piece = text[start : start + 12 * TOKENS]
        if (text if settings.language == "python" else piece + text[start - 1 : start]).isascii():
            following = tokenizer.encode(piece.decode(), add_special_tokens=False).ids[:TOKENS]
            yield Case(text[:start], text[end:], following)
            count += 1


def measure(name: str, settings: Settings) -> Measured:
    """The masks of one engine at all cursors; runs in a process of its own."""
    tokenizer = Tokenizer.from_file(str(settings.tokenizer))
    token_bytes = read_vocabulary(tokenizer, {settings.stop}).token_bytes
    chosen = list(cases(settings, tokenizer))
    held, began = _held(), monotonic()
    vocabulary = Vocabulary(token_bytes, [settings.stop])
    measured, judge = Measured(name), Judge(settings, vocabulary)
    # a timer of CPU time would make the kernel count it in steps of 4 ms
    signal.signal(signal.SIGALRM, _out_of_time)
    signal.setitimer(signal.ITIMER_REAL, settings.most)
    try:
        if name in OURS:
            measure_ours(measured, judge, chosen, vocabulary, settings)
        else:
            measure_peer(measured, judge, chosen, vocabulary, settings)
    except OutOfTimeError:
        measured.stopped = f", stopped after {monotonic() - began:.0f} s"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    measured.megabytes = _held() - held
    return measured


def measure_ours(
    measured: Measured, judge: Judge, chosen: Sequence[Case], vocabulary: Vocabulary, settings: Settings
) -> None:
    """Our masks at the cursors of the cases."""
    began = process_time()
    vocabulary.prepare()
    engine = Engine(LANGUAGES[settings.language]())
    measured.preparation_ms = 1e3 * (process_time() - began)
    for case in chosen:
        document = engine.document(case.left + (case.right if OURS[measured.name] else b""))
        state = document.middle(len(case.left), len(case.left), relax=False).start
        follow(measured, judge, state, case, vocabulary)


def measure_peer(
    measured: Measured, judge: Judge, chosen: Sequence[Case], vocabulary: Vocabulary, settings: Settings
) -> None:
    """The masks of another engine at the cursors of the cases."""
    tokenizer = Tokenizer.from_file(str(settings.tokenizer))
    token_bytes, began = vocabulary.token_bytes, process_time()
    begin = PEERS[settings.language][measured.name](settings.tokenizer, list(token_bytes), settings.stop)
    measured.preparation_ms = 1e3 * (process_time() - began)
    for case in chosen:
        before = tokenizer.encode(case.left.decode(), add_special_tokens=False).ids
        follow_peer(measured, judge, begin(), before, case, token_bytes)


def _out_of_time(*_: object) -> None:
    """Stop an engine that has used its time."""
    raise OutOfTimeError


def follow(measured: Measured, judge: Judge, state: State | None, case: Case, vocabulary: Vocabulary) -> None:
    """Our masks along the tokens of a case."""
    for token in case.tokens:
        if state is None:
            break
        judge.judge(measured, measured.take(lambda at=state: at.mask(vocabulary)), b"", state)
        state = state.feed(vocabulary.token_bytes[token] or b"")


def follow_peer(
    measured: Measured,
    judge: Judge,
    masks: Masks,
    before: Sequence[int],
    case: Case,
    token_bytes: Sequence[bytes | None],
) -> None:
    """The masks of another engine along the tokens of a case, after the tokens *before* it."""
    text = case.left
    if not all(masks.add(token) for token in before):
        return
    for token in case.tokens:
        judge.judge(measured, measured.take(masks.mask), text)
        if not masks.add(token):
            break
        text += token_bytes[token] or b""


def _held() -> float:
    """The memory that this process holds, in megabytes."""
    return psutil.Process().memory_info().rss / 1e6


def growth(settings: Settings, console: Console) -> None:
    """Print the cost of masks at the same cursors with more and more text around them."""
    tokenizer = Tokenizer.from_file(str(settings.tokenizer))
    vocabulary = Vocabulary(read_vocabulary(tokenizer, {settings.stop}).token_bytes, [settings.stop])
    corpus = PythonCorpus()
    table = Table("bytes", "masks", "median", "p90", "p99", "max")
    grown = list(corpus.growing(random.Random(settings.seed), LENGTHS))
    for text in (grown[0], *grown):  # first once to fill the tables
        rng, measured = random.Random(settings.seed), Measured(text.name)
        engine = Engine(corpus.language)
        document = engine.document(text.data)
        judge = Judge(settings, vocabulary)
        for _ in range(settings.cursors):
            start = rng.randrange(LENGTHS[0]) + text.start
            tokens = tokenizer.encode(text.data[start : start + 100].decode(), add_special_tokens=False).ids
            case = Case(b"", b"", tokens[:TOKENS])
            follow(measured, judge, document.middle(start, start).start, case, vocabulary)
        figures = [np.median(measured.times), *np.percentile(measured.times, (90, 99)), max(measured.times)]
        cells = [f"{figure:.3f}" for figure in figures]
        table.add_row(f"{len(text.data):,}", str(len(measured.times)), *cells)
    console.print(table)


@click.command()
@click.argument("tokenizer", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--language", type=click.Choice(list(LANGUAGES)), default="python", show_default=True)
@click.option("--cursors", default=500, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--judge", default=0, help="Compare every N-th mask with feeding each token; 0: none.")
@click.option("--stop", default=0, show_default=True, help="The id of the token that ends a text.")
@click.option("--most", default=3600, show_default=True, help="Most seconds for an engine, on the clock.")
@click.option("--peers", is_flag=True, help="Also measure other engines for the language.")
@click.option("--growth", "grows", is_flag=True, help="Measure the same cursors with more and more text.")
def main(
    tokenizer: Path,
    language: str,
    cursors: int,
    seed: int,
    judge: int,
    stop: int,
    most: int,
    peers: bool,
    grows: bool,
) -> None:
    """Measure masks."""
    console = Console(width=140)
    settings = Settings(tokenizer, language, cursors, seed, judge, stop, most)
    if peers and not PEERS[language]:
        raise click.UsageError("Cannot compare: no other engine is installed. See benchmarks/README.md.")
    if grows:
        growth(settings, console)
        return
    table, runs = Table(*COLUMNS), dict[str, Measured]()
    for name in (*OURS, *(PEERS[language] if peers else ())):
        with ProcessPoolExecutor(1, get_context("spawn")) as process:
            runs[name] = process.submit(measure, name, settings).result()
        table.add_row(*runs[name].row())
    console.print(table)
    if BESIDE in runs:
        for name in OURS:
            console.print(f"{name}, median and p99 by those of {BESIDE}: {runs[name].beside(runs[BESIDE])}")


if __name__ == "__main__":
    main()
