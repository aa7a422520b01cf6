"""Decides whether a completion ends with its line or may be a block."""

from __future__ import annotations

import re

from fimlsp.quotient.language.editor_policy import EditorPolicy

TEXT_IN_LINE = re.compile(rb"[^\S\r\n]*\S")
"""Matches where the rest of a line has text."""


def is_one_line(mode: str, left: bytes, right: bytes, policy: EditorPolicy) -> bool:
    """Whether a completion is to end with its line: always, never, or as the text suggests ("auto").

    With text behind the cursor it does. Else it may be a block where one begins, at the beginning of the
    file, and on a blank line behind a blank one or a remark, which says what is to come. *policy* is that
    of the language.
    """
    if mode != "auto":
        return mode == "always"
    if TEXT_IN_LINE.match(right):
        return True
    *above, line = _lines(left)
    if line.strip():
        return not policy.opens_block(line)
    before = above[-1].strip() if above else b""
    if not before or policy.is_remark(before):
        return False
    return not policy.opens_block(above[-1])


def _lines(left: bytes) -> list[bytes]:
    """The last two lines of *left*."""
    ending = left[-2000:].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return ending.split(b"\n")[-2:]
