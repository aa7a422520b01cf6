"""The held-out loss during training: bits a byte by kind of example, and the use of the suffix.

| measure | meaning |
|---|---|
| text | bits a byte of plain text |
| hole, edit | bits a byte of middles; people wrote those of `edit` next |
| suffix | nats a token that the text after the cursor saves in the first eight tokens of a middle |

For the last one, the same middles are read again with the text after another cursor.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor
from torch.nn import functional

from fimlsp.models.training.examples import Example, Examples
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
