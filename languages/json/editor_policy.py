"""What an editor has to know of JSON: there are no remarks, and a key stands once in its object."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fimlsp.languages.suggested_lines import FAR, column_of, written_lines
from fimlsp.quotient.language.editor_policy import EditorPolicy

_KEY = re.compile(rb"\s*(\"(?:\\.|[^\"\\])*\")\s*:")


@dataclass(frozen=True)
class JsonPolicy(EditorPolicy):
    """JSON's policy. Values repeat as they like; a line repeats if its object has its key already."""

    def first_fault(self, left: bytes, text: bytes, right: bytes) -> int | None:
        """As in `EditorPolicy`: before a key that stands in the same object, in lines of the same column."""
        written = written_lines(left, text, right)
        head_start = len(left) - len(written.head)
        above = left[max(0, head_start - FAR) : head_start].split(b"\n")
        below = right.partition(b"\n")[2][:FAR].split(b"\n")
        for number, line in enumerate(written.lines):
            key = _KEY.match(line.text)
            is_begun = number == 0 and _KEY.match(written.head) is not None
            if key is not None and not is_begun:
                known = {*_keys(reversed(above), line.column), *_keys(below, line.column)}
                if key[1] in known:
                    return line.offset
            above.append(line.text)
        return None


def _keys(lines: Iterable[bytes], column: int) -> Iterator[bytes]:
    """The keys that *lines* have at *column*, up to the end of their object."""
    for line in lines:
        if line.strip() and column_of(line) < column:
            return
        key = _KEY.match(line) if column_of(line) == column else None
        if key is not None:
            yield key[1]


JSON_POLICY = JsonPolicy(file_ending=".json", known_names=frozenset([b"false", b"null", b"true"]))
"""JSON's."""
