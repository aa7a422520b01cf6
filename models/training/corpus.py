"""Selects the Python files that a model learns from, and those held out to evaluate it.

A corpus is a list of files with their text, each in one of three splits:

| split | files |
|---|---|
| `train` | learnt from |
| `val` | single files left out of packages that are otherwise learnt from |
| `ood` | packages left out as a whole (out of distribution) |

Dropped are tests, vendored copies, generated and data-like files, and files that do not parse. So are files
that differ from an earlier one only in white space, and files to learn from that repeat held-out packages.
The corpus counts the bytes of each reason.
"""

from __future__ import annotations

import ast
import hashlib
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fimlsp.models.regular_files import read_bounded

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

COMMON_FROM = 3
"""The number of held-out packages from which on a line of theirs is common property."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One accepted file: its top-level folder or module, and its path below the corpus root."""

    package: str
    name: str
    text: str
    split: Split


@dataclass(frozen=True, slots=True)
class Corpus:
    """The accepted *files* in a fixed order, and the bytes *left out* for each reason."""

    files: Sequence[SourceFile]
    left_out: Mapping[str, int]

    def part(self, split: Split) -> list[SourceFile]:
        """The files of one split."""
        return [file for file in self.files if file.split == split]


def read_corpus(
    roots: Sequence[Path],
    held_out: Iterable[str],
    skipped: Iterable[str] = (),
    held_out_roots: Sequence[Path] = (),
) -> Corpus:
    """All usable Python files below *roots* and *held_out_roots*.

    Args:
        roots: folders that are searched; a package is a folder or module directly inside one of them.
        held_out: packages of the `ood` split.
        skipped: packages that are left out altogether, for instance because of their licence.
        held_out_roots: folders of which all packages are of that split.
    """
    unwanted, seen = frozenset(skipped), set[bytes]()
    files, left_out = list[SourceFile](), Counter[str]()
    candidates = [*_candidates(held_out_roots)]
    out_of_distribution = {*held_out, *(package for package, _, _ in candidates)}
    for package, name, path in [*candidates, *_candidates(roots)]:
        text = None if package in unwanted else usable_text(path)
        if text is None:
            left_out["unusable or unwanted"] += _size(path)
        elif (digest := _fingerprint(text)) in seen:
            left_out["repeats another file"] += len(text)
        else:
            seen.add(digest)
            split: Split = (
                "ood" if package in out_of_distribution else "val" if _is_validation(name) else "train"
            )
            files.append(SourceFile(package, name, text, split))
    repeated = set(map(id, repeated_files(files)))
    left_out["repeats held-out packages"] = sum(len(file.text) for file in files if id(file) in repeated)
    return Corpus([file for file in files if id(file) not in repeated], left_out)


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def repeated_files(
    files: Sequence[SourceFile], most: float = REPEATED_MAX, fewest: int = 1
) -> Iterator[SourceFile]:
    """The files to learn from that repeat held-out packages, as forks of them do.

    Of at least *fewest* distinctive lines they share more than the part *most* with these packages.
    """
    packages: dict[str, set[str]] = {}
    for file in files:
        if file.split == "ood":
            packages.setdefault(file.package, set()).update(_distinctive_lines(file.text))
    owners = Counter(line for lines in packages.values() for line in lines)
    held_out = {line for line, count in owners.items() if count < COMMON_FROM}
    for file in files:
        lines = _distinctive_lines(file.text) if file.split == "train" and held_out else frozenset[str]()
        if len(lines) >= fewest and len(lines & held_out) > most * len(lines):
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


def usable_text(path: Path) -> str | None:
    """The text of a file that a model may learn from; None if there is a reason against it."""
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
