"""Counts the tokens that a key costs a llama-server: `python -m benchmarks.models.typing`.

Lines of a module of the standard library are typed where they were taken out, with a request after every key.
The editor closes brackets and quotes, and types over those that it has closed, as VS Code does. The requests
are ours, and those of llama.vim as its source shows them (`autoload/llama.vim`). These have 256 lines before
the cursor's, 64 after it, and the beginning of the line, for `/infill`. Each gets a new server with the same
model of random weights in the order of Qwen2.5-Coder. The tokens are those of its metrics.
"""

from __future__ import annotations

import inspect
import json
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from urllib.request import Request, urlopen

import click
import xllamacpp
from rich.console import Console
from rich.table import Table

from benchmarks.models.random_gguf import SIZES, write_random
from fimlsp import python
from fimlsp.models.completion import complete_many
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.loading import load_model
from fimlsp.quotient.engine import Engine

TOKENS = 16
PREFIX_LINES, SUFFIX_LINES = 256, 64
BATCH, SILENT = 64, -1
LATE = 1.25
"""An answer at the time limit, with the work after it, is in time."""

CONTEXT, SLOTS = 4096, 2
CLOSED = {"(": ")", "[": "]", "{": "}", "'": "'", '"': '"'}
QUOTES = ("'", '"')
Ask = Callable[[bytes, bytes], bool]
"""Requests a text between two others; true if some of it came."""


def serve(path: Path) -> xllamacpp.Server:
    """A server for the file at *path*, with metrics."""
    params = xllamacpp.CommonParams()
    params.model.path, params.n_gpu_layers, params.verbosity = str(path), 0, SILENT
    params.n_ctx, params.n_parallel, params.endpoint_metrics = CONTEXT * SLOTS, SLOTS, True
    params.n_ubatch = BATCH  # n_batch limits the prompts of `/infill`
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    return xllamacpp.Server(params)


def read_so_far(address: str) -> int:
    """The tokens of prompts that the server has read since its start."""
    with urlopen(f"{address}/metrics") as answer:
        lines = [line.split() for line in answer.read().decode().splitlines() if not line.startswith("#")]
    return int(float(dict(lines)["llamacpp:prompt_tokens_total"]))


def ours(address: str, seconds: float, prompt_tokens: int) -> Ask:
    """Our requests, with the constraint, for at most *seconds* each."""
    model, engine = replace(load_model(address), prompt_tokens=prompt_tokens), Engine(python())
    settings = DecodeSettings(tokens=TOKENS, seconds=seconds)

    def ask(left: bytes, right: bytes) -> bool:
        start = engine.document(left + right).middle(len(left), len(left), relax=True).start
        if start is None:
            return True
        middle = complete_many(model, left, right, start, settings, lambda: False)[0]
        return middle.stop_at_start is not None  # the first token was in time

    return ask


def as_llama_vim(address: str, seconds: float) -> Ask:
    """The requests of llama.vim, without chunks of other files; half of *seconds* for each part."""

    def ask(left: bytes, right: bytes) -> bool:
        above, _, line = left.decode().rpartition("\n")
        rest = right.decode().split("\n")[: SUFFIX_LINES + 1]
        body = {
            "id_slot": 0,
            "input_prefix": "\n".join(above.split("\n")[-PREFIX_LINES:]) + "\n",
            "input_suffix": "\n".join(rest) + "\n",
            "input_extra": [],
            "prompt": line,
            "n_predict": TOKENS,
            "top_k": 40,
            "top_p": 0.9,
            "samplers": ["top_k", "top_p", "infill"],
            "cache_prompt": True,
            "t_max_prompt_ms": int(500 * seconds),
            "t_max_predict_ms": int(500 * seconds),
        }
        headers = {"Content-Type": "application/json"}
        with urlopen(Request(f"{address}/infill", json.dumps(body).encode(), headers)) as answer:
            return bool(json.load(answer)["tokens_predicted"])

    return ask


def keys(n: int) -> Iterator[tuple[bytes, bytes]]:
    """The texts left and right of the cursor after each of *n* keys."""
    data = inspect.getsource(textwrap)
    start = data.index("\n", len(data) // 2) + 1
    closed = ""
    for end in range(start + 1, start + n + 1):
        key = data[end - 1]
        if key == closed[:1]:
            closed = closed[1:]
        elif key in CLOSED and closed[:1] not in QUOTES:
            closed = CLOSED[key] + closed
        elif key == "\n":
            closed = ""
        yield data[:end].encode(), (closed + data[start + n :]).encode()


def measure(path: Path, way: Callable[[str, float], Ask], n: int, seconds: float) -> tuple[str, ...]:
    """All tokens read, those of the median key, and the share of answers within *seconds*."""
    server = serve(path)
    address = server.listening_address
    ask, read, in_time = way(address, seconds), list[int](), 0
    first = read_so_far(address)
    for left, right in keys(n):
        before, started = read_so_far(address), time.monotonic()
        has_text = ask(left, right)
        in_time += has_text and time.monotonic() - started <= seconds * LATE
        read.append(read_so_far(address) - before)
    total = read_so_far(address) - first
    return str(total), str(round(median(read))), f"{100 * in_time / n:.0f} %"


@click.command(help=__doc__)
@click.option("--keys", "n", default=200, show_default=True)
@click.option("--size", type=click.Choice([*SIZES]), default="tiny", show_default=True)
@click.option("--seconds", default=2.0, show_default=True, help="The time limit of a request.")
@click.option("--prompt-tokens", default=2048, show_default=True, help="Of our prompts, at most.")
def main(n: int, size: str, seconds: float, prompt_tokens: int) -> None:
    """Measure, and print."""
    table = Table(
        f"{n} keys, {size}", "tokens read", "median of a key", f"answers in {seconds:g} s", box=None
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random.gguf"
        write_random(path, SIZES[size])
        ways = {"ours": partial(ours, prompt_tokens=prompt_tokens), "as llama.vim": as_llama_vim}
        for name, way in ways.items():
            table.add_row(name, *measure(path, way, n, seconds))
    Console(width=None if sys.stdout.isatty() else 110).print(table)


if __name__ == "__main__":
    main()
