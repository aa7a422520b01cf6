"""The test suites of JSON: alphabets, pieces, and the suites made of them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from fimlsp.languages.json import json
from fimlsp.testing.checking import Judged, Tally, fed
from fimlsp.testing.suites import broken_cuts, cut_text, staying_cuts

from . import realistic
from .judge import is_json

SYMBOLS = (b"{", b"}", b"[", b"]", b",", b":", b'""', b"1", b" ", b"\n")
ALPHABETS = (
    SYMBOLS,
    (b"0", b"1", b"-", b"+", b".", b"e", b"E", b" ", b",", b"[", b"]"),
    (b'"', b"\\", b"u", b"0", b"a", b"n", b"/", b"\n", b"\x1f", b" "),
    (b'"', b"\xc3", b"\xa9", b"\xe2", b"\x82", b"\xed", b"\xa0", b"\x80", b"\xf4", b"\xff", b"a"),
    (b"t", b"r", b"u", b"e", b"n", b"l", b"true", b"null", b"fals", b"[", b","),
    (b'"a,b"', b",", b"[", b"]", b'"', b"\r", b"\n", b"1", b"\t"),
)
PIECES = (
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b'"',
        b"\\",
        b'""',
        b'"a"',
        b"1",
        b"-",
        b".",
        b"e5",
        b" ",
        b"\n",
        b"\r",
    ),
    *(
        b"\t",
        b"null",
        b"tru",
        b"\\u00",
        b"\\n",
        b'","',
        b'":',
        b"],[",
        b"},{",
        b"\xc3",
        b"\xa9",
        b"\x00",
        b"'",
        b"/",
    ),
)
JSON = Judged(json, is_json, PIECES, longest=300, tries=5)


def whole_texts(alphabet: Sequence[bytes], most: int) -> Tally:
    """All texts of at most *most* symbols, fed to an empty document."""
    return JSON.walk(b"", b"", alphabet, most)


def valid_texts(alphabet: Sequence[bytes], most: int) -> list[bytes]:
    """The valid texts among those of at most *most* symbols."""
    return JSON.accepted(b"", b"", alphabet, most)


def cut_everywhere(text: bytes, alphabet: Sequence[bytes], most: int) -> Tally:
    """Middles of at most *most* symbols in all cuts of *text*."""
    tally = JSON.tally()
    for start, end in itertools.combinations_with_replacement(range(len(text) + 1), 2):
        tally.include(JSON.walk(text[:start], text[end:], alphabet, most))
    return tally


def realistic_cuts(rng: random.Random, size: int) -> Tally:
    """A realistic text, cut."""
    return cut_text(JSON, realistic.text(rng, size), rng)


def realistic_staying_cuts(rng: random.Random, size: int) -> Tally:
    """As `realistic_cuts`, of middles that stay where both sides are."""
    return staying_cuts(JSON, realistic.text(rng, size), rng)


def realistic_broken_cuts(rng: random.Random, size: int) -> Tally:
    """The sides of two realistic texts."""
    return broken_cuts(JSON, realistic.text(rng, size), realistic.text(rng, size), rng)


def endless(seed: int, _files: Sequence[Path] = ()) -> Iterator[Tally]:
    """Tallies of all suites in turn."""
    rng = random.Random(seed)
    texts = valid_texts(SYMBOLS[:-1], 5)
    while True:
        alphabet = rng.choice(ALPHABETS)
        yield whole_texts(rng.sample(alphabet, 4), 4)
        yield cut_everywhere(rng.choice(texts), rng.sample(alphabet, 3), 2)
        size = rng.choice((30, 200, 1000, 4000))
        yield realistic_cuts(rng, size)
        yield realistic_staying_cuts(rng, size)
        for _ in range(10):
            yield realistic_broken_cuts(rng, size)


def wrongly_dead(left: bytes, right: bytes, alphabet: Sequence[bytes], most: int) -> list[bytes]:
    """Prefixes of valid middles of at most *most* symbols that are said to be dead, by trying all of them."""
    start = JSON.start_between(left, right)
    return [
        word[:length]
        for word in JSON.accepted(left, right, alphabet, most)
        for length in range(len(word) + 1)
        if fed(start, word[:length]) is None
    ]
