"""Writes other files of a project into the prompt, in the way the model was trained to read them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fimlsp.models.prompts.families import Template
from fimlsp.models.prompts.fim_format import FimFormat
from fimlsp.models.prompts.vocabulary import Vocabulary
from fimlsp.quotient.language.editor_policy import Comment

BYTES_PER_TOKEN_MAX = 16
_SLOT = re.compile(r"\{(?:comment|end|path|text)\}")
SMALLEST_FILE = 16


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another file that the model should know: its path, best relative to the project, and its text."""

    path: str
    text: bytes


def read_neighbours(
    vocabulary: Vocabulary,
    fim: FimFormat,
    neighbours: Sequence[Neighbour],
    path: str | None,
    comment: Comment | None,
    budget: int,
) -> tuple[list[int], list[int]]:
    """Tokens of other files, and of the *path* of the one with the cursor; at most *budget* together.

    The first of *neighbours* matters most, so it comes last, next to the file itself. A file for which the
    budget is too small keeps its beginning. Names of files are written as a *comment* where the family does
    so. Both results are empty if no neighbour has text, or if there are no comments to write names in.
    """
    project = fim.project
    if comment is None and fim.project.needs_comment:
        return [], []
    encoder = _Encoder(vocabulary, fim, comment or Comment(""))
    here = encoder.tokens(project.here, path or "untitled", b"", budget)
    frame = [encoder.tokens(template, "", b"", budget) for template in (project.begin, project.end)]
    room = budget - len(here) - sum(map(len, frame))
    files = list[list[int]]()
    for neighbour in neighbours:
        if room >= SMALLEST_FILE and neighbour.text:
            files.insert(0, encoder.tokens(project.file, neighbour.path, neighbour.text, room))
            room -= len(files[0])
    if not files:
        return [], []
    return [*frame[0], *(token for tokens in files for token in tokens), *frame[1]], here


class _Encoder:
    """Fills the templates of a family."""

    def __init__(self, vocabulary: Vocabulary, fim: FimFormat, comment: Comment) -> None:
        self._vocabulary = vocabulary
        self._marker_ids = fim.marker_ids
        self._slots = {"{comment}": comment.begin, "{end}": comment.end and f" {comment.end}"}

    def tokens(self, template: Template, path: str, text: bytes, room: int) -> list[int]:
        """At most *room* tokens of *template*; if its last part is a marker, that is never cut off."""
        tokens = list[int]()
        last = [self._marker_ids[part] for part in template[-1:] if part in self._marker_ids]
        for part in template[: len(template) - len(last)]:
            marker = self._marker_ids.get(part)
            tokens += [marker] if marker is not None else self._text(part, path, text, room)
        return tokens[: max(0, room - len(last))] + last

    def _text(self, part: str, path: str, text: bytes, room: int) -> list[int]:
        shown = text[: max(0, room) * BYTES_PER_TOKEN_MAX].decode(errors="ignore")
        slots = {**self._slots, "{path}": path, "{text}": shown}
        return self._vocabulary.encode(_SLOT.sub(lambda slot: slots[slot[0]], part))
