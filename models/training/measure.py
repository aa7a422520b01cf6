"""Measures a model: held-out loss during training, bits a byte of text, and lines written exactly.

| measure of the held-out loss | meaning |
|---|---|
| text | bits a byte of plain text |
| hole, edit | bits a byte of middles; people wrote those of `edit` next |
| suffix | nats a token that the text after the cursor saves in the first eight tokens of a middle |

For the last one, the same middles are read again with the text after another cursor. Two predictors without a
network serve as baselines: counting tokens, and copying.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from fimlsp.models.completion import complete_many
from fimlsp.models.decoding.settings import DecodeSettings, Unconstrained
from fimlsp.models.loading import FimModel
from fimlsp.models.training.corpus import SourceFile
from fimlsp.models.training.examples import (
    Example,
    Examples,
    Markers,
    SpanRule,
    passages,
    rest_of_line,
    whole_lines,
)
from fimlsp.models.training.loop import next_token_loss
from fimlsp.models.training.network import Transformer
from fimlsp.models.training.pack import Pack

FIRST_TOKENS = 8
ROWS_TOGETHER = 16
SUFFIX_KINDS = ("hole", "bound", "brackets", "edit")
LN_2 = math.log(2)


@dataclass(frozen=True, slots=True)
class Row:
    """An example, and the places of its targets that count."""

    ids: Sequence[int]
    counted: range


class HeldOut:
    """Examples of up to *context* ids from the packages held out in *pack*, *n* of each kind."""

    def __init__(self, pack: Pack, context: int, n: int) -> None:
        self._bytes = torch.tensor(_token_sizes(pack))
        self._pad = Examples(pack, Random(0), "ood").markers.pad
        self._kinds = dict[str, list[Row]]()
        for kind in ("text", "hole", "edit"):
            drawn = list(_drawn(pack, (kind,), context, n))
            self._kinds.update(
                {kind: [_middle(example, len(example.ids)) for example in drawn]} if drawn else {}
            )
        asked = list(_drawn(pack, SUFFIX_KINDS, context, n))
        left = Examples(pack, Random(0), "ood").markers.left
        self._true = [_middle(example, FIRST_TOKENS) for example in asked]
        self._other = [
            _middle(with_suffix(example, other, left), FIRST_TOKENS)
            for example, other in zip(asked, asked[1:] + asked[:1], strict=True)
        ]

    def measure(self, model: Transformer) -> Mapping[str, float]:
        """The measures of *model*, on its device; reads each example once, or twice for `suffix`."""
        measured = dict[str, float]()
        for kind, rows in self._kinds.items():
            nats, n_bytes, _ = self._loss(model, rows)
            measured[kind] = nats / LN_2 / max(1, n_bytes)
        if self._true:
            (true, _, n_tokens), (other, _, _) = self._loss(model, self._true), self._loss(model, self._other)
            measured["suffix"] = (other - true) / max(1, n_tokens)
        return measured

    def _loss(self, model: Transformer, rows: Sequence[Row]) -> tuple[float, int, int]:
        """Nats, bytes and number of the targets that count."""
        device = model.model.embed_tokens.weight.device
        nats, n_bytes, n_tokens = torch.zeros((), device=device), 0, 0
        for start in range(0, len(rows), ROWS_TOGETHER):
            ids, counts = _tensors(rows[start : start + ROWS_TOGETHER], self._pad)
            with (
                torch.inference_mode(),
                torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"),
            ):
                logits = model(ids[:, :-1].to(device))
            targets = ids[:, 1:].to(device)
            losses = functional.cross_entropy(logits.float().transpose(1, 2), targets, reduction="none")
            nats += (losses * counts[:, 1:].to(device)).sum()
            n_bytes += int(self._bytes[ids[:, 1:]][counts[:, 1:]].sum())
            n_tokens += int(counts[:, 1:].sum())
        return float(nats), n_bytes, n_tokens


def _drawn(pack: Pack, kinds: Sequence[str], context: int, n: int) -> Iterator[Example]:
    examples = Examples(pack, Random(0), "ood", kinds)
    if examples.documents and examples.has_kinds:
        for _ in range(n):
            yield examples.example(context)


def _middle(example: Example, most: int) -> Row:
    """The tokens of a middle that count, without its end: at most *most*; in plain text all but the first."""
    start = max(1, example.middle)
    return Row(example.ids, range(start, min(len(example.ids) - 1, start + most)))


def with_suffix(example: Example, other: Example, left: int) -> Example:
    """*example* with the text after the cursor of *other*, no longer than its own."""
    own, foreign = example.ids.index(left), other.ids.index(left)
    ids = [example.ids[0], *other.ids[1 : min(own, foreign)], *example.ids[own:]]
    return Example(ids, example.middle - (len(example.ids) - len(ids)))


def _tensors(rows: Sequence[Row], pad: int) -> tuple[Tensor, Tensor]:
    """The ids [rows, positions] of *rows*, padded, and True where they count."""
    length = max(len(row.ids) for row in rows)
    ids = torch.full((len(rows), length), pad)
    counts = torch.zeros((len(rows), length), dtype=torch.bool)
    for number, row in enumerate(rows):
        ids[number, : len(row.ids)] = torch.tensor(row.ids)
        counts[number, row.counted.start : row.counted.stop] = True
    return ids, counts


def _token_sizes(pack: Pack) -> list[int]:
    """The bytes of each token: a token's text has one character for each byte. Markers have none."""
    special = pack.tokenizer.get_added_tokens_decoder()
    vocabulary = pack.tokenizer.get_vocab()
    sizes = [0] * (max(vocabulary.values()) + 1)
    for text, token in vocabulary.items():
        sizes[token] = 0 if token in special else len(text)
    return sizes


LINE_TOKENS = 48
PRIOR = 5.0
RULES: dict[str, SpanRule] = {"rest of a line": rest_of_line, "whole line": whole_lines}

Predictor = Callable[[str, str], str]
"""From the text left and right of a cursor to the rest of its line."""


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
    model: Transformer, counts: TokenCounts, files: Sequence[SourceFile], n_passages: int, length: int
) -> BitsPerByte:
    """Measure on *n_passages* random passages of up to *length* tokens, each read alone."""
    pad, drawn = Markers.of(counts.tokenizer).pad, passages(files, Random(0), length * 8)
    bits, size = [0.0, 0.0, 0.0], 0
    for _ in range(n_passages):
        tokens = counts.tokenizer.encode(next(drawn), add_special_tokens=False).ids[:length]
        row = torch.tensor([tokens])
        with torch.inference_mode():
            nats = next_token_loss(model(row[:, :-1]), row, pad, "sum")
        single, pairs = counts.bits(tokens)
        bits = [bits[0] + float(nats) / math.log(2), bits[1] + pairs, bits[2] + single]
        size += len(counts.tokenizer.decode(tokens[1:]).encode())
    return BitsPerByte(*(total / size for total in bits))


def line_cuts(files: Sequence[SourceFile], rule: SpanRule, n_cuts: int) -> list[Cut]:
    """*n_cuts* cuts of random files by *rule*; the part cut out is within one line and not blank."""
    rng, cuts = Random(0), list[Cut]()
    while len(cuts) < n_cuts:
        text = rng.choice(files).text
        start, end = rule(text, rng)
        truth = text[start:end].partition("\n")[0]
        if truth.strip():
            cuts.append(Cut(text[:start], truth, text[start + len(truth) :]))
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


class TokenCounts:
    """The counts of tokens and of pairs of tokens in *texts*."""

    def __init__(self, tokenizer: Tokenizer, texts: Iterable[str]) -> None:
        self.tokenizer = tokenizer
        self.single = Counter[int]()
        self.after = defaultdict[int, Counter[int]](Counter)
        for text in texts:
            tokens = tokenizer.encode(text, add_special_tokens=False).ids
            self.single.update(tokens)
            for token, following in pairwise(tokens):
                self.after[token][following] += 1
        self._total = self.single.total() + tokenizer.get_vocab_size()

    def unigram(self, token: int) -> float:
        """Probability of *token*, with one added to every count."""
        return (self.single[token] + 1) / self._total

    def bigram(self, previous: int, token: int) -> float:
        """Probability of *token* after *previous*, with the unigram as a prior worth 5 counts."""
        followers = self.after[previous]
        return (followers[token] + PRIOR * self.unigram(token)) / (followers.total() + PRIOR)

    def bits(self, tokens: Sequence[int]) -> tuple[float, float]:
        """Bits that unigram and bigram need for *tokens*, given the first one."""
        single = -sum(math.log2(self.unigram(token)) for token in tokens[1:])
        pairs = -sum(math.log2(self.bigram(previous, token)) for previous, token in pairwise(tokens))
        return single, pairs

    def complete_line(self, left: str, _right: str) -> str:
        """The most frequent next token by the bigram, repeatedly, up to the end of the line."""
        tokens = self.tokenizer.encode(left[-200:], add_special_tokens=False).ids[-1:]
        written = ""
        while tokens and len(tokens) <= LINE_TOKENS and "\n" not in written and self.after[tokens[-1]]:
            tokens.append(self.after[tokens[-1]].most_common(1)[0][0])
            written = self.tokenizer.decode(tokens[1:])
        return written.partition("\n")[0]


def copy_nearest(left: str, right: str) -> str:
    """The rest of the line at which the longest suffix of *left* occurs again.

    The nearest occurrence before the cursor is used, otherwise the first in *right*.
    """
    for size in range(min(len(left), 80), 0, -1):
        suffix = left[-size:]
        at = left.rfind(suffix, 0, len(left) - 1)
        if at >= 0:
            return left[at + size :].partition("\n")[0]
        if (at := right.find(suffix)) >= 0:
            return right[at + size :].partition("\n")[0]
    return ""
