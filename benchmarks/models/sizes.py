"""Measures networks of candidate sizes, and weights of 8 bits: `python -m benchmarks.models.sizes`.

The networks have random weights, as times do not depend on them. The table has the CPU time of one
thread for a prompt of 512 tokens that was never read, and for each token after it. Both multiply in
8 bits. llama.cpp reads the export; its times contain the requests.

With folders of Python files as ROOTS, it prints their bits a byte instead: before and after the weights of a
model were rounded.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time

import click
import torch
from rich.console import Console
from rich.table import Table

from fimlsp.models.checkpoints.eight_bits import quantised
from fimlsp.models.gguf_export import export_gguf
from fimlsp.models.loading import load_model
from fimlsp.models.protocols import NextToken
from fimlsp.models.remote.gguf_server import load_gguf
from fimlsp.models.training.checkpoint import Sizes, new, save, trained_before
from fimlsp.models.training.corpus import read_corpus
from fimlsp.models.training.examples import train_tokenizer
from fimlsp.models.training.loop import Progress
from fimlsp.models.training.measure import TokenCounts, bits_per_byte

SIZES = ((384, 6, 4096), (512, 8, 8192), (640, 9, 8192), (768, 9, 8192))
PROMPT, TOKENS, ROUNDS = 512, 24, 3


def times(network: NextToken, n: int) -> str:
    """CPU milliseconds of a prompt and of a token, the medians of some rounds."""
    prompts, tokens = list[float](), list[float]()
    for seed in range(ROUNDS):
        ids = Random(seed).choices(range(260, n), k=PROMPT + TOKENS)
        prompts.append(timed(lambda ids=ids: network.begin(ids[:PROMPT])))
        tokens.append(timed(lambda ids=ids: [network.advance(token) for token in ids[PROMPT:]]) / TOKENS)
    return f"{median(prompts):.0f} / {median(tokens):.1f}"


def timed(work: Callable[[], object]) -> float:
    """CPU time of *work* (ms)."""
    started = process_time()
    work()
    return 1000 * (process_time() - started)


def size_table(sizes: Sequence[tuple[int, int, int]], folder: Path) -> Table:
    """One row for each size."""
    titles = ("width, layers, tokens", "parameters", "8 bits: MB, files")
    table = Table(*titles, "ONNX Runtime: prompt / token (ms)", "llama.cpp: prompt / token (ms)")
    for width, layers, vocabulary in sizes:
        tokenizer = train_tokenizer((text for text in words(vocabulary)), vocabulary)
        model = new(Sizes(vocabulary, width, layers), tokenizer)
        torch.nn.init.normal_(model.model.embed_tokens.weight, std=0.05)
        path = folder / f"{width}-{layers}"
        save(model, tokenizer, path, Progress(), 8)
        files = list(path.glob("*.safetensors"))
        small = load_model(str(path)).network
        export_gguf(str(path), path / "model.gguf", 8)
        large = load_gguf(path / "model.gguf", "cpu", 1, None, None).network
        table.add_row(
            f"{width}, {layers}, {vocabulary:,}",
            f"{sum(parameter.numel() for parameter in model.parameters()) / 1e6:.1f} M",
            f"{sum(file.stat().st_size for file in files) / 1e6:.1f}, {len(files)}",
            *(times(network, vocabulary) for network in (small, large)),
        )
    return table


def words(n: int) -> list[str]:
    """Enough random words for a tokenizer of *n* tokens."""
    random = Random(0)
    return ["".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=6)) for _ in range(2 * n)]


def loss_table(name: str, roots: Sequence[Path]) -> Table:
    """Bits a byte of the files below *roots* before and after a round through 8 bits."""
    model, tokenizer = trained_before(name)
    files = read_corpus(roots, ()).files
    counts = TokenCounts(tokenizer, ())
    exact = bits_per_byte(model, counts, files, 60, 512).model
    values = {key: value.numpy() for key, value in model.state_dict().items()}
    stored = quantised(values)
    rounded = {
        key: stored[key] * stored[f"{key}_scale"][:, None] for key in values if f"{key}_scale" in stored
    }
    model.load_state_dict({key: torch.from_numpy(rounded.get(key, value)) for key, value in values.items()})
    table = Table("files", "bits a byte as they are", "in 8 bits")
    table.add_row(
        str(len(files)), f"{exact:.4f}", f"{bits_per_byte(model, counts, files, 60, 512).model:.4f}"
    )
    return table


@click.command(help=__doc__)
@click.argument("roots", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--model", default="bundled", show_default=True, help="The model whose weights are rounded.")
def main(roots: tuple[Path, ...], model: str) -> None:
    """Measure and print."""
    torch.set_num_threads(1)
    console = Console(width=120)
    if roots:
        console.print(loss_table(model, roots))
    else:
        with TemporaryDirectory() as folder:
            console.print(size_table(SIZES, Path(folder)))


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
