"""Which cases a run has: the files of its sources that pass the filters, and the cuts of each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from fimlsp.datasets.cuts.cut_record import CutRecord, make_cuts
from fimlsp.datasets.cuts.strategies import PAPER_KINDS
from fimlsp.datasets.sources.filters import OTHER_LANGUAGE, Filters
from fimlsp.datasets.sources.source import Source
from fimlsp.datasets.sources.source_file import Excluded, SourceFile


@dataclass(frozen=True, slots=True)
class Task:
    """A file and its cases."""

    file: SourceFile
    records: tuple[CutRecord, ...]


@dataclass(frozen=True, slots=True)
class Shard:
    """Part *number* of *count* equal parts, numbered from 1: every *count*-th file."""

    number: int = 1
    count: int = 1

    def has(self, index: int) -> bool:
        """Whether the file with this *index* belongs to the part."""
        return index % self.count == self.number - 1


@dataclass(frozen=True, slots=True)
class Selection:
    """What decides the cases of a run.

    Attributes:
        sources: names of sources (see `source.py`). All their files are numbered consecutively from 0, except
            those that the source states to be in another language.
        kinds: kinds of cuts, keys of `STRATEGIES`.
        per_file: how many cuts of each kind a file gets.
        seed: the seed of all cuts.
        files: the numbers of the files to look at.
        shard: which of those files this run takes.
        filters: the language, and which files are left out.
        saved: cases to repeat, by the hash of their file; None to draw new cuts.
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
        """Tasks and exclusions, in the order of the files."""
        for found in self._files():
            checked = self.filters.check_valid(found) if isinstance(found, SourceFile) else found
            if isinstance(checked, Excluded):
                yield checked
            else:
                yield from self._cut(checked)

    def _sources(self) -> list[Source]:
        return [Source(name, self.filters.language) for name in self.sources]

    def _files(self) -> Iterator[SourceFile | Excluded]:
        """The files of the shard. Of files with the same text, in whatever shard, only the first counts.

        For the paper's own cuts all of them count, as they do there.
        """
        seen, index = set[str](), -1
        for found in chain.from_iterable(source.files() for source in self._sources()):
            file = self.filters.identify(found)
            is_foreign = isinstance(file, Excluded) and file.reason == OTHER_LANGUAGE
            index += not is_foreign
            if isinstance(file, SourceFile):
                file = replace(file, number=index)
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
        """The file, unless its text was *seen* before; None if there are saved cases, but none of it."""
        if isinstance(file, Excluded):
            return file
        if self.saved is not None and file.hash not in self.saved:
            return None
        if file.hash in seen and not self._keeps_copies:
            return Excluded(file.name, "same text as an earlier file")
        seen.add(file.hash)
        return file

    @property
    def _keeps_copies(self) -> bool:
        return self.saved is None and not PAPER_KINDS.isdisjoint(self.kinds)

    def _missing(self, seen: set[str]) -> Iterator[Excluded]:
        """The files of saved cases that were not *seen*."""
        for digest, records in (self.saved or {}).items():
            if digest not in seen:
                reason = "no file with the hash of saved cases"
                yield Excluded(records[0].name, reason, f"{len(records)} cases")

    def _cut(self, file: SourceFile) -> Iterator[Task | Excluded]:
        if self.saved is not None:
            yield Task(file, tuple(replace(record, name=file.name) for record in self.saved[file.hash]))
            return
        cuts = list(make_cuts(file, self.filters.language, self.kinds, self.per_file, self.seed))
        yield from (cut for cut in cuts if isinstance(cut, Excluded))
        yield Task(file, tuple(cut for cut in cuts if isinstance(cut, CutRecord)))

    def estimate(self) -> int | None:
        """An upper bound of the number of cases; None if only reading everything tells."""
        if self.saved is not None:
            return sum(map(len, self.saved.values())) // self.shard.count
        counts = [source.n_files() for source in self._sources()]
        if None in counts:
            return None
        total = sum(count or 0 for count in counts)
        chosen = len(range(self.files.start, min(self.files.stop, total), self.files.step))
        return chosen * len(self.kinds) * self.per_file // self.shard.count


def limited(selected: Iterator[Task | Excluded], limit: int | None) -> Iterator[Task | Excluded]:
    """The first *limit* cases (all if it is None), and the exclusions before the last of them."""
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
    """The cases in a file of saved cases or of a run's results, by the hash of their source file.

    Raises:
        ValueError: a line is not a case; the message says which.
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
