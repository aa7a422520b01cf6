"""Selects the Python files that a model learns from, and those held out to evaluate it.

A corpus is a list of files with their text, each in one of three splits:

| split | files |
|---|---|
| `train` | learnt from |
| `val` | single files left out of packages that are otherwise learnt from |
| `ood` | packages left out as a whole (out of distribution) |

Dropped are tests, vendored copies, generated and data-like files, and files that do not parse. So are files
that differ from an earlier one only in white space, and files to learn from that repeat held-out packages.
"""

from __future__ import annotations

import ast
import hashlib
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fimlsp.models.checkpoints.regular_files import read_bounded

Split = Literal["train", "val", "ood"]

SKIPPED_FOLDERS = frozenset(
    [
        "test",
        "tests",
        "testing",
        "testdata",
        "idlelib_test",
        "_vendor",
        "_vendored",
        "vendor",
        "vendored",
        "third_party",
        "extern",
        "site-packages",
        "__pycache__",
        "encodings",
        "pydoc_data",
        "node_modules",
        ".git",
        ".venv",
        "venv",
    ]
)
GENERATED = re.compile(
    r"do not edit|(automatically|auto-?|machine) ?generated|generated (by|from|automatically)|@generated",
    re.IGNORECASE,
)
BYTES_MIN, BYTES_MAX = 200, 400_000
LINE_MAX, LINE_MEAN_MAX, DIGITS_MAX = 400, 80, 0.2
VAL_ONE_IN = 50
DISTINCTIVE_MIN = 25
"""Characters, indentation aside, from which on a line is distinctive: two authors hardly write it alike."""

REPEATED_MAX = 0.12
"""The share of distinctive lines of a file to learn from that may occur in held-out packages as well."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One accepted file: its top-level folder or module, and its path below the corpus root."""

    package: str
    name: str
    text: str
    split: Split


def read_corpus(
    roots: Sequence[Path], held_out: Iterable[str], skipped: Iterable[str] = ()
) -> list[SourceFile]:
    """All usable Python files below *roots*, in a fixed order.

    Args:
        roots: folders that are searched; a package is a folder or module directly inside one of them.
        held_out: packages of the `ood` split.
        skipped: packages that are left out altogether, for instance because of their licence.
    """
    out_of_distribution, unwanted, seen = frozenset(held_out), frozenset(skipped), set[bytes]()
    files = list[SourceFile]()
    for package, name, path in _candidates(roots):
        text = None if package in unwanted else _usable_text(path)
        if text is None or (digest := _fingerprint(text)) in seen:
            continue
        seen.add(digest)
        split: Split = "ood" if package in out_of_distribution else "val" if _is_validation(name) else "train"
        files.append(SourceFile(package, name, text, split))
    return list(_without_copies(files))


def _without_copies(files: Sequence[SourceFile]) -> Iterator[SourceFile]:
    """*files* without those to learn from that repeat held-out packages, such as forks of them."""
    held_out = set[str]().union(*(_distinctive_lines(file.text) for file in files if file.split == "ood"))
    for file in files:
        lines = _distinctive_lines(file.text) if file.split == "train" and held_out else frozenset[str]()
        if len(lines & held_out) <= REPEATED_MAX * len(lines):
            yield file


def _distinctive_lines(text: str) -> frozenset[str]:
    stripped = (line.strip() for line in text.split("\n"))
    return frozenset(line for line in stripped if len(line) >= DISTINCTIVE_MIN)


def _candidates(roots: Sequence[Path]) -> Iterator[tuple[str, str, Path]]:
    for root in roots:
        for path in sorted(root.rglob("*.py")):
            parts = path.relative_to(root).parts
            if SKIPPED_FOLDERS.isdisjoint(parts[:-1]) and not _is_test(parts[-1]):
                yield parts[0].removesuffix(".py"), "/".join(parts), path


def _is_test(filename: str) -> bool:
    return filename.startswith("test_") or filename.endswith("_test.py") or filename == "conftest.py"


def _usable_text(path: Path) -> str | None:
    try:
        data = read_bounded(path, BYTES_MAX)
        text = data.decode()
    except (OSError, UnicodeDecodeError):
        return None
    if len(data) < BYTES_MIN:
        return None
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    return text if _looks_written(text) and _parses(text) else None


def _looks_written(text: str) -> bool:
    """True if *text* looks like code written by a person: not generated, not a table of data."""
    lines = text.split("\n")
    digits = sum(map(text.count, "0123456789"))
    return (
        not GENERATED.search(text[:1000])
        and max(map(len, lines)) <= LINE_MAX
        and len(text) <= LINE_MEAN_MAX * len(lines)
        and digits <= DIGITS_MAX * len(text)
    )


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _fingerprint(text: str) -> bytes:
    return hashlib.sha256("".join(text.split()).encode()).digest()


def _is_validation(name: str) -> bool:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") % VAL_ONE_IN == 0
