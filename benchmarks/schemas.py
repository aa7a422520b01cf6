"""Runs schemas of JSONSchemaBench with their instances, beside other engines.

`python benchmarks/schemas.py FOLDER TOKENIZER.json` takes the folder `maskbench/data` of the repository
guidance-ai/jsonschemabench (Geng et al. 2025). Each file has a schema and instances, valid or not. An engine
compiles the schema or refuses it, then reads each instance token by token, as it is written in compact JSON.

`--peer` adds llguidance, xgrammar or outlines-core, in a process of its own. Times are processor times. A
process that needs more than `--most` seconds of them for a schema, or 8 GB, is ended. The schema then counts
as stopped. `--judge N` compares one of N masks with the engine's own verdicts on each token, and counts wrong
bits.

An engine that refuses unknown conditions compiles fewer schemas; one that ignores them reads invalid
instances.
"""

from __future__ import annotations

import json
import random
import resource
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from time import process_time
from typing import Any

import click
import numpy as np
import psutil
from measures.mask_peers import Judged
from measures.schema_peers import SCHEMA_PEERS, Compiler, ours
from rich.console import Console
from rich.table import Table
from tokenizers import Tokenizer

from fimlsp.models.prompts.vocabulary import read_vocabulary
from fimlsp.quotient.masks.vocabulary import Bitmask

ENGINES = {"fimlsp": ours, **SCHEMA_PEERS}
VERDICTS = (
    *("schemas", "compiled", "stopped"),
    *("valid read", "valid refused", "invalid refused", "invalid read"),
)
MOST_BYTES = 8 << 30
_GLANCE_SECONDS = 0.2
COLUMNS = (
    *("engine", "schemas", "compiled", "stopped", "valid, read", "refused", "invalid, refused", "read"),
    *("compile ms", "p90", "p99", "mask ms", "p99", "judged bits", "+/-"),
)


@dataclass(frozen=True)
class Settings:
    """A *tokenizer* whose token *stop* ends a text, and the limits of a run."""

    tokenizer: Path
    stop: int
    most: float
    judge: int


@dataclass
class Results:
    """The verdicts of an engine, and its times in milliseconds."""

    counts: Counter[str] = field(default_factory=Counter)
    compile_ms: list[float] = field(default_factory=list)
    mask_ms: list[float] = field(default_factory=list)

    def row(self, name: str) -> list[str]:
        """A row of the table."""
        figures = [*_shares(self.compile_ms, (50, 90, 99)), *_shares(self.mask_ms, (50, 99))]
        wrong = f"{self.counts['too many']} / {self.counts['too few']}"
        verdicts = (str(self.counts[one]) for one in VERDICTS)
        return [name, *verdicts, *(f"{one:.3g}" for one in figures), str(self.counts["judged"]), wrong]

    def add(self, other: Results) -> None:
        """Add the results of *other*."""
        self.counts += other.counts
        self.compile_ms += other.compile_ms
        self.mask_ms += other.mask_ms


def _shares(times: list[float], at: tuple[int, ...]) -> list[float]:
    return [*np.percentile(times, at)] if times else [0.0] * len(at)


def cases(folder: Path, seed: int, limit: int) -> Iterator[dict[str, Any]]:
    """Files of *folder* in a random order that have a schema and tests."""
    files = sorted(folder.glob("*.json"))
    random.Random(seed).shuffle(files)
    found = 0
    for file in files:
        try:
            case = json.loads(file.read_text())
        except ValueError:
            continue
        if case.get("tests"):
            yield case
            found += 1
        if found == limit:
            return


def measured(engine: str, settings: Settings, given: list[dict[str, Any]]) -> Iterator[Results]:
    """The results of *engine* for each of the *given* cases, in a process that is replaced if it ends."""
    waiting, context = list(given), get_context("spawn")
    while waiting:
        answers, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs, engine, settings), daemon=True)
        process.start()
        theirs.close()
        answers.recv()  # it has its vocabulary
        try:
            while waiting:
                answers.send(waiting.pop(0))
                _await(answers, process, settings.most)
                yield answers.recv()
        except (EOFError, ConnectionError):
            yield Results(Counter(schemas=1, stopped=1))
        finally:
            process.kill()
            process.join()


def _await(answers: Connection, process: SpawnProcess, most: float) -> None:
    """Wait for an answer of *process*, and end it once it has used *most* seconds of the processor.

    It is watched from here: a limit of its own would make the kernel count its time in steps of 4 ms.
    """
    watched = psutil.Process(process.pid)
    began = _used(watched)
    while not answers.poll(_GLANCE_SECONDS):
        if _used(watched) - began > most:
            process.kill()


def _used(process: psutil.Process) -> float:
    """The seconds of the processor that *process* has used."""
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0
    return float(times.user + times.system)


def serve(cases: Connection, engine: str, settings: Settings) -> None:
    """Answer cases by results, in a process of its own."""
    tokenizer = Tokenizer.from_file(str(settings.tokenizer))
    token_bytes = [*read_vocabulary(tokenizer, {settings.stop}).token_bytes]
    compiled = ENGINES[engine](settings.tokenizer, token_bytes, settings.stop)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, resource.RLIM_INFINITY))
    random.seed(settings.judge)
    cases.send(None)
    while True:
        cases.send(Run(compiled, tokenizer, token_bytes, settings).of_case(cases.recv()))


class Run:
    """The texts of one schema in one engine."""

    def __init__(
        self, compiled: Compiler, tokenizer: Tokenizer, token_bytes: list[bytes | None], settings: Settings
    ) -> None:
        self._compiled = compiled
        self._tokenizer = tokenizer
        self._token_bytes = token_bytes
        self._settings = settings
        self._results = Results(Counter(schemas=1))

    def of_case(self, case: dict[str, Any]) -> Results:
        """The results for *case*."""
        results, began = self._results, process_time()
        try:
            begin = self._compiled(case["schema"])
        except Exception:  # of any engine
            return results
        results.compile_ms.append(1e3 * (process_time() - began))
        results.counts["compiled"] += 1
        for test in case["tests"]:
            text = json.dumps(test["data"], separators=(",", ":"), ensure_ascii=False)
            tokens = self._tokenizer.encode(text, add_special_tokens=False).ids
            read = self._reads(begin(), tokens)
            results.counts[f"{'valid' if test['valid'] else 'invalid'} {'read' if read else 'refused'}"] += 1
        return results

    def _reads(self, masks: Judged, tokens: list[int]) -> bool:
        """True if the masks allow all *tokens*, then the end."""
        for token in (*tokens, self._settings.stop):
            began = process_time()
            words = masks.mask()
            self._results.mask_ms.append(1e3 * (process_time() - began))
            if self._settings.judge and random.random() * self._settings.judge < 1:
                self._judge(words.copy(), masks)
            if not words[token >> 5] >> np.uint32(token & 31) & 1:
                return False
            if token != self._settings.stop and not masks.add(token):
                return False
        return True

    def _judge(self, words: Bitmask, masks: Judged) -> None:
        """Count the bits of *words* that differ from the verdicts on each token with a text."""
        allowed = np.unpackbits(words.view(np.uint8), bitorder="little").tolist()
        for token, text in enumerate(self._token_bytes):
            if text:
                difference = allowed[token] - masks.accepts(token)
                self._results.counts["judged"] += 1
                self._results.counts["too many"] += difference > 0
                self._results.counts["too few"] += difference < 0


@click.command(help=__doc__)
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("tokenizer", type=click.Path(path_type=Path))
@click.option("--limit", default=300, help="Number of schemas.")
@click.option("--seed", default=1)
@click.option("--stop", default=0, help="The token that ends a text.")
@click.option("--most", default=60, show_default=True, help="Most seconds of the processor for a schema.")
@click.option("--peer", "peers", multiple=True, type=click.Choice([*SCHEMA_PEERS]), help="Run it as well.")
@click.option("--judge", default=0, help="Judge one of so many masks, drawn at random; 0: none.")
def main(
    folder: Path,
    tokenizer: Path,
    limit: int,
    seed: int,
    stop: int,
    most: int,
    peers: tuple[str, ...],
    judge: int,
) -> None:
    """Print a row for each engine."""
    given = list(cases(folder, seed, limit))
    table, settings = Table(*COLUMNS), Settings(tokenizer, stop, most, judge)
    for name in ("fimlsp", *peers):
        results = Results()
        for one in measured(name, settings, given):
            results.add(one)
        table.add_row(*results.row(name))
    Console(width=180).print(table)


if __name__ == "__main__":
    main()
