"""Writes the model card: from what and how a model was made, and how good it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fimlsp.models.networks.numpy.shape import Shape
from fimlsp.models.training.data.corpus import SourceFile, Split
from fimlsp.models.training.quality.measure import BitsPerByte

SPLITS: dict[Split, str] = {
    "train": "learnt from",
    "val": "validation (single files)",
    "ood": "out of distribution (whole packages)",
}


USEFUL = 0.35


@dataclass(frozen=True, slots=True)
class Making:
    """How a model was made; *hardware* names a kind, such as `CPU, one thread`."""

    shape: Shape
    parameters: int
    tokens: int
    steps: int
    minutes: float
    hardware: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Quality:
    """Measures on one split: bits per byte, and by kind of cut and predictor the share of exact matches."""

    bits: BitsPerByte
    exact: Mapping[str, Mapping[str, float]]
    n_cuts: int


def card(making: Making, files: Sequence[SourceFile], quality: Mapping[Split, Quality]) -> str:
    """The text of a model card in Markdown."""
    return "\n".join(
        [
            "# A small fill-in-the-middle model for Python",
            "",
            "Made by `fimlsp train`; this card too.",
            verdict(quality),
            "",
            *_making(making),
            *_corpus(files),
            *(_bits(quality) + _exact(quality) if quality else []),
            *_licence(files),
        ]
    )


def verdict(quality: Mapping[Split, Quality]) -> str:
    """One frank sentence on what the model is good for, from its exact matches and those of copying."""
    if not quality:
        return "Nothing was held out, so how good it is was not measured."
    rest = list(quality.values())[-1].exact["rest of a line"]
    share = f"Frankly: of line ends that it never saw it writes {rest['model']:.0%} exactly as they were"
    if rest["model"] <= rest["copy"]:
        return f"{share}, no more than copying does; it shows the machinery at work and is no help yet."
    if rest["model"] < USEFUL:
        return (
            f"{share} (copying: {rest['copy']:.0%}); it copies names and knows idioms, and guesses the rest."
        )
    return f"{share} (copying: {rest['copy']:.0%}); it helps with short lines, as a very small model can."


def _making(making: Making) -> list[str]:
    shape = making.shape
    return [
        "## How it was made",
        "",
        f"- Llama architecture: {making.parameters / 1e6:.1f} M parameters, {shape.num_hidden_layers} layers "
        f"of width {shape.hidden_size}, {shape.num_attention_heads} heads with {shape.num_key_value_heads} "
        f"of keys and values, context {shape.max_position_embeddings} tokens.",
        f"- Byte-level BPE of {shape.vocab_size:,} tokens; a line end and the indentation after it are one.",
        f"- Trained on {making.tokens / 1e6:.1f} M tokens in {making.steps:,} steps and {making.minutes:.0f} "
        f"minutes ({making.hardware}), eight examples in ten cut for filling in the middle.",
        "- Prompt: `<|right|>`, the text right of the cursor, `<|left|>`, the text left of it; "
        "`<|endoftext|>` ends the middle.",
        "- While it writes, its predictions are mixed with what the buffer and other open files suggest "
        "(`fimlsp.models.networks.buffer_cache`).",
        *(f"- {note}" for note in making.notes),
        "",
    ]


def _corpus(files: Sequence[SourceFile]) -> list[str]:
    lines = ["## What it was made from", "", "| part | files | MB |", "|---|---|---|"]
    for split, title in SPLITS.items():
        sizes = [len(file.text.encode()) for file in files if file.split == split]
        lines.append(f"| {title} | {len(sizes):,} | {sum(sizes) / 1e6:.1f} |")
    held_out = sorted({file.package for file in files if file.split == "ood"})
    return [*lines, "", f"Held out as a whole: {', '.join(held_out) or 'nothing'}.", ""]


def _bits(quality: Mapping[Split, Quality]) -> list[str]:
    lines = [
        "## Bits per byte of plain text",
        "",
        "| part | this model | bigram | unigram |",
        "|---|---|---|---|",
    ]
    for split, found in quality.items():
        bits = found.bits
        lines.append(f"| {SPLITS[split]} | {bits.model:.2f} | {bits.bigram:.2f} | {bits.unigram:.2f} |")
    return [*lines, ""]


def _exact(quality: Mapping[Split, Quality]) -> list[str]:
    sample = next(iter(quality.values()))
    predictors = list(next(iter(sample.exact.values())))
    lines = [
        "## Exact matches",
        "",
        f"{sample.n_cuts} cuts of held-out files each, comments and docstrings included; greedy, without the",
        "grammar. The cursor stands anywhere in a line (`rest of a line`) or after its indentation",
        "(`whole line`). `network` is the network alone, `model` has the buffer mixed in, `copy` tells what",
        "followed the longest match of the text before the cursor.",
        "",
        f"| part | cut | {' | '.join(predictors)} |",
        "|---|---|" + "---|" * len(predictors),
    ]
    for split, found in quality.items():
        for cut, shares in found.exact.items():
            values = " | ".join(f"{shares[name]:.1%}" for name in predictors)
            lines.append(f"| {SPLITS[split]} | {cut} | {values} |")
    return [*lines, ""]


def _licence(files: Sequence[SourceFile]) -> list[str]:
    size = Counter[str]()
    for file in files:
        size[file.package] += len(file.text) * (file.split == "train")
    largest = ", ".join(name for name, _ in size.most_common(10))
    return [
        "## Licence",
        "",
        "The weights are under the licence of this project. They were trained on the source of installed",
        f"packages, the largest being {largest}; those under a reciprocal licence were left out.",
        "",
    ]
