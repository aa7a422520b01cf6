"""Measures weights of 8 bits on a CPU: `python -m benchmarks.models.quantized [--model FOLDER]`.

Speed: networks of SantaCoder's kind with random weights read a prompt of 512 tokens, and single tokens after
it. Quality: the bundled model, or the given one, reads the standard library. Prints how often the likeliest
token stays the same, and the loss on the true tokens. All on one thread; CPU time, best of several rounds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from time import process_time

import click
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor
from transformers import GPTBigCodeConfig, GPTBigCodeForCausalLM, PreTrainedModel

from benchmarks.corpora.python import shuffled_files
from fimlsp.models.checkpoints.checkpoint_files import read_files
from fimlsp.models.loading import BUNDLED
from fimlsp.models.networks.torch.checkpoint import CheckpointNetwork
from fimlsp.models.networks.torch.placement import Placement
from fimlsp.models.networks.torch.weights import quantise

PROMPT = 512
TOKENS = 32
ROUNDS = 4
SHAPES = [(384, 6, 6, 8192), (512, 8, 8, 8192), (768, 9, 12, 8192)]  # width, layers, heads, vocabulary
LARGE_SHAPES = [(768, 20, 12, 49152), (2048, 24, 16, 49280)]


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds."""

    prompt: float
    token: float


def random_network(width: int, layers: int, heads: int, vocabulary: int) -> PreTrainedModel:
    """A network of SantaCoder's kind."""
    shape = {"vocab_size": vocabulary, "n_embd": width, "n_layer": layers, "n_head": heads}
    ends = {"bos_token_id": None, "eos_token_id": None}
    return GPTBigCodeForCausalLM(GPTBigCodeConfig(**shape, **ends, n_positions=1024)).eval()


@torch.inference_mode()
def times_of(network: PreTrainedModel) -> Times:
    """The best of several rounds."""
    reader = CheckpointNetwork(network, PROMPT + TOKENS + 1, [b"x"] * network.config.vocab_size, frozenset())
    rounds = [one_round(reader, seed) for seed in range(ROUNDS)]
    return Times(min(r.prompt for r in rounds), min(r.token for r in rounds))


def one_round(reader: CheckpointNetwork, seed: int) -> Times:
    """Read a prompt and the tokens after it."""
    tokens = Random(seed).choices(range(8192), k=PROMPT)
    prompt = timed(lambda: reader.begin(tokens))
    return Times(prompt, timed(lambda: [reader.advance(token) for token in tokens[:TOKENS]]) / TOKENS)


def timed(work: Callable[[], object]) -> float:
    """CPU time of *work* (ms)."""
    started = process_time()
    work()
    return 1000 * (process_time() - started)


def speed_table(shapes: Iterable[tuple[int, int, int, int]]) -> Table:
    """Times of networks of all *shapes*."""
    table = Table("parameters", "exact: prompt / token (ms)", "8 bits: prompt / token (ms)")
    for shape in shapes:
        network = random_network(*shape)
        name = f"{network.num_parameters() / 1e6:.1f} M"
        exact = times_of(network)
        quantise(network)
        rounded = times_of(network)
        cells = (f"{times.prompt:.0f} / {times.token:.2f}" for times in (exact, rounded))
        table.add_row(name, *cells)
    return table


def texts(encode: Callable[[str], list[int]], files: int, seed: int) -> Iterator[Tensor]:
    """Token ids of pieces of the standard library, [1, up to 512]."""
    for _name, data in islice(shuffled_files(Random(seed)), files):
        ids = encode(data.decode(errors="replace")[2000:6000])[:PROMPT]
        if len(ids) > 1:
            yield torch.tensor([ids])


@torch.inference_mode()
def agreement(folder: Path, files: int, seed: int) -> Table:
    """The change of predictions of the model in *folder* by quantising."""
    files_here = read_files(folder, str(folder))
    networks = [loaded(folder, bits) for bits in (None, 8)]
    n = same = 0
    loss = [0.0, 0.0]
    for ids in texts(lambda text: files_here.tokenizer.encode(text).ids, files, seed):
        scores = [network(input_ids=ids).logits[0, :-1].log_softmax(-1) for network in networks]
        n += len(scores[0])
        same += int((scores[0].argmax(-1) == scores[1].argmax(-1)).sum())
        for number, network_scores in enumerate(scores):
            loss[number] -= float(network_scores.gather(1, ids[0, 1:, None]).sum())
    table = Table("tokens", "same likeliest token", "nats per token, exact", "in 8 bits")
    table.add_row(str(n), f"{100 * same / n:.1f} %", f"{loss[0] / n:.4f}", f"{loss[1] / n:.4f}")
    return table


def loaded(folder: Path, bits: int | None) -> PreTrainedModel:
    """The network in *folder*, exact or in 8 bits."""
    placement = Placement("cpu", torch.float32, 8 if bits else None, PROMPT)
    return CheckpointNetwork.load(read_files(folder, str(folder)), placement, [], frozenset()).network


@click.command(help=__doc__)
@click.option("--model", type=click.Path(path_type=Path), default=BUNDLED, help="A checkpoint's folder.")
@click.option("--files", default=25, show_default=True, help="Files of the standard library.")
@click.option("--seed", default=0, show_default=True, help="Chooses the files.")
@click.option("--large", is_flag=True, help="Also networks of 164 M and 1.1 G parameters.")
def main(model: Path, files: int, seed: int, large: bool) -> None:
    """Measure and print."""
    torch.set_num_threads(1)
    console = Console(width=None if sys.stdout.isatty() else 120)
    console.print(speed_table([*SHAPES, *LARGE_SHAPES] if large else SHAPES))
    console.print(f"{model.name}:", agreement(model, files, seed))


if __name__ == "__main__":
    main()
