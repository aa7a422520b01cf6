"""Measures the interference of several editors on one llama-server: prompt tokens read for each request.

    python benchmarks/slots.py

Each of four editors types in a file of its own, one key in turn, and requests a completion after every key. A
server reads only the difference from the last prompt of the slot that it uses. So the figure is small while
each editor keeps a slot, and nearly the whole prompt if they take slots from each other.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Mapping
from pathlib import Path
from random import Random
from statistics import mean
from tempfile import TemporaryDirectory
from urllib.request import Request, urlopen

import click
import xllamacpp
from corpora.python import shuffled_files
from rich.console import Console
from rich.table import Table

from fimlsp.models.completion import complete_many
from fimlsp.models.decoding.settings import DecodeSettings, Unconstrained
from fimlsp.models.gguf_export import export_gguf
from fimlsp.models.loading import FimModel, load_model
from fimlsp.models.remote.address import Address
from fimlsp.models.remote.http_client import HttpClient

CONTEXT = 1024
SETTINGS = DecodeSettings(tokens=8)
BYTES = (4_000, 30_000)
SILENT = -1
Files = list[tuple[bytes, int]]


class Pinned(HttpClient):
    """Requests one slot only (None: any), and no reuse of prompts unless it *reuses* them."""

    def __init__(self, address: Address, slot: int | None, reuses: bool) -> None:
        super().__init__(address)
        self._options = {"cache_prompt": reuses} | ({} if slot is None else {"id_slot": slot})

    def stream(self, path: str, body: Mapping[str, object]) -> Generator[bytes, None, None]:
        """As of `HttpClient`."""
        return super().stream(path, {**body, **self._options})


def read_so_far(address: str) -> int:
    """Number of prompt tokens that the server has read since its start."""
    with urlopen(Request(f"{address}/metrics")) as answer:
        lines = [line.split() for line in answer.read().decode().splitlines() if not line.startswith("#")]
    return int(float(dict(lines)["llamacpp:prompt_tokens_total"]))


def editing(n: int, seed: int) -> Files:
    """*n* files, each with the position where typing starts."""
    random, files = Random(seed), Files()
    for _, data in shuffled_files(random):
        if BYTES[0] < len(data) < BYTES[1] and data.isascii():
            files.append((data, random.randrange(1000, len(data) - 1000)))
        if len(files) == n:
            break
    return files


def editors(address: str, n: int, way: str) -> list[FimModel]:
    """*n* models of the server at *address*, each used in this *way*."""
    models = [load_model(address, uses_buffer=False) for _ in range(n)]
    for slot, model in enumerate(models):
        server = model.network.server
        server._client = Pinned(Address.parse(address), slot if way == "pinned" else None, way != "no reuse")
    return models


def measured(path: Path, slots: int, way: str, memory_mib: int, files: Files, keys: int) -> tuple[int, float]:
    """Mean tokens of a prompt, and mean tokens read for a request, without the first requests."""
    params = xllamacpp.CommonParams()
    params.model.path, params.n_gpu_layers, params.verbosity = str(path), 0, SILENT
    params.n_ctx, params.n_parallel, params.kv_unified = slots * CONTEXT, slots, False
    params.cache_ram_mib, params.endpoint_metrics = memory_mib, True
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    address = server.listening_address
    models, lengths, before = editors(address, len(files), way), list[int](), 0
    for key in range(-1, keys):
        for model, (data, at) in zip(models, files, strict=True):
            left, right = data[: at + key + 1], data[at:]
            complete_many(model, left, right, Unconstrained(), SETTINGS, lambda: False)
            lengths.append(len(model.prompt(left, right, SETTINGS.tokens).tokens))
        if key == -1:
            before = read_so_far(address)
    return round(mean(lengths)), (read_so_far(address) - before) / (keys * len(files))


@click.command()
@click.option("--editors", "n", default=4, show_default=True, type=click.IntRange(1))
@click.option("--keys", default=20, show_default=True, type=click.IntRange(1), help="Of each editor.")
@click.option("--seed", default=0, show_default=True)
def main(n: int, keys: int, seed: int) -> None:
    """Measure the interference of editors on one server."""
    files = editing(n, seed)
    ways = [
        ("each its slot, chosen by the server", n, "chosen", 0),
        ("each its slot, pinned by id_slot", n, "pinned", 0),
        ("half as many slots", max(1, n // 2), "chosen", 0),
        ("half as many slots, 256 MB of main memory", max(1, n // 2), "chosen", 256),
        ("each its slot, without cache_prompt", n, "no reuse", 0),
    ]
    table = Table(f"{n} editors", "tokens of a prompt", "read a request", box=None)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "bundled.gguf"
        export_gguf("bundled", path)
        for name, slots, way, memory in ways:
            length, read = measured(path, slots, way, memory, files, keys)
            table.add_row(name, str(length), f"{read:.1f}")
    Console(width=None if sys.stdout.isatty() else 110).print(table)


if __name__ == "__main__":
    main()
