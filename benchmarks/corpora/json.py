"""Realistic JSON to measure on: lists of records from a seed, indented or minified, as long as is wanted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

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
    """What stands between two records."""
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
