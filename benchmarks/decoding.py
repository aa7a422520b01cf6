"""Measures decoding on the interpreter's standard library: `python benchmarks/decoding.py`.

At seeded cursors a middle is decoded without the constraint, with it, and again after one more typed
character, as in an editor. Prints the number of cursors, the median, and the 10th and 90th percentiles of:

- the time of the prompt, of a step of the network, and of all other work in a step;
- the increase of a step's time by the constraint;
- the CPU time of four candidates and of one.

Times are divided by the steps of the network after the prompt, not by the tokens. No step follows the last
token of a middle that ends with its line. So per token, longer middles would look more expensive. Middles
without a step are left out of these rows. The constraint also changes the text, so the cursors with equal
middles have a row of their own. Garbage is collected between two requests, as in the worker of the server.
"""

from __future__ import annotations

import gc
import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from random import Random
from statistics import median
from time import process_time

import click
from corpora.python import random_place, shuffled_files
from rich.console import Console
from rich.table import Table

from fimlsp.languages.python import python
from fimlsp.lsp_server.worker.worker import COLLECTION_THRESHOLDS, collect_garbage
from fimlsp.models.completion import complete_many
from fimlsp.models.decoding.middle import Middle
from fimlsp.models.decoding.settings import DecodeSettings, Unconstrained
from fimlsp.models.loading import FimModel, load_model
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.states.protocol import State

_ADDED_TARGET = 5.0
_CANDIDATES = 4


@dataclass(frozen=True, slots=True)
class Cursor:
    """A cursor with its constraint; the rest of its line, which starts with *typed*, was removed."""

    left: bytes
    right: bytes
    start: State
    typed: bytes

    def one_later(self) -> Cursor | None:
        """The cursor after *typed*; None if the constraint refuses that."""
        start = self.start.feed(self.typed)
        return None if start is None else Cursor(self.left + self.typed, self.right, start, b"")


@dataclass(slots=True)
class Figures:
    """One number for each cursor and quantity."""

    prompt: list[float] = field(default_factory=list)
    prompt_again: list[float] = field(default_factory=list)
    network: list[float] = field(default_factory=list)
    constraint: list[float] = field(default_factory=list)
    share: list[float] = field(default_factory=list)
    share_of_all: list[float] = field(default_factory=list)
    added: list[float] = field(default_factory=list)
    added_to_same: list[float] = field(default_factory=list)
    rejected: list[float] = field(default_factory=list)
    tokens: list[float] = field(default_factory=list)
    one: list[float] = field(default_factory=list)
    several: list[float] = field(default_factory=list)

    def add(self, free: Middle, middle: Middle, again: Middle) -> None:
        """Add a middle, the one *free* of the constraint, and the one *again* after one more character."""
        prompt = max(free.prefill_ms, middle.prefill_ms)  # whichever was decoded first
        self.prompt.append(prompt)
        self.prompt_again.append(again.prefill_ms)
        decoding = middle.model_ms + middle.engine_ms
        self.share.append(100 * middle.engine_ms / decoding)
        self.share_of_all.append(100 * middle.engine_ms / (decoding + prompt))
        self.rejected.append(middle.rejected / middle.tokens)
        self.tokens.append(middle.tokens)
        if steps(middle) and steps(free):
            self._add_steps(free, middle)

    def _add_steps(self, free: Middle, middle: Middle) -> None:
        n = steps(middle)
        self.network.append(middle.model_ms / n)
        self.constraint.append(middle.engine_ms / n)
        without = (free.model_ms + free.engine_ms) / steps(free)
        self.added.append(100 * ((middle.model_ms + middle.engine_ms) / n / without - 1))
        if middle.text == free.text:
            self.added_to_same.append(self.added[-1])


def steps(middle: Middle) -> int:
    """Number of steps of the network after the prompt."""
    return sum(token.stop is not None for token in middle.trace)


def cursors(seed: int, files: int, cuts: int) -> Iterator[Cursor]:
    """Seeded places of the standard library."""
    random, engine = Random(seed), Engine(python())
    for _name, data in islice(shuffled_files(random), files):
        document = engine.document(data)
        for _ in range(cuts):
            at = random_place(random, data, 0, len(data))
            end = data.find(b"\n", at)
            start = document.middle(at, end, relax=True).start if end > at else None
            if start is not None:
                yield Cursor(data[:at], data[end:], start, data[at:end].decode()[0].encode())


def measure(model: FimModel, cursor: Cursor, settings: DecodeSettings, figures: Figures) -> None:
    """Decode at *cursor*, after the next character, and several candidates."""
    free_cursor = replace(cursor, start=Unconstrained())
    if len(figures.one) % 2:  # so that neither is always the second
        free, middle = decoded(model, free_cursor, settings), decoded(model, cursor, settings)
    else:
        middle, free = decoded(model, cursor, settings), decoded(model, free_cursor, settings)
    moved = cursor.one_later()
    if free.tokens and middle.tokens and moved is not None:
        figures.add(free, middle, decoded(model, moved, settings))
        decoded(model, cursor, settings)
    for numbers, candidates in ((figures.one, 1), (figures.several, _CANDIDATES)):
        several = replace(settings, candidates=candidates)
        collect_garbage()
        started = process_time()
        complete_many(model, cursor.left, cursor.right, cursor.start, several, lambda: False)
        numbers.append(1000 * (process_time() - started))


def decoded(model: FimModel, cursor: Cursor, settings: DecodeSettings) -> Middle:
    """The middle at *cursor*."""
    collect_garbage()
    (middle,) = complete_many(model, cursor.left, cursor.right, cursor.start, settings, lambda: False)
    return middle


def table_of(figures: Figures) -> Table:
    """Numbers of cursors, medians, 10th and 90th percentiles."""
    rows = {
        "prompt, first time (ms)": figures.prompt,
        "prompt, one character later (ms)": figures.prompt_again,
        "network per step (ms)": figures.network,
        "other work per step: constraint and loop (ms)": figures.constraint,
        "share of other work in decoding (%)": figures.share,
        "share of other work, prompt included (%)": figures.share_of_all,
        "increase of a step by the constraint (%)": figures.added,
        "increase where both texts are equal (%)": figures.added_to_same,
        "candidates rejected per token": figures.rejected,
        "tokens": figures.tokens,
        "one candidate, prompt known (CPU ms)": figures.one,
        f"{_CANDIDATES} candidates, prompt known (CPU ms)": figures.several,
    }
    table = Table()
    for column in ("", "n", "p10", "median", "p90"):
        table.add_column(column, justify="right" if column else "left")
    for name, numbers in rows.items():
        ordered = sorted(numbers)
        p10, p90 = (ordered[(len(ordered) * tenths + 9) // 10 - 1] for tenths in (1, 9))
        table.add_row(name, str(len(numbers)), *(f"{x:.2f}" for x in (p10, median(numbers), p90)))
    return table


@click.command(help=__doc__)
@click.option("--model", help="A model's folder or hub name, instead of the bundled one.")
@click.option("--device", help="cpu, cuda, cuda:N or mps.")
@click.option("--files", default=15, show_default=True, help="Number of files of the standard library.")
@click.option("--cuts", default=8, show_default=True, help="Number of cursors in each file.")
@click.option("--tokens", default=48, show_default=True, help="Maximum number of tokens of a middle.")
@click.option("--lines", default=1, show_default=True, help="Lines of a middle; 0: no limit.")
@click.option("--seed", default=0, show_default=True, help="Chooses files and cursors.")
def main(
    model: str | None, device: str | None, files: int, cuts: int, tokens: int, lines: int, seed: int
) -> None:
    """Measure and print."""
    console = Console(width=None if sys.stdout.isatty() else 120)
    gc.set_threshold(*COLLECTION_THRESHOLDS)
    loaded, figures = load_model(model, device=device), Figures()
    settings = DecodeSettings(tokens=tokens, lines=lines or None)
    for cursor in cursors(seed, files, cuts):
        measure(loaded, cursor, settings, figures)
    machine = f"{platform.python_implementation()} {platform.python_version()}, {platform.platform()}"
    console.print(f"{machine}, {os.cpu_count()} cores; {loaded.name} on {loaded.device}; seed {seed}")
    console.print(table_of(figures))
    added = median(figures.added)
    console.print(f"The constraint adds {added:.1f} % to decoding (target: {_ADDED_TARGET:g} %).")


if __name__ == "__main__":
    main()
