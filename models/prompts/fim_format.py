"""Knows the markers and orders of fill-in-the-middle families, and recognises the family of a model.

A prompt has its parts in the order prefix, suffix, middle ("PSM") or suffix, prefix, middle ("SPM"; both
Bavarian et al. 2022). In SPM order typing only appends to the prompt, so a network need not read it again;
it is used if the family was trained with it and its authors say how they write it. All but our own model
write the second variant of Bavarian et al., appendix D, where the prefix continues into the middle after all
markers. A family is recognised by its markers being single tokens of the vocabulary, so a local fine-tune
needs no configuration. The marker names, and how other files of a project precede the one with the cursor,
come from the model cards and from:

| family | source |
|---|---|
| SantaCoder, StarCoder | arXiv 2301.03988, 2305.06161; `permute` in BigCode's Megatron-LM: both orders |
| Granite | arXiv 2405.04324: both orders, with StarCoder's markers |
| StarCoder2 | arXiv 2402.19173, section 5.1 |
| DeepSeek-Coder | arXiv 2401.14196, section 3.1: the prefix first only |
| CodeLlama | arXiv 2308.12950, section 2.3; `infilling_prompt_tokens` in its repository |
| CodeGemma | arXiv 2406.11409: trained in both orders, but only the prefix first is shown |
| Qwen-Coder | arXiv 2409.12186, figures 3 and 4: the prefix first only |
| Stable-Code | its model card, which shows the prefix first only |

StarCoder's marker of a file name heads a document of one file; it was never shown a second one after it. So
other files are introduced by comments, as for all families that were shown one file at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fimlsp.models.catalogue import MODELS_THAT_WORK
from fimlsp.models.errors import ModelError

LEFT, RIGHT = "{left}", "{right}"
FILES, HERE = "{files}", "{here}"
SLOTS = (LEFT, RIGHT, FILES, HERE)

Template = tuple[str, ...]
Order = Literal["psm", "spm"]


@dataclass(frozen=True, slots=True)
class Project:
    """How a family writes other files: marker texts, and text with the slots `{path}` and `{text}`.

    Attributes:
        begin: before all files.
        file: one other file.
        end: after all other files.
        here: the path of the file with the cursor.
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
    """How a family of models writes a prompt (marker texts, and slots for text) and ends a middle.

    The slots for other files, and for the path of the one with the cursor, stay empty if there are none.

    Attributes:
        psm: the prompt with the prefix first; None: the family was not trained with it.
        spm: the prompt with the suffix first; None: the family was not trained with it.
        stops: tokens that end a middle; its own markers are among them if its authors say so.
        project: how other files are written.
        architecture: the `model_type` that distinguishes the family from another with the same markers.
    """

    name: str
    psm: Template | None
    spm: Template | None
    stops: Template
    project: Project = Project()
    architecture: str | None = None

    @property
    def markers(self) -> list[str]:
        """The marker texts of the prompt."""
        parts = (*(self.psm or ()), *(self.spm or ()))
        return [part for part in dict.fromkeys(parts) if part not in SLOTS]

    def prompt(self, order: Order | None) -> Template | None:
        """The prompt in *order*; if that is None, with the suffix first if the family was trained so."""
        return {"psm": self.psm, "spm": self.spm, None: self.spm or self.psm}[order]


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
        """Whether the prompt has a slot for other files."""
        return FILES in self.prompt

    def arrange(
        self, left: Sequence[int], right: Sequence[int], files: Sequence[int] = (), here: Sequence[int] = ()
    ) -> list[int]:
        """The prompt for the tokens *left* and *right* of the cursor, of *files*, and of a path (*here*)."""
        slots = {LEFT: left, RIGHT: right, FILES: files, HERE: here}
        tokens = list[int]()
        for part in self.prompt:
            tokens.extend([part] if isinstance(part, int) else slots[part])
        return tokens


STARCODER_STOPS = ("<|endoftext|>", "<filename>", "<reponame>")

FAMILIES = (
    Family("fimlsp", None, ("<|right|>", RIGHT, "<|left|>", LEFT), ("<|endoftext|>",)),
    Family(
        "SantaCoder",
        ("<fim-prefix>", FILES, HERE, LEFT, "<fim-suffix>", RIGHT, "<fim-middle>"),
        ("<fim-prefix>", "<fim-suffix>", RIGHT, "<fim-middle>", FILES, HERE, LEFT),
        ("<|endoftext|>",),
    ),
    Family(
        "Stable-Code",
        ("<fim_prefix>", FILES, HERE, LEFT, "<fim_suffix>", RIGHT, "<fim_middle>"),
        None,
        STARCODER_STOPS,
        architecture="stablelm",
    ),
    Family(
        "StarCoder2",
        (FILES, "<fim_prefix>", HERE, LEFT, "<fim_suffix>", RIGHT, "<fim_middle>"),
        (FILES, "<fim_prefix>", "<fim_suffix>", RIGHT, "<fim_middle>", HERE, LEFT),
        ("<|endoftext|>", "<file_sep>", "<repo_name>"),
        Project(("<repo_name>", "project"), ("<file_sep>", "{path}\n{text}"), ("<file_sep>",), ("{path}\n",)),
    ),
    Family(  # and Granite, which has its tokenizer
        "StarCoder",
        ("<fim_prefix>", FILES, HERE, LEFT, "<fim_suffix>", RIGHT, "<fim_middle>"),
        ("<fim_prefix>", "<fim_suffix>", RIGHT, "<fim_middle>", FILES, HERE, LEFT),
        STARCODER_STOPS,
    ),
    Family(
        "DeepSeek-Coder",
        (
            *("<｜begin▁of▁sentence｜>", "<｜fim▁begin｜>", FILES, HERE, LEFT),
            *("<｜fim▁hole｜>", RIGHT, "<｜fim▁end｜>"),
        ),
        None,
        ("<｜end▁of▁sentence｜>", "<|EOT|>"),
        Project(file=("#{path}\n{text}\n",), here=("#{path}\n",)),
    ),
    Family(
        "CodeGemma",
        ("<bos>", FILES, HERE, "<|fim_prefix|>", LEFT, "<|fim_suffix|>", RIGHT, "<|fim_middle|>"),
        None,
        ("<|file_separator|>", "<eos>", "<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"),
        Project(file=("{path}\n{text}", "<|file_separator|>"), here=("{path}\n",)),
    ),
    Family(
        "Qwen-Coder",
        (FILES, HERE, "<|fim_prefix|>", LEFT, "<|fim_suffix|>", RIGHT, "<|fim_middle|>"),
        None,
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
        ("<s>", "▁<PRE>", "▁<SUF>", RIGHT, "▁<MID>", FILES, HERE, LEFT),
        ("▁<EOT>", "</s>"),
    ),
)


def find_format(
    vocabulary: Mapping[str, int],
    model_name: str,
    *,
    architecture: str | None = None,
    family: str | None = None,
    order: Order | None = None,
) -> FimFormat:
    """The format of a model whose tokenizer has *vocabulary* (token text -> id).

    It is that of the first family all of whose markers are there, including those for other files, since
    StarCoder and StarCoder2 share the rest. *architecture* is the model's `model_type`. If *family* or
    *order* is given, it is used instead of what would be found.

    Raises:
        ModelError: the model was not trained to fill in the middle, or not in this family or order.
    """
    found = _named(family, model_name) if family else _recognised(vocabulary, architecture, model_name)
    missing = [text for text in _markers(found) if text not in vocabulary]
    if missing:
        raise ModelError(
            f"{model_name} is no {found.name} model: its tokenizer lacks {missing[0]}; leave the family out."
        )
    template = found.prompt(order)
    if template is None:
        raise ModelError(f"{found.name} models know no {order} order; leave the order out.")
    prompt = tuple(part if part in SLOTS else vocabulary[part] for part in template)
    stops = frozenset(vocabulary[text] for text in found.stops if text in vocabulary)
    marker_ids = {text: vocabulary[text] for text in _markers(found)}
    return FimFormat(found.name, prompt, stops, found.project, marker_ids)


def known_markers() -> list[str]:
    """The texts of all markers and end tokens of all families."""
    texts = (text for family in FAMILIES for text in (*_markers(family), *family.stops))
    return list(dict.fromkeys(texts))


def _recognised(vocabulary: Mapping[str, int], architecture: str | None, model_name: str) -> Family:
    for family in FAMILIES:
        if family.architecture in (None, architecture) and vocabulary.keys() >= set(_markers(family)):
            return family
    raise ModelError(
        f"{model_name} has no fill-in-the-middle markers in its tokenizer; "
        f"use a model that was trained with them, such as {MODELS_THAT_WORK}."
    )


def _named(name: str, model_name: str) -> Family:
    for family in FAMILIES:
        if family.name.lower() == name.lower():
            return family
    names = ", ".join(family.name for family in FAMILIES)
    raise ModelError(f"There is no family {name} for {model_name}; those known are {names}.")


def _markers(family: Family) -> list[str]:
    return [*family.markers, *family.project.markers]
