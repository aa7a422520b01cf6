"""Writes the table of options: `python tests/architecture/options_table.py docs/options.md`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from fimlsp.lsp_server.options import OPTIONS, Option

BEGIN, END = "<!-- options: begin -->\n", "<!-- options: end -->\n"


def table() -> str:
    """One row for each option: name, values, default, meaning."""
    head = "| option | values | default | meaning |\n|---|---|---|---|\n"
    return head + "".join(row(option) for option in OPTIONS)


def row(option: Option) -> str:
    """The row of *option*."""
    default = json.dumps(option.schema()["default"])
    return f"| `{option.name}` | {option.values.words} | `{default}` | {option.meaning} |\n"


def with_table(document: str) -> str:
    """*document* with a new table between its markers.

    Raises:
        ValueError: A marker is missing.
    """
    before, begin, after_begin = document.partition(BEGIN)
    _, end, after = after_begin.partition(END)
    if not end:
        raise ValueError(f"{BEGIN.strip()} or {END.strip()} is missing")
    return before + begin + table() + end + after


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        path.write_text(with_table(path.read_text(encoding="utf-8")), encoding="utf-8")
