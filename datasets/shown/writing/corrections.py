"""Corrections in finished files, one at a time.

| kind | correction |
|---|---|
| `mend-inside` | none: the cursor is within a finished word |
| `mend-name` | the end of a name is typed, directly before `(`, `[` or `.` |
| `mend-typo` | a letter that lacks in a word is typed |
| `mend-deleted` | a word is deleted with Backspace |
| `mend-below` | Enter opens a line below `return`, `raise`, `continue`, `break` or `sys.exit(…)` |
"""

from __future__ import annotations

import keyword
import tokenize
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random

from fimlsp.datasets.languages.python import kinds_and_tokens
from fimlsp.datasets.languages.replay_language import NoTokensError, Span
from fimlsp.datasets.shown.cursors import FILES_KEPT, EditedFile, read_files
from fimlsp.datasets.shown.writing.faults import after_jumps
from fimlsp.datasets.shown.writing.places import (
    Place,
    Project,
    Step,
    Writing,
    draw_places,
    indentation,
    newline_of,
)

NAME_MIN = 4
"""Letters of a name that is corrected."""


@dataclass(frozen=True, slots=True)
class Correction:
    """The documents of a correction, each as the texts left and right of the cursor.

    The last one gets a request. *truth* and *deleted* are as in `Place`.
    """

    documents: tuple[tuple[str, str], ...]
    truth: str | None
    deleted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Spots:
    """The spans of names in a text, and the ends of statements below which nothing can run."""

    names: Sequence[Span]
    jumps: Sequence[int]


@lru_cache(maxsize=FILES_KEPT)
def spots_of(text: str) -> Spots:
    """The spots of *text*, which parses."""
    try:
        tokens = kinds_and_tokens(text)
    except NoTokensError:
        return Spots((), ())
    names = [
        span
        for kind, span in tokens
        if kind == tokenize.NAME
        and span[1] - span[0] >= NAME_MIN
        and not keyword.iskeyword(text[slice(*span)])
    ]
    return Spots(names, after_jumps(text))


def inside_word(text: str, spots: Spots, random: Random) -> Correction | None:
    """The correction of `mend-inside`."""
    if not spots.names:
        return None
    start, end = random.choice(spots.names)
    cursor = random.randrange(start + 1, end)
    return Correction(((text[:cursor], text[cursor:]),), truth="")


def name_before_bracket(text: str, spots: Spots, random: Random) -> Correction | None:
    """The correction of `mend-name`."""
    names = [span for span in spots.names if text[span[1] : span[1] + 1] in ("(", "[", ".")]
    if not names:
        return None
    start, end = random.choice(names)
    cursor = random.randrange(start + 2, end)
    documents = (text[:start], text[end:]), (text[:cursor], text[end:])
    return Correction(documents, truth=text[cursor:end])


def typo(text: str, spots: Spots, random: Random) -> Correction | None:
    """The correction of `mend-typo`."""
    if not spots.names:
        return None
    start, end = random.choice(spots.names)
    letter = random.randrange(start + 1, end - 1)
    right = text[letter + 1 :]
    return Correction(((text[:letter], right), (text[: letter + 1], right)), truth="")


def deleted_word(text: str, spots: Spots, random: Random) -> Correction | None:
    """The correction of `mend-deleted`."""
    if not spots.names:
        return None
    start, end = random.choice(spots.names)
    documents = tuple((text[:left], text[end:]) for left in range(end, start - 1, -1))
    return Correction(documents, truth=None, deleted=(text[start:end],))


def below_jump(text: str, spots: Spots, random: Random) -> Correction | None:
    """The correction of `mend-below`."""
    if not spots.jumps:
        return None
    end = random.choice(spots.jumps)
    left, right = text[:end], text[end:]
    first = left[left.rfind("\n") + 1 :]
    return Correction(((left, right), (f"{left}\n{first[: indentation(first)]}", right)), truth=None)


Draw = Callable[[str, Spots, Random], Correction | None]

CORRECTIONS: Mapping[str, Draw] = {
    "mend-inside": inside_word,
    "mend-name": name_before_bracket,
    "mend-typo": typo,
    "mend-deleted": deleted_word,
    "mend-below": below_jump,
}


def draw_corrections(folders: Sequence[Path], n: int, seed: int) -> list[Project]:
    """About *n* corrections in the files of *folders*, the same number in each folder.

    Raises:
        SourceError: a folder does not exist.
    """
    projects = [read_files([folder]) for folder in folders]
    filled = [number for number, files in enumerate(projects) if files]

    def draw(number: int, kind: str, random: Random) -> tuple[Writing, Place] | None:
        files = projects[filled[number % len(filled)]]
        edited = random.choices(files, [file.file.text.count("\n") for file in files])[0]
        text = edited.file.content
        correction = CORRECTIONS[kind](text, spots_of(text), random)
        return None if correction is None else _writing(kind, edited, correction, seed)

    drawn = draw_places(n if filled else 0, seed, list(CORRECTIONS), draw)
    return [
        Project(folder, [writing for writing, _ in drawn if writing.path.is_relative_to(folder.resolve())])
        for folder in folders
    ]


def _writing(kind: str, edited: EditedFile, correction: Correction, seed: int) -> tuple[Writing, Place]:
    left, _ = correction.documents[-1]
    line = left[left.rfind("\n") + 1 :]
    place = Place(
        kind=kind,
        name=f"{edited.file.name}:{left.count(chr(10)) + 1}",
        source=edited.file.hash,
        at=len(left),
        truth=correction.truth,
        stop=len(correction.truth or ""),
        column=indentation(line),
        deleted=correction.deleted,
    )
    last = len(correction.documents) - 1

    def steps() -> Iterator[Step]:
        for number, (before, after) in enumerate(correction.documents):
            yield Step(before, after, place if number == last else None, waits=True)

    return Writing(edited.path, (place,), steps, newline_of(edited.file.hash, seed)), place
