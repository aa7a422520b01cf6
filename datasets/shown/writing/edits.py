"""Real edits: the lines that one release of a package adds to or changes in the one before.

Each changed file is edited from the old to the new text, from top to bottom and line by line. So the text
above the cursor is new, the text below it is old, and so are the other files.

| kind | cursor |
|---|---|
| `edit-line` | at the start of a new line, after its indentation |
| `edit-word` | after a word or sign of a new line |
| `edit-change` | inside a changed line; the end that both releases have is right of the cursor |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate
from pathlib import Path
from random import Random

from fimlsp.datasets.languages.python import kinds_and_tokens
from fimlsp.datasets.languages.replay_language import NoTokensError
from fimlsp.datasets.shown.cursors import read_files
from fimlsp.datasets.shown.editor import common_end, common_start, words
from fimlsp.datasets.shown.writing.places import (
    Place,
    Project,
    Step,
    Writing,
    draw_places,
    first_line,
    indentation,
)
from fimlsp.datasets.sources import SourceFile

KEPT = 0.5
"""The share of an old line that the new line must keep to count as changed."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Rows of the *new* text that replace rows of the *old* one."""

    old: range
    new: range

    def replaced(self, row: int) -> int | None:
        """The old row that the new *row* replaces; None if it is an addition."""
        number = row - self.new.start
        return self.old[number] if number < len(self.old) else None

    def below(self, row: int) -> int:
        """The first old row below the new *row*, as lines are replaced one by one."""
        return min(self.old.stop, self.old.start + row - self.new.start + 1)


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file in two releases: its *path* in the old one, and the lines of both.

    *rows* are the rows of code among the new lines of *hunks*, each with its hunk.
    """

    file: SourceFile
    path: Path
    old: list[str]
    new: list[str]
    hunks: list[Hunk]
    rows: list[tuple[int, Hunk]]


@dataclass(frozen=True, slots=True)
class Edit:
    """A cursor in new code: its row, and the columns in the new line.

    The line is typed from *start* to *column*, and all right of *end* is there already.
    """

    row: int
    hunk: Hunk
    start: int
    column: int
    end: int


def edited_project(old: Path, new: Path) -> list[ChangedFile]:
    """The files of the release in *old* that the one in *new* changes, in a fixed order.

    Raises:
        SourceError: a folder does not exist.
    """
    before = {edited.path.relative_to(old.resolve()): edited for edited in read_files([old])}
    changed = list[ChangedFile]()
    for edited in read_files([new]):
        former = before.get(edited.path.relative_to(new.resolve()))
        if former is not None and former.file.hash != edited.file.hash:
            found = _changed(edited.file, former.path, former.file.content)
            changed += [found] if found.rows else []
    return changed


def _changed(file: SourceFile, path: Path, former: str) -> ChangedFile:
    old, new = former.split("\n"), file.content.split("\n")
    hunks = [
        Hunk(range(old_start, old_stop), range(new_start, new_stop))
        for tag, old_start, old_stop, new_start, new_stop in SequenceMatcher(
            None, old, new, autojunk=False
        ).get_opcodes()
        if tag != "equal"
    ]
    code = _code_rows(file.text)
    rows = [(row, hunk) for hunk in hunks for row in hunk.new if row in code]
    return ChangedFile(file, path, old, new, hunks, rows)


def _code_rows(text: str) -> set[int]:
    """The rows of *text* that start with code, not with a comment or within a string."""
    starts = {
        start: row
        for row, start in enumerate(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))
    }
    try:
        tokens = kinds_and_tokens(text)
    except NoTokensError:
        return set()
    rows = set[int]()
    for _, (start, end) in tokens:
        line_start = text.rfind("\n", 0, start) + 1
        if start < end and text[start] not in "#\n" and not text[line_start:start].strip():
            rows.add(starts[line_start])
    return rows


def draw_edits(pairs: Sequence[tuple[Path, Path]], n: int, seed: int) -> list[Project]:
    """About *n* places in real edits, the same number in each of *pairs*, an old and a new release.

    Raises:
        SourceError: a folder does not exist.
    """
    releases = [edited_project(old, new) for old, new in pairs]
    filled = [number for number, files in enumerate(releases) if files]

    def draw(number: int, kind: str, random: Random) -> tuple[tuple[ChangedFile, Edit], Place] | None:
        files = releases[filled[number % len(filled)]]
        file = random.choices(files, [len(file.rows) for file in files])[0]
        row, hunk = random.choice(file.rows)
        edit = EDITS[kind](file, row, hunk, random)
        return None if edit is None else ((file, edit), _place(kind, file, edit))

    drawn = draw_places(n if filled else 0, seed, list(EDITS), draw)
    projects = list[Project]()
    for (old, _), files in zip(pairs, releases, strict=True):
        places = [
            (file, [(edit, place) for (owner, edit), place in drawn if owner is file]) for file in files
        ]
        projects.append(Project(old, [_writing(file, edits) for file, edits in places if edits]))
    return [project for project in projects if project.writings]


def new_line(file: ChangedFile, row: int, hunk: Hunk, _: Random) -> Edit | None:
    """The cursor of `edit-line`."""
    line = file.new[row]
    return Edit(row, hunk, indentation(line), indentation(line), len(line))


def new_word(file: ChangedFile, row: int, hunk: Hunk, random: Random) -> Edit | None:
    """The cursor of `edit-word`."""
    line = file.new[row]
    return _after_a_word(Edit(row, hunk, indentation(line), indentation(line), len(line)), line, random)


def changed_line(file: ChangedFile, row: int, hunk: Hunk, random: Random) -> Edit | None:
    """The cursor of `edit-change`. The texts that both releases have end at words."""
    replaced = hunk.replaced(row)
    if replaced is None:
        return None
    old, new = file.old[replaced], file.new[row]
    start = common_start(old, new)
    kept = common_end(old[start:], new[start:])
    end = len(new) - kept
    while start > 0 and _is_in_a_word(new, start):
        start -= 1
    while end < len(new) and _is_in_a_word(new, end):
        end += 1
    common = start - indentation(new) + len(new) - end
    if start < indentation(new) or common < KEPT * len(old.strip()):
        return None
    if not new[start:end].strip() or not new[end:].strip():
        return None
    edit = Edit(row, hunk, start, start, end)
    return random.choice([edit, _after_a_word(edit, new, random) or edit])


def _is_in_a_word(text: str, offset: int) -> bool:
    return (text[offset - 1 : offset + 1].replace("_", "a")).isalnum() and offset < len(text)


def _after_a_word(edit: Edit, line: str, random: Random) -> Edit | None:
    """*edit* with the cursor after a word or sign between its start and its end."""
    ends = [len(before) + len(typed) for before, typed in words(line[: edit.start], line[: edit.end])]
    columns = [column for column in ends if line[column : edit.end].strip()]
    if not columns:
        return None
    return Edit(edit.row, edit.hunk, edit.start, random.choice(columns), edit.end)


DrawEdit = Callable[[ChangedFile, int, Hunk, Random], Edit | None]

EDITS: Mapping[str, DrawEdit] = {"edit-line": new_line, "edit-word": new_word, "edit-change": changed_line}


def _place(kind: str, file: ChangedFile, edit: Edit) -> Place:
    line = file.new[edit.row]
    is_open = edit.end == len(line)
    truth = line[edit.column : edit.end]
    if is_open:
        truth = "\n".join([truth, *file.new[edit.row + 1 : edit.hunk.new.stop]])
    replaced = edit.hunk.replaced(edit.row)
    return Place(
        kind=kind,
        name=f"{file.file.name}:{edit.row + 1}",
        source=file.file.hash,
        at=sum(len(above) + 1 for above in file.new[: edit.row]) + edit.column,
        truth=truth,
        stop=first_line(truth),
        column=indentation(line),
        deleted=() if replaced is None else (file.old[replaced].strip(),),
    )


def _writing(file: ChangedFile, edits: Sequence[tuple[Edit, Place]]) -> Writing:
    ordered = sorted(edits, key=lambda pair: (pair[0].row, pair[0].start, pair[0].column))

    def steps() -> Iterator[Step]:
        yield Step("", "\n".join(file.old))
        for hunk in file.hunks:
            for edit, place in ordered:
                if edit.hunk is hunk:
                    yield from _typed(file, edit, place)
            done, rest = file.new[: hunk.new.stop], file.old[hunk.old.stop :]
            text = "\n".join([*done, *rest])
            left = text[: len(text) - len("\n".join(rest))]
            yield Step(left, text[len(left) :])

    return Writing(file.path, tuple(place for _, place in ordered), steps)


def _typed(file: ChangedFile, edit: Edit, place: Place) -> Iterator[Step]:
    """The line of *edit*, typed word by word up to its cursor."""
    line = file.new[edit.row]
    above = file.new[: edit.row]
    right = "\n".join([line[edit.end :], *file.old[edit.hunk.below(edit.row) :]])
    opened, left = ("\n".join([*above, line[:column]]) for column in (edit.start, edit.column))
    lefts = [opened, *(before + typed for before, typed in words(opened, left))]
    for number, typed in enumerate(lefts, 1):
        yield Step(typed, right, place if number == len(lefts) else None, waits=True)
