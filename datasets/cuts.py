"""The cases of a run: the files of its sources that pass the filters, and the holes that are cut in each.

There are several ways to draw a hole. `boundary` and `randspan` follow the protocol of Melcer et al. 2024,
section VII; `paper-boundary` and `paper-randspan` are their very cuts, drawn from the seeds of the released
code. All offsets count characters of the text with its additional line feed.

A case is saved without its text, as one line of JSON. It makes the same cut wherever the same file is found.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

from fimlsp.datasets.languages.replay_language import NoTokensError, ReplayLanguage
from fimlsp.datasets.sources import OTHER_LANGUAGE, Excluded, Filters, Source, SourceFile

SPAN_MAX = 100


@dataclass(frozen=True, slots=True)
class Cut:
    """A hole from *start* to *end*; *swapped* if its ends were drawn in the wrong order.

    In the paper's own cuts such ends stay as they were: the text from *end* to *start* is on both sides.
    """

    start: int
    end: int
    swapped: bool = False

    def left(self, text: str) -> str:
        """The text before the hole."""
        return text[: self.start]

    def middle(self, text: str) -> str:
        """The text in the hole; none if it ends before it starts."""
        return text[self.start : self.end]

    def right(self, text: str) -> str:
        """The text after the hole."""
        return text[self.end :]


Strategy = Callable[[str, Random, ReplayLanguage], Cut | None]
"""Draws a cut of a text; None if the text has no place of the kind."""


def randspan(text: str, random: Random, _: ReplayLanguage) -> Cut:
    """A span of a fifth of the content, at most 100 characters, that starts in its first nine tenths."""
    length = len(text) - 1
    start = int(0.9 * random.random() * length)
    return Cut(start, min(start + int(min(0.2 * length, SPAN_MAX)), length))


def boundary(text: str, random: Random, language: ReplayLanguage) -> Cut | None:
    """From within one token to within another of the same suite, including nested suites between them.

    If both ends fall into one token in the wrong order, they are swapped.
    """
    cut = paper_boundary(text, random, language)
    return Cut(cut.end, cut.start, swapped=True) if cut is not None and cut.swapped else cut


def paper_boundary(text: str, random: Random, language: ReplayLanguage) -> Cut | None:
    """As `boundary`, with the ends in the order in which they were drawn, as in the released code.

    A suite is drawn with its number of tokens as its weight, then two of its stretches in the same way, with
    replacement.
    """
    suites = [suite for suite in language.suites(text) if suite]
    if not suites:
        return None
    suite = random.choices(suites, [sum(map(len, suite)) for suite in suites])[0]
    stretches = random.choices(suite, [len(stretch) for stretch in suite], k=2)
    first, second = sorted(random.choice(stretch) for stretch in stretches)
    start, end = random.randint(*first), random.randint(*second)
    return Cut(start, end, swapped=end < start)


def line(text: str, random: Random, _: ReplayLanguage) -> Cut | None:
    """The rest of a line, from a cursor anywhere after its indentation."""
    lines, line_start = list[tuple[int, int]](), 0
    for content in text.split("\n"):
        if content.strip():
            lines.append((line_start + len(content) - len(content.lstrip()), line_start + len(content)))
        line_start += len(content) + 1
    if not lines:
        return None
    first, end = random.choice(lines)
    return Cut(random.randrange(first, end), end)


def block(text: str, random: Random, language: ReplayLanguage) -> Cut | None:
    """The whole body of a nested suite."""
    bodies = language.bodies(text)
    return Cut(*random.choice(bodies)) if bodies else None


def user(text: str, random: Random, language: ReplayLanguage) -> Cut | None:
    """The rest of a statement that is being typed, after its first character or more."""
    statements = [(start, end) for start, end in language.statements(text) if end - start > 1]
    if not statements:
        return None
    start, end = random.choice(statements)
    return Cut(random.randrange(start + 1, end), end)


STRATEGIES: Mapping[str, Strategy] = {
    "boundary": boundary,
    "randspan": randspan,
    "line": line,
    "block": block,
    "user": user,
    "paper-boundary": paper_boundary,
    "paper-randspan": randspan,
}
PAPER_KINDS = frozenset(["paper-boundary", "paper-randspan"])


def paper_seed(file_number: int, index: int) -> int:
    """The seed of the released code for cut *index* of the file with this number in its data set.

    It is a hash of two integers. It is the same in every 64-bit CPython since 3.8.
    """
    return hash((file_number, index)) % 2**32


HASH_DIGITS = 12


@dataclass(frozen=True, slots=True)
class CutRecord:
    """A cut, its file, and the numbers from which it was drawn.

    Attributes:
        kind: the name of the strategy.
        source: the hash of the file.
        name: the path of the file within its source, for readers.
        index: the number of this cut among those of its kind in the file, from 0.
        seed: the seed of the run; for the paper's own cuts, that of this cut.
        cut: the hole.
        number: for the paper's own cuts, the number of the file in its data set.
        own_name: a name given by somebody else; None: the case is named after its kind, file and index.
    """

    kind: str
    source: str
    name: str
    index: int
    seed: int
    cut: Cut
    number: int | None = None
    own_name: str | None = None

    @property
    def case(self) -> str:
        """The name of the case, which is the same in every run with this seed.

        The paper's own cuts are named after the numbers of file and cut in the released code.
        """
        if self.own_name is not None:
            return self.own_name
        if self.number is not None:
            return f"{self.kind}-{self.number}-{self.index}"
        return f"{self.kind}-{self.source[:HASH_DIGITS]}-{self.index}"

    def to_json(self) -> dict[str, Any]:
        """The record as an object of strings and numbers."""
        numbered = {} if self.number is None else {"number": self.number}
        return {
            "case": self.case,
            "kind": self.kind,
            "source": self.source,
            "name": self.name,
            "index": self.index,
            "seed": self.seed,
            "start": self.cut.start,
            "end": self.cut.end,
            "swapped": self.cut.swapped,
            **numbered,
        }

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> CutRecord:
        """The record in *row*, whose other fields are ignored.

        Raises:
            ValueError: a field is missing or has another type.
        """
        try:
            cut = Cut(int(row["start"]), int(row["end"]), bool(row.get("swapped", False)))
            record = cls(
                str(row["kind"]),
                str(row["source"]),
                str(row["name"]),
                int(row["index"]),
                int(row["seed"]),
                cut,
                None if row.get("number") is None else int(row["number"]),
            )
            name = row.get("case")
            if name is not None and str(name) != record.case:
                record = replace(record, own_name=str(name))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"a case needs kind, source, name, index, seed, start and end ({error})"
            ) from error
        is_in_order = cut.start <= cut.end or (cut.swapped and record.kind in PAPER_KINDS)
        if not is_in_order or min(cut.start, cut.end) < 0:
            raise ValueError(f"case {record.case} ends before it starts")
        return record


def make_cuts(
    file: SourceFile, language: ReplayLanguage, kinds: Sequence[str], per_file: int, seed: int
) -> Iterator[CutRecord | Excluded]:
    """*per_file* cuts of each kind, each drawn from kind, seed, hash of the file and index alone.

    The paper's own cuts are drawn from the number of the file and the index instead. An empty file has one
    cut of a kind, since all would be the same.
    """
    for kind in kinds:
        for index in range(1 if not file.content and kind not in PAPER_KINDS else per_file):
            number = file.number if kind in PAPER_KINDS else None
            drawn_from = seed if number is None else paper_seed(number, index)
            random = Random(f"{kind} {seed} {file.hash} {index}" if number is None else drawn_from)
            try:
                cut = STRATEGIES[kind](file.text, random, language)
            except NoTokensError as error:
                yield Excluded(file.name, "cannot be tokenised", str(error))
                break
            if cut is None:
                yield Excluded(file.name, f"nothing to cut for {kind}")
                break
            yield CutRecord(kind, file.hash, file.name, index, drawn_from, cut, number)


@dataclass(frozen=True, slots=True)
class FileCases:
    """A file and its cases."""

    file: SourceFile
    records: tuple[CutRecord, ...]


@dataclass(frozen=True, slots=True)
class Shard:
    """Part *number* of *count* equal parts, numbered from 1: every *count*-th file."""

    number: int = 1
    count: int = 1

    def has(self, index: int) -> bool:
        """True if the file with this *index* belongs to the part."""
        return index % self.count == self.number - 1


@dataclass(frozen=True, slots=True)
class Selection:
    """The settings that decide the cases of a run.

    Attributes:
        sources: names of sources (see `sources.py`). All their files are numbered consecutively from 0,
            except those that the source declares to be in another language.
        kinds: kinds of cuts, keys of `STRATEGIES`.
        per_file: the number of cuts of each kind in a file.
        seed: the seed of all cuts.
        files: the numbers of the files to read.
        shard: the part of those files that this run takes.
        filters: the language, and the limits for files.
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

    def __iter__(self) -> Iterator[FileCases | Excluded]:
        """Files with their cases, and exclusions, in the order of the files."""
        for file in self._files():
            checked = self.filters.check_valid(file) if isinstance(file, SourceFile) else file
            if isinstance(checked, Excluded):
                yield checked
            else:
                yield from self._cut(checked)

    def _sources(self) -> list[Source]:
        return [Source(name, self.filters.language) for name in self.sources]

    def _files(self) -> Iterator[SourceFile | Excluded]:
        """The files of the shard. Of files with the same text, in any shard, only the first counts.

        For the paper's own cuts all of them count, as in the paper.
        """
        seen, index = set[str](), -1
        for entry in chain.from_iterable(source.files() for source in self._sources()):
            file = self.filters.identify(entry)
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
        """The file, unless its text was *seen* before; None if cases are saved, but none of this file."""
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
        """The files of saved cases that are not among the *seen* hashes."""
        for digest, records in (self.saved or {}).items():
            if digest not in seen:
                reason = "no file with the hash of saved cases"
                yield Excluded(records[0].name, reason, f"{len(records)} cases")

    def _cut(self, file: SourceFile) -> Iterator[FileCases | Excluded]:
        if self.saved is not None:
            yield FileCases(file, tuple(replace(record, name=file.name) for record in self.saved[file.hash]))
            return
        cuts = list(make_cuts(file, self.filters.language, self.kinds, self.per_file, self.seed))
        yield from (cut for cut in cuts if isinstance(cut, Excluded))
        yield FileCases(file, tuple(cut for cut in cuts if isinstance(cut, CutRecord)))

    def estimate(self) -> int | None:
        """An upper bound of the number of cases; None if all files had to be read for it."""
        if self.saved is not None:
            return sum(map(len, self.saved.values())) // self.shard.count
        counts = [source.n_files() for source in self._sources()]
        if None in counts:
            return None
        total = sum(count or 0 for count in counts)
        chosen = len(range(self.files.start, min(self.files.stop, total), self.files.step))
        return chosen * len(self.kinds) * self.per_file // self.shard.count


def limited(selected: Iterator[FileCases | Excluded], limit: int | None) -> Iterator[FileCases | Excluded]:
    """The first *limit* cases (all if it is None), and the exclusions before the last of them."""
    left = float("inf") if limit is None else limit
    for item in selected:
        if left <= 0:
            return
        if isinstance(item, FileCases):
            records = item.records if len(item.records) <= left else item.records[: int(left)]
            left -= len(records)
            yield FileCases(item.file, records)
        else:
            yield item


def read_cases(path: Path) -> dict[str, list[CutRecord]]:
    """The cases in a file of saved cases or of a run's results, by the hash of their source file.

    Raises:
        ValueError: a line is not a case; the message names the line.
    """
    cases = dict[str, list[CutRecord]]()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            record = CutRecord.from_json(row.get("record", row))
        except (ValueError, AttributeError) as error:
            raise ValueError(f"line {number} of {path.name} is not a case: {error}") from error
        cases.setdefault(record.source, []).append(record)
    return cases
