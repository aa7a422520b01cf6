"""Measures the first token of a slow model in the process: `python -m benchmarks.models.reading`.

A module of the standard library is opened in its middle. The first token is requested at once, after the text
was read ahead, after a key, and elsewhere in the same file.
"""

from __future__ import annotations

import inspect
import tempfile
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from benchmarks.models.random_gguf import SIZES, write_random
from fimlsp.models.completion import prompt_ahead
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.loading import FimModel, load_model
from fimlsp.models.protocols import ReadsAhead

SETTINGS = DecodeSettings(tokens=64)


@click.command()
@click.option("--model", help="A GGUF file, not one of random weights.")
@click.option("--size", type=click.Choice([*SIZES]), default="0.5B", show_default=True)
@click.option("--threads", default=1, show_default=True)
def main(model: str | None, size: str, threads: int) -> None:
    """Measure, and print."""
    with tempfile.TemporaryDirectory() as folder:
        path = model or f"{folder}/random.gguf"
        if model is None:
            write_random(Path(path), SIZES[size])
        for is_ahead in (False, True):
            _measure(load_model(path, threads=threads, device="cpu"), is_ahead=is_ahead)


def _measure(model: FimModel, *, is_ahead: bool) -> None:
    data = inspect.getsource(textwrap).encode()
    middle, elsewhere = (data.index(b"\n", len(data) * share // 4) for share in (2, 3))
    prompts = {
        "opened": _prompt(model, data[:middle], data[middle:]),
        "after a key": _prompt(model, data[:middle] + b"\n", data[middle:]),
        "elsewhere": _prompt(model, data[:elsewhere], data[elsewhere:]),
    }
    network = model.network
    if is_ahead and isinstance(network, ReadsAhead):
        started = time.perf_counter()
        with network.cancellable(lambda: False):
            network.read_ahead(prompts["opened"])
        seconds = time.perf_counter() - started
        Console().print(f"read ahead: {len(prompts['opened'])} tokens in {seconds:.1f} s")
    for name, prompt in prompts.items():
        started = time.perf_counter()
        network.begin(prompt)
        Console().print(f"{name}: the first token after {time.perf_counter() - started:.2f} s")


def _prompt(model: FimModel, left: bytes, right: bytes) -> Sequence[int]:
    return prompt_ahead(model, left, right, SETTINGS).tokens


if __name__ == "__main__":
    main()
