"""GGUF files of random weights (8 bits) in the sizes of Qwen2.5-Coder, whose order is the prefix first.

They cost the time of the real ones, and write nonsense.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, TokenType
from gguf.quants import quantize

from fimlsp.models.prompts.vocabulary import BYTE_OF_CHARACTER

VOCABULARY = 151_936
MARKERS = (
    "<|endoftext|>",
    "<|fim_prefix|>",
    "<|fim_middle|>",
    "<|fim_suffix|>",
    "<|fim_pad|>",
    "<|repo_name|>",
    "<|file_sep|>",
)
CONTEXT = 32_768
LAST_NORM = "output_norm.weight"
CERTAINTY = 8.0
"""The last norm, which makes a few tokens likely at each position, as in a model that has learnt."""


class Size(NamedTuple):
    """The dimensions of a model of this family."""

    width: int
    layers: int
    heads: int
    groups: int
    inner: int
    head: int


SIZES = {
    "tiny": Size(128, 2, 2, 1, 256, 64),
    "0.5B": Size(896, 24, 14, 2, 4864, 64),
    "1.5B": Size(1536, 28, 12, 2, 8960, 128),
}
"""The first one is for counting tokens."""


def write_random(path: Path, size: Size) -> None:
    """Write a model of this *size* to *path*."""
    letters = {byte: character for character, byte in BYTE_OF_CHARACTER.items()}
    pairs = [first + second for first in letters.values() for second in letters.values()]
    texts = [*letters.values(), *pairs]
    unused = [f"<unused_{number}>" for number in range(VOCABULARY - len(MARKERS) - len(texts))]
    tokens = [*MARKERS, *texts, *unused]
    writer = GGUFWriter(path, "qwen2")
    writer.add_vocab_size(VOCABULARY)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(size.width)
    writer.add_feed_forward_length(size.inner)
    writer.add_block_count(size.layers)
    writer.add_head_count(size.heads)
    writer.add_head_count_kv(size.groups)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(1e6)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types(
        [TokenType.CONTROL] * len(MARKERS) + [TokenType.NORMAL] * (VOCABULARY - len(MARKERS))
    )
    writer.add_token_merges([f"{pair[0]} {pair[1]}" for pair in pairs])
    writer.add_eos_token_id(0)
    writer.add_bos_token_id(0)
    writer.add_add_bos_token(False)
    _add_weights(writer, size)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_weights(writer: GGUFWriter, size: Size) -> None:
    random, groups = np.random.default_rng(1), size.groups * size.head
    drawn = (0.03 * random.standard_normal(1 << 20)).astype(np.float32)

    def add(name: str, *shape: int) -> None:
        if len(shape) == 1:
            value = CERTAINTY if name == LAST_NORM else float("norm" in name)
            writer.add_tensor(name, np.full(shape, value, np.float32))
            return
        weights = np.resize(np.roll(drawn, random.integers(drawn.size)), shape)
        kind = GGMLQuantizationType.Q8_0
        writer.add_tensor(name, quantize(weights, kind), raw_dtype=kind)

    add("token_embd.weight", VOCABULARY, size.width)
    add(LAST_NORM, size.width)
    for layer in range(size.layers):
        block = f"blk.{layer}"
        for part, rows in (("q", size.heads * size.head), ("k", groups), ("v", groups)):
            add(f"{block}.attn_{part}.weight", rows, size.width)
            add(f"{block}.attn_{part}.bias", rows)
        add(f"{block}.attn_output.weight", size.width, size.heads * size.head)
        add(f"{block}.attn_norm.weight", size.width)
        add(f"{block}.ffn_norm.weight", size.width)
        for part in ("gate", "up"):
            add(f"{block}.ffn_{part}.weight", size.inner, size.width)
        add(f"{block}.ffn_down.weight", size.width, size.inner)
