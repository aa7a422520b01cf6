"""Judged snippets of an interpreter's own tests, kept in the cache folder."""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fimlsp.lexing.automata.cached_files import cache_folder

from . import cpython
from .interpreters import Interpreter
from .laws import construct_of


@dataclass(frozen=True, slots=True)
class Snippet:
    """The bytes of a file, their origin, and CPython's message; None if they are valid."""

    data: bytes
    origin: str
    message: str | None
    kinds: tuple[str, ...]

    @property
    def constructs(self) -> tuple[str, ...]:
        """The constructs under which it is counted: the kinds of its syntax nodes, or CPython's message."""
        return self.kinds if self.message is None else (construct_of(self.message),)


def snippets(python: Interpreter) -> list[Snippet]:
    """All snippets of the tests of *python*; made on the first call, which takes half a minute."""
    path = _stored(python)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}.part")  # others may be making it as well
        python.run(harvest_program(), partial, tests_of(python.sources))
        partial.replace(path)
    return list(_read(path))


def harvest_program() -> Path:
    """The program that the interpreter runs."""
    return Path(__file__).with_name("harvest.py")


def tests_of(python: Interpreter) -> Path:
    """The folder of the tests of *python*."""
    code = "import pathlib, sysconfig; print(pathlib.Path(sysconfig.get_path('stdlib')) / 'test')"
    return Path(python.evaluated(code).strip())


def _stored(python: Interpreter) -> Path:
    exact = python.evaluated("import sys; print(sys.version)")
    made_by = hashlib.sha256(exact.encode())
    for program in (harvest_program(), Path(cpython.__file__)):
        made_by.update(program.read_bytes())
    return cache_folder() / "oracle" / f"{made_by.hexdigest()[:20]}.jsonl"


def _read(path: Path) -> Iterator[Snippet]:
    with path.open(encoding="ascii") as file:
        for line in file:
            row = json.loads(line)
            data = row["source"].encode("utf-8", "surrogateescape")
            yield Snippet(data, row["origin"], row["message"], tuple(row["kinds"]))


def sample(snippets: list[Snippet], limit: int, rng: random.Random) -> list[Snippet]:
    """*limit* of them, half of them invalid and of as many messages as possible; all if there are fewer."""
    if limit >= len(snippets):
        return snippets
    valid = [snippet for snippet in snippets if snippet.message is None]
    chosen = _by_message([snippet for snippet in snippets if snippet.message is not None], limit // 2, rng)
    return chosen + rng.sample(valid, min(len(valid), limit - len(chosen)))


def _by_message(invalid: list[Snippet], limit: int, rng: random.Random) -> list[Snippet]:
    strata: dict[tuple[str, ...], list[Snippet]] = defaultdict(list)
    for snippet in rng.sample(invalid, len(invalid)):
        strata[snippet.constructs].append(snippet)
    turns = sorted((turn, key) for key, stratum in strata.items() for turn in range(len(stratum)))
    return [strata[key][turn] for turn, key in turns[:limit]]
