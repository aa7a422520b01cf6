"""Measures the first token of a slow model in the process: `python -m benchmarks.models.reading`.

A module of the standard library is opened in its middle. The first token is requested at once, after the text
was read ahead, after keys, and elsewhere in the same file. With `--share 0.25` the process runs for a quarter
of the time, as on a slower machine. Its memory is that at the end, with the file mapped into it.
"""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click
import psutil
from rich.console import Console

from benchmarks.models.random_gguf import SIZES, write_random
from fimlsp.models.completion import prompt_ahead
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.loading import FimModel, load_model
from fimlsp.models.protocols import ReadsAhead

SETTINGS = DecodeSettings(tokens=64)
KEYS = 10
PERIOD_S = 0.04
STOP_AND_GO = """
import os, signal, sys, time
pid, share, period = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
def end(*_):
    os.kill(pid, signal.SIGCONT)
    os._exit(0)
signal.signal(signal.SIGTERM, end)
while True:
    time.sleep(share * period)
    os.kill(pid, signal.SIGSTOP)
    time.sleep((1 - share) * period)
    os.kill(pid, signal.SIGCONT)
"""
"""A process that stops another one for a share of each period."""


@click.command()
@click.option("--model", help="A GGUF file, not one of random weights.")
@click.option("--size", type=click.Choice([*SIZES]), default="0.5B", show_default=True)
@click.option("--threads", default=1, show_default=True)
@click.option("--share", default=1.0, show_default=True, help="The share of the time in which it runs.")
@click.option("--prompt-tokens", default=2048, show_default=True, help="Of a prompt, at most.")
def main(model: str | None, size: str, threads: int, share: float, prompt_tokens: int) -> None:
    """Measure, and print."""
    with tempfile.TemporaryDirectory() as folder:
        path = model or f"{folder}/random.gguf"
        if model is None:
            write_random(Path(path), SIZES[size])
        for is_ahead in (False, True):
            loaded = load_model(path, threads=threads, device="cpu")
            with _slowed(share):
                _measure(replace(loaded, prompt_tokens=prompt_tokens), is_ahead=is_ahead)
            used = psutil.Process().memory_info().rss / 1e9
            Console().print(f"memory: {used:.2f} GB, of the file {Path(path).stat().st_size / 1e9:.2f} GB")


@contextmanager
def _slowed(share: float) -> Iterator[None]:
    """Let this process run for a *share* of the time."""
    if share >= 1:
        yield
        return
    arguments = [str(os.getpid()), str(share), str(PERIOD_S)]
    stopper = subprocess.Popen([sys.executable, "-c", STOP_AND_GO, *arguments])
    try:
        yield
    finally:
        stopper.send_signal(signal.SIGTERM)
        stopper.wait()


def _measure(model: FimModel, *, is_ahead: bool) -> None:
    data = inspect.getsource(textwrap).encode()
    middle, elsewhere = (data.index(b"\n", len(data) * share // 4) for share in (2, 3))
    prompts = {
        "opened": _prompt(model, data[:middle], data[middle:]),
        **{f"after key {n}": _prompt(model, data[:middle] + b"x" * n, data[middle:]) for n in range(1, KEYS)},
        "elsewhere": _prompt(model, data[:elsewhere], data[elsewhere:]),
    }
    network = model.network
    assert isinstance(network, ReadsAhead)
    if is_ahead:
        started = time.perf_counter()
        with network.cancellable(lambda: False):
            network.read_ahead(prompts["opened"])
        seconds = time.perf_counter() - started
        Console().print(f"read ahead: {len(prompts['opened'])} tokens in {seconds:.1f} s")
    for name, prompt in prompts.items():
        started, worked = time.perf_counter(), time.process_time()
        with network.cancellable(lambda: False):  # so that it may take long
            network.begin(prompt)
        seconds, work = time.perf_counter() - started, time.process_time() - worked
        Console().print(
            f"{name}: {len(prompt)} tokens, the first after {seconds:.2f} s, {work:.2f} s of the processor"
        )


def _prompt(model: FimModel, left: bytes, right: bytes) -> Sequence[int]:
    return prompt_ahead(model, left, right, SETTINGS).tokens


if __name__ == "__main__":
    main()
