"""Markers and order of the fill-in-the-middle families, and which of them a tokenizer belongs to.

Each family sets its parts in the order prefix, suffix, middle ("PSM", Bavarian et al. 2022): *opening*
tokens, the prefix marker, the text left of the cursor, the suffix marker, the text right of it, the middle
marker. The names come from the model cards of the families. A family is recognised by its markers being
single tokens of the vocabulary, so a local fine-tune needs no configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fimlsp.models.errors import ModelError


@dataclass(frozen=True, slots=True)
class Family:
    """How one family of models writes a fill-in-the-middle prompt, as token texts."""

    name: str
    prefix: str
    suffix: str
    middle: str
    stops: tuple[str, ...]
    opening: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FimFormat:
    """A family's markers as token ids of one tokenizer; *stops* end a middle, *markers* are never text."""

    family: str
    opening: tuple[int, ...]
    prefix: int
    suffix: int
    middle: int
    stops: frozenset[int]

    @property
    def markers(self) -> frozenset[int]:
        """Ids that carry no text."""
        return self.stops | {self.prefix, self.suffix, self.middle, *self.opening}

    @property
    def overhead(self) -> int:
        """Tokens of a prompt that are neither prefix nor suffix."""
        return len(self.opening) + 3

    def arrange(self, before: list[int], after: list[int]) -> list[int]:
        """The prompt for the tokens *before* and *after* the cursor."""
        return [*self.opening, self.prefix, *before, self.suffix, *after, self.middle]


FAMILIES = (
    Family("SantaCoder", "<fim-prefix>", "<fim-suffix>", "<fim-middle>", ("<|endoftext|>",)),
    Family(
        "StarCoder",
        "<fim_prefix>",
        "<fim_suffix>",
        "<fim_middle>",
        ("<|endoftext|>", "<file_sep>", "<repo_name>"),
    ),
    Family(
        "DeepSeek-Coder",
        "<｜fim▁begin｜>",
        "<｜fim▁hole｜>",
        "<｜fim▁end｜>",
        ("<｜end▁of▁sentence｜>", "<|EOT|>"),
        opening=("<｜begin▁of▁sentence｜>",),
    ),
    Family(
        "CodeGemma",
        "<|fim_prefix|>",
        "<|fim_suffix|>",
        "<|fim_middle|>",
        ("<|file_separator|>", "<eos>"),
        opening=("<bos>",),
    ),
    Family(
        "Qwen-Coder",
        "<|fim_prefix|>",
        "<|fim_suffix|>",
        "<|fim_middle|>",
        ("<|endoftext|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>", "<|im_end|>"),
    ),
    Family("CodeLlama", "▁<PRE>", "▁<SUF>", "▁<MID>", ("▁<EOT>", "</s>"), opening=("<s>",)),
)

MODELS_THAT_WORK = (
    "bigcode/gpt_bigcode-santacoder, bigcode/starcoder2-3b, Qwen/Qwen2.5-Coder-0.5B, "
    "deepseek-ai/deepseek-coder-1.3b-base, codellama/CodeLlama-7b-hf or google/codegemma-2b"
)


def find_format(vocabulary: Mapping[str, int], model_name: str) -> FimFormat:
    """The format of the first family whose markers are all in *vocabulary* (token text -> id).

    Raises:
        ModelError: the model was not trained to fill in the middle.
    """
    for family in FAMILIES:
        if {family.prefix, family.suffix, family.middle, *family.opening} <= vocabulary.keys():
            return FimFormat(
                family=family.name,
                opening=tuple(vocabulary[text] for text in family.opening),
                prefix=vocabulary[family.prefix],
                suffix=vocabulary[family.suffix],
                middle=vocabulary[family.middle],
                stops=frozenset(vocabulary[text] for text in family.stops if text in vocabulary),
            )
    raise ModelError(
        f"{model_name} has no fill-in-the-middle markers in its tokenizer; "
        f"use a model that was trained with them, such as {MODELS_THAT_WORK}."
    )
