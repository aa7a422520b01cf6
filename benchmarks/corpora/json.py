"""Realistic JSON for measurements: lists of records from a seed, indented or minified, of any length."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random

from fimlsp.languages.json import json as strict_json
from fimlsp.quotient.language.contract import Language

from .corpus import Corpus, Text, text_of

_WORDS = (
    "alpha",
    "beta",
    "gamma, delta",
    "epsilon",
    "naïve",
    "東京",
    'so-called "zeta"',
    "eta\n",
    "https://x.org/?a=1",
)
_FILE_LENGTHS = (2_000, 60_000)


def json_files(random: Random, *, minified: bool) -> Iterator[tuple[str, bytes]]:
    """Names and texts of made-up files."""
    number = 0
    while True:
        number += 1
        records = records_of_length(random, random.randint(*_FILE_LENGTHS), minified=minified)
        yield f"file {number}", b"[" + records + b"]"


def records_of_length(random: Random, length: int, *, minified: bool) -> bytes:
    """Records with commas between them, of *length* bytes or a little more."""
    records: list[bytes] = []
    size = 0
    while size < length:
        records.append(_written(_record(random), minified=minified))
        size += len(records[-1]) + 1
    return separator(minified=minified).join(records)


def separator(*, minified: bool) -> bytes:
    """The separator of two records."""
    return b"," if minified else b",\n"


def _written(record: object, *, minified: bool) -> bytes:
    separators = (",", ":") if minified else (",", ": ")
    return json.dumps(
        record, indent=None if minified else 2, separators=separators, ensure_ascii=False
    ).encode()


def _record(random: Random) -> object:
    return {
        "id": random.randrange(10**6),
        "name": f"{random.choice(_WORDS)} {random.randrange(1000)}",
        "active": random.random() < 0.5,
        "tags": [random.choice(("red", "green", "blue", "other")) for _ in range(random.randrange(4))],
        "position": [round(random.uniform(-180, 180), 6), round(random.uniform(-90, 90), 6)],
        "note": " ".join(random.choice(_WORDS) for _ in range(random.randrange(12))),
        "parts": [
            {"kind": "part", "of": {"id": random.randrange(99), "next": None}}
            for _ in range(random.randrange(3))
        ],
    }


class JsonCorpus:
    """Lists of records."""

    lengths = (10_000, 100_000, 1_000_000, 5_000_000)
    word = re.compile(rb'(?<=")[a-z_]{2,}(?=")')

    def __init__(self, language: Language, *, minified: bool) -> None:
        self.language = language
        self.minified = minified
        self.title = f"{language.name}, minified" if minified else f"{language.name}, indented"

    def files(self, random: Random) -> Iterator[Text]:
        """As in `Corpus`."""
        for name, data in json_files(random, minified=self.minified):
            yield text_of(self, name, b"", data, b"")

    def growing(self, random: Random, lengths: Sequence[int]) -> Iterator[Text]:
        """As in `Corpus`."""
        comma = separator(minified=self.minified)
        core = records_of_length(random, lengths[0], minified=self.minified)
        above, below = b"[", b"]"
        for length in lengths:
            missing = length - len(core) - len(above) - len(below)
            if missing > 1_000:
                first, second = (
                    records_of_length(random, missing // 2, minified=self.minified) for _ in range(2)
                )
                above += first + comma
                below = comma + second + below
            yield text_of(self, f"{length}", above, core, below)


CORPORA: Mapping[str, Sequence[Corpus]] = {
    "json": (JsonCorpus(strict_json, minified=False), JsonCorpus(strict_json, minified=True)),
}
