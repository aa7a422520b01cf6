"""Trains a byte-level byte-pair encoding for Python source.

Text is split before merging so that a line end stays together with the blank lines before it and the
indentation after it: one token then means "next statement, this deep", the most frequent decision in Python.
Each digit is a token of its own; names may contain underscores.
"""

from __future__ import annotations

from collections.abc import Iterable

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

END_OF_TEXT = "<|endoftext|>"
LEFT, RIGHT, PAD = "<|left|>", "<|right|>", "<|pad|>"
SPECIAL = [END_OF_TEXT, LEFT, RIGHT, PAD]

SPLIT = r"(?:[ \t]*\n)+[ \t]*| ?[\p{L}_]+|\d| ?[^\s\p{L}\p{N}_]+|[ \t]+|\s+|[\s\S]"


def train_tokenizer(texts: Iterable[str], vocabulary_size: int) -> Tokenizer:
    """Learn *vocabulary_size* tokens from *texts*: the four special ones, the 256 bytes, then merges."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary_size,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer
