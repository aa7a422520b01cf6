"""Case files of middles: cursors, each with middles and their verdicts (see `tests/README.md`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from fimlsp.testing.checking import COMPLETE, DEAD, VIABLE

VERDICTS = {"+": COMPLETE, "~": VIABLE, "-": DEAD}
SIGNS = {"↵": "\n", "␍": "\r", "→": "\t", "␣": " ", "∅": ""}

Case = tuple[bytes, bytes, bytes, str]
"""The text left of a middle, the middle, the text right of it, and the verdict."""


def unquoted(text: str) -> bytes:
    """The bytes for *text*, with its signs and its ⟨hexadecimal⟩ bytes."""
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
