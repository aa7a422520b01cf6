"""Markers and order of the fill-in-the-middle families, and which of them a tokenizer belongs to.

Most families set their parts in the order prefix, suffix, middle ("PSM", Bavarian et al. 2022); the model
bundled here has the suffix first and goes on where the prefix ends ("SPM"). The marker names come from the
model cards of the families. A family is recognised by its markers being single tokens of the vocabulary, so
a local fine-tune needs no configuration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fimlsp.models.errors import ModelError

LEFT, RIGHT = "{left}", "{right}"


@dataclass(frozen=True, slots=True)
class Family:
    """How a family of models writes a prompt (marker texts, two places for text) and ends a middle."""

    name: str
    prompt: tuple[str, ...]
    stops: tuple[str, ...]

    @property
    def markers(self) -> list[str]:
        """The marker texts of the prompt."""
        return [part for part in self.prompt if part not in (LEFT, RIGHT)]


@dataclass(frozen=True, slots=True)
class FimFormat:
    """A family's prompt in token ids of one tokenizer, and the ids that end a middle."""

    family: str
    prompt: tuple[int | str, ...]
    stops: frozenset[int]

    @property
    def markers(self) -> frozenset[int]:
        """Ids that carry no text."""
        return self.stops | {part for part in self.prompt if isinstance(part, int)}

    @property
    def overhead(self) -> int:
        """Tokens of a prompt that are not text."""
        return len(self.prompt) - 2

    def arrange(self, left: Sequence[int], right: Sequence[int]) -> list[int]:
        """The prompt for the tokens *left* and *right* of the cursor."""
        tokens = list[int]()
        for part in self.prompt:
            tokens.extend([part] if isinstance(part, int) else left if part == LEFT else right)
        return tokens


FAMILIES = (
    Family("fimlsp", ("<|right|>", RIGHT, "<|left|>", LEFT), ("<|endoftext|>",)),
    Family("SantaCoder", ("<fim-prefix>", LEFT, "<fim-suffix>", RIGHT, "<fim-middle>"), ("<|endoftext|>",)),
    Family(
        "StarCoder",
        ("<fim_prefix>", LEFT, "<fim_suffix>", RIGHT, "<fim_middle>"),
        ("<|endoftext|>", "<file_sep>", "<repo_name>"),
    ),
    Family(
        "DeepSeek-Coder",
        ("<｜begin▁of▁sentence｜>", "<｜fim▁begin｜>", LEFT, "<｜fim▁hole｜>", RIGHT, "<｜fim▁end｜>"),
        ("<｜end▁of▁sentence｜>", "<|EOT|>"),
    ),
    Family(
        "CodeGemma",
        ("<bos>", "<|fim_prefix|>", LEFT, "<|fim_suffix|>", RIGHT, "<|fim_middle|>"),
        ("<|file_separator|>", "<eos>"),
    ),
    Family(
        "Qwen-Coder",
        ("<|fim_prefix|>", LEFT, "<|fim_suffix|>", RIGHT, "<|fim_middle|>"),
        ("<|endoftext|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>", "<|im_end|>"),
    ),
    Family("CodeLlama", ("<s>", "▁<PRE>", LEFT, "▁<SUF>", RIGHT, "▁<MID>"), ("▁<EOT>", "</s>")),
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
        if vocabulary.keys() >= set(family.markers):
            prompt = tuple(part if part in (LEFT, RIGHT) else vocabulary[part] for part in family.prompt)
            stops = frozenset(vocabulary[text] for text in family.stops if text in vocabulary)
            return FimFormat(family.name, prompt, stops)
    raise ModelError(
        f"{model_name} has no fill-in-the-middle markers in its tokenizer; "
        f"use a model that was trained with them, such as {MODELS_THAT_WORK}."
    )
