"""Measures the cost of masks in transformers: `python -m benchmarks.models.generate --tokenizer FILE`.

`generate` of a GPTBigCode of SantaCoder's size with random weights continues files of the standard library.
It writes left to right and in the middle, with and without the constraint in turn. Prints, for each batch
size, the ratio of CPU times of a token on one thread. The first run of each kind, which makes tables, is
separate. Random weights write random text, so masks are never reused: a trained model gains more from them.
"""

from __future__ import annotations

from itertools import islice
from random import Random
from statistics import median
from time import process_time
from typing import Any

import click
import torch
from rich.console import Console
from rich.table import Table
from transformers import GPTBigCodeConfig, GPTBigCodeForCausalLM, LogitsProcessorList, PreTrainedTokenizerFast

from benchmarks.corpora.python import shuffled_files
from fimlsp import Engine, python
from fimlsp.models.masked_logits import MaskedLogits, vocabulary_of

TOKENS = 49_280
CHARACTERS = 400
TARGET = 1.05


def network(scale: int) -> GPTBigCodeForCausalLM:
    """A network of SantaCoder's size, divided by *scale* in its layers."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    config = GPTBigCodeConfig(
        vocab_size=TOKENS,
        n_positions=2048,
        n_embd=2048,
        n_layer=24 // scale,
        n_head=16,
        multi_query=True,
        bos_token_id=0,
        eos_token_id=0,
    )
    return GPTBigCodeForCausalLM(config).eval()


def seconds(
    model: GPTBigCodeForCausalLM, prompts: Any, masked: list[MaskedLogits], tokens: int, seed: int
) -> float:
    """CPU time of a token of a batch."""
    torch.manual_seed(seed)
    since = process_time()
    with torch.inference_mode():
        written = model.generate(
            **prompts,
            logits_processor=LogitsProcessorList(masked),
            do_sample=True,
            min_new_tokens=tokens,
            max_new_tokens=tokens,
            pad_token_id=0,
        )
    return (process_time() - since) / (written.shape[1] - prompts["input_ids"].shape[1])


@click.command()
@click.option("--tokenizer", required=True, help="A tokenizer.json, such as StarCoder's.")
@click.option("--batches", default="1,8", show_default=True)
@click.option("--tokens", default=16, show_default=True)
@click.option("--runs", default=3, show_default=True)
@click.option("--scale", default=1, show_default=True, help="Divides the number of layers.")
@click.option("--device", default="cpu", show_default=True)
def main(tokenizer: str, batches: str, tokens: int, runs: int, scale: int, device: str) -> None:
    """Measure, and print."""
    fast = PreTrainedTokenizerFast(
        tokenizer_file=tokenizer, eos_token="<|endoftext|>", pad_token="<|endoftext|>"
    )
    fast.padding_side = "left"
    vocabulary = vocabulary_of(fast)
    vocabulary.prepare()
    model, engine = network(scale).to(device), Engine(python())
    table = Table("batch", "side", "alone, ms a token", "held", "ratio", f"first (target {TARGET})")
    for size in map(int, batches.split(",")):
        texts = [data for _, data in islice(shuffled_files(Random(1)), size)]
        for has_right in (False, True):
            lefts = [text[:CHARACTERS].rpartition(b"\n")[0] + b"\n" for text in texts]
            rights = [
                text[len(left) :] if has_right else b"" for text, left in zip(texts, lefts, strict=True)
            ]
            prompts = fast([left.decode() for left in lefts], padding=True, return_tensors="pt").to(device)
            starts = [
                engine.document(left + right).middle(len(left), len(left)).start
                for left, right in zip(lefts, rights, strict=True)
            ]
            alone, held = list[float](), list[float]()
            for seed in range(runs + 1):
                alone.append(seconds(model, prompts, [], tokens, seed))
                held.append(seconds(model, prompts, [MaskedLogits(vocabulary, starts)], tokens, seed))
            ratios = [b / a for a, b in zip(alone, held, strict=True)]
            table.add_row(
                str(size),
                "both" if has_right else "left",
                f"{1000 * median(alone[1:]):.0f}",
                f"{1000 * median(held[1:]):.0f}",
                f"{median(ratios[1:]):.3f}",
                f"{ratios[0]:.3f}",
            )
    Console().print(table)


if __name__ == "__main__":
    main()
