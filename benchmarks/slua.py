"""Measures the cost of constraining a model to sLua: `python benchmarks/slua.py`.

A Llama with random weights continues talents of `examples/dungeon`. Its size gives about 20 ms for a
token on one thread of a CPU. It does so without a constraint and with it, in turns, by the loop that
every generation uses. It is mixed with a cache of the texts that it has read, as the bundled model is. So
its tokens resemble a trained network's: mostly right and some wrong. The third row is the cost of an
index for the same texts (Willard and Louf 2023; outlines-core). It has one index for each lexeme, of all
expected tokens. Times are CPU times, so that other processes count little.

Then longer and longer programs are read, and the next tokens are queried. `--svg FILE` saves that as a
chart.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from shutil import copy
from statistics import median
from time import process_time

import click
from corpora.python import shuffled_files
from rich.console import Console
from rich.table import Table

from fimlsp import DecodeSettings, load_model
from fimlsp.datasets.pages import scatter
from fimlsp.languages.slua.incremental.statements import ScriptState, begin
from fimlsp.languages.slua.interface import Interface
from fimlsp.languages.slua.lexemes import TOKEN, ExpectedTokens
from fimlsp.models.completion import generate
from fimlsp.models.decoding import middle as timed
from fimlsp.models.decoding.middle import Middle
from fimlsp.models.decoding.settings import Unconstrained
from fimlsp.models.loading import BUNDLED, FimModel
from fimlsp.models.training.examples import train_tokenizer

DUNGEON = Path(__file__).parents[1] / "examples" / "dungeon"
WIDTH, LAYERS, HEADS = 512, 8, 8
FILES = 400
BEGINNING = b"NewTalent({\n  title = "
LENGTHS = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000)
QUERIES, ROUNDS = 100, 3
INSIDE = b"g_game.ForEachActor(function(actor) "
FIRST = [b"local", b"actor.", b"if ", b"g_level.", b"return", b"x", b"12", b"(", b"end"]
N_BEGINNING = len(TOKEN.findall(BEGINNING.decode()))


@dataclass
class Measured:
    """One way to generate: milliseconds of CPU time in the network and outside of it, and its tokens."""

    name: str
    network_ms: float = 0.0
    other_ms: float = 0.0
    tokens: int = 0

    def add(self, middle: Middle) -> None:
        """Count one text."""
        self.network_ms += middle.model_ms
        self.other_ms += middle.engine_ms
        self.tokens += middle.tokens - 1

    @property
    def rate(self) -> float:
        """Tokens per second."""
        return 1000 * self.tokens / (self.network_ms + self.other_ms)

    def row(self, free: Measured) -> list[str]:
        """A row of the table, with the rate relative to that of *free*."""
        share = self.other_ms / (self.network_ms + self.other_ms)
        step, other = self.network_ms / self.tokens, self.other_ms / self.tokens
        return [
            self.name,
            f"{self.tokens:,}",
            f"{step:.1f}",
            f"{other:.2f}",
            f"{share:.1%}",
            f"{self.rate:.1f}",
            f"{self.rate / free.rate:.3f}",
        ]


def random_model(folder: Path, vocabulary: int, seed: int) -> FimModel:
    """A network with random weights, for a vocabulary learnt from the standard library, on one thread."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    texts = (data.decode("utf-8", "ignore") for _, data in islice(shuffled_files(Random(seed)), FILES))
    tokenizer = train_tokenizer(texts, vocabulary)
    tokenizer.save(str(folder / "tokenizer.json"))
    copy(BUNDLED / "tokenizer_config.json", folder)
    shape = {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS}
    ends = {"bos_token_id": 0, "eos_token_id": 0, "max_position_embeddings": 1024}
    size = {"vocab_size": tokenizer.get_vocab_size(), "intermediate_size": 4 * WIDTH}
    network = LlamaForCausalLM(LlamaConfig(**size, **shape, **ends, tie_word_embeddings=True))
    network.save_pretrained(folder)
    return load_model(str(folder), device="cpu", bits=None, threads=1, uses_buffer=True)


def read_before(rng: Random) -> bytes:
    """Some talents, and the start of another one."""
    talents = sorted((DUNGEON / "talents").glob("*.slua"))
    return b"\n".join(path.read_bytes() for path in rng.sample(talents, 2)) + b"\n" + BEGINNING


def compared(
    model: FimModel, interface: Interface, runs: int, tokens: int, seed: int
) -> tuple[list[Measured], list[bytes]]:
    """The same starts, continued in both ways in turns; and the texts written under the constraint."""
    free, held = Measured("unconstrained"), Measured("held to the types")
    started = begin(interface, "talent").feed(BEGINNING)
    assert started is not None
    texts = []
    for run in range(-1, runs):
        rng = Random(f"{seed} {run}")
        written, settings = (
            read_before(rng),
            DecodeSettings(tokens=tokens, temperature=0.7, seed=rng.randrange(1 << 30), steer=False),
        )
        ways = [(free, Unconstrained()), (held, started)]
        for measured, start in ways if run % 2 else reversed(ways):
            middle = generate(model, written, start, settings)
            if run >= 0:  # the first is a warm-up
                measured.add(middle)
            if run >= 0 and measured is held:
                texts.append(BEGINNING + middle.text)
    return [free, held], texts


# An index of the same expressions.


def expression(expected: ExpectedTokens) -> str:
    """The regular expression of the next lexeme, with the spaces before it."""
    kinds = [re.escape(word) for word in sorted(expected.words)]
    kinds += [r"[A-Za-z][A-Za-z0-9_]{0,49}"] if expected.taken_names is not None else []
    kinds += [r"[0-9]+(\.[0-9]+)?"] if expected.number else []
    kinds += [r'"([^"\\]|\\[nt"\\])*"'] if expected.string else []
    return f"[ \\n]{{0,16}}({'|'.join(kinds)})"


def expressions(interface: Interface, text: bytes) -> Iterator[str]:
    """The expressions of the lexemes of *text*, one after the other."""
    machine = begin(interface, "talent").machine
    for lexeme in TOKEN.findall(text.decode()):
        yield expression(machine.expected())
        following = machine.take(lexeme)
        if following is None:
            return
        machine = following


def indexed(model: FimModel, interface: Interface, held: Measured, texts: list[bytes]) -> Measured:
    """The same texts, with an index for each lexeme instead of the parser's answers."""
    from outlines_core import Index
    from outlines_core import Vocabulary as OutlinesVocabulary

    ids: dict[bytes, list[int]] = {}
    for token, text in enumerate(model.vocabulary.token_bytes):
        if text:
            ids.setdefault(text, []).append(token)
    vocabulary = OutlinesVocabulary(0, ids)
    patterns = [pattern for text in texts for pattern in list(expressions(interface, text))[N_BEGINNING:]]
    started_at = process_time()
    for pattern in patterns:
        Index(pattern, vocabulary)
    spent = 1000 * (process_time() - started_at)
    print(f"{len(patterns):,} expressions, {spent / len(patterns):.1f} ms for the index of one")
    return Measured("an index of each expression", held.network_ms, spent, held.tokens)


# Longer and longer programs.


def program(length: int) -> bytes:
    """A program of about *length* bytes."""
    blocks = [
        f"""do
  local strength{n}: number = g_math.Clamp({n} - 3 * 2, 1, 4);
  g_game.ForEachActor(function(actor)
    if actor.health < strength{n} and not g_level.IsWall(actor.Place()) then
      actor.Harm(g_damage.Fire(strength{n} + 1), actor);
      g_game.Tell(actor.name .. " burns");
    end;
  end);
end;
"""
        for n in range(1, 10)
    ]
    text = "".join(blocks[n % len(blocks)] for n in range(length // len(blocks[0]) + 1))
    return text.encode()


def grown(interface: Interface) -> dict[str, list[tuple[float, float]]]:
    """For each length: milliseconds to read a program, and to find the next tokens in the block after it."""
    times_by_name: dict[str, list[tuple[float, float]]] = {"reading it all": [], "next tokens": []}
    fed(interface, program(LENGTHS[0]))
    for length in LENGTHS:
        text = program(length) + INSIDE
        rounds = [fed(interface, text) for _ in range(ROUNDS)]
        for name, number in (("reading it all", 0), ("next tokens", 1)):
            times_by_name[name].append((len(text), median(times[number] for times in rounds)))
    return times_by_name


def fed(interface: Interface, text: bytes) -> tuple[float, float]:
    """Milliseconds for both."""
    started_at = process_time()
    state = begin(interface).feed(text)
    read = process_time() - started_at
    assert state is not None
    started_at = process_time()
    for _ in range(QUERIES):
        queried = ScriptState(state.machine)
        queried.machine.expected()
        for first in FIRST:
            queried.feed(first)
    return 1000 * read, 1000 * (process_time() - started_at) / QUERIES


@click.command(help=__doc__)
@click.option("--runs", default=12, show_default=True, help="Texts of each way.")
@click.option("--tokens", default=100, show_default=True, help="Tokens of a text, at most.")
@click.option("--vocabulary", default=49_152, show_default=True, help="Tokens of the network.")
@click.option("--seed", default=1, show_default=True)
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path), help="Save the chart in this file.")
def main(runs: int, tokens: int, vocabulary: int, seed: int, svg: Path | None) -> None:
    """Measure."""
    timed.monotonic = process_time  # type: ignore[attr-defined] # CPU times
    interface = effects_of_dungeon()
    with tempfile.TemporaryDirectory() as folder:
        model = random_model(Path(folder), vocabulary, seed)
        (free, held), texts = compared(model, interface, runs, tokens, seed)
        ways = [free, held, indexed(model, interface, held, texts)]
    table = Table(
        "",
        "tokens",
        "network, ms a token",
        "all else, ms a token",
        "share of all else",
        "tokens a second",
        "beside none",
    )
    for measured in ways:
        table.add_row(*measured.row(free))
    console = Console(width=140)
    console.print(table)
    growth = grown(interface)
    table = Table("bytes", *(f"{name}, ms" for name in growth))
    for points in zip(*growth.values(), strict=True):
        table.add_row(f"{points[0][0]:,.0f}", *(f"{ms:.3f}" for _, ms in points))
    console.print(table)
    if svg is not None:
        axes = "bytes of the program", "milliseconds of CPU time"
        svg.write_text(scatter("sLua: time by the length of the program", axes, growth, {}), "utf-8")


def effects_of_dungeon() -> Interface:
    """The interface of the example, extended by its effects."""
    sys.path.insert(0, str(DUNGEON))
    from engine.library import load_library

    return load_library(generated=False).interface


if __name__ == "__main__":
    main()
