"""The fill-in-the-middle families: the markers of their prompts, the orders, and the format of other files.

A prompt has its parts in the order prefix, suffix, middle ("PSM") or suffix, prefix, middle ("SPM"; both
Bavarian et al. 2022). In SPM order typing only appends to the prompt, so a network need not read it again.
That order is used if the family was trained with it and its authors document the format. All models except
our own use the second variant of Bavarian et al., appendix D: the prefix continues into the middle after all
markers.

A family is recognised by its markers, which are single tokens of the vocabulary, so a local fine-tune needs
no configuration. Some families share their markers with others: these are recognised by signs, such as a word
in the name.

The marker names, and the format of other files before the one with the cursor, come from the model cards and
from:

| family | source |
|---|---|
| SantaCoder, StarCoder | arXiv 2301.03988, 2305.06161; `permute` in BigCode's Megatron-LM: both orders |
| Granite | arXiv 2405.04324: both orders, with StarCoder's markers; Granite 3 as well |
| Granite 4 | IBM's guide to prompts, "Fill-in-the-Middle": the prefix first |
| Refact | the model card of Refact-1_6B-fim: the prefix first, with StarCoder's markers |
| CodeQwen1.5 | its repository, "file-level code completion": the prefix first, with StarCoder's markers |
| Mellum | the model card of Mellum-4b-base: the suffix first only, with StarCoder's markers |
| StarCoder2 | arXiv 2402.19173, section 5.1 |
| DeepSeek-Coder | arXiv 2401.14196, section 3.1: the prefix first only |
| CodeLlama | arXiv 2308.12950, section 2.3; `infilling_prompt_tokens` in its repository |
| CodeGemma | arXiv 2406.11409: trained in both orders, but only the prefix first is shown |
| Qwen-Coder | arXiv 2409.12186, figures 3 and 4: the prefix first only; Qwen3-Coder has the same markers |
| Seed-Coder | arXiv 2506.03524, its section on fill-in-the-middle: the suffix first only |
| Codestral | mistral-common's tokenizers for it: the suffix first, and no marker of the middle |
| Stable-Code | its model card, which shows the prefix first only |
| CodeGeeX4 | the infilling guide in its repository: the suffix first, in a turn of a conversation |
| GLM | the markers of its tokenizer, read with the prefix first, as llama.cpp's `/infill` does |
| `<|fim_*|>` | all others with these markers: the prefix first, as llama.cpp's `/infill` does |

A model without markers is of use as well (`without_markers`). It reads the text after the cursor as a
document of its own, then the text before the cursor, which it continues. Only the constraint connects the
two. With Gemma 3 270M, 16 lines of a library cost 0.54 nats a byte so, and 0.66 without the first
document.

StarCoder's marker of a file name heads a document of one file; no second file ever followed it in training.
So other files are introduced by comments, as for all families that were trained on single files.

A user describes a family in a file: `fim.json` beside a checkpoint, or the file given as the family. For
example, with the placeholders `{left}`, `{right}`, `{files}` and `{here}`:

    {"name": "Mine", "psm": ["<PRE>", "{left}", "<SUF>", "{right}", "<MID>"], "stops": ["<EOT>"]}

`spm` is the prompt with the suffix first. `files` is the format of other files: `begin`, `file` with `{path}`
and `{text}`, `end`, and `here` with `{path}`. `{comment}` and `{end}` start and end a comment in the language
of the files.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from fimlsp.models.errors import ModelError
from fimlsp.models.regular_files import read_bounded

LEFT, RIGHT = "{left}", "{right}"
FILES, HERE = "{files}", "{here}"
SLOTS = (LEFT, RIGHT, FILES, HERE)
LINE_END = "\n"
"""The only text in a prompt that is neither a marker nor in a slot."""

Template = tuple[str, ...]
Order = Literal["psm", "spm"]


@dataclass(frozen=True, slots=True)
class Project:
    """The format of other files in a family: marker texts, and text with the slots `{path}` and `{text}`.

    `{comment}` and `{end}` are the delimiters of a comment in the language of the files. If it has none, no
    other files are written.

    Attributes:
        begin: before all files.
        file: one other file.
        end: after all other files.
        here: the path of the file with the cursor.
    """

    begin: Template = ()
    file: Template = ("{comment} Path: {path}{end}\n{text}\n",)
    end: Template = ()
    here: Template = ("{comment} Path: {path}{end}\n",)

    @property
    def needs_comment(self) -> bool:
        """True if the names of files are written as comments."""
        return any("{comment}" in part for part in self.file + self.here)

    @property
    def markers(self) -> list[str]:
        """The marker texts of all parts."""
        parts = self.begin + self.file + self.end + self.here
        return [part for part in parts if part.startswith(("<", "[", "▁<")) and "{" not in part]


@dataclass(frozen=True, slots=True)
class Family:
    """The format of a family's prompt (marker texts, and slots for text), and the tokens that end a middle.

    The slots for other files, and for the path of the one with the cursor, stay empty if there are none.

    Attributes:
        psm: the prompt with the prefix first; None: the family was not trained with it.
        spm: the prompt with the suffix first; None: the family was not trained with it.
        stops: tokens that end a middle; its own markers are among them if its authors list them.
        project: the format of other files.
        architectures: each `model_type` that distinguishes the family from others with the same markers.
        signs: words in the model's name, or tokens; any of them does the same.
    """

    name: str
    psm: Template | None
    spm: Template | None
    stops: Template
    project: Project = Project()
    architectures: tuple[str, ...] = ()
    signs: tuple[str, ...] = ()

    @property
    def markers(self) -> list[str]:
        """The marker texts of the prompt."""
        parts = (*(self.psm or ()), *(self.spm or ()))
        return [part for part in dict.fromkeys(parts) if part not in (*SLOTS, LINE_END)]

    @property
    def all_markers(self) -> list[str]:
        """The marker texts of the prompt and of other files."""
        return [*self.markers, *self.project.markers]

    @property
    def texts(self) -> list[str]:
        """The texts of all its tokens that never stand for text of a file."""
        return list(dict.fromkeys([*self.all_markers, *self.stops, *self.signs]))

    def is_of(self, model_name: str, vocabulary: Container[str], architecture: str | None) -> bool:
        """True if a model of this name and architecture with these tokens belongs to the family."""
        name = model_name.lower()
        is_distinguished = architecture in self.architectures or any(
            sign in vocabulary or sign in name for sign in self.signs
        )
        is_alone = not (self.architectures or self.signs)
        return (is_alone or is_distinguished) and all(marker in vocabulary for marker in self.all_markers)

    def prompt(self, order: Order | None) -> Template | None:
        """The prompt in *order*; None: with the suffix first if the family was trained with that."""
        return {"psm": self.psm, "spm": self.spm, None: self.spm or self.psm}[order]


STARCODER_STOPS = ("<|endoftext|>", "<|end_of_text|>", "<filename>", "<reponame>")
STARCODER_PSM = ("<fim_prefix>", FILES, HERE, LEFT, "<fim_suffix>", RIGHT, "<fim_middle>")
BARRED_PSM = ("<|fim_prefix|>", FILES, HERE, LEFT, "<|fim_suffix|>", RIGHT, "<|fim_middle|>")
BARRED_MARKERS = ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>")
GLM_STOPS = ("<|endoftext|>", "<|user|>", "<|observation|>", "<|code_prefix|>", "<|code_suffix|>")

FAMILIES = (
    Family(
        "fimlsp with files",
        None,
        ("<|right|>", RIGHT, "<|left|>", FILES, HERE, LEFT),
        ("<|endoftext|>",),
        Project(file=("<|file|>", "{path}\n{text}"), here=("<|file|>", "{path}\n")),
    ),
    Family("fimlsp", None, ("<|right|>", RIGHT, "<|left|>", LEFT), ("<|endoftext|>",)),
    Family(
        "SantaCoder",
        ("<fim-prefix>", FILES, HERE, LEFT, "<fim-suffix>", RIGHT, "<fim-middle>"),
        ("<fim-prefix>", "<fim-suffix>", RIGHT, "<fim-middle>", FILES, HERE, LEFT),
        ("<|endoftext|>",),
    ),
    Family(
        "Stable-Code",
        STARCODER_PSM,
        None,
        STARCODER_STOPS,
        architectures=("stablelm",),
        signs=("stable-code",),
    ),
    Family(
        "CodeQwen1.5",
        STARCODER_PSM,
        None,
        ("<|endoftext|>", "<|im_end|>", "<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<fim_pad>"),
        architectures=("qwen2",),
        signs=("codeqwen",),
    ),
    Family(
        "Refact",
        STARCODER_PSM,
        None,
        STARCODER_STOPS,
        architectures=("refact", "gpt_refact"),
        signs=("refact-1",),
    ),
    Family(
        "Mellum",
        None,
        (FILES, HERE, "<fim_suffix>", RIGHT, "<fim_prefix>", LEFT, "<fim_middle>"),
        ("<|endoftext|>", "<filename>"),
        Project(file=("<filename>", "{path}\n{text}\n"), here=("<filename>", "{path}\n")),
        signs=("mellum", "<|im_start|>"),
    ),
    Family(
        "StarCoder2",
        (FILES, "<fim_prefix>", HERE, LEFT, "<fim_suffix>", RIGHT, "<fim_middle>"),
        (FILES, "<fim_prefix>", "<fim_suffix>", RIGHT, "<fim_middle>", HERE, LEFT),
        ("<|endoftext|>", "<file_sep>", "<repo_name>"),
        Project(("<repo_name>", "project"), ("<file_sep>", "{path}\n{text}"), ("<file_sep>",), ("{path}\n",)),
    ),
    Family(  # and Granite up to 3, with its markers
        "StarCoder",
        STARCODER_PSM,
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
        Project(file=("{comment}{path}{end}\n{text}\n",), here=("{comment}{path}{end}\n",)),
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
        "Seed-Coder",
        None,
        ("<[fim-suffix]>", RIGHT, "<[fim-prefix]>", FILES, HERE, LEFT, "<[fim-middle]>"),
        ("<[end▁of▁sentence]>", "<[fim-suffix]>", "<[fim-prefix]>", "<[fim-middle]>"),
    ),
    Family(
        "Codestral",
        None,
        ("<s>", "[SUFFIX]", RIGHT, "[PREFIX]", FILES, HERE, LEFT),
        ("</s>", "[SUFFIX]", "[PREFIX]", "[MIDDLE]"),
    ),
    Family(
        "CodeLlama",
        ("<s>", "▁<PRE>", FILES, HERE, LEFT, "▁<SUF>", RIGHT, "▁<MID>"),
        ("<s>", "▁<PRE>", "▁<SUF>", RIGHT, "▁<MID>", FILES, HERE, LEFT),
        ("▁<EOT>", "</s>"),
    ),
    Family(
        "Granite 4",
        BARRED_PSM,
        None,
        ("<|end_of_text|>", "<|filename|>", "<|reponame|>", "<|fim_pad|>"),
        signs=("<|filename|>",),
    ),
    Family(
        "CodeGeeX4",
        None,
        (
            *("<|user|>", LINE_END, "<|code_suffix|>", RIGHT, "<|code_prefix|>", FILES, HERE, LEFT),
            *("<|code_middle|>", "<|assistant|>", LINE_END),
        ),
        GLM_STOPS,
        signs=("codegeex",),
    ),
    Family(
        "GLM",
        ("<|code_prefix|>", FILES, HERE, LEFT, "<|code_suffix|>", RIGHT, "<|code_middle|>"),
        None,
        GLM_STOPS,
    ),
    Family("<|fim_*|>", BARRED_PSM, None, ("<|endoftext|>", "<|im_end|>", "<|fim_pad|>", *BARRED_MARKERS)),
)

OWN_FAMILIES = ("fimlsp with files", "fimlsp")
"""The families of the bundled model, and of those that `fimlsp train` makes."""

WITHOUT_MARKERS = "no markers"
"""The name of the family of models that were not trained to fill in the middle."""

STARTS = ("<s>", "<bos>", "<|begin_of_text|>", "<｜begin▁of▁sentence｜>", "<[begin▁of▁sentence]>")
"""Markers with which families start every text."""

TEXT_ENDS = (
    *("<|endoftext|>", "<|end_of_text|>", "<eos>", "</s>", "<｜end▁of▁sentence｜>", "<[end▁of▁sentence]>"),
    *("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|end|>", "<|EOT|>"),
)
"""Markers that end texts or turns; the first one of a vocabulary separates documents."""


def without_markers(vocabulary: Container[str]) -> Family | None:
    """The family of a model with *vocabulary* that has no markers; None if no token ends its texts."""
    starts, ends = _those_in(vocabulary, STARTS), _those_in(vocabulary, TEXT_ENDS)
    if not ends:
        return None
    return Family(WITHOUT_MARKERS, None, (*starts[:1], RIGHT, ends[0], FILES, HERE, LEFT), ends)


def _those_in(vocabulary: Container[str], texts: Iterable[str]) -> Template:
    return tuple(text for text in texts if text in vocabulary)


FILE_NAME = "fim.json"
BYTES_MAX = 64 << 10
_KEYS = ("name", "psm", "spm", "stops", "files")
_PARTS = ("begin", "file", "end", "here")


def family_beside(folder: Path) -> Family | None:
    """The family that a checkpoint's *folder* describes; None if it has no description.

    Raises:
        ModelError: the description is invalid.
    """
    path = folder / FILE_NAME
    return read_family(path) if path.exists() else None


def chosen_family(family: str | None, folder: Path) -> str | Family | None:
    """The family to use: that of the file *family*, the name *family*, or the one that *folder* describes.

    Raises:
        ModelError: a description is invalid.
    """
    if family is None:
        return family_beside(folder)
    return read_family(Path(family).expanduser()) if family.endswith(".json") else family


def read_family(path: Path) -> Family:
    """The family that the file *path* describes.

    Raises:
        ModelError: the file is unreadable, or the description is invalid.
    """
    try:
        return _family(json.loads(read_bounded(path, BYTES_MAX)))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(
            f"Cannot read a family from {path.name}: {error}. See the example in docs/models.md."
        ) from error


def _family(description: object) -> Family:
    if not isinstance(description, Mapping):
        raise ValueError("not a JSON object")
    unknown = [key for key in description if key not in _KEYS]
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r}; the keys are {', '.join(_KEYS)}")
    psm, spm = _prompt(description, "psm"), _prompt(description, "spm")
    if psm is None and spm is None:
        raise ValueError("both psm and spm are missing")
    stops = _texts(description, "stops")
    if not stops:
        raise ValueError("stops is empty")
    name = description.get("name", "own")
    if not isinstance(name, str) or not name:
        raise ValueError("name is not a text")
    return Family(name, psm, spm, stops, _project(description.get("files", {})))


def _prompt(description: Mapping[str, Any], key: str) -> Template | None:
    if description.get(key) is None:
        return None
    prompt = _texts(description, key)
    for slot in (LEFT, RIGHT):
        if prompt.count(slot) != 1:
            raise ValueError(f"{key} needs {slot} once")
    if any(prompt.count(slot) > 1 for slot in SLOTS):
        raise ValueError(f"duplicate placeholder in {key}")
    if len(prompt) == sum(part in SLOTS for part in prompt):
        raise ValueError(f"{key} has no marker")
    return prompt


def _project(description: object) -> Project:
    if not isinstance(description, Mapping):
        raise ValueError("files is not a JSON object")
    unknown = [key for key in description if key not in _PARTS]
    if unknown:
        raise ValueError(f"unknown key files.{unknown[0]}; the keys are {', '.join(_PARTS)}")
    return Project(**{key: _texts(description, key) for key in description})


def _texts(description: Mapping[str, Any], key: str) -> tuple[str, ...]:
    texts = description.get(key)
    if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
        raise ValueError(f"{key} is not a list of texts")
    return tuple(texts)
