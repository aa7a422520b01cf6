"""Which cases a run has: files of its sources that pass the filters, and the cuts of each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from fimlsp.datasets.cuts.cut_record import CutRecord, make_cuts
from fimlsp.datasets.sources.filters import OTHER_LANGUAGE, Filters, check_parses
from fimlsp.datasets.sources.source_file import Excluded, SourceFile
from fimlsp.datasets.sources.sources import n_files, read_source


@dataclass(frozen=True, slots=True)
class Task:
    """A file with its cases."""

    file: SourceFile
    records: tuple[CutRecord, ...]


@dataclass(frozen=True, slots=True)
class Shard:
    """Part *number*, from 1, of *count* equal parts: every so-manieth file."""

    number: int = 1
    count: int = 1

    def has(self, index: int) -> bool:
        """Whether the file with this *index* belongs to it."""
        return index % self.count == self.number - 1


@dataclass(frozen=True, slots=True)
class Selection:
    """What decides the cases.

    Attributes:
        sources: see `sources.py`; their files are numbered through from 0, those left out included, but
            not those that are said to be in another language.
        kinds: kinds of cuts, names in `STRATEGIES`.
        per_file: cuts of each kind in each file.
        seed: of all cuts.
        files: the numbers of the files to look at.
        shard: those of them that this run takes.
        filters: what leaves files out.
        saved: cases by the hash of their file, instead of cuts of these kinds; None: cut anew.
    """

    sources: tuple[str, ...]
    kinds: tuple[str, ...] = ("boundary", "randspan")
    per_file: int = 10
    seed: int = 0
    files: range = range(1 << 62)
    shard: Shard = Shard()
    filters: Filters = Filters()  # noqa: RUF009 - frozen
    saved: Mapping[str, Sequence[CutRecord]] | None = None

    def __iter__(self) -> Iterator[Task | Excluded]:
        """Tasks and exclusions in the order of the files."""
        for found in self._files():
            checked = check_parses(found) if isinstance(found, SourceFile) else found
            if isinstance(checked, Excluded):
                yield checked
            else:
                yield from self._cut(checked)

    def _files(self) -> Iterator[SourceFile | Excluded]:
        """The files of the shard. Each text comes once, in whatever shard its first file is."""
        seen, index = set[str](), -1
        for found in chain.from_iterable(map(read_source, self.sources)):
            file = self.filters.identify(found)
            is_foreign = isinstance(file, Excluded) and file.reason == OTHER_LANGUAGE
            index += not is_foreign
            if index >= self.files.stop:
                break
            if is_foreign and self.shard.number == 1:
                yield file
            elif not is_foreign and index in self.files:
                first = self._first_of_its_text(file, seen)
                if first is not None and self.shard.has(index):
                    yield first
        if self.shard.number == 1:
            yield from self._missing(seen)

    def _first_of_its_text(self, file: SourceFile | Excluded, seen: set[str]) -> SourceFile | Excluded | None:
        """The file, unless its text was *seen* before; None if there are saved cases and none is its."""
        if isinstance(file, Excluded):
            return file
        if self.saved is not None and file.hash not in self.saved:
            return None
        if file.hash in seen:
            return Excluded(file.name, "same text as an earlier file")
        seen.add(file.hash)
        return file

    def _missing(self, seen: set[str]) -> Iterator[Excluded]:
        """The files of saved cases that are not among those *seen*."""
        for digest, records in (self.saved or {}).items():
            if digest not in seen:
                reason = "no file with the hash of saved cases"
                yield Excluded(records[0].name, reason, f"{len(records)} cases")

    def _cut(self, file: SourceFile) -> Iterator[Task | Excluded]:
        if self.saved is not None:
            yield Task(file, tuple(replace(record, name=file.name) for record in self.saved[file.hash]))
            return
        cuts = list(make_cuts(file, self.kinds, self.per_file, self.seed))
        yield from (cut for cut in cuts if isinstance(cut, Excluded))
        yield Task(file, tuple(cut for cut in cuts if isinstance(cut, CutRecord)))

    def estimate(self) -> int | None:
        """At most how many cases there are; None if only reading everything tells."""
        if self.saved is not None:
            return sum(map(len, self.saved.values())) // self.shard.count
        counts = [n_files(source) for source in self.sources]
        if None in counts:
            return None
        total = sum(count or 0 for count in counts)
        chosen = len(range(self.files.start, min(self.files.stop, total), self.files.step))
        return chosen * len(self.kinds) * self.per_file // self.shard.count


def limited(selected: Iterator[Task | Excluded], limit: int | None) -> Iterator[Task | Excluded]:
    """The first *limit* cases, all if it is None, and what is left out on the way."""
    left = float("inf") if limit is None else limit
    for each in selected:
        if left <= 0:
            return
        if isinstance(each, Task):
            records = each.records if len(each.records) <= left else each.records[: int(left)]
            left -= len(records)
            yield Task(each.file, records)
        else:
            yield each


def read_cases(path: Path) -> dict[str, list[CutRecord]]:
    """Saved cases, or those of a run's results, by the hash of their file.

    Raises:
        ValueError: a line is none; the message tells which.
    """
    cases = dict[str, list[CutRecord]]()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            record = CutRecord.from_json(row.get("record", row))
        except (ValueError, AttributeError) as error:
            raise ValueError(f"line {number} of {path.name} is no case: {error}") from error
        cases.setdefault(record.source, []).append(record)
    return cases
