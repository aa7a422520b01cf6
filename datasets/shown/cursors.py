"""Cursors at which people edit, drawn from finished files, with the code that was cut out there as the truth.

| kind | what is cut out |
|---|---|
| `line` | the rest of a line, from between two words of it |
| `whole-line` | a simple statement, alone in its line; its indentation stands |
| `bracket` | what one line has between a bracket and its partner |
| `word` | the rest of a statement of one line, from within a name or keyword |
| `block` | the last statements of an indented block, at least one of which stays |
| `body` | the body of a function, but for its docstring, which says what is to come |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

from fimlsp.datasets.shown.spans import Span, Spans, spans_of
from fimlsp.datasets.sources.filters import Filters
from fimlsp.datasets.sources.source import Source
from fimlsp.datasets.sources.source_file import SourceFile

TRIES_MAX = 200
HASH_DIGITS = 12
_IN_A_WORD = re.compile(r"(?<=\w)(?=\w)")


@dataclass(frozen=True, slots=True)
class Cursor:
    """A cursor in a file without the code from *start* to *end*, offsets in characters.

    *source* is the file's SHA-256, *name* is for readers. *column* is that of the statement or block that is
    being written: what begins further left does not belong to it.
    """

    kind: str
    name: str
    source: str
    start: int
    end: int
    column: int

    @property
    def case(self) -> str:
        """Names the cursor, in this run and in any other."""
        return f"{self.kind}-{self.source[:HASH_DIGITS]}-{self.start}"

    @property
    def is_within_line(self) -> bool:
        """Whether what was cut out is a part of one line."""
        return self.kind in ("line", "bracket", "word")

    def to_json(self) -> dict[str, Any]:
        """As an object of strings and numbers."""
        return {"case": self.case, **asdict(self)}


@dataclass(frozen=True, slots=True)
class EditedFile:
    """A file to draw cursors from, and where it lies."""

    file: SourceFile
    path: Path


def read_files(folders: Sequence[Path]) -> list[EditedFile]:
    """The files below *folders* that CPython parses, each text once, in a fixed order.

    Raises:
        SourceError: there is no such folder.
    """
    files, filters = dict[str, EditedFile](), Filters()
    for folder in folders:
        for found in Source(str(folder.resolve()), filters.language).files():
            file = filters.identify(found)
            checked = filters.check_valid(file) if isinstance(file, SourceFile) else file
            if isinstance(checked, SourceFile) and "\r" not in checked.text:
                path = folder.resolve().parent / checked.name
                files.setdefault(checked.hash, EditedFile(checked, path))
    return list(files.values())


def workspace_of(folders: Sequence[Path]) -> list[Path]:
    """The folders that an editor has open which edits files below *folders*; a file's is that it lies in."""
    return list(dict.fromkeys((each if each.is_dir() else each.parent).resolve() for each in folders))


def draw_cursors(files: Sequence[EditedFile], n: int, seed: int) -> Iterator[tuple[EditedFile, Cursor]]:
    """About *n* different cursors, of each kind equally many; long files have more of them.

    Each is drawn from the seed and its number alone, so a larger *n* only adds more.
    """
    weights = list(accumulate(each.file.text.count("\n") for each in files))
    seen = set[str]()
    for number in range(n if files else 0):
        kind = list(KINDS)[number % len(KINDS)]
        random = Random(f"{seed} {number}")
        for _ in range(TRIES_MAX):
            chosen = random.choices(files, cum_weights=weights)[0]
            cursor = draw_cursor(chosen.file, kind, random)
            if cursor is not None and cursor.case not in seen:
                seen.add(cursor.case)
                yield chosen, cursor
                break


def draw_cursor(file: SourceFile, kind: str, random: Random) -> Cursor | None:
    """A cursor of *kind* in *file*; None if this draw finds none."""
    spans = spans_of(file.text)
    span = None if spans is None else KINDS[kind](file.text, spans, random)
    if spans is None or span is None or not file.text[slice(*span)].strip():
        return None
    return Cursor(kind, file.name, file.hash, *span, statement_column(file.text, spans, span[0]))


def statement_column(text: str, spans: Spans, offset: int) -> int:
    """The column of the statement that *offset* is in; in no statement, that where its line begins."""
    start = (spans.statement_at(offset) or (offset, offset))[0]
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return len(line) - len(line.lstrip())


def rest_of_line(text: str, _: Spans, random: Random) -> Span | None:
    """See the module."""
    lines = text.split("\n")
    row = random.choice([row for row, line in enumerate(lines) if line.strip()] or [0])
    line, begin = lines[row], sum(len(line) + 1 for line in lines[:row])
    first = len(line) - len(line.lstrip()) + 1
    columns = [column for column in range(first, len(line)) if not _IN_A_WORD.match(line, column)]
    return (begin + random.choice(columns), begin + len(line)) if columns else None


def whole_line(_: str, spans: Spans, random: Random) -> Span | None:
    """See the module."""
    return random.choice(spans.simple) if spans.simple else None


def inside_bracket(_: str, spans: Spans, random: Random) -> Span | None:
    """See the module."""
    return random.choice(spans.brackets) if spans.brackets else None


def begun_word(text: str, spans: Spans, random: Random) -> Span | None:
    """See the module."""
    if not spans.words:
        return None
    word = random.choice(spans.words)
    statement = spans.statement_at(word[0])
    if statement is None or "\n" in text[word[0] : statement[1]]:
        return None
    return random.randrange(word[0] + 1, word[1]), statement[1]


def rest_of_block(_: str, spans: Spans, random: Random) -> Span | None:
    """See the module."""
    suites = [suite for suite in spans.suites if len(suite) > 1]
    if not suites:
        return None
    suite = random.choice(suites)
    return random.choice(suite[1:])[0], suite[-1][1]


def function_body(_: str, spans: Spans, random: Random) -> Span | None:
    """See the module."""
    return random.choice(spans.bodies) if spans.bodies else None


Draw = Callable[[str, Spans, Random], Span | None]

KINDS: Mapping[str, Draw] = {
    "line": rest_of_line,
    "whole-line": whole_line,
    "bracket": inside_bracket,
    "word": begun_word,
    "block": rest_of_block,
    "body": function_body,
}
