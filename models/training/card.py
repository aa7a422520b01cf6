"""Writes the model card: how a model was made, its training data and its quality, with a plot of the loss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor

from fimlsp.models.networks.llama_shape import LlamaShape
from fimlsp.models.training.corpus import SourceFile, Split
from fimlsp.models.training.measure import BitsPerByte

SPLITS: dict[Split, str] = {
    "train": "learnt from",
    "val": "validation (single files)",
    "ood": "out of distribution (whole packages)",
}

USEFUL = 0.35
"""The share of exact line ends from which on a model helps with short lines."""

WIDTH, HEIGHT, MARGIN = 640, 320, 48


@dataclass(frozen=True, slots=True)
class Making:
    """The making of a model; *hardware* names a kind, such as `CPU, one thread`.

    *held_out* has the last measures of `HeldOut`.
    """

    shape: LlamaShape
    parameters: int
    tokens: int
    steps: int
    minutes: float
    hardware: str
    notes: tuple[str, ...] = ()
    held_out: Mapping[str, float] = field(default_factory=dict)


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
            "`fimlsp train` made this model and wrote this card.",
            verdict(quality),
            "",
            *_making(making),
            *_corpus(files),
            *_held_out(making.held_out),
            *(_bits(quality) + _exact(quality) if quality else []),
            *_licence(files),
        ]
    )


def verdict(quality: Mapping[Split, Quality]) -> str:
    """The use of the model in one or two sentences, from its exact matches and those of copying."""
    if not quality:
        return "No files were held out, so its quality is unknown."
    shares = list(quality.values())[-1].exact["rest of a line"]
    model, copying = shares["model"], shares["copy"]
    figures = f"It reproduces {model:.0%} of unseen line endings exactly"
    if model <= copying:
        return f"{figures}, no more than copying does. It demonstrates the method and is no help yet."
    if model < USEFUL:
        return f"{figures} (copying: {copying:.0%}). It copies names, knows idioms and guesses the rest."
    return f"{figures} (copying: {copying:.0%}). It helps with short lines, as a very small model can."


def _making(making: Making) -> list[str]:
    shape = making.shape
    heads = f"{shape.num_attention_heads} heads with {shape.num_key_value_heads} of keys and values"
    layers = f"{shape.num_hidden_layers} layers of width {shape.hidden_size}"
    effort = f"{making.tokens / 1e6:.1f} M tokens in {making.steps:,} steps and {making.minutes:.0f} minutes"
    rows = {
        "architecture": f"Llama, {making.parameters / 1e6:.1f} M parameters: {layers}, {heads}",
        "context": f"{shape.max_position_embeddings} tokens",
        "tokenizer": f"byte-level BPE of {shape.vocab_size:,} tokens; "
        "a line end and the indentation after it are one token",
        "training": f"{effort} ({making.hardware})",
        "examples": "text 15 %, holes 40 %, edits between releases 25 %, cuts that the suffix decides 20 %",
        "prompt": r"`<\|right\|>`, the text right of the cursor, `<\|left\|>`, the text left of it; "
        r"`<\|endoftext\|>` ends the middle",
        "mixed in": "votes of the buffer and other open files (`fimlsp.models.networks.copy_cache`)",
    }
    return [
        "## How it was made",
        "",
        "| part | value |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in rows.items()),
        "",
        *(line for note in making.notes for line in (note, "")),
    ]


def _corpus(files: Sequence[SourceFile]) -> list[str]:
    lines = ["## Training data", "", "| part | files | MB |", "|---|---|---|"]
    for split, title in SPLITS.items():
        sizes = [len(file.text.encode()) for file in files if file.split == split]
        lines.append(f"| {title} | {len(sizes):,} | {sum(sizes) / 1e6:.1f} |")
    held_out = sorted({file.package for file in files if file.split == "ood"})
    return [*lines, "", f"Held out as a whole: {', '.join(held_out) or 'nothing'}.", ""]


def _held_out(measures: Mapping[str, float]) -> list[str]:
    if not measures:
        return []
    titles = {
        "text": "plain text, bits a byte",
        "hole": "holes, bits a byte of the middle",
        "edit": "edits between releases, bits a byte of the middle",
        "suffix": "nats a token that the suffix saves, in the first eight tokens of a middle",
    }
    rows = [f"| {titles[kind]} | {value:.3f} |" for kind, value in measures.items()]
    return ["## Packages held out, at the end of training", "", "| measure | value |", "|---|---|", *rows, ""]


def _bits(quality: Mapping[Split, Quality]) -> list[str]:
    lines = [
        "## Bits per byte of plain text",
        "",
        "| part | this model | bigram | unigram |",
        "|---|---|---|---|",
    ]
    for split, measured in quality.items():
        bits = measured.bits
        lines.append(f"| {SPLITS[split]} | {bits.model:.2f} | {bits.bigram:.2f} | {bits.unigram:.2f} |")
    return [*lines, ""]


def _exact(quality: Mapping[Split, Quality]) -> list[str]:
    sample = next(iter(quality.values()))
    predictors = list(next(iter(sample.exact.values())))
    lines = [
        "## Exact matches",
        "",
        f"{sample.n_cuts} cuts of held-out files each, including comments and docstrings; greedy decoding",
        "without the grammar.",
        "",
        "| name | meaning |",
        "|---|---|",
        "| rest of a line | the cursor is anywhere in a line |",
        "| whole line | the cursor is after the indentation of a line |",
        "| model | the network with the buffer mixed in |",
        "| network | the network alone |",
        "| copy | the text after the longest match of the text before the cursor |",
        "",
        f"| part | cut | {' | '.join(predictors)} |",
        "|---|---|" + "---|" * len(predictors),
    ]
    for split, measured in quality.items():
        for cut, shares in measured.exact.items():
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
        f"packages; packages under a reciprocal licence were left out. The largest are {largest}.",
        "",
    ]


def loss_plot(history: Sequence[tuple[int, float]]) -> str:
    """An SVG picture of the loss (nats per token) over the tokens read.

    *history* has pairs of tokens and loss.
    """
    points = history or [(0, 0.0)]
    tokens_max = max(1, points[-1][0])
    low, high = floor(min(loss for _, loss in points)), ceil(max(loss for _, loss in points) + 1e-9)

    def place(tokens: float, loss: float) -> str:
        x = MARGIN + (WIDTH - 2 * MARGIN) * tokens / tokens_max
        y = HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * (loss - low) / max(1, high - low)
        return f"{x:.1f},{y:.1f}"

    line = " ".join(place(tokens, loss) for tokens, loss in points)
    grid = "".join(
        _grid_line(place(0, level), place(tokens_max, level), str(level)) for level in range(low, high + 1)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="12"><rect width="100%" height="100%" fill="white"/>{grid}'
        f'<polyline points="{line}" fill="none" stroke="#1f6feb" stroke-width="1.5"/>'
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 12}" text-anchor="middle">'
        f"loss in nats per token over {tokens_max / 1e6:.1f} M tokens</text></svg>\n"
    )


def _grid_line(start: str, end: str, label: str) -> str:
    """A horizontal line with its *label*."""
    (x, y), (x_end, _) = start.split(","), end.split(",")
    return (
        f'<line x1="{x}" y1="{y}" x2="{x_end}" y2="{y}" stroke="#ddd"/>'
        f'<text x="{float(x) - 8}" y="{float(y) + 4}" text-anchor="end">{label}</text>'
    )
