"""What may stand at a cursor, case by case; CPython confirms each verdict that it can."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..middle_support import COMPLETE, DEAD, VIABLE, fault, fed, start_between, verdict

VERDICTS = {"+": COMPLETE, "~": VIABLE, "-": DEAD}
SIGNS = {"↵": "\n", "␍": "\r", "→": "\t", "␣": " ", "∅": ""}

Case = tuple[bytes, bytes, bytes, str]


def unquoted(text: str) -> bytes:
    """The bytes that *text* stands for, with its signs and its ⟨hexadecimal⟩ bytes."""
    for sign, meaning in SIGNS.items():
        text = text.replace(sign, meaning)
    parts = re.split("⟨(..)⟩", text)
    return b"".join(bytes.fromhex(part) if i % 2 else part.encode() for i, part in enumerate(parts))


def read_cases(text: str) -> Iterator[Case]:
    """The cases of a file's *text*: contexts, each followed by middles with their verdicts."""
    left = right = b""
    for line in text.splitlines():
        if "<|>" in line:
            left, right = map(unquoted, line.split("<|>"))
        elif line[:2] in ("+ ", "~ ", "- "):
            yield left, unquoted(line[2:]), right, VERDICTS[line[0]]


def cases(path: Path) -> Iterator[Case]:
    """The cases of a file."""
    return read_cases(path.read_text(encoding="utf-8"))


def wrong(case: Case) -> object:
    """What the engine gets wrong about *case*, if anything."""
    left, middle, right, expected = case
    state = fed(start_between(left, right), middle)
    if verdict(state) != expected:
        return case, verdict(state)
    return fault(left, middle, right, state)


FILES = sorted((Path(__file__).parents[1] / "cases" / "middle").glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_cases(path):
    assert [found for found in map(wrong, cases(path)) if found] == []


def test_there_are_many_cases():
    assert sum(len(list(cases(path))) for path in FILES) > 700
