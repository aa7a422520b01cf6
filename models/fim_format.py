"""Markers and order of the fill-in-the-middle families, and which of them a tokenizer belongs to.

Most families set their parts in the order prefix, suffix, middle ("PSM", Bavarian et al. 2022); the model
bundled here has the suffix first and goes on where the prefix ends ("SPM"). The marker names, and how other
files of a project stand before the one with the cursor, come from the model cards and papers of the
families. A family is recognised by its markers being single tokens of the vocabulary, so a local fine-tune
needs no configuration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fimlsp.models.errors import ModelError

LEFT, RIGHT = "{left}", "{right}"
FILES, HERE = "{files}", "{here}"
PLACES = (LEFT, RIGHT, FILES, HERE)

Template = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Project:
    """How a family writes other files: marker texts, and text with the places `{path}` and `{text}`.

    Attributes:
        begin: before all files.
        file: one other file.
        end: behind all other files.
        here: what tells the path of the file with the cursor.
    """

    begin: Template = ()
    file: Template = ("# Path: {path}\n{text}\n",)
    end: Template = ()
    here: Template = ("# Path: {path}\n",)

    @property
    def markers(self) -> list[str]:
        """The marker texts of all parts."""
        return [part for part in self.begin + self.file + self.end + self.here if part.startswith("<")]


@dataclass(frozen=True, slots=True)
class Family:
    """How a family of models writes a prompt (marker texts, and places for text) and ends a middle.

    Other files, and the path of the one with the cursor, take their places only where there are any.
    """

    name: str
    prompt: Template
    stops: Template
    project: Project = Project()

    @property
    def markers(self) -> list[str]:
        """The marker texts of the prompt."""
        return [part for part in self.prompt if part not in PLACES]


@dataclass(frozen=True, slots=True)
class FimFormat:
    """A family's prompt in token ids of one tokenizer, and the ids that end a middle."""

    family: str
    prompt: tuple[int | str, ...]
    stops: frozenset[int]
    project: Project
    marker_ids: Mapping[str, int]

    @property
    def markers(self) -> frozenset[int]:
        """Ids that carry no text."""
        return self.stops | frozenset(self.marker_ids.values())

    @property
    def overhead(self) -> int:
        """Tokens of a prompt that are not text."""
        return sum(isinstance(part, int) for part in self.prompt)

    @property
    def reads_files(self) -> bool:
        """Whether the prompt has a place for other files."""
        return FILES in self.prompt

    def arrange(
        self, left: Sequence[int], right: Sequence[int], files: Sequence[int] = (), here: Sequence[int] = ()
    ) -> list[int]:
        """The prompt for the tokens *left* and *right* of the cursor, those of *files* and of a path."""
        places = {LEFT: left, RIGHT: right, FILES: files, HERE: here}
        tokens = list[int]()
        for part in self.prompt:
            tokens.extend([part] if isinstance(part, int) else places[part])
        return tokens


FAMILIES = (
    Family("fimlsp", ("<|right|>", RIGHT, "<|left|>", LEFT), ("<|endoftext|>",)),
    Family(
        "SantaCoder",
        ("<fim-prefix>", FILES, HERE, LEFT, "<fim-suffix>", RIGHT, "<fim-middle>"),
        ("<|endoftext|>",),
    ),
    Family(
        "StarCoder2",
        (FILES, "<fim_prefix>", HERE, LEFT, "<fim_suffix>", RIGHT, "<fim_middle>"),
        ("<|endoftext|>", "<file_sep>", "<repo_name>"),
        Project(("<repo_name>", "project"), ("<file_sep>", "{path}\n{text}"), ("<file_sep>",), ("{path}\n",)),
    ),
    Family(
        "StarCoder",
        ("<fim_prefix>", FILES, HERE, LEFT, "<fim_suffix>", RIGHT, "<fim_middle>"),
        ("<|endoftext|>", "<filename>", "<reponame>"),
    ),
    Family(
        "DeepSeek-Coder",
        (
            "<｜begin▁of▁sentence｜>",
            "<｜fim▁begin｜>",
            FILES,
            HERE,
            LEFT,
            "<｜fim▁hole｜>",
            RIGHT,
            "<｜fim▁end｜>",
        ),
        ("<｜end▁of▁sentence｜>", "<|EOT|>"),
        Project(file=("#{path}\n{text}\n",), here=("#{path}\n",)),
    ),
    Family(
        "CodeGemma",
        ("<bos>", FILES, HERE, "<|fim_prefix|>", LEFT, "<|fim_suffix|>", RIGHT, "<|fim_middle|>"),
        ("<|file_separator|>", "<eos>"),
        Project(file=("{path}\n{text}", "<|file_separator|>"), here=("{path}\n",)),
    ),
    Family(
        "Qwen-Coder",
        (FILES, HERE, "<|fim_prefix|>", LEFT, "<|fim_suffix|>", RIGHT, "<|fim_middle|>"),
        ("<|endoftext|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>", "<|im_end|>"),
        Project(
            ("<|repo_name|>", "project\n"),
            ("<|file_sep|>", "{path}\n{text}\n"),
            here=("<|file_sep|>", "{path}\n"),
        ),
    ),
    Family(
        "CodeLlama",
        ("<s>", "▁<PRE>", FILES, HERE, LEFT, "▁<SUF>", RIGHT, "▁<MID>"),
        ("▁<EOT>", "</s>"),
    ),
)

MODELS_THAT_WORK = (
    "bigcode/gpt_bigcode-santacoder, bigcode/starcoder2-3b, Qwen/Qwen2.5-Coder-0.5B, "
    "deepseek-ai/deepseek-coder-1.3b-base, codellama/CodeLlama-7b-hf or google/codegemma-2b"
)


def find_format(vocabulary: Mapping[str, int], model_name: str) -> FimFormat:
    """The format of the first family whose markers are all in *vocabulary* (token text -> id).

    Those for other files count as well: StarCoder and StarCoder2 share the others.

    Raises:
        ModelError: the model was not trained to fill in the middle.
    """
    for family in FAMILIES:
        if vocabulary.keys() >= {*family.markers, *family.project.markers}:
            return _format(family, vocabulary)
    raise ModelError(
        f"{model_name} has no fill-in-the-middle markers in its tokenizer; "
        f"use a model that was trained with them, such as {MODELS_THAT_WORK}."
    )


def _format(family: Family, vocabulary: Mapping[str, int]) -> FimFormat:
    prompt = tuple(part if part in PLACES else vocabulary[part] for part in family.prompt)
    stops = frozenset(vocabulary[text] for text in family.stops if text in vocabulary)
    texts = (*family.markers, *family.project.markers)
    return FimFormat(family.name, prompt, stops, family.project, {text: vocabulary[text] for text in texts})
