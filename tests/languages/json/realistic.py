"""Realistic JSON from a seed: records, notebooks, lock files, tables and settings, minified and indented."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable

Value = object

_WORDS = (
    *("alpha", "build", "cache", "delta, with a comma", "Ångström", "東京", "naïve", "🙂 smile", "tab\there"),
    *(
        'say "no"',
        "back\\slash",
        "line\nend",
        "a/b",
        "{brace}",
        "[x, y]",
        "",
        "\u2028",
        "\x7f",
        "https://x.y/z?a=1,2",
    ),
)


def text(rng: random.Random, size: int) -> bytes:
    """A JSON text of about *size* bytes."""
    make = rng.choice((_records, _notebook, _lock_file, _table, _settings))
    return formatted(make(rng, size), rng)


def formatted(value: Value, rng: random.Random) -> bytes:
    """*value* written in one of many ways."""
    indent = rng.choice((None, None, 0, 2, "\t"))
    separators = (
        rng.choice([(",", ":"), (", ", ": ")]) if indent is None else rng.choice([(",", ": "), (" ,", " :")])
    )
    written = json.dumps(value, indent=indent, separators=separators, ensure_ascii=rng.random() < 0.3)
    if rng.random() < 0.2:
        written = written.replace("\n", rng.choice(("\r\n", "\r")))
    if rng.random() < 0.2:
        written = written.replace("/", "\\/")
    if rng.random() < 0.3:
        written = re.sub(r"\.(\d)\d*", r".\1E+0", written)
    return (written + rng.choice(("", "\n", " \n"))).encode()


def _many(rng: random.Random, size: int, make: Callable[[random.Random], Value]) -> list[Value]:
    """Values that *make* makes, together of about *size* bytes."""
    found: list[Value] = []
    length = 0
    while length < size:
        found.append(make(rng))
        length += len(json.dumps(found[-1], ensure_ascii=False).encode()) + 2
    return found


def _words(rng: random.Random, most: int) -> str:
    return " ".join(rng.choice(_WORDS) for _ in range(rng.randrange(most)))


def _number(rng: random.Random) -> float:
    return rng.choice(
        [rng.randrange(10), -rng.randrange(1 << 40), rng.random(), rng.uniform(-180, 180), 1e300, 0, -0.0]
    )


def _records(rng: random.Random, size: int) -> Value:
    return _many(rng, size, _record)


def _record(rng: random.Random) -> Value:
    return {
        "id": rng.randrange(10**6),
        "name": _words(rng, 3),
        "tags": [rng.choice(_WORDS) for _ in range(rng.randrange(4))],
        "at": {"x": _number(rng), "y": _number(rng), "on": [rng.random() < 0.5, None]},
        rng.choice(_WORDS): [] if rng.random() < 0.5 else {},
    }


def _notebook(rng: random.Random, size: int) -> Value:
    return {"cells": _many(rng, size, _cell), "metadata": {"kernel": {"name": "x"}}, "nbformat": 4}


def _cell(rng: random.Random) -> Value:
    lines = [f"print({_words(rng, 4)!r}, {rng.randrange(9)})\n" for _ in range(rng.randrange(4))]
    return {
        "cell_type": "code",
        "execution_count": rng.choice([None, 3]),
        "metadata": {},
        "outputs": [],
        "source": lines,
    }


def _lock_file(rng: random.Random, size: int) -> Value:
    packages = {f"node_modules/{rng.choice(_WORDS)}-{n}": _package(rng) for n in range(1 + size // 150)}
    return {"lockfileVersion": 3, "requires": True, "packages": packages}


def _package(rng: random.Random) -> Value:
    version = ".".join(str(rng.randrange(30)) for _ in range(3))
    return {
        "version": version,
        "integrity": f"sha512-{rng.getrandbits(128):x}==",
        "dependencies": {"a": f"^{version}"},
    }


def _table(rng: random.Random, size: int) -> Value:
    rows = _many(rng, size, lambda rng: [_number(rng) for _ in range(rng.randrange(5))])
    return {"type": "Polygon", "coordinates": [rows]}


def _settings(rng: random.Random, size: int) -> Value:
    """Deep and irregular nesting."""
    if size < 20:
        return rng.choice([_number(rng), rng.choice(_WORDS), True, False, None, [], {}])
    parts = [_settings(rng, size // 3) for _ in range(rng.randrange(1, 5))]
    return parts if rng.random() < 0.5 else {f"{rng.choice(_WORDS)}{n}": part for n, part in enumerate(parts)}
