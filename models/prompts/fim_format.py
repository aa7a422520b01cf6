"""The prompt of one model: the family that it belongs to, in the token ids of its tokenizer."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from fimlsp.models.catalogue import MODELS_THAT_WORK
from fimlsp.models.errors import ModelError
from fimlsp.models.prompts.families import (
    FAMILIES,
    FILES,
    HERE,
    LEFT,
    LINE_END,
    RIGHT,
    SLOTS,
    STARTS,
    TEXT_ENDS,
    WITHOUT_MARKERS,
    Family,
    Order,
    Project,
    without_markers,
)
from fimlsp.models.prompts.vocabulary import VISIBLE_SPACE, is_marker

log = logging.getLogger(__name__)

LINE_ENDS = ("Ċ", LINE_END, "<0x0A>")
"""The spellings of a line end in vocabularies."""

NAMED = (
    (("codeqwen",), "CodeQwen1.5"),
    (("qwen", "coder"), "Qwen-Coder"),
    (("starcoder2",), "StarCoder2"),
    (("starcoder",), "StarCoder"),
    (("santacoder",), "SantaCoder"),
    (("stable-code",), "Stable-Code"),
    (("deepseek", "coder"), "DeepSeek-Coder"),
    (("codellama",), "CodeLlama"),
    (("code-llama",), "CodeLlama"),
    (("codegemma",), "CodeGemma"),
    (("codestral",), "Codestral"),
    (("seed-coder",), "Seed-Coder"),
    (("mellum",), "Mellum"),
    (("refact",), "Refact"),
    (("codegeex4",), "CodeGeeX4"),
    (("granite-4",), "Granite 4"),
    (("granite",), "StarCoder"),
)
"""The family of a model whose name has all of some words, for servers that do not list its tokens."""

_LIKE_A_MARKER = re.compile(
    r"(?:fim|suf|suffix|pre|prefix|mid|middle|hole|infill|code)(?:\W|_|$)", re.IGNORECASE
)
_NAMED_MAX = 6


class NoMarkersError(ModelError):
    """The tokenizer has the markers of no known family."""


@dataclass(frozen=True)
class FimFormat:
    """A family's prompt in token ids of one tokenizer, and the ids that end a middle."""

    family: str
    prompt: tuple[int | str, ...]
    stops: frozenset[int]
    project: Project
    marker_ids: Mapping[str, int]

    @property
    def is_trained(self) -> bool:
        """True if the model was trained to fill in the middle, as far as its tokenizer shows."""
        return self.family != WITHOUT_MARKERS

    @property
    def markers(self) -> frozenset[int]:
        """Ids without text."""
        return self.stops | frozenset(self.marker_ids.values())

    def ending_also(self, ends: Iterable[int]) -> FimFormat:
        """This format if the tokens *ends* end a middle as well."""
        return replace(self, stops=self.stops.union(ends))

    def without_start(self) -> FimFormat:
        """This format for a server that itself writes the marker with which every text starts."""
        starts = {self.marker_ids[marker] for marker in STARTS if marker in self.marker_ids}
        return replace(self, prompt=tuple(part for part in self.prompt if part not in starts))

    @cached_property
    def overhead(self) -> int:
        """The number of marker tokens in a prompt."""
        return sum(isinstance(part, int) for part in self.prompt)

    @cached_property
    def reads_files(self) -> bool:
        """True if the prompt has a slot for other files."""
        return FILES in self.prompt

    @cached_property
    def is_prefix_first(self) -> bool:
        """True if the text right of the cursor comes after the text left of it."""
        return self.prompt.index(LEFT) < self.prompt.index(RIGHT)

    def arrange(
        self, left: Sequence[int], right: Sequence[int], files: Sequence[int] = (), here: Sequence[int] = ()
    ) -> list[int]:
        """The prompt for the tokens *left* and *right* of the cursor, of *files*, and of a path (*here*)."""
        slots = {LEFT: left, RIGHT: right, FILES: files, HERE: here}
        tokens = list[int]()
        for part in self.prompt:
            tokens.extend([part] if isinstance(part, int) else slots[part])
        return tokens

    def continued(self, text: Sequence[int]) -> list[int]:
        """The prompt for a continuation of *text* from left to right; never empty.

        Its only marker is the one with which the family starts every text. Without that and without text,
        it is a token that ends texts, as other texts start after it.
        """
        starts = {self.marker_ids[marker] for marker in STARTS if marker in self.marker_ids}
        first = [part for part in self.prompt[:1] if isinstance(part, int) and part in starts]
        return [*first, *text] or [min(self.stops)]


def find_format(
    vocabulary: Mapping[str, int],
    model_name: str,
    *,
    architecture: str | None = None,
    family: str | Family | None = None,
    order: Order | None = None,
    untrained: bool = False,
) -> FimFormat:
    """The format of a model whose tokenizer has *vocabulary* (token text -> id).

    It is the format of the first family whose markers are all in the vocabulary. That includes the markers
    for other files, since StarCoder and StarCoder2 share the rest. A *family* (a name or a value) or an
    *order* overrides the choice.

    Args:
        vocabulary: the tokenizer's tokens.
        model_name: the name of the model, for errors and for families recognised by name.
        architecture: the model's `model_type`.
        family: the family to use.
        order: the order to use.
        untrained: True to accept a model that was not trained to fill in the middle, see `without_markers`.

    Raises:
        NoMarkersError: the model was not trained to fill in the middle.
        ModelError: it was not trained in this family or order.
    """
    if family is None:
        family = _recognised(vocabulary, architecture, model_name, untrained)
    elif isinstance(family, str):
        family = named_family(family, model_name)
    missing = [text for text in family.all_markers if text not in vocabulary]
    if missing:
        raise ModelError(
            f"{model_name} is not a {family.name} model: its tokenizer lacks {missing[0]}; "
            f"{_remedy(vocabulary, architecture, model_name)}."
        )
    template = family.prompt(order)
    if template is None:
        other = "psm" if order == "spm" else "spm"
        raise ModelError(
            f"{family.name} models do not support {order} order; leave the order out, or use {other}."
        )
    parts = (_part(part, vocabulary) for part in template)
    prompt = tuple(part for part in parts if part is not None)
    stops = frozenset(vocabulary[text] for text in family.stops if text in vocabulary)
    marker_ids = {text: vocabulary[text] for text in family.all_markers}
    return FimFormat(family.name, prompt, stops, family.project, marker_ids)


def _part(part: str, vocabulary: Mapping[str, int]) -> int | str | None:
    """A slot or a token of a prompt; None for a line end that the vocabulary has no token of its own for."""
    if part == LINE_END:
        return next((vocabulary[text] for text in LINE_ENDS if text in vocabulary), None)
    return part if part in SLOTS else vocabulary[part]


def known_markers() -> list[str]:
    """The texts of all tokens by which families are recognised, or that end a middle."""
    texts = (text for family in FAMILIES for text in family.texts)
    return list(dict.fromkeys([*texts, *STARTS, *TEXT_ENDS]))


def family_by_name(model_name: str) -> Family | None:
    """The family of a model with this name; None if it is that of none."""
    name = model_name.lower()
    found = next((family for words, family in NAMED if all(word in name for word in words)), None)
    return None if found is None else named_family(found, model_name)


def _recognised(
    vocabulary: Mapping[str, int], architecture: str | None, model_name: str, untrained: bool
) -> Family:
    for family in FAMILIES:
        if family.is_of(model_name, vocabulary, architecture):
            return family
    plain = without_markers(vocabulary) if untrained else None
    markers = _markers_in(vocabulary)
    if plain is not None:
        log.warning(
            "%s has %s: it reads the text after the cursor first, and only the grammar connects both. %s",
            model_name,
            f"unknown markers ({', '.join(markers)})" if markers else "no markers to fill in the middle",
            "Describe them in a file fim.json beside it (docs/models.md)."
            if markers
            else f"Models that were trained to, such as {MODELS_THAT_WORK}, write better middles.",
        )
        return plain
    if not markers:
        raise NoMarkersError(
            f"{model_name} has no fill-in-the-middle markers in its tokenizer; "
            f"use a model that was trained with them, such as {MODELS_THAT_WORK}."
        )
    raise NoMarkersError(
        f"{model_name} has the markers {', '.join(markers)}, which are those of no family known to fimlsp; "
        f"if it was trained to fill in the middle, describe its format in a file fim.json beside it "
        f"(docs/models.md)."
    )


def named_family(name: str, model_name: str) -> Family:
    """The family called *name*, for the model *model_name*.

    Raises:
        ModelError: there is none.
    """
    for family in FAMILIES:
        if family.name.lower() == name.lower():
            return family
    names = ", ".join(family.name for family in FAMILIES)
    raise ModelError(
        f"Unknown family {name} for {model_name}; the known ones are {names}. "
        f"For another, give the path of a file that describes it (docs/models.md)."
    )


def _remedy(vocabulary: Mapping[str, int], architecture: str | None, model_name: str) -> str:
    """The remedy for a family that does not fit."""
    fitting = [family.name for family in FAMILIES if family.is_of(model_name, vocabulary, architecture)]
    if fitting:
        return f"leave the family out, or use {' or '.join(fitting)}"
    markers = _markers_in(vocabulary)
    if markers:
        return f"it has {', '.join(markers)}: describe them in a file fim.json beside it (docs/models.md)"
    return "it has no such markers at all, so use another model"


def _markers_in(vocabulary: Mapping[str, int]) -> list[str]:
    """Tokens that look like markers of a prompt, at most six."""
    markers = (
        text
        for text in vocabulary
        if is_marker(text.removeprefix(VISIBLE_SPACE)) and _LIKE_A_MARKER.search(text)
    )
    return sorted(markers, key=vocabulary.__getitem__)[:_NAMED_MAX]
