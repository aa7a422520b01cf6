"""Measures models on a server: runs against single tokens, llama.cpp against NumPy, and several clients.

    python benchmarks/serving.py        # the bundled model, in a llama.cpp server of its own
    python benchmarks/serving.py --server http://HOST:8012 --clients 8

Cursors are drawn from the standard library with a seed. Times depend on the other load of the machine, so
compare the columns of one run only.
"""

from __future__ import annotations

import os
import resource
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, suppress
from copy import copy
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import mean, median
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import click
from corpora.python import shuffled_files
from measures.differences import Written, difference
from rich.console import Console
from rich.table import Table

from fimlsp import python
from fimlsp.models.completion import complete_many
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.gguf_export import export_gguf
from fimlsp.models.loading import FimModel, load_model
from fimlsp.models.protocols import NextToken
from fimlsp.models.remote.gguf_server import POOL, SLOTS, LocalServer, start_server
from fimlsp.models.remote.http_client import HttpClient
from fimlsp.models.remote.llama_server import LlamaServer
from fimlsp.models.remote.look_ahead import LookAhead, ServerStep
from fimlsp.models.remote.open_model import KEY_VARIABLE
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.states.protocol import State

SETTINGS = DecodeSettings(tokens=64)
BYTES_MAX = 30_000
PROMPT = 512
CONTEXT = 1024
STEPS = 64


@dataclass(frozen=True, slots=True)
class Cursor:
    """A position in a file, and the constraint there."""

    left: bytes
    right: bytes
    start: State


@dataclass(slots=True)
class Figures:
    """Figures of completions: milliseconds, those in the constraint, requests, tokens, and texts."""

    ms: list[float] = field(default_factory=list)
    engine_ms: list[float] = field(default_factory=list)
    requests: list[int] = field(default_factory=list)
    tokens: int = 0
    written: list[Written] = field(default_factory=list)

    @property
    def texts(self) -> list[bytes]:
        """The written texts."""
        return [written.middle.text for written in self.written]


class Counting:
    """A `ModelServer` that counts its runs; all have the *length*, if it is given."""

    def __init__(self, server: LlamaServer, length: int | None = None) -> None:
        self._server = server
        self._length = length
        self.runs = 0
        self.prompt: Sequence[int] = ()
        self.stops, self.cancellable = server.stops, server.cancellable
        self.stop_after, self.more_after = server.stop_after, server.more_after

    @property
    def token_bytes(self) -> Sequence[bytes | None]:
        """As of `ModelServer`."""
        return self._server.token_bytes

    def run(self, text: Sequence[int], length: int) -> Iterator[ServerStep]:
        """As of `ModelServer`."""
        self.runs += 1
        self.prompt = self.prompt or tuple(text)
        return self._server.run(text, self._length or length)


def counted(model: FimModel, length: int | None = None, candidates: int | None = None) -> FimModel:
    """*model* with counted requests, runs of *length*, and *candidates* listed at each token."""
    assert isinstance(model.network, LookAhead)
    server = model.network.server
    if candidates is not None:
        server = copy(server)
        server.candidates = candidates
    return replace(model, network=LookAhead(Counting(server, length)), uses_buffer=False)


def cursors(n: int, seed: int) -> list[Cursor]:
    """*n* cursors in lines of the standard library; the rest of each line was removed."""
    random, engine, places = Random(seed), Engine(python()), list[Cursor]()
    files = shuffled_files(random)
    while len(places) < n:
        data = next(files)[1]
        at = random.randrange(len(data))
        if len(data) > BYTES_MAX or not data.isascii():
            continue
        end = data.find(b"\n", at)
        left, right = data[:at], data[end if end >= 0 else len(data) :]
        start = engine.document(left + right).middle(len(left), len(left)).start
        if start is not None:
            places.append(Cursor(left, right, start))
    return places


def measured(model: FimModel, places: Sequence[Cursor]) -> Figures:
    """The figures of completions at *places*."""
    figures = Figures()
    server = getattr(model.network, "server", None)
    counter = server if isinstance(server, Counting) else None
    for place in places:
        if counter is not None:
            counter.runs, counter.prompt = 0, ()
        started = time.perf_counter()
        (middle,) = complete_many(model, place.left, place.right, place.start, SETTINGS, lambda: False)
        figures.ms.append(1000 * (time.perf_counter() - started))
        figures.engine_ms.append(middle.engine_ms)
        figures.tokens += middle.tokens
        figures.written.append(Written(counter.prompt if counter is not None else (), middle))
        if counter is not None:
            figures.requests.append(counter.runs)
    return figures


def generated(server: LocalServer) -> int:
    """Number of tokens that the server has written since its start."""
    request = Request(f"http://{server.address}/metrics", headers={"Authorization": f"Bearer {server.key}"})
    with urlopen(request) as answer:
        for line in answer.read().decode().splitlines():
            if line.startswith("llamacpp:tokens_predicted_total "):
                return int(float(line.split()[1]))
    return 0


def delaying(address: str, seconds: float) -> str:
    """The address of a proxy for *address* that forwards requests *seconds* later."""
    parts, listening = urlsplit(address), socket.create_server(("127.0.0.1", 0))

    def passing(source: socket.socket, target: socket.socket, pause: float) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                time.sleep(pause)
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def serve(client: socket.socket) -> None:
        there = parts.hostname, parts.port
        with suppress(OSError), closing(client), closing(socket.create_connection(there)) as server:
            back = threading.Thread(target=passing, args=(server, client, 0), daemon=True)
            back.start()
            passing(client, server, seconds)
            back.join()

    def accept() -> None:
        while True:
            threading.Thread(target=serve, args=(listening.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return f"http://127.0.0.1:{listening.getsockname()[1]}"


def table_of_runs(
    server: LocalServer, places: Sequence[Cursor], delay_ms: float, candidates: int | None
) -> tuple[Table, list[str]]:
    """Runs of tokens against single tokens over *candidates* (None: all); and a line for each difference."""
    address = f"http://{server.address}"
    table = Table(
        "", "equal texts", "requests, median", "generated / kept", "ms, median", "ms, mean", box=None
    )
    reference, differences = list[Written](), list[str]()
    peer = HttpClient(server.address, server.key)
    for name, url in {"": address, f", {delay_ms:g} ms away": delaying(address, delay_ms / 1000)}.items():
        model = load_model(url)
        whole = candidates or len(model.vocabulary.token_bytes)
        ways = {"token by token": counted(model, 1, whole), "runs": counted(model)}
        for way, counted_model in ways.items():
            before = generated(server)
            figures = measured(counted_model, places)
            n_generated = generated(server) - before
            reference = reference or figures.written
            pairs = enumerate(zip(reference, figures.written, strict=True))
            differing = [(at, a, b) for at, (a, b) in pairs if a.middle.text != b.middle.text]
            equal = len(places) - len(differing)
            for at, a, b in differing:
                vocabulary, stops = model.vocabulary.token_bytes, model.fim.stops
                differences.append(
                    f"{way}{name}, cursor {at}, {difference(peer, len(vocabulary), stops, a, b)}"
                )
            table.add_row(
                way + name,
                f"{equal} of {len(places)}",
                f"{median(figures.requests):g}",
                f"{n_generated / figures.tokens:.2f}",
                f"{median(figures.ms):.0f}",
                f"{mean(figures.ms):.0f}",
            )
    return table, differences


def stepping(network: NextToken, vocabulary_size: int, seed: int) -> tuple[float, float]:
    """CPU milliseconds of this process for a prompt of 512 tokens, and for one token after it."""
    random = Random(seed)
    prompt = [random.randrange(5, vocabulary_size) for _ in range(PROMPT)]
    started = time.process_time()
    candidates = network.begin(prompt)
    read = time.process_time() - started
    started = time.process_time()
    for _ in range(STEPS):
        candidates = network.advance(next(t for t in candidates.tokens if t not in network.stops))
    return 1000 * read, 1000 * (time.process_time() - started) / STEPS


def engine_figures(name: str) -> list[str]:
    """One row: the figures of the model *name* on one thread; run in a process of its own."""
    started = time.process_time()
    model = load_model(None if name == "bundled" else name, device="cpu", threads=1, uses_buffer=False)
    load = 1000 * (time.process_time() - started)
    rows = [stepping(model.network, len(model.vocabulary.token_bytes), seed) for seed in range(7)]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    prompt, step = (median(row[at] for row in rows) for at in (0, 1))
    return [f"{load:.0f}", f"{prompt:.1f}", f"{step:.2f}", f"{memory:.0f}"]


def table_of_engines(path: Path) -> Table:
    """The bundled model in NumPy and in llama.cpp, one thread each; all CPU time counts."""
    table = Table("one thread, CPU ms", "load", f"prompt of {PROMPT}", "a token", "memory, MB", box=None)
    for name, model in (("NumPy", "bundled"), ("llama.cpp", str(path))):
        with ProcessPoolExecutor(1, get_context("spawn")) as alone:
            table.add_row(name, *alone.submit(engine_figures, model).result())
    return table


def client(address: str, n: int, seed: int) -> tuple[int, float, float]:
    """One client: its tokens, the share of the constraint, and milliseconds of a completion (median)."""
    model, places = load_model(address, uses_buffer=False), cursors(n, seed)
    figures = measured(model, places)
    return figures.tokens, sum(figures.engine_ms) / sum(figures.ms), median(figures.ms)


def table_of_clients(address: str, most: int, n: int, seed: int) -> Table:
    """Several clients at once."""
    table = Table("clients", "tokens/s in all", "ms a completion", "constraint's share", box=None)
    number = 1
    while number <= most:
        with ProcessPoolExecutor(number, get_context("spawn")) as clients:
            list(clients.map(client, [address] * number, [1] * number, range(number)))  # fills caches
            started = time.perf_counter()
            rows = list(clients.map(client, [address] * number, [n] * number, range(seed, seed + number)))
            seconds = time.perf_counter() - started
        tokens, shares, ms = zip(*rows, strict=True)
        table.add_row(str(number), f"{sum(tokens) / seconds:.0f}", f"{mean(ms):.0f}", f"{mean(shares):.0%}")
        number *= 2
    return table


@click.command()
@click.option("--cursors", "n", default=300, show_default=True, type=click.IntRange(1))
@click.option("--seed", default=0, show_default=True)
@click.option("--delay-ms", default=20.0, show_default=True, help="Delay of the second server.")
@click.option("--candidates", type=click.IntRange(1), help="For single tokens; all by default.")
@click.option(
    "--clients", "most", default=4, show_default=True, type=click.IntRange(1), help="Maximum number."
)
@click.option("--server", help="Measure clients of this server only.")
def main(n: int, seed: int, delay_ms: float, candidates: int | None, most: int, server: str | None) -> None:
    """Measure models on a server."""
    console = Console(width=None if sys.stdout.isatty() else 110)
    if server is not None:
        console.print(table_of_clients(server, most, max(1, n // most), seed))
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "bundled.gguf"
        export_gguf("bundled", path)
        console.print(table_of_engines(path))
        own = start_server(path, path.name, CONTEXT, "cpu", 1)
        os.environ[KEY_VARIABLE] = own.key
        table, differences = table_of_runs(own, cursors(n, seed), delay_ms, candidates)
        console.print(table)
        for line in differences:
            console.print(line, highlight=False, soft_wrap=True)
        shared = start_server(path, path.name, CONTEXT * SLOTS // POOL, "cpu", 1)
        os.environ[KEY_VARIABLE] = shared.key
        console.print(table_of_clients(f"http://{shared.address}", most, max(1, n // 10), seed))


if __name__ == "__main__":
    main()
