"""A case without its text, as one line of JSON: it makes the same cut wherever the same file is found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from fimlsp.datasets.cuts.strategies import PAPER_KINDS, STRATEGIES, Cut, paper_seed
from fimlsp.datasets.languages.replay_language import ReplayLanguage
from fimlsp.datasets.languages.suites import NoTokensError
from fimlsp.datasets.sources.source_file import Excluded, SourceFile

HASH_DIGITS = 12


@dataclass(frozen=True, slots=True)
class CutRecord:
    """A cut, the file it belongs to, and what it was drawn from.

    Attributes:
        kind: the name of the strategy.
        source: the hash of the file.
        name: where the file was found, for readers.
        index: the number of this cut among those of its kind in the file, from 0.
        seed: that of the run, or for the paper's own cuts that of this cut.
        cut: the hole.
        number: for the paper's own cuts, the number of the file in its data set.
        own_name: what somebody calls the case; None: it is named after its kind, file and index.
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

        The paper's own cuts have the numbers that the released code gives to file and cut.
        """
        if self.own_name is not None:
            return self.own_name
        if self.number is not None:
            return f"{self.kind}-{self.number}-{self.index}"
        return f"{self.kind}-{self.source[:HASH_DIGITS]}-{self.index}"

    def to_json(self) -> dict[str, Any]:
        """As an object of strings and numbers."""
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
        """The record that *row* describes; other fields are ignored.

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
            given = row.get("case")
            if given is not None and str(given) != record.case:
                record = replace(record, own_name=str(given))
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
    cut of a kind, as all would be the same.
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
