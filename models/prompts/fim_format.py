"""The prompt of one model: the family it belongs to, in the token ids of its tokenizer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from fimlsp.models.catalogue import MODELS_THAT_WORK
from fimlsp.models.errors import ModelError
from fimlsp.models.prompts.families import (
    FAMILIES,
    FILES,
    HERE,
    LEFT,
    RIGHT,
    SLOTS,
    Family,
    Order,
    Project,
)

FILE_BEGINS = ("<s>", "<bos>", "<｜begin▁of▁sentence｜>")
"""Markers with which families begin every text."""

_LIKE_A_MARKER = re.compile(
    r"\W*(?:fim|suf|suffix|pre|prefix|mid|middle|hole|infill|code)(?:\W+|_|$)", re.IGNORECASE
)
_MARKED = re.compile(r"[<\[▁].*[>\]]$")
_NAMED_MAX = 6


@dataclass(frozen=True)
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

    @cached_property
    def overhead(self) -> int:
        """Tokens of a prompt that are not text."""
        return sum(isinstance(part, int) for part in self.prompt)

    @cached_property
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

    def continued(self, text: Sequence[int]) -> list[int]:
        """The prompt for what comes after *text* from left to right; never empty.

        It has no markers, but for one with which the family begins every text. If there is nothing else, it
        is a token that ends texts, as others begin behind it.
        """
        begins = {self.marker_ids[marker] for marker in FILE_BEGINS if marker in self.marker_ids}
        first = [part for part in self.prompt[:1] if isinstance(part, int) and part in begins]
        return [*first, *text] or [min(self.stops)]


def find_format(
    vocabulary: Mapping[str, int],
    model_name: str,
    *,
    architecture: str | None = None,
    family: str | Family | None = None,
    order: Order | None = None,
) -> FimFormat:
    """The format of a model whose tokenizer has *vocabulary* (token text -> id).

    It is that of the first family all of whose markers are there, including those for other files, since
    StarCoder and StarCoder2 share the rest. *architecture* is the model's `model_type`. If *family* (a name
    or a family of one's own) or *order* is given, it is used instead of what would be found.

    Raises:
        ModelError: the model was not trained to fill in the middle, or not in this family or order.
    """
    if family is None:
        found = _recognised(vocabulary, architecture, model_name)
    else:
        found = family if isinstance(family, Family) else _named(family, model_name)
    missing = [text for text in found.all_markers if text not in vocabulary]
    if missing:
        raise ModelError(
            f"{model_name} is no {found.name} model: its tokenizer lacks {missing[0]}; "
            f"{_what_fits(vocabulary, architecture, model_name)}."
        )
    template = found.prompt(order)
    if template is None:
        other = "psm" if order == "spm" else "spm"
        raise ModelError(f"{found.name} models know no {order} order; leave the order out, or say {other}.")
    prompt = tuple(part if part in SLOTS else vocabulary[part] for part in template)
    stops = frozenset(vocabulary[text] for text in found.stops if text in vocabulary)
    marker_ids = {text: vocabulary[text] for text in found.all_markers}
    return FimFormat(found.name, prompt, stops, found.project, marker_ids)


def known_markers() -> list[str]:
    """The texts of all tokens by which families are recognised, and that end a middle."""
    return list(dict.fromkeys(text for each in FAMILIES for text in each.texts))


def _recognised(vocabulary: Mapping[str, int], architecture: str | None, model_name: str) -> Family:
    for family in FAMILIES:
        if family.is_of(model_name, vocabulary, architecture):
            return family
    found = _markers_in(vocabulary)
    if not found:
        raise ModelError(
            f"{model_name} has no fill-in-the-middle markers in its tokenizer; "
            f"use a model that was trained with them, such as {MODELS_THAT_WORK}."
        )
    raise ModelError(
        f"{model_name} has the markers {', '.join(found)}, which are those of no family that fimlsp knows; "
        f"if it was trained to fill in the middle, say how in a file fim.json beside it (docs/models.md)."
    )


def _named(name: str, model_name: str) -> Family:
    for family in FAMILIES:
        if family.name.lower() == name.lower():
            return family
    names = ", ".join(family.name for family in FAMILIES)
    raise ModelError(
        f"There is no family {name} for {model_name}; those known are {names}. "
        f"For another, give the path of a file that describes it (docs/models.md)."
    )


def _what_fits(vocabulary: Mapping[str, int], architecture: str | None, model_name: str) -> str:
    """What to do about a family that does not fit."""
    fitting = [each.name for each in FAMILIES if each.is_of(model_name, vocabulary, architecture)]
    if fitting:
        return f"leave the family out, or say {' or '.join(fitting)}"
    found = _markers_in(vocabulary)
    if found:
        return f"it has {', '.join(found)}: describe them in a file fim.json beside it (docs/models.md)"
    return "it has no such markers at all, so use another model"


def _markers_in(vocabulary: Mapping[str, int]) -> list[str]:
    """Tokens that look like markers of a prompt, at most six."""
    found = (text for text in vocabulary if _MARKED.match(text) and _LIKE_A_MARKER.search(text))
    return sorted(found, key=vocabulary.__getitem__)[:_NAMED_MAX]
