"""Measures a model: bits per byte of text, and how often it writes a line exactly as it was."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import torch

from fimlsp.models.completion import complete_many
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.decoding.unconstrained import Unconstrained
from fimlsp.models.loading import FimModel
from fimlsp.models.training.data.corpus import SourceFile
from fimlsp.models.training.data.examples import Examples, SpanRule, rest_of_line, whole_lines
from fimlsp.models.training.loop import next_token_loss
from fimlsp.models.training.network import Transformer
from fimlsp.models.training.quality.baselines import TokenCounts

Predictor = Callable[[str, str], str]

LINE_TOKENS = 48


@dataclass(frozen=True, slots=True)
class Cut:
    """A file with a part of one line cut out."""

    left: str
    truth: str
    right: str


@dataclass(frozen=True, slots=True)
class BitsPerByte:
    """Bits per byte of text that a model, a bigram and a unigram need."""

    model: float
    bigram: float
    unigram: float


def bits_per_byte(
    model: Transformer, counts: TokenCounts, files: Sequence[SourceFile], passages: int, length: int
) -> BitsPerByte:
    """Measure on random *passages* of up to *length* tokens, each read alone."""
    examples = Examples(files, counts.tokenizer, Random(0), fim_rate=0)
    bits, size = [0.0, 0.0, 0.0], 0
    for _ in range(passages):
        tokens = examples.encode(examples.passage(length * 8))[:length]
        row = torch.tensor([tokens])
        with torch.inference_mode():
            nats = next_token_loss(model(row[:, :-1]), row, examples.markers.pad, "sum")
        single, pairs = counts.bits(tokens)
        bits = [bits[0] + float(nats) / math.log(2), bits[1] + pairs, bits[2] + single]
        size += len(counts.tokenizer.decode(tokens[1:]).encode())
    return BitsPerByte(*(total / size for total in bits))


def line_cuts(files: Sequence[SourceFile], rule: SpanRule, n_cuts: int) -> list[Cut]:
    """*n_cuts* cuts of random files by *rule*; what is cut out is part of one line and not blank."""
    rng, cuts = Random(0), list[Cut]()
    while len(cuts) < n_cuts:
        text = rng.choice(files).text
        begin, end = rule(text, rng)
        truth = text[begin:end].partition("\n")[0]
        if truth.strip():
            cuts.append(Cut(text[:begin], truth, text[begin + len(truth) :]))
    return cuts


def exact_matches(predict: Predictor, cuts: Sequence[Cut]) -> float:
    """Share of *cuts* that are predicted exactly, except for white space at the end."""
    hits = sum(predict(cut.left, cut.right).rstrip() == cut.truth.rstrip() for cut in cuts)
    return hits / len(cuts)


def predictor(model: FimModel) -> Predictor:
    """Greedy, unconstrained completion of one line by *model*."""
    settings = DecodeSettings(tokens=LINE_TOKENS)

    def predict(left: str, right: str) -> str:
        (middle,) = complete_many(
            model, left.encode(), right.encode(), Unconstrained(), settings, lambda: False
        )
        return middle.text.decode(errors="replace")

    return predict


RULES: dict[str, SpanRule] = {"rest of a line": rest_of_line, "whole line": whole_lines}
